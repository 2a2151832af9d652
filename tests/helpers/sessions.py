"""One secure sum of four clients, driven step by step."""

import dataclasses
import hashlib

import pytest

from fedrank import Borda, Study
from fedrank.protocol.secagg import Client, ProtocolError, Server

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
ROUND = STUDY.round(0)
LATER = dataclasses.replace(ROUND, number=1)  # the same question in another round
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

    def __init__(self, round=ROUND, inputs=INPUTS):
        self.inputs = inputs
        self.server = Server(round)
        self.clients = {c: Client(round, c) for c in range(len(inputs))}
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
