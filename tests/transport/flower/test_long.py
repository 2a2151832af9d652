"""Federations that take too long for CI."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedrank import Borda, Identity, Rankings, Study, federate
from helpers.federation import LINK, SCRIPTS, TIMEOUT_SECONDS, Federation, federation
from helpers.paths import TESTS

pytestmark = [pytest.mark.slow, pytest.mark.nodes]

LABELS = ["ash", "birch", "cedar", "dogwood", "elm"]
SEED = 3
COORDINATOR = Identity.generate()
KEYS = {f"client-{c}": Identity.generate() for c in range(10)}

# The client's side; some kill their agent: before they ask it, or once it has answered.
KILLING = """
import os
import signal
from pathlib import Path

from flwr.clientapp import ClientApp

from fedrank.transport.flower import client_app

inner = client_app(Path(__file__).with_name("study.json"))


def kill(message, context):
    place = Path(context.node_config["agent"]).parent
    when = place / message.metadata.message_type.removeprefix("query.")
    told = when.read_text() if when.exists() else ""
    if told == "before":
        os.kill(int((place / "pid").read_text()), signal.SIGKILL)
    reply = inner(message, context)
    if told == "after":
        os.kill(int((place / "pid").read_text()), signal.SIGKILL)
    return reply


app = ClientApp()
for step in ("advertise", "share", "mask", "confirm", "unmask"):
    app.query(step)(kill)
"""

# Runs pytest in a network of nothing but loopback. Its last line is how often there was no route:
# at first, once something was sent away on purpose, and in the end.
ALONE = """
import fcntl
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def lost():
    heads, values = [
        line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if "Ip:" in line
    ]
    four = int(values[heads.index("OutNoRoutes")])
    six = [line.split() for line in Path("/proc/net/snmp6").read_text().splitlines()]
    return four + sum(int(value) for name, value in six if name == "Ip6OutNoRoutes")


probe = socket.socket()
fcntl.ioctl(probe, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running
assert [name for _, name in socket.if_nameindex()] == ["lo"]
first = lost()
with suppress(OSError):
    probe.connect(("192.0.2.1", 443))
before = lost()
done = subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]])
print(first, before, lost(), sep=" ", flush=True)
sys.exit(done.returncode)
"""


def rankings(seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(5).tolist() for _ in range(12)]


def keys_of(clients):
    return dict(list(KEYS.items())[:clients])


def study_of(clients):
    return Study(Borda(5, clients), LABELS, keys_of(clients), coordinator=COORDINATOR)


def configured(study):
    def configure(made):
        for number, name in enumerate(study.roster):
            made.configure(name, LABELS, rankings(number), [study], seed=SEED)

    return configure


def expect(result, study, **options):
    """The result is the one in process, bit for bit."""
    clients = [Rankings(rankings(c), LABELS) for c in range(len(study.roster))]
    in_process = federate(clients, study.method, threshold=study.threshold, rng=SEED, **options)
    assert [row["item"] for row in result["consensus"]] == list(in_process.labels)
    scores = [row["score"] for row in result["consensus"]]
    assert scores == in_process.scores[in_process.order].tolist()


def start_agent(made, name):
    """Start an agent by itself, as a service manager does."""
    place = made.folder / name
    socket = place / "agent.sock"
    socket.unlink(missing_ok=True)
    agent = made.spawn(
        f"agent-{name}-{len(made.processes)}",
        *(SCRIPTS / "fedrank", "agent", "run", "--config", place / "agent.toml"),
    )
    (place / "pid").write_text(str(agent.pid))
    made.wait(socket.exists, f"the agent of {name}")
    return agent


def join_running_agent(made, name):
    """Start a SuperNode beside an agent that runs already."""
    place = made.folder / name
    made.spawn(
        f"join-{name}",
        *(SCRIPTS / "fedrank", "flower", "join", "--superlink", made.address),
        *("--root-certificates", made.certificate),
        *("--key", made.folder / "keys" / "nodes" / f"{made.roster.index(name)}.key"),
        *("--socket", place / "agent.sock", "--home", place / "flower"),
        home=place / "flower",
    )
    made.wait(lambda: "SuperNode ID" in made.log(f"join-{name}"), name)


@pytest.fixture
def apart(tmp_path):
    """Three nodes whose agents are processes of their own."""
    study = study_of(3)
    made = Federation(tmp_path, keys_of(3), COORDINATOR)
    try:
        made.start_link()
        made.register()
        configured(study)(made)
        for name in made.roster:
            start_agent(made, name)
            join_running_agent(made, name)
        yield made, study
    finally:
        made.end()
        assert made.left() == []


def test_below_the_threshold_a_run_fails_with_its_reason_and_leaves_no_file(apart):
    made, study = apart
    (made.folder / "client-1" / "mask").write_text("before")
    app = made.app("app", study, client=KILLING)
    _, status, result, shown = made.run(app)
    assert status["status"] == "finished:failed"
    assert "lost at mask: client-1 (unavailable)" in status["status-details"]
    assert "3" in status["status-details"]  # of so many there must be
    assert result is None
    assert list((made.folder / "results").iterdir()) == []  # the folder of the state
    assert "consensus of" not in shown


def test_an_agent_killed_between_reply_and_next_step_goes_on_when_it_is_back(apart):
    made, study = apart
    place = made.folder / "client-2"
    (place / "share").write_text("after")
    app = made.app("app", study, seed=SEED, client=KILLING)
    run = made.spawn("run", SCRIPTS / "flwr", "run", app, LINK, "--stream")
    (first,) = [p for name, p in made.processes.items() if name.startswith("agent-client-2")]
    assert first.wait(timeout=TIMEOUT_SECONDS) == -signal.SIGKILL
    start_agent(made, "client-2")
    assert run.wait(timeout=10 * TIMEOUT_SECONDS) == 0
    (file,) = (made.folder / "results").glob("*.json")
    expect(json.loads(file.read_text()), study)


def test_ten_nodes(tmp_path):
    study = study_of(10)
    with federation(tmp_path, keys_of(10), configured(study), COORDINATOR) as ten:
        _, status, result, _ = ten.run(ten.app("app", study, seed=SEED))
    assert status["status"] == "finished:completed"
    expect(result, study)


def test_nothing_calls_home(tmp_path):
    """A whole run in a network that has nothing but loopback."""
    try:
        allowed = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here")
    if allowed.returncode:
        pytest.skip("this user may not make a network namespace")
    test = Path(__file__).with_name("test_three_nodes.py")
    name = f"{test}::test_borda_is_as_in_process_bit_for_bit"
    done = subprocess.run(
        [
            *("unshare", "--net", sys.executable, "-c", ALONE),
            *("-q", "--nodes", "--basetemp", tmp_path / "t", name),
        ],
        capture_output=True,
        text=True,
        timeout=10 * TIMEOUT_SECONDS,
        check=False,
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    probed, before, after = map(int, done.stdout.splitlines()[-1].split())
    assert before > probed  # the counters see what is sent to nowhere
    assert after == before


def test_the_same_app_runs_in_flowers_simulation(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="needs Flower's extra: pip install 'flwr[simulation]'")
    study = study_of(3)
    made = Federation(tmp_path, keys_of(3), COORDINATOR)
    configured(study)(made)
    for number, name in enumerate(made.roster):
        (made.folder / name).rename(made.folder / f"node-{number}")
    (made.home / "config.toml").write_text(
        f'[superlink.{LINK}]\naddress = "{made.address}"\ninsecure = true\n'
    )
    try:
        for number in range(3):
            start_agent(made, f"node-{number}")
        monkeypatch.setenv("FEDRANK_AGENT", str(made.folder / "node-{}" / "agent.sock"))
        made.spawn(
            "superlink",
            *(SCRIPTS / "flower-superlink", "--simulation", "--insecure"),
            *("--host", "127.0.0.1", "--port", made.port),
            "--disable-runtime-dependency-installation",
        )
        made.wait(lambda: "running on" in made.log("superlink"), "the SuperLink")
        app = made.app("app", study, seed=SEED, nameless="true")
        _, status, result, shown = made.run(app, "--federation-config", "num-supernodes=3")
        assert status["status"] == "finished:completed", shown
        expect(result, study)
    finally:
        made.end()
        assert made.left() == []
