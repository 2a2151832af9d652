"""Studies with identities over a transport that may do anything: what it costs, and whom."""

from itertools import product

import pytest

from fedrank import Borda, Study, conduct, federate
from fedrank.exceptions import InputError
from fedrank.protocol.driver import Driver
from fedrank.protocol.envelope import envelopes, header
from fedrank.transport import InProcess, Lost
from helpers.identities import PARTIES, with_identities
from helpers.runs import (
    CLIENTS,
    COORDINATOR,
    IDENTITIES,
    METHODS,
    ROSTER,
    SIGNED,
    SIGNED_METHODS,
    STRANGER,
    STUDY,
    clients,
    keys,
)

STEPS = SIGNED.steps


class Carrier:
    """A transport that keeps what it carries, and may change the replies."""

    def __init__(self, inner, change=None):
        self.inner, self.change, self.log = inner, change, []

    def exchange(self, step, requests):
        replies = self.inner.exchange(step, requests)
        if self.change is not None:
            replies |= self.change(step, requests, replies)
        self.log.append((step, dict(requests), dict(replies)))
        return replies


# The same consensus


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "lost", [None, *product([0, 1], STEPS)], ids=lambda lost: "-".join(map(str, lost or ["none"]))
)
def test_masked_signed_and_plain_agree_whoever_drops_out(name, lost):
    results = {}
    for mode, methods in (("plain", METHODS), ("masked", METHODS), ("signed", SIGNED_METHODS)):
        study, secure = methods[name], mode != "plain"
        # Without the step confirm, the next one: the message is in the sum already.
        when = lost and (lost[0], lost[1] if lost[1] in study.steps else "unmask")
        inner = clients(study, secure=secure, dropouts={2: when} if when else {})
        results[mode] = conduct(study, inner, rng=9, secure=secure, **keys(study))
    plain = results["plain"]
    assert (plain.fit is None) == (name != "kemeny, phi" or plain.note is not None)
    for mode in ("masked", "signed"):
        found = results[mode]
        assert found.ranks.tobytes() == plain.ranks.tobytes()
        assert (found.scores is None) == (plain.scores is None)
        assert found.scores is None or found.scores.tobytes() == plain.scores.tobytes()
        assert (found.fit, found.ties, found.note) == (plain.fit, plain.ties, plain.note)
        assert (found.survivors, found.faults) == (plain.survivors, [])
        opened = [each.survivors for each in found.rounds]
        assert opened == [each.survivors for each in plain.rounds]
    if lost and name not in ("borda", "lehmer"):
        assert results["signed"].dropped == {"south": lost if lost[0] else lost[1]}


# Who takes part


@pytest.mark.parametrize(
    ("study", "identity", "named"),
    [
        (SIGNED, None, r"identity is missing: .* pass that of coordinator"),
        (SIGNED, STRANGER, f"has the fingerprint {STRANGER.fingerprint}, but in"),
        (SIGNED, IDENTITIES[0], "but in the study coordinator has"),
        (STUDY, COORDINATOR, "identity is for studies with identities"),
    ],
    ids=["none", "a stranger's", "a client's", "unsigned"],  # keys differ from process to process
)
def test_the_coordinators_identity_is_the_one_of_the_study(study, identity, named):
    with pytest.raises(InputError, match=named):
        conduct(study, clients(study), identity=identity)


def test_everything_that_leaves_is_sealed_for_its_recipient():
    study = SIGNED_METHODS["kemeny"]
    carrier = Carrier(clients(study))
    conduct(study, carrier, **keys(study))
    for step, requests, replies in carrier.log:
        assert sorted(requests) == sorted(replies) == [0, 1, 2, 3]
        for client, request in requests.items():
            down, up = header(request), header(replies[client])
            assert (down.direction, up.direction) == (0, 1)
            assert (down.recipient, up.sender) == (client, client)
            assert down.step == up.step == STEPS.index(step.name)
            assert (down.session, down.round_digest) == (up.session, up.round_digest)
    # Every round has a session of its own.
    sessions = {header(requests[0]).session for _, requests, _ in carrier.log}
    assert len(sessions) * len(STEPS) == len(carrier.log)


# What carries the envelopes


def flipped(blob, place):
    changed = bytearray(blob)
    changed[place] ^= 1
    return bytes(changed)


# What client 1 is heard to say: of its reply, that of client 2, its request, what it said at
# this step of another run, and what it said at the step before.
WAYS = {
    "of another client": lambda mine, other, asked, elsewhere, before: other,  # noqa: ARG005
    "of another session": lambda mine, other, asked, elsewhere, before: elsewhere,  # noqa: ARG005
    "of another step": lambda mine, other, asked, elsewhere, before: before,  # noqa: ARG005
    "sent back": lambda mine, other, asked, elsewhere, before: asked,  # noqa: ARG005
    "cut off": lambda mine, *_: mine[:-1],
    "cut off in the header": lambda mine, *_: mine[:70],
    "longer": lambda mine, *_: mine + b"\0",
    "changed in the version": lambda mine, *_: flipped(mine, 0),
    "changed in the session": lambda mine, *_: flipped(mine, 50),
    "changed in the key": lambda mine, *_: flipped(mine, 80),
    "changed inside": lambda mine, *_: flipped(mine, 110),
    "changed at the end": lambda mine, *_: flipped(mine, -1),
    "nothing": lambda *_: b"",
}


@pytest.fixture(scope="module")
def elsewhere():
    """What client 1 says at each step of another run of the same study."""
    carrier = Carrier(clients(SIGNED))
    conduct(SIGNED, carrier, run=1, rng=9, **keys(SIGNED))
    return {step.name: replies[1] for step, _, replies in carrier.log}


def check_lost(found, at):
    """Client 1 is lost at a step, nobody is at fault, and the others finished."""
    assert found.reasons == {"east": "envelope"}
    assert found.dropped == {"east": at}
    assert found.faults == []
    summed = at in ("confirm", "unmask")
    assert found.survivors == [name for name in ROSTER if summed or name != "east"]
    expected = federate(CLIENTS, SIGNED.method, dropouts=() if summed else [1], rng=9)
    assert found.ranks.tolist() == expected.ranks.tolist()


@pytest.mark.parametrize("at", STEPS)
@pytest.mark.parametrize("way", WAYS)
def test_an_envelope_that_does_not_open_costs_its_client_and_accuses_nobody(way, at, elsewhere):
    said = {}

    def change(step, requests, replies):
        before = said.get("last", elsewhere["mask"])
        said["last"] = replies.get(1)
        if step.name != at:
            return {}
        return {1: WAYS[way](replies[1], replies[2], requests[1], elsewhere[at], before)}

    found = conduct(SIGNED, Carrier(clients(SIGNED), change), rng=9, run=2, **keys(SIGNED))
    check_lost(found, at)


@pytest.mark.parametrize("at", STEPS)
def test_an_answer_in_the_clear_is_not_heard(at):
    """The right message without its envelope."""
    inner = clients(SIGNED)
    party, mailbox = inner.parties[1], {}
    take_step = party.take_step

    def remember(step, request):
        mailbox[step.name] = take_step(step, request)
        return mailbox[step.name]

    party.take_step = remember

    def change(step, requests, replies):  # noqa: ARG001
        return {1: mailbox[at]} if step.name == at else {}

    check_lost(conduct(SIGNED, Carrier(inner, change), rng=9, **keys(SIGNED)), at)


@pytest.mark.parametrize("at", STEPS)
def test_swapped_replies_cost_both_and_the_others_finish(at):
    *five, coordinator = PARTIES
    roster = with_identities("abcde", five)
    study = Study(Borda(12, 5), None, roster, 3, coordinator)
    inner = InProcess(study, [*CLIENTS, CLIENTS[0]], bytes(32), identities=five)

    def swap(step, requests, replies):  # noqa: ARG001
        return {1: replies[2], 2: replies[1]} if step.name == at else {}

    found = conduct(study, Carrier(inner, swap), identity=coordinator)
    assert found.dropped == {"b": at, "c": at}
    assert found.reasons == {"b": "envelope", "c": "envelope"}
    assert found.faults == []
    summed = at in ("confirm", "unmask")
    assert found.survivors == (list("abcde") if summed else ["a", "d", "e"])


@pytest.mark.parametrize("at", STEPS)
def test_requests_that_are_changed_are_answered_by_nobody(at):
    inner = clients(SIGNED)

    class Changing:
        def exchange(self, step, requests):
            if step.name == at:
                requests = requests | {1: flipped(requests[1], -1)}
            return inner.exchange(step, requests)

    check_lost(conduct(SIGNED, Changing(), rng=9, **keys(SIGNED)), at)


def test_a_fault_inside_an_envelope_is_its_senders():
    at_south = envelopes(SIGNED, 2, IDENTITIES[2])

    def fail(step, requests, _):
        if step.name != "share":
            return {}
        place = header(requests[2])
        return {2: at_south.seal(b"noise", "share", place.round_digest, place.session)}

    found = conduct(SIGNED, Carrier(clients(SIGNED), fail), **keys(SIGNED))
    assert found.faults == [("south", "malformed")]
    assert found.reasons == {"south": "malformed"}
    assert found.survivors == ["north", "east", "west"]


# A survivor that misses the confirm step


class Forgetful(Carrier):
    """Client 1 is not asked to confirm the survivors of the first round, or is not heard."""

    def __init__(self, inner, missed="request"):
        super().__init__(inner)
        self.missed = missed

    def exchange(self, step, requests):
        if (step.round, step.name) != (0, "confirm"):
            return super().exchange(step, requests)
        if self.missed == "request":
            requests = {client: each for client, each in requests.items() if client != 1}
        return super().exchange(step, requests) | {1: Lost("unavailable")}

    def asked(self, round, name):
        """The clients that were asked at a step."""
        where = [
            requests for step, requests, _ in self.log if (step.round, step.name) == (round, name)
        ]
        return sorted(where[0])


@pytest.mark.parametrize("missed", ["request", "reply"])
@pytest.mark.parametrize("name", ["kemeny", "kemeny, phi"])
def test_a_survivor_that_misses_the_confirm_step_takes_part_in_the_next_round(name, missed):
    study = SIGNED_METHODS[name]
    carrier = Forgetful(clients(study), missed)
    found = conduct(study, carrier, rng=9, **keys(study))
    assert carrier.asked(0, "unmask") == [0, 2, 3]
    assert carrier.asked(1, "advertise") == carrier.asked(1, "unmask") == [0, 1, 2, 3]
    expected = conduct(study, clients(study), rng=9, **keys(study))
    assert found.ranks.tobytes() == expected.ranks.tobytes()
    assert (found.survivors, found.note, found.fit) == (ROSTER, None, expected.fit)
    assert (found.dropped, found.reasons) == ({"east": "confirm"}, {"east": "unavailable"})
    assert len(found.rounds) == len(expected.rounds)


class Cheating(Driver):
    """A driver that changes the signatures of the first round, as `change` says."""

    def __init__(self, carrier, change, methods=SIGNED_METHODS):
        super().__init__(methods["kemeny"], carrier, True, 3, bytes(32), 4, COORDINATOR)
        self.change = change

    def finish(self, running):
        super().finish(running)
        if running.round.number == 0:
            self.confirmations = self.change(self.confirmations)


def test_without_valid_signatures_it_takes_no_part_in_the_next_round():
    study, seen = SIGNED_METHODS["kemeny"], []
    conducted = Cheating(Carrier(clients(study)), lambda right: seen.append(right) or right)
    conducted.conduct()
    foreign = seen[0]  # of another session
    for code, change in (
        ("few", lambda right: right[:-1]),
        ("order", lambda _: []),
        ("signature", lambda right: [*right[:-1], (right[-1][0], flipped(right[-1][1], 7))]),
        ("signature", lambda right: [*right[:-1], (right[-1][0], right[0][1])]),
        ("signature", lambda _: foreign),
    ):
        carrier = Forgetful(clients(study))
        found = Cheating(carrier, change).conduct()
        first = next(replies for step, _, replies in carrier.log if step.round == 1)
        assert first[1] == Lost(code)
        assert isinstance(first[0], bytes)
        assert carrier.inner.parties[1].record.opened == 0
        # And nothing is opened without it: its message would show.
        assert found.rounds[1].survivors == []
        assert "round 1 (refine) was not opened: its survivors are not those" in found.note


def test_it_refuses_other_survivors_than_those_that_were_signed():
    """A server that names the next round's survivors itself needs their signatures."""
    study = SIGNED_METHODS["kemeny"]
    carrier = Forgetful(clients(study))

    class Lying(Cheating):
        def finish(self, running):
            super().finish(running)
            self.record.survivors = (0, 1, 2)

    Lying(carrier, lambda right: right).conduct()
    first = next(replies for step, _, replies in carrier.log if step.round == 1)
    assert {client: reply.why for client, reply in first.items()} == {
        0: "foreign",
        1: "list",
        2: "foreign",
    }
