"""The parts of fedrank on Flower, without its processes."""

import os
import socket
import ssl
import stat
import subprocess
import threading
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import serialization
from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fedrank import Borda, Lehmer, Mallows, Rankings, Study, federate
from fedrank._random import seed_bytes
from fedrank.agent import Agent, Config, Policy
from fedrank.agent.socket import respond
from fedrank.protocol.federate import STEPS, stream_rng
from fedrank.protocol.secagg import Client
from fedrank.schemes import Dispersion, Refine
from fedrank.transport.flower import Lost, RunFailedError, client_app, conduct, server
from fedrank.transport.flower import client as relay
from fedrank.transport.flower.app import write_app
from fedrank.transport.flower.join import environment, node_command
from fedrank.transport.flower.keys import write_keys
from helpers.command import COMMAND, refused, run, write_ranks

LABELS = ["ash", "birch", "cedar", "dogwood"]
ROSTER = ["north", "east", "south", "west"]
STUDY = Study(Borda(4, 4), LABELS, ROSTER)  # threshold 3
DATA = [Mallows(0.5, n=4).sample(12, rng=seed) for seed in range(4)]
SECRET = "7654321"


@pytest.fixture(autouse=True)
def task(monkeypatch):
    """Be a task of Flower's, which alone may make messages."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 7)


# Conducting


class Clients:
    """All clients of a study, in this process."""

    def __init__(self, study, seed, lost=()):
        self.study, self.lost = study, dict(lost)
        self.clients = [Client(study, c) for c in range(len(study.roster))]
        drawn = seed_bytes(seed)
        self.messages = [
            study.scheme.encode(each, rng=stream_rng(drawn, 0, c)) for c, each in enumerate(DATA)
        ]

    def reply(self, step, client, request):
        if step == "advertise":
            return self.clients[client].advertise()
        if step == "mask":
            return self.clients[client].mask(request, self.messages[client])
        return getattr(self.clients[client], step)(request)

    def exchange(self, step, requests):
        replies = {}
        for client, request in requests.items():
            if client in self.lost and STEPS.index(self.lost[client]) <= STEPS.index(step):
                continue
            replies[client] = self.reply(step, client, request)
        return replies


@pytest.mark.parametrize("scheme", [Borda(4, 4), Lehmer(4, 4), Lehmer(4, 4, low_bits=1)])
@pytest.mark.parametrize("lost", [{}, {1: "mask"}, {2: "unmask"}, {0: "share"}])
def test_a_conducted_run_is_the_engines_bit_for_bit(scheme, lost):
    study = Study(scheme, LABELS, ROSTER)
    found = conduct(study, Clients(study, 9, lost).exchange, seed_bytes(9))
    engine = federate([Rankings(d.ranks, LABELS) for d in DATA], scheme, dropouts=lost, rng=9)
    assert found.consensus.ranks.tobytes() == engine.consensus.ranks.tobytes()
    assert found.consensus.labels == engine.consensus.labels
    assert found.survivors == engine.survivors
    assert found.dropped == engine.dropped
    assert found.bytes_up.tolist() == engine.bytes_up.tolist()
    assert found.bytes_down.tolist() == engine.bytes_down.tolist()
    assert set(found.seconds) == set(STEPS)


def test_below_the_threshold_a_run_fails_and_says_who_was_lost():
    clients = Clients(STUDY, 0, {0: "mask", 3: "mask"})

    def exchange(step, requests):
        replies = clients.exchange(step, requests)
        return replies | ({0: Lost("refused")} if step == "mask" else {})

    with pytest.raises(RunFailedError) as failed:
        conduct(STUDY, exchange, bytes(32))
    assert "lost before mask: north (refused), west (no reply in time)" in str(failed.value)


def test_a_message_that_is_refused_costs_its_sender_alone():
    clients = Clients(STUDY, 0)

    def exchange(step, requests):
        replies = clients.exchange(step, requests)
        return replies | ({2: b"noise"} if step == "share" else {})

    found = conduct(STUDY, exchange, bytes(32))
    assert (found.survivors, found.dropped) == ([0, 1, 3], {2: "share"})
    assert found.faults == [(2, "malformed")]


def test_a_sum_over_two_is_not_opened():
    study = Study(Borda(4, 3), LABELS, ROSTER[:3], threshold=2)
    clients = Clients.__new__(Clients)
    clients.study, clients.lost = study, {0: "mask"}
    clients.clients = [Client(study, c) for c in range(3)]
    clients.messages = [study.scheme.encode(each, rng=0) for each in DATA[:3]]
    with pytest.raises(RunFailedError, match="a sum over 2 clients shows too much"):
        conduct(study, clients.exchange, bytes(32))


@pytest.mark.parametrize("scheme", [Refine(range(4), 4, window=2), Dispersion(range(4), clients=4)])
def test_a_scheme_of_a_later_round_is_refused_before_anybody_is_asked(scheme):
    def nobody(*_):
        raise AssertionError("asked")

    with pytest.raises(ValueError, match=f"not of {type(scheme).__name__}"):
        conduct(Study(scheme, LABELS, ROSTER), nobody, bytes(32))


# Finding nodes


class FakeGrid:
    """Nodes that answer at once, or with an error."""

    def __init__(self, clients, names, silent=()):
        self.clients, self.names, self.silent = clients, names, silent
        self.asked = []

    def get_nodes(self):
        return [SimpleNamespace(node_id=10 + n, name=name) for n, name in enumerate(self.names)]

    def send_and_receive(self, messages, *, timeout):
        assert timeout == 5.0
        for message in messages:
            node = message.metadata.dst_node_id
            step = message.metadata.message_type.removeprefix("query.")
            self.asked.append((step, node))
            if node in self.silent:
                continue
            request = message.content["fedrank"]["bytes"]
            # Node 10 + n is client (n + 1) modulo 4.
            reply = self.clients.reply(step, (node - 9) % 4, request)
            yield SimpleNamespace(
                metadata=SimpleNamespace(src_node_id=node),
                has_error=lambda: False,
                content=RecordDict({"fedrank": ConfigRecord({"bytes": reply})}),
            )


@pytest.mark.parametrize(
    ("names", "nameless"),
    [
        (["east", "south", "west", "north"], False),
        (["east", "south", "west", "north", "x"], False),
        ([""] * 4, True),
    ],
)
def test_nodes_are_known_by_their_registered_names_or_else_by_their_word(names, nameless):
    grid = FakeGrid(Clients(STUDY, 9), names)
    nodes = server.Nodes(grid, STUDY, 5.0, nameless)
    nodes.find(0.1)
    found = conduct(STUDY, nodes.exchange, seed_bytes(9))
    assert found.survivors == [0, 1, 2, 3]
    assert nodes.clients == {13: 0, 10: 1, 11: 2, 12: 3}
    assert {node for _, node in grid.asked} == {10, 11, 12, 13}


def test_nodes_that_are_not_there_or_silent_have_dropped_out():
    grid = FakeGrid(Clients(STUDY, 9), ["east", "south", "west"], silent=[12])
    nodes = server.Nodes(grid, STUDY, 5.0)
    nodes.find(0.1)
    with pytest.raises(RunFailedError) as failed:
        conduct(STUDY, nodes.exchange, bytes(32))
    told = "lost before advertise: north (its node is not there), west (no reply in time)"
    assert told in str(failed.value)


def test_of_two_nodes_that_say_they_are_one_client_only_the_first_is_heard():
    clients = Clients(STUDY, 9)
    grid = FakeGrid(clients, [""] * 5)  # the fifth says that it is the first
    nodes = server.Nodes(grid, STUDY, 5.0, nameless=True)
    nodes.find(0.1)
    assert conduct(STUDY, nodes.exchange, bytes(32)).survivors == [0, 1, 2, 3]
    assert 14 not in nodes.clients


def test_nodes_without_names_are_not_asked_unless_the_run_says_so():
    grid = FakeGrid(Clients(STUDY, 9), [""] * 4)
    nodes = server.Nodes(grid, STUDY, 5.0)
    nodes.find(0.1)
    with pytest.raises(RunFailedError, match=r"north \(its node is not there\)"):
        conduct(STUDY, nodes.exchange, bytes(32))
    assert grid.asked == []


def test_two_nodes_of_one_name_fail_the_run():
    grid = FakeGrid(Clients(STUDY, 9), ["east", "south", "west", "north", "east"])
    with pytest.raises(RunFailedError, match="2 nodes are registered as east"):
        server.Nodes(grid, STUDY, 5.0).find(0.1)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"fedrank": ConfigRecord({"code": "refused"})}, "refused"),
        ({"fedrank": ConfigRecord({"code": f"my data is {SECRET}"})}, "error"),
        ({"fedrank": ConfigRecord({"bytes": SECRET})}, "error"),
        ({"other": ConfigRecord({"bytes": b""})}, "error"),
        ({}, "error"),
    ],
)
def test_what_a_node_says_is_repeated_only_if_it_is_a_known_word(content, why):
    request = Message(RecordDict(), dst_node_id=1, message_type="query.share")
    reply = Message(RecordDict(content), reply_to=request)
    assert server.read(reply) == Lost(why)


def test_an_error_of_flowers_is_told_by_its_number():
    request = Message(RecordDict(), dst_node_id=1, message_type="query.share")
    reply = Message(Error(code=2, reason=SECRET), reply_to=request)
    assert server.read(reply) == Lost("Flower's error 2")


@pytest.mark.parametrize("value", [0, -1, "soon", True, float("nan"), float("inf")])
def test_times_that_cannot_be_are_refused_and_named(value):
    with pytest.raises(ValueError, match="deadline must be a number of seconds above 0"):
        server.seconds({"deadline": value}, "deadline")


def test_a_seed_is_passed_on_to_its_last_digit():
    assert server.seed_of({"seed": 2**53 + 1}) == 2**53 + 1
    assert server.seed_of({}) is None


@pytest.mark.parametrize("value", [True, 1.0, -1, "1"])
def test_seeds_that_are_not_whole_numbers_are_refused_and_named(value):
    with pytest.raises(ValueError, match="seed must be"):
        server.seed_of({"seed": value})


@pytest.mark.parametrize("value", [1, "true"])
def test_a_yes_is_spelled_as_one(value):
    with pytest.raises(ValueError, match="nameless must be true or false"):
        server.flag({"nameless": value}, "nameless")


# The relay


def relayed(study, node_config, content):
    request = Message(RecordDict(content), dst_node_id=1, message_type="query.advertise")
    context = Context(
        run_id=7, node_id=1, node_config=node_config, state=RecordDict(), run_config={}
    )
    reply = client_app(study)(request, context)
    (record,) = reply.content.values()
    assert list(reply.content) == ["fedrank"]
    assert len(record) == 1  # bytes or a code, nothing else
    return dict(record)


ASKED = {"fedrank": ConfigRecord({"bytes": b""})}


@pytest.fixture
def study_file(tmp_path):
    file = tmp_path / "study.json"
    file.write_text(STUDY.to_json())
    return file


def test_without_an_agent_the_relay_says_unavailable(study_file, tmp_path, monkeypatch, caplog):
    monkeypatch.delenv("FEDRANK_AGENT", raising=False)
    nowhere = {"agent": str(tmp_path / "none.sock")}
    assert relayed(study_file, nowhere, ASKED) == {"code": "unavailable"}
    assert "none.sock: [Errno 2]" in caplog.text  # which stays here
    assert relayed(study_file, {}, ASKED) == {"code": "unavailable"}


@pytest.mark.parametrize("content", [{}, {"fedrank": ConfigRecord({"bytes": "text"})}])
def test_the_relay_says_error_of_what_it_cannot_read(study_file, content):
    assert relayed(study_file, {"agent": "/x"}, content) == {"code": "error"}


@pytest.mark.parametrize("raised", [RuntimeError(SECRET), MemoryError(), BaseException(SECRET)])
def test_the_relay_catches_everything(study_file, monkeypatch, caplog, raised):
    def fail(*_):
        raise raised

    monkeypatch.setattr(relay, "ask", fail)
    assert relayed(study_file, {"agent": "/x"}, ASKED) == {"code": "error"}
    assert type(raised).__name__ in caplog.text


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_the_relay_lets_flower_end_the_process(study_file, monkeypatch, raised):
    def fail(*_):
        raise raised

    monkeypatch.setattr(relay, "ask", fail)
    with pytest.raises(raised):
        relayed(study_file, {"agent": "/x"}, ASKED)


def test_the_relay_passes_the_agents_bytes_on(study_file, tmp_path, monkeypatch):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, DATA[1].ranks.tolist())
    policy = Policy((STUDY.digest,))
    config = Config("east", votes, tmp_path / "state", tmp_path / "a.sock", policy)
    agent = Agent(config)
    listener = threading.Thread(target=answer_once, args=(agent, tmp_path / "a.sock"))
    listener.start()
    while not (tmp_path / "a.sock").exists():
        pass
    monkeypatch.setenv("FEDRANK_AGENT", str(tmp_path / "{}.sock"))
    (tmp_path / "a.sock").rename(tmp_path / "0.sock")
    reply = relayed(study_file, {"partition-id": 0}, ASKED)
    listener.join()
    assert reply == {"bytes": agent.answer(STUDY.to_json(), 7, "advertise", b"")}
    agent.close()


def answer_once(agent, path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        connection, _ = listening.accept()
        with connection:
            asked = b""
            while part := connection.recv(65536):
                asked += part
            connection.sendall(respond(agent, asked))


# The app, the keys, the settings


def test_an_app_has_what_flower_needs(tmp_path):
    study = Study(Borda(2, 3), ["a", 'b"\\'], ["x y", "z'", "w"])
    write_app(study, tmp_path / "app", seed=4)
    project = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    app = project["tool"]["flwr"]["app"]
    assert app["components"] == {
        "serverapp": "study_app.server:app",
        "clientapp": "study_app.client:app",
    }
    assert app["config"] == {
        "wait": 120,
        "deadline": 120,
        "out": "results",
        "nameless": False,
        "seed": 4,
    }
    assert Study.from_json((tmp_path / "app" / "study_app" / "study.json").read_text()) == study
    readme = (tmp_path / "app" / "README.md").read_text()
    assert study.digest in readme
    assert """keys/nodes/1.pub trial --name 'z'"'"''""" in readme
    assert [p.name for p in tmp_path.iterdir()] == ["app"]
    with pytest.raises(ValueError, match="there already"):
        write_app(study, tmp_path / "app")
    with pytest.raises(ValueError, match="there is no folder"):
        write_app(study, tmp_path / "none" / "app")


def test_an_app_can_be_built_by_flower(tmp_path):
    write_app(STUDY, tmp_path / "app")
    home = {"FLWR_HOME": str(tmp_path / "home"), "FLWR_TELEMETRY_ENABLED": "0"}
    done = subprocess.run(
        [COMMAND.with_name("flwr"), "build"],
        cwd=tmp_path / "app",
        env=os.environ | home | {"FLWR_DISABLE_UPDATE_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "app").glob("*.fab"))


def test_trial_certificates_hold_for_their_hosts_and_no_other(tmp_path):
    write_keys(tmp_path / "keys", ["link.example.org", "10.0.0.7"], nodes=1)
    context = ssl.create_default_context(cafile=tmp_path / "keys" / "ca.crt")
    for host, good in [
        ("link.example.org", True),
        ("10.0.0.7", True),
        ("localhost", True),
        ("evil.example.org", False),
    ]:
        assert handshake(tmp_path / "keys", context, host) is good
    write_keys(tmp_path / "other", [], nodes=0)
    stranger = ssl.create_default_context(cafile=tmp_path / "other" / "ca.crt")
    assert not handshake(tmp_path / "keys", stranger, "localhost")


def handshake(keys, context, host):
    """Whether a client takes the server's certificate, in memory."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(keys / "server.crt", keys / "server.key")
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = context.wrap_bio(down, up, server_hostname=host)
    two = server_side.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for side in (one, two):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


def test_node_keys_are_a_pair_and_secret(tmp_path):
    write_keys(tmp_path / "keys", [], nodes=2)
    nodes = tmp_path / "keys" / "nodes"
    secrets = [(nodes / f"{n}.key").read_bytes() for n in (0, 1)]
    keys = [serialization.load_ssh_private_key(secret, None) for secret in secrets]
    public = [serialization.load_ssh_public_key((nodes / f"{n}.pub").read_bytes()) for n in (0, 1)]
    assert [key.public_key() for key in keys] == public
    assert public[0] != public[1]
    assert keys[0].curve.name == "secp384r1"
    for secret in (nodes / "0.key", tmp_path / "keys" / "server.key"):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with pytest.raises(ValueError, match="there already"):
        write_keys(tmp_path / "keys", [], nodes=2)


def test_a_node_is_quiet_and_reached_on_this_machine_only():
    command = node_command("link:1", Path("ca.crt"), Path("n.key"), Path("/a b/agent.sock"))
    settings = dict(zip(command[1::2], command[2::2], strict=True))
    assert settings["--host"] == "127.0.0.1"
    assert settings["--node-config"] == 'agent="/a b/agent.sock"'
    assert "--insecure" not in command
    quiet = environment(Path("/home/x"))
    assert quiet["FLWR_TELEMETRY_ENABLED"] == "0"
    assert quiet["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert quiet["FLWR_HOME"] == "/home/x"


def test_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(STUDY.to_json())
    made = run("flower", "new", "study.json", "mine", "--seed", "3")
    assert (made.returncode, made.stdout) == (0, "app: mine/README.md\n")
    assert "seed = 3" in Path("mine/pyproject.toml").read_text()
    assert "mine is there already" in refused(run("flower", "new", "study.json", "mine"))
    made = run("flower", "keys", "study.json", "--host", "link.example.org")
    assert (made.returncode, made.stdout) == (0, "keys: keys\n")
    assert len(list(Path("keys/nodes").glob("*.key"))) == 4
    Path("bad.json").write_text("{}")
    assert "bad.json: the JSON of a study" in refused(run("flower", "new", "bad.json"))
    joined = ["flower", "join", "--superlink", "127.0.0.1:1", "--key", "keys/nodes/0.key"]
    absent = run(*joined, "--root-certificates", "none.crt")
    assert "none.crt: there is no such file" in refused(absent)
    absent = run(*joined, "--root-certificates", "keys/ca.crt")
    assert "agent.toml: there is no such file" in refused(absent)


def test_join_ends_both_processes_when_the_agent_cannot_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_keys(tmp_path / "keys", [], nodes=1)
    votes = write_ranks(tmp_path / "votes.csv", LABELS, DATA[1].ranks.tolist())
    Path("agent.toml").write_text(
        f'name = "east"\nrankings = "{votes}"\n[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    Path("state").mkdir(mode=0o755)  # others could read it
    Path("state").chmod(0o755)
    joined = run(
        *("flower", "join", "--superlink", "127.0.0.1:1", "--key", "keys/nodes/0.key"),
        *("--root-certificates", "keys/ca.crt"),
    )
    assert joined.returncode == 2
    assert "chmod 700" in joined.stderr


def test_without_flower_the_commands_say_how_to_get_it(python, tmp_path):
    (tmp_path / "study.json").write_text(STUDY.to_json())
    code = (
        "import sys\n"
        "sys.modules['flwr'] = None\n"
        "from fedrank.cli import main\n"
        f"sys.argv = ['fedrank', 'flower', 'new', {str(tmp_path / 'study.json')!r}]\n"
        "main()\n"
    )
    done = python(code)
    assert done.returncode == 2
    assert "pip install 'fedrank[flower]'" in done.stderr


def test_only_this_package_imports_flower():
    package = Path(relay.__file__).parents[1]
    importing = [
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if "import flwr" in file.read_text() or "from flwr" in file.read_text()
    ]
    assert importing == ["flower/_flwr.py"]


def test_no_app_is_written_for_a_study_that_a_run_cannot_conduct(tmp_path):
    study = Study(Refine([0, 1, 2], 3, window=1))
    with pytest.raises(ValueError, match="of Borda or Lehmer, not of Refine"):
        write_app(study, tmp_path / "app")
    assert not (tmp_path / "app").exists()
