"""The Lehmer scheme against its definition (M8, M9)."""

from collections import Counter
from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Lehmer, lehmer_decode
from helpers import reference
from helpers.strategies import federations, profiles, seeds


def total_of(scheme, clients, rng=None):
    return sum(scheme.encode(each, client=c, rng=rng) for c, each in enumerate(clients))


def digits_of(consensus):
    return reference.encode(consensus.ranks.tolist())


def with_digits(*digits):
    """Rankings that have these Lehmer codes."""
    return lehmer_decode(digits)


@given(profiles(8), st.integers(0, 4), seeds)
def test_a_lehmer_message_is_a_plurality_split_in_two(rankings, low_bits, seed):
    n = len(rankings[0])
    message = Lehmer(n, clients=3, low_bits=low_bits).encode(rankings, client=0, rng=seed).tolist()
    digits = [
        2**low_bits * high + low.index(1)
        for high, low in reference.lehmer_parts(message, n, low_bits, 1)
    ]
    assert message == reference.lehmer_message(digits, low_bits)
    allowed = reference.lehmer_digits(rankings)
    assert all(d in several for d, several in zip(digits, allowed, strict=True))


@given(
    federations(8, most_clients=6), st.integers(0, 4), st.sampled_from(["paper", "nearest"]), seeds
)
def test_the_server_reads_digits_as_defined(clients, low_bits, rule, seed):
    n = len(clients[0][0])
    scheme = Lehmer(n, len(clients), low_bits=low_bits, decode=rule)
    total = total_of(scheme, clients, seed)
    allowed = reference.lehmer_server(total.tolist(), n, low_bits, len(clients), rule)
    found = scheme.decode(total, len(clients), rng=seed)
    assert all(d in several for d, several in zip(digits_of(found), allowed, strict=True))
    assert found.ties == sum(len(several) > 1 for several in allowed)
    if all(len(several) == 1 for several in allowed):
        assert digits_of(found) == tuple(d for (d,) in allowed)


@given(st.integers(1, 8), st.integers(0, 3), st.integers(1, 6), st.data())
def test_the_server_reads_any_possible_total_as_defined(n, low_bits, survivors, data):
    digits = [st.integers(0, i) for i in range(n)]
    sent = data.draw(st.lists(st.tuples(*digits), min_size=survivors, max_size=survivors))
    messages = [reference.lehmer_message(each, low_bits) for each in sent]
    total = [sum(column) for column in zip(*messages, strict=True)]
    for rule in ("paper", "nearest"):
        allowed = reference.lehmer_server(total, n, low_bits, survivors, rule)
        scheme = Lehmer(n, clients=6, low_bits=low_bits, decode=rule)
        for ties in ("random", "index"):
            found = digits_of(scheme.decode(total, survivors, rng=1, ties=ties))
            assert all(d in several for d, several in zip(found, allowed, strict=True))


@pytest.mark.parametrize("rule", ["paper", "nearest"])
@given(federations(8), seeds)
def test_enough_low_bits_give_the_plurality_of_pluralities(rule, clients, seed):
    n = len(clients[0][0])
    scheme = Lehmer(n, len(clients), low_bits=3, decode=rule)  # 2^3 >= n
    messages = [scheme.encode(each, client=c, rng=seed) for c, each in enumerate(clients)]
    sent = [reference.lehmer_parts(m.tolist(), n, 3, 1) for m in messages]
    found = digits_of(scheme.decode(sum(messages), len(clients), rng=seed))
    for item in range(n):
        votes = Counter(parts[item][1].index(1) for parts in sent)
        assert votes[found[item]] == max(votes.values())


@pytest.mark.parametrize("rule", ["paper", "nearest"])
@given(federations(8), seeds)
def test_no_low_bits_round_the_mean_of_pluralities(rule, clients, seed):
    n = len(clients[0][0])
    scheme = Lehmer(n, len(clients), low_bits=0, decode=rule)
    total = total_of(scheme, clients, seed)
    found = digits_of(scheme.decode(total, len(clients), rng=seed))
    sums = [0, *total.tolist()]
    assert all(
        abs(2 * d * len(clients) - 2 * s) <= len(clients) for d, s in zip(found, sums, strict=True)
    )


def test_skewed_digits_give_what_the_method_says():
    clients = [with_digits((0,) * 7 + (d,)) for d in (0, 0, 7)]
    nearest = Lehmer(8, clients=3, low_bits=2, decode="nearest")
    total = total_of(nearest, clients)
    assert digits_of(nearest.decode(total, 3))[7] == 4  # mean 7/3, low part 0: 0 or 4
    paper = Lehmer(8, clients=3, low_bits=2, decode="paper")
    assert digits_of(paper.decode(total, 3))[7] == 0  # floor(1/3 + 1/2) = 0


def test_digits_that_straddle_a_multiple_mislead_the_paper_not_the_nearest():
    clients = [with_digits((0,) * 8 + (d,)) for d in (3, 4, 4, 3, 3)]
    for rule, digit in (("paper", 3), ("nearest", 3)):
        scheme = Lehmer(9, clients=5, low_bits=2, decode=rule)
        assert digits_of(scheme.decode(total_of(scheme, clients), 5))[8] == digit
    clients = [with_digits((0,) * 8 + (d,)) for d in (3, 3, 4, 5, 6)]
    for rule, digit in (("paper", 7), ("nearest", 3)):
        scheme = Lehmer(9, clients=5, low_bits=2, decode=rule)
        assert digits_of(scheme.decode(total_of(scheme, clients), 5))[8] == digit


@pytest.mark.parametrize("rule", ["paper", "nearest"])
def test_a_value_above_the_items_number_is_no_digit(rule):
    # Item 5, I = 2: digits 4, 5, 4, 5, 3, 3, 3 have V = 1 and low part 3; 7 is no digit, 3 is.
    clients = [with_digits((0,) * 5 + (d,)) for d in (4, 5, 4, 5, 3, 3, 3)]
    scheme = Lehmer(6, clients=7, low_bits=2, decode=rule)
    assert digits_of(scheme.decode(total_of(scheme, clients), 7))[5] == 3


def test_tied_digits_are_chosen_equally_often():
    scheme = Lehmer(4, clients=2)
    rows = np.vstack([with_digits((0, 0, 0, d)) for d in range(4)])
    sent = Counter(int(scheme.encode(rows, client=0, rng=s)[-1]) for s in range(1000))
    assert sorted(sent) == [0, 1, 2, 3]
    assert all(abs(count - 250) < 70 for count in sent.values())
    total = [0, 0, 3]  # mean digit 1 1/2 of two clients
    read = Counter(digits_of(scheme.decode(total, 2, rng=s))[3] for s in range(1000))
    assert sorted(read) == [1, 2]
    assert abs(read[1] - 500) < 80
    assert digits_of(scheme.decode(total, 2, ties="index"))[3] == 1


# The paper's low bits


def papers_low_bits(n, phi, total, epsilon):
    p = sum(phi**u for u in range(1, n)) / (1 + sum(phi**u for u in range(3, n + 1)))
    return ceil(log2(2 * log(total * n**2 / epsilon) / log(1 / p) + 1))


@pytest.mark.parametrize(
    ("n", "phi", "clients", "samples", "epsilon", "low_bits"),
    [
        (978, 0.6, 10, 50, 0.01, 11),  # p = .974; 2 × 24.59 / .02632 + 1 = 1870 slots
        (10, 0.5, 5, 20, 0.1, 7),  # p = .799; 2 × 11.51 / .2243 + 1 = 104 slots
        (20, 0.1, 10, 50, 0.01, 5),  # p = .111; 2 × 16.81 / 2.198 + 1 = 16.3 slots
    ],
)
def test_the_papers_low_bits_are_its_formula(n, phi, clients, samples, epsilon, low_bits):
    assert papers_low_bits(n, phi, clients * samples, epsilon) == low_bits
    scheme = Lehmer(n, clients, phi=phi, low_bits="paper", max_samples=samples, epsilon=epsilon)
    assert scheme.low_bits == low_bits
    assert scheme == Lehmer(
        n, clients, phi=phi, low_bits=low_bits, max_samples=samples, epsilon=epsilon
    )


def test_the_papers_low_bits_need_a_public_bound_and_a_small_phi():
    with pytest.raises(ValueError, match="max_samples"):
        Lehmer(10, clients=5, low_bits="paper")
    with pytest.raises(ValueError, match="phi is too large"):
        Lehmer(10, clients=5, phi=0.7, low_bits="paper", max_samples=10)
    with pytest.raises(ValueError, match="phi is too large"):
        Lehmer(10, clients=5, phi=1, low_bits="paper", max_samples=10)
    for epsilon in (0, 1, -1, float("nan")):
        with pytest.raises(ValueError, match="epsilon"):
            Lehmer(10, clients=5, low_bits="paper", max_samples=10, epsilon=epsilon)


def test_low_bits_default_to_0():
    assert Lehmer(10, clients=5).low_bits == 0
    assert {segment.name for segment in Lehmer(10, clients=5).segments} == {"high"}
