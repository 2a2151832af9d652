"""Refinement: what a client sends, and what the server makes of it (M14)."""

import json
from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import (
    Mallows,
    Study,
    aggregate,
    kemeny_score,
)
from fedrank.schemes import Refine
from fedrank.schemes import from_json as scheme_from_json
from helpers import reference


def shuffles(rng, count, n):
    return np.array([rng.permutation(n) for _ in range(count)])


def total_distance(ranking, rankings):
    return sum(reference.kendall(ranking, r) for r in rankings)


@cache
def every_ranking(n):
    return np.array(list(permutations(range(n))))


def least_distance(rankings):
    """Of any ranking, by enumeration: each pair costs the rankings against it."""
    counts, everyone = reference.pairwise(rankings), every_ranking(len(rankings[0]))
    cost = np.zeros(len(everyone), dtype=int)
    for a, b in combinations(range(everyone.shape[1]), 2):
        cost += np.where(everyone[:, a] < everyone[:, b], counts[b][a], counts[a][b])
    return cost.min()


# What a client sends


@st.composite
def settings(draw):
    n = draw(st.integers(1, 7))
    ranking = st.permutations(range(n))
    rankings = draw(st.lists(ranking, min_size=1, max_size=5))
    announced = draw(st.lists(ranking, min_size=1, max_size=3))
    window = draw(st.integers(1, n + 2) | st.just("auto"))
    return rankings, announced, window, draw(st.booleans())


@given(settings(), st.integers(1, 20), st.integers(5, 300))
def test_a_message_is_margins_in_twos_complement(setting, clients, samples):
    rankings, announced, window, counts = setting
    *earlier, ranks = announced
    scheme = Refine(ranks, clients, window, counts=counts, max_samples=samples, earlier=earlier)
    bits = reference.refine_bits(clients, samples)
    expected = reference.refine_message(rankings, announced, window, bits, counts)
    assert scheme.encode(rankings, client=0).tolist() == expected
    segments = {segment.name: (segment.entries, segment.bits) for segment in scheme.segments}
    pairs = len(reference.refine_pairs(announced, window))
    widths = {"margin": (pairs, bits)} if pairs else {}
    if counts and not earlier:
        most = comb(len(ranks), 2)
        if pairs < most:
            widths["distance"] = 1, reference.bits_for(clients * samples * most)
        widths["samples"] = 1, reference.bits_for(clients * samples)
    assert segments == widths


@given(settings())
def test_no_pair_is_asked_twice(setting):
    _, announced, window, _ = setting
    pairs = reference.known_pairs(announced, window)
    assert len(set(pairs)) == len(pairs)
    entries = 0
    for count in range(1, len(announced) + 1):
        *earlier, ranks = announced[:count]
        scheme = Refine(ranks, 2, window, earlier=earlier, max_samples=99)
        entries += sum(segment.entries for segment in scheme.segments)
    assert entries == len(pairs)


@pytest.mark.parametrize(("n", "samples"), [(70_000, 3), (3, 140_000), (65_536, 2), (65_537, 2)])
def test_margins_of_many_items_and_of_many_rankings(n, samples):
    rng = np.random.default_rng(n)
    rankings = rng.permuted(np.tile(np.arange(n), (samples, 1)), axis=1)
    ranks = rng.permutation(n)
    message = Refine(ranks, 1, 2, max_samples=samples).encode(rankings, client=0)
    seen = rankings[:, np.argsort(ranks)].astype(np.int64)
    apart = [np.sign(seen[:, d:] - seen[:, :-d]).sum(axis=0) for d in (1, 2)]
    bits = reference.refine_bits(1, samples)
    assert message.tolist() == (np.concatenate(apart) % 2**bits).tolist()


def test_a_majority_is_one_bit_and_a_tie_a_coin():
    order = [0, 1, 2]
    scheme = Refine(order, clients=5, window=2, majority=True)
    assert scheme.segments == (("margin", 3, 3),)
    assert scheme.max_samples is None
    assert scheme.encode([[0, 2, 1], [0, 2, 1], [0, 1, 2]], client=0).tolist() == [1, 0, 1]
    tied = [
        scheme.encode([[0, 1, 2], [2, 1, 0]], client=0, rng=seed).tolist() for seed in range(400)
    ]
    assert {entry for message in tied for entry in message} == {0, 1}
    # 200 ± 10 by the binomial law.
    assert all(abs(sum(column) - 200) < 50 for column in zip(*tied, strict=True))


def test_the_window_auto_is_of_neighbours_until_items_move():
    still = Refine(range(50), 3, max_samples=9)
    assert (still.window, still.segments[0].entries) == ("auto", 49)
    # Items 3 and 4 change places: each asks up to three places away. 2 and 3 have the places
    # 2 and 4 now, so (2, 4) and (3, 5) are new neighbours.
    ranks = [0, 1, 2, 4, 3, *range(5, 50)]
    moved = Refine(ranks, 3, max_samples=9, earlier=[range(50)])
    asked = {(2, 4), (3, 5)} | {(1, 4), (2, 3), (0, 4), (4, 5), (4, 6)}
    asked |= {(1, 3), (3, 6), (3, 7)}
    new = {pair for pair in asked if abs(pair[0] - pair[1]) > 1}
    assert moved.segments[0].entries == len(new)
    again = Refine(ranks, 3, max_samples=9, earlier=[range(50), ranks])
    assert again.segments == ()


@pytest.mark.parametrize("n", [1500, pytest.param(3000, marks=pytest.mark.slow)])
def test_margins_are_right_where_few_pairs_of_a_distance_are_asked(n):
    rng = np.random.default_rng(n)
    rankings = shuffles(rng, 7, n)
    ranks = np.arange(n)
    ranks[[3, 403]] = ranks[[403, 3]]  # two items move by 400 places
    scheme = Refine(ranks, 1, max_samples=7, earlier=[range(n)])
    pairs = reference_pairs_of_two(n, ranks)
    assert scheme.segments[0].entries == len(pairs)
    bits = reference.refine_bits(1, 7)
    margins = np.array([reference.margin(rankings.tolist(), a, b) for a, b in pairs])
    assert scheme.encode(rankings, client=0).tolist() == (margins % 2**bits).tolist()


def reference_pairs_of_two(n, ranks):
    """What is asked after items 3 and 403 changed places, by distance and place."""
    order = np.argsort(ranks)
    found = []
    for apart in range(1, n):
        for i in range(n - apart):
            a, b = int(order[i]), int(order[i + apart])
            near = apart == 1 or ({a, b} & {3, 403} and apart <= 801)
            if near and abs(a - b) > 1:
                found.append((a, b))
    return found


# What the server makes of it


def sent(scheme, clients, rng=0):
    return sum(scheme.encode(each, client=c, rng=[rng, c]) for c, each in enumerate(clients))


@given(settings())
def test_the_result_is_never_worse_than_its_start_and_keeps_unknown_pairs(setting):
    rankings, announced, window, counts = setting
    totals, found = [], None
    for count in range(1, len(announced) + 1):
        *earlier, ranks = announced[:count]
        scheme = Refine(ranks, 3, window, counts=counts, max_samples=5, earlier=earlier)
        totals.append(scheme.encode(rankings, client=0))
        found = scheme.decode(totals[-1], 1, earlier=totals[:-1])
        assert sorted(found.ranks) == list(range(len(ranks)))
        assert total_distance(found.ranks, rankings) <= total_distance(ranks, rankings)
        known = set(reference.known_pairs(announced[:count], window))
        for a, b in combinations(range(len(ranks)), 2):
            if frozenset((a, b)) not in known:
                assert (found.ranks[a] < found.ranks[b]) == (ranks[a] < ranks[b])


def moved(order, place, to):
    order = list(order)
    order.insert(to, order.pop(place))
    return order


@given(settings())
def test_no_single_move_past_known_items_helps(setting):
    rankings, announced, window, _ = setting
    ranks = announced[0]
    scheme = Refine(ranks, 3, window, max_samples=5)
    found = scheme.decode(scheme.encode(rankings, client=0), 1)
    known = set(reference.known_pairs(announced[:1], window))
    order = [int(item) for item in found.order]
    least = total_distance(found.ranks, rankings)
    for place, item in enumerate(order):
        for to in range(len(order)):
            passed = order[min(place, to) : max(place, to) + 1]
            if all(frozenset((item, x)) in known for x in passed if x != item):
                other = reference.inverse(moved(order, place, to))
                assert least <= total_distance(other, rankings)


@pytest.mark.parametrize("samples", [3, 4, 9, 10])
@pytest.mark.parametrize("counts", [True, False])
def test_with_all_pairs_known_the_result_is_the_best_and_says_so(samples, counts):
    rng = np.random.default_rng(samples)
    for _ in range(40):
        n = int(rng.integers(1, 8))
        rankings, start = shuffles(rng, samples, n), rng.permutation(n)
        scheme = Refine(start, 2, n, counts=counts, max_samples=10)
        found = scheme.decode(scheme.encode(rankings, client=0), 1, rng=rng)
        assert found.exact is True
        assert total_distance(found.ranks, rankings) == least_distance(rankings)
        if counts:
            assert found.objective == pytest.approx(kemeny_score(found, rankings), rel=1e-12)
            assert found.lower_bound == found.objective
        else:
            assert found.objective is found.lower_bound is None


@pytest.mark.parametrize("rounds", [1, 2])
def test_what_known_pairs_prove_is_the_best_of_all_rankings(rounds):
    proved = unproved = cyclic = 0
    rng = np.random.default_rng(rounds)
    for _ in range(800):
        n, samples = int(rng.integers(3, 8)), int(rng.integers(1, 13))
        phi, window = rng.uniform(0.1, 0.9), int(rng.integers(1, n - 1))
        rankings = Mallows(phi, n=n).sample(samples, rng).ranks
        announced = [aggregate(rankings, rng=rng).ranks]
        if rounds == 2:
            announced.insert(0, Mallows(0.5, n=n).sample(1, rng).ranks[0])
        totals = []
        for count in range(1, rounds + 1):
            *earlier, ranks = announced[:count]
            scheme = Refine(ranks, 2, window, counts=True, max_samples=12, earlier=earlier)
            totals.append(scheme.encode(rankings, client=0))
        found = scheme.decode(totals[-1], 1, rng=rng, earlier=totals[:-1])
        if len(set(reference.known_pairs(announced, window))) == n * (n - 1) // 2:
            continue
        distance = total_distance(found.ranks, rankings)
        if found.objective is None:  # the two orders announced may differ in an unknown pair
            assert rounds == 2
        else:
            assert found.objective == pytest.approx(distance / (samples * n), abs=1e-12)
        if not found.exact:
            unproved += 1
            assert found.lower_bound is None
            continue
        assert found.lower_bound == found.objective
        assert distance == least_distance(rankings)
        proved += 1
        pairs = combinations(found.order, 2)
        cyclic += any(reference.margin(rankings.tolist(), a, b) < 0 for a, b in pairs)
    # Both happen often, and a few of those proved have a pair against its majority.
    assert proved > 100
    assert unproved > 100
    assert cyclic > 0


def test_without_the_number_of_rankings_unknown_pairs_are_not_proved():
    rankings = [[0, 1, 2, 3]] * 5
    for counts in (True, False):
        scheme = Refine([0, 1, 2, 3], 1, 1, counts=counts, max_samples=5)
        assert scheme.decode(scheme.encode(rankings, client=0), 1).exact is counts
    majority = Refine([0, 1, 2, 3], 1, 3, majority=True)
    assert majority.decode(majority.encode(rankings, client=0), 1).exact is None


def test_a_large_window_searches_like_the_central_method():
    rankings = Mallows(0.97, n=60).sample(40, rng=0)
    scheme = Refine(aggregate(rankings, rng=0), 1, 59, counts=True, max_samples=40)
    found = scheme.decode(scheme.encode(rankings, client=0), 1, rng=0)
    central = aggregate(rankings, "kemeny", rng=0)
    # The bound adds cycles as they come, so it depends on how items are numbered.
    assert found.lower_bound == pytest.approx(central.lower_bound, rel=1e-3)
    assert found.lower_bound <= found.objective <= central.objective * 1.001
    assert found.objective == pytest.approx(kemeny_score(found, rankings), rel=1e-12)


def test_sums_may_be_reduced_or_not():
    rng = np.random.default_rng(0)
    clients = [shuffles(rng, 5, 9) for _ in range(4)]
    scheme = Refine(range(9), 4, 3, counts=True, max_samples=5)
    total = sent(scheme, clients)
    (_, pairs, bits), _, _ = scheme.segments
    reduced = total.copy()
    reduced[:pairs] %= 2**bits
    assert (total != reduced).any()
    found = [scheme.decode(each, 4, rng=1) for each in (total, reduced)]
    assert found[0].ranks.tolist() == found[1].ranks.tolist()


def test_majorities_are_counted_over_clients():
    # Two clients of three have 1 before 0, though most rankings do not.
    clients = [[[1, 0]], [[1, 0]], [[0, 1]] * 9]
    by_client = Refine([0, 1], 3, 1, majority=True)
    assert by_client.decode(sent(by_client, clients), 3).order.tolist() == [1, 0]
    by_ranking = Refine([0, 1], 3, 1, max_samples=9)
    assert by_ranking.decode(sent(by_ranking, clients), 3).order.tolist() == [0, 1]


def test_ties_are_left_as_announced_and_counted():
    tied = [[0, 1, 2], [2, 1, 0]]
    for start in permutations(range(3)):
        scheme = Refine(start, 1, 1, max_samples=2)
        found = scheme.decode(scheme.encode(tied, client=0), 1)
        assert found.ranks.tolist() == list(start)
        assert found.ties == 2


def test_ten_thousand_items_are_refined():
    rankings = Mallows(0.9, n=10_000).sample(20, rng=0)
    start = aggregate(rankings, rng=0)
    scheme = Refine(start, 1, 64, counts=True, max_samples=20)
    found = scheme.decode(scheme.encode(rankings, client=0), 1)
    assert kemeny_score(found, rankings) < kemeny_score(start, rankings)


@pytest.mark.parametrize(
    ("options", "total", "survivors", "named"),
    [
        ({}, [0, 0], 2, "2 entries; the scheme's messages have 3"),
        ({}, [0, 0, 0, 0], 2, "4 entries; the scheme's messages have 3"),
        ({}, [0, 0, 0], 4, "survivors must be 1 to 3"),
        ({}, [0, 0, 0], 0, "survivors"),
        ({}, [12, 0, 0], 2, "the margins exceed what 2 clients can send"),
        ({}, [2**6 - 12, 0, 0], 2, "the margins exceed what 2 clients can send"),
        ({}, [2**7, 0, 0], 2, "the margins exceed what 2 clients can send"),
        ({}, [2**63, 0, 0], 2, "the margins exceed what 2 clients can send"),
        ({}, [1, 1, 2], 2, "all even or all odd"),
        ({"counts": True}, [1, 1, 1, 1], 2, "2 clients with 1 to 5 rankings each cannot hold"),
        ({"counts": True}, [1, 1, 1, 11], 2, "2 clients with 1 to 5 rankings each cannot hold"),
        ({"counts": True}, [5, 1, 1, 3], 2, "larger than the number of rankings"),
        ({"counts": True}, [1, 1, 1, 4], 2, "all even or all odd"),
        ({"counts": True}, [0, 0, 0], 2, "3 entries; the scheme's messages have 4"),
        ({"majority": True}, [3, 0, 0], 2, "the margins exceed what 2 clients can send"),
        ({}, [0, 0, -1], 2, "negative"),
        ({}, [0.5, 0, 0], 2, "not a whole number"),
    ],
)
def test_impossible_totals_are_refused(options, total, survivors, named):
    scheme = Refine([0, 1, 2], 3, 2, max_samples=5, **options)
    with pytest.raises(ValueError, match=named):
        scheme.decode(total, survivors)


def test_totals_of_the_wrong_rounds_are_refused():
    scheme = Refine([1, 2, 3, 0], 3, 1, max_samples=5, earlier=[[0, 1, 2, 3]])
    assert scheme.segments[0].entries == 1
    with pytest.raises(ValueError, match="one total for each announced order"):
        scheme.decode([0], 1)
    with pytest.raises(ValueError, match="2 entries; the scheme's messages have 3"):
        scheme.decode([0], 1, earlier=[[0, 0]])
    with pytest.raises(ValueError, match="all even or all odd"):
        scheme.decode([1], 1, earlier=[[0, 0, 0]])
    assert len(scheme.decode([0], 1, earlier=[[0, 0, 0]])) == 4


# The public part


@pytest.mark.parametrize(
    "options",
    [
        {"max_samples": 9},
        {"counts": True, "max_samples": 7},
        {"majority": True},
        {"earlier": [[0, 1, 2, 3], [3, 2, 1, 0]], "max_samples": 9},
    ],
)
def test_json_gives_the_scheme_back(options):
    scheme = Refine([2, 0, 1, 3], 5, 2, **options)
    again = scheme_from_json(scheme.to_json())
    assert again == scheme
    assert hash(again) == hash(scheme)
    assert again.segments == scheme.segments
    if "earlier" not in options:  # a later round is no method by itself
        study = Study(scheme, items="abcd")
        assert Study.from_json(study.to_json()).digest == study.digest
    assert len(repr(Refine(range(5000), 5, 2, max_samples=99))) < 200


def test_json_names_each_field_once():
    scheme = Refine([1, 0], 3, 1, earlier=[[0, 1]], max_samples=99)
    assert json.loads(scheme.to_json()) == {
        "scheme": "refine",
        "ranks": [1, 0],
        "earlier": [[0, 1]],
        "clients": 3,
        "window": 1,
        "counts": False,
        "majority": False,
        "max_samples": 99,
    }


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        (([0, 0, 1], 3, 1), {}, "not a ranking"),
        (([[0, 1], [1, 0]], 3, 1), {}, "the announced order must be one ranking"),
        (([], 3, 1), {}, "at least one item|one ranking"),
        (([0, 1], 0, 1), {}, "clients"),
        (([0, 1], 3, 0), {}, "window"),
        (([0, 1], 3, 1.5), {}, "window"),
        (([0, 1], 3, 1), {"counts": "yes"}, "counts must be True or False"),
        (([0, 1], 3, 1), {"majority": 1}, "majority must be True or False"),
        (([0, 1], 3, 1), {"counts": True, "majority": True}, "leave out counts or majority"),
        (([0, 1], 3, 1), {"max_samples": 0}, "max_samples"),
        (([0, 1], 3, 1), {"max_samples": 2**31}, "max_samples"),
        (([0, 1], 3, 1), {"max_samples": 5, "earlier": [[0, 1, 2]]}, "the 2 items of ranks, not 3"),
        (([0, 1], 3, 1), {"max_samples": 5, "earlier": [[0, 2]]}, "not a ranking"),
        (([0, 1], 3, 1), {"max_samples": 5, "earlier": 7}, "earlier"),
        ((range(100_000), 3, 50_000), {}, "window makes the message too long"),
    ],
)
def test_bad_parameters_are_refused_and_named(arguments, options, named):
    with pytest.raises(ValueError, match=named):
        Refine(*arguments, **({"max_samples": 9} | options))


def test_bad_rankings_are_refused():
    scheme = Refine([0, 1, 2], 3, 1, max_samples=2)
    with pytest.raises(ValueError, match="max_samples is 2"):
        scheme.encode([[0, 1, 2]] * 3, client=0)
    with pytest.raises(ValueError, match="items"):
        scheme.encode([[0, 1]], client=0)
    with pytest.raises(ValueError, match="ties"):
        scheme.decode([0, 0], 1, ties="first")
    with pytest.raises(AttributeError, match="make another"):
        scheme.window = 2
    with pytest.raises(ValueError, match="read-only"):
        scheme.ranks[0] = 1
