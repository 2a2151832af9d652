"""Footrule consensus, beside scipy's assignment."""

from collections.abc import Iterator

import numpy as np
import scipy.optimize

import fedrank as fr

from .harness import Clock, N, Row, against, sampled


def run(clock: Clock) -> Iterator[Row]:
    for name, phi in (("phi 0.9", 0.9), ("phi 0.99", 0.99), ("uniform", 1.0)):
        rankings = sampled(phi)

        def ours(rankings: fr.Rankings = rankings) -> np.ndarray:
            return fr.aggregate(rankings, "footrule", rng=1).ranks

        def peer(ranks: np.ndarray = rankings.ranks) -> np.ndarray:
            return scipy.optimize.linear_sum_assignment(footrule_costs(ranks))[1]

        costs = footrule_costs(rankings.ranks)
        assert costs[3, 5] == np.abs(rankings.ranks[:, 3] - 5).sum()
        items = np.arange(N)
        assert costs[items, ours()].sum() == costs[items, peer()].sum()
        yield against(f"footrule, {name} · scipy linear_sum_assignment", *clock.race(ours, peer), 1)


def footrule_costs(ranks: np.ndarray) -> np.ndarray:
    """Cost of every position for every item, from counts: O(m n + n²)."""
    m, n = ranks.shape
    counts = np.bincount((ranks + np.arange(n) * n).ravel(), minlength=n * n).reshape(n, n)
    costs = np.empty((n, n), dtype=np.int64)
    costs[:, 0] = counts @ np.arange(n)
    # From one position to the next, rankings up to here move away and the others come nearer.
    costs[:, 1:] = 2 * counts.cumsum(axis=1)[:, :-1] - m
    return costs.cumsum(axis=1)
