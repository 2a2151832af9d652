"""The planner against slow simulation, and its search and intervals against their definitions."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedrank as fr
import reference
from fedrank.planning import LOOKS, Nearness, Recovery, chance, plan, search


def slowly(phi, n, clients, samples, trials, rule, seed):
    """Distances of trials that are drawn and computed by the definitions."""
    source = random.Random(seed)
    truth = tuple(range(n))
    found = []
    for _ in range(trials):
        parts = [
            [reference.sample(phi, truth, source) for _ in range(samples)] for _ in range(clients)
        ]
        found.append(reference.kendall(rule(parts, source), truth))
    return np.array(found)


def test_borda_plan_is_where_slow_simulation_crosses():
    found = plan("borda", n=5, phi=0.4, clients=4, delta=0.1, rng=1)

    def rule(parts, source):
        return reference.federated_borda(parts, 0.4, source)

    trials = 400
    error = math.sqrt(0.9 * 0.1 / trials)
    at = (slowly(0.4, 5, 4, found.samples, trials, rule, 1) == 0).mean()
    below = (slowly(0.4, 5, 4, found.samples // 2, trials, rule, 2) == 0).mean()
    assert at > 0.9 - 5 * error
    assert below < 0.9 + 5 * error
    assert found.at_least <= found.samples
    assert found.at_most is None or found.samples <= found.at_most


def test_lehmer_plan_is_where_slow_simulation_crosses():
    found = plan("lehmer", n=5, phi=0.3, clients=4, delta=0.1, rng=1)

    def rule(parts, source):
        return reference.federated_lehmer(parts, 0, "nearest", source)

    at = (slowly(0.3, 5, 4, found.samples, 400, rule, 1) == 0).mean()
    assert at > 0.9 - 5 * math.sqrt(0.9 * 0.1 / 400)
    assert found.center in {"identity", "reverse", "random 1", "random 2", "random 3"}


def test_a_plan_for_a_distance_reaches_it():
    found = plan("borda", n=5, phi=0.6, clients=4, distance=0.5, rng=1)

    def rule(parts, source):
        return reference.federated_borda(parts, 0.6, source)

    distances = slowly(0.6, 5, 4, found.samples, 400, rule, 3)
    assert distances.mean() < 0.5 + 5 * distances.std() / 20
    assert found.distance == 0.5


def test_one_item_takes_one_sample():
    assert plan("borda", n=1, phi=0.6, clients=3, rng=0).samples == 1


def test_without_dispersion_one_sample_is_enough():
    assert plan("lehmer", n=6, phi=0.0, clients=3, rng=0).samples == 1


def test_a_uniform_model_never_gives_its_center_away():
    found = plan("borda", n=6, phi=1.0, clients=3, rng=0, limit=64, quantize=False)
    assert found.samples is None
    assert found.message_bits is None
    assert found.at_least == 65


def test_any_scheme_can_be_planned_for():
    scheme = fr.Lehmer(6, 3, phi=0.3, low_bits=3)
    assert plan(scheme, n=6, phi=0.3, clients=3, rng=0).samples >= 1
    exact = plan("borda", n=6, phi=0.5, clients=3, rng=0, quantize=False)
    assert (
        exact.message_bits == fr.Borda(6, 3, quantize=False, max_samples=exact.samples).message_bits
    )


def test_one_seed_gives_one_plan():
    first, second = (plan("lehmer", n=6, phi=0.4, clients=3, rng=7) for _ in range(2))
    assert first == second


def test_points_tell_what_was_tried():
    found = plan("borda", n=8, phi=0.5, clients=5, rng=0)
    assert [point.samples for point in found.points] == sorted({p.samples for p in found.points})
    for point in found.points:
        assert point.trials in LOOKS
        assert point.value == point.recovered / point.trials
        assert 0 <= point.low <= point.value <= point.high <= 1
        assert point.enough == (point.value >= 0.95)
        assert point.sure or point.trials == LOOKS[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0}, "delta must be above 0 and below 1, not 0"),
        ({"delta": math.nan}, "delta must be"),
        ({"distance": 0}, "distance must be above 0, not 0"),
        ({"distance": math.inf}, "distance must be"),
        ({"phi": 2}, "phi must be"),
        ({"n": 0}, "n must be"),
        ({"clients": 0}, "clients must be"),
        ({"limit": 0}, "limit must be"),
        ({"method": "kemeny"}, 'method must be "borda", "lehmer" or a scheme'),
        ({"method": fr.Borda(4, 3)}, "the scheme is for 4 items and 3 clients, not 5 and 3"),
        ({"method": fr.Borda(5, 3), "low_bits": 2}, "leave out low_bits"),
    ],
)
def test_bad_questions_are_refused(change, message):
    given_ = {"method": "borda", "n": 5, "phi": 0.5, "clients": 3, "rng": 0}
    with pytest.raises(ValueError, match=message):
        plan(**(given_ | change))


@given(st.integers(1, 127), st.integers(0, 126))
def test_search_finds_the_least(least, low):
    if low < least:
        assert search(lambda samples: samples >= least, low, 1000) == least


@given(st.integers(128, 100_000))
def test_search_is_a_64th_too_large_at_most(least):
    found = search(lambda samples: samples >= least, 0, 1 << 20)
    assert least <= found <= least * 64 / 63 + 1


@pytest.mark.parametrize("chance_of_recovery", [0.3, 0.9, 0.95, 0.999])
def test_intervals_hold_at_all_looks_together(chance_of_recovery):
    source = np.random.default_rng(3)
    goal = Recovery(0.05)
    missed = 0
    for _ in range(1000):
        trials = (source.random(LOOKS[-1]) >= chance_of_recovery).astype(int)
        looks = [goal.measure(trials[:look]) for look in LOOKS]
        missed += not all(low <= chance_of_recovery <= high for _, low, high in looks)
    assert missed <= 25  # 10 are admitted; above 25 once in 40,000 runs, and the seed is fixed


def test_intervals_of_means_hold():
    source = np.random.default_rng(4)
    goal = Nearness(1.0)
    missed = 0
    for _ in range(1000):
        trials = source.poisson(1.5, LOOKS[-1])
        looks = [goal.measure(trials[:look]) for look in LOOKS]
        missed += not all(low <= 1.5 <= high for _, low, high in looks)
    assert missed <= 25


@given(st.integers(0, 50), st.floats(0.01, 2))
def test_a_chance_is_as_far_as_the_evidence_reaches(successes, evidence):
    share = successes / 50
    for end in (0.0, 1.0):
        edge = chance(share, evidence, end)
        parts = [(p, q) for p, q in ((share, edge), (1 - share, 1 - edge)) if p]
        reached = sum(p * math.log(p / q) for p, q in parts)
        assert reached <= evidence + 1e-9
        assert reached == pytest.approx(evidence, abs=1e-6) or edge == pytest.approx(end, abs=1e-9)
