"""What sums reveal beyond what they are for: facts that the documentation states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank.schemes import Refine
from helpers import reference
from helpers.strategies import profiles


def far_pairs(order, window):
    return [(a, b) for i, a in enumerate(order) for b in order[i + window + 1 :]]


@given(profiles(6, 6).filter(lambda rows: len(rows[0]) > 2), st.integers(1, 3))
def test_the_sum_of_distances_tells_the_sum_of_the_margins_that_are_not_asked(ranks, window):
    n = len(ranks[0])
    order = list(range(n))
    unasked = far_pairs(order, window)
    if not unasked:
        return
    scheme = Refine(order, 1, window, counts=True, max_samples=9)
    *margins, distances, samples = scheme.encode(ranks, client=0).tolist()
    modulus = 2 ** scheme.segments[0].bits
    signed = [m - modulus if m >= modulus // 2 else m for m in margins]
    against = sum((samples - m) // 2 for m in signed)  # on the pairs that are asked
    left = len(unasked) * samples - 2 * (distances - against)
    assert left == sum(reference.margin(ranks, a, b) for a, b in unasked)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_if_one_pair_is_left_out_its_margin_is_told(n):
    ranks = np.random.default_rng(n).permuted(np.tile(np.arange(n), (5, 1)), axis=1).tolist()
    assert far_pairs(list(range(n)), n - 2) == [(0, n - 1)]
    scheme = Refine(range(n), 1, n - 2, counts=True, max_samples=9)
    *margins, distances, samples = scheme.encode(ranks, client=0).tolist()
    modulus = 2 ** scheme.segments[0].bits
    signed = [m - modulus if m >= modulus // 2 else m for m in margins]
    told = samples - 2 * (distances - sum((samples - m) // 2 for m in signed))
    assert told == reference.margin(ranks, 0, n - 1)
