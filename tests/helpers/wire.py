"""What the messages of the protocol are made of: hashes, keys, identities, the frame.

It shares no code with the Rust crate: every primitive is the `cryptography` package's or
Python's own, and the rest is written out from the definitions of docs/protocol.md.
"""

import base64
import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = 2
DOMAIN = b"fedrank secagg 2 "
IDENTITY_DOMAIN = b"fedrank identity 1 "


def u16(n):
    return n.to_bytes(2, "little")


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


def ids(clients):
    return b"".join(map(u16, clients))


def tagged(label, *parts, domain=DOMAIN):
    parts = (domain, label, *parts)
    return hashlib.sha256(b"".join(u64(len(p)) + p for p in parts)).digest()


def round_digest(study, round, stage, order, previous, survivors):
    items = b"".join(map(u32, order))
    over = tagged(b"survivors", ids(survivors))
    return tagged(b"round", study, u32(round), stage.encode(), items, previous, over)


def session_id(digest, nonce, run):
    return tagged(b"session", digest, nonce, u64(run))


def message(kind, client, session, body):
    content = bytes([VERSION, kind]) + u16(client) + session + body
    return content + hashlib.sha256(content).digest()[:4]


def keystream(key, length):
    # 16 bytes: the block counter, then the nonce; all zero.
    return Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor().update(bytes(length))


def hkdf(salt, secret, info):
    return HKDF(hashes.SHA256(), 32, salt, info).derive(secret)


def public(secret):
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agree(secret, other):
    key = X25519PublicKey.from_public_bytes(other)
    return X25519PrivateKey.from_private_bytes(secret).exchange(key)


class Identity:
    """A key that signs, and a key to seal to."""

    def __init__(self, seed, secret):
        self.seed, self.secret = seed, secret
        self.signer = Ed25519PrivateKey.from_private_bytes(seed)
        self.verifying = self.signer.public_key().public_bytes_raw()
        self.sealing = public(secret)

    @classmethod
    def number(cls, n):
        """Return the identity whose private bytes are the keystream of key n, n, …"""
        drawn = keystream(bytes([n]) * 32, 64)
        return cls(drawn[:32], drawn[32:])

    def sign(self, text):
        return self.signer.sign(text)

    @property
    def line(self):
        return encoded("fedrank-key1:", b"key", self.seed, self.secret)

    @property
    def public_line(self):
        return encoded("fedrank-id1:", b"identity", self.verifying, self.sealing)

    @property
    def fingerprint(self):
        keys = (self.verifying, self.sealing)
        return tagged(b"fingerprint", *keys, domain=IDENTITY_DOMAIN)[:8].hex("-", 2)


def encoded(prefix, label, *keys):
    check = tagged(label, *keys, domain=IDENTITY_DOMAIN)[:4]
    return prefix + base64.urlsafe_b64encode(b"".join(keys) + check).decode().rstrip("=")
