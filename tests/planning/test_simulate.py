"""Simulated errors of schemes and methods."""

import math

import pytest

import fedrank as fr
from fedrank.planning.simulate import simulate


@pytest.mark.parametrize(
    ("low_bits", "expected"), [("full", 1.68), (4, 1.60), (2, 1.88), (0, 0.68), ("borda", 0.04)]
)
def test_simulated_errors_are_those_of_the_method(low_bits, expected):
    # n = 20, phi = 0.5, 10 clients of 20 samples: M8's table, which is of few repetitions
    # about one center; means about different centers differ by a tenth, and more at I = 2.
    if low_bits == "borda":
        rule = fr.Borda(20, 10, send="centroids", phi=0.6)
    else:
        rule = fr.Lehmer(20, 10, phi=0.5, low_bits=5 if low_bits == "full" else low_bits)
    found = simulate([rule], phi=0.5, n=20, clients=10, samples=20, repetitions=2000, rng=1)
    error = found.std() / math.sqrt(len(found))
    assert found.mean() == pytest.approx(expected, abs=5 * error + 0.15 * expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 5, "center": [0, 1]}, "exactly one of n and center"),
        ({"n": None}, "exactly one of n and center"),
        ({"rules": ["pivot"]}, "rules must be .* not 'pivot'"),
        ({"rules": []}, "rules must not be empty"),
        ({"clients": 0}, "clients must be"),
        ({"samples": 0}, "samples must be"),
        ({"repetitions": 0}, "repetitions must be"),
        ({"phi": 1.5}, "phi must be"),
        ({"rules": [fr.Borda(4, 2)]}, "items"),
        ({"rules": [fr.Borda(5, 1)]}, "clients"),
        ({"n": None, "center": [[0, 1], [1, 0]]}, "center must be one ranking"),
    ],
)
def test_bad_settings_are_refused(change, message):
    given = {"rules": ["borda"], "phi": 0.5, "n": 5, "clients": 2, "samples": 3, "repetitions": 4}
    with pytest.raises(ValueError, match=message):
        simulate(**(given | change))


def test_rules_keep_their_columns_and_one_seed_gives_one_result():
    rules = ["kemeny", fr.Borda(6, 3), "borda", fr.Lehmer(6, 3)]
    given = {"n": 6, "clients": 3, "samples": 5, "repetitions": 400}
    first = simulate(rules, phi=0.9, rng=4, **given)
    assert (first == simulate(rules, phi=0.9, rng=4, **given)).all()
    turned = simulate(rules[::-1], phi=0.9, rng=4, **given)[:, ::-1]
    assert abs(first.mean(axis=0) - turned.mean(axis=0)).max() < 1
    assert first[:, 3].mean() > first[:, 0].mean()  # Lehmer's digits are worse than Kemeny


def test_without_dispersion_nothing_is_wrong():
    rules = [fr.Borda(7, 2, send="centroids", phi=0), fr.Lehmer(7, 2), "borda", "lehmer", "kemeny"]
    assert not simulate(rules, phi=0, n=7, clients=2, samples=2, repetitions=20, rng=0).any()
