"""One secure sum of four clients, driven step by step, with and without identities."""

import dataclasses
import hashlib

import pytest

from fedrank import Borda, Study
from fedrank.protocol.secagg import Client, ProtocolError, Server
from helpers.identities import PARTIES, with_identities

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
    "signature",
    "signer",
    "version",
}
*IDENTITIES, COORDINATOR = PARTIES  # of the clients, of a stranger, and of the server


def signed(method, names="0123", **options):
    """Return a study whose clients have the identities above."""
    return Study(method, roster=with_identities(names), coordinator=COORDINATOR, **options)


STUDY = Study(Borda(n=3, clients=4))  # threshold 3
ROUND = STUDY.round(0)
SIGNED = signed(Borda(n=3, clients=4))
SIGNED_ROUND = SIGNED.round(0)
ROUNDS = {"unsigned": ROUND, "signed": SIGNED_ROUND}
STUDIES = {"unsigned": STUDY, "signed": SIGNED}
INPUTS = [[0, 1, 2], [2, 1, 0], [1, 1, 1], [2, 2, 2]]

each_round = pytest.mark.parametrize("round", ROUNDS.values(), ids=ROUNDS)


def each_step(first=0, last=None):
    """Parametrize a test over the rounds, and the steps of each from one to another."""
    return pytest.mark.parametrize(
        ("round", "name"),
        [
            pytest.param(round, name, id=f"{mode}-{name}")
            for mode, round in ROUNDS.items()
            for name in round.steps[first:last]
        ],
    )


def later(round):
    """The same question in another round."""
    return dataclasses.replace(round, number=1)


def step(client, name, request, message):
    """One step of one client."""
    if name == "advertise":
        return client.advertise()
    if name == "mask":
        return client.mask(request, message)
    return getattr(client, name)(request)


class Session:
    """All parties, driven step by step."""

    def __init__(self, round=ROUND, inputs=INPUTS, run=0):
        self.inputs, self.steps = inputs, round.steps
        self.server = Server(round, run)
        self.identities = IDENTITIES if round.signed else [None] * len(inputs)
        self.clients = {
            c: Client(round, c, self.server.session, self.identities[c]) for c in range(len(inputs))
        }
        self.requests = dict.fromkeys(self.clients, b"")

    def resumed(self, c):
        """A client, from its own saved state."""
        client = self.clients[c]
        return Client.resume(client.round, client.state(), self.identities[c])

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
        for earlier in self.steps[: self.steps.index(name)]:
            self.run(earlier)
        return self

    def finish(self, name="advertise"):
        for later in self.steps[self.steps.index(name) :]:
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
