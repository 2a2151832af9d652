"""Sampling a Mallows model, beside numpy and prefsampling."""

from collections.abc import Callable, Iterator

import numpy as np

import fedrank as fr

from .harness import CENTER, Clock, M, N, Row, against


def run(clock: Clock) -> Iterator[Row]:
    generator = np.random.default_rng(1)
    for phi in (0.3, 0.6, 0.9, 0.99):
        model = fr.Mallows(phi, n=N)

        def ours(model: fr.Mallows = model) -> fr.Rankings:
            return model.sample(M, rng=generator)

        best = {}
        for decode in (decode_by_ranks, decode_by_window):

            def peer(phi: float = phi, decode: Callable = decode) -> np.ndarray:
                return decode(draw_digits(phi, N, M, generator))

            many = np.concatenate([peer() for _ in range(4)])
            distance = np.mean(fr.kendall_distance(many, CENTER))
            assert abs(distance / model.expected_distance() - 1) < 0.02
            best[decode] = clock.race(ours, peer)
        mine = min(ours for ours, _ in best.values())
        fastest = min(best, key=lambda decode: best[decode][1])
        name = {decode_by_ranks: "ranks", decode_by_window: "window"}[fastest]
        times = best[fastest]
        yield against(f"Mallows, phi {phi} · numpy, best ({name})", *times, 20)
        if fastest is not decode_by_ranks:
            yield against(f"Mallows, phi {phi} · numpy, plain (ranks)", *best[decode_by_ranks])
        yield against(
            f"Mallows, phi {phi} · prefsampling, scaled", mine, prefsampling(clock, phi), 3000
        )
        bits = clock.race(ours, lambda: generator.bytes(2 * N * M))
        yield against(f"Mallows, phi {phi} · limit: numpy's 16 random bits per digit", *bits)


def prefsampling(clock: Clock, phi: float) -> float:
    """Seconds for all rankings, extrapolated from one ranking and from eight."""
    from prefsampling.ordinal import mallows  # noqa: PLC0415 - slow to import

    one, eight = clock.race(
        lambda: mallows(1, N, phi, seed=1), lambda: mallows(8, N, phi, seed=1), 2
    )
    return one + (eight - one) / 7 * (M - 1)


def draw_digits(phi: float, n: int, m: int, generator: np.random.Generator) -> np.ndarray:
    """Lehmer digits, one item per row: the whole part of an exponential is geometric.

    Taken modulo i + 1 it is geometric on 0..i, as digit i must be.
    """
    draws = generator.standard_exponential((n, m), dtype=np.float32)
    draws *= np.float32(-1 / np.log(phi))
    digits = draws.astype(np.int16)
    sizes = np.arange(1, n + 1, dtype=np.int16)
    high = np.flatnonzero(digits.max(axis=1) >= sizes)
    digits[high] %= sizes[high, None]
    return digits


def decode_by_ranks(digits: np.ndarray) -> np.ndarray:
    """Insert item by item: those at the new item's position and behind move back by one."""
    n, _ = digits.shape
    positions = np.arange(n, dtype=np.int16)[:, None] - digits
    ranks = np.empty_like(digits)
    for i in range(n):
        earlier = ranks[:i]
        earlier += earlier >= positions[i]
        ranks[i] = positions[i]
    return ranks.T


def decode_by_window(digits: np.ndarray) -> np.ndarray:
    """From the last item to the first, take a free position; the free ones behind move up.

    Of these, only as many move as the largest digit says. Free positions are sorted, so a maximum
    moves the right ones: a position behind the one taken is greater than its neighbour.
    """
    n, m = digits.shape
    widths = digits.max(axis=1).tolist()
    free = np.repeat(np.arange(n, dtype=np.int16)[:, None], m, axis=1)
    taken = (np.arange(n)[:, None] - digits) * m + np.arange(m)
    ranks, spare = np.empty_like(digits), np.empty_like(digits)
    flat = free.ravel()
    for i in range(n - 1, -1, -1):
        rank = flat.take(taken[i], out=ranks[i], mode="clip")
        start = i - widths[i]
        if start < i:
            here, behind = free[start:i], free[start + 1 : i + 1]
            moved = np.multiply(behind, behind > rank, out=spare[: i - start])
            np.maximum(here, moved, out=here)
    return ranks.T
