"""Three nodes, a SuperLink and ``flwr run``: one federation for all tests of this file."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from fedrank import Borda, Identity, Kemeny, Lehmer, Study, data, federate
from fedrank.transport.flower.join import free_port, node_command
from fedrank.transport.flower.keys import write_keys
from helpers.command import write_ranks
from helpers.federation import TIMEOUT_SECONDS, federation

pytestmark = pytest.mark.nodes

ROSTER = ["north", "east", "south east"]
LABELS = ["ash", "birch", "cedar", "dogwood", "elm", "fir"]
SEED = 5
COORDINATOR, STRANGER = Identity.generate(), Identity.generate()
KEYS = {name: Identity.generate() for name in ROSTER}


def signed(method, items=LABELS, **options):
    return Study(method, items, KEYS, coordinator=COORDINATOR, **options)


BORDA = signed(Borda(6, 3))
LEHMER = signed(Lehmer(6, 3))
KEMENY = signed(Kemeny(6, 3, window=1, rounds=4, max_samples=12), fit_phi=True)
ELSE = signed(Borda(6, 3, send="centroids", phi=0.5))  # which one node does not allow
OTHERS = signed(Borda(3, 3), LABELS[:3])  # which the data do not suit
UNSIGNED = Study(Borda(6, 3), LABELS, ROSTER)  # which one node does not allow at first
LATER = signed(Borda(6, 3, levels=2))  # when that node has another key

# North's scores have it in every row; nothing that leaves may.
MARKER = 7654321.25
TRACES = [
    b"7654321",
    struct.pack("<d", MARKER),
    struct.pack(">d", MARKER),
    struct.pack("<f", MARKER),
    struct.pack("<I", 7654321),
    struct.pack(">I", 7654321),
]

# The client's side, and a copy of all that it says.
RECORDING = """
from pathlib import Path

from flwr.clientapp import ClientApp

from fedrank.transport.flower import client_app

inner = client_app(Path(__file__).with_name("study.json"))


def record(message, context):
    reply = inner(message, context)
    said = [repr(reply.metadata).encode(), repr(reply.content).encode()]
    for values in reply.content.values():
        said += [v if isinstance(v, bytes) else str(v).encode() for v in values.values()]
    with (Path(context.node_config["agent"]).parent / "said").open("ab") as file:
        file.write(b"\\n".join(said))
    return reply


app = ClientApp()
for step in ("advertise", "share", "mask", "confirm", "unmask"):
    app.query(step)(record)
"""


def tied(seed):
    """Rankings with ties among their means, so that the seed matters."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(6) for _ in range(6)]
    return [row.tolist() for row in [*rows, *(5 - row for row in rows)]]


# One node has scores.
READING = {"north": {"layout": "scores", "best": "high"}}


def read(three, name):
    return data.read(three.folder / name / "votes.csv", **READING.get(name, {}))


def configure(made):
    allowed = [BORDA, LEHMER, KEMENY, OTHERS, UNSIGNED, LATER]
    for number, name in enumerate(ROSTER):
        own = (allowed, {}) if name == "east" else ([*allowed, ELSE], {"allow_unsigned": True})
        reading = READING.get(name)
        made.configure(name, LABELS, tied(number), own[0], SEED, reading, **own[1])
    rows = [[MARKER if r == 0 else 10.0 - r for r in row] for row in tied(0)]
    write_ranks(made.folder / "north" / "votes.csv", LABELS, rows)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    with federation(tmp_path_factory.mktemp("three"), KEYS, configure, COORDINATOR) as made:
        yield made


def agree(three, name, study):
    """A run gives what a run in process gives, bit for bit."""
    app = three.app(name, study, seed=SEED, client=RECORDING)
    number, status, result, shown = three.run(app)
    assert (status["status"], status["run-id"]) == ("finished:completed", str(number))
    clients = [read(three, name) for name in ROSTER]
    assert [each.items for each in clients] == [tuple(LABELS)] * 3
    in_process = federate(
        clients, study.method, fit_phi=study.fit_phi, identities=study.signed, rng=SEED
    )
    places = [(row["item"], row["score"]) for row in result["consensus"]]
    scores = in_process.scores
    assert places == [
        (LABELS[i], None if scores is None else float(scores[i])) for i in in_process.order
    ]
    assert result["ties"] == len(in_process.tied_groups)
    assert result["study"] == study.digest
    assert [client["name"] for client in result["clients"]] == ROSTER
    assert [client["bytes_sent"] for client in result["clients"]] == in_process.bytes_up.tolist()
    assert [client["bytes_received"] for client in result["clients"]] == (
        in_process.bytes_down.tolist()
    )
    assert all(client["in_sum"] for client in result["clients"])
    assert set(result["seconds"]) == {"wait"} | set(in_process.seconds)
    assert result["rounds"] == [each.round.stage for each in in_process.rounds]
    assert result["exact"] == in_process.exact
    fit = in_process.fit
    assert result["phi"] == (fit and {"estimate": fit.phi, "error": fit.standard_error})
    assert list((three.folder / "results").glob("*.state")) == []
    assert f"consensus of 3 clients: {three.folder / 'results'}/{number}.json" in shown
    assert re.search(rf"\b1\s+{re.escape(places[0][0])}\b", shown)


def test_borda_is_as_in_process_bit_for_bit(three):
    agree(three, "borda", BORDA)


def test_a_run_outside_a_nodes_policy_is_refused_and_the_node_stays_up(three):
    _, status, result, _ = three.run(three.app("else", ELSE, client=RECORDING))
    assert (status["status"], result) == ("finished:failed", None)
    assert "lost at advertise: east (refused)" in status["status-details"]
    assert "north" not in status["status-details"]
    told = (three.folder / "east" / "state" / "agent.log").read_text()
    assert f"study {ELSE.digest}: the study is not among those allowed" in told
    assert three.processes["join-east"].poll() is None


def test_rankings_that_do_not_suit_are_told_as_one_word(three):
    _, status, result, _ = three.run(three.app("others", OTHERS, client=RECORDING))
    assert (status["status"], result) == ("finished:failed", None)
    lost = ", ".join(f"{name} (data)" for name in ROSTER)
    assert f"lost at advertise: {lost}" in status["status-details"]
    told = (three.folder / "north" / "state" / "agent.log").read_text()
    assert "does not suit the study: a preview shows why" in told
    assert "dogwood" not in told  # a label of the file


def test_lehmer_is_as_in_process_bit_for_bit_in_a_later_run(three):
    agree(three, "lehmer", LEHMER)


def test_kemeny_and_phi_are_as_in_process_bit_for_bit(three):
    agree(three, "kemeny", KEMENY)


def test_an_unsigned_study_is_refused_by_the_default_policy(three):
    _, status, result, _ = three.run(three.app("refused", UNSIGNED, client=RECORDING))
    assert (status["status"], result) == ("finished:failed", None)
    assert "lost at advertise: east (refused)" in status["status-details"]
    told = (three.folder / "east" / "state" / "agent.log").read_text()
    assert f"study {UNSIGNED.digest}: the study names no identities" in told


def test_a_server_without_the_coordinators_key_fails_with_a_message(three):
    _, status, result, _ = three.run(three.app("keyless", BORDA, key="", client=RECORDING))
    assert (status["status"], result) == ("finished:failed", None)
    assert "key is missing: this study names identities" in status["status-details"]
    STRANGER.save(three.folder / "stranger.key")
    app = three.app("foreign", BORDA, key=three.folder / "stranger.key", client=RECORDING)
    _, status, result, _ = three.run(app)
    assert (status["status"], result) == ("finished:failed", None)
    assert f"key has the fingerprint {STRANGER.fingerprint}" in status["status-details"]


def test_a_node_whose_agent_has_another_key_is_refused_in_signed_studies_only(three):
    three.configure(
        "east", LABELS, tied(1), [UNSIGNED, LATER], SEED, identity=STRANGER, allow_unsigned=True
    )
    three.rejoin("east")
    _, status, result, _ = three.run(three.app("another", LATER, client=RECORDING))
    assert (status["status"], result) == ("finished:failed", None)
    assert "lost at advertise: east (refused)" in status["status-details"]
    told = (three.folder / "east" / "stranger" / "agent.log").read_text()
    assert f"the identity {STRANGER.fingerprint} is not in the roster" in told
    agree(three, "unsigned", UNSIGNED)


def test_strangers_are_refused(three):
    """An unregistered key, a wrong authority, and plain text."""
    write_keys(three.folder / "strange", [], 1)
    key = three.folder / "strange" / "nodes" / "0.key"
    known = three.folder / "keys" / "nodes" / "0.key"
    agent = three.folder / "north" / "agent.sock"
    once = ["--max-retries", "0"]
    plain = [node_command("", Path(), Path(), agent)[0], "--insecure"]
    commands = {
        "unregistered": [*node_command(three.address, three.certificate, key, agent), *once],
        "wrong-authority": [
            *node_command(three.address, three.folder / "strange" / "ca.crt", known, agent),
            *once,
        ],
        "plain": [*plain, "--superlink", three.address, "--port", str(free_port()), *once],
    }
    started = {name: three.spawn(name, *command) for name, command in commands.items()}
    for name, process in started.items():
        assert process.wait(timeout=TIMEOUT_SECONDS) != 0, name
        assert "Failed to initialize the connection" in three.log(name), name
        assert "SuperNode ID" not in three.log(name), name
    assert "CERTIFICATE_VERIFY_FAILED" in three.log("wrong-authority")


def test_the_marker_never_left(three):
    """Runs last: looks at all that the runs before it made."""
    assert MARKER in [float(v) for v in re.findall(r"[\d.]+", votes(three, "north"))]
    said = [(three.folder / name / "said").read_bytes() for name in ROSTER]
    assert all(len(each) > 1000 for each in said)
    elsewhere = [
        file.read_bytes()
        for place in ("home", "results")
        for file in (three.folder / place).rglob("*")
        if file.is_file()
    ]
    logs = [file.read_bytes() for file in three.folder.glob("*.log")]
    for trace in TRACES:
        assert not any(trace in each for each in [*said, *elsewhere, *logs])


def votes(three, name):
    return (three.folder / name / "votes.csv").read_text()


def test_no_private_key_is_anywhere_but_in_its_file(three):
    """No app, bundle, message, log or state of Flower's has one."""
    held = {file: file.read_bytes() for file in three.folder.rglob("*") if file.is_file()}
    secrets = {
        content.removeprefix(b"fedrank-key1:").strip()
        for file, content in held.items()
        if content.startswith(b"fedrank-key1:") and file.suffix == ".key"
    }
    assert len(secrets) == 5  # three nodes, the coordinator, the stranger
    for file, content in held.items():
        if file.suffix != ".key":
            assert not any(secret in content for secret in secrets), file


def test_the_agents_files_are_for_their_owner_only(three):
    for name in ROSTER:
        state = three.folder / name / "state"
        assert not state.stat().st_mode & 0o077
        assert not (three.folder / name / "agent.sock").stat().st_mode & 0o177


def test_every_run_that_got_a_masked_input_is_in_the_ledger(three):
    runs = {int(file.stem) for file in (three.folder / "results").glob("*.json")}
    assert len(runs) == 4
    for name in ROSTER:
        ledgers = (three.folder / name).glob("*/ledger.jsonl")
        lines = [line for ledger in ledgers for line in ledger.read_text().splitlines()]
        assert {int(re.search(r'"run":\s*(\d+)', line).group(1)) for line in lines} == runs
