"""Make secagg.json: a small session, computed from docs/protocol.md.

It shares no code with the Rust crate: every primitive is the `cryptography` package's or
Python's own, and the rest is written out from the definitions. `python -m helpers.secagg`,
in the folder tests, writes the file.
"""

import hashlib
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from helpers.paths import VECTORS

DOMAIN = b"fedrank secagg 1 "
L, T, ROUND = 4, 3, 7
SEGMENTS = [(3, 5), (2, 14), (1, 20), (1, 64)]
DIGEST = bytes(range(32))
INPUTS = [
    [31, 0, 1, 16383, 5, 1048575, 2**64 - 1],
    [1, 2, 3, 4, 5, 6, 7],
    [30, 29, 28, 10000, 20000 % 16384, 999999, 2**63],
    [7, 7, 7, 7, 7, 7, 7],
]
LOST = {3: "mask"}  # client 3 shares, and its masked input never arrives
SURVIVORS = [0, 1, 2]


def u16(n):
    return n.to_bytes(2, "little")


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


def tagged(label, *parts):
    parts = (DOMAIN, label, *parts)
    return hashlib.sha256(b"".join(u64(len(p)) + p for p in parts)).digest()


def keystream(key, length):
    # 16 bytes: the block counter, then the nonce; all zero.
    return Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor().update(bytes(length))


def derive(secret, context, label, a, b):
    info = DOMAIN + label + u16(a) + u16(b)
    return HKDF(hashes.SHA256(), 32, context, info).derive(secret)


def public(secret):
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agree(secret, other):
    key = X25519PublicKey.from_public_bytes(other)
    return X25519PrivateKey.from_private_bytes(secret).exchange(key)


def times(a, b):
    """Product in GF(2^16), modulo x^16 + x^12 + x^3 + x + 1."""
    product = 0
    for i in range(16):
        product ^= (a << i) * (b >> i & 1)
    for i in range(31, 15, -1):
        product ^= (0x1100B << i - 16) * (product >> i & 1)
    return product


def message(kind, client, session, body):
    content = bytes([1, kind]) + u16(client) + session + body
    return content + hashlib.sha256(content).digest()[:4]


def pack(entries):
    number, at = 0, 0
    for value, bits in zip(entries, WIDTHS, strict=True):
        number |= value << at
        at += bits
    return number.to_bytes((at + 7) // 8, "little")


def lanes(key):
    sizes = [next(n for n in (8, 16, 32, 64) if n >= bits) // 8 for bits in WIDTHS]
    stream, out = keystream(key, sum(sizes)), []
    for size in sizes:
        out.append(int.from_bytes(stream[:size], "little"))
        stream = stream[size:]
    return out


WIDTHS = [bits for length, bits in SEGMENTS for _ in range(length)]
SHAPE = b"".join(u64(length) + u32(bits) for length, bits in SEGMENTS)
STUDY = tagged(b"study", DIGEST, u32(L) + u32(T) + u32(ROUND), SHAPE)

# The generator of client i is ChaCha20 with key i + 1, the server's with key 255.
drawn = [keystream(bytes([i + 1]) * 32, 128) for i in range(L)]
c, s, b, p = ([d[32 * k : 32 * k + 32] for d in drawn] for k in range(4))
nonce = keystream(bytes([255]) * 32, 32)
C, S = [public(k) for k in c], [public(k) for k in s]

advertise = [message(1, i, STUDY, C[i] + S[i]) for i in range(L)]
listed = b"".join(u16(i) + C[i] + S[i] for i in range(L))
keys = [message(2, i, STUDY, nonce + listed) for i in range(L)]

session = tagged(b"session", DIGEST, nonce, u32(ROUND))
context = tagged(b"context", STUDY, session, listed)


def share(owner, holder):
    """Of b, then of s: word by word, the value at holder + 1."""
    seed = derive(p[owner], context, b"polynomials", owner, owner)
    stream = keystream(seed, 64 * (T - 1))
    terms = [b[owner] + s[owner]] + [stream[64 * k : 64 * k + 64] for k in range(T - 1)]
    out = b""
    for at in range(0, 64, 2):
        value, power = 0, 1
        for term in terms:
            value ^= times(int.from_bytes(term[at : at + 2], "little"), power)
            power = times(power, holder + 1)
        out += u16(value)
    return out


def prints(owner, holder):
    dealt, who = share(owner, holder), u16(owner) + u16(holder)
    return b"".join(
        tagged(b"fingerprint", context, who, bytes([k]), dealt[32 * k : 32 * k + 32])[:16]
        for k in range(2)
    )


def sealed(owner, holder):
    key = derive(agree(c[owner], C[holder]), context, b"transport", owner, holder)
    associated = context + u16(owner) + u16(holder)
    return ChaCha20Poly1305(key).encrypt(bytes(12), share(owner, holder), associated)


shares, delivery = [], []
for i in range(L):
    others = [j for j in range(L) if j != i]
    body = tagged(b"seed", context, u16(i), b[i])
    body += b"".join(prints(i, j) for j in range(L))
    body += b"".join(sealed(i, j) for j in others)
    shares.append(message(3, i, context, body))
    body = b"".join(u16(j) + prints(j, i) + sealed(j, i) for j in others)
    delivery.append(message(4, i, context, body))

masked = []
for i in range(L):
    own = lanes(derive(b[i], context, b"self mask", i, i))
    sums = [x + m for x, m in zip(INPUTS[i], own, strict=True)]
    for j in range(L):
        if j != i:
            key = derive(agree(s[i], S[j]), context, b"pair mask", min(i, j), max(i, j))
            sign = 1 if j < i else -1
            sums = [x + sign * m for x, m in zip(sums, lanes(key), strict=True)]
    masked.append(
        message(5, i, context, pack([x % 2**w for x, w in zip(sums, WIDTHS, strict=True)]))
    )

survivors = [message(6, i, context, b"".join(map(u16, SURVIVORS))) for i in SURVIVORS]
reveal = []
for i in SURVIVORS:
    body = b""
    for owner in range(L):
        half = share(owner, i)
        body += b"\1" + (half[:32] if owner in SURVIVORS else half[32:])
    reveal.append(message(7, i, context, body))

total = [sum(INPUTS[i][k] for i in SURVIVORS) % 2**w for k, w in enumerate(WIDTHS)]


def texts(messages):
    return [m.hex() for m in messages]


vectors = {
    "digest": DIGEST.hex(),
    "clients": L,
    "threshold": T,
    "round": ROUND,
    "segments": SEGMENTS,
    "inputs": [[str(x) for x in row] for row in INPUTS],
    "lost": {str(k): v for k, v in LOST.items()},
    "survivors": SURVIVORS,
    "total": [str(x) for x in total],
    "advertise": texts(advertise),
    "keys": texts(keys),
    "shares": texts(shares),
    "delivery": texts(delivery),
    "masked": texts(masked),
    "survivor_lists": texts(survivors),
    "reveal": texts(reveal),
}


def main(folder=VECTORS):
    text = json.dumps(vectors, indent=1) + "\n"
    (folder / "secagg.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
