"""Schemes against their definitions (M6, M8, M9)."""

import json
from collections import Counter
from itertools import combinations_with_replacement, permutations, product
from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fedrank import Borda, Lehmer, Mallows, Study, aggregate, lehmer_decode
from fedrank.schemes import from_json as scheme_from_json

PHIS = [0.0, 0.1, 0.6, 0.95, 1 - 1e-6]
SCHEMES = [
    Borda(n=6, clients=4),
    Borda(n=6, clients=4, quantize=False, max_samples=9),
    Lehmer(n=6, clients=4),
    Lehmer(n=6, clients=4, low_bits=2, decode="paper"),
    Lehmer(n=6, clients=4, phi=0.3, low_bits="paper", max_samples=9),
]
seeds = st.integers(0, 2**32)


def profiles(most_items, most_rows=6):
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(st.permutations(range(n)).map(tuple), min_size=1, max_size=most_rows)
    )


def federations(most_items, most_clients=5):
    """Profiles of several clients over the same items."""
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(
            st.lists(st.permutations(range(n)).map(tuple), min_size=1, max_size=4),
            min_size=1,
            max_size=most_clients,
        )
    )


def widths(scheme):
    return [bits for _, entries, bits in scheme.segments for _ in range(entries)]


def digits_of(consensus):
    return reference.encode(consensus.ranks.tolist())


def with_digits(*digits):
    """Rankings that have these Lehmer codes."""
    return lehmer_decode(digits)


# Layout


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 100, 257])
@pytest.mark.parametrize("clients", [1, 2, 3, 4, 7, 8, 50, 1000])
def test_widths_are_the_fewest_bits_that_hold_the_sums(n, clients):
    cases = [(Borda(n, clients), reference.borda_widths(n, clients))]
    for most in (1, 5, 1024):
        exact = Borda(n, clients, quantize=False, max_samples=most)
        cases.append((exact, reference.borda_widths(n, clients, most)))
    for low_bits in (0, 1, 2, 3, 5, 9, 31):
        lehmer = Lehmer(n, clients, low_bits=low_bits)
        cases.append((lehmer, reference.lehmer_widths(n, clients, low_bits)))
    for scheme, expected in cases:
        assert widths(scheme) == expected
        assert scheme.message_bits == sum(expected)


def test_the_papers_sizes_by_hand():
    assert Borda(n=978, clients=10).message_bits == 978 * 14  # 9770 < 2^14
    assert Borda(n=978, clients=50).message_bits == 978 * 16  # 48850 < 2^16
    # Digits 1..4 sum to 5, 10, 15, 20 at most.
    assert Lehmer(n=5, clients=5).message_bits == 3 + 4 + 4 + 5
    # I = 1: highs of items 2, 3 (1 each) and 4 (2); one slot of 3 bits for items 1..4.
    assert Lehmer(n=5, clients=5, low_bits=1).message_bits == 3 + 3 + 4 + 4 * 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_largest_sums_just_fit(scheme):
    total = np.array([2**bits - 1 for bits in widths(scheme)], dtype=np.uint64)
    assert (scheme.unpack(scheme.pack(total)) == total).all()
    total[-1] += np.uint64(1)
    with pytest.raises(ValueError, match=f"entry {len(total) - 1}"):
        scheme.pack(total)


# Borda


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("phi", PHIS)
def test_the_references_closed_form_is_its_enumeration(n, phi):
    if n < 6 or phi in (0.0, 0.6):
        by_formula = reference.expected_positions_by_formula(phi, n)
        assert by_formula == reference.expected_positions(phi, n)


@given(profiles(8), st.sampled_from(PHIS), seeds)
def test_quantized_places_are_the_nearest_expected_positions(rankings, phi, seed):
    n = len(rankings[0])
    message = Borda(n, clients=3, phi=phi).encode(rankings, rng=seed)
    allowed = reference.borda_places(rankings, phi)
    assert len(message) == (n if n > 1 else 0)
    assert all(place in places for place, places in zip(message.tolist(), allowed, strict=False))


@given(profiles(8), seeds)
def test_exact_messages_are_the_sums_of_positions(rankings, seed):
    n = len(rankings[0])
    scheme = Borda(n, clients=3, quantize=False, max_samples=6)
    expected = reference.position_sums(rankings) if n > 1 else []
    assert scheme.encode(rankings, rng=seed).tolist() == expected


def test_a_mean_on_the_central_midpoint_goes_either_way_equally_often():
    for n in (2, 4, 10, 64, 978):
        there_and_back = [list(range(n)), list(range(n))[::-1]]
        scheme = Borda(n, clients=2)
        messages = np.array([scheme.encode(there_and_back, rng=s) for s in range(8000 // n + 9)])
        counts = Counter(messages.ravel().tolist())
        assert set(counts) == {n // 2 - 1, n // 2}
        # Fixed seeds; five standard deviations.
        assert abs(counts[n // 2] - messages.size / 2) < 2.5 * messages.size**0.5


def test_items_on_a_midpoint_are_thrown_independently():
    scheme = Borda(2, clients=2)
    found = Counter(tuple(scheme.encode([[0, 1], [1, 0]], rng=s).tolist()) for s in range(4000))
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert all(abs(count - 1000) < 140 for count in found.values())


def test_phi_0_rounds_the_mean_position():
    message = Borda(4, clients=2, phi=0).encode([[0, 1, 2, 3], [0, 1, 3, 2], [0, 1, 2, 3]])
    assert message.tolist() == [0, 1, 2, 3]  # of means 0, 1, 2 1/3, 2 2/3


def test_phi_near_1_spreads_means_near_the_middle():
    # All centroids are within 1e-6 of the middle, so every other mean goes to an end.
    scheme = Borda(5, clients=2, phi=1 - 1e-9)
    assert scheme.encode([[0, 1, 2, 3, 4]]).tolist() == [0, 0, 2, 4, 4]


def test_phi_1_is_refused_because_centroids_coincide_but_exact_sums_do_not_need_it():
    with pytest.raises(ValueError, match="phi must be below 1"):
        Borda(5, clients=2, phi=1)
    assert Borda(5, clients=2, phi=1, quantize=False, max_samples=1).message_bits == 5 * 4


@given(federations(8), seeds)
def test_exact_borda_equals_central_borda_bit_for_bit(clients, seed):
    n = len(clients[0][0])
    scheme = Borda(n, len(clients), quantize=False, max_samples=4)
    total = sum(scheme.encode(each) for each in clients)
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
    scheme = Borda(300, clients=7, quantize=False, max_samples=200)
    total = sum(scheme.encode(part) for part in votes.split(7, rng=1))
    central = aggregate(votes, "borda", ties="index")
    found = scheme.decode(total, 7, ties="index")
    assert found.scores.tobytes() == central.scores.tobytes()
    assert (found.ranks == central.ranks).all()


@given(federations(7), st.sampled_from(PHIS), seeds)
def test_the_server_ranks_by_the_sum_of_places(clients, phi, seed):
    scheme = Borda(len(clients[0][0]), len(clients), phi=phi)
    total = sum(scheme.encode(each, rng=seed) for each in clients)
    found = scheme.decode(total, len(clients), rng=seed)
    sums = total.tolist() or [0]
    assert sorted(found.ranks.tolist()) == list(range(scheme.n))
    assert [sums[i] for i in found.order] == sorted(sums)
    assert found.scores.tolist() == [value / len(clients) for value in sums]
    by_index = scheme.decode(total, len(clients), ties="index")
    expected = sorted(range(scheme.n), key=lambda i: (sums[i], i))
    assert by_index.order.tolist() == expected


# Lehmer


@given(profiles(8), st.integers(0, 4), seeds)
def test_a_lehmer_message_is_a_plurality_split_in_two(rankings, low_bits, seed):
    n = len(rankings[0])
    message = Lehmer(n, clients=3, low_bits=low_bits).encode(rankings, rng=seed).tolist()
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
    total = sum(scheme.encode(each, rng=seed) for each in clients)
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
    messages = [scheme.encode(each, rng=seed) for each in clients]
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
    total = sum(scheme.encode(each, rng=seed) for each in clients)
    found = digits_of(scheme.decode(total, len(clients), rng=seed))
    sums = [0, *total.tolist()]
    assert all(
        abs(2 * d * len(clients) - 2 * s) <= len(clients) for d, s in zip(found, sums, strict=True)
    )


def test_skewed_digits_give_what_the_method_says():
    clients = [with_digits((0,) * 7 + (d,)) for d in (0, 0, 7)]
    nearest = Lehmer(8, clients=3, low_bits=2, decode="nearest")
    total = sum(nearest.encode(each) for each in clients)
    assert digits_of(nearest.decode(total, 3))[7] == 4  # mean 7/3, low part 0: 0 or 4
    paper = Lehmer(8, clients=3, low_bits=2, decode="paper")
    assert digits_of(paper.decode(total, 3))[7] == 0  # floor(1/3 + 1/2) = 0


def test_digits_that_straddle_a_multiple_mislead_the_paper_not_the_nearest():
    clients = [with_digits((0,) * 8 + (d,)) for d in (3, 4, 4, 3, 3)]
    for rule, digit in (("paper", 3), ("nearest", 3)):
        scheme = Lehmer(9, clients=5, low_bits=2, decode=rule)
        assert digits_of(scheme.decode(sum(map(scheme.encode, clients)), 5))[8] == digit
    clients = [with_digits((0,) * 8 + (d,)) for d in (3, 3, 4, 5, 6)]
    for rule, digit in (("paper", 7), ("nearest", 3)):
        scheme = Lehmer(9, clients=5, low_bits=2, decode=rule)
        assert digits_of(scheme.decode(sum(map(scheme.encode, clients)), 5))[8] == digit


@pytest.mark.parametrize("rule", ["paper", "nearest"])
def test_a_value_above_the_items_number_is_no_digit(rule):
    # Item 5, I = 2: digits 4, 5, 4, 5, 3, 3, 3 have V = 1 and low part 3; 7 is no digit, 3 is.
    clients = [with_digits((0,) * 5 + (d,)) for d in (4, 5, 4, 5, 3, 3, 3)]
    scheme = Lehmer(6, clients=7, low_bits=2, decode=rule)
    assert digits_of(scheme.decode(sum(map(scheme.encode, clients)), 7))[5] == 3


def test_tied_digits_are_chosen_equally_often():
    scheme = Lehmer(4, clients=2)
    rows = np.vstack([with_digits((0, 0, 0, d)) for d in range(4)])
    sent = Counter(int(scheme.encode(rows, rng=s)[-1]) for s in range(4000))
    assert sorted(sent) == [0, 1, 2, 3]
    assert all(abs(count - 1000) < 140 for count in sent.values())
    total = [0, 0, 3]  # mean digit 1 1/2 of two clients
    read = Counter(digits_of(scheme.decode(total, 2, rng=s))[3] for s in range(4000))
    assert sorted(read) == [1, 2]
    assert abs(read[1] - 2000) < 160
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
    scheme = Lehmer(n, clients, phi, "paper", max_samples=samples, epsilon=epsilon)
    assert scheme.low_bits == low_bits
    assert scheme == Lehmer(n, clients, phi, low_bits, max_samples=samples, epsilon=epsilon)


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


# Both ways


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_packing_is_a_bijection(scheme, data):
    message = [data.draw(st.integers(0, 2**bits - 1)) for bits in widths(scheme)]
    packed = scheme.pack(np.array(message, dtype=np.uint64))
    assert len(packed) == -(-scheme.message_bits // 8)
    whole = sum(
        value << sum(widths(scheme)[:place]) for place, value in enumerate(message)
    )  # least significant first, no gaps
    assert int.from_bytes(packed, "little") == whole
    assert scheme.unpack(packed).tolist() == message


@pytest.mark.parametrize("scheme", SCHEMES)
def test_wrong_bytes_are_refused(scheme):
    packed = scheme.pack(np.zeros(len(widths(scheme)), dtype=np.uint64))
    for wrong in (packed[:-1], packed + b"\0"):
        with pytest.raises(ValueError, match=f"{len(wrong)} packed bytes"):
            scheme.unpack(wrong)
    if scheme.message_bits % 8:
        with pytest.raises(ValueError, match="padding"):
            scheme.unpack(packed[:-1] + b"\x80")


@pytest.mark.parametrize("scheme", [Borda(n=6, clients=4, phi=0.05), *SCHEMES[1:]])
def test_unanimous_clients_get_what_they_said(scheme):
    for seed in range(20):
        ranking = np.random.default_rng(seed).permutation(6)
        total = sum(scheme.encode([ranking] * m, rng=seed) for m in (1, 2, 3, 9))
        assert scheme.decode(total, 4, rng=seed).ranks.tolist() == ranking.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_rng_gives_the_same_bytes(scheme):
    tied = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]]
    first = [scheme.encode(tied, rng=s).tobytes() for s in range(30)]
    assert first == [scheme.encode(tied, rng=s).tobytes() for s in range(30)]
    total = sum(scheme.encode(tied, rng=s) for s in (1, 2))
    ranks = [scheme.decode(total, 2, rng=s).ranks.tobytes() for s in range(30)]
    assert ranks == [scheme.decode(total, 2, rng=s).ranks.tobytes() for s in range(30)]
    generator = np.random.default_rng(0)
    once, twice = scheme.encode(tied, rng=generator), scheme.encode(tied, rng=generator)
    assert once.dtype == twice.dtype == np.uint64
    assert scheme.encode(tied, rng=0).tobytes() == once.tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_number_of_samples_never_changes_the_length(scheme):
    votes = Mallows(0.8, n=6).sample(9, rng=0)
    packed = {len(scheme.pack(scheme.encode(votes[:m]))) for m in range(1, 10)}
    assert packed == {-(-scheme.message_bits // 8)}


@pytest.mark.parametrize(
    "scheme",
    [
        Borda(1, 3),
        Borda(1, 3, quantize=False, max_samples=2),
        Lehmer(1, 3),
        Lehmer(1, 3, low_bits=2),
        Lehmer(1, 3, low_bits="paper", max_samples=2),
        Lehmer(1, 3, decode="paper"),
    ],
)
def test_one_item_needs_no_message(scheme):
    assert scheme.segments == ()
    assert scheme.message_bits == 0
    assert scheme.encode([[0], [0]]).tolist() == []
    assert scheme.pack([]) == b""
    assert scheme.unpack(b"").tolist() == []
    assert scheme.decode([], 3).ranks.tolist() == [0]


# What is refused


@pytest.mark.parametrize("kind", [Borda, Lehmer])
@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"n": 0}, "n must"),
        ({"n": 2.5}, "n must"),
        ({"clients": 0}, "clients must"),
        ({"clients": "3"}, "clients must"),
        ({"phi": -0.1}, "phi must"),
        ({"phi": 1.1}, "phi must"),
        ({"phi": float("nan")}, "phi must"),
        ({"max_samples": 0}, "max_samples must"),
        ({"max_samples": True}, "max_samples must"),
        ({"clients": 2**62}, "clients must be 1 to 16777216"),
    ],
)
def test_bad_parameters_are_named(kind, wrong, named):
    with pytest.raises(ValueError, match=named):
        kind(**({"n": 9, "clients": 3} | wrong))


@pytest.mark.parametrize("low_bits", [-1, 32, 1.5, "all", None, True, 2**40])
def test_bad_low_bits_are_named(low_bits):
    with pytest.raises(ValueError, match="low_bits"):
        Lehmer(9, clients=3, low_bits=low_bits)


@pytest.mark.parametrize("epsilon", [0, -1, 5, float("nan")])
def test_a_bad_epsilon_is_named_even_if_unused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        Lehmer(9, clients=3, epsilon=epsilon)


def test_a_bad_decode_rule_is_named():
    with pytest.raises(ValueError, match=r'"nearest" or "paper", not .mean'):
        Lehmer(9, clients=3, decode="mean")


def test_exact_sums_need_a_bound_on_the_samples():
    with pytest.raises(ValueError, match="max_samples"):
        Borda(9, clients=3, quantize=False)


def test_a_width_above_64_bits_names_its_parameter():
    with pytest.raises(ValueError, match=r"max_samples is too large.* 76 bits"):
        Borda(978, clients=10, quantize=False, max_samples=2**62)
    exactly = Borda(2, clients=1, quantize=False, max_samples=2**63 - 1)
    assert exactly.message_bits == 2 * 63
    assert Borda(3, clients=1, quantize=False, max_samples=2**63 - 1).message_bits == 3 * 64


@pytest.mark.parametrize("total", [[2**62] * 3, [0, 2**62, 2**63]])
def test_scores_of_the_widest_sums_are_right(total):
    scheme = Borda(3, clients=1, quantize=False, max_samples=2**63 - 1)
    found = scheme.decode(np.array(total, dtype=np.uint64), 1)  # of 2^62 rankings
    assert found.scores.tolist() == [entry / 2**62 for entry in total]


@pytest.mark.parametrize("n", ["2**40", "2**62"])
@pytest.mark.parametrize("kind", ["Borda", "Lehmer"])
def test_too_many_items_are_refused_without_an_abort(python, kind, n):
    done = python(
        f"import fedrank as fr\n"
        f"try: fr.{kind}({n}, 2)\n"
        f"except (ValueError, MemoryError) as error: print('refused', error)\n"
    )
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith("refused")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_wrong_rankings_are_refused(scheme):
    with pytest.raises(ValueError, match=r"5.*6"):
        scheme.encode([[0, 1, 2, 3, 4]])
    with pytest.raises(ValueError, match="row 1"):
        scheme.encode([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]])
    with pytest.raises(ValueError, match="1-based"):
        scheme.encode([[1, 2, 3, 4, 5, 6]])
    with pytest.raises(ValueError, match=r"empty|no rankings|at least one"):
        scheme.encode(np.empty((0, 6), dtype=np.int32))


@pytest.mark.parametrize(
    "scheme", [Borda(3, 2, max_samples=2), Lehmer(3, 2, max_samples=2), SCHEMES[1], SCHEMES[4]]
)
def test_too_many_samples_are_refused_by_both_numbers(scheme):
    most = scheme.max_samples
    with pytest.raises(ValueError, match=rf"\b{most + 1}\b.*\b{most}\b"):
        scheme.encode([list(range(scheme.n))] * (most + 1))
    scheme.encode([list(range(scheme.n))] * most)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("survivors", [0, 5, -1, 1.5, True])
def test_impossible_numbers_of_survivors_are_refused(scheme, survivors):
    total = scheme.encode([[0, 1, 2, 3, 4, 5]])
    with pytest.raises(ValueError, match="survivors"):
        scheme.decode(total, survivors)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_totals_of_the_wrong_kind_are_refused(scheme):
    total = scheme.encode([[0, 1, 2, 3, 4, 5]]).astype(np.int64)
    for wrong in (total[:-1], np.append(total, 0)):
        sizes = f"has {len(wrong)} entries; the scheme's messages have {len(total)}"
        with pytest.raises(ValueError, match=sizes):
            scheme.decode(wrong, 1)
    with pytest.raises(ValueError, match="negative"):
        scheme.decode(total - 9, 1)
    with pytest.raises(ValueError, match="whole number"):
        scheme.decode(total + 0.5, 1)
    with pytest.raises(ValueError, match="whole number"):
        scheme.decode(np.full(len(total), np.nan), 1)
    with pytest.raises(ValueError, match="dimension"):
        scheme.decode([total], 1)
    with pytest.raises(ValueError, match="ties"):
        scheme.decode(total, 1, ties="first")
    as_floats = scheme.decode(total.astype(float), 1, rng=0)
    assert (as_floats.ranks == scheme.decode(total, 1, rng=0).ranks).all()


@pytest.mark.parametrize(
    ("scheme", "total", "survivors"),
    [
        (Borda(3, 4), [0, 1, 5], 2),  # above S (n - 1)
        (Borda(3, 4), [0, 1, 2**63], 2),
        (Borda(3, 4, quantize=False, max_samples=5), [0, 4, 21], 2),  # above S m (n - 1)
        (Borda(3, 4, quantize=False, max_samples=5), [0, 3, 4], 2),  # not whole rankings
        (Borda(3, 4, quantize=False, max_samples=5), [0, 0, 0], 2),  # no ranking
        (Borda(3, 4, quantize=False, max_samples=5), [1, 1, 1], 2),  # fewer than clients
        (Borda(3, 4, quantize=False, max_samples=5), [11, 11, 11], 2),  # more than S m
        (Borda(3, 4, quantize=False, max_samples=5), [0, 0, 6], 2),  # 2 rankings, 4 at most
        (Lehmer(3, 4), [3, 0], 2),  # digit 1 is 1 at most
        (Lehmer(3, 4), [0, 5], 2),  # digit 2 is 2 at most
        (Lehmer(6, 4, low_bits=1), [3, 0, 0, 0] + [0] * 5, 2),  # high of item 2
        (Lehmer(6, 4, low_bits=1), [0, 0, 0, 0, 3, 0, 0, 0, 0], 2),  # a slot above S
        (Lehmer(3, 4, low_bits=2), [0, 2, 1], 2),  # slots that sum to more than S
        (Lehmer(3, 4, low_bits=2), [0, 2**63, 2**63], 2),  # and wrap
    ],
)
def test_impossible_totals_are_refused(scheme, total, survivors):
    with pytest.raises(ValueError, match="impossible"):
        scheme.decode(np.array(total, dtype=np.uint64), survivors)


# JSON


@pytest.mark.parametrize("scheme", SCHEMES)
def test_json_goes_both_ways_and_has_one_spelling(scheme):
    text = scheme.to_json()
    again = scheme_from_json(text)
    assert again == scheme
    assert hash(again) == hash(scheme)
    assert again.to_json() == text
    assert again.segments == scheme.segments
    fields = json.loads(text)
    assert text == json.dumps(fields, sort_keys=True, separators=(",", ":"))
    backwards = json.dumps(dict(reversed(fields.items())), indent=3)
    assert scheme_from_json(backwards).to_json() == text


def test_numbers_of_any_type_make_the_same_json():
    scheme = Borda(n=5, clients=3, phi=0.5)
    assert Borda(np.int32(5), 3.0, np.float32(0.5)).to_json() == scheme.to_json()
    assert Borda(5, 3, phi=0).to_json() == Borda(5, 3, phi=0.0).to_json()
    assert Borda(5, 3, phi=-0.0).to_json() == Borda(5, 3, phi=0.0).to_json()


def test_every_parameter_is_in_the_json():
    schemes = [
        Borda(5, 3),
        Borda(6, 3),
        Borda(5, 4),
        Borda(5, 3, phi=0.5),
        Borda(5, 3, max_samples=9),
        Borda(5, 3, quantize=False, max_samples=9),
        Lehmer(5, 3),
        Lehmer(5, 3, low_bits=1),
        Lehmer(5, 3, phi=0.5),
        Lehmer(5, 3, max_samples=9),
        Lehmer(5, 3, epsilon=0.1),
        Lehmer(5, 3, decode="paper"),
    ]
    assert len({scheme.to_json() for scheme in schemes}) == len(set(schemes)) == len(schemes)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "scheme"),
        ("null", "scheme"),
        ("{}", "scheme"),
        ('{"scheme":"kemeny"}', "borda, lehmer"),
        ('{"scheme":["borda"]}', "borda, lehmer"),
        ('{"scheme":"borda"}', "wrong field"),
        ('{"scheme":"borda","n":3,"clients":2,"colour":1}', "colour"),
        ('{"scheme":"borda","n":"3","clients":2}', "n must"),
        ('{"scheme":"borda","n":3,"clients":2,"phi":null}', r"wrong field|phi"),
        ('{"scheme":"borda","n":3,"clients":2,"phi":NaN}', "phi"),
        ('{"scheme":"borda","n":3,"clients":2,"quantize":"no"}', "quantize"),
        ('{"scheme":"lehmer","n":3,"clients":2,"decode":[]}', "decode"),
    ],
)
def test_bad_json_is_refused_clearly(text, named):
    with pytest.raises(ValueError, match=named):
        scheme_from_json(text)


# Totals that can be, and no others


def reachable(scheme, clients, holdings):
    """Sums of messages that some clients can send."""
    messages = [scheme.encode(rankings, rng=0).tolist() for rankings in holdings]
    return {
        tuple(map(sum, zip(*chosen, strict=True)))
        for chosen in combinations_with_replacement(messages, clients)
    }


@pytest.mark.parametrize(("n", "low_bits"), [(3, 0), (3, 1), (4, 1), (4, 2)])
def test_lehmer_totals_are_accepted_if_and_only_if_they_can_be(n, low_bits):
    scheme = Lehmer(n, 2, low_bits=low_bits)
    can_be = reachable(scheme, 2, [[r] for r in permutations(range(n))])
    most = [2 * max(column) for column in zip(*can_be, strict=True)]
    for total in product(*(range(top + 1) for top in most)):
        if total in can_be:
            scheme.decode(total, 2)
        else:
            with pytest.raises(ValueError, match="impossible"):
                scheme.decode(total, 2)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_exact_borda_totals_are_accepted_if_and_only_if_they_can_be(n):
    scheme = Borda(n, 2, quantize=False, max_samples=1)
    can_be = reachable(scheme, 2, [[r] for r in permutations(range(n))])
    for total in product(range(2 * n), repeat=n):
        if total in can_be:
            scheme.decode(total, 2)
        else:
            with pytest.raises(ValueError, match="impossible"):
                scheme.decode(total, 2)


def test_wide_entries_may_come_in_a_list():
    scheme = Borda(3, 2, quantize=False, max_samples=2**61)
    assert scheme.decode([0, 2**61, 2**62], 1).ranks.tolist() == [0, 1, 2]


def test_a_scheme_and_a_study_cannot_be_changed():
    scheme = Borda(3, 2)
    for thing, name in ((scheme, "phi"), (Study(scheme), "threshold")):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(thing, name, 0.5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.dictionaries(
        st.sampled_from(["scheme", "n", "clients", "phi", "quantize", "max_samples", "low_bits"]),
        JSON | st.sampled_from(["borda", "lehmer", 3, 2, 0.5, True]),
    )
    | JSON,
)
def test_any_json_gives_a_scheme_or_a_value_error(fields):
    for text in (json.dumps(fields), str(fields)):
        for read in (scheme_from_json, Study.from_json):
            try:
                read(text)
            except ValueError:
                continue
