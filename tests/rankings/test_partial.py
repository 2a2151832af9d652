"""Partial rankings: their levels, their completion, and their consensus in one place (M17)."""

import functools
import pickle
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import (
    Borda,
    Lehmer,
    PartialRankings,
    Rankings,
    aggregate,
    data,
    footrule_distance,
    kemeny_score,
    kendall_distance,
    lehmer_encode,
    pairwise_counts,
)
from fedrank.schemes import Dispersion, Refine
from helpers import reference
from helpers.paths import SAMPLES
from helpers.strategies import partial, profiles


def weighted(most_items):
    return profiles(most_items, rows=partial).flatmap(
        lambda ballots: st.tuples(
            st.just(ballots),
            st.lists(st.integers(0, 3), min_size=len(ballots), max_size=len(ballots)).filter(sum),
        )
    )


def mean(values):
    return [sum(column) / len(values) for column in zip(*values, strict=True)]


# --- what a partial ranking is ---


@given(partial(6))
def test_levels_are_dense_and_in_the_order_of_the_positions(row):
    used = sorted({position for position in row if position >= 0})
    expected = [-1 if position == -1 else used.index(position) for position in row]
    assert PartialRankings(row).ranks.tolist() == [expected]


@given(st.permutations(range(7)))
def test_a_complete_ranking_is_its_own_levels(ranking):
    assert PartialRankings(ranking).ranks.tolist() == [ranking]


@given(partial(6))
def test_scores_give_the_levels_of_their_order(row):
    scores = [np.nan if position == -1 else 0.5 - position for position in row]
    assert PartialRankings.from_scores(scores) == PartialRankings(row)


@given(partial(6), st.randoms())
def test_orders_give_the_levels_of_their_groups(row, random):
    used = sorted({position for position in row if position >= 0})
    order = [["abcdef"[i] for i in range(6) if row[i] == position] for position in used]
    for tied in order:
        random.shuffle(tied)
    order = [tied[0] if len(tied) == 1 else tied for tied in order]
    made = PartialRankings.from_orders([order], items="abcdef")
    assert made == PartialRankings(row, items="abcdef")


def test_orders_without_labels_given_use_all_that_are_named():
    made = PartialRankings.from_orders([["cy"], [{"bob", "ann"}, "cy"]])
    assert made.items == ("ann", "bob", "cy")
    assert made.ranks.tolist() == [[-1, -1, 0], [0, 0, 1]]
    assert PartialRankings.from_orders([[1], [0, 2]]).item_labels is None


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: PartialRankings([[0, 1], [-2, 0]]), "row 1: -2 of item 0 is not a position"),
        (
            lambda: PartialRankings([[0, 1], [-1, -1]]),
            "row 1: the row ranks no item; leave",
        ),
        (lambda: PartialRankings([[0, float("nan")]]), "row 0: nan of item 1 is not a whole"),
        (lambda: PartialRankings([[0, 0.5]]), "0.5 of item 1 is not a whole number"),
        (lambda: PartialRankings([[0, 1], [0]]), "row 1: the row has 1 entry, but row 0 has 2"),
        (lambda: PartialRankings([[]]), "at least one item"),
        (lambda: PartialRankings([[0, 1]], items="a"), "1 label was given for 2 items"),
        (lambda: PartialRankings.from_scores([[np.nan, np.nan]]), "row 0: the row ranks no item"),
        (
            lambda: PartialRankings.from_scores([["a"]]),
            "row 0: .a. of item 0 is text",
        ),
        (lambda: PartialRankings.from_orders([]), "no orders were given"),
        (lambda: PartialRankings.from_orders(5), "orders must be a list, not 5"),
        (lambda: PartialRankings.from_orders([["a", [], "b"]]), "row 0: a tie names no item"),
        (lambda: PartialRankings.from_orders([["a"], [set()]]), "row 1: a tie names no item"),
        (lambda: PartialRankings.from_orders([["a", float("nan")]]), "labels must not be NaN"),
        (lambda: PartialRankings.from_orders([1]), "order 0 must be a list"),
        (lambda: PartialRankings.from_orders([["a", ["b", "a"]]]), "row 0: .* names 'a' more than"),
        (lambda: PartialRankings.from_orders([["a"], ["z"]], items="ab"), "row 1: 'z'"),
        (lambda: PartialRankings.from_orders([[["a", ["b"]]]]), "must be text or numbers"),
        (lambda: PartialRankings.from_orders([["a"], []]), "row 1: the row ranks no item"),
        (lambda: PartialRankings.from_orders([[]]), "at least one item"),
        (lambda: PartialRankings([[0, 1]]).split(2), "1 rankings cannot be split among 2"),
    ],
)
def test_bad_input_is_named(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


def test_rows_labels_and_copies_are_kept():
    votes = PartialRankings([[0, 0, -1], [2, 1, 0]], items="abc")
    assert votes[1:].ranks.tolist() == [[2, 1, 0]]
    assert votes[1:].items == ("a", "b", "c")
    assert votes.align("cab").ranks.tolist() == [[-1, 0, 0], [0, 2, 1]]
    assert pickle.loads(pickle.dumps(votes)) == votes
    assert sorted(len(part) for part in votes.split(2, rng=0)) == [1, 1]
    assert all(isinstance(part, PartialRankings) for part in votes.split(2, rng=0))
    assert votes[1:] != Rankings([[2, 1, 0]], items="abc")
    assert not votes.ranks.flags.writeable
    assert len(PartialRankings(np.empty((0, 3), dtype=int))) == 0


@given(partial(6), st.integers(0, 99))
def test_completion_keeps_what_is_ordered(row, seed):
    (levels,) = reference.unranked_last([row])
    (ranking,) = PartialRankings(row).complete(rng=seed).ranks.tolist()
    assert sorted(ranking) == list(range(6))
    for a in range(6):
        for b in range(6):
            assert ranking[a] < ranking[b] or levels[a] >= levels[b]


def test_completion_is_uniform():
    drawn = PartialRankings([[0, -1, -1, -1]] * 6000).complete(rng=0).ranks
    kinds, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(kinds) == 6
    assert (np.abs(counts - 1000) < 150).all()


# --- in one place ---


@given(weighted(6))
def test_borda_scores_are_mean_mid_ranks(case):
    ballots, weights = case
    found = aggregate(PartialRankings(ballots), weights=weights)
    means = mean([reference.mid_ranks(b) for b in reference.repeat(ballots, weights)])
    assert found.scores.tolist() == pytest.approx([float(m) for m in means], abs=1e-12)
    for a, b in permutations(range(len(means)), 2):
        assert found.ranks[a] < found.ranks[b] or means[a] >= means[b]


@given(weighted(6), st.randoms())
def test_kemeny_score_counts_ties_and_gaps_one_half(case, random):
    ballots, weights = case
    ranking = random.sample(range(len(ballots[0])), len(ballots[0]))
    total = sum(
        reference.half_distance(ranking, b) for b in reference.repeat(ballots, weights)
    ) / Fraction(sum(weights) * len(ranking))
    score = kemeny_score(ranking, PartialRankings(ballots), weights)
    assert score == pytest.approx(float(total), abs=1e-12)


@given(weighted(6))
def test_pairwise_counts_leave_out_ties(case):
    ballots, weights = case
    counts = pairwise_counts(PartialRankings(ballots), weights)
    repeated = reference.repeat(reference.unranked_last(ballots), weights)
    assert counts.tolist() == reference.pairwise(repeated)


@given(profiles(5, rows=partial))
def test_kemeny_is_the_best_of_all_rankings(ballots):
    votes = PartialRankings(ballots)
    found = aggregate(votes, "kemeny")
    assert found.exact
    scale = len(ballots) * votes.n
    assert found.objective == pytest.approx(
        float(reference.least_half_distance(ballots) / scale), abs=1e-12
    )
    assert found.objective == found.lower_bound == kemeny_score(found, votes)


@given(profiles(5, rows=partial))
def test_pivot_knows_its_objective(ballots):
    votes = PartialRankings(ballots)
    found = aggregate(votes, "pivot", rng=0)
    assert found.objective == kemeny_score(found, votes)


@pytest.mark.parametrize("method", ["borda", "kemeny", "pivot"])
def test_complete_rankings_give_the_same_as_partial_ones(method):
    ranks = np.array([np.random.default_rng(seed).permutation(6) for seed in range(9)])
    complete, partial = (
        aggregate(kind(ranks), method, rng=1) for kind in (Rankings, PartialRankings)
    )
    assert complete.ranks.tolist() == partial.ranks.tolist()
    assert complete.objective == partial.objective


@pytest.mark.parametrize("method", ["lehmer", "footrule", "pick"])
def test_methods_of_complete_rankings_say_what_to_do(method):
    with pytest.raises(
        ValueError,
        match=f"'{method}' takes complete rankings only, .*; complete",
    ):
        aggregate(PartialRankings([[0, 0]]), method)


@pytest.mark.parametrize(
    "use",
    [
        lambda votes: kendall_distance(votes, [0, 1]),
        lambda votes: footrule_distance([0, 1], votes),
        lambda votes: kemeny_score(votes, [[0, 1]]),
        lehmer_encode,
        Rankings,
        functools.partial(Lehmer(n=2, clients=1).encode, client=0),
        functools.partial(Borda(n=2, clients=1).encode, client=0),
        functools.partial(Refine([0, 1], clients=1, window=1, max_samples=9).encode, client=0),
        functools.partial(Dispersion([0, 1], clients=1, max_samples=9).encode, client=0),
    ],
)
def test_what_needs_complete_rankings_says_what_to_do(use):
    with pytest.raises(ValueError, match=r"with PartialRankings.complete\(rng=…\), or"):
        use(PartialRankings([[0, 0]]))


# --- readers ---


def test_preflib_keeps_ties_and_gaps():
    votes = data.read_preflib(SAMPLES / "small.toi")
    assert votes.items == ("Ann", "Bob", "Cy", "Dée")
    assert votes.ranks.tolist() == [[1, 1, 2, 0]] * 3 + [[-1, -1, 0, -1]] * 2 + [[1, 0, 0, -1]]


def test_ballots_keep_ties_and_gaps():
    votes = data.read_ballots(SAMPLES / "cvr.csv")
    assert votes.ranks.tolist() == [[0, 1, -1], [1, -1, 0], [-1, 0, -1], [-1, -1, 0]]
    votes = data.read_ballots(SAMPLES / "profile.csv")
    assert votes.ranks.tolist() == [[0, -1, 1]] * 3 + [[-1, 0, -1]] * 2 + [[2, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (data.read_preflib, "small.toi"),
        (data.read_preflib, "latin1.soi"),
        (data.read_preflib, "old.toc"),
        (data.read_ballots, "cvr.csv"),
        (data.read_ballots, "profile.csv"),
    ],
)
def test_completing_what_was_read_is_reading_it_complete(read, name):
    partial, complete = read(SAMPLES / name), read(SAMPLES / name, complete=True, rng=4)
    assert partial.complete(rng=4) == complete
    assert partial.complete(rng=4).source == complete.source


def test_a_blank_ballot_cannot_be_kept_unranked():
    with pytest.raises(ValueError, match="leave out keep_blank=True, or pass complete=True"):
        data.read_ballots(SAMPLES / "cvr.csv", keep_blank=True)
