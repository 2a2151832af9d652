"""One session of the protocol, all messages of it, computed from docs/protocol.md."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from helpers.wire import (
    DOMAIN,
    agree,
    hkdf,
    ids,
    keystream,
    message,
    public,
    round_digest,
    session_id,
    tagged,
    u16,
    u32,
    u64,
)

SEGMENTS = [(3, 5), (2, 14), (1, 20), (1, 64)]
WIDTHS = [bits for length, bits in SEGMENTS for _ in range(length)]
SHAPE = b"".join(u64(length) + u32(bits) for length, bits in SEGMENTS)
INPUTS = [
    [31, 0, 1, 16383, 5, 1048575, 2**64 - 1],
    [1, 2, 3, 4, 5, 6, 7],
    [30, 29, 28, 10000, 20000 % 16384, 999999, 2**63],
    [7, 7, 7, 7, 7, 7, 7],
    [0, 16, 31, 8191, 16383, 524288, 2**64 - 2],
]


def derive(secret, context, label, a, b):
    return hkdf(context, secret, DOMAIN + label + u16(a) + u16(b))


def times(a, b):
    """Product in GF(2^16), modulo x^16 + x^12 + x^3 + x + 1."""
    product = 0
    for i in range(16):
        product ^= (a << i) * (b >> i & 1)
    for i in range(31, 15, -1):
        product ^= (0x1100B << i - 16) * (product >> i & 1)
    return product


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


class Session:
    """All messages of one round, by field name. Unsigned if there are no identities.

    Lists are in rising order of id: `begin` to `masked` of all clients, `survivor_lists` and
    `confirm` of all survivors, `confirmed` and `reveal` of those not lost at confirm. A lost
    client takes the step, and its message never arrives.
    """

    def __init__(
        self,
        study,
        clients,
        threshold,
        run,
        *,
        identities=(),
        lost,
        round=0,
        stage="start",
        order=(),
        previous=None,
    ):
        self.study_digest, self.clients, self.threshold, self.run = study, clients, threshold, run
        self.identities, self.lost, self.round = identities, lost, round
        self.stage, self.order, self.previous = stage, order, previous
        self.everybody = range(clients)
        self.survivors = [i for i in self.everybody if lost.get(i) != "mask"]
        self.stayed = [i for i in self.survivors if i not in lost]
        self.inputs = INPUTS[:clients]

        # The generator of client i is ChaCha20 with key i + 1, the server's with key 255.
        drawn = [keystream(bytes([i + 1]) * 32, 128) for i in self.everybody]
        self.c, self.s, self.b, self.p = (
            [d[32 * k : 32 * k + 32] for d in drawn] for k in range(4)
        )
        self.nonce = keystream(bytes([255]) * 32, 32)
        self.C, self.S = [public(k) for k in self.c], [public(k) for k in self.s]

        self.begin_and_keys()
        self.share_and_deliver()
        self.masked = [message(5, i, self.context, self.mask(i)) for i in self.everybody]
        self.confirm_and_reveal()

    def begin_and_keys(self):
        before, over, confirmations = bytes(32), [], b""
        if self.previous:
            before, over = self.previous.digest, self.previous.survivors
            confirmations = self.previous.confirmations
        self.digest = round_digest(
            self.study_digest, self.round, self.stage, self.order, before, over
        )
        self.session = session_id(self.digest, self.nonce, self.run)

        stage = self.stage.encode()
        body = self.study_digest + u64(self.run) + u32(self.round) + self.nonce + before
        body += bytes([len(stage)]) + stage + u32(len(self.order)) + b"".join(map(u32, self.order))
        body += u16(len(over)) + ids(over) + confirmations
        self.begin = [message(10, i, self.session, body) for i in self.everybody]

        keys = [self.C[i] + self.S[i] for i in self.everybody]
        listed = b"".join(u16(i) + keys[i] for i in self.everybody)
        self.advertise = [message(1, i, self.session, keys[i]) for i in self.everybody]
        self.keys = [message(2, i, self.session, listed) for i in self.everybody]

        numbers = u32(self.clients) + u32(self.threshold) + u32(self.round)
        verifying = b"".join(identity.verifying for identity in self.identities)
        study = tagged(b"study", self.digest, numbers, SHAPE, verifying)
        self.context = tagged(b"context", study, self.session, tagged(b"keys", listed))

    def share(self, owner, holder):
        """Of b, then of s: word by word, the value at holder + 1."""
        seed = derive(self.p[owner], self.context, b"polynomials", owner, owner)
        stream = keystream(seed, 64 * (self.threshold - 1))
        terms = [self.b[owner] + self.s[owner]]
        terms += [stream[64 * k : 64 * k + 64] for k in range(self.threshold - 1)]
        out = b""
        for at in range(0, 64, 2):
            value, power = 0, 1
            for term in terms:
                value ^= times(int.from_bytes(term[at : at + 2], "little"), power)
                power = times(power, holder + 1)
            out += u16(value)
        return out

    def prints(self, owner, holder):
        dealt, who = self.share(owner, holder), u16(owner) + u16(holder)
        return b"".join(
            tagged(b"fingerprint", self.context, who, bytes([k]), dealt[32 * k : 32 * k + 32])[:16]
            for k in range(2)
        )

    def sealed(self, owner, holder):
        exchanged = agree(self.c[owner], self.C[holder])
        key = derive(exchanged, self.context, b"transport", owner, holder)
        associated = self.context + u16(owner) + u16(holder)
        return ChaCha20Poly1305(key).encrypt(bytes(12), self.share(owner, holder), associated)

    def vouched(self, owner):
        """Return the signature that goes with the shares, empty in unsigned mode."""
        text = tagged(b"share", self.context, u16(owner))
        return self.identities[owner].sign(text) if self.identities else b""

    def share_and_deliver(self):
        self.shares, self.delivery = [], []
        for i in self.everybody:
            others = [j for j in self.everybody if j != i]
            body = tagged(b"seed", self.context, u16(i), self.b[i])
            body += b"".join(self.prints(i, j) for j in self.everybody)
            body += b"".join(self.sealed(i, j) for j in others) + self.vouched(i)
            self.shares.append(message(3, i, self.context, body))
            body = b"".join(
                u16(j) + self.prints(j, i) + self.sealed(j, i) + self.vouched(j) for j in others
            )
            self.delivery.append(message(4, i, self.context, body))

    def mask(self, i):
        own = lanes(derive(self.b[i], self.context, b"self mask", i, i))
        sums = [x + m for x, m in zip(self.inputs[i], own, strict=True)]
        for j in self.everybody:
            if j != i:
                exchanged, pair = agree(self.s[i], self.S[j]), (min(i, j), max(i, j))
                key = derive(exchanged, self.context, b"pair mask", *pair)
                sign = 1 if j < i else -1
                sums = [x + sign * m for x, m in zip(sums, lanes(key), strict=True)]
        return pack([x % 2**w for x, w in zip(sums, WIDTHS, strict=True)])

    def confirm_and_reveal(self):
        listed = ids(self.survivors)
        self.survivor_lists = [message(6, i, self.context, listed) for i in self.survivors]
        self.confirm, self.confirmed, self.confirmations = [], [], b""
        if self.identities:
            lists = tagged(b"sharers", ids(self.everybody)), tagged(b"survivors", listed)
            signed = {}
            for i in self.survivors:
                text = tagged(b"confirm", self.context, u16(i), *lists)
                signed[i] = self.identities[i].sign(text)
                Ed25519PublicKey.from_public_bytes(self.identities[i].verifying).verify(
                    signed[i], text
                )
            first = self.stayed[: self.threshold]

            def joined(group):
                return b"".join(u16(i) + signed[i] for i in group)

            self.confirm = [message(11, i, self.context, signed[i]) for i in self.survivors]
            self.confirmations = joined(first)
            self.confirmed = [
                message(12, i, self.context, joined(first if i in first else [*first[:-1], i]))
                for i in self.stayed
            ]

        self.reveal = []
        for i in self.stayed:
            body = b""
            for owner in self.everybody:
                half = self.share(owner, i)
                body += b"\1" + (half[:32] if owner in self.survivors else half[32:])
            self.reveal.append(message(7, i, self.context, body))

    def vectors(self):
        total = [
            sum(self.inputs[i][k] for i in self.survivors) % 2**w for k, w in enumerate(WIDTHS)
        ]
        before = self.previous
        out = {
            "study_digest": self.study_digest.hex(),
            "digest": self.digest.hex(),
            "clients": self.clients,
            "threshold": self.threshold,
            "round": self.round,
            "run": self.run,
            "stage": self.stage,
            "order": list(self.order),
            "previous": (before.digest if before else bytes(32)).hex(),
            "previous_survivors": before.survivors if before else [],
            "previous_confirmations": before.confirmations.hex() if before else "",
            "nonce": self.nonce.hex(),
            "session": self.session.hex(),
            "context": self.context.hex(),
            "identities": [identity.line for identity in self.identities],
            "segments": SEGMENTS,
            "inputs": [[str(x) for x in row] for row in self.inputs],
            "lost": {str(k): v for k, v in self.lost.items()},
            "survivors": self.survivors,
            "total": [str(x) for x in total],
        }
        messages = "begin advertise keys shares delivery masked survivor_lists"
        for name in (*messages.split(), "confirm", "confirmed", "reveal"):
            out[name] = [m.hex() for m in getattr(self, name)]
        if self.identities:
            out["confirmations"] = self.confirmations.hex()
        return out
