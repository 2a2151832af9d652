"""Spearman's footrule."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Rankings, footrule_distance, kendall_distance
from helpers import reference

rankings = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 3))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_equals_the_places_moved_for_all_pairs_of_rankings(n):
    everyone = list(permutations(range(n)))
    expected = [[reference.footrule(a, b) for b in everyone] for a in everyone]
    np.testing.assert_array_equal(footrule_distance(everyone, everyone), expected)


@given(rankings)
def test_is_a_metric(three):
    a, b, c = three
    assert footrule_distance(a, a) == 0
    assert footrule_distance(a, b) == footrule_distance(b, a)
    assert (footrule_distance(a, b) == 0) == (a == b)
    assert footrule_distance(a, c) <= footrule_distance(a, b) + footrule_distance(b, c)


@given(rankings)
def test_does_not_depend_on_the_labels(three):
    a, b, labels = (np.array(each) for each in three)
    assert footrule_distance(a[labels], b[labels]) == footrule_distance(a, b)


@given(rankings)
def test_is_between_once_and_twice_kendall(three):
    a, b, _ = three
    assert kendall_distance(a, b) <= footrule_distance(a, b) <= 2 * kendall_distance(a, b)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 5), st.randoms())
def test_rows_do_not_depend_on_each_other(n, m, k, random):
    a = [random.sample(range(n), n) for _ in range(m)]
    b = [random.sample(range(n), n) for _ in range(k)]
    matrix = footrule_distance(a, b)
    assert matrix.tolist() == [[footrule_distance(x, y) for y in b] for x in a]
    assert footrule_distance(a, b[0]).tolist() == matrix[:, 0].tolist()
    assert matrix.dtype == np.int64


def test_reversal_of_a_million_items():
    n = 10**6
    ranking = np.arange(n, dtype=np.int32)
    assert footrule_distance(ranking, ranking[::-1]) == n * n // 2


def test_rotation_of_a_million_items():
    n, shift = 10**6, 123_457
    ranking = np.arange(n)
    assert footrule_distance(np.roll(ranking, shift), ranking) == 2 * shift * (n - shift)


def test_labels_that_differ_are_refused():
    with pytest.raises(ValueError, match="label their items differently"):
        footrule_distance(Rankings([[0, 1]], "ab"), Rankings([[0, 1]], "ba"))
