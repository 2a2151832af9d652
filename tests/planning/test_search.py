"""The search for the least number of samples, against numbers that are known to be the least."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedrank as fr
from fedrank._progress import Progress
from fedrank.planning.goals import Recovery
from fedrank.planning.search import MAX_CALL_ENTRIES, Trials, find_least, separates


@given(st.integers(1, 127), st.integers(0, 126))
def test_search_finds_the_least(least, low):
    if low < least:
        assert find_least(lambda samples: samples >= least, low, 1000) == least


@given(st.integers(128, 100_000))
def test_search_is_a_64th_too_large_at_most(least):
    found = find_least(lambda samples: samples >= least, 0, 1 << 20)
    assert least <= found <= least * 64 / 63 + 1


def test_search_asks_no_number_above_the_limit():
    asked = []

    def never(samples):
        asked.append(samples)
        return False

    assert find_least(never, 0, 100) is None
    assert asked == [1, 2, 4, 8, 16, 32, 64, 100]


def test_search_ends_where_no_number_will_be_enough():
    asked = []

    def hopeless(samples):
        asked.append(samples)
        return None if samples >= 8 else False

    assert find_least(hopeless, 0, 1000) is None
    assert asked == [1, 2, 4, 8]


def trials(make, phi):
    return Trials(make, phi, Recovery(0.05), Progress("", None), np.random.default_rng(0))


def test_borda_needs_one_center_and_lehmer_several():
    # Borda does not depend on the numbering of the items; the digits of Lehmer codes do.
    assert list(trials(lambda _: fr.Borda(6, 3), 0.5).centers) == ["identity"]
    centers = trials(lambda _: fr.Lehmer(6, 3), 0.5).centers
    assert list(centers) == ["identity", "reverse", "random 1", "random 2", "random 3"]
    assert centers["reverse"].tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("samples", [1, 3])
def test_without_dispersion_every_trial_recovers_the_center(samples):
    measured = trials(lambda _: fr.Borda(6, 3, send="centroids", phi=0.0), 0.0)
    point = measured.try_out("identity", samples, measured.goal.looks)
    assert (point.samples, point.recovered, point.distance) == (samples, point.trials, 0.0)
    assert (point.enough, point.sure) == (True, True)
    assert measured.about("identity") == (point,)


def test_a_call_simulates_no_more_positions_than_it_may():
    measured = trials(lambda _: fr.Borda(64, 64), 0.5)
    samples = MAX_CALL_ENTRIES // (64 * 64 * 2)  # two trials fill a call
    assert len(measured.simulate(measured.make(1), "identity", samples, 5)) == 2


@pytest.mark.parametrize("phi", [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize(("n", "clients"), [(2, 1), (2, 3), (5, 2), (9, 10)])
def test_expected_means_separate_items_if_their_sums_differ(n, clients, phi):
    # The mean of very many rankings, as exact fractions of all permutations' weights.
    expected = [sum(phi**u * u for u in range(n)) / sum(phi**u for u in range(n))]
    assert fr.Mallows(phi, n=n).expected_ranks()[0] == pytest.approx(expected[0])
    expected = fr.Mallows(phi, n=n).expected_ranks().tolist()
    sums = [
        sum(int(4 * mean + (client + 0.5) / clients) for client in range(clients))
        for mean in expected
    ]
    told = separates(fr.Borda(n, clients), phi)
    assert not told or sorted(set(sums)) == sums
    exact = separates(fr.Borda(n, clients, send="sums", max_samples=9), phi)
    assert exact == all(b - a > 0.002 for a, b in pairwise(expected))
    # With the right phi every item has its own centroid.
    assert separates(fr.Borda(n, clients, send="centroids", phi=phi), phi)
    assert not separates(fr.Lehmer(n, clients), phi)
