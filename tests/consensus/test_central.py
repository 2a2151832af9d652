"""Consensus methods against enumeration, outside judges and their own laws (M5, M7, M11)."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import chisquare

from fedrank import (
    Mallows,
    Rankings,
    aggregate,
    footrule_distance,
    kemeny_score,
    lehmer_encode,
    pairwise_counts,
)
from helpers import reference
from helpers.strategies import profiles, seeds

METHODS = ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"]


def total(distance, ranking, votes):
    return sum(distance(ranking, r) for r in votes)


# --- The result ---


def test_a_consensus_names_its_items_best_first():
    found = aggregate(Rankings([[2, 0, 1]], items=["ann", "bob", "cy"]))
    assert found.ranks.tolist() == [2, 0, 1]
    assert found.ranks.dtype == np.int32
    assert found.order.tolist() == [1, 2, 0]
    assert found.items == ("ann", "bob", "cy")
    assert found.labels == ("bob", "cy", "ann")
    assert found.top(2) == ("bob", "cy")
    assert found.top() == found.labels
    assert len(found) == 3
    assert found.method == "borda"
    assert repr(found) == "Consensus by borda of 3 items: bob, cy, ann"


def test_labels_default_to_numbers():
    found = aggregate([[2, 0, 1]])
    assert found.items == (0, 1, 2)
    assert found.labels == (1, 2, 0)


@pytest.mark.parametrize("method", METHODS)
@given(votes=profiles(8), seed=seeds)
def test_every_consensus_is_a_ranking(method, votes, seed):
    found = aggregate(votes, method, rng=seed)
    assert sorted(found.ranks.tolist()) == list(range(len(votes[0])))


@pytest.mark.parametrize("method", METHODS)
@given(ranking=st.integers(1, 12).flatmap(lambda n: st.permutations(range(n))), seed=seeds)
def test_unanimity_is_respected(method, ranking, seed):
    found = aggregate([ranking] * 3, method, rng=seed)
    assert found.ranks.tolist() == ranking
    assert found.ties == 0


@pytest.mark.parametrize("method", METHODS)
@given(votes=profiles(7), seed=seeds)
def test_the_same_rng_gives_the_same_consensus(method, votes, seed):
    first = aggregate(votes, method, rng=seed)
    again = aggregate(votes, method, rng=np.random.default_rng(seed))
    assert first.ranks.tolist() == again.ranks.tolist()
    assert (first.ties, first.objective) == (again.ties, again.objective)


@pytest.mark.parametrize("method", ["pivot", "pick", "kemeny"])
@given(votes=profiles(7), seed=seeds)
def test_the_objective_is_the_kemeny_score(method, votes, seed):
    found = aggregate(votes, method, rng=seed)
    assert found.objective == kemeny_score(found, votes)


@pytest.mark.parametrize("ties", ["random", "index"])
@pytest.mark.parametrize("method", METHODS)
@given(votes=profiles(7), seed=seeds, data=st.data())
def test_weights_are_repetitions(method, ties, votes, seed, data):
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(votes), max_size=len(votes)))
    weights[0] += not any(weights)
    weighted = aggregate(votes, method, ties=ties, rng=seed, weights=weights)
    repeated = aggregate(reference.repeat(votes, weights), method, ties=ties, rng=seed)
    assert weighted.ranks.tolist() == repeated.ranks.tolist()
    assert weighted.objective == repeated.objective
    assert weighted.lower_bound == repeated.lower_bound
    assert weighted.ties == repeated.ties
    np.testing.assert_array_equal(weighted.scores, repeated.scores)


@pytest.mark.parametrize("method", ["borda", "lehmer", "footrule", "kemeny"])
@given(votes=profiles(6), seed=seeds, shuffler=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(method, votes, seed, shuffler):
    shuffled = shuffler.sample(votes, len(votes))
    first = aggregate(votes, method, rng=seed)
    assert first.ranks.tolist() == aggregate(shuffled, method, rng=seed).ranks.tolist()


# Two opposed rankings: everything is left open.
@pytest.mark.parametrize("method", METHODS)
def test_ties_are_not_broken_silently_by_index(method):
    votes = [(0, 1, 2, 3), (3, 2, 1, 0)]
    found = {tuple(aggregate(votes, method, rng=seed).ranks.tolist()) for seed in range(40)}
    assert len(found) > 1
    fresh = {tuple(aggregate(votes, method).ranks.tolist()) for _ in range(40)}
    assert len(fresh) > 1


@pytest.mark.parametrize("method", ["borda", "lehmer", "footrule", "pick"])
def test_ties_by_index_do_not_depend_on_rng(method):
    votes = reference.random_profile(1, 6, 2)
    found = {
        tuple(aggregate(votes, method, ties="index", rng=seed).ranks.tolist()) for seed in range(20)
    }
    assert len(found) == 1


def test_kemeny_solved_exactly_with_ties_by_index_does_not_depend_on_rng():
    votes = reference.random_profile(2, 6, 2)
    found = {
        tuple(aggregate(votes, "kemeny", ties="index", rng=seed).ranks.tolist())
        for seed in range(20)
    }
    assert len(found) == 1


# --- Borda ---


@given(profiles(9), seeds)
def test_borda_ranks_by_mean_position(votes, seed):
    sums = reference.position_sums(votes)
    found = aggregate(votes, rng=seed)
    in_order = [sums[i] for i in found.order]
    assert in_order == sorted(sums)
    assert found.scores.tolist() == [s / len(votes) for s in sums]
    shared = Counter(sums)
    assert found.ties == sum(count for count in shared.values() if count > 1)


@given(profiles(9), seeds)
def test_borda_by_index_is_stable(votes, seed):
    found = aggregate(votes, "borda", ties="index", rng=seed)
    assert tuple(found.ranks.tolist()) == reference.borda(votes)


def test_borda_ties_are_uniform_over_seeds():
    votes = [(0, 1, 2), (2, 1, 0)]
    found = [aggregate(votes, rng=seed) for seed in range(3000)]
    assert all(each.ties == 3 for each in found)
    counts = Counter(tuple(each.ranks.tolist()) for each in found)
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-4


@given(profiles(8), st.randoms(use_true_random=False))
def test_borda_does_not_depend_on_the_labels(votes, shuffler):
    n = len(votes[0])
    labels = shuffler.sample(range(n), n)
    relabelled = np.array(votes)[:, labels]
    found, renamed = aggregate(votes, rng=0), aggregate(relabelled, rng=0)
    assert renamed.scores.tolist() == found.scores[labels].tolist()
    if found.ties == 0:
        assert renamed.ranks.tolist() == found.ranks[labels].tolist()


@pytest.mark.parametrize(("n", "m"), [(978, 501), (3, 100_000), (20_000, 7)])
def test_borda_equals_numpy_at_size(n, m):
    rng = np.random.default_rng(n)
    votes = rng.permuted(np.tile(np.arange(n, dtype=np.int32), (m, 1)), axis=1)
    sums = votes.sum(axis=0, dtype=np.int64)
    found = aggregate(votes, ties="index")
    np.testing.assert_array_equal(found.order, np.argsort(sums, kind="stable"))
    np.testing.assert_array_equal(found.scores, sums / m)


def test_borda_sums_do_not_wrap():
    found = aggregate([[0, 1, 2], [2, 1, 0]], ties="index", weights=[2**30, 2**30 - 1])
    assert found.ranks.tolist() == [0, 1, 2]
    assert found.scores[2] == (2**31) / (2**31 - 1)


def test_borda_recovers_the_center():
    center = np.random.default_rng(1).permutation(200)
    sample = Mallows(0.5, center=center).sample(500, rng=2)
    assert aggregate(sample).ranks.tolist() == center.tolist()


# --- Lehmer ---


@given(profiles(8), seeds)
def test_lehmer_decodes_most_frequent_digits(votes, seed):
    found = aggregate(votes, "lehmer", rng=seed)
    allowed = reference.lehmer_digits(votes)
    digits = lehmer_encode(found)[0].tolist()
    assert all(digit in most for digit, most in zip(digits, allowed, strict=True))
    assert found.ties == sum(len(most) > 1 for most in allowed)
    if found.ties == 0:
        expected = reference.decode([next(iter(most)) for most in allowed])
        assert tuple(found.ranks.tolist()) == expected


@given(profiles(8))
def test_lehmer_by_index_takes_the_least_digit(votes):
    found = aggregate(votes, "lehmer", ties="index")
    expected = reference.decode([min(most) for most in reference.lehmer_digits(votes)])
    assert tuple(found.ranks.tolist()) == expected


def test_lehmer_ties_are_uniform_and_independent():
    # Digits {0}, {0, 1}, {0, 2}: four rankings.
    votes = [(0, 1, 2), (2, 1, 0)]
    assert reference.lehmer_digits(votes) == [{0}, {0, 1}, {0, 2}]
    counts = Counter(
        tuple(aggregate(votes, "lehmer", rng=seed).ranks.tolist()) for seed in range(2000)
    )
    assert len(counts) == 4
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_lehmer_depends_on_the_labels():
    votes = np.array([[0, 1, 2], [0, 2, 1], [2, 0, 1]])
    labels = [1, 2, 0]  # item 0 is now called 2, and so on
    plain, renamed = aggregate(votes, "lehmer"), aggregate(votes[:, labels], "lehmer")
    assert plain.ties == renamed.ties == 0
    assert plain.order.tolist() == [0, 2, 1]
    assert [labels[item] for item in renamed.order] == [0, 1, 2]


def test_lehmer_recovers_the_center():
    center = np.random.default_rng(1).permutation(40)
    sample = Mallows(0.3, center=center).sample(2000, rng=2)
    assert aggregate(sample, "lehmer").ranks.tolist() == center.tolist()


# --- Footrule ---


@given(profiles(6), seeds)
def test_footrule_equals_enumeration(votes, seed):
    least, optima = reference.footrule_consensus(votes)
    found = aggregate(votes, "footrule", rng=seed)
    assert total(reference.footrule, found.ranks.tolist(), votes) == least
    assert tuple(found.ranks.tolist()) in optima
    assert found.exact is True


@pytest.mark.parametrize(("n", "m", "phi"), [(60, 3, 1.0), (60, 50, 0.9), (200, 20, 0.99)])
@pytest.mark.parametrize("seed", range(3))
def test_footrule_equals_scipys_assignment(n, m, phi, seed):
    votes = Mallows(phi, n=n).sample(m, rng=seed).ranks
    cost = np.abs(votes[:, :, None] - np.arange(n)).sum(axis=0)
    rows, columns = linear_sum_assignment(cost)
    found = aggregate(votes, "footrule", rng=seed)
    assert footrule_distance(votes, found.ranks).sum() == cost[rows, columns].sum()


@given(profiles(8), st.randoms(use_true_random=False))
def test_footrule_objective_does_not_depend_on_the_labels(votes, shuffler):
    n = len(votes[0])
    relabelled = np.array(votes)[:, shuffler.sample(range(n), n)]
    first, second = (aggregate(v, "footrule", rng=0) for v in (votes, relabelled))
    assert footrule_distance(votes, first.ranks).sum() == (
        footrule_distance(relabelled, second.ranks).sum()
    )


def test_footrule_costs_do_not_wrap():
    weights = [2**30, 2**30 - 1]
    found = aggregate([range(50), range(50)[::-1]], "footrule", weights=weights)
    one, other = (footrule_distance(r, found.ranks) for r in (range(50), range(50)[::-1]))
    assert one * weights[0] + other * weights[1] == weights[1] * 1250


# --- Pivot and pick ---


@given(profiles(7), seeds)
def test_pivot_follows_acyclic_majorities(votes, seed):
    counts = np.array(reference.pairwise(votes))
    wins = (counts > counts.T).sum(axis=1)
    if sorted(wins.tolist()) != list(range(len(wins))):
        return  # a cycle or a tie: the majorities make no order
    found = aggregate(votes, "pivot", rng=seed, runs=1)
    assert found.ranks.tolist() == (len(wins) - 1 - wins).tolist()
    assert found.ties == 0


def test_pivot_finds_the_majority_order_of_many_items():
    center = np.random.default_rng(0).permutation(300)
    votes = Mallows(0.5, center=center).sample(301, rng=3)
    counts = pairwise_counts(votes)
    wins = (counts > counts.T).sum(axis=1)
    assert sorted(wins.tolist()) == list(range(300))
    assert aggregate(votes, "pivot", rng=1).ranks.tolist() == (299 - wins).tolist()


@given(profiles(7), seeds)
def test_neighbours_in_pivots_order_follow_the_majority(votes, seed):
    counts = np.array(reference.pairwise(votes))
    for ties in ("random", "index"):
        order = aggregate(votes, "pivot", ties=ties, rng=seed, runs=1).order
        assert all(counts[a, b] >= counts[b, a] for a, b in pairwise(order))


def test_more_runs_of_pivot_are_never_worse():
    votes = reference.random_profile(5, 40, 7)
    scores = [aggregate(votes, "pivot", rng=1, runs=runs).objective for runs in (1, 2, 5, 20, 100)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0]


@given(profiles(7), seeds)
def test_best_of_both_is_the_better_of_pivot_and_pick(votes, seed):
    both = aggregate(votes, "pivot", rng=seed, best_of_both=True)
    pivot, pick = (aggregate(votes, method, rng=seed) for method in ("pivot", "pick"))
    assert both.objective == min(pivot.objective, pick.objective)
    assert both.objective == kemeny_score(both, votes)


@given(profiles(7), seeds)
def test_pick_takes_an_input_of_least_total_distance(votes, seed):
    totals = {r: total(reference.kendall, r, votes) for r in votes}
    found = tuple(aggregate(votes, "pick", rng=seed).ranks.tolist())
    assert totals[found] == min(totals.values())


def test_pick_by_index_takes_the_first_of_the_nearest():
    assert aggregate([[2, 1, 0], [0, 1, 2]], "pick", ties="index").ranks.tolist() == [2, 1, 0]
    assert aggregate([[0, 1, 2], [2, 1, 0]], "pick", ties="index").ranks.tolist() == [0, 1, 2]


def test_pick_breaks_ties_evenly():
    votes = [(0, 1, 2), (2, 1, 0)]
    found = [aggregate(votes, "pick", rng=seed) for seed in range(1000)]
    counts = Counter(tuple(each.ranks.tolist()) for each in found)
    assert set(counts) == set(votes)
    assert chisquare(list(counts.values())).pvalue > 1e-4


@given(profiles(6), seeds)
def test_pick_never_takes_a_ranking_of_weight_0(votes, seed):
    # The first row is in the middle of all others, but counts for nothing.
    others = [r for r in votes if r != votes[0]]
    if not others:
        return
    found = aggregate([votes[0], *others], "pick", rng=seed, weights=[0] + [1] * len(others))
    assert tuple(found.ranks.tolist()) in others


# --- Ties by index ---


@pytest.mark.parametrize("method", ["borda", "lehmer", "pivot", "pick", "kemeny"])
def test_by_index_the_lower_number_goes_first(method):
    assert aggregate(list(permutations(range(4))), method, ties="index").ranks.tolist() == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("method", ["borda", "kemeny", "pivot"])
def test_by_index_only_what_is_open_goes_by_number(method):
    votes = [[3, 1, 2, 0], [3, 2, 1, 0]]
    assert aggregate(votes, method, ties="index").ranks.tolist() == [3, 1, 2, 0]


def test_heavy_weights_do_not_overflow():
    n = 200_000
    up, weight = np.arange(n), 2**31 - 1
    assert kemeny_score(up, up[::-1], weights=[weight]) == (n - 1) / 2
    assert Mallows.fit(up[::-1], center=up, weights=[weight]).phi == 1
