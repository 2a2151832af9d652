"""The superposition channel (M13)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from fedrank import Mallows, Rankings, aggregate, kendall_distance, superposition
from helpers import reference

profiles = st.integers(1, 9).flatmap(
    lambda n: st.lists(
        st.lists(st.permutations(range(n)), min_size=1, max_size=4), min_size=1, max_size=5
    )
)


def blocks(slots, n):
    """Slots 0..i of each block i."""
    starts = [i * (i + 1) // 2 for i in range(n + 1)]
    return [list(slots[start:end]) for start, end in pairwise(starts)]


@given(profiles)
def test_a_client_sends_how_many_digits_reach_each_slot(clients):
    for rankings in clients:
        n = len(rankings[0])
        sent = superposition.transmit(rankings)
        digits = [reference.encode(r) for r in rankings]
        assert sent.dtype == np.uint32
        assert blocks(sent, n) == [
            [sum(code[i] >= t for code in digits) for t in range(i + 1)] for i in range(n)
        ]


@given(profiles)
def test_the_server_hears_the_sums_and_nothing_else(clients):
    heard = superposition.aggregate(clients)
    np.testing.assert_array_equal(heard.sums, sum(superposition.transmit(each) for each in clients))
    n = len(clients[0][0])
    assert heard.slots == len(heard.sums) == n * (n + 1) // 2


@given(profiles, st.integers(0, 99))
def test_without_noise_it_is_the_central_plurality(clients, rng):
    everyone = [ranking for each in clients for ranking in each]
    for ties in ("index", "random"):
        central = aggregate(everyone, "lehmer", ties=ties, rng=rng)
        heard = superposition.aggregate(clients, ties=ties, rng=rng).consensus
        np.testing.assert_array_equal(heard.ranks, central.ranks)
        assert heard.ties == central.ties
        again = superposition.receive(superposition.aggregate(clients).sums, ties=ties, rng=rng)
        np.testing.assert_array_equal(again.ranks, central.ranks)


@pytest.mark.parametrize(("n", "m", "phi"), [(100, 40, 0.9), (978, 501, 0.6)])
def test_at_full_size_it_is_the_central_plurality(n, m, phi):
    center = np.random.default_rng(n).permutation(n)
    rankings = Mallows(phi, center=center).sample(m, rng=1)
    central = aggregate(rankings, "lehmer", rng=7)
    assert central.ties > 0
    heard = superposition.aggregate(rankings.split(10, rng=2), rng=7)
    np.testing.assert_array_equal(heard.consensus.ranks, central.ranks)


@given(profiles)
def test_energy_is_a_slot_for_every_digit_up_to_a_clients_largest(clients):
    n = len(clients[0][0])
    heard = superposition.aggregate(clients)
    largest = [
        [max(c[i] for c in map(reference.encode, each)) for i in range(n)] for each in clients
    ]
    sent = [sum(digit + 1 for digit in digits) for digits in largest]
    assert heard.transmissions.tolist() == sent
    assert heard.energy == sum(sent)
    assert heard.slots_used == sum(max(column) + 1 for column in zip(*largest, strict=True))


def test_one_ranking_a_client_costs_its_distance_from_the_identity():
    rankings = Mallows(0.5, n=50).sample(30, rng=0)
    heard = superposition.aggregate(rankings)
    distances = kendall_distance(rankings, np.arange(50))
    np.testing.assert_array_equal(heard.transmissions, distances + 50)
    everyone = superposition.aggregate([rankings])
    np.testing.assert_array_equal(everyone.sums, heard.sums)
    assert everyone.energy == everyone.slots_used == heard.slots_used


def test_noise_has_the_strength_asked_for_and_is_in_every_slot():
    rankings = Mallows(0.6, n=200).sample(50, rng=0)
    quiet = superposition.aggregate([rankings]).sums
    noise = superposition.aggregate([rankings], noise=3.0, rng=5).sums - quiet
    # 20,100 slots: five standard errors.
    assert noise.mean() == pytest.approx(0, abs=5 * 3 / 20_100**0.5)
    assert noise.std() == pytest.approx(3, rel=5 / (2 * 20_100) ** 0.5)
    assert (noise != 0).all()


def test_faint_noise_changes_nothing_but_ties_and_loud_noise_does():
    rankings = Mallows(0.6, n=60).sample(101, rng=3)
    central = aggregate(rankings, "lehmer")
    assert central.ties == 0
    # Counts differ by at least 1: ten standard deviations of such a difference's noise.
    faint = superposition.aggregate([rankings], noise=0.04, rng=3)
    np.testing.assert_array_equal(faint.consensus.ranks, central.ranks)

    def wrong(noise):
        heard = [
            superposition.aggregate([rankings], noise=noise, rng=i).consensus.ranks
            for i in range(20)
        ]
        return kendall_distance(heard, central).mean()

    distances = [wrong(noise) for noise in (1, 10, 40, 160)]
    assert distances == sorted(distances)
    assert distances[0] < 5
    assert distances[-1] > 100


@given(st.integers(1, 12), st.floats(0.01, 30), st.integers(0, 10**6))
def test_noisy_sums_are_read_as_the_nearest_that_never_rise(n, noise, seed):
    rng = np.random.default_rng(seed)
    rankings = Mallows(0.7, center=rng.permutation(n)).sample(9, rng=rng)
    sums = superposition.aggregate([rankings], noise=noise, rng=rng).sums
    code = []
    for block in blocks(sums, n):
        fitted = np.maximum(isotonic_regression(block, increasing=False).x, 0)
        counts = fitted - np.append(fitted[1:], 0)
        if (counts > counts.max() - 1e-9).sum() > 1:
            return  # left open, or to rounding
        code.append(int(counts.argmax()))
    assert superposition.receive(sums).ranks.tolist() == list(reference.decode(code))


def test_the_same_rng_gives_the_same_reception():
    rankings = Mallows(0.9, n=20).sample(7, rng=0)
    one, two = (superposition.aggregate(rankings, noise=1.0, rng=4) for _ in range(2))
    np.testing.assert_array_equal(one.sums, two.sums)
    np.testing.assert_array_equal(one.consensus.ranks, two.consensus.ranks)
    assert (superposition.aggregate(rankings, noise=1.0, rng=5).sums != one.sums).all()


@given(st.integers(1, 8), st.data())
def test_any_sums_decode_to_a_ranking(n, data):
    slots = n * (n + 1) // 2
    numbers = st.floats(allow_nan=False) | st.integers(-5, 5).map(float)
    sums = data.draw(st.lists(numbers, min_size=slots, max_size=slots))
    assert sorted(superposition.receive(sums).ranks.tolist()) == list(range(n))


# n = 2. Slot 0 of block 0; slots 0 and 1 of block 1. Digit 1 wins if s1 > s0 − s1.
@pytest.mark.parametrize(
    ("sums", "ranks", "ties"),
    [
        ([5, 5, 3], [1, 0], 0),
        ([5, 5, 2], [0, 1], 0),
        ([5, 4.6, 2.4], [1, 0], 0),  # 2.2 and 2.4
        ([5, 4.6, 2.2], [0, 1], 0),  # 2.4 and 2.2
        ([5, 2, 4], [1, 0], 0),  # a rise: 3 and 3, so 0 and 3
        ([5, 5, -7], [0, 1], 0),  # −7 is heard as silence
        ([4, 4, 2], [0, 1], 1),
        ([5, -1, -2], [0, 1], 1),  # silence in both slots
        ([np.inf, -np.inf, 1], [0, 1], 1),
    ],
)
def test_the_steepest_fall_is_the_digit(sums, ranks, ties):
    found = superposition.receive(sums, ties="index")
    assert found.ranks.tolist() == ranks
    assert found.ties == ties


def test_labels_come_through():
    votes = Rankings([[0, 1], [0, 1], [1, 0]], items=["ann", "bob"])
    assert superposition.aggregate(votes).consensus.labels == ("ann", "bob")
    assert superposition.aggregate([votes, votes]).consensus.labels == ("ann", "bob")
    other = Rankings([[0, 1]] * 9, items=["bob", "ann"])  # labels decide, in whatever order
    assert superposition.aggregate([votes, other]).consensus.labels == ("bob", "ann")
    with pytest.raises(ValueError, match=r"client 0 lacks 1 \(cy\); client 1 lacks 1 \(bob\)"):
        superposition.aggregate([votes, Rankings([[0, 1]], items=["ann", "cy"])])


@pytest.mark.parametrize(
    ("clients", "options", "message"),
    [
        ([], {}, "no clients"),
        ([[[0, 1]], np.empty((0, 2))], {}, "client 1: there are no rankings"),
        ([[[0, 1]], [[0, 0]]], {}, "client 1, row 0: not a ranking"),
        ([[[0, 1]], [[0, 1, 2]]], {}, "client 1 ranks 3 items"),
        ([[[0, 1]]], {"noise": -1}, "noise must be a finite number of at least 0, not -1"),
        ([[[0, 1]]], {"noise": float("nan")}, "noise must be"),
        ([[[0, 1]]], {"noise": float("inf")}, "noise must be"),
        ([[[0, 1]]], {"noise": "loud"}, "noise must be"),
        ([[[0, 1]]], {"ties": "first"}, "ties must be"),
    ],
)
def test_what_aggregate_refuses(clients, options, message):
    with pytest.raises(ValueError, match=message):
        superposition.aggregate(clients, **options)


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        ([], "one per slot, not 0"),
        ([1, 1], "one per slot, not 2"),
        ([[1]], "one row"),
        (["a"], "one row of numbers"),
        ([1, np.nan, 0], r"sums must not be NaN \(slot 1\)"),
    ],
)
def test_what_receive_refuses(sums, message):
    with pytest.raises(ValueError, match=message):
        superposition.receive(sums)
