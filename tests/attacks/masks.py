"""Rebuilding secrets from shares, and taking masks off: what a server does with what it got."""

from helpers.secagg_session import derive, times
from helpers.wire import agree, keystream, u16


def inverse(a):
    """1 / a in GF(2^16): a to the power 2^16 - 2."""
    out, power = 1, a
    for _ in range(15):
        power = times(power, power)
        out = times(out, power)
    return out


def rebuilt(shares):
    """The secret of which these are shares of 32 bytes, by holder."""
    points = {holder: holder + 1 for holder in shares}
    weights = {}
    for holder, x in points.items():
        weight = 1
        for other in points.values():
            if other != x:
                weight = times(weight, times(other, inverse(x ^ other)))
        weights[holder] = weight
    out = b""
    for at in range(0, 32, 2):
        value = 0
        for holder, share in shares.items():
            value ^= times(int.from_bytes(share[at : at + 2], "little"), weights[holder])
        out += u16(value)
    return out


def widths(scheme):
    """Bits of each entry of a message."""
    return [each.bits for each in scheme.segments for _ in range(each.entries)]


def lanes(key, bits):
    sizes = [next(n for n in (8, 16, 32, 64) if n >= each) // 8 for each in bits]
    stream, out = keystream(key, sum(sizes)), []
    for size in sizes:
        out.append(int.from_bytes(stream[:size], "little"))
        stream = stream[size:]
    return out


def unpack(body, bits):
    number, out = int.from_bytes(body, "little"), []
    for each in bits:
        out.append(number % 2**each)
        number >>= each
    return out


def pack(entries, bits):
    number, at = 0, 0
    for value, each in zip(entries, bits, strict=True):
        number |= value % 2**each << at
        at += each
    return number.to_bytes((at + 7) // 8, "little")


def self_mask(seed, context, client, bits):
    return lanes(derive(seed, context, b"self mask", client, client), bits)


def pair_mask(secret, key, context, client, other, bits):
    """What `client` added for `other`: the secret is one's mask key, the key the other's."""
    pair = min(client, other), max(client, other)
    stream = lanes(derive(agree(secret, key), context, b"pair mask", *pair), bits)
    return stream if other < client else [-each for each in stream]


def unmasked(masked, masks, bits):
    """The input under all these masks."""
    sums = [sum(column) for column in zip(*masks, strict=True)]
    return [(y - m) % 2**each for y, m, each in zip(masked, sums, bits, strict=True)]
