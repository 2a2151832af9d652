"""Signatures over shares and survivors, in rounds whose clients have identities."""

import pytest

from fedrank.protocol.secagg import Client
from helpers.sessions import IDENTITIES, INPUTS, ROUND, SIGNED_ROUND, Session, reframe, refused


@pytest.mark.parametrize("identity", [None, IDENTITIES[0], IDENTITIES[4]])
def test_a_client_signs_with_its_own_identity_only(identity):
    session = Session(SIGNED_ROUND).until("share")
    client, state = session.clients[1], session.clients[1].state()
    other = Client.resume(SIGNED_ROUND, state, identity)
    refused("signer", other.share, session.requests[1])
    session.run("share")
    session.run("mask")
    other = Client.resume(SIGNED_ROUND, client.state(), identity)
    refused("signer", other.confirm, session.requests[1])
    assert session.finish("confirm") == ([5, 5, 5], [0, 1, 2, 3])


def test_without_identities_nobody_signs():
    session = Session().until("share")
    client = Client.resume(ROUND, session.clients[1].state(), IDENTITIES[1])
    refused("signer", client.share, session.requests[1])
    session.run("share")
    session.run("mask")
    client = Client.resume(ROUND, session.clients[1].state(), IDENTITIES[1])
    refused({"order", "signer"}, client.confirm, session.requests[1])
    assert session.server.confirmations == []


@pytest.mark.parametrize("name", ["share", "confirm"])
def test_a_wrong_signature_costs_its_sender_and_names_it(name):
    session = Session(SIGNED_ROUND).until(name)
    sent = session.replies(name)
    for c, reply in sent.items():
        if c == 2:
            other = reply[36:-68] + sent[1][-68:-4]  # the signature of client 1
            refused("signature", session.server.receive, c, reframe(reply, other))
        else:
            session.server.receive(c, reply)
    session.requests = session.server.close_step()
    assert 2 not in session.requests
    assert session.server.faults == [(2, "signature")]
    expected = ([4, 4, 4], [0, 1, 3]) if name == "share" else ([5, 5, 5], [0, 1, 2, 3])
    after = session.steps[session.steps.index(name) + 1]
    assert session.finish(after) == expected


def test_a_delivery_with_a_wrong_signature_is_refused_as_a_whole():
    session = Session(SIGNED_ROUND).until("mask")
    request = session.requests[0]
    body = request[36:-4]
    entries = [body[at : at + 178] for at in range(0, len(body), 178)]
    assert len(entries) == 3
    for wrong in (
        [entries[0], entries[1][:114] + entries[0][114:], entries[2]],
        [entries[0], entries[1][:114] + bytes(64), entries[2]],
    ):
        refused("signature", session.clients[0].mask, reframe(request, b"".join(wrong)), INPUTS[0])
    assert session.finish("mask") == ([5, 5, 5], [0, 1, 2, 3])
