"""Federated dispersion: sums of distances and sample sizes, and the phi they give."""

import json

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import (
    Lehmer,
    Mallows,
    aggregate,
    federate,
    kemeny_score,
    kendall_distance,
)
from fedrank.schemes import Dispersion, Refine
from fedrank.schemes import from_json as scheme_from_json
from helpers import realdata, reference


def hospitals(n=20, clients=5, samples=9, phi=0.8, seed=0):
    model, rng = Mallows(phi, n=n), np.random.default_rng(seed)
    return [model.sample(int(rng.integers(1, samples + 1)), rng) for _ in range(clients)]


# Messages


@st.composite
def profiles(draw):
    n = draw(st.integers(1, 5))
    ranking = st.permutations(range(n))
    return draw(st.lists(ranking, min_size=1, max_size=5)), draw(ranking)


@given(profiles(), st.integers(1, 50), st.integers(5, 1000))
def test_a_message_is_the_sum_of_distances_and_the_number_of_rankings(profile, clients, most):
    rankings, announced = profile
    n = len(announced)
    scheme = Dispersion(announced, clients, max_samples=most)
    distance = sum(reference.kendall(announced, r) for r in rankings)
    assert scheme.encode(rankings, client=0).tolist() == [distance] * (n > 1) + [len(rankings)]
    widths = [reference.bits_for(clients * most * n * (n - 1) // 2)] * (n > 1)
    assert [s.bits for s in scheme.segments] == [*widths, reference.bits_for(clients * most)]


@given(profiles())
def test_the_fit_is_that_of_the_model_with_this_center(profile):
    rankings, announced = profile
    scheme = Dispersion(announced, 1, max_samples=99)
    fit = scheme.decode(scheme.encode(rankings, client=0), 1)
    distances = [reference.kendall(announced, r) for r in rankings]
    assert fit.mean_distance == pytest.approx(np.mean(distances))
    assert fit.samples == len(rankings)
    assert fit.phi == pytest.approx(reference.fit_phi(np.mean(distances), len(announced)))
    assert fit.phi == Mallows.fit(rankings, center=announced).phi


# The standard error


@pytest.mark.parametrize("phi", [1e-6, 0.2, 0.6, 0.97, 0.9999, 1.0])
def test_the_standard_error_is_that_of_the_enumerated_model(phi):
    n, samples = 6, 10**9
    mean, variance = reference.distance_moments(phi, n)
    total = [round(mean * samples), samples]
    fit = Dispersion(range(n), 1, max_samples=samples).decode(total, 1)
    assert fit.phi == pytest.approx(phi, rel=2e-3)
    variance = reference.distance_moments(fit.phi, n)[1]
    assert fit.standard_error == pytest.approx(fit.phi / np.sqrt(samples * variance), rel=1e-9)


@pytest.mark.parametrize("n", [2, 50, 978])
@pytest.mark.parametrize("phi", ["0.01", "0.5", "0.99", "0.9995", "0.99999999"])
def test_the_standard_error_near_one_keeps_its_digits(n, phi):
    mpmath.mp.dps = 60
    phi = mpmath.mpf(phi)

    def drop(i, power):
        # Mean and variance of one digit, as differences of terms that nearly cancel (M15).
        def term(t):
            return t**power * phi**t / (1 - phi**t) ** power

        return term(mpmath.mpf(1)) - term(mpmath.mpf(i))

    mean = sum(drop(i, 1) for i in range(1, n + 1))
    samples = 2**40
    fit = Dispersion(range(n), 1, max_samples=samples).decode([int(mean * samples), samples], 1)
    if not 0 < fit.phi < 1:
        pytest.skip("the root is at the end of the range")
    phi = mpmath.mpf(fit.phi)
    variance = sum(drop(i, 2) for i in range(1, n + 1))
    expected = phi / mpmath.sqrt(samples * variance)
    assert fit.standard_error == pytest.approx(float(expected), rel=1e-11)


def test_estimates_scatter_as_the_standard_error_says():
    n, samples, phi = 30, 60, 0.7
    scheme, model = Dispersion(range(n), 1, max_samples=99), Mallows(phi, n=n)
    draws = [model.sample(samples, rng=seed) for seed in range(400)]
    fits = [scheme.decode(scheme.encode(draw, client=0), 1) for draw in draws]
    scaled = [(fit.phi - phi) / fit.standard_error for fit in fits]
    # Of 400 standard normal numbers: mean 0 ± 0.05, deviation 1 ± 0.035.
    assert abs(np.mean(scaled)) < 0.2
    assert np.std(scaled) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize(
    ("total", "phi"), [([0, 5], 0.0), ([50, 10], 1.0), ([100, 10], 1.0), ([99, 10], 1.0)]
)
def test_the_ends_of_the_range(total, phi):
    fit = Dispersion(range(5), 1, max_samples=10).decode(total, 1)
    assert fit.phi == phi
    assert np.isfinite(fit.standard_error)
    alone = Dispersion([0], 2, max_samples=10).decode([7], 1)
    assert (alone.phi, alone.standard_error, alone.mean_distance) == (0.0, 0.0, 0.0)


# What is refused


@pytest.mark.parametrize(
    ("total", "survivors", "named"),
    [
        ([1], 2, "1 entries; the scheme's messages have 2"),
        ([1, 2, 3], 2, "3 entries; the scheme's messages have 2"),
        ([1, 1], 2, "2 clients with 1 to 10 rankings each cannot hold 1"),
        ([1, 21], 2, "2 clients with 1 to 10 rankings each cannot hold 21"),
        ([13, 4], 2, "4 rankings cannot have a total distance of 13"),
        ([1, 4], 4, "survivors"),
        ([-1, 4], 2, "negative"),
    ],
)
def test_impossible_totals_are_refused(total, survivors, named):
    with pytest.raises(ValueError, match=named):
        Dispersion([0, 1, 2], 3, max_samples=10).decode(total, survivors)


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        (([0, 0], 3), {}, "not a ranking"),
        (([[0, 1], [1, 0]], 3), {}, "one ranking"),
        (([0, 1], 0), {}, "clients"),
        (([0, 1], 3), {"max_samples": 0}, "max_samples"),
        (([0, 1], 3), {"max_samples": None}, "max_samples"),
        ((range(100_000), 2**20), {"max_samples": 2**40}, "max_samples is too large"),
    ],
)
def test_bad_parameters_are_refused_and_named(arguments, options, named):
    with pytest.raises(ValueError, match=named):
        Dispersion(*arguments, **({"max_samples": 9} | options))


def test_json_gives_the_scheme_back():
    scheme = Dispersion([2, 0, 1], 5, max_samples=40)
    assert scheme_from_json(scheme.to_json()) == scheme
    assert json.loads(scheme.to_json()) == {
        "scheme": "dispersion",
        "ranks": [2, 0, 1],
        "clients": 5,
        "max_samples": 40,
    }
    assert len(repr(Dispersion(range(5000), 5, max_samples=99))) < 100


def test_it_finds_no_consensus_and_is_refused_as_one():
    with pytest.raises(ValueError, match="method must be"):
        federate([[[0, 1]]] * 3, Dispersion([0, 1], 3, max_samples=99))


# In a study


def schemes(clients):
    return {
        "borda": ("borda", {}),
        "borda, exact": ("borda", {"send": "sums", "max_samples": 9}),
        "lehmer": (Lehmer(20, 5, low_bits=2, max_samples=9), {}),
        "refine": (Refine(aggregate(np.vstack(clients), rng=0), 5, 3, max_samples=99), {}),
        "kemeny": ("kemeny", {"window": 2, "rounds": 3, "max_samples": 9}),
        "kemeny, majority": ("kemeny", {"majority": True}),
    }


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize("kind", schemes(hospitals()))
def test_phi_comes_with_any_scheme(kind, secure):
    clients = hospitals()
    scheme, options = schemes(clients)[kind]
    result = federate(clients, scheme, secure=secure, fit_phi=True, rng=0, **options)
    everyone = np.vstack(clients)
    found = result
    assert result.fit.phi == Mallows.fit(everyone, center=found).phi
    assert result.fit.samples == len(everyone)
    assert result.fit.mean_distance == pytest.approx(kendall_distance(everyone, found).mean())
    assert found.objective == pytest.approx(kemeny_score(found, everyone), rel=1e-12)
    assert result.rounds[-1].scheme.kind == "dispersion"
    # The consensus is what it is without.
    alone = federate(clients, scheme, secure=secure, rng=0, **options)
    assert found.ranks.tolist() == alone.ranks.tolist()
    assert alone.fit is None


def test_phi_is_of_the_survivors_only():
    clients = hospitals(clients=7)
    result = federate(clients, dropouts=[1, 4], fit_phi=True, rng=0)
    left = np.vstack([c for i, c in enumerate(clients) if i not in (1, 4)])
    assert result.fit.samples == len(left)
    assert result.fit.phi == Mallows.fit(left, center=result).phi


@pytest.mark.parametrize("secure", [True, False])
def test_other_survivors_leave_phi_out(secure):
    clients = hospitals(clients=7)
    result = federate(clients, secure=secure, dropouts={2: (1, "mask")}, fit_phi=True, rng=0)
    assert result.fit is None
    assert "round 1 (dispersion) was not opened" in result.note
    assert result.objective is None
    refined = federate(
        clients, "kemeny", secure=secure, dropouts={2: (1, "mask")}, fit_phi=True, window=2, rng=0
    )
    assert refined.fit is None
    assert "round 1 (refine)" in refined.note
    assert len(refined.rounds) == 2


def test_too_many_rankings_are_refused_before_the_first_round():
    with pytest.raises(ValueError, match="client 2: 10 rankings"):
        federate([[[0, 1]], [[0, 1]], [[0, 1]] * 10], fit_phi=True, max_samples=9)
    with pytest.raises(ValueError, match="fit_phi must be True or False"):
        federate([[[0, 1]]] * 3, fit_phi="yes")


def test_phi_of_luad():
    result = federate(realdata.luad().split(10, rng=0), secure=False, fit_phi=True, rng=0)
    assert result.fit.phi == pytest.approx(0.988, abs=5e-4)


def test_phi_of_jester():
    result = federate(realdata.jester().split(50, rng=0), secure=False, fit_phi=True, rng=0)
    assert result.fit.phi == pytest.approx(0.980, abs=5e-4)
