"""Secure aggregation among hostile parties: bad messages, lying servers and clients."""

import pytest

from fedrank import Borda, Study
from fedrank.protocol.secagg import Client, Server
from helpers.sessions import (
    CODES,
    INPUTS,
    SIGNED_ROUND,
    Session,
    each_round,
    each_step,
    ids,
    later,
    reframe,
    refused,
    signed,
    step,
)

# Bad messages


def damage(place):
    """What a message is called in which this byte was changed; the first says the version."""
    return "malformed" if place else "version"


@each_step()
def test_the_server_refuses_damaged_messages_and_goes_on(round, name):
    session = Session(round).until(name)
    sent = session.replies(name)
    good = sent[1]
    # A few places: each passes the checksum once in 2^32; the Rust tests try all, with fixed keys.
    refused("malformed", session.server.receive, 1, good[:-1])
    refused("malformed", session.server.receive, 1, b"")
    for place in (0, len(good) - 1):
        flipped = bytearray(good)
        flipped[place] ^= 1 << place % 8
        error = refused(damage(place), session.server.receive, 1, bytes(flipped))
        assert "client 1" in str(error)
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])
    assert {client for client, _ in session.server.faults} <= {1}
    assert {code for _, code in session.server.faults} <= CODES


@each_step()
def test_the_server_refuses_foreign_messages_and_goes_on(round, name):
    session = Session(round).until(name)
    sent = session.replies(name)
    receive = session.server.receive
    refused("foreign", receive, 2, sent[1])  # another sender
    refused("unknown", receive, 4, sent[1])
    make = signed if round.signed else Study
    renamed = (
        signed(Borda(3, 4), "abcd") if round.signed else Study(Borda(3, 4), roster=list("abcd"))
    )
    strangers = [
        make(Borda(3, 4, send="centroids", phi=0.5)).round(0),  # another study
        renamed.round(0),
        later(round),  # another round
        round,  # another session of the same study and round
    ]
    for stranger in strangers:
        refused("foreign", receive, 1, Session(stranger).until(name).replies(name)[1])
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])


@each_step()
def test_duplicates_are_ignored_and_second_thoughts_refused(round, name):
    session = Session(round).until(name)
    sent = session.replies(name)
    for _ in range(3):
        session.server.receive(1, sent[1])
    body = bytearray(sent[1][36:-4])
    body[-1] ^= 1
    codes = {"conflict", "malformed", "key", "signature"}
    refused(codes, session.server.receive, 1, reframe(sent[1], bytes(body)))
    assert session.finish(name) == ([5, 5, 5], [0, 1, 2, 3])


@each_step(last=-1)
def test_late_and_early_messages_are_refused(round, name):
    session = Session(round).until(name)
    sent = session.run(name, but=[2])
    refused("late", session.server.receive, 2, sent[2])
    after = round.steps[round.steps.index(name) + 1]
    expected = ([5, 5, 5], [0, 1, 2, 3]) if name == "confirm" else ([4, 4, 4], [0, 1, 3])
    assert session.finish(after) == expected
    early = Session(round).until("mask")
    masked = early.replies("mask")
    fresh = Server(round)
    refused({"order", "foreign"}, fresh.receive, 0, masked[0])


def test_parties_told_different_things_refuse_each_other():
    session = Session()
    other = Study(Borda(n=3, clients=4), items="abc").round(0)
    stranger = Client(other, 3, session.server.session)
    for c in range(3):
        session.server.receive(c, session.clients[c].advertise())
    # In the session that the server's first message names, parties part at the keys at last.
    session.server.receive(3, stranger.advertise())
    session.requests = session.server.close_step()
    shares = stranger.share(session.requests[3])
    refused("foreign", session.server.receive, 3, shares)
    session.clients.pop(3)
    session.requests.pop(3)
    assert session.finish("share") == ([3, 3, 3], [0, 1, 2])


@each_step(first=1)
def test_a_client_refuses_damaged_and_foreign_requests_and_goes_on(round, name):
    session = Session(round).until(name)
    client, request = session.clients[0], session.requests[0]
    refused("malformed", step, client, name, b"", INPUTS[0])
    for place in (0, len(request) - 1):
        flipped = bytearray(request)
        flipped[place] ^= 1 << place % 8
        refused(damage(place), step, client, name, bytes(flipped), INPUTS[0])
    refused("foreign", step, client, name, session.requests[1], INPUTS[0])
    for other in (later(round), round):
        asked = Session(other).until(name).requests[0]
        refused("foreign", step, client, name, asked, INPUTS[0])
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
@each_round
def test_a_client_agrees_to_no_wrong_list(round, asked, code):
    session = Session(round).until(opening(round))
    answer, request = agree(session, 0), session.requests[0]
    refused(code, answer, reframe(request, asked))
    assert session.finish(opening(round)) == ([5, 5, 5], [0, 1, 2, 3])


def opening(round):
    """The step whose requests name the survivors."""
    return round.steps[round.steps.index("mask") + 1]


def agree(session, c):
    """Answer a list of survivors, as client c."""
    return getattr(session.clients[c], opening(session.clients[c].round))


@each_round
def test_a_client_does_not_agree_to_one_that_never_shared(round):
    session = Session(round).until("share")
    session.run("share", but=[3])
    session.run("mask")
    request = reframe(session.requests[0], ids(0, 1, 2, 3))
    refused("list", agree(session, 0), request)
    assert session.finish(opening(round)) == ([3, 3, 3], [0, 1, 2])


@each_round
def test_a_client_answers_one_list_of_survivors_only(round):
    session = Session(round).until(opening(round))
    answer, request = agree(session, 0), session.requests[0]
    reply = answer(request)
    for other in (ids(0, 1, 2), ids(0, 1, 3), ids(0, 2, 3)):
        refused("conflict", answer, reframe(request, other))
    assert answer(request) == reply
    # Nor after its state was saved.
    session.clients[0] = session.resumed(0)
    again = agree(session, 0)
    refused("conflict", again, reframe(request, ids(0, 1, 2)))
    assert again(request) == reply


# The confirm step


def confirmed(session):
    """Take the first four steps; return what every client confirmed with, after its id."""
    sent = session.until("confirm").run("confirm")
    return [ids(c) + reply[36:-4] for c, reply in sent.items()]


def test_a_client_gives_no_share_for_a_list_that_others_did_not_confirm():
    session = Session(SIGNED_ROUND)
    entries = confirmed(session)
    client, request = session.clients[0], session.requests[0]
    assert request[36:-4] == b"".join(entries[:3])
    foreign = confirmed(Session(SIGNED_ROUND))  # the same clients in another session
    flipped = entries[2][:-1] + bytes([entries[2][-1] ^ 1])
    for code, wrong in (
        ("few", entries[:2]),  # t - 1
        ("list", [entries[0], entries[1], entries[1]]),  # one twice
        ("list", entries[2::-1]),
        ("list", entries[1:]),  # without itself
        ("list", entries),  # more than t
        ("list", [entries[0], entries[1], ids(4) + entries[2][2:]]),  # not a survivor
        ("signature", [entries[0], entries[1], foreign[2]]),
        ("signature", [entries[0], entries[1], flipped]),
        ("signature", [entries[0], entries[1], ids(3) + entries[2][2:]]),  # another's
    ):
        refused(code, client.unmask, reframe(request, b"".join(wrong)))
    # The list of survivors itself opens nothing.
    listed = reframe(request, ids(0, 1, 2, 3), kind=6)
    refused("malformed", client.unmask, listed)
    assert session.finish("unmask") == ([5, 5, 5], [0, 1, 2, 3])


def test_signatures_of_other_survivors_open_nothing():
    """A server that shows two lists to two halves gets the threshold for neither."""
    session = Session(SIGNED_ROUND).until("confirm")
    lists = {0: ids(0, 1, 3), 1: ids(0, 1, 3), 2: ids(0, 2, 3), 3: ids(0, 2, 3)}
    signatures = {}
    for c, listed in lists.items():
        reply = session.clients[c].confirm(reframe(session.requests[c], listed))
        signatures[c] = reply[36:-4]
    for c, who in ((0, (0, 1, 3)), (3, (0, 2, 3))):
        entries = b"".join(ids(i) + signatures[i] for i in who)
        request = reframe(session.requests[c], entries, kind=12)
        refused("signature", session.clients[c].unmask, request)


def test_a_client_that_did_not_confirm_reveals_nothing():
    session = Session(SIGNED_ROUND).until("confirm")
    before = session.clients[0].state()
    session.run("confirm")
    late = Client.resume(SIGNED_ROUND, before, session.identities[0])
    refused("order", late.unmask, session.requests[0])


def test_the_server_sends_the_first_confirmations_and_the_recipients_own():
    session = Session(SIGNED_ROUND).until("confirm")
    session.run("confirm", but=[1])
    who = {
        c: [int.from_bytes(request[at : at + 2], "little") for at in range(36, 36 + 3 * 66, 66)]
        for c, request in session.requests.items()
    }
    assert who == {0: [0, 2, 3], 2: [0, 2, 3], 3: [0, 2, 3]}
    assert [c for c, _ in session.server.confirmations] == [0, 2, 3]
    assert session.finish("unmask") == ([5, 5, 5], [0, 1, 2, 3])
    full = Session(SIGNED_ROUND).until("unmask")
    body = full.requests[3][36:-4]
    assert [body[at : at + 2] for at in range(0, len(body), 66)] == [ids(0), ids(1), ids(3)]
    assert [c for c, _ in full.server.confirmations] == [0, 1, 2]


@each_round
def test_keys_that_are_not_a_clients_own_are_refused(round):
    session = Session(round).until("share")
    client, request = session.clients[0], session.requests[0]
    body = request[36:-4]
    entries = [body[66 * c : 66 * c + 66] for c in range(4)]
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
        wrong = reframe(request, b"".join(forged))
        refused({"key", "list", "few", "unknown"}, client.share, wrong)
    assert session.finish("share") == ([5, 5, 5], [0, 1, 2, 3])


@each_round
def test_a_wrong_share_is_named_and_the_sum_still_right(round):
    session = Session(round).until("unmask")
    sent = session.replies("unmask")
    body = bytearray(sent[2][36:-4])
    body[5] ^= 1
    session.server.receive(2, reframe(sent[2], bytes(body)))
    for c in (0, 1, 3):
        session.server.receive(c, sent[c])
    assert session.server.close_step() == {}
    assert session.server.result()[0].tolist() == [5, 5, 5]
    assert [client for client, _ in session.server.faults] == [2]
