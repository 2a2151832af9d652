"""The paper's algorithms against their definitions, and the names of the curves."""

import random

import pytest

from fedrank import federate
from fedrank.experiments import real, synthetic
from fedrank.experiments.algorithms import CURVES, algorithm_2, algorithm_3
from helpers import reference

CLIENTS, SAMPLES = 3, 5


def profile(seed, n, phi):
    """Rankings of each client, around one random center."""
    source = random.Random(seed)
    center = tuple(source.sample(range(n), n))
    return [[reference.sample(phi, center, source) for _ in range(SAMPLES)] for _ in range(CLIENTS)]


def only_result(rule):
    """The result of a rule that draws nothing by chance; None if its draws differ."""
    results = {tuple(rule(random.Random(seed))) for seed in range(20)}
    return results.pop() if len(results) == 1 else None


def agree(scheme, parts, rule):
    """Whether the rule leaves nothing to chance; the scheme must then give its result."""
    expected = only_result(rule)
    if expected is None:
        return False
    for secure in (True, False):
        found = federate(parts, scheme, secure=secure, rng=1).ranks
        assert tuple(found.tolist()) == expected
    return True


@pytest.mark.parametrize("phi", [0.1, 0.4, 0.6])
def test_algorithm_2_is_borda_of_the_nearest_expected_positions(phi):
    scheme = algorithm_2(6, CLIENTS, phi)
    compared = 0
    for seed in range(60):
        parts = profile(seed, 6, 0.5)
        compared += agree(
            scheme, parts, lambda source, parts=parts: reference.federated_borda(parts, phi, source)
        )
    assert compared >= 5


@pytest.mark.parametrize(("n", "phi"), [(6, 0.3), (40, 0.05), (40, 0.1)])
def test_algorithm_3_is_lehmer_by_the_papers_low_bits_and_decoding(n, phi):
    scheme = algorithm_3(n, CLIENTS, phi, max_samples=SAMPLES)
    assert scheme.low_bits == reference.paper_low_bits(phi, n, CLIENTS * SAMPLES)
    compared = 0
    for seed in range(20):
        parts = profile(seed, n, phi)
        compared += agree(
            scheme,
            parts,
            lambda source, parts=parts: reference.federated_lehmer(
                parts, scheme.low_bits, "paper", source
            ),
        )
    assert compared >= 5


def test_high_parts_are_sent_where_the_low_bits_do_not_hold_a_digit():
    # Otherwise the test above would compare one-hot parts only.
    assert 2 ** algorithm_3(40, CLIENTS, 0.1, max_samples=SAMPLES).low_bits < 40


def test_every_rule_of_the_panels_has_a_name_in_the_legend():
    rules = {*real.RULES, *synthetic.rules_of(10, 0.5, clients=10, samples=10)}
    assert rules == CURVES.keys()
    assert len(set(CURVES.values())) == len(rules)
