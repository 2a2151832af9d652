"""Lehmer codes, beside numpy."""

from collections.abc import Iterator

import numpy as np

import fedrank as fr

from .harness import Clock, Row, against, against_copy, sampled


def run(clock: Clock) -> Iterator[Row]:
    rankings = sampled(0.9)
    peers = {"as one writes it": encode_plainly, "the best we could write": encode_by_bytes}
    codes = fr.lehmer_encode(rankings)
    for name, peer in peers.items():
        assert np.array_equal(peer(rankings.ranks), codes)
        times = clock.race(
            lambda: fr.lehmer_encode(rankings), lambda peer=peer: peer(rankings.ranks)
        )
        yield against(f"Lehmer encode · numpy, {name}", *times, 100)
    yield against_copy(clock, "Lehmer encode", lambda: fr.lehmer_encode(rankings))


def encode_plainly(ranks: np.ndarray) -> np.ndarray:
    codes = np.zeros_like(ranks)
    for i in range(1, ranks.shape[1]):
        codes[:, i] = (ranks[:, :i] > ranks[:, i : i + 1]).sum(axis=1)
    return codes


def encode_by_bytes(ranks: np.ndarray) -> np.ndarray:
    """One item per row, so that vectors run over rankings; counts in bytes, 255 at a time."""
    items = np.ascontiguousarray(ranks.T, dtype=np.int16)
    codes = np.zeros(items.shape, dtype=np.int16)
    greater = np.empty(items.shape, dtype=bool)
    for i in range(1, len(items)):
        np.greater(items[:i], items[i], out=greater[:i])
        for start in range(0, i, 255):
            part = greater[start : min(i, start + 255)].view(np.uint8)
            codes[i] += np.add.reduce(part, axis=0, dtype=np.uint8)
    return codes.T
