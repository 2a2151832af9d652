"""Exact Kemeny consensus, beside corankco and scipy's milp."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import scipy.optimize
import scipy.sparse

import fedrank as fr

from .harness import Clock, Row, against, sampled


def run(clock: Clock) -> Iterator[Row]:
    for n in (10, 15) if clock.quick else (10, 15, 20):
        rankings = sampled(1.0, m=9, n=n)
        found = fr.aggregate(rankings, "kemeny")
        assert found.exact
        objective = round(found.objective * 9 * n)
        for name, peer in (("corankco", kemeny_by_corankco), ("scipy milp", kemeny_by_milp)):
            theirs = peer(rankings.ranks)
            assert theirs == objective, (name, n, theirs, objective)

            def ours(rankings: fr.Rankings = rankings) -> fr.Consensus:
                return fr.aggregate(rankings, "kemeny")

            def other(ranks: np.ndarray = rankings.ranks, peer: Callable = peer) -> int:
                return peer(ranks)

            times = clock.race(ours, other, turns=3)
            yield against(f"exact Kemeny, n = {n} · {name}", *times)


def kemeny_by_corankco(ranks: np.ndarray) -> int:
    from corankco.algorithms.exact.exactalgorithmpulp import (  # noqa: PLC0415 - slow to import
        ExactAlgorithmPulp,
    )
    from corankco.dataset import Dataset  # noqa: PLC0415
    from corankco.scoringscheme import ScoringScheme  # noqa: PLC0415

    orders = np.argsort(ranks, axis=1).tolist()
    dataset = Dataset.from_raw_list([[{item} for item in order] for order in orders])
    scheme = ScoringScheme.get_unifying_scoring_scheme()  # a tie costs as much as an inversion
    found = ExactAlgorithmPulp().compute_consensus_rankings(dataset, scheme, True)
    return round(found.kemeny_score)


def kemeny_by_milp(ranks: np.ndarray) -> int:
    """Linear ordering: x[i, j] = 1 if i precedes j, and no cycle of three."""
    n = ranks.shape[1]
    pairs = list(combinations(range(n), 2))
    number = {pair: k for k, pair in enumerate(pairs)}
    before = np.array([(ranks[:, i] < ranks[:, j]).sum() for i, j in pairs])
    after = len(ranks) - before
    triples = list(combinations(range(n), 3))
    columns = [(number[i, j], number[j, k], number[i, k]) for i, j, k in triples]
    rows = np.repeat(np.arange(len(triples)), 3)
    signs = np.tile([1, 1, -1], len(triples))
    matrix = scipy.sparse.csr_array((signs, (rows, np.ravel(columns))))
    found = scipy.optimize.milp(
        after - before,
        integrality=np.ones(len(pairs)),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, 0, 1),
    )
    return round(found.fun + before.sum())
