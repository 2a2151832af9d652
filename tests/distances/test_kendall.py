"""Kendall's distance (M1)."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from fedrank import Rankings, kendall_distance
from helpers import reference

rankings = st.integers(1, 30).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 3))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_equals_the_count_of_discordant_pairs_for_all_pairs_of_rankings(n):
    everyone = list(permutations(range(n)))
    expected = [[reference.kendall(a, b) for b in everyone] for a in everyone]
    np.testing.assert_array_equal(kendall_distance(everyone, everyone), expected)


def test_equals_the_count_for_every_ranking_of_seven():
    everyone = list(permutations(range(7)))
    b = (3, 0, 6, 2, 5, 1, 4)
    expected = [reference.kendall(a, b) for a in everyone]
    np.testing.assert_array_equal(kendall_distance(everyone, b), expected)


@given(rankings)
def test_is_a_metric(three):
    a, b, c = three
    assert kendall_distance(a, a) == 0
    assert kendall_distance(a, b) == kendall_distance(b, a)
    assert (kendall_distance(a, b) == 0) == (a == b)
    assert kendall_distance(a, c) <= kendall_distance(a, b) + kendall_distance(b, c)


@given(rankings)
def test_does_not_depend_on_the_labels(three):
    a, b, labels = (np.array(each) for each in three)
    assert kendall_distance(a[labels], b[labels]) == kendall_distance(a, b)


# Sizes on both sides of word and block boundaries, and of where the algorithm may change.
@pytest.mark.parametrize(
    "n",
    [2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 978, 4095, 4096, 4097,
     8191, 8192, 8193, 16384, 20000, 32768, 65535, 65536, 65537],
)  # fmt: skip
def test_agrees_with_scipy(n):
    rng = np.random.default_rng(n)
    a = rng.permutation(n)
    near = a.copy()
    near[: n // 2] = a[: n // 2][::-1]
    for b in (rng.permutation(n), near):
        tau = kendalltau(a, b).statistic
        pairs = n * (n - 1) // 2
        assert kendall_distance(a, b) == round((1 - tau) / 2 * pairs)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 5), st.randoms())
def test_rows_do_not_depend_on_each_other(n, m, k, random):
    a = [random.sample(range(n), n) for _ in range(m)]
    b = [random.sample(range(n), n) for _ in range(k)]
    matrix = kendall_distance(a, b)
    assert matrix.shape == (m, k)
    assert matrix.tolist() == [[kendall_distance(x, y) for y in b] for x in a]
    assert kendall_distance(a, b[0]).tolist() == matrix[:, 0].tolist()
    assert kendall_distance(a[0], b).tolist() == matrix[0].tolist()


def test_the_shape_follows_the_inputs():
    one, many = [0, 1, 2], [[0, 1, 2], [2, 1, 0]]
    assert type(kendall_distance(one, one)) is int
    assert kendall_distance(many, one).shape == (2,)
    assert kendall_distance(one, many).shape == (2,)
    assert kendall_distance(many, many).shape == (2, 2)
    assert kendall_distance(Rankings(one), one).shape == (1,)
    assert kendall_distance(many, one).dtype == np.int64


def test_reversal_of_a_million_items_turns_every_pair():
    n = 10**6
    ranking = np.arange(n, dtype=np.int32)
    assert kendall_distance(ranking, ranking[::-1]) == n * (n - 1) // 2


def test_rotation_of_a_million_items_turns_the_pairs_across_the_cut():
    n, shift = 10**6, 123_457
    ranking = np.arange(n, dtype=np.int32)
    assert kendall_distance(np.roll(ranking, shift), ranking) == shift * (n - shift)


@pytest.mark.parametrize("n", [50_000, 65_536, 65_537, 100_000])
def test_reversal_and_rotation_at_large_n(n):
    # 50 000 · 49 999 / 2 is near 2^30, the others are beyond 2^31.
    ranking = np.arange(n)
    assert kendall_distance(ranking, ranking[::-1]) == n * (n - 1) // 2
    assert kendall_distance(np.roll(ranking, n // 3), ranking) == (n // 3) * (n - n // 3)


def test_rankings_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match=r"rankings of 2 items cannot be compared with .* of 3"):
        kendall_distance([0, 1], [0, 1, 2])


def test_labels_that_differ_are_refused():
    with pytest.raises(ValueError, match="label their items differently: item 0 is 'a' in one"):
        kendall_distance(Rankings([[0, 1]], "ab"), Rankings([[0, 1]], "ba"))


def test_labels_that_run_on_are_refused():
    with pytest.raises(ValueError, match=r"label|items"):
        kendall_distance(Rankings([[0, 1]], "ab"), Rankings([[0, 1, 2]], "abc"))
