"""A client's Lehmer message, codes included, beside numpy on codes that are given."""

from collections.abc import Iterator

import numpy as np

import fedrank as fr

from .harness import Clock, M, N, Row, against, sampled


def run(clock: Clock) -> Iterator[Row]:
    lehmer = fr.Lehmer(N, 10)
    center = np.random.default_rng(1).permutation(N)
    mallows = fr.Mallows(0.6, center=center).sample(M, rng=1)
    for name, rankings in (("phi 0.6", mallows), ("uniform", sampled(1.0))):
        codes = fr.lehmer_encode(rankings)
        columns = np.ascontiguousarray(codes.T, dtype=np.intp)
        generator = np.random.default_rng(1)

        def ours(rankings: fr.Rankings = rankings) -> np.ndarray:
            return lehmer.encode(rankings, client=0, rng=1)

        def kernel(rankings: fr.Rankings = rankings) -> np.ndarray:
            return fr.lehmer_encode(rankings)

        def at_random(columns: np.ndarray = codes.T, g: np.random.Generator = generator) -> list:
            return plurality(columns, g)

        def copied(columns: np.ndarray = columns, g: np.random.Generator = generator) -> list:
            return plurality(columns, g)

        def least(columns: np.ndarray = codes.T) -> list:
            return [np.bincount(column).argmax() for column in columns]

        for call in (ours, at_random, copied, least):
            # The first digit is always 0, and not sent.
            for column, digit in zip(codes.T[1:], call()[-N + 1 :], strict=True):
                counts = np.bincount(column)
                assert counts[int(digit)] == counts.max()
        best, *theirs = clock.best([ours, kernel, at_random, copied, least], turns=14)
        label, peer = f"Lehmer message, {name}", "numpy on ready codes, bincount by column"
        yield against(f"{label} · limit: lehmer_encode", best, theirs[0], 0.333)
        yield against(f"{label} · {peer}, ties at random", best, theirs[1], 20)
        yield against(f"{label} · {peer}, ties at random, columns copied before", best, theirs[2])
        yield against(f"{label} · {peer}, least of the tied", best, theirs[3])


def plurality(columns: np.ndarray, generator: np.random.Generator) -> list[int]:
    """The most frequent digit of each column, ties broken at random."""
    digits = []
    for column in columns:
        counts = np.bincount(column)
        best = np.flatnonzero(counts == counts.max())
        digits.append(best[0] if len(best) == 1 else best[generator.integers(len(best))])
    return digits
