"""Secure aggregation through the Python API: sessions, their order, saved states, secrets."""

import json
from base64 import b64decode, b64encode

import numpy as np
import pytest
from scipy.stats import chisquare

from fedrank import Borda, Lehmer, Study
from fedrank.protocol.secagg import Client, ProtocolError, Server
from helpers import secagg
from helpers.paths import VECTORS
from helpers.sessions import (
    INPUTS,
    ROUND,
    ROUNDS,
    SIGNED,
    STUDIES,
    STUDY,
    Session,
    each_round,
    each_step,
    later,
    refused,
    signed,
    step,
)

# Sessions


@each_round
def test_a_whole_session_by_hand(round):
    session = Session(round)
    assert session.finish() == ([5, 5, 5], [0, 1, 2, 3])
    assert session.requests == {}
    assert session.server.faults == []


@each_step()
@pytest.mark.parametrize("lost", range(4))
def test_a_client_may_be_lost_at_any_step(round, name, lost):
    session = Session(round)
    for each in round.steps:
        session.run(each, but=[lost] if each == name else ())
    total, survivors = session.server.result()
    expected = [c for c in range(4) if c != lost or name in ("confirm", "unmask")]
    assert survivors == expected
    assert total.tolist() == np.sum([INPUTS[c] for c in expected], axis=0).tolist()


@each_step()
def test_below_the_threshold_a_step_is_not_closed(round, name):
    session = Session(round).until(name)
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
            Study(Borda(2, 2, send="sums", max_samples=2**61)),
            [[2**61, 7], [2**61, 2**61]],
        ),
        (signed(Borda(1, 2), "01"), [[], []]),
        (signed(Lehmer(4, 3, low_bits=1), "012"), [[1, 1, 0, 0, 0]] * 3),
    ],
)
def test_sums_are_exact_whatever_the_widths(study, inputs):
    total, _ = Session(study.round(0), inputs).finish()
    assert total == [sum(column) for column in zip(*inputs, strict=True)]


def test_sums_are_taken_modulo_the_width():
    # Two bits per entry; nobody can tell 3 + 3 + 0 from 2.
    study = Study(Borda(2, 3, send="centroids"))
    assert Session(study.round(0), [[3, 0], [3, 1], [0, 1]]).finish()[0] == [2, 2]


# Order


@each_round
def test_calls_out_of_order_are_refused_and_change_nothing(round):
    session = Session(round)
    client = session.clients[0]
    donor = Session(round)
    for at, name in enumerate(round.steps):
        for wrong in round.steps[1:]:
            if round.steps.index(wrong) > at:
                request = donor.requests[0]
                codes = {"order", "foreign", "malformed"}
                refused(codes, step, client, wrong, request, INPUTS[0])
        session.run(name)
        donor.run(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]


@each_round
def test_a_step_may_not_be_skipped_even_with_a_right_message(round):
    session = Session(round).until("mask")
    late = Client(round, 0, session.server.session, session.identities[0])
    refused({"order", "foreign"}, late.mask, session.requests[0], INPUTS[0])
    refused({"order", "foreign"}, late.unmask, session.requests[0])
    assert session.finish("mask") == ([5, 5, 5], [0, 1, 2, 3])


@each_round
def test_the_result_is_there_after_the_last_step_only(round):
    session = Session(round)
    for name in round.steps:
        refused("order", session.server.result)
        session.run(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]
    refused("order", session.server.close_step)


@each_round
def test_the_same_request_gets_the_same_bytes_and_another_is_refused(round):
    session = Session(round)
    for name in round.steps:
        requests = dict(session.requests)
        sent = session.run(name)
        for c, client in session.clients.items():
            assert step(client, name, requests[c], INPUTS[c]) == sent[c]
    client, other = session.clients[0], Session(round).until("mask")
    refused({"conflict", "foreign", "order"}, client.mask, other.requests[0], INPUTS[0])


@each_round
def test_a_second_input_under_the_same_masks_is_refused(round):
    session = Session(round).until("mask")
    client, request = session.clients[0], session.requests[0]
    sent = client.mask(request, [0, 1, 2])
    assert client.mask(request, [0, 1, 2]) == sent
    # Two inputs under one mask would show their difference.
    refused("conflict", client.mask, request, [2, 1, 0])
    resumed = session.resumed(0)
    # A saved state does not tell the input, so another one is not noticed; nor is it masked.
    assert resumed.mask(request, [2, 1, 0]) == sent
    assert resumed.mask(request, [0, 1, 2]) == sent
    assert session.finish("mask")[0] == [5, 5, 5]


@pytest.mark.parametrize("wrong", [[0, 1], [0, 1, 2, 0], [0, 1, 64], [0, 1, 2**64 - 1]])
def test_an_input_that_does_not_fit_is_refused_without_its_value(wrong):
    session = Session().until("mask")
    wide = np.array(wrong, dtype=np.uint64)
    error = refused("input", session.clients[0].mask, session.requests[0], wide)
    assert str(2**64 - 1) not in str(error)
    for bad in ([0.5, 1, 2], [-1, 0, 1], [[0, 1, 2]]):
        with pytest.raises(ValueError, match=r"whole|negative|dimension"):
            session.clients[0].mask(session.requests[0], bad)
    assert session.finish("mask")[0] == [5, 5, 5]


# Saved states

RESUMED = """
import json
from base64 import b64decode, b64encode
from fedrank import Study, _core
from fedrank.protocol.identity import Identity
from fedrank.protocol.secagg import Client
name, study, jobs = json.loads({jobs!r})
round = Study.from_json(study).round(0)
done = []
for state, line, request, message in jobs:
    identity = line and Identity(_core.Identity.from_line(line))
    client = Client.resume(round, b64decode(state), identity)
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


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_step_may_run_in_a_new_process(python, study):
    session = Session(study.round(0))
    states = {c: client.state() for c, client in session.clients.items()}
    lines = [identity and identity._core.line() for identity in session.identities]
    for name in study.steps:
        jobs = [
            [b64encode(states[c]).decode(), lines[c], b64encode(request).decode(), INPUTS[c]]
            for c, request in session.requests.items()
        ]
        done = python(RESUMED.replace("{jobs!r}", repr(json.dumps([name, study.to_json(), jobs]))))
        assert done.returncode == 0, done.stderr
        for c, (reply, state) in zip(session.requests, json.loads(done.stdout), strict=True):
            session.server.receive(c, b64decode(reply))
            states[c] = b64decode(state)
        session.requests = session.server.close_step()
    total, survivors = session.server.result()
    assert (total.tolist(), survivors) == ([5, 5, 5], [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("round", "name"),
    [
        pytest.param(round, name, id=f"{mode}-{name}")
        for mode, round in ROUNDS.items()
        for name in (*round.steps, None)
    ],
)
def test_a_state_resumes_where_it_was_saved(round, name):
    session = Session(round)
    for earlier in round.steps:
        if earlier == name:
            break
        session.run(earlier)
    resumed = session.resumed(1)
    assert resumed.state() == session.clients[1].state()
    assert resumed.session == session.server.session
    if name:
        session.clients[1] = resumed
        session.finish(name)
    assert session.server.result()[0].tolist() == [5, 5, 5]


@each_step()
def test_damaged_states_are_refused(round, name):
    state = Session(round).until(name).clients[1].state()
    for cut in (0, 10, 25, 40, 100, len(state) - 1):
        with pytest.raises(ProtocolError, match="state"):
            Client.resume(round, state[:cut])
    for place in (0, 30, 60, len(state) - 1):
        flipped = bytearray(state)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ProtocolError, match="state"):
            Client.resume(round, bytes(flipped))


@each_round
def test_foreign_blobs_are_refused(round):
    session = Session(round).until("share")
    own, foreign = session.clients[1].state(), session.requests[1]
    for blob in (b"", b"pickle", foreign, own[1:], session.server.state()):
        with pytest.raises(ProtocolError, match="state"):
            Client.resume(round, blob)
    # A state opens in its own study and round only.
    for other in others(round):
        with pytest.raises(ProtocolError, match="state"):
            Client.resume(other, own)


def others(round):
    """Rounds of other studies, and another one of this study."""
    make = signed if round.signed else Study
    return (
        make(Borda(3, 4, send="centroids", phi=0.7)).round(0),
        make(Borda(3, 4), threshold=4).round(0),
        (STUDY if round.signed else SIGNED).round(0),
        later(round),
    )


@each_round
def test_a_server_goes_on_from_its_state_after_every_message(round):
    session = Session(round, run=7)
    begun = session.server.nonce, session.server.session
    for name in round.steps:
        for c, reply in session.replies(name).items():
            session.server.receive(c, reply)
            state = session.server.state()
            session.server = Server.resume(round, state)
            assert session.server.state() == state
            session.server.receive(c, reply)  # a duplicate is known
        twin = Server.resume(round, session.server.state())
        session.requests = session.server.close_step()
        assert twin.close_step() == session.requests
        session.server = Server.resume(round, session.server.state())
    total, survivors = session.server.result()
    assert (total.tolist(), survivors) == ([5, 5, 5], [0, 1, 2, 3])
    assert session.server.faults == []
    assert (session.server.nonce, session.server.session) == begun
    assert session.server.run == 7
    assert len(session.server.confirmations) == (3 if round.signed else 0)


@each_step()
def test_a_servers_state_opens_in_its_own_round_only(round, name):
    session = Session(round).until(name)
    with pytest.raises(ProtocolError):
        session.server.receive(1, b"nonsense")
    state = session.server.state()
    assert Server.resume(round, state).faults == [(1, "malformed")]
    for other in others(round):
        with pytest.raises(ProtocolError, match="state"):
            Server.resume(other, state)
    for blob in (b"", state[:-1], bytes([state[0] ^ 1]) + state[1:], session.clients[0].state()):
        with pytest.raises(ProtocolError, match="state"):
            Server.resume(round, blob)


# Secrets


@each_step()
def test_no_secret_is_in_a_repr_or_an_error(round, name):
    session = Session(round).until(name)
    client = session.clients[1]
    text = [repr(client), str(client), repr(session.server), repr(session.server.faults)]
    for wrong in (b"", session.requests[0] or b"x", (session.requests[1] or b"y")[:-1]):
        for later_step in round.steps[1:]:
            with pytest.raises(ProtocolError) as error:
                step(client, later_step, wrong, INPUTS[1])
            text += [str(error.value), repr(error.value)]
    with pytest.raises(ValueError, match="state") as error:
        Client.resume(round, client.state()[:-1])
    text += [str(error.value), repr(error.value)]
    shown = "\n".join(text)
    blob = client.state()
    for start in range(len(blob) - 8):
        window = blob[start : start + 8]
        if len(set(window)) > 4:  # not padding
            assert window.hex() not in shown.lower()
            assert repr(window)[2:-1] not in shown
            assert ", ".join(map(str, window)) not in shown


def test_masked_messages_are_uniform_and_two_runs_independent():
    # 16 bits per entry and 12 clients: 96,000 bytes per run, 375 for each value. Failing by chance
    # is likely once in 10^11 runs for each of the four tests.
    n, clients = 4000, 12
    scheme = Borda(n, clients, send="centroids")
    assert scheme.message_bits == 16 * n
    study = Study(scheme)
    inputs = [list(range(n))] * clients

    def masked():
        sent = Session(study.round(0), inputs).until("mask").replies("mask")
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
        Client(ROUND, me, bytes(32))
    with pytest.raises(ValueError, match=str(me)):
        Server(ROUND).receive(me, b"")


@pytest.mark.parametrize("wrong", [STUDY, 0, None])
def test_what_is_not_a_round_is_refused(wrong):
    for make in (lambda: Client(wrong, 0, bytes(32)), lambda: Server(wrong)):
        with pytest.raises(ValueError, match="round must be a Round"):
            make()


@pytest.mark.parametrize("wrong", [b"", bytes(31), bytes(33)])
def test_a_session_is_32_bytes(wrong):
    with pytest.raises(ValueError, match="32 bytes"):
        Client(ROUND, 0, wrong)


@pytest.mark.parametrize("run", [-1, 2**64, "x"])
def test_a_run_has_a_number_of_64_bits(run):
    with pytest.raises(ValueError, match="run"):
        Server(ROUND, run)


def test_a_roster_of_one_is_refused():
    alone = Study(Borda(3, 1)).round(0)
    refused("parameters", Client, alone, 0, bytes(32))
    refused("parameters", Server, alone)


# Sessions of their own


@each_round
def test_every_server_begins_a_session_of_its_own(round):
    servers = [Server(round), Server(round), Server(round, run=1)]
    assert len({server.nonce for server in servers}) == 3
    assert len({server.session for server in servers}) == 3
    assert Server(round).run == 0


@each_round
def test_messages_of_another_session_are_foreign_from_the_first_on(round):
    session = Session(round)
    stranger = Client(round, 1, Server(round).session, session.identities[1])
    refused("foreign", session.server.receive, 1, stranger.advertise())
    session.run("advertise")
    stranger.advertise()
    refused("foreign", stranger.share, session.requests[1])
    assert session.finish("share") == ([5, 5, 5], [0, 1, 2, 3])


def test_the_golden_session_is_what_a_second_implementation_computes(tmp_path):
    secagg.main(tmp_path)
    for name in ("secagg.json", "envelope.json", "identity.json"):
        assert (tmp_path / name).read_text() == (VECTORS / name).read_text()
