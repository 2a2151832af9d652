"""A server that tells each client what it likes, written by hand from docs/protocol.md."""

import os

from attacks import masks
from helpers.wire import ids, message, session_id, tagged, u16, u32, u64


class HostileServer:
    """Knows the public parts of one session, and what clients sent in it."""

    def __init__(self, study, run=1):
        self.study, self.round, self.run = study, study.round(0), run
        self.digest, self.nonce = bytes.fromhex(self.round.digest), os.urandom(32)
        self.session = session_id(self.digest, self.nonce, run)
        self.bits = masks.widths(self.round.scheme)

    # What it sends

    def begin(self, client):
        stage = self.round.stage.encode()
        body = bytes.fromhex(self.study.digest) + u64(self.run) + u32(0) + self.nonce + bytes(32)
        body += bytes([len(stage)]) + stage + u32(0) + u16(0)
        return message(10, client, self.session, body)

    def listed(self, keys):
        return b"".join(u16(i) + keys[i] for i in sorted(keys))

    def keys(self, client, keys):
        return message(2, client, self.session, self.listed(keys))

    def context(self, keys, identities=()):
        """What clients derive that were sent these keys."""
        numbers = u32(self.round.clients) + u32(self.round.threshold) + u32(0)
        segments = self.round.scheme.segments
        shape = b"".join(u64(each.entries) + u32(each.bits) for each in segments)
        verifying = b"".join(each.verifying for each in identities)
        study = tagged(b"study", self.digest, numbers, shape, verifying)
        return tagged(b"context", study, self.session, tagged(b"keys", self.listed(keys)))

    def delivery(self, client, context, shares, owners, keys):
        """Shares of these owners for a client, cut out of the messages with their shares."""
        body = b""
        for owner in sorted({*owners} - {client}):
            prints, sealed, signature = cut(shares[owner], owner, client, sorted(keys))
            body += u16(owner) + prints + sealed + signature
        return message(4, client, context, body)

    def survivors(self, client, context, survivors):
        return message(6, client, context, ids(sorted(survivors)))

    def confirmed(self, client, context, confirmations):
        body = b"".join(u16(i) + confirmations[i] for i in sorted(confirmations))
        return message(12, client, context, body)


def body(sent):
    """What is between the head and the checksum of a message."""
    return sent[36:-4]


def cut(shares, owner, holder, advertised):
    """Fingerprints, sealed share and signature for a holder, out of an owner's shares."""
    found, n = body(shares), len(advertised)
    at = 32 + 32 * advertised.index(holder)
    prints = found[at : at + 32]
    at = 32 + 32 * n + 80 * [each for each in advertised if each != owner].index(holder)
    return prints, found[at : at + 80], found[32 + 32 * n + 80 * (n - 1) :]


def revealed(reveal, sharers):
    """Shares that a client gave, by owner."""
    found = body(reveal)
    entries = {owner: found[33 * k : 33 * k + 33] for k, owner in enumerate(sorted(sharers))}
    return {owner: entry[1:] for owner, entry in entries.items() if entry[0]}
