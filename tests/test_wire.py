"""What the core tells of the wire, computed here a second time from docs/protocol.md."""

import hashlib

import numpy as np
import pytest

from fedrank import Borda, _core
from fedrank.exceptions import ProtocolError
from helpers import wire

SCHEME = Borda(n=3, clients=4)._core_scheme
IDENTITIES = [_core.Identity.generate() for _ in range(4)]
LINES = [identity.public.line() for identity in IDENTITIES]
# digest, clients, threshold, round, scheme, roster
STUDY = (bytes(range(32)), 4, 3, 0, SCHEME, _core.Roster([]))
SIGNED = (*STUDY[:5], _core.Roster(LINES))
STUDIES = {"unsigned": STUDY, "signed": SIGNED}
STEPS = {"unsigned": _core.STEPS, "signed": _core.SIGNED_STEPS}
INPUTS = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 1], [2, 2, 2]], dtype=np.uint64)


def numbers(values, width):
    return b"".join(value.to_bytes(width, "little") for value in values)


def answer(client, step, request, me, signer):
    """One step of one client."""
    if step == "advertise":
        return client.advertise()
    more = {"mask": (INPUTS[me],), "share": (signer,), "confirm": (signer,)}
    return getattr(client, step)(request, *more.get(step, ()))


def session(mode, between=lambda server: server):
    """Messages up and down, and the result; ``between`` may replace the server."""
    study, steps = STUDIES[mode], STEPS[mode]
    server = _core.SecaggServer(*study, 7)
    clients = [_core.SecaggClient(*study, me, server.session()) for me in range(4)]
    up, down = {}, {(None, me): b"" for me in range(4)}
    last = None
    for step in steps:
        for me, client in enumerate(clients):
            signer = IDENTITIES[me] if mode == "signed" else None
            up[step, me] = answer(client, step, down[last, me], me, signer)
            server.receive(me, up[step, me])
            server = between(server)
        messages = server.close_step()
        server = between(server)
        down |= {(step, me): message for me, message in messages.items()}
        last = step
    return up, down, server


def test_the_steps_of_a_signed_round_have_one_more():
    assert _core.STEPS == ("advertise", "share", "mask", "unmask")
    assert _core.SIGNED_STEPS == ("advertise", "share", "mask", "confirm", "unmask")


@pytest.mark.parametrize("survivors", [[], [0, 2, 65_534]])
@pytest.mark.parametrize("order", [[], [2, 0, 1], list(range(300))])
def test_the_digest_of_a_round_by_its_definition(order, survivors):
    study, previous = bytes(range(32)), hashlib.sha256(b"before").digest()
    expected = wire.round_digest(study, 7, "raffinée", order, previous, survivors)
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


@pytest.mark.parametrize("mode", STUDIES)
def test_sizes_and_senders_are_those_of_the_messages(mode):
    up, down, _ = session(mode)
    sizes = _core.message_sizes(4, SCHEME.message_bits, mode == "signed")
    for (step, me), message in up.items():
        assert len(message) == getattr(sizes, step)
        assert _core.sender_of(message) == me
    for me in range(4):
        assert _core.survivors_of(down["mask", me]) == [0, 1, 2, 3]
    assert (sizes.confirm == 0) == (mode == "unsigned")


@pytest.mark.parametrize("mode", STUDIES)
@pytest.mark.parametrize("call", [_core.sender_of, _core.survivors_of])
def test_other_bytes_are_malformed(call, mode):
    up, down, _ = session(mode)
    wrong = [b"", bytes([2]) + bytes(39), up["mask", 0][:-1], down["share", 0]]
    wrong.append(up["share", 0] if call is _core.survivors_of else down["mask", 0])
    for message in wrong:
        with pytest.raises(ProtocolError) as error:
            call(message)
        assert error.value.code == "malformed"


@pytest.mark.parametrize("call", [_core.sender_of, _core.survivors_of])
def test_the_message_of_another_version_says_what_to_do(call):
    up, down, _ = session("unsigned")
    for message in (up["mask", 0], down["mask", 0]):
        with pytest.raises(ProtocolError, match=r"is of version 1 .* speaks version 2") as error:
            call(b"\1" + message[1:])
        assert error.value.code == "version"
        assert "install the same version of fedrank on all machines" in str(error.value)


# What opens a round

ORDER = [2, 0, 1]
PREVIOUS = bytes([9] * 32)
SIGNATURES = [(0, bytes([4] * 64)), (2, bytes([5] * 64))]
NAMES = (
    "study",
    "run",
    "round",
    "nonce",
    "stage",
    "order",
    "previous",
    "survivors",
    "confirmations",
)
FIRST = (bytes([1] * 32), 7, 0, bytes([3] * 32), "start", [], bytes(32), [], [])
NEXT = (bytes([1] * 32), 7, 1, bytes([3] * 32), "refine", ORDER, PREVIOUS, [0, 2], SIGNATURES)


def begin_bytes(study, run, round, nonce, stage, order, previous, survivors, confirmations, me):
    """What docs/protocol.md says."""
    digest = wire.round_digest(study, round, stage, order, previous, survivors)
    body = study + numbers([run], 8) + numbers([round], 4) + nonce + previous
    body += numbers([len(stage)], 1) + stage.encode()
    body += numbers([len(order)], 4) + numbers(order, 4)
    body += numbers([len(survivors)], 2) + numbers(survivors, 2)
    body += b"".join(numbers([who], 2) + signature for who, signature in confirmations)
    return wire.message(10, me, wire.session_id(digest, nonce, run), body)


@pytest.mark.parametrize("fields", [FIRST, NEXT], ids=["first", "next"])
def test_what_opens_a_round_goes_both_ways(fields):
    begin = _core.SecaggBegin(*fields)
    message = begin.to_bytes(3)
    assert message == begin_bytes(*fields, 3)
    again = _core.SecaggBegin.open(message, 3)
    found = [getattr(again, name) for name in NAMES]
    assert found == list(fields)
    assert again.round_digest() == begin.round_digest()
    digest = wire.round_digest(*(fields[i] for i in (0, 2, 4, 5, 6, 7)))
    assert again.round_digest() == digest
    assert again.session() == wire.session_id(digest, fields[3], fields[1])


def changed(fields, **changes):
    return tuple(changes.get(name, value) for name, value in zip(NAMES, fields, strict=True))


def reframed(message, body):
    content = message[:36] + body
    return content + hashlib.sha256(content).digest()[:4]


def refused_begin(code, message, me=3):
    with pytest.raises(ProtocolError) as error:
        _core.SecaggBegin.open(message, me)
    assert error.value.code == code


@pytest.mark.parametrize("fields", [FIRST, NEXT], ids=["first", "next"])
def test_what_opens_no_round_is_refused(fields):
    message = begin_bytes(*fields, 3)
    body = message[36:-4]
    refused_begin("foreign", message, 2)  # for another client
    refused_begin("malformed", b"")
    refused_begin("malformed", b"noise")
    refused_begin("malformed", message[:-1])
    refused_begin("malformed", message + b"\0")
    refused_begin("version", b"\1" + message[1:])
    refused_begin("malformed", wire.message(11, 3, message[4:36], body))  # of another kind
    refused_begin("malformed", wire.message(10, 3, bytes(32), body))  # of another session
    for cut in (0, 31, 100, len(body) - 1):
        refused_begin("malformed", reframed(message, body[:cut]))
    refused_begin("malformed", reframed(message, body + b"\0"))  # longer than its lists


@pytest.mark.parametrize(
    "change",
    [
        {"study": bytes([2] * 32)},
        {"run": 8},
        {"round": 2},
        {"nonce": bytes([4] * 32)},
        {"stage": "dispersion"},
        {"order": [0, 1, 2]},
        {"previous": bytes([8] * 32)},
        {"survivors": [0, 1, 2]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_session_is_that_of_all_fields(change):
    other = begin_bytes(*changed(NEXT, **change), 3)
    refused_begin("malformed", wire.message(10, 3, begin_bytes(*NEXT, 3)[4:36], other[36:-4]))


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "refine"},
        {"order": ORDER},
        {"previous": PREVIOUS},
        {"survivors": [0, 1]},
        {"confirmations": SIGNATURES},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_first_round_announces_nothing_and_follows_nothing(change):
    fields = changed(FIRST, **change)
    refused_begin("malformed", begin_bytes(*fields, 3))
    with pytest.raises(ProtocolError, match="round 0"):
        _core.SecaggBegin(*fields).to_bytes(3)


@pytest.mark.parametrize(
    "change",
    [
        {"survivors": [2, 0]},
        {"survivors": [0, 0]},
        {"confirmations": SIGNATURES[::-1]},
        {"confirmations": [SIGNATURES[0]] * 2},
    ],
)
def test_lists_rise(change):
    refused_begin("list", begin_bytes(*changed(NEXT, **change), 3))


def test_announced_text_is_utf8():
    message = begin_bytes(*NEXT, 3)
    refused_begin("malformed", reframed(message, message[36:-4].replace(b"refine", b"\xffefine")))


def test_a_roster_of_one_has_no_messages():
    with pytest.raises(ProtocolError) as error:
        _core.message_sizes(1, 8, False)
    assert error.value.code == "parameters"


def test_the_default_threshold_is_above_two_thirds():
    assert all(_core.default_threshold(n) == 2 * n // 3 + 1 for n in range(2, 1000))


def test_results_are_frozen():
    with pytest.raises(AttributeError):
        _core.message_sizes(4, 8, False).mask = 0


@pytest.mark.parametrize("mode", STUDIES)
def test_a_server_resumed_after_every_message_gives_the_same_sum(mode):
    def again(server):
        return _core.SecaggServer.resume(*STUDIES[mode], server.state())

    _, _, server = session(mode, again)
    total, survivors = server.result()
    assert (total.tolist(), survivors) == ([5, 5, 5], [0, 1, 2, 3])


@pytest.mark.parametrize("mode", STUDIES)
def test_a_server_resumes_only_its_own_state(mode):
    study = STUDIES[mode]
    server = _core.SecaggServer(*study, 0)
    state = server.state()
    client = _core.SecaggClient(*study, 0, server.session()).state()
    digest, clients, threshold, number, scheme, roster = study
    other_scheme = Borda(n=4, clients=4)._core_scheme
    lines = LINES if mode == "signed" else []
    more = [_core.Identity.generate().public.line()] if lines else []
    refused = [
        (*study, state[:-1]),
        (*study, b""),
        (*study, client),
        (bytes(32), clients, threshold, number, scheme, roster, state),
        (digest, 5, 4, number, scheme, _core.Roster([*lines, *more]), state),
        (digest, clients, 4, number, scheme, roster, state),
        (digest, clients, threshold, 1, scheme, roster, state),
        (digest, clients, threshold, number, other_scheme, roster, state),
        (*STUDIES["unsigned" if lines else "signed"], state),
        (
            digest,
            clients,
            threshold,
            number,
            scheme,
            _core.Roster([*more, *LINES[1:]] if lines else LINES),
            state,
        ),
    ]
    for arguments in refused:
        with pytest.raises(ProtocolError) as error:
            _core.SecaggServer.resume(*arguments)
        assert error.value.code == "state"
