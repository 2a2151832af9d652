"""The Mallows model: sampling, probabilities, expectations and the fit (M3, M4, M15)."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import chisquare, kstest

from fedrank import Mallows, Rankings, kendall_distance, lehmer_encode
from helpers import reference
from helpers.exact import (
    exact_distance,
    exact_log_partition,
    exact_phi,
    exact_ranks,
    exact_variance,
)

PHIS = [1e-9, 1e-6, 0.1, 0.5, 0.6, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9]
SIZES = [1, 2, 3, 5, 6, 20, 978]


def p_value(draws, probabilities):
    """Chi-square over all rankings; those expected under 5 times are thrown together."""
    powers = 10 ** np.arange(draws.shape[1])
    keys = [int(np.dot(ranking, powers)) for ranking in probabilities]
    found = np.bincount(draws @ powers, minlength=max(keys) + 1)
    observed = found[keys]
    assert observed.sum() == len(draws)
    expected = len(draws) * np.array(list(probabilities.values()))
    rare = expected < 5
    if rare.any():
        rare |= expected <= np.sort(expected)[rare.sum()]  # one more, so that the sum is not tiny
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return chisquare(observed, expected).pvalue


# --- Sampling ---


@pytest.mark.parametrize("center", [(2, 0, 3, 1), (1, 4, 2, 0, 3), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("phi", [0.05, 0.3, 0.6, 0.9, 0.999, 1.0])
def test_samples_have_the_right_frequencies(phi, center):
    draws = Mallows(phi, center=center).sample(200_000, rng=11).ranks
    assert p_value(draws, reference.mallows(phi, center)) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9, 0.99, 1.0])
def test_samples_have_the_right_frequencies_in_ten_million(phi):
    center = (3, 1, 5, 0, 2, 4)
    draws = Mallows(phi, center=center).sample(10_000_000, rng=16).ranks
    assert p_value(draws, reference.mallows(phi, center)) > 1e-4


@pytest.mark.parametrize("center", [(2, 0, 3, 1), (1, 4, 2, 0, 3)])
def test_phi_0_always_gives_the_center(center):
    assert (Mallows(0, center=center).sample(1000, rng=1).ranks == center).all()


@pytest.mark.parametrize("phi", [0.3, 0.9, 0.99, 0.9999, 1 - 1e-9, 1.0])
def test_digits_of_large_samples_are_truncated_geometric(phi):
    digits = lehmer_encode(Mallows(phi, n=1500).sample(3000, rng=2))
    for i in (1, 2, 7, 62, 63, 64, 255, 256, 257, 1000, 1499):
        weight = phi ** np.arange(i + 1.0)
        cdf = np.cumsum(weight) / weight.sum()
        # Equal parts of probability, as far as the digit is fine enough.
        edges = np.unique(np.searchsorted(cdf, np.linspace(0, 1, 21)[1:-1]))
        edges = edges[cdf[edges] < 1 - 5 / 3000]
        if len(edges) == 0:
            continue
        parts = np.diff(np.concatenate([[0], cdf[edges], [1]]))
        found = np.bincount(np.searchsorted(edges, digits[:, i]), minlength=len(parts))
        assert chisquare(found, 3000 * parts).pvalue > 1e-5, i


@pytest.mark.parametrize("phi", [1e-9, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999, 1 - 1e-6, 1.0])
def test_mean_distance_of_large_samples_is_the_closed_form(phi):
    n, m = 1500, 2000
    center = np.random.default_rng(3).permutation(n)
    model = Mallows(phi, center=center)
    draws = model.sample(m, rng=4)
    distances = kendall_distance(draws, center)
    if phi == 1:
        mean, variance = n * (n - 1) / 4, n * (n - 1) * (2 * n + 5) / 72
    else:
        mean, variance = float(exact_distance(phi, n)), float(exact_variance(phi, n))
    assert abs(distances.mean() - mean) < 5 * math.sqrt(variance / m) + 1e-9
    if variance > 1:
        assert distances.var() == pytest.approx(variance, rel=0.2)


@pytest.mark.parametrize("phi", [0.1, 0.6, 0.99, 0.999, 1.0])
def test_mean_positions_of_large_samples_are_the_expected_ranks(phi):
    n, m = 1500, 2000
    center = np.random.default_rng(5).permutation(n)
    draws = Mallows(phi, center=center).sample(m, rng=6).ranks
    by_place = [(n - 1) / 2] * n if phi == 1 else [float(e) for e in exact_ranks(phi, n)]
    expected = np.array(by_place)[center]
    error = draws.std(axis=0) / math.sqrt(m)
    assert (np.abs(draws.mean(axis=0) - expected) < 5.5 * error + 1e-9).all()


def test_positions_at_phi_1_are_uniform_at_large_n():
    n = 20_000
    draws = Mallows(1, n=n).sample(400, rng=7).ranks
    for item in (0, 1, n // 2, n - 1):
        assert kstest((draws[:, item] + 0.5) / n, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("n", [1, 2, 17, 64, 65, 300, 5000])
def test_every_draw_is_a_ranking(phi, n):
    draws = Mallows(phi, n=n).sample(20, rng=8).ranks
    assert draws.shape == (20, n)
    assert (np.sort(draws, axis=1) == np.arange(n)).all()


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.97, 1.0])
def test_a_draw_does_not_depend_on_how_many_are_drawn(phi):
    model = Mallows(phi, n=100)
    many = model.sample(300, rng=9)
    for size in (0, 1, 2, 63, 299):
        assert model.sample(size, rng=9) == many[:size]


@given(st.floats(0, 1), st.integers(1, 30), st.integers(0, 2**64))
def test_the_same_rng_gives_the_same_sample(phi, n, seed):
    model = Mallows(phi, n=n)
    assert model.sample(5, rng=seed) == model.sample(5, rng=np.random.default_rng(seed))


def test_other_seeds_and_fresh_randomness_give_other_samples():
    model = Mallows(0.9, n=50)
    assert model.sample(5, rng=1) != model.sample(5, rng=2)
    assert model.sample(5) != model.sample(5)


def test_a_generator_moves_on_between_calls():
    rng = np.random.default_rng(1)
    model = Mallows(0.9, n=50)
    assert model.sample(5, rng) != model.sample(5, rng)


@given(st.floats(0, 1), st.permutations(range(12)), st.permutations(range(12)))
def test_the_center_only_relabels_the_draws(phi, center, labels):
    plain = Mallows(phi, center=center).sample(4, rng=1).ranks
    relabelled = Mallows(phi, center=np.array(center)[labels]).sample(4, rng=1).ranks
    np.testing.assert_array_equal(relabelled, plain[:, labels])


def test_draws_carry_the_labels_of_the_center():
    model = Mallows(0.5, center=Rankings([[1, 0, 2]], items="xyz"))
    assert model.sample(2, rng=0).items == ("x", "y", "z")
    assert model.sample(0).n == 3
    assert len(model.sample(0)) == 0


# --- Probabilities ---


@pytest.mark.parametrize("phi", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_probabilities_by_enumeration(phi, n):
    center = np.random.default_rng(n).permutation(n).tolist()
    expected = reference.mallows(phi, center)
    found = np.exp(Mallows(phi, center=center).log_prob(list(expected)))
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-12)


def test_phi_0_leaves_no_probability_beside_the_center():
    log_prob = Mallows(0, n=3).log_prob([[0, 1, 2], [0, 2, 1]])
    assert log_prob.tolist() == [0, -math.inf]


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n", [1, 2, 20, 978])
def test_log_prob_against_mpmath(phi, n):
    ranking = np.roll(np.arange(n), n // 3)
    with mp.workdps(60):
        distance = (n // 3) * (n - n // 3)
        expected = float(distance * mp.log(mpf(phi)) - exact_log_partition(phi, n))
    assert Mallows(phi, n=n).log_prob([ranking])[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("phi", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_log_partition_by_enumeration(phi, n):
    total = sum(phi ** sum(reference.encode(r)) for r in permutations(range(n)))
    assert Mallows(phi, n=n).log_partition == pytest.approx(math.log(total), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n", SIZES)
def test_log_partition_against_mpmath(phi, n):
    expected = float(exact_log_partition(phi, n))
    assert Mallows(phi, n=n).log_partition == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("n", [1, 2, 20, 978])
def test_log_partition_at_phi_1_is_log_factorial(n):
    expected = float(mp.log(mp.factorial(n)))
    assert Mallows(1, n=n).log_partition == pytest.approx(expected, rel=1e-13)


# --- Expectations ---


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n", SIZES)
def test_expected_ranks_against_mpmath(phi, n):
    found = Mallows(phi, n=n).expected_ranks()
    for got, expected in zip(found.tolist(), exact_ranks(phi, n), strict=True):
        assert abs(mpf(got) - expected) <= 1e-12 * abs(expected) + mpf(10) ** -50


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n", SIZES)
def test_expected_ranks_increase_strictly(phi, n):
    assert (np.diff(Mallows(phi, n=n).expected_ranks()) > 0).all()


@given(st.floats(1e-9, 1 - 1e-9), st.integers(2, 200))
def test_expected_ranks_are_right_for_any_phi(phi, n):
    found = Mallows(phi, n=n).expected_ranks()
    assert (np.diff(found) > 0).all()
    exact = exact_ranks(phi, n)
    for i in (0, 1, n // 2, n - 1):
        assert abs(mpf(float(found[i])) - exact[i]) <= 1e-12 * exact[i]


@given(st.floats(1e-9, 1 - 1e-9), st.integers(2, 200))
def test_expected_ranks_are_spaced_as_lemma_2_says(phi, n):
    spacing = np.diff(Mallows(phi, n=n).expected_ranks())
    assert (spacing >= (1 - phi) / (1 + phi) - 1e-12 * n).all()


@given(st.floats(0, 1), st.integers(1, 200))
def test_expected_ranks_mirror_about_the_middle(phi, n):
    found = Mallows(phi, n=n).expected_ranks()
    np.testing.assert_allclose(found + found[::-1], n - 1, rtol=1e-12)


@pytest.mark.parametrize("phi", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_expected_ranks_by_enumeration_around_any_center(phi, n):
    center = np.random.default_rng(10 + n).permutation(n).tolist()
    probabilities = reference.mallows(phi, center)
    expected = [sum(p * r[i] for r, p in probabilities.items()) for i in range(n)]
    found = Mallows(phi, center=center).expected_ranks()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("n", [1, 2, 5, 978])
def test_expected_ranks_at_the_ends(n):
    assert Mallows(0, n=n).expected_ranks().tolist() == list(range(n))
    assert Mallows(1, n=n).expected_ranks().tolist() == [(n - 1) / 2] * n


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("phi", [0.0, 0.1, 0.9, 1.0])
def test_expected_distance_by_enumeration(phi, n):
    probabilities = reference.mallows(phi, range(n))
    expected = sum(p * reference.kendall(r, range(n)) for r, p in probabilities.items())
    assert Mallows(phi, n=n).expected_distance() == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n", SIZES)
def test_expected_distance_against_mpmath(phi, n):
    expected = float(exact_distance(phi, n))
    assert Mallows(phi, n=n).expected_distance() == pytest.approx(expected, rel=1e-12, abs=0)


def test_expected_distance_at_phi_1_is_half_the_pairs():
    assert Mallows(1, n=978).expected_distance() == pytest.approx(978 * 977 / 4, rel=1e-15)


# --- The fit ---


@pytest.mark.parametrize("phi", [0.05, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("n", [10, 100])
def test_the_fit_recovers_phi(phi, n):
    center = np.random.default_rng(n).permutation(n)
    sample = Mallows(phi, center=center).sample(3000, rng=12)
    fitted = Mallows.fit(sample, center=center)
    error = phi / math.sqrt(3000 * float(exact_variance(phi, n)))
    assert abs(fitted.phi - phi) < 4.5 * error
    assert fitted.center.tolist() == center.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_the_fit_is_the_root_of_the_likelihood_equation(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    sample = Mallows(rng.uniform(0.1, 0.95), n=n).sample(9, rng)
    distance = sum(reference.kendall(r, range(n)) for r in sample.ranks.tolist()) / 9
    fitted = Mallows.fit(sample, center=range(n)).phi
    if 0 < distance < n * (n - 1) / 4:
        assert fitted == pytest.approx(float(exact_phi(mpf(distance), n)), rel=1e-9)


def test_the_fit_maximises_the_likelihood():
    sample = Mallows(0.7, n=6).sample(40, rng=13)
    fitted = Mallows.fit(sample, center=range(6))
    likelihood = fitted.log_prob(sample).sum()
    for phi in (fitted.phi - 1e-4, fitted.phi + 1e-4):
        assert Mallows(phi, n=6).log_prob(sample).sum() < likelihood


def test_identical_rankings_fit_phi_0():
    fitted = Mallows.fit([[2, 0, 1]] * 5)
    assert fitted.phi == 0
    assert fitted.center.tolist() == [2, 0, 1]


def test_rankings_as_far_as_chance_or_farther_fit_phi_1():
    assert Mallows.fit(list(permutations(range(4))), center=range(4)).phi == 1
    assert Mallows.fit([[3, 2, 1, 0]], center=range(4)).phi == 1


def test_one_item_fits():
    assert 0 <= Mallows.fit([[0]]).phi <= 1


def test_weights_of_the_fit_are_repetitions():
    votes = Mallows(0.6, n=7).sample(6, rng=14).ranks.tolist()
    weights = [3, 0, 1, 2, 5, 1]
    for center in (range(7), "borda", "kemeny"):
        weighted = Mallows.fit(votes, center=center, weights=weights, rng=1)
        repeated = Mallows.fit(reference.repeat(votes, weights), center=center, rng=1)
        assert weighted.phi == repeated.phi
        assert weighted.center.tolist() == repeated.center.tolist()


def test_the_kemeny_center_is_the_likeliest():
    votes = [tuple(r) for r in Mallows(0.8, n=6).sample(15, rng=15).ranks.tolist()]
    _, optima = reference.kemeny(votes)
    fitted = Mallows.fit(votes, center="kemeny", rng=1)
    assert tuple(fitted.center.tolist()) in optima
    assert fitted.phi <= Mallows.fit(votes, rng=1).phi


def test_the_fit_keeps_labels_and_refuses_others():
    votes = Rankings([[0, 1, 2], [1, 0, 2]], items="abc")
    assert Mallows.fit(votes, rng=1).item_labels == ("a", "b", "c")
    with pytest.raises(ValueError, match="label their items differently"):
        Mallows.fit(votes, center=Rankings([[0, 1, 2]], items="abd"))


def test_the_fit_refuses_an_unknown_center():
    with pytest.raises(ValueError, match='center must be a ranking, "borda" or "kemeny", not'):
        Mallows.fit([[0, 1]], center="lehmer")


@pytest.mark.parametrize("center", [None, [0, 1]])
def test_the_fit_refuses_no_rankings(center):
    with pytest.raises(ValueError, match="no rankings"):
        Mallows.fit(np.empty((0, 2), dtype=int), center=center)
    with pytest.raises(ValueError, match="no rankings"):
        Mallows.fit([[0, 1]], center=center, weights=[0])


# --- Parameters ---


@pytest.mark.parametrize("phi", [-1e-9, 1 + 1e-9, 2, math.nan, math.inf, -math.inf])
def test_phi_outside_the_unit_interval_is_refused(phi):
    with pytest.raises(ValueError, match=rf"phi must be in \[0, 1\], not {phi}"):
        Mallows(phi, n=3)


def test_exactly_one_of_n_and_center_is_given():
    with pytest.raises(ValueError, match="exactly one of n and center"):
        Mallows(0.5)
    with pytest.raises(ValueError, match="exactly one of n and center"):
        Mallows(0.5, n=2, center=[0, 1])


@pytest.mark.parametrize("n", [0, -1])
def test_no_items_are_refused(n):
    with pytest.raises(ValueError, match=f"n must be a whole number of at least 1, not {n}"):
        Mallows(0.5, n=n)


def test_half_an_item_is_refused():
    with pytest.raises((ValueError, TypeError), match=r"2\.5|integer"):
        Mallows(0.5, n=2.5)


def test_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="size must be a whole number of at least 0, not -1"):
        Mallows(0.5, n=2).sample(-1)


def test_several_centers_are_refused():
    with pytest.raises(ValueError, match="center must be one ranking, not 2"):
        Mallows(0.5, center=[[0, 1], [1, 0]])


def test_a_center_that_is_no_ranking_is_refused():
    with pytest.raises(ValueError, match="look 1-based"):
        Mallows(0.5, center=[1, 2, 3])


def test_log_prob_refuses_other_items():
    with pytest.raises(ValueError, match="3 items cannot be compared with rankings of 2"):
        Mallows(0.5, n=2).log_prob([[0, 1, 2]])
    with pytest.raises(ValueError, match="label their items differently"):
        Mallows(0.5, center=Rankings([[0, 1]], "ab")).log_prob(Rankings([[0, 1]], "ba"))


def test_the_center_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        Mallows(0.5, n=3).center[0] = 1


def test_the_repr_says_phi_and_n():
    assert repr(Mallows(0.5, n=3)) == "Mallows(phi=0.5, n=3)"
