"""The steps without masks: the sum of the messages, over the clients that sent one."""

import pytest

from fedrank import Borda, Study
from fedrank.exceptions import ProtocolError
from fedrank.protocol.plain import PlainServer
from fedrank.protocol.secagg import STEPS

ROUND = Study(Borda(n=3, clients=4)).round(0)
MESSAGES = [[0, 1, 2], [2, 1, 0], [1, 1, 1], [2, 2, 2]]


def run(vanish):
    """A server that has taken all four steps; a client vanishes at the step given for it."""
    server = PlainServer(ROUND)
    clients = range(len(MESSAGES))
    for number, step in enumerate(STEPS):
        clients = [c for c in clients if c not in vanish or STEPS.index(vanish[c]) > number]
        for client in clients:
            message = ROUND.scheme.pack(MESSAGES[client]) if step == "mask" else b""
            server.receive(client, message)
        requests = server.close_step()
        assert requests == ({} if step == STEPS[-1] else dict.fromkeys(clients, b""))
    return server


@pytest.mark.parametrize(
    ("vanish", "survivors"),
    [
        ({}, [0, 1, 2, 3]),
        ({1: "advertise"}, [0, 2, 3]),
        ({1: "share", 2: "mask"}, [0, 3]),
        ({0: "mask", 1: "mask", 2: "mask"}, [3]),  # there is no threshold
        ({3: "unmask"}, [0, 1, 2, 3]),  # its message has arrived
    ],
)
def test_the_sum_is_over_the_clients_whose_messages_arrived(vanish, survivors):
    total, found = run(vanish).result()
    assert found == survivors
    expected = [sum(column) for column in zip(*(MESSAGES[c] for c in survivors), strict=True)]
    assert total.tolist() == expected


def test_without_any_message_there_is_no_sum():
    with pytest.raises(ProtocolError, match="every client dropped out") as refused:
        run(dict.fromkeys(range(4), "mask"))
    assert refused.value.code == "few"


def test_a_message_of_the_wrong_length_is_refused():
    server = PlainServer(ROUND)
    for _ in STEPS[: STEPS.index("mask")]:
        server.receive(0, b"")
        server.close_step()
    with pytest.raises(ValueError, match="bytes"):
        server.receive(0, ROUND.scheme.pack(MESSAGES[0]) + b"\0")
