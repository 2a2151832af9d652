"""Golomb codes of Lehmer digits, beside numpy."""

from collections.abc import Iterator

import numpy as np

import fedrank as fr

from .harness import Clock, Row, against, against_copy, sampled

TARGET_BYTES_PER_SECOND = 200e6  # of digits


def run(clock: Clock) -> Iterator[Row]:
    for phi in (0.6, 0.9):
        yield from golomb_of(clock, phi)


def golomb_of(clock: Clock, phi: float) -> Iterator[Row]:
    codes, k = fr.lehmer_encode(sampled(phi)), fr.golomb.parameter(phi)
    written = fr.golomb.encode(codes, k)
    assert golomb_by_bits(codes, k) == written
    ours = {
        "encode": lambda: fr.golomb.encode(codes, k),
        "decode": lambda: fr.golomb.decode(written, codes.shape, k),
    }
    peers = {"encode": lambda: golomb_by_bits(codes, k)}
    if k == 1:  # only unary codes can be read without a loop
        assert np.array_equal(unary_by_bits(written, codes.size), codes.ravel())
        peers["decode"] = lambda: unary_by_bits(written, codes.size)
    for name, call in ours.items():
        title = f"Golomb {name}, phi {phi}"
        at_target = codes.nbytes / TARGET_BYTES_PER_SECOND
        yield against(f"{title} · 200 MB/s of digits", clock.best([call])[0], at_target, 1)
        if name in peers:
            times = clock.race(call, peers[name])
            yield against(f"{title} · numpy, the best we could write", *times)
        yield against_copy(clock, title, call)


def golomb_by_bits(codes: np.ndarray, k: int) -> bytes:
    """One byte per bit, then packed: the ones that end the unary parts, then the remainders."""
    q, r = np.divmod(codes.ravel(), k)
    width = (k - 1).bit_length()
    long = r >= 2**width - k
    r += long * (2**width - k)
    widths = width - 1 + long
    ends = np.cumsum(q + 1 + widths, dtype=np.int64)
    bits = np.zeros(ends[-1], dtype=np.uint8)
    bits[ends - widths - 1] = 1
    for bit in range(width):
        at = widths > bit
        bits[ends[at] - 1 - bit] = r[at] >> bit & 1
    return np.packbits(bits).tobytes()


def unary_by_bits(written: bytes, digits: int) -> np.ndarray:
    ones = np.flatnonzero(np.unpackbits(np.frombuffer(written, dtype=np.uint8)))
    return np.diff(ones[:digits], prepend=-1).astype(np.int32) - 1
