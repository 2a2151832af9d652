"""Secure aggregation among hostile parties: bad messages, lying servers and clients."""

import pytest

from fedrank import Borda, Study
from fedrank.protocol.secagg import Client, Server
from helpers.sessions import (
    CODES,
    INPUTS,
    LATER,
    ROUND,
    STEPS,
    Session,
    ids,
    reframe,
    refused,
    step,
)

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
        Session(Study(Borda(3, 4, send="centroids", phi=0.5)).round(0)),  # another study
        Session(Study(Borda(3, 4), roster=["a", "b", "c", "d"]).round(0)),
        Session(LATER),  # another round
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
    fresh = Server(ROUND)
    refused({"order", "foreign"}, fresh.receive, 0, masked[0])


def test_parties_told_different_things_refuse_each_other():
    session = Session()
    stranger = Client(Study(Borda(n=3, clients=4), items="abc").round(0), 3)
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
    other = Session(LATER).until(name)
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
    again = Client.resume(ROUND, client.state())
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
