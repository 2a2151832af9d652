"""Kemeny consensus against enumeration, an integer program and its own bound (M7)."""

import random
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from fedrank import (
    Mallows,
    Rankings,
    aggregate,
    kemeny_score,
    kendall_distance,
)
from helpers import reference
from helpers.strategies import profiles, seeds


@cache
def cycle_cost(length):
    """Least total distance to the rotations of so many items, by enumeration."""
    return reference.kemeny([tuple(np.roll(range(length), t)) for t in range(length)])[0]


def cycles(lengths, seed):
    """Blocks that follow each other, each voting in a Condorcet cycle; relabelled.

    Returns the votes and the least total distance: the blocks' own, by enumeration, because
    all votes agree on how items of different blocks stand.
    """
    rows = int(np.lcm.reduce(lengths))
    votes, least, start = np.empty((rows, 0), dtype=int), 0, 0
    for length in lengths:
        block = np.array([np.roll(np.arange(length), t) for t in range(rows)])
        least += cycle_cost(length) * rows // length
        votes = np.hstack([votes, start + block])
        start += length
    return votes[:, np.random.default_rng(seed).permutation(start)], least


@given(profiles(6), seeds)
def test_kemeny_equals_enumeration(votes, seed):
    least, optima = reference.kemeny(votes)
    found = aggregate(votes, "kemeny", rng=seed)
    assert tuple(found.ranks.tolist()) in optima
    assert found.exact is True
    assert found.objective == found.lower_bound == least / (len(votes) * len(votes[0]))


@pytest.mark.parametrize("m", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("seed", range(3))
def test_kemeny_equals_enumeration_at_seven_items(m, seed):
    votes = reference.random_profile(seed, 7, m)
    least, optima = reference.kemeny(votes)
    for ties in ("random", "index"):
        found = aggregate(votes, "kemeny", ties=ties, rng=seed)
        assert tuple(found.ranks.tolist()) in optima
        assert found.objective == least / (7 * m)


@pytest.mark.parametrize("seed", range(6))
def test_weighted_kemeny_equals_enumeration(seed):
    votes = reference.random_profile(seed, 6, 5)
    weights = [random.Random(seed).randrange(5) for _ in votes[1:]] + [1]
    least, optima = reference.kemeny(reference.repeat(votes, weights))
    found = aggregate(votes, "kemeny", rng=seed, weights=weights)
    assert tuple(found.ranks.tolist()) in optima
    assert found.objective == least / (6 * sum(weights))
    assert found.exact is True


@pytest.mark.parametrize("exact_upto", [0, 1, 2, 3, 5])
@given(votes=profiles(6), seed=seeds, kicks=st.integers(0, 3))
def test_the_bound_holds_and_exact_is_true_only_of_optima(exact_upto, votes, seed, kicks):
    least, optima = reference.kemeny(votes)
    found = aggregate(votes, "kemeny", rng=seed, exact_upto=exact_upto, kicks=kicks)
    scale = len(votes) * len(votes[0])
    assert found.lower_bound <= least / scale <= found.objective
    assert found.objective == kemeny_score(found, votes)
    assert found.exact == (found.lower_bound == found.objective)
    if found.exact:
        assert tuple(found.ranks.tolist()) in optima


def test_local_search_alone_usually_finds_the_optimum_of_small_data():
    hits = 0
    for seed in range(50):
        votes = reference.random_profile(seed, 6, 3)
        found = aggregate(votes, "kemeny", rng=seed, exact_upto=0)
        hits += tuple(found.ranks.tolist()) in reference.kemeny(votes)[1]
    assert hits >= 48


@given(profiles(7), st.randoms(use_true_random=False))
def test_kemeny_objective_does_not_depend_on_the_labels(votes, shuffler):
    n = len(votes[0])
    relabelled = np.array(votes)[:, shuffler.sample(range(n), n)]
    first, second = (aggregate(v, "kemeny", rng=0) for v in (votes, relabelled))
    assert first.objective == second.objective
    assert first.lower_bound == second.lower_bound


def test_kemeny_counts_tied_neighbours():
    assert aggregate([[0, 1, 2], [2, 1, 0]], "kemeny", rng=1).ties == 2
    assert aggregate([[0, 1, 2], [0, 1, 2]], "kemeny").ties == 0


def test_kemeny_is_exact_on_low_noise_at_large_n():
    center = np.random.default_rng(4).permutation(300)
    votes = Mallows(0.5, center=center).sample(50, rng=5)
    found = aggregate(votes, "kemeny", rng=6)
    assert found.exact is True
    assert found.objective == found.lower_bound == kemeny_score(found, votes)


@pytest.mark.parametrize("lengths", [[3] * 20, [5] * 12, [3, 5, 7] * 4, [7, 1, 1, 7, 4, 6, 5, 3]])
@pytest.mark.parametrize("seed", [0, 1])
def test_kemeny_solves_each_cycle_alone(lengths, seed):
    votes, least = cycles(lengths, seed)
    found = aggregate(votes, "kemeny", rng=seed)
    assert found.exact is True
    assert found.objective == least / votes.size
    assert kendall_distance(votes, found.ranks).sum() == least


@pytest.mark.parametrize("exact_upto", [0, 4, 6])
def test_cycles_too_large_to_solve_are_bounded(exact_upto):
    votes, least = cycles([3, 5, 7] * 4, seed=2)
    found = aggregate(votes, "kemeny", rng=1, exact_upto=exact_upto)
    assert found.lower_bound <= least / votes.size <= found.objective


def test_exact_upto_decides_what_is_solved_exactly():
    votes = reference.random_profile(3, 12, 5)  # one component: exact only if it may be solved
    solved = aggregate(votes, "kemeny", rng=1)
    searched = aggregate(votes, "kemeny", rng=1, exact_upto=3)
    assert solved.exact is True
    assert searched.lower_bound <= solved.objective <= searched.objective


@pytest.mark.parametrize(
    ("n", "m", "phi"), [(12, 5, 1.0), (18, 4, 1.0), (40, 6, 1.0), (100, 9, 0.98), (150, 20, 0.99)]
)
@pytest.mark.parametrize("seed", range(3))
def test_kemeny_is_never_worse_than_the_others(n, m, phi, seed):
    votes = Mallows(phi, n=n).sample(m, rng=seed)
    found = aggregate(votes, "kemeny", rng=seed)
    assert found.objective == kemeny_score(found, votes)
    assert found.lower_bound <= found.objective
    assert found.exact == (found.lower_bound == found.objective)
    for method in ("borda", "lehmer", "footrule", "pivot", "pick"):
        other = aggregate(votes, method, rng=seed)
        assert found.objective <= kemeny_score(other, votes)
        assert found.lower_bound <= kemeny_score(other, votes)


def test_no_insertion_improves_what_the_search_found():
    votes = Mallows(1, n=40).sample(7, rng=1).ranks
    found = aggregate(votes, "kemeny", rng=2)
    order = found.order.tolist()
    least = kendall_distance(votes, found.ranks).sum()
    for place in range(40):
        rest = order[:place] + order[place + 1 :]
        moved = [[*rest[:to], order[place], *rest[to:]] for to in range(40)]
        assert kendall_distance(votes, Rankings.from_orders(moved)).sum(axis=0).min() >= least


def test_kemeny_at_twenty_items_equals_an_integer_program():
    n = 20
    votes = Mallows(1, n=n).sample(9, rng=8).ranks
    counts = np.array(reference.pairwise(votes.tolist()))
    # x[i, j] = 1 if i comes before j: one of each pair, and no cycle of three.
    index = {pair: k for k, pair in enumerate(permutations(range(n), 2))}
    cost = np.array([counts[j, i] for i, j in index])
    rows = [[(i, j), (j, i)] for i in range(n) for j in range(i)]
    rows += [[(i, j), (j, k), (k, i)] for i, j, k in permutations(range(n), 3) if i < min(j, k)]
    pairs = [index[pair] for row in rows for pair in row]
    starts = np.cumsum([0] + [len(row) for row in rows])
    matrix = csr_array((np.ones(len(pairs)), pairs, starts), shape=(len(rows), len(index)))
    low = [1] * len(rows)
    high = [len(row) - 1 for row in rows]
    solved = milp(
        cost, constraints=LinearConstraint(matrix, low, high), integrality=1, bounds=(0, 1)
    )
    found = aggregate(votes, "kemeny", rng=1)
    assert found.exact is True
    assert kendall_distance(votes, found.ranks).sum() == round(solved.fun)
