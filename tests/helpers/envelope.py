"""Envelopes: HPKE from RFC 9180, written out, and what fedrank puts into it.

Base mode, single shot, X25519 / HKDF-SHA256 / ChaCha20-Poly1305.
"""

import hmac
from hashlib import sha256

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from helpers.wire import VERSION, agree, hkdf, keystream, public, tagged, u16

COORDINATOR = 0xFFFF
TO_CLIENT, TO_SERVER = 0, 1
INFO = b"fedrank envelope 2"
KEM = b"KEM" + bytes.fromhex("0020")  # X25519, HKDF-SHA256
SUITE = b"HPKE" + bytes.fromhex("0020 0001 0003")  # with HKDF-SHA256, ChaCha20-Poly1305


def labeled_extract(suite, salt, label, secret):
    return hmac.digest(salt, b"HPKE-v1" + suite + label + secret, sha256)


def labeled_expand(suite, key, label, info, length):
    text = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(hashes.SHA256(), length, text).derive(key)


def derive_key_pair(material):
    key = labeled_extract(KEM, b"", b"dkp_prk", material)
    secret = labeled_expand(KEM, key, b"sk", b"", 32)
    return secret, public(secret)


def schedule(exchanged, encapsulated, recipient, info):
    """Return the key and the nonce of the first message."""
    key = labeled_extract(KEM, b"", b"eae_prk", exchanged)
    shared = labeled_expand(KEM, key, b"shared_secret", encapsulated + recipient, 32)
    context = b"\0" + labeled_extract(SUITE, b"", b"psk_id_hash", b"")
    context += labeled_extract(SUITE, b"", b"info_hash", info)
    secret = labeled_extract(SUITE, shared, b"secret", b"")
    nonce = labeled_expand(SUITE, secret, b"base_nonce", context, 12)
    return labeled_expand(SUITE, secret, b"key", context, 32), nonce


def hpke_seal(recipient, info, associated, text, material):
    secret, encapsulated = derive_key_pair(material)
    key, nonce = schedule(agree(secret, recipient), encapsulated, recipient, info)
    return encapsulated + ChaCha20Poly1305(key).encrypt(nonce, text, associated)


def hpke_open(secret, info, associated, sealed):
    encapsulated = sealed[:32]
    key, nonce = schedule(agree(secret, encapsulated), encapsulated, public(secret), info)
    return ChaCha20Poly1305(key).decrypt(nonce, sealed[32:], associated)


def check_hpke():
    """Compare with RFC 9180, A.2.1."""
    material = "909a9b35d3dc4713a5e72a4da274b55d3d3821a37e5d099e74a647db583a904b"
    recipient = "1ac01f181fdf9f352797655161c58b75c656a6cc2716dcb66372da835542e1df"
    secret, key = derive_key_pair(bytes.fromhex(recipient))
    assert key.hex() == "4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a"
    info, text = b"Ode on a Grecian Urn", b"Beauty is truth, truth beauty"
    sealed = hpke_seal(key, info, b"Count-0", text, bytes.fromhex(material))
    assert sealed.hex() == (
        "1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"
        "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db"
        "21993c62ce81883d2dd1b51a28"
    )
    assert hpke_open(secret, info, b"Count-0", sealed) == text


def header(direction, digest, session, step, sender, recipient):
    start = bytes([VERSION, direction]) + digest + session + bytes([step])
    return start + u16(sender) + u16(recipient)


def signed_text(head, body):
    return tagged(b"envelope", head, tagged(b"body", body))


def seal(identity, recipient, head, body):
    """Sign, then seal. `recipient` is a public X25519 key."""
    info = b"fedrank envelope 2 ephemeral" + tagged(b"sealed", recipient, head, body)
    seed = hkdf(tagged(b"envelope salt"), identity.seed + identity.secret, info)
    text = body + identity.sign(signed_text(head, body))
    return head + hpke_seal(recipient, INFO, head, text, keystream(seed, 32))


def open_envelope(identity, sender, blob):
    """Return header and body. `sender` is a public Ed25519 key."""
    head = blob[:71]
    text = hpke_open(identity.secret, INFO, head, blob[71:])
    body, signature = text[:-64], text[-64:]
    Ed25519PublicKey.from_public_bytes(sender).verify(signature, signed_text(head, body))
    return head, body
