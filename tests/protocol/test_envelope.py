"""Envelopes through the Python API: who may open what, where, and when."""

import json

import pytest

from fedrank import _core
from fedrank.exceptions import InputError, ProtocolError
from fedrank.protocol.envelope import (
    COORDINATOR,
    OVERHEAD,
    STEPS,
    Envelopes,
    check_session,
    header,
)
from fedrank.protocol.identity import Identity
from helpers.paths import VECTORS

DRIVER, NORTH, SOUTH, STRANGER = (Identity.generate() for _ in range(4))
STUDY = [NORTH.public, SOUTH.public], DRIVER.public
AT_DRIVER = Envelopes(DRIVER, None, *STUDY)
AT_NORTH, AT_SOUTH = Envelopes(NORTH, 0, *STUDY), Envelopes(SOUTH, 1, *STUDY)
ROUND, SESSION, OTHER = bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)


def refused(words, call, *args, **options):
    with pytest.raises(ProtocolError, match=words) as caught:
        call(*args, **options)
    assert caught.value.code == "envelope"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("body", [b"", b"a message", bytes(100_000)], ids=len)
def test_what_is_sealed_is_opened(step, body):
    place = step, ROUND, SESSION
    down = AT_DRIVER.seal(body, *place, client=1)
    assert AT_SOUTH.open(down, *place) == body
    up = AT_SOUTH.seal(body, *place)
    assert AT_DRIVER.open(up, *place, client=1) == body
    assert len(up) == len(down) == len(body) + OVERHEAD


def test_a_header_tells_whose_an_envelope_is():
    up = header(AT_SOUTH.seal(b"a message", "confirm", ROUND, SESSION))
    assert (up.direction, up.round_digest, up.session) == (1, ROUND, SESSION)
    assert (STEPS[up.step], up.sender, up.recipient) == ("confirm", 1, COORDINATOR)
    down = header(AT_DRIVER.seal(b"a message", "mask", ROUND, SESSION, client=0))
    assert (down.direction, down.round_digest, down.session) == (0, ROUND, SESSION)
    assert (STEPS[down.step], down.sender, down.recipient) == ("mask", COORDINATOR, 0)
    assert down == header(AT_DRIVER.seal(b"another", "mask", ROUND, SESSION, client=0))
    assert down != up


def test_the_same_message_is_sealed_to_the_same_bytes():
    def seal(body):
        return AT_DRIVER.seal(body, "share", ROUND, SESSION, client=0)

    assert seal(b"a message") == seal(b"a message")
    assert seal(b"a message")[71:103] != seal(b"another")[71:103]


def test_an_envelope_is_for_one_step_session_round_and_client():
    blob = AT_DRIVER.seal(b"a message", "share", ROUND, SESSION, client=1)
    refused("for step 'share', not for step 'mask'", AT_SOUTH.open, blob, "mask", ROUND, SESSION)
    refused("of another session", AT_SOUTH.open, blob, "share", ROUND, OTHER)
    refused("of another study or round", AT_SOUTH.open, blob, "share", OTHER, SESSION)
    refused("it is for client 1", AT_NORTH.open, blob, "share", ROUND, SESSION)
    refused("other direction", AT_DRIVER.open, blob, "share", ROUND, SESSION, client=1)
    assert AT_SOUTH.open(blob, "share", ROUND, SESSION) == b"a message"


def test_an_envelope_is_from_the_client_that_is_heard():
    blob = AT_SOUTH.seal(b"a message", "share", ROUND, SESSION)
    place = "share", ROUND, SESSION
    refused("from client 1 is refused: one from client 0", AT_DRIVER.open, blob, *place, client=0)
    refused("client 2 is not on the roster", AT_DRIVER.open, blob, *place, client=2)
    refused("client None is not on the roster", AT_DRIVER.open, blob, *place)
    refused("client -1 is not on the roster", AT_DRIVER.seal, b"", *place, client=-1)
    refused("other direction", AT_NORTH.open, blob, *place)
    refused("with the coordinator only", AT_NORTH.seal, b"", *place, client=1)


def forged(identity, line, *, direction=1, sender=1, recipient=COORDINATOR):
    """Make an envelope that claims something."""
    place = direction, ROUND, SESSION, STEPS.index("share"), sender, recipient
    return _core.envelope_seal(identity._core, line, *place, b"a message")


def test_nobody_speaks_for_another():
    place = "share", ROUND, SESSION
    for other in (NORTH, STRANGER):
        up = forged(other, DRIVER.public)
        refused("client 1 is refused: it is not signed", AT_DRIVER.open, up, *place, client=1)
        down = forged(other, SOUTH.public, direction=0, sender=COORDINATOR, recipient=1)
        refused("coordinator is refused: it is not signed", AT_SOUTH.open, down, *place)
    own = forged(SOUTH, DRIVER.public)
    assert AT_DRIVER.open(own, *place, client=1) == b"a message"


def test_an_envelope_is_sealed_for_one_party():
    blob = forged(SOUTH, STRANGER.public)
    refused("sealed for somebody else", AT_DRIVER.open, blob, "share", ROUND, SESSION, client=1)


def test_a_header_cannot_be_changed_to_suit():
    place = "share", ROUND, SESSION
    blob = AT_DRIVER.seal(b"a message", "mask", OTHER, OTHER, client=0)
    suits = AT_DRIVER.seal(b"another", *place, client=1)[:71] + blob[71:]
    refused("was changed on the way", AT_SOUTH.open, suits, *place)


@pytest.mark.parametrize("blob", [b"", b"\2" * 182, b"\2" * 300, b"\1" * 300], ids=len)
def test_other_bytes_are_refused(blob):
    refused("this envelope is refused", header, blob)
    refused("this envelope is refused", AT_SOUTH.open, blob, "share", ROUND, SESSION)
    refused("this envelope is refused", AT_SOUTH.open_begin, blob)


def test_a_client_learns_the_session_from_the_first_envelope():
    blob = AT_DRIVER.seal(b"begin", "advertise", ROUND, SESSION, client=1)
    found, body = AT_SOUTH.open_begin(blob)
    assert body == b"begin"
    check_session(found, ROUND, SESSION)
    refused("of another session", check_session, found, ROUND, OTHER)
    refused("of another study or round", check_session, found, OTHER, SESSION)
    refused("it is for client 1", AT_NORTH.open_begin, blob)
    refused("only a client", AT_DRIVER.open_begin, blob)
    later = AT_DRIVER.seal(b"keys", "share", ROUND, SESSION, client=1)
    refused("for step 'share', not for step 'advertise'", AT_SOUTH.open_begin, later)
    refused("other direction", AT_SOUTH.open_begin, AT_NORTH.seal(b"", "share", ROUND, SESSION))


def test_only_the_identity_of_the_study_is_taken():
    for me in (None, 0):
        refused("the study names another identity for", Envelopes, SOUTH, me, *STUDY)
    with pytest.raises(InputError, match="me must be at most 1, not 2"):
        Envelopes(SOUTH, 2, *STUDY)


def test_steps_are_known_by_name():
    refused("there is no step 'nonsense'", AT_NORTH.seal, b"", "nonsense", ROUND, SESSION)
    up = AT_NORTH.seal(b"", "share", ROUND, SESSION)
    refused("there is no step 'nonsense'", AT_DRIVER.open, up, "nonsense", ROUND, SESSION, client=0)


def test_no_key_is_shown():
    assert repr(AT_DRIVER) == "Envelopes of the coordinator"
    assert repr(AT_SOUTH) == "Envelopes of client 1"


@pytest.mark.parametrize(
    "case",
    json.loads((VECTORS / "envelope.json").read_text(encoding="utf-8"))["cases"],
    ids=lambda case: f"{case['sender_id']} to {case['recipient_id']}",
)
def test_golden_envelopes(case):
    sender, recipient = (
        Identity(_core.Identity.from_line(case[x])) for x in ("sender", "recipient")
    )
    down = case["sender_id"] == COORDINATOR
    assert case["direction"] == (0 if down else 1)
    me = case["recipient_id"] if down else case["sender_id"]
    driver, client = (sender, recipient) if down else (recipient, sender)
    study = [STRANGER.public] * me + [client.public], driver.public
    at_driver, at_client = Envelopes(driver, None, *study), Envelopes(client, me, *study)
    digests = (bytes.fromhex(case[x]) for x in ("round_digest", "session"))
    place = STEPS[case["step"]], *digests
    body, blob = bytes.fromhex(case["body"]), bytes.fromhex(case["blob"])
    if down:
        assert at_driver.seal(body, *place, client=me) == blob
        assert at_client.open(blob, *place) == body
    else:
        assert at_client.seal(body, *place) == blob
        assert at_driver.open(blob, *place, client=me) == body
