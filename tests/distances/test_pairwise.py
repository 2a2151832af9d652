"""Pairwise counts and the Kemeny score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Rankings, kemeny_score, pairwise_counts
from helpers import reference

sizes = st.tuples(st.integers(1, 9), st.integers(1, 8))


def profile(n, m, random):
    return [random.sample(range(n), n) for _ in range(m)]


@given(sizes, st.randoms())
def test_counts_follow_the_definition(size, random):
    votes = profile(*size, random)
    counts = pairwise_counts(votes)
    assert counts.tolist() == reference.pairwise(votes)
    assert counts.dtype == np.int64


@pytest.mark.parametrize(("n", "m"), [(63, 5), (64, 255), (65, 256), (100, 257), (130, 1000)])
def test_counts_follow_the_definition_at_larger_sizes(n, m):
    rng = np.random.default_rng(n)
    votes = rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)
    expected = (votes[:, :, None] < votes[:, None, :]).sum(axis=0)
    np.testing.assert_array_equal(pairwise_counts(votes), expected)


def test_a_pair_is_counted_once_in_every_ranking():
    counts = pairwise_counts(np.array([np.random.default_rng(0).permutation(50)] * 70_000))
    off = ~np.eye(50, dtype=bool)
    assert ((counts + counts.T)[off] == 70_000).all()
    assert (np.diag(counts) == 0).all()


@given(sizes, st.randoms())
def test_weights_are_repetitions(size, random):
    votes = profile(*size, random)
    weights = [random.randrange(4) for _ in votes[1:]] + [2]
    repeated = reference.repeat(votes, weights)
    expected = reference.pairwise(repeated)
    assert pairwise_counts(votes, weights=weights).tolist() == expected
    assert kemeny_score(votes[0], votes, weights=weights) == kemeny_score(votes[0], repeated)


def test_large_weights_do_not_wrap():
    counts = pairwise_counts([[0, 1], [1, 0]], weights=[2**31 - 2, 1])
    assert counts.tolist() == [[0, 2**31 - 2], [1, 0]]


@pytest.mark.parametrize("function", [pairwise_counts, lambda r, w: kemeny_score([0, 1], r, w)])
def test_weights_that_sum_too_high_are_refused(function):
    with pytest.raises(ValueError, match=r"weights sum to 4294967294; at most 2147483647"):
        function([[0, 1], [1, 0]], [2**31 - 1] * 2)


@given(sizes, st.randoms())
def test_the_score_is_the_mean_distance_over_n(size, random):
    votes = profile(*size, random)
    n, m = size
    center = random.sample(range(n), n)
    total = sum(reference.kendall(center, r) for r in votes)
    assert kemeny_score(center, votes) == total / (m * n)


def test_the_score_judges_one_ranking():
    with pytest.raises(ValueError, match="consensus must be one ranking, not 2"):
        kemeny_score([[0, 1], [1, 0]], [[0, 1]])


def test_the_score_refuses_other_items():
    with pytest.raises(ValueError, match="label their items differently"):
        kemeny_score(Rankings([[0, 1]], "ab"), Rankings([[0, 1]], "ax"))
    with pytest.raises(
        ValueError, match=r"3 items cannot be compared with rankings of 2|2 .* of 3"
    ):
        kemeny_score([0, 1], [[0, 1, 2]])


@pytest.mark.parametrize(
    "function", [pairwise_counts, lambda r, w=None: kemeny_score([0, 1], r, w)]
)
def test_no_rankings_are_refused(function):
    with pytest.raises(ValueError, match="no rankings: at least one row"):
        function(np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match="no rankings: at least one row with a weight above 0"):
        function([[0, 1]], [0])
