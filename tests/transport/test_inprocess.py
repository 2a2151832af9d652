"""The transport in process: who answers, who has vanished, and what a seed repeats."""

import pytest

from fedrank.protocol.secagg import STEPS
from fedrank.transport import InProcess, Lost, Step
from helpers.runs import CLIENTS, METHODS, STUDY, clients

EVERYBODY = dict.fromkeys(range(4), b"")


def test_every_client_that_was_asked_answers():
    transport = clients(STUDY)
    replies = transport.exchange(Step(0, 0, "advertise"), {0: b"", 2: b""})
    assert sorted(replies) == [0, 2]
    assert all(isinstance(reply, bytes) and reply for reply in replies.values())
    assert replies[0] != replies[2]


@pytest.mark.parametrize("when", [(0, "mask"), (1, "advertise"), (1, "unmask")])
def test_a_client_vanishes_at_its_step_and_stays_away(when):
    transport = clients(METHODS["kemeny"], dropouts={1: when})
    round, name = when
    for k in range(3):
        for number, step in enumerate(STEPS):
            gone = (k, number) >= (round, STEPS.index(name))
            assert transport.vanished(1, Step(0, k, step)) == gone
            assert not transport.vanished(0, Step(0, k, step))


def test_a_vanished_client_is_lost_and_not_asked():
    transport = clients(STUDY, dropouts={3: (0, "advertise")})
    transport.parties[3].answer = None  # calling it would fail
    replies = transport.exchange(Step(0, 0, "advertise"), EVERYBODY)
    assert replies[3] == Lost("vanished")
    assert all(isinstance(replies[client], bytes) for client in (0, 1, 2))


def test_a_client_refuses_a_request_that_is_no_announcement():
    found = clients(STUDY).exchange(Step(0, 0, "advertise"), {0: b"noise", 1: b""})
    assert found[0] == Lost("malformed")
    assert isinstance(found[1], bytes)


def in_the_clear(seed):
    """The packed messages of all clients."""
    transport = InProcess(STUDY, CLIENTS, seed, secure=False)
    transport.exchange(Step(0, 0, "advertise"), EVERYBODY)
    return transport.exchange(Step(0, 0, "mask"), EVERYBODY)


def test_in_the_clear_only_the_step_mask_carries_anything():
    transport = InProcess(STUDY, CLIENTS, bytes(32), secure=False)
    for step in STEPS:
        replies = transport.exchange(Step(0, 0, step), EVERYBODY)
        assert all(bool(reply) == (step == "mask") for reply in replies.values())


def test_one_seed_gives_the_same_messages_but_fresh_keys():
    assert in_the_clear(bytes(32)) == in_the_clear(bytes(32))
    first, second = (
        InProcess(STUDY, CLIENTS, bytes(32)).exchange(Step(0, 0, "advertise"), EVERYBODY)
        for _ in range(2)
    )
    assert all(first[client] != second[client] for client in EVERYBODY)
