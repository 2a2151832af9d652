"""The Borda scheme against its definition (M6)."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Mallows, aggregate
from helpers import reference
from helpers.strategies import federations, profiles, seeds

PHIS = [0.0, 0.1, 0.6, 0.95, 1 - 1e-6]


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("phi", PHIS)
def test_the_references_closed_form_is_its_enumeration(n, phi):
    if n < 6 or phi in (0.0, 0.6):
        by_formula = reference.expected_positions_by_formula(phi, n)
        assert by_formula == reference.expected_positions(phi, n)


@given(profiles(8), st.sampled_from(PHIS), seeds)
def test_quantized_places_are_the_nearest_expected_positions(rankings, phi, seed):
    n = len(rankings[0])
    message = Borda(n, clients=3, send="centroids", phi=phi).encode(rankings, client=0, rng=seed)
    allowed = reference.borda_places(rankings, phi)
    assert len(message) == (n if n > 1 else 0)
    assert all(place in places for place, places in zip(message.tolist(), allowed, strict=False))


@given(profiles(8, most_rows=6), seeds)
def test_exact_messages_are_the_sums_of_positions(rankings, seed):
    n = len(rankings[0])
    scheme = Borda(n, clients=3, send="sums", max_samples=6)
    expected = reference.position_sums(rankings) if n > 1 else []
    assert scheme.encode(rankings, client=0, rng=seed).tolist() == expected


def test_a_mean_on_the_central_midpoint_goes_either_way_equally_often():
    for n in (2, 4, 10, 64, 978):
        there_and_back = [list(range(n)), list(range(n))[::-1]]
        scheme = Borda(n, clients=2, send="centroids")
        messages = np.array(
            [scheme.encode(there_and_back, client=0, rng=s) for s in range(8000 // n + 9)]
        )
        counts = Counter(messages.ravel().tolist())
        assert set(counts) == {n // 2 - 1, n // 2}
        # Fixed seeds; five standard deviations.
        assert abs(counts[n // 2] - messages.size / 2) < 2.5 * messages.size**0.5


def test_items_on_a_midpoint_are_thrown_independently():
    scheme = Borda(2, clients=2, send="centroids")
    found = Counter(
        tuple(scheme.encode([[0, 1], [1, 0]], client=0, rng=s).tolist()) for s in range(4000)
    )
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert all(abs(count - 1000) < 140 for count in found.values())


def test_phi_0_rounds_the_mean_position():
    message = Borda(4, clients=2, send="centroids", phi=0).encode(
        [[0, 1, 2, 3], [0, 1, 3, 2], [0, 1, 2, 3]], client=0
    )
    assert message.tolist() == [0, 1, 2, 3]  # of means 0, 1, 2 1/3, 2 2/3


def test_phi_near_1_spreads_means_near_the_middle():
    # All centroids are within 1e-6 of the middle, so every other mean goes to an end.
    scheme = Borda(5, clients=2, send="centroids", phi=1 - 1e-9)
    assert scheme.encode([[0, 1, 2, 3, 4]], client=0).tolist() == [0, 0, 2, 4, 4]


def test_phi_1_is_refused_because_centroids_coincide():
    with pytest.raises(ValueError, match="phi must be below 1"):
        Borda(5, clients=2, send="centroids", phi=1)


@given(federations(8), seeds)
def test_exact_borda_equals_central_borda_bit_for_bit(clients, seed):
    n = len(clients[0][0])
    scheme = Borda(n, len(clients), send="sums", max_samples=4)
    total = sum(scheme.encode(each, client=c) for c, each in enumerate(clients))
    central = aggregate([r for each in clients for r in each], "borda", ties="index")
    found = scheme.decode(total, len(clients), ties="index")
    assert found.scores.tobytes() == central.scores.tobytes()
    assert found.ranks.tolist() == central.ranks.tolist()
    assert found.ties == central.ties
    at_random = scheme.decode(total, len(clients), rng=seed)
    # Equal up to ties: sorted by rank, the scores rise.
    assert (np.diff(central.scores[at_random.order]) >= 0).all()


def test_exact_borda_equals_central_borda_on_a_large_profile():
    votes = Mallows(0.98, n=300).sample(997, rng=3)
    scheme = Borda(300, clients=7, send="sums", max_samples=200)
    total = sum(scheme.encode(part, client=c) for c, part in enumerate(votes.split(7, rng=1)))
    central = aggregate(votes, "borda", ties="index")
    found = scheme.decode(total, 7, ties="index")
    assert found.scores.tobytes() == central.scores.tobytes()
    assert (found.ranks == central.ranks).all()


@given(federations(7), st.sampled_from(PHIS), seeds)
def test_the_server_ranks_by_the_sum_of_places(clients, phi, seed):
    scheme = Borda(len(clients[0][0]), len(clients), send="centroids", phi=phi)
    total = sum(scheme.encode(each, client=c, rng=seed) for c, each in enumerate(clients))
    found = scheme.decode(total, len(clients), rng=seed)
    sums = total.tolist() or [0]
    assert sorted(found.ranks.tolist()) == list(range(scheme.n))
    assert [sums[i] for i in found.order] == sorted(sums)
    # A level stands for an expected position; between two levels, in proportion.
    expected = Mallows(phi, n=scheme.n).expected_ranks().tolist()
    for value, score in zip(sums, found.scores, strict=True):
        level, rest = divmod(value, len(clients))
        above = expected[min(level + 1, scheme.n - 1)]
        between = expected[level] + rest / len(clients) * (above - expected[level])
        assert score == pytest.approx(between, rel=1e-12, abs=1e-12)
    by_index = scheme.decode(total, len(clients), ties="index")
    expected = sorted(range(scheme.n), key=lambda i: (sums[i], i))
    assert by_index.order.tolist() == expected
