"""Kendall distances of many rankings to one, beside scipy's kendalltau."""

from collections.abc import Iterator

import numpy as np
import scipy.stats

import fedrank as fr

from .harness import CENTER, Clock, M, N, Row, against, against_copy, sampled


def run(clock: Clock) -> Iterator[Row]:
    rankings = sampled(0.9)
    ranks, center = rankings.ranks, CENTER.ranks[0]

    def by_loop() -> list[float]:
        tau = scipy.stats.kendalltau
        return [tau(row, center, method="asymptotic").statistic for row in ranks]

    def by_axis() -> np.ndarray:
        tau = scipy.stats.kendalltau
        return tau(ranks, center[None], axis=1, method="asymptotic").statistic

    pairs = N * (N - 1) / 2
    distances = fr.kendall_distance(rankings, CENTER)[:, 0]
    peers = {"by loop": by_loop}
    if np.shape(by_axis()) == (M,):  # older versions of scipy flatten the input
        peers["by axis"] = by_axis
    for peer in peers.values():
        assert np.allclose((1 - np.array(peer())) / 2 * pairs, distances)
    times = {
        k: clock.race(lambda: fr.kendall_distance(rankings, CENTER), f) for k, f in peers.items()
    }
    name = min(times, key=lambda each: times[each][1])
    ours = min(ours for ours, _ in times.values())
    yield against(f"Kendall, many to one · scipy kendalltau {name}", ours, times[name][1], 80)
    yield against_copy(clock, "Kendall, many to one", lambda: fr.kendall_distance(rankings, CENTER))
