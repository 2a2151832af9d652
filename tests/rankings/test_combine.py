"""Rankings of several parties: joined, restricted to common items, or refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import PartialRankings, Rankings
from fedrank.exceptions import InputError
from helpers.strategies import partial, profiles

ABC = Rankings([[0, 1, 2], [2, 0, 1]], items="abc")


def orders(rankings):
    """Each ranking as its labels, best first; tied labels in one set."""
    return [
        [
            frozenset(
                label for label, level in zip(rankings.items, row, strict=True) if level == at
            )
            for at in range(max(row) + 1)
        ]
        for row in rankings.ranks.tolist()
    ]


def test_concat_joins_by_label():
    other = Rankings([[0, 1, 2]], items="cab")
    joined = Rankings.concat([ABC, other])
    assert type(joined) is Rankings
    assert joined.items == ("a", "b", "c")
    assert orders(joined) == orders(ABC) + orders(other)
    assert Rankings.concat([ABC]) == ABC
    assert Rankings.concat(part for part in ABC.split(2, rng=0)).ranks.shape == (2, 3)


def test_concat_of_a_partial_part_is_partial():
    gaps = PartialRankings([[0, 0, -1]], items="abc")
    for joined in (Rankings.concat([ABC, gaps]), PartialRankings.concat([ABC, gaps])):
        assert type(joined) is PartialRankings
        assert joined.ranks.tolist() == [[0, 1, 2], [2, 0, 1], [0, 0, -1]]
    assert type(PartialRankings.concat([ABC])) is PartialRankings


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "nothing to join"),
        (ABC, "a list of rankings, not one Rankings"),
        ([ABC, [[0, 1, 2]]], "part 1 is a list"),
        ([ABC, Rankings([[0, 1, 2]])], "part 1 has no item labels, but part 0 has"),
        ([Rankings([[0, 1]]), Rankings([[0, 1, 2]])], "part 1 ranks 3 items, but part 0 ranks 2"),
        (
            [ABC, Rankings([[0, 1, 2]], items="abd")],
            r"part 0 lacks 1 \(d\); part 1 lacks 1 \(c\); .* select and common_items",
        ),
    ],
)
def test_what_cannot_be_joined_is_named(parts, message):
    with pytest.raises(InputError, match=message):
        Rankings.concat(parts)


def test_many_differences_are_counted():
    parts = [
        Rankings([np.arange(9)], items=[f"g{i + shift}" for i in range(9)]) for shift in range(9)
    ]
    with pytest.raises(InputError) as caught:
        Rankings.concat(parts)
    assert "part 0 lacks 8 (g9, g10, g11, g12, g13, g14, …); part 1 lacks 8" in str(caught.value)
    assert "6 other parts also lack items" in str(caught.value)


@given(profiles(6), st.data())
def test_selected_items_keep_their_order(ranks, data):
    labels = [f"i{item}" for item in range(len(ranks[0]))]
    some = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    found = Rankings(ranks, items=labels).select(some)
    assert type(found) is Rankings
    assert found.items == tuple(some)
    for order, full in zip(orders(found), orders(Rankings(ranks, items=labels)), strict=True):
        assert order == [tie for tie in full if tie <= set(some)]


@given(profiles(6, rows=partial), st.data())
def test_selected_partial_rankings_keep_ties_and_gaps_or_are_refused(ranks, data):
    labels = [f"i{item}" for item in range(len(ranks[0]))]
    some = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    whole = PartialRankings(ranks, items=labels)
    expected = [[tie & set(some) for tie in order if tie & set(some)] for order in orders(whole)]
    if not all(expected):
        with pytest.raises(InputError, match=f"row {expected.index([])}: the row ranks none"):
            whole.select(some)
    else:
        assert orders(whole.select(some)) == expected


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", "z"], "1 label not among the items: z"),
        (["a", "a"], "'a' is given twice"),
        ([], "at least one item"),
        (3, "must be a list"),
    ],
)
def test_what_cannot_be_selected_is_named(items, message):
    with pytest.raises(InputError, match=message):
        ABC.select(items)


def test_selecting_needs_labels():
    for call in (Rankings([[0, 1]]).select, lambda _: ABC.common_items(Rankings([[0, 1]]))):
        with pytest.raises(InputError, match="no labels"):
            call([0])
    with pytest.raises(InputError, match="not list"):
        ABC.common_items([[0, 1]])


def test_common_items_make_parties_agree():
    one, two = Rankings([[3, 0, 1, 2]], items="dabc"), Rankings([[0, 1, 2, 3]], items="ecab")
    shared = one.common_items(two, ABC)
    assert shared == ("a", "b", "c")
    assert one.common_items() == tuple("dabc")
    joined = Rankings.concat(each.select(shared) for each in (one, two, ABC))
    assert joined.ranks.tolist() == [[0, 1, 2], [1, 2, 0], [0, 1, 2], [2, 0, 1]]


@pytest.mark.parametrize("kind", [Rankings, PartialRankings])
def test_concat_takes_one_list(kind):
    one = kind([[0, 1]])
    with pytest.raises(InputError, match=rf"not 2 arguments; .* {kind.__name__}\.concat\(\[one"):
        kind.concat(one, one)
