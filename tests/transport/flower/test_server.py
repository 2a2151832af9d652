"""The server's side on Flower, without its processes: finding nodes and asking them."""

import itertools
import json
from types import SimpleNamespace

import pytest
from flwr.app import ConfigRecord, Error, Message, RecordDict

from fedrank import Identity, Rankings, Study, conduct, federate
from fedrank._random import seed_bytes
from fedrank.exceptions import RunFailedError
from fedrank.protocol.secagg import SIGNED_STEPS, STEPS
from fedrank.transport import InProcess, Lost, Step
from fedrank.transport.flower import server
from helpers.agents import LABELS, RANKS, ROSTER, SECRET, STUDY
from helpers.identities import PARTIES, with_identities

pytestmark = pytest.mark.usefixtures("task")

DATA = [Rankings(ranks, LABELS) for ranks in RANKS]
ME = PARTIES[-1]
SIGNED = Study(STUDY.method, LABELS, with_identities(ROSTER), coordinator=ME)


def clients(study=STUDY):
    keys = PARTIES[:4] if study.signed else None
    return InProcess(study, DATA, seed_bytes(9), identities=keys)


# Finding nodes


class FakeGrid:
    """Nodes that answer at once, or with an error.

    ``told`` is what each says when it is asked which client it is.
    """

    def __init__(self, clients, names, silent=(), told=()):
        self.clients, self.names, self.silent, self.told = clients, names, silent, told
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
            asked = message.content["fedrank"]
            if step == "which":
                record = self.told[node - 10]
            else:
                at = Step(int(asked["run"]), int(asked["round"]), step)
                # Node 10 + n is client (n + 1) modulo 4.
                record = {"bytes": self.clients.parties[(node - 9) % 4].answer(at, asked["bytes"])}
            yield SimpleNamespace(
                metadata=SimpleNamespace(src_node_id=node),
                has_error=lambda: False,
                content=RecordDict({"fedrank": ConfigRecord(record)}),
            )


TOLD = [{"client": (n + 1) % 4} for n in range(4)]


@pytest.mark.parametrize("study", [STUDY, SIGNED], ids=["unsigned", "signed"])
@pytest.mark.parametrize(
    ("names", "nameless"),
    [
        (["east", "south", "west", "north"], False),
        (["east", "south", "west", "north", "x"], False),
        ([""] * 4, True),
    ],
)
def test_nodes_are_known_by_their_registered_names_or_else_by_their_word(study, names, nameless):
    grid = FakeGrid(clients(study), names, told=TOLD)
    nodes = server.Nodes(grid, study, 5.0, nameless)
    nodes.find(0.1)
    assert grid.asked == [("which", node) for node in range(10, 14) if nameless]
    found = conduct(study, nodes, identity=ME if study.signed else None, rng=9)
    assert found.survivors == list(study.roster)
    assert nodes.clients == {13: 0, 10: 1, 11: 2, 12: 3}
    assert {node for _, node in grid.asked} == {10, 11, 12, 13}


def test_nodes_that_are_not_there_or_silent_have_dropped_out():
    grid = FakeGrid(clients(), ["east", "south", "west"], silent=[12])
    nodes = server.Nodes(grid, STUDY, 5.0)
    nodes.find(0.1)
    with pytest.raises(RunFailedError) as failed:
        conduct(STUDY, nodes, rng=9)
    told = "lost at advertise: north (its node is not there), west (no reply in time)"
    assert told in str(failed.value)


def test_two_nodes_that_say_they_are_one_client_fail_the_run():
    grid = FakeGrid(clients(), [""] * 5, told=[*TOLD, {"client": 2}])
    with pytest.raises(RunFailedError, match="2 nodes say that they are south: give each its own"):
        server.Nodes(grid, STUDY, 5.0, nameless=True).find(0.1)


@pytest.mark.parametrize(
    "told",
    [{"client": 4}, {"client": -1}, {"client": "3"}, {"client": True}, {"code": "error"}, {}],
)
def test_a_node_that_says_no_client_of_the_roster_is_not_asked(told):
    grid = FakeGrid(clients(), [""] * 4, told=[told, *TOLD[1:]])
    nodes = server.Nodes(grid, STUDY, 5.0, nameless=True)
    nodes.find(0.1)
    assert nodes.clients == {11: 2, 12: 3, 13: 0}


def test_a_simulated_node_that_does_not_say_which_it_is_is_not_there():
    grid = FakeGrid(clients(), [""] * 4, silent=[10, 11], told=TOLD)
    nodes = server.Nodes(grid, STUDY, 5.0, nameless=True)
    nodes.find(0.1)
    with pytest.raises(RunFailedError, match=r"east \(its node is not there\), south \(its node"):
        conduct(STUDY, nodes, rng=9)


def test_nodes_without_names_are_not_asked_unless_the_run_says_so():
    grid = FakeGrid(clients(), [""] * 4)
    nodes = server.Nodes(grid, STUDY, 5.0)
    nodes.find(0.1)
    with pytest.raises(RunFailedError, match=r"north \(its node is not there\)"):
        conduct(STUDY, nodes, rng=9)
    assert grid.asked == []


def test_two_nodes_of_one_name_fail_the_run():
    grid = FakeGrid(clients(), ["east", "south", "west", "north", "east"])
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


def test_the_key_is_loaded_for_a_signed_study_only(tmp_path):
    file = tmp_path / "me.key"
    ME.save(file)
    assert server.key_of({"key": str(file)}, SIGNED) == ME
    assert server.key_of({}, STUDY) is None
    assert server.key_of({"key": ""}, STUDY) is None
    with pytest.raises(ValueError, match="key is for studies with identities"):
        server.key_of({"key": str(file)}, STUDY)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, "key is missing: this study names identities.*run-config 'key="),
        ("", "key is missing: this study names identities.*run-config 'key="),
        (True, "key must be a path, not True"),
        ("none.key", "key cannot be read on the SuperLink's machine: No such file"),
        ("other.key", "key has the fingerprint .*, but in the study coordinator has"),
        ("open.key", "other users can read this private key"),
        ("bad.key", "bad.key: "),
    ],
)
def test_a_signed_study_is_not_conducted_without_its_coordinators_key(
    tmp_path, monkeypatch, key, told
):
    monkeypatch.chdir(tmp_path)
    Identity.generate().save("other.key")
    ME.save("open.key")
    (tmp_path / "open.key").chmod(0o644)
    (tmp_path / "bad.key").write_text("no key")
    (tmp_path / "bad.key").chmod(0o600)
    (tmp_path / "study.json").write_text(SIGNED.to_json())
    grid = FakeGrid(clients(SIGNED), ["east", "south", "west", "north"])
    (given,) = itertools.islice(
        contexts(tmp_path / "results", **({} if key is None else {"key": key})), 1
    )
    with pytest.raises(ValueError, match=told) as refused:
        main_of(server.server_app(tmp_path / "study.json"))(grid, given)
    assert "fedrank-key1" not in str(refused.value)
    assert grid.asked == []
    assert not (tmp_path / "results").exists()


# The whole app


class KilledError(Exception):
    pass


def contexts(folder, **more):
    """Flower's contexts of runs 21, 22, …"""
    settings = {"wait": 0.1, "deadline": 5.0, "out": str(folder), "seed": 9, "nameless": False}
    settings |= more
    for number in itertools.count(21):
        yield SimpleNamespace(run_config=settings, run_id=number)


@pytest.mark.parametrize(
    ("study", "step", "nameless"),
    [
        *((STUDY, step, False) for step in STEPS),
        *((SIGNED, step, False) for step in SIGNED_STEPS),
        (SIGNED, "mask", True),
    ],
)
def test_a_killed_server_app_goes_on_in_the_next_run(
    tmp_path, monkeypatch, capsys, study, step, nameless
):
    (tmp_path / "study.json").write_text(study.to_json())
    ME.save(tmp_path / "me.key")
    names = [""] * 4 if nameless else ["east", "south", "west", "north"]
    grid = FakeGrid(clients(study), names, told=TOLD)
    answered = grid.send_and_receive

    def killed(messages, *, timeout):
        replies = list(answered(messages, timeout=timeout))
        if messages[0].metadata.message_type == f"query.{step}":
            raise KilledError
        return replies

    key = {"key": str(tmp_path / "me.key")} if study.signed else {}
    runs = contexts(tmp_path / "results", nameless=nameless, **key)
    main = main_of(server.server_app(tmp_path / "study.json"))
    monkeypatch.setattr(grid, "send_and_receive", killed)
    with pytest.raises(KilledError):
        main(grid, next(runs))
    state = tmp_path / "results" / f"{study.digest}.state"
    assert state.stat().st_mode & 0o777 == 0o600
    assert list((tmp_path / "results").glob("*.json")) == []
    monkeypatch.setattr(grid, "send_and_receive", answered)
    main(grid, next(runs))
    assert "going on with the run" in capsys.readouterr().out
    result = json.loads((tmp_path / "results" / "22.json").read_text())
    assert (result["run"], result["flower_run"]) == (21, 22)
    expected = federate(DATA, study.method, rng=9)
    assert [row["item"] for row in result["consensus"]] == list(expected.labels)
    assert list(tmp_path.rglob("*.state*")) == []


def test_what_is_printed_has_places_from_1_and_names_what_chance_decided(tmp_path, capsys):
    votes = Rankings([[0, 1, 2], [1, 0, 2]], items=["Golden", "St. Clair", "Maine"])
    parts = {"north": votes[:1], "east": votes[1:], "south": votes}
    exact = federate(parts, send="sums", max_samples=2, rng=0)
    document = server.describe(exact, run=7, waited=0.5)
    server.announce(exact, document, tmp_path / "7.json")
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:4] == [f"{place} {item}" for place, item in enumerate(exact, start=1)]
    loud = f"places 1 and 2 were decided by lot: {', '.join(exact.top(2))}"
    assert printed[4:6] == ["! 1 tie broken at random", f"! {loud}"]
    assert (document["tied_groups"], document["chance"][1]) == ([list(exact.top(2))], loud)
    json.dumps(document, allow_nan=False)


def test_what_is_printed_names_items_that_rounding_may_have_tied(tmp_path, capsys):
    votes = Rankings([[0, 1, 2], [1, 0, 2]], items=["Golden", "St. Clair", "Maine"])
    rounded = federate({"north": votes, "east": votes, "south": votes}, rng=0)
    document = server.describe(rounded, run=7, waited=0.5)
    server.announce(rounded, document, tmp_path / "7.json")
    names = ", ".join(rounded.top(2))
    said = f'closer than 0.083 of a place may tie: {names}; send="sums" tells them apart'
    (printed,) = (line for line in capsys.readouterr().out.splitlines() if said in line)
    assert printed == f"! {document['chance'][2]}"


def test_a_run_that_fails_leaves_no_state(tmp_path):
    study = tmp_path / "study.json"
    study.write_text(STUDY.to_json())
    grid = FakeGrid(clients(), ["east", "south", "west", "north"], silent=[10, 11])
    with pytest.raises(RunFailedError, match="lost at advertise"):
        main_of(server.server_app(study))(grid, next(contexts(tmp_path / "results")))
    assert list((tmp_path / "results").iterdir()) == []


def main_of(app):
    """Return the function that Flower calls."""
    return app._main
