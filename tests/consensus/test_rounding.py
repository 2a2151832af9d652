"""What is said of items that rounded means may have tied or exchanged."""

import html
import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedrank import Consensus, PartialRankings, aggregate, federate
from fedrank.consensus import chance
from fedrank.protocol.result import summary
from fedrank.rankings.complete import Rankings

MAY_TIE = "mean positions were rounded, so items closer than {} may tie: {}; {} tells them apart"


def test_items_that_rounding_may_have_tied_are_named_with_the_remedy():
    # Means 0.6, 0.7 and 1.7; at one level per place, three clients resolve 1/3 of a place.
    near = [[0, 1, 2]] * 4 + [[1, 0, 2]] * 3 + [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    votes = Rankings(near, items=["ann", "bob", "cy"])
    found = federate([votes] * 3, levels=1, rng=0)
    assert set(found.tied_groups[0]) == {"ann", "bob"}
    names = ", ".join(found.tied_groups[0])
    said = MAY_TIE.format("0.33 of a place", names, 'send="sums"')
    (sentence,) = (each for each in chance(found) if each.startswith(said))
    assert sentence in repr(found)
    assert html.escape(sentence) in found._repr_html_()
    assert sentence in json.loads(found.to_json())["chance"]
    assert sentence in summary(found)["chance"]
    # Exact sums tell them apart, and so do levels enough.
    for options in ({"send": "sums"}, {"levels": 16}):
        assert federate([votes] * 3, **options).labels == ("ann", "bob", "cy")
        assert chance(federate([votes] * 3, **options)) == ()


def test_of_means_that_were_not_rounded_nothing_is_said():
    # One ranking per client: its means are whole places.
    clients = [[[0, 1]], [[1, 0]], [[0, 1]], [[1, 0]]]
    for send in ("means", "weighted"):
        found = federate(clients, send=send, max_samples=1, rng=0)
        assert not any("rounded" in each for each in chance(found))
    # Half places need an even number of levels.
    partial = [[[0, 0]], [[0, 0]], [[0, 1]]]
    votes = [PartialRankings(rows) for rows in partial]
    for levels, rounded in ((4, False), (3, True)):
        found = federate(votes, send="weighted", levels=levels, max_samples=1, rng=0)
        assert any("rounded" in each for each in chance(found)) == rounded


def test_the_remedy_for_ties_and_exchanged_items_is_said_once():
    clients = [[[0, 1], [1, 0]]] * 3
    (_, _, said) = chance(federate(clients, send="weighted", rng=0))
    assert said.endswith(
        "; items may be in the wrong order where clients hold far fewer than 3 rankings; "
        'send="sums" is exact'
    )


@pytest.mark.parametrize(
    ("options", "apart"),
    [
        ({}, "0.083 of a place"),  # 1/(4 3)
        ({"levels": 1}, "0.33 of a place"),
        ({"dropouts": [3], "levels": 2}, "0.25 of a place"),  # (1 + 1)/(2 4)
        ({"send": "weighted"}, "0.083 of a place, or more as clients hold fewer than 3 rankings,"),
        ({"send": "sums"}, None),
        ({"send": "centroids"}, None),
    ],
)
def test_only_ties_of_rounded_means_are_called_that(options, apart):
    clients = [[[0, 1], [1, 0]]] * (4 if "dropouts" in options else 3)
    found = federate(clients, rng=0, **options)
    said = [each for each in chance(found) if each.startswith("mean positions were rounded")]
    if apart is None:
        assert said == []
    else:
        (sentence,) = said
        assert sentence.startswith(f"mean positions were rounded, so items closer than {apart} may")


# Item 0 has the best mean over clients, (1 + 5/3 + 4/7)/3 = 68/63 before the 69/63 of item 3, but
# what the clients round adds up to 14 and 13.
EXCHANGED = [
    [[1, 3, 2, 0]],
    [[2, 1, 0, 3], [1, 3, 2, 0], [2, 1, 0, 3]],
    [*[[1, 3, 2, 0]] * 2, *[[1, 2, 0, 3]] * 2, *[[0, 3, 2, 1]] * 3],
]


def exact_means(clients):
    """Means over clients of their mean positions, not rounded."""
    means = [
        [Fraction(sum(item), len(rows)) for item in zip(*rows, strict=True)] for rows in clients
    ]
    return [sum(item) / len(clients) for item in zip(*means, strict=True)]


def test_a_winner_that_rounding_may_have_exchanged_is_named_with_the_remedy():
    means = exact_means(EXCHANGED)
    assert min(means) == means[0] < means[3]
    found = federate(EXCHANGED, rng=0)
    assert (found.top(2), found.tied_items) == ((3, 0), ())
    (said,) = chance(found)
    assert said == (
        "mean positions were rounded: 1 pair of neighbours is less than 0.25 of a place apart, "
        "places 1 and 2 (3, 0), and may be in the wrong order where clients differ; "
        'send="sums" is exact'
    )
    for shown in (repr(found), html.unescape(found._repr_html_())):
        assert said in shown
    for kept in (json.loads(found.to_json()), summary(found)):
        assert said in kept["chance"]
    assert chance(Consensus.from_json(found.to_json())) == (said,)
    for send in ("sums", "centroids"):
        assert not any("apart" in each for each in chance(federate(EXCHANGED, send=send, rng=0)))


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.permutations(range(4)), min_size=1, max_size=5), min_size=3, max_size=4),
    st.sampled_from([1, 2, 4]),
)
def test_neighbours_that_rounding_exchanged_are_always_said(clients, levels):
    found = federate(clients, secure=False, levels=levels, rng=0)
    means = exact_means(clients)
    order = found.order.tolist()
    tied = [set(group) for group in found.tied_items]
    wrong = [
        (place, a, b)
        for place, (a, b) in enumerate(pairwise(order))
        if means[a] > means[b] and not any({a, b} <= group for group in tied)
    ]
    said = " ".join(chance(found))
    if wrong:
        assert f"less than {1 / levels:.2g} of a place apart" in said
    if any(place == 0 for place, _, _ in wrong):
        assert f"places 1 and 2 ({order[0]}, {order[1]})" in said


def test_the_difference_that_may_tie_grows_with_a_gap_in_the_roster():
    # Means 1.00 and 1.07; clients 9, 0 and 1 are lost, so 3 + 1 steps of 1/(4 10) may be missing.
    ranks = [[0, 1, 2]] * 47 + [[1, 0, 2]] * 40 + [[2, 1, 0]] * 13
    found = federate([ranks] * 10, dropouts=[9, 0, 1], threshold=7, rng=0)
    exact = aggregate(ranks).scores
    for group in found.tied_groups:
        assert np.ptp(exact[list(group)]) < 4 / 40
    tied = federate([[[0, 1], [1, 0]]] * 10, dropouts=[9, 0, 1], threshold=7, rng=0)
    assert any("items closer than 0.1 of a place may tie" in each for each in chance(tied))
