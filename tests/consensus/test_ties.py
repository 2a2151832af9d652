"""Which places the tie rule decided: against the definitions, by brute force."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Kemeny, Lehmer, PartialRankings, Rankings, aggregate, federate
from fedrank.consensus import chance
from fedrank.consensus.ties import spans
from fedrank.schemes import Refine
from helpers.strategies import profiles

RULES = st.sampled_from(["random", "index"])


def votes():
    return profiles(6, 5)


def runs(order, tied):
    """Maximal runs of at least two neighbours, all tied with the next."""
    groups = [[order[0]]]
    for before, item in pairwise(order):
        if tied(before, item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def margin(ranks, a, b):
    return sum((row[a] < row[b]) - (row[a] > row[b]) for row in ranks)


@given(votes(), RULES, st.integers(0, 99))
def test_borda_ties_items_of_equal_score(ranks, rule, seed):
    found = aggregate(ranks, ties=rule, rng=seed)
    sums = [sum(column) for column in zip(*ranks, strict=True)]
    assert found.tied_groups == runs(found.order.tolist(), lambda a, b: sums[a] == sums[b])
    assert found.ties == sum(map(len, found.tied_groups))
    assert found.decided_by == rule


@given(votes(), RULES, st.integers(0, 99))
def test_lehmer_ties_an_item_and_those_it_can_move_past(ranks, rule, seed):
    found = aggregate(ranks, "lehmer", ties=rule, rng=seed)
    order = found.order.tolist()
    expected = []
    for item, digits in enumerate(zip(*map(lehmer_code, ranks), strict=True)):
        counts = Counter(digits)
        best = sorted(d for d, count in counts.items() if count == max(counts.values()))
        if len(best) > 1:
            earlier = [each for each in order if each < item]
            # The digit is the number of earlier items after it: lay it into every tied gap.
            gaps = [len(earlier) - digit for digit in best]
            passed = {*earlier[min(gaps) : max(gaps)], item}
            expected.append(tuple(each for each in order if each in passed))
    assert found.tied_groups == tuple(expected)
    assert found.ties == len(expected)


def lehmer_code(ranks):
    return [sum(ranks[t] > ranks[i] for t in range(i)) for i in range(len(ranks))]


@given(votes(), RULES, st.integers(0, 99))
def test_pick_ties_items_whose_places_differ_among_the_nearest(ranks, rule, seed):
    found = aggregate(ranks, "pick", ties=rule, rng=seed)

    def total(row):
        pairs = [(a, b) for a in range(len(row)) for b in range(a)]
        return sum((row[a] < row[b]) != (other[a] < other[b]) for other in ranks for a, b in pairs)

    least = min(map(total, ranks))
    nearest = [row for row in ranks if total(row) == least]
    differ = [i for i in found.order.tolist() if len({row[i] for row in nearest}) > 1]
    assert found.tied_groups == ((tuple(differ),) if differ else ())


def test_footrule_reports_no_ties_and_says_so():
    found = aggregate([[0, 1], [1, 0]], "footrule")
    assert found.tied_groups is None
    assert "does not report ties" in chance(found)[0]
    assert "does not report ties" in repr(found)


@given(votes(), st.integers(0, 99))
def test_federated_borda_ties_items_of_equal_sum(ranks, seed):
    n = len(ranks[0])
    for scheme in (Borda(n, len(ranks)), Borda(n, len(ranks), send="sums", max_samples=1)):
        total = sum(scheme.encode([row], client=c, rng=seed) for c, row in enumerate(ranks))
        sums = total.tolist() or [0]
        found = scheme.decode(total, len(ranks), rng=seed)
        same = {(a, b) for a in range(n) for b in range(n) if sums[a] == sums[b]}
        assert found.tied_groups == runs(found.order.tolist(), lambda *pair, s=same: pair in s)


@given(votes(), st.integers(0, 3), st.integers(0, 99))
def test_federated_lehmer_ties_span_all_digits_that_chance_can_give(ranks, low_bits, seed):
    n = len(ranks[0])
    scheme = Lehmer(n, len(ranks), low_bits=low_bits)
    total = sum(scheme.encode([row], client=c, rng=seed) for c, row in enumerate(ranks))
    found = scheme.decode(total, len(ranks), rng=seed)
    digits = [set() for _ in range(n)]
    for other in range(40):  # every choice is likely to come up
        drawn = scheme.decode(total, len(ranks), rng=other)
        for item, digit in enumerate(lehmer_code(drawn.ranks.tolist())):
            digits[item].add(digit)
    order = found.order.tolist()
    expected = []
    for item, some in enumerate(digits):
        earlier = [each for each in order if each < item]
        low, high = len(earlier) - max(some), len(earlier) - min(some)
        passed = {*earlier[low:high], item}
        if len(passed) > 1:
            expected.append(tuple(each for each in order if each in passed))
    assert found.tied_groups == tuple(expected)


@given(votes(), st.integers(0, 99))
def test_refinement_by_some_pairs_ties_neighbours_of_margin_zero(ranks, seed):
    n = len(ranks[0])
    scheme = Refine(list(range(n)), 1, 1, max_samples=9)
    found = scheme.decode(scheme.encode(ranks, client=0), 1, rng=seed)
    order = found.order.tolist()
    if n > 2:
        near = {frozenset((a, a + 1)) for a in range(n - 1)}
        assert found.tied_groups == runs(
            order, lambda a, b: frozenset((a, b)) in near and margin(ranks, a, b) == 0
        )
        assert found.decided_by == "order"


def test_a_refinement_says_by_lot_only_if_the_round_before_drew():
    # The margin of a and b is 0; exact Borda has them apart, or tied too.
    apart = [[[0, 1, 2]], [[0, 1, 2]], [[1, 0, 2]], [[2, 0, 1]]]
    method = Kemeny(3, 4, start=Borda(3, 4, send="sums", max_samples=1), window=1, max_samples=1)
    found = federate(apart, method, secure=False, rng=0)
    assert (found.tied_groups, found.decided_by) == (((0, 1),), "order") or (
        found.tied_groups,
        found.decided_by,
    ) == (((1, 0),), "order")
    assert "left in the order of the round before" in chance(found)[0]
    drawn = federate([[[0, 1, 2]], [[1, 0, 2]]] * 2, method, secure=False, rng=0)
    assert drawn.decided_by == "random"
    assert chance(drawn)[1].startswith("places 1 and 2 were decided by lot: ")


# What is said


TOWNS = ["Golden", "St. Clair", "Maine", "Ames"]


def tied(first, second, ties="random"):
    """Two items tied at these positions, the others in order."""
    swapped = list(range(4))
    swapped[first], swapped[second] = second, first
    return aggregate(Rankings([range(4), swapped], items=TOWNS), ties=ties, rng=0)


def test_no_ties_no_words():
    found = aggregate(Rankings([[0, 1, 2, 3]], items=TOWNS))
    assert chance(found) == ()
    assert found.tied_groups == ()
    assert repr(found) == "Consensus by borda of 4 items: Golden, St. Clair, Maine, Ames"


def test_a_winner_by_lot_is_named():
    found = tied(0, 1)
    first, second = found.labels[:2]
    loud = f"places 1 and 2 were decided by lot: {first}, {second}"
    assert chance(found) == ("1 tie broken at random", loud)
    assert loud in repr(found)
    assert loud in found._repr_html_()
    by_number = chance(tied(0, 1, ties="index"))
    assert by_number[1] == "places 1 and 2 were decided by item number: Golden, St. Clair"


def test_a_tie_at_the_end_of_what_is_shown_is_named():
    found = tied(1, 2)
    assert chance(found) == ("1 tie broken at random",)
    assert len(chance(found, top=1)) == len(chance(found, top=3)) == 1
    assert chance(found, top=2)[1].startswith("places 2 and 3 were decided by lot: ")
    assert len(chance(found, top=0)) == 1


def test_repr_names_a_tie_at_the_end_of_what_it_shows():
    order = list(range(9))
    swapped = [0, 1, 2, 3, 4, 6, 5, 7, 8]
    found = aggregate([order, swapped], ties="index")
    assert repr(found).splitlines()[0].endswith(": 0, 1, 2, 3, 4, 5, …")
    assert "places 6 and 7 were decided by item number: 5, 6" in repr(found)
    later = aggregate([order, [0, 1, 2, 3, 4, 5, 7, 6, 8]], ties="index")
    assert "places" not in repr(later)


def test_a_tie_at_both_ends_is_named_once():
    found = aggregate(Rankings([range(4), [3, 2, 1, 0]], items=TOWNS), ties="index")
    all_tied = f"places 1 to 4 were decided by item number: {', '.join(TOWNS)}"
    assert chance(found, top=2) == ("1 tie broken by item number", all_tied)


def test_labels_in_sentences_cannot_break_lines():
    found = aggregate(Rankings([[0, 1], [1, 0]], items=["a\n\x1b[31m", "b"]), ties="index")
    assert "\n" not in chance(found)[1]
    assert "\x1b" not in chance(found)[1]


@given(st.sets(st.integers(1, 30), min_size=1))
def test_spans_name_every_number(numbers):
    found = set()
    for part in spans(sorted(numbers)).replace(" and ", ", ").split(", "):
        first, _, last = part.partition(" to ")
        found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers


@pytest.mark.parametrize("partial", [True, False])
def test_partial_rankings_have_ties_of_mid_ranks(partial):
    ranks = [[0, 0, 1], [0, 1, 2]] if partial else [[0, 1, 2], [0, 1, 2]]
    found = aggregate((PartialRankings if partial else Rankings)(ranks))
    assert found.tied_groups == ()
    every = aggregate(PartialRankings([[0, 0, 0]]), ties="index")
    assert every.tied_groups == ((0, 1, 2),)


def test_a_large_lehmer_consensus_lists_its_ties_only_when_asked():
    draws = np.random.default_rng(0).permuted(np.tile(np.arange(300), (8, 1)), axis=1)
    found = aggregate(draws, "lehmer", rng=0)
    assert "tied_items" not in vars(found)
    assert len(found.tied_groups) == found.ties
