"""The reference is right where it can be counted by hand."""

import math
import random
from itertools import permutations

import pytest

from helpers import reference


def test_reference_codes_are_bijective():
    codes = {reference.encode(r) for r in permutations(range(5))}
    assert len(codes) == 120
    assert all(reference.decode(reference.encode(r)) == r for r in permutations(range(5)))


def test_reference_counts_by_hand():
    assert reference.kendall((0, 1, 2), (2, 0, 1)) == 2
    assert reference.footrule((0, 1, 2), (2, 0, 1)) == 4
    assert reference.encode((2, 0, 1)) == (0, 1, 1)
    assert reference.inverse((2, 0, 1)) == (1, 2, 0)
    # A Condorcet cycle: each order breaks one majority of 2 : 1, so 1 + 1 + 2.
    assert reference.kemeny([(0, 1, 2), (2, 0, 1), (1, 2, 0)])[0] == 4


def test_reference_sampler_has_the_reference_probabilities():
    generator = random.Random(5)
    center = (1, 2, 0)
    draws = [reference.sample(0.5, center, generator) for _ in range(20_000)]
    for ranking, p in reference.mallows(0.5, center).items():
        spread = math.sqrt(20_000 * p * (1 - p))
        assert draws.count(ranking) == pytest.approx(20_000 * p, abs=4.5 * spread)
