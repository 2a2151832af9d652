"""If another seed gives another order, the result says so: where, and why."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedrank import Borda, Consensus, Kemeny, Lehmer, PartialRankings, aggregate, federate
from fedrank.consensus import chance
from fedrank.consensus.ties import NOT_COUNTED, ROUNDED
from fedrank.protocol.driver import conduct
from fedrank.protocol.result import summary
from fedrank.protocol.study import Study
from fedrank.rankings.complete import Rankings
from fedrank.schemes import Refine
from fedrank.transport.inprocess import InProcess
from helpers.strategies import profiles

CYCLE = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
SEEDS = range(6)


def disagreement(order, ranks):
    pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]]
    return sum(row[b] < row[a] for row in ranks for a, b in pairs)


def best_orders(ranks):
    """All orders of least total Kendall distance."""
    orders = {order: disagreement(order, ranks) for order in permutations(range(len(ranks[0])))}
    least = min(orders.values())
    return [order for order, cost in orders.items() if cost == least]


def accounted_for(found):
    """Items whose places the result says may be others with another seed."""
    items = {item for group in found.tied_items or () for item in group}
    if found.tied_items is None or found._say_clients():
        items |= set(range(len(found)))
    if found.searched is not None:
        items |= set(found.order[found.searched.start : found.searched.end].tolist())
    return items


def check_promise(results):
    """Every item whose place differs is accounted for, in each of the results."""
    for found in results:
        for other in results:
            moved = set(np.flatnonzero(found.ranks != other.ranks).tolist())
            assert moved <= accounted_for(found)
            assert chance(found) or not moved
        # That rounding may exchange items holds for all seeds.
        by_seed = [each for each in chance(found) if not each.startswith(f"{ROUNDED}: ")]
        assert bool(accounted_for(found)) == bool(by_seed)


# Kemeny, by all optimal rankings


@given(profiles(5, 6), st.sampled_from(["random", "index"]), st.integers(0, 99))
def test_kemeny_ties_what_optimal_rankings_have_in_different_orders(ranks, rule, seed):
    found = aggregate(ranks, "kemeny", ties=rule, rng=seed)
    best = best_orders(ranks)
    assert tuple(found.order.tolist()) in best
    assert bool(found.tied_items) == (len(best) > 1)
    # The shortest runs of places that have the same items in every optimal ranking.
    n = len(found)
    cuts = [end for end in range(n + 1) if len({frozenset(order[:end]) for order in best}) == 1]
    order = found.order.tolist()
    expected = [tuple(order[a:b]) for a, b in pairwise(cuts) if b - a > 1]
    assert found.tied_items == tuple(expected)
    assert found.searched is None


@given(profiles(5, 6), st.integers(0, 99), st.permutations(range(5)))
def test_a_refinement_that_knows_all_pairs_ties_as_kemeny_does(ranks, seed, start):
    n = len(ranks[0])
    announced = [position for position in start if position < n]
    scheme = Refine(announced, 1, n, max_samples=9)
    found = scheme.decode(scheme.encode(ranks, client=0), 1, rng=seed)
    central = aggregate(ranks, "kemeny", rng=seed)
    assert list(map(set, found.tied_items)) == list(map(set, central.tied_items))


def test_a_cycle_of_majorities_is_a_tie_of_all_its_items():
    found = aggregate(CYCLE, "kemeny", rng=0)
    assert set(found.tied_groups[0]) == {0, 1, 2}
    assert chance(found)[0] == "1 tie broken at random"
    assert chance(found)[1].startswith("places 1 to 3 were decided by lot: ")
    assert "decided by lot" in repr(found)
    by_number = aggregate(CYCLE, "kemeny", ties="index")
    assert chance(by_number)[1] == "places 1 to 3 were decided by item number: 0, 1, 2"
    clients = [[row] for row in CYCLE]
    result = federate(clients, "kemeny", secure=False, window=2, rng=0)
    assert chance(result)[1].startswith("places 1 to 3 were decided by lot: ")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("send", ["weighted", "sums", "means"])
def test_a_federated_cycle_is_said_with_its_items_whatever_the_seed(send, seed):
    # All three share Borda's score, so the first order is drawn. Pairs of neighbours alone need
    # not show the cycle: then the result says that the comparisons do not settle it.
    votes = Rankings([*CYCLE, *CYCLE], items=["ann", "bob", "cy"])
    found = federate(votes.split(3, rng=0), "kemeny", secure=False, send=send, rng=seed)
    said = " ".join(chance(found))
    assert accounted_for(found) == {0, 1, 2}
    assert all(name in said for name in votes.items)
    assert "by lot" in said or "its comparisons do not settle places 1 to 3: another" in said
    assert ('send="sums" in the first round' in said) == (
        found.searched is not None and send != "sums"
    )
    other = ["dan", *votes.items]
    after = Rankings([[0, *(1 + place for place in row)] for row in [*CYCLE, *CYCLE]], items=other)
    clients = after.split(3, rng=0)
    found = federate(clients, "kemeny", secure=False, send="sums", window=2, rng=seed)
    assert found.top(1) == ("dan",)
    # All six rankings have dan before two others, and four have the second of these before the
    # third: so most have dan before that one, though it may not have been asked.
    assert accounted_for(found) == {1, 2, 3}


@pytest.mark.parametrize("options", [{}, {"window": 1}, {"rounds": 50}, {"fit_phi": True}])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_of_clients_that_agree_nothing_is_said_if_the_number_of_rankings_is_known(n, options):
    # The bound is so far above what clients hold that weighted means tie all items.
    ranking = np.random.default_rng(n).permutation(n).tolist()
    clients, bound = [[ranking] * 5] * 3, {"counts": True, "max_samples": 9999}
    for seed in SEEDS:
        found = federate(clients, "kemeny", secure=False, rng=seed, **bound, **options)
        assert len(set(federate(clients, send="weighted", max_samples=9999).scores)) == 1
        assert found.ranks.tolist() == ranking
        if "rounds" not in options or n < 3:
            assert chance(found) == ()
        else:  # another first order might take more than these rounds
            assert found.searched == ("start", 0, n)


@settings(max_examples=60)
@given(profiles(5, 5), st.integers(0, 9))
def test_nothing_is_said_if_most_rankings_agree_on_all_pairs(ranks, seed):
    n = len(ranks[0])
    method = Kemeny(n, 1, window=1, counts=True, max_samples=999)
    found = federate([ranks], method, secure=False, rng=seed)
    last = found.rounds[-1].scheme
    pairs = [(a, b) for a in range(n) for b in range(n) if found.ranks[a] < found.ranks[b]]
    most = {(a, b): sum(row[a] < row[b] for row in ranks) for a, b in pairs}
    clear = all(2 * count > len(ranks) for count in most.values())
    asked = [*getattr(last, "earlier", []), getattr(last, "ranks", found.ranks)]
    known = all(any(abs(int(r[a]) - int(r[b])) == 1 for r in asked) for a, b in pairs)
    if clear and known:
        assert chance(found) == ()
    if not clear and found.searched is None:
        # Nothing was drawn, or the ties are told.
        first = method.start
        sums = first.encode(ranks, client=0)
        assert found.tied_groups or len(set(sums.tolist())) == n


def test_a_draw_far_away_leaves_settled_places_alone():
    # Items 0 and 1 are tied. As many rankings have 2 before 4 as behind, but 3 is between them, and
    # exact sums order them. Only the first two are drawn.
    votes = [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [0, 1, 4, 2, 3], [1, 0, 4, 2, 3], [0, 1, 3, 4, 2]]
    votes = [*votes, [1, 0, 3, 4, 2], [0, 1, 2, 3, 4], [1, 0, 2, 3, 4]]
    start = Borda(5, 1, send="sums", max_samples=9)
    for seed in SEEDS:
        method = Kemeny(5, 1, start=start, window=3, max_samples=9)
        found = federate([votes], method, secure=False, rng=seed)
        assert found.order.tolist()[2:] == [2, 3, 4]
        assert list(map(set, found.tied_items)) == [{0, 1}]
        assert (found.decided_by, found.searched) == ("random", None)


# The promise


OPTIONS = [
    ("borda", {}),
    ("lehmer", {}),
    ("footrule", {}),
    ("pick", {}),
    ("pivot", {"runs": 1}),
    ("pivot", {"runs": 3}),
    ("pivot", {"runs": 1, "best_of_both": True}),
    ("kemeny", {}),
    ("kemeny", {"exact_upto": 2, "kicks": 1}),
    ("kemeny", {"exact_upto": 3, "kicks": 0}),
]


@pytest.mark.parametrize("rule", ["random", "index"])
@pytest.mark.parametrize(("method", "options"), OPTIONS)
@given(ranks=profiles(6, 6))
def test_what_depends_on_the_seed_is_said(method, options, rule, ranks):
    check_promise([aggregate(ranks, method, ties=rule, rng=seed, **options) for seed in SEEDS])


@pytest.mark.parametrize("method", ["borda", "pivot", "kemeny"])
@given(levels=st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=4))
def test_what_depends_on_the_seed_is_said_of_partial_rankings(method, levels):
    partial = PartialRankings.from_scores(np.array(levels, dtype=float))
    check_promise([aggregate(partial, method, rng=seed) for seed in SEEDS])


def federated_methods(n, clients):
    exact = Borda(n, clients, send="sums", max_samples=99)
    return [
        Borda(n, clients),
        Borda(n, clients, send="weighted", max_samples=9),
        Borda(n, clients, send="centroids"),
        exact,
        Lehmer(n, clients),
        Lehmer(n, clients, low_bits=2),
        Kemeny(n, clients, max_samples=99),
        Kemeny(n, clients, start=exact, window=1, rounds=1, max_samples=99),
        Kemeny(n, clients, start=exact, window=2, rounds=3, counts=True, max_samples=99),
        Kemeny(n, clients, majority=True, window=1),
        Kemeny(n, clients, start=exact, max_samples=99),
        Kemeny(n, clients, start=exact, window=1, counts=True, max_samples=99),
        Kemeny(n, clients, counts=True, max_samples=9999),
        Kemeny(n, clients, start=exact, window=1, rounds=2, counts=True, max_samples=99),
    ]


@pytest.mark.parametrize("which", range(14))
@settings(max_examples=12)
@given(st.data())
def test_what_depends_on_the_seed_is_said_of_federated_results(which, data):
    n = data.draw(st.integers(1, 5))
    rows = st.lists(st.permutations(range(n)), min_size=1, max_size=3)
    clients = data.draw(st.lists(rows, min_size=1, max_size=4))
    method = federated_methods(n, len(clients))[which]
    check_promise([federate(clients, method, secure=False, rng=seed) for seed in SEEDS])


# Random searches


def test_a_searched_part_is_named_with_its_places():
    ranks = [[0, *(1 + (shift + i) % 5 for i in range(5)), 6] for shift in range(5)]
    found = aggregate(ranks, "kemeny", exact_upto=2, rng=0)
    assert found.searched == ("search", 1, 6)
    said = "places 2 to 6 come from a random search: another seed may order them differently"
    assert said in chance(found)
    assert said in repr(found)
    assert Consensus.from_json(found.to_json()) == found


def test_a_search_without_draws_is_not_called_random():
    found = aggregate(CYCLE, "kemeny", exact_upto=2, kicks=0, ties="index")
    assert found.searched is None
    assert aggregate(CYCLE, "kemeny", exact_upto=2, kicks=1, ties="index").searched is not None
    scheme = Refine([0, 1, 2], 1, 2, max_samples=9)
    decoded = scheme.decode(scheme.encode(CYCLE, client=0), 1, ties="index")
    assert (decoded.searched, decoded.decided_by) == (None, "order")


def test_pivots_are_named_unless_all_majorities_agree_with_one_order():
    found = aggregate(CYCLE, "pivot", rng=0)
    said = "pivots are drawn at random: another seed may order places 1 to 3 differently"
    assert chance(found) == (said,)
    assert chance(aggregate([[0, 1, 2], [0, 1, 2], [0, 2, 1]], "pivot", rng=0)) == ()


def test_a_refinement_that_finds_only_ties_says_once_that_the_lot_decided():
    # All items share Borda's score, and all margins are 0; they are asked of neighbours only.
    votes = [[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[0, 1, 2, 3]], [[3, 2, 1, 0]]]
    start = Borda(4, 4, send="sums", max_samples=99)
    found = federate(
        votes, Kemeny(4, 4, start=start, window=1, max_samples=99), secure=False, rng=0
    )
    assert (found.decided_by, found.searched) == ("random", None)
    names = ", ".join(map(str, found.labels))
    assert chance(found) == (
        "1 tie broken at random",
        f"places 1 to 4 were decided by lot: {names}",
    )


# Ties inside clients


@pytest.mark.parametrize(
    ("method", "drew"),
    [
        (Lehmer(2, 3), ("a", "c")),
        (Borda(2, 3, send="centroids"), ("a", "c")),
        (Borda(2, 3), ()),
        (Borda(2, 3, send="sums", max_samples=2), ()),
        (Refine([0, 1], 3, 1, majority=True), ("a", "c")),
        (Refine([0, 1], 3, 1, max_samples=2), ()),
    ],
)
def test_clients_that_broke_ties_in_their_messages_are_counted(method, drew):
    undecided, sure = [[0, 1], [1, 0]], [[0, 1]]
    clients = {"a": undecided, "b": sure, "c": undecided}
    found = federate(clients, method, rng=0)
    said = (
        "the messages of 2 clients depended on ties that they broke at random: another seed may "
        "give another consensus"
    )
    assert found.local_ties == drew
    assert (said in chance(found)) == bool(drew)
    assert (said in repr(found)) == (said in found._repr_html_()) == bool(drew)
    assert Consensus.from_json(found.to_json()) == found
    study = Study(method, roster=list(clients))
    data = [Rankings(each) for each in clients.values()]
    elsewhere = conduct(study, InProcess(study, data, bytes(32)))
    assert elsewhere.local_ties is None
    assert (NOT_COUNTED in chance(elsewhere)) == bool(drew)


def test_clients_that_are_not_in_the_sum_are_not_counted():
    undecided = [[0, 1], [1, 0]]
    found = federate([undecided] * 4, "lehmer", dropouts=[3], rng=0)
    assert found.local_ties == (0, 1, 2)
    one = federate([undecided, [[0, 1]], [[0, 1]]], "lehmer", rng=0)
    (said,) = chance(one)
    assert said.startswith("the messages of 1 client depended on ties that it broke at random")


def test_a_winner_that_clients_drew_is_said_though_no_scores_are_tied():
    # Each client is undecided; what it draws decides the winner, and the sums are not tied.
    undecided = [[0, 1], [1, 0]]
    runs = [
        federate([undecided] * 3, send="centroids", secure=False, rng=seed) for seed in range(30)
    ]
    found = [each for each in runs if not each.tied_groups]
    assert {each.top(1) for each in found} == {(0,), (1,)}
    for each in found:
        said = "the messages of 3 clients depended on ties that they broke at random: another seed"
        assert any(sentence.startswith(said) for sentence in chance(each))
        assert said in repr(each)
        assert said in each._repr_html_()
        assert any(sentence.startswith(said) for sentence in summary(each)["chance"])
