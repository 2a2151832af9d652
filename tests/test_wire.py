"""What the core tells of the wire, computed here a second time from docs/protocol.md."""

import hashlib

import numpy as np
import pytest

from fedrank import Borda, _core
from fedrank.exceptions import ProtocolError

SCHEME = Borda(n=3, clients=4)._core_scheme
STUDY = (bytes(range(32)), 4, 3, 0, SCHEME)  # digest, clients, threshold, round, scheme
INPUTS = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 1], [2, 2, 2]], dtype=np.uint64)


def tagged(label, *parts):
    """H of docs/protocol.md: every part preceded by its length in 8 bytes."""
    text = b""
    for part in (b"fedrank secagg 1 ", label, *parts):
        text += len(part).to_bytes(8, "little") + part
    return hashlib.sha256(text).digest()


def numbers(values, width):
    return b"".join(value.to_bytes(width, "little") for value in values)


def answer(client, step, request, message):
    """One step of one client."""
    arguments = {"advertise": (), "mask": (request, message)}.get(step, (request,))
    return getattr(client, step)(*arguments)


def session(between=lambda server: server):
    """Messages up and down, and the result; ``between`` may replace the server."""
    clients = [_core.SecaggClient(*STUDY, me) for me in range(4)]
    server = _core.SecaggServer(*STUDY)
    up, down = {}, {(None, me): b"" for me in range(4)}
    last = None
    for step in _core.STEPS:
        for me, client in enumerate(clients):
            up[step, me] = answer(client, step, down[last, me], INPUTS[me])
            server.receive(me, up[step, me])
            server = between(server)
        messages = server.close_step()
        server = between(server)
        down |= {(step, me): message for me, message in messages.items()}
        last = step
    return up, down, server


@pytest.mark.parametrize("survivors", [[], [0, 2, 65_534]])
@pytest.mark.parametrize("order", [[], [2, 0, 1], list(range(300))])
def test_the_digest_of_a_round_by_its_definition(order, survivors):
    study, previous = bytes(range(32)), hashlib.sha256(b"before").digest()
    expected = tagged(
        b"round",
        study,
        (7).to_bytes(4, "little"),
        "raffinée".encode(),
        numbers(order, 4),
        previous,
        tagged(b"survivors", numbers(survivors, 2)),
    )
    found = _core.round_digest(study, 7, "raffinée", order, previous, survivors)
    assert found == expected
    as_array = np.array(order, dtype=np.int32)
    assert _core.round_digest(study, 7, "raffinée", as_array, previous, survivors) == expected


def test_digests_of_rounds_differ_in_every_part():
    parts = (bytes(32), 1, "refine", [0, 1], bytes(32), [0, 1, 2])
    others = (b"\1" * 32, 2, "borda", [1, 0], b"\2" * 32, [0, 1, 3])
    digests = {_core.round_digest(*parts)}
    for i, other in enumerate(others):
        digests.add(_core.round_digest(*parts[:i], other, *parts[i + 1 :]))
    assert len(digests) == 7


@pytest.mark.parametrize("wrong", [b"", bytes(31), bytes(33)])
def test_a_digest_is_32_bytes(wrong):
    with pytest.raises(ValueError, match="32 bytes"):
        _core.round_digest(wrong, 0, "borda", [], bytes(32), [])
    with pytest.raises(ValueError, match="32 bytes"):
        _core.round_digest(bytes(32), 0, "borda", [], wrong, [])


def test_sizes_and_senders_are_those_of_the_messages():
    up, down, _ = session()
    sizes = _core.message_sizes(4, SCHEME.message_bits)
    for (step, me), message in up.items():
        assert len(message) == getattr(sizes, step)
        assert _core.sender_of(message) == me
    for me in range(4):
        assert _core.survivors_of(down["mask", me]) == [0, 1, 2, 3]


@pytest.mark.parametrize("call", [_core.sender_of, _core.survivors_of])
def test_other_bytes_are_malformed(call):
    up, down, _ = session()
    wrong = [b"", bytes(40), up["mask", 0][:-1], down["share", 0]]
    wrong.append(up["share", 0] if call is _core.survivors_of else down["mask", 0])
    for message in wrong:
        with pytest.raises(ProtocolError) as error:
            call(message)
        assert error.value.code == "malformed"


def test_a_roster_of_one_has_no_messages():
    with pytest.raises(ProtocolError) as error:
        _core.message_sizes(1, 8)
    assert error.value.code == "parameters"


def test_the_default_threshold_is_above_two_thirds():
    assert all(_core.default_threshold(n) == 2 * n // 3 + 1 for n in range(2, 1000))


def test_results_are_frozen():
    with pytest.raises(AttributeError):
        _core.message_sizes(4, 8).mask = 0


def test_a_server_resumed_after_every_message_gives_the_same_sum():
    def again(server):
        return _core.SecaggServer.resume(*STUDY, server.state())

    _, _, server = session(again)
    total, survivors = server.result()
    assert (total.tolist(), survivors) == ([5, 5, 5], [0, 1, 2, 3])


def test_a_server_resumes_only_its_own_state():
    server = _core.SecaggServer(*STUDY)
    state = server.state()
    client = _core.SecaggClient(*STUDY, 0).state()
    digest, clients, threshold, number, scheme = STUDY
    other_scheme = Borda(n=4, clients=4)._core_scheme
    refused = [
        (*STUDY, state[:-1]),
        (*STUDY, b""),
        (*STUDY, client),
        (bytes(32), clients, threshold, number, scheme, state),
        (digest, 5, 4, number, scheme, state),
        (digest, clients, 4, number, scheme, state),
        (digest, clients, threshold, 1, scheme, state),
        (digest, clients, threshold, number, other_scheme, state),
    ]
    for arguments in refused:
        with pytest.raises(ProtocolError) as error:
            _core.SecaggServer.resume(*arguments)
        assert error.value.code == "state"
