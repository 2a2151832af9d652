"""Secure aggregation through the Python API: sessions, saved states, and hostile parties."""

import hashlib
import json
from base64 import b64decode, b64encode

import numpy as np
import pytest
from scipy.stats import chisquare

from fedrank import Borda, Lehmer, Study
from fedrank.protocol.secagg import Client, ProtocolError, Server
from helpers import secagg
from helpers.paths import VECTORS

CODES = {
    "parameters",
    "unknown",
    "input",
    "malformed",
    "foreign",
    "conflict",
    "order",
    "late",
    "key",
    "list",
    "few",
    "dealer",
    "state",
}
STUDY = Study(Borda(n=3, clients=4))  # threshold 3
INPUTS = [[0, 1, 2], [2, 1, 0], [1, 1, 1], [2, 2, 2]]
STEPS = ("advertise", "share", "mask", "unmask")


def step(client, name, request, message):
    """One step of one client."""
    if name == "advertise":
        return client.advertise()
    if name == "mask":
        return client.mask(request, message)
    return getattr(client, name)(request)


class Session:
    """All parties, driven step by step."""

    def __init__(self, study=STUDY, inputs=INPUTS, round=0):
        self.inputs = inputs
        self.server = Server(study, round)
        self.clients = {c: Client(study, c, round) for c in range(len(inputs))}
        self.requests = dict.fromkeys(self.clients, b"")

    def replies(self, name):
        return {
            c: step(self.clients[c], name, request, self.inputs[c])
            for c, request in self.requests.items()
        }

    def run(self, name, but=()):
        """Everybody's step, but for some; then close it."""
        sent = self.replies(name)
        for c, reply in sent.items():
            if c not in but:
                self.server.receive(c, reply)
        self.requests = self.server.close_step()
        return sent

    def until(self, name):
        """All steps before this one."""
        for earlier in STEPS[: STEPS.index(name)]:
            self.run(earlier)
        return self

    def finish(self, name="advertise"):
        for later in STEPS[STEPS.index(name) :]:
            self.run(later)
        total, survivors = self.server.result()
        return total.tolist(), survivors


def refused(code, call, *arguments):
    """The call is refused with this code, one of a few fixed ones."""
    codes = {code} if isinstance(code, str) else set(code)
    assert codes <= CODES
    with pytest.raises(ProtocolError) as error:
        call(*arguments)
    assert error.value.code in codes
    return error.value


def reframe(message, body=None, kind=None, client=None):
    """Forge a message: another body, kind or client, and the checksum right."""
    head = bytearray(message[:36])
    if kind is not None:
        head[1] = kind
    if client is not None:
        head[2:4] = client.to_bytes(2, "little")
    forged = bytes(head) + (message[36:-4] if body is None else body)
    return forged + hashlib.sha256(forged).digest()[:4]


def ids(*clients):
    return b"".join(c.to_bytes(2, "little") for c in clients)


# Sessions


def test_a_whole_session_by_hand():
    session = Session()
    assert session.finish() == ([5, 5, 5], [0, 1, 2, 3])
    assert session.requests == {}
    assert session.server.faults == []


@pytest.mark.parametrize("lost_at", STEPS)
@pytest.mark.parametrize("lost", range(4))
def test_a_client_may_be_lost_at_any_step(lost_at, lost):
    session = Session()
    for name in STEPS:
        session.run(name, but=[lost] if name == lost_at else ())
    total, survivors = session.server.result()
    expected = [c for c in range(4) if c != lost or lost_at == "unmask"]
    assert survivors == expected
    assert total.tolist() == np.sum([INPUTS[c] for c in expected], axis=0).tolist()


@pytest.mark.parametrize("name", STEPS)
def test_below_the_threshold_a_step_is_not_closed(name):
    session = Session().until(name)
    sent = session.replies(name)
    for c in (0, 3):
        session.server.receive(c, sent[c])
    error = refused("few", session.server.close_step)
    assert "3" in str(error)
    refused({"order", "few"}, session.server.result)
    # One more and it goes on.
    session.server.receive(1, sent[1])
    session.requests = session.server.close_step()
    assert 2 not in session.requests


@pytest.mark.parametrize(
    ("study", "inputs"),
    [
        (Study(Borda(1, 2)), [[], []]),
        (Study(Borda(2, 2)), [[1, 0], [1, 1]]),
        (Study(Lehmer(4, 3, low_bits=1)), [[1, 1, 0, 0, 0]] * 3),
        (
            Study(Borda(2, 2, quantize=False, max_samples=2**61)),
            [[2**61, 7], [2**61, 2**61]],
        ),
    ],
)
def test_sums_are_exact_whatever_the_widths(study, inputs):
    total, _ = Session(study, inputs).finish()
    assert total == [sum(column) for column in zip(*inputs, strict=True)]


def test_sums_are_taken_modulo_the_width():
    # Two bits an entry; nobody can tell 3 + 3 + 0 from 2.
    study = Study(Borda(2, 3))
    assert Session(study, [[3, 0], [3, 1], [0, 1]]).finish()[0] == [2, 2]


# Order


def test_calls_out_of_order_are_refused_and_change_nothing():
    session = Session()
    client = session.clients[0]
    donor = Session()
    for name in STEPS:
        for wrong in STEPS[1:]:
            if STEPS.index(wrong) > STEPS.index(name):
                request = donor.requests[0]
                codes = {"order", "foreign", "malformed"}
                refused(codes, step, client, wrong, request, INPUTS[0])
        session.run(name)
        donor.run(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]


def test_a_step_may_not_be_skipped_even_with_a_right_message():
    session = Session().until("mask")
    late = Client(STUDY, 0)
    refused({"order", "foreign"}, late.mask, session.requests[0], INPUTS[0])
    refused({"order", "foreign"}, late.unmask, session.requests[0])
    assert session.finish("mask") == ([5, 5, 5], [0, 1, 2, 3])


def test_the_result_is_there_after_the_last_step_only():
    session = Session()
    for name in STEPS:
        refused("order", session.server.result)
        session.run(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]
    refused("order", session.server.close_step)


def test_the_same_request_gets_the_same_bytes_and_another_is_refused():
    session = Session()
    for name in STEPS:
        requests = dict(session.requests)
        sent = session.run(name)
        for c, client in session.clients.items():
            assert step(client, name, requests[c], INPUTS[c]) == sent[c]
    client, other = session.clients[0], Session().until("mask")
    refused({"conflict", "foreign", "order"}, client.mask, other.requests[0], INPUTS[0])


def test_a_second_input_under_the_same_masks_is_refused():
    session = Session().until("mask")
    client, request = session.clients[0], session.requests[0]
    sent = client.mask(request, [0, 1, 2])
    assert client.mask(request, [0, 1, 2]) == sent
    # Two inputs under one mask would show their difference.
    refused("conflict", client.mask, request, [2, 1, 0])
    resumed = Client.resume(client.state())
    # A saved state does not tell the input, so another one is not noticed; nor is it masked.
    assert resumed.mask(request, [2, 1, 0]) == sent
    assert resumed.mask(request, [0, 1, 2]) == sent
    assert session.finish("mask")[0] == [5, 5, 5]


@pytest.mark.parametrize("wrong", [[0, 1], [0, 1, 2, 0], [0, 1, 16], [0, 1, 2**64 - 1]])
def test_an_input_that_does_not_fit_is_refused_without_its_value(wrong):
    session = Session().until("mask")
    wide = np.array(wrong, dtype=np.uint64)
    error = refused("input", session.clients[0].mask, session.requests[0], wide)
    assert str(2**64 - 1) not in str(error)
    for bad in ([0.5, 1, 2], [-1, 0, 1], [[0, 1, 2]]):
        with pytest.raises(ValueError, match=r"whole|negative|dimension"):
            session.clients[0].mask(session.requests[0], bad)
    assert session.finish("mask")[0] == [5, 5, 5]


# Bad messages


@pytest.mark.parametrize("name", STEPS)
def test_the_server_refuses_damaged_messages_and_goes_on(name):
    session = Session().until(name)
    sent = session.replies(name)
    good = sent[1]
    # A few places: each passes the checksum once in 2^32; the Rust tests try all, with fixed keys.
    refused("malformed", session.server.receive, 1, good[:-1])
    refused("malformed", session.server.receive, 1, b"")
    for place in (0, len(good) - 1):
        flipped = bytearray(good)
        flipped[place] ^= 1 << place % 8
        error = refused("malformed", session.server.receive, 1, bytes(flipped))
        assert "client 1" in str(error)
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])
    assert {client for client, _ in session.server.faults} <= {1}
    assert {code for _, code in session.server.faults} <= CODES


@pytest.mark.parametrize("name", STEPS)
def test_the_server_refuses_foreign_messages_and_goes_on(name):
    session = Session().until(name)
    sent = session.replies(name)
    receive = session.server.receive
    refused("foreign", receive, 2, sent[1])  # another sender
    refused("unknown", receive, 4, sent[1])
    strangers = [
        Session(Study(Borda(3, 4, phi=0.5))),  # another study
        Session(Study(Borda(3, 4), roster=["a", "b", "c", "d"])),
        Session(STUDY, round=1),  # another round
    ]
    if name != "advertise":
        strangers.append(Session())  # another session of the same study and round
    for stranger in strangers:
        refused("foreign", receive, 1, stranger.until(name).replies(name)[1])
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])


@pytest.mark.parametrize("name", STEPS)
def test_duplicates_are_ignored_and_second_thoughts_refused(name):
    session = Session().until(name)
    sent = session.replies(name)
    for _ in range(3):
        session.server.receive(1, sent[1])
    body = bytearray(sent[1][36:-4])
    body[-1] ^= 1
    codes = {"conflict", "malformed", "key"}
    refused(codes, session.server.receive, 1, reframe(sent[1], bytes(body)))
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])


@pytest.mark.parametrize("name", STEPS[:-1])
def test_late_and_early_messages_are_refused(name):
    session = Session().until(name)
    sent = session.run(name, but=[2])
    refused("late", session.server.receive, 2, sent[2])
    later = STEPS[STEPS.index(name) + 1]
    total, survivors = session.finish(later)
    assert survivors == [0, 1, 3]
    assert total == [4, 4, 4]
    early = Session().until("mask")
    masked = early.replies("mask")
    fresh = Server(STUDY)
    refused({"order", "foreign"}, fresh.receive, 0, masked[0])


def test_parties_told_different_things_refuse_each_other():
    session = Session()
    stranger = Client(Study(Borda(n=3, clients=4), items="abc"), 3)
    for c in range(3):
        session.server.receive(c, session.clients[c].advertise())
    refused("foreign", session.server.receive, 3, stranger.advertise())
    session.requests = session.server.close_step()
    refused("foreign", stranger.share, session.requests[0])
    assert session.finish("share") == ([3, 3, 3], [0, 1, 2])


@pytest.mark.parametrize("name", STEPS[1:])
def test_a_client_refuses_damaged_and_foreign_requests_and_goes_on(name):
    session = Session().until(name)
    client, request = session.clients[0], session.requests[0]
    refused("malformed", step, client, name, b"", INPUTS[0])
    for place in (0, len(request) - 1):
        flipped = bytearray(request)
        flipped[place] ^= 1 << place % 8
        refused("malformed", step, client, name, bytes(flipped), INPUTS[0])
    refused("foreign", step, client, name, session.requests[1], INPUTS[0])
    other = Session(STUDY, round=1).until(name)
    refused("foreign", step, client, name, other.requests[0], INPUTS[0])
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])


# A hostile server


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (ids(0, 1), "few"),  # fewer than t
        (ids(0), "few"),
        (b"", {"few", "list"}),
        (ids(1, 2, 3), "list"),  # without the reader
        (ids(0, 1, 2, 4), "list"),  # not on the roster
        (ids(0, 1, 65535), "list"),
        (ids(0, 1, 1, 2), "list"),  # twice
        (ids(0, 0, 0), {"few", "list"}),
        (ids(2, 1, 0), "list"),  # not in order
        (ids(0, 1, 2) + b"\0", {"malformed", "list"}),
    ],
)
def test_a_client_gives_no_share_for_a_wrong_list(asked, code):
    session = Session().until("unmask")
    client, request = session.clients[0], session.requests[0]
    refused(code, client.unmask, reframe(request, asked))
    assert session.finish("unmask") == ([5, 5, 5], [0, 1, 2, 3])


def test_a_client_gives_no_share_for_one_that_never_shared():
    session = Session().until("share")
    session.run("share", but=[3])
    session.run("mask")
    request = reframe(session.requests[0], ids(0, 1, 2, 3))
    refused("list", session.clients[0].unmask, request)
    assert session.finish("unmask") == ([3, 3, 3], [0, 1, 2])


def test_a_client_answers_one_list_of_survivors_only():
    session = Session().until("unmask")
    client, request = session.clients[0], session.requests[0]
    reply = client.unmask(request)
    for other in (ids(0, 1, 2), ids(0, 1, 3), ids(0, 2, 3)):
        refused("conflict", client.unmask, reframe(request, other))
    assert client.unmask(request) == reply
    # Nor after its state was saved.
    again = Client.resume(client.state())
    refused("conflict", again.unmask, reframe(request, ids(0, 1, 2)))
    assert again.unmask(request) == reply


def test_keys_that_are_not_a_clients_own_are_refused():
    session = Session().until("share")
    client, request = session.clients[0], session.requests[0]
    body = request[36:-4]
    nonce, entries = body[:32], [body[32 + 66 * c : 98 + 66 * c] for c in range(4)]
    foreign = entries[0][:2] + entries[1][2:]
    for forged in (
        [foreign, *entries[1:]],  # another's keys under its id
        [entries[0], entries[1][:2] + entries[0][2:], *entries[2:]],  # its keys under another id
        [entries[0], entries[1], entries[2][:2] + entries[1][2:], entries[3]],  # keys twice
        [entries[0], entries[1], entries[2], entries[3][:2] + bytes(64)],  # low order
        entries[1:],  # without itself
        entries[:2],  # fewer than t
        [*entries, b"\x09\x00" + entries[1][2:]],  # not on the roster
    ):
        wrong = reframe(request, nonce + b"".join(forged))
        refused({"key", "list", "few", "unknown"}, client.share, wrong)
    assert session.finish("share") == ([5, 5, 5], [0, 1, 2, 3])


def test_a_wrong_share_is_named_and_the_sum_still_right():
    session = Session().until("unmask")
    sent = session.replies("unmask")
    body = bytearray(sent[2][36:-4])
    body[5] ^= 1
    session.server.receive(2, reframe(sent[2], bytes(body)))
    for c in (0, 1, 3):
        session.server.receive(c, sent[c])
    assert session.server.close_step() == {}
    assert session.server.result()[0].tolist() == [5, 5, 5]
    assert [client for client, _ in session.server.faults] == [2]


# Saved states

RESUMED = """
import json
from base64 import b64decode, b64encode
from fedrank.protocol.secagg import Client
name, jobs = json.loads({jobs!r})
done = []
for state, request, message in jobs:
    client = Client.resume(b64decode(state))
    request = b64decode(request)
    if name == "advertise":
        reply = client.advertise()
    elif name == "mask":
        reply = client.mask(request, message)
    else:
        reply = getattr(client, name)(request)
    done.append([b64encode(reply).decode(), b64encode(client.state()).decode()])
print(json.dumps(done))
"""


def test_every_step_may_run_in_a_new_process(python):
    session = Session()
    states = {c: client.state() for c, client in session.clients.items()}
    for name in STEPS:
        jobs = [
            [b64encode(states[c]).decode(), b64encode(request).decode(), INPUTS[c]]
            for c, request in session.requests.items()
        ]
        done = python(RESUMED.replace("{jobs!r}", repr(json.dumps([name, jobs]))))
        assert done.returncode == 0, done.stderr
        for c, (reply, state) in zip(session.requests, json.loads(done.stdout), strict=True):
            session.server.receive(c, b64decode(reply))
            states[c] = b64decode(state)
        session.requests = session.server.close_step()
    total, survivors = session.server.result()
    assert (total.tolist(), survivors) == ([5, 5, 5], [0, 1, 2, 3])


@pytest.mark.parametrize("name", [*STEPS, None])
def test_a_state_resumes_where_it_was_saved(name):
    session = Session()
    for earlier in STEPS:
        if earlier == name:
            break
        session.run(earlier)
    resumed = Client.resume(session.clients[1].state())
    assert resumed.study == STUDY
    assert resumed.state() == session.clients[1].state()
    if name:
        session.clients[1] = resumed
        session.finish(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]


@pytest.mark.parametrize("name", STEPS)
def test_damaged_states_are_refused(name):
    state = Session().until(name).clients[1].state()
    for cut in (0, 10, 25, 40, 100, len(state) - 1):
        with pytest.raises(ValueError, match=r"state|study|JSON|scheme"):
            Client.resume(state[:cut])
    for place in (0, 30, 60, len(state) - 1):
        flipped = bytearray(state)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ValueError):  # noqa: PT011  the study's JSON complains in many ways
            Client.resume(bytes(flipped))


def test_foreign_blobs_are_refused():
    session = Session().until("share")
    own, foreign = session.clients[1].state(), session.requests[1]
    for blob in (b"", b"pickle", foreign, own[1:], own.replace(b"state 1", b"state 2")):
        with pytest.raises(ValueError, match="state"):
            Client.resume(blob)
    # The study of another, with this one's secrets.
    ours, theirs = STUDY.to_json().encode(), Study(Borda(3, 4, phi=0.7)).to_json().encode()
    assert len(ours) == len(theirs)
    with pytest.raises(ValueError, match="state"):
        Client.resume(own.replace(ours, theirs))


# Secrets


@pytest.mark.parametrize("name", STEPS)
def test_no_secret_is_in_a_repr_or_an_error(name):
    session = Session().until(name)
    client = session.clients[1]
    text = [repr(client), str(client), repr(session.server), repr(session.server.faults)]
    for wrong in (b"", session.requests[0] or b"x", (session.requests[1] or b"y")[:-1]):
        for later in STEPS[1:]:
            with pytest.raises(ProtocolError) as error:
                step(client, later, wrong, INPUTS[1])
            text += [str(error.value), repr(error.value)]
    with pytest.raises(ValueError, match="state") as error:
        Client.resume(client.state()[:-1])
    text += [str(error.value), repr(error.value)]
    shown = "\n".join(text)
    blob = client.state().split(STUDY.to_json().encode())[1]
    for start in range(len(blob) - 8):
        window = blob[start : start + 8]
        if len(set(window)) > 4:  # not padding
            assert window.hex() not in shown.lower()
            assert repr(window)[2:-1] not in shown
            assert ", ".join(map(str, window)) not in shown


def test_masked_messages_are_uniform_and_two_runs_independent():
    # 16 bits an entry and 12 clients: 96,000 bytes a run, 375 for each value. Failing by chance
    # is likely once in 10^11 runs for each of the four tests.
    n, clients = 4000, 12
    scheme = Borda(n, clients)
    assert scheme.message_bits == 16 * n
    study = Study(scheme)
    inputs = [list(range(n))] * clients

    def masked():
        sent = Session(study, inputs).until("mask").replies("mask")
        return np.frombuffer(b"".join(sent[c][36:-4] for c in sent), dtype=np.uint8)

    first, second = masked(), masked()
    assert len(first) == len(second) == 2 * n * clients
    for seen in (first, second, first - second, first ^ second):
        assert chisquare(np.bincount(seen, minlength=256)).pvalue > 1e-11
    # Bits, too: six and a half standard deviations and more.
    ones = np.unpackbits(first).sum()
    assert abs(int(ones) - 4 * len(first)) < 7 * (8 * len(first)) ** 0.5 / 2


# What is refused at the start


@pytest.mark.parametrize("me", [4, -1, 2**40])
def test_a_client_not_on_the_roster_is_refused(me):
    with pytest.raises(ValueError, match=str(me)):
        Client(STUDY, me)
    with pytest.raises(ValueError, match=str(me)):
        Server(STUDY).receive(me, b"")


@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_a_round_out_of_range_is_refused(wrong):
    for make in (lambda: Client(STUDY, 0, wrong), lambda: Server(STUDY, wrong)):
        with pytest.raises(ValueError, match="round"):
            make()


def test_a_roster_of_one_is_refused():
    alone = Study(Borda(3, 1))
    refused("parameters", Client, alone, 0)
    refused("parameters", Server, alone)


def test_the_golden_session_is_what_a_second_implementation_computes(tmp_path):
    secagg.main(tmp_path)
    assert (tmp_path / "secagg.json").read_text() == (VECTORS / "secagg.json").read_text()
