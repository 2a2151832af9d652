"""The server's side on Flower, without its processes: conducting runs and finding nodes."""

from types import SimpleNamespace

import pytest
from flwr.app import ConfigRecord, Error, Message, RecordDict

from fedrank import Borda, Lehmer, Rankings, Study, federate
from fedrank._random import seed_bytes
from fedrank.protocol.federate import STEPS, stream_rng
from fedrank.protocol.secagg import Client
from fedrank.schemes import Dispersion, Refine
from fedrank.transport.flower import Lost, RunFailedError, conduct, server
from helpers.agents import LABELS, RANKS, ROSTER, SECRET, STUDY

pytestmark = pytest.mark.usefixtures("task")

DATA = [Rankings(ranks) for ranks in RANKS]


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
