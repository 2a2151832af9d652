"""The transport in process: who answers, who has vanished, and what a seed repeats."""

import pytest

from fedrank.exceptions import InputError
from fedrank.protocol.envelope import Envelopes, envelopes, header
from fedrank.transport import InProcess, Lost, Step
from helpers.runs import (
    CLIENTS,
    COORDINATOR,
    IDENTITIES,
    METHODS,
    SIGNED,
    SIGNED_METHODS,
    STRANGER,
    STUDY,
    begin_of,
    begins,
    clients,
)

EVERYBODY = dict.fromkeys(range(4), b"")
BEGINS = begins(STUDY)
ADVERTISE = Step(0, 0, "advertise")


def test_every_client_that_was_asked_answers():
    replies = clients(STUDY).exchange(ADVERTISE, {0: BEGINS[0], 2: BEGINS[2]})
    assert sorted(replies) == [0, 2]
    assert all(isinstance(reply, bytes) and reply for reply in replies.values())
    assert replies[0] != replies[2]


@pytest.mark.parametrize("methods", [METHODS, SIGNED_METHODS], ids=["unsigned", "signed"])
@pytest.mark.parametrize("when", [(0, "mask"), (1, "advertise"), (1, "confirm"), (1, "unmask")])
def test_a_client_vanishes_at_its_step_and_stays_away(methods, when):
    study = methods["kemeny"]
    round, name = when
    if name not in study.steps:
        return
    transport = clients(study, dropouts={1: when})
    for k in range(3):
        for number, step in enumerate(study.steps):
            gone = (k, number) >= (round, study.steps.index(name))
            assert transport.vanished(1, Step(0, k, step)) == gone
            assert not transport.vanished(0, Step(0, k, step))


def test_a_vanished_client_is_lost_and_not_asked():
    transport = clients(STUDY, dropouts={3: (0, "advertise")})
    transport.parties[3].answer = None  # calling it would fail
    replies = transport.exchange(ADVERTISE, BEGINS)
    assert replies[3] == Lost("vanished")
    assert all(isinstance(replies[client], bytes) for client in (0, 1, 2))


def test_a_client_refuses_a_request_that_opens_no_round():
    found = clients(STUDY).exchange(ADVERTISE, {0: b"noise", 1: BEGINS[1]})
    assert found[0] == Lost("malformed")
    assert isinstance(found[1], bytes)


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (b"", "malformed"),
        (BEGINS[1][:-1], "malformed"),
        (b"\1" + BEGINS[1][1:], "version"),
        (BEGINS[2], "foreign"),  # for another client
        (begins(METHODS["lehmer"])[1], "foreign"),  # of another study
        (begins(SIGNED)[1], "foreign"),
        (begins(STUDY, run=7)[1], "foreign"),  # of another run than the transport says
        (begins(STUDY, round=1, stage="refine", order=list(range(12)))[1], "foreign"),
    ],
)
def test_a_client_opens_its_own_round_only(request_bytes, code, secure):
    found = clients(STUDY, secure=secure).exchange(ADVERTISE, BEGINS | {1: request_bytes})
    assert found[1] == Lost(code)
    assert all(isinstance(found[client], bytes) for client in (0, 2, 3))


def test_a_client_begins_one_session_for_each_message_that_opens_it():
    transport = clients(STUDY)
    first = transport.exchange(ADVERTISE, BEGINS)
    assert transport.exchange(ADVERTISE, BEGINS) == first


def in_the_clear(seed):
    """The packed messages of all clients."""
    transport = InProcess(STUDY, CLIENTS, seed, secure=False)
    transport.exchange(ADVERTISE, BEGINS)
    return transport.exchange(Step(0, 0, "mask"), EVERYBODY)


def test_in_the_clear_only_the_step_mask_carries_anything():
    transport = InProcess(STUDY, CLIENTS, bytes(32), secure=False)
    for step in STUDY.steps:
        replies = transport.exchange(Step(0, 0, step), BEGINS if step == "advertise" else EVERYBODY)
        assert all(bool(reply) == (step == "mask") for reply in replies.values())


def test_one_seed_gives_the_same_messages_but_fresh_keys():
    assert in_the_clear(bytes(32)) == in_the_clear(bytes(32))
    first, second = (
        InProcess(STUDY, CLIENTS, bytes(32)).exchange(ADVERTISE, BEGINS) for _ in range(2)
    )
    assert all(first[client] != second[client] for client in EVERYBODY)


# With identities


AT_COORDINATOR = envelopes(SIGNED, None, COORDINATOR)


def sealed(begin, me, sender=AT_COORDINATOR, **changes):
    """What opens a round, in an envelope."""
    place = {
        "step": "advertise",
        "round_digest": begin.round_digest(),
        "session": begin.session(),
        "client": me,
    }
    return sender.seal(begin.to_bytes(me), **place | changes)


def test_clients_answer_in_envelopes():
    begin = begin_of(SIGNED)
    found = clients(SIGNED).exchange(ADVERTISE, {me: sealed(begin, me) for me in range(4)})
    place = "advertise", begin.round_digest(), begin.session()
    for me, reply in found.items():
        assert AT_COORDINATOR.open(reply, *place, client=me)
        assert header(reply).sender == me


def by_a_stranger():
    """Envelopes of somebody who says that he is the coordinator of such a study."""
    return Envelopes(STRANGER, None, SIGNED.identities, STRANGER.public)


def test_a_client_answers_its_coordinator_only():
    begin = begin_of(SIGNED)
    good, other = sealed(begin, 1), begin_of(SIGNED, nonce=bytes([1] * 32))
    wrong = {
        "by a stranger": sealed(begin, 1, by_a_stranger()),
        "in the clear": begin.to_bytes(1),
        "for another client": sealed(begin, 2),
        "for another step": sealed(begin, 1, step="share"),
        "of another session inside": sealed(begin, 1, session=other.session()),
        "of another round inside": sealed(begin, 1, round_digest=bytes(32)),
        "cut off": good[:-1],
        "changed": good[:-1] + bytes([good[-1] ^ 1]),
        "nothing": b"",
    }
    for name, request in wrong.items():
        found = clients(SIGNED).exchange(ADVERTISE, {1: request})
        assert found[1] == Lost("envelope"), name
    assert isinstance(clients(SIGNED).exchange(ADVERTISE, {1: good})[1], bytes)


@pytest.mark.parametrize("step", SIGNED.steps[1:])
def test_later_requests_are_the_coordinators_too(step):
    transport = clients(SIGNED)
    begin = begin_of(SIGNED)
    transport.exchange(ADVERTISE, {1: sealed(begin, 1)})
    place = step, begin.round_digest(), begin.session()
    wrong = by_a_stranger().seal(b"noise", *place, client=1)
    assert transport.exchange(Step(0, 0, step), {1: wrong})[1] == Lost("envelope")
    # The coordinator's own are opened, and then refused for what is in them.
    right = AT_COORDINATOR.seal(b"noise", *place, client=1)
    assert transport.exchange(Step(0, 0, step), {1: right})[1].why in ("malformed", "order")


def test_clients_have_the_identities_of_the_study():
    with pytest.raises(InputError, match=r"identity is missing: .* pass that of north"):
        InProcess(SIGNED, CLIENTS, bytes(32))
    with pytest.raises(InputError, match="in the study north has"):
        InProcess(SIGNED, CLIENTS, bytes(32), identities=IDENTITIES[::-1])
    with pytest.raises(InputError, match="this study names none"):
        InProcess(STUDY, CLIENTS, bytes(32), identities=IDENTITIES)
