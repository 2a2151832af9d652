"""Identities for tests, and public lines made by hand."""

import base64
import hashlib

from fedrank.protocol.identity import Identity

PARTIES = [Identity.generate() for _ in range(6)]


def with_identities(names, identities=PARTIES):
    """A roster with an identity for each name."""
    return dict(zip(names, identities, strict=False))


def line_of(signing, sealing):
    """The public line of two keys, right or wrong, with a valid checksum."""
    parts = (b"fedrank identity 1 ", b"identity", signing, sealing)
    text = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    keys = signing + sealing + hashlib.sha256(text).digest()[:4]
    return "fedrank-id1:" + base64.urlsafe_b64encode(keys).decode().rstrip("=")


def keys_of(line):
    """The signing and the sealing key on a public line."""
    text = line.removeprefix("fedrank-id1:")
    keys = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return keys[:32], keys[32:64]
