"""Rankings from ballots."""

import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from fedrank import Rankings


def test_choices_come_first_in_their_order():
    votes = Rankings.from_ballots([["c", "a"], ["b"]], items="abcd", rng=1)
    assert votes.items == ("a", "b", "c", "d")
    assert votes.ranks[0, 2] == 0
    assert votes.ranks[0, 0] == 1
    assert votes.ranks[1, 1] == 0


def test_the_rest_is_completed_uniformly():
    votes = Rankings.from_ballots([["c"]] * 24_000, items="abcde", rng=2)
    assert (votes.ranks[:, 2] == 0).all()
    counts = Counter(map(tuple, votes.ranks.tolist()))
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_completions_are_uniform_over_seeds():
    seeds = range(2400)
    drawn = [Rankings.from_ballots([[]], items="abc", rng=seed).ranks[0] for seed in seeds]
    counts = Counter(map(tuple, drawn))
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize(
    "ballot",
    [
        ["b", "b", "a", "c"],
        ["b", "a", "b", "c", "a"],
        ["b", None, "a", "c"],
        ["b", float("nan"), "a", "c"],
        ["b", np.nan, "a", "", "c"],
        ["undervote", "b", "a", "overvote", "c"],
        ["Undervote", " OVERVOTE ", "b", "a", "c"],
        ["b", ["a", "c"], "a", "c"],
        ["b", {"a", "c"}, "a", frozenset("bc"), "c"],
        ["b", ["a"], {"c"}],
        ["b", [], "a", "c"],
        iter("bac"),
    ],
)
def test_blanks_overvotes_and_repeats_are_dropped(ballot):
    votes = Rankings.from_ballots([ballot], items="abc", rng=3)
    assert votes.ranks.tolist() == [[1, 0, 2]]


def test_a_ballot_does_not_depend_on_the_others():
    ballots = [random.Random(i).sample("abcdef", i % 4) for i in range(40)]
    whole = Rankings.from_ballots(ballots, items="abcdef", rng=4)
    assert Rankings.from_ballots(ballots[:9], items="abcdef", rng=4) == whole[:9]
    others = ballots[:1] + [["f"]] * 39
    assert Rankings.from_ballots(others, items="abcdef", rng=4)[:1] == whole[:1]


def test_the_same_rng_completes_the_same():
    ballots = [[]] * 20
    first = Rankings.from_ballots(ballots, items="abcdef", rng=5)
    assert first == Rankings.from_ballots(ballots, items="abcdef", rng=5)
    assert first != Rankings.from_ballots(ballots, items="abcdef", rng=6)


def test_an_item_may_be_called_undervote():
    votes = Rankings.from_ballots([["undervote", "a"]], items=["a", "undervote"])
    assert votes.ranks.tolist() == [[1, 0]]


def test_labels_of_ballots_may_be_numbers():
    votes = Rankings.from_ballots([[3, 1, 2]], items=[1, 2, 3])
    assert votes.ranks.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("choice", ["zoe", 7, ("a", "b"), "A"])
def test_an_unknown_choice_is_refused_and_named(choice):
    with pytest.raises(ValueError, match=r"row 1: .* is not one of the items a, b, c") as e:
        Rankings.from_ballots([["a"], ["b", choice], ["x"]], items="abc")
    assert repr(choice) in str(e.value)


def test_a_choice_of_no_kind_is_refused():
    with pytest.raises(ValueError, match="row 0"):
        Rankings.from_ballots([[{"a": 1}]], items="abc")


def test_an_unknown_choice_within_a_list_of_one_is_refused():
    with pytest.raises(ValueError, match="row 0: 'z'"):
        Rankings.from_ballots([[["z"]]], items="abc")


@pytest.mark.parametrize(
    ("items", "message"), [([], "at least one item"), (["a", "a"], "'a' is given twice")]
)
def test_bad_items_of_ballots_are_refused(items, message):
    with pytest.raises(ValueError, match=message):
        Rankings.from_ballots([["a"]], items=items)
