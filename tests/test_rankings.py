"""Rankings: construction, conversion and the array protocol."""

import copy
import pickle
import random
from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, rankdata

import reference
from fedrank import Rankings, aggregate

rankings = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=6)
)


# --- The container ---


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_equal_and_read_only(copied):
    votes = Rankings([[2, 0, 1]], items="abc")
    again = copied(votes)
    assert again == votes
    assert not again.ranks.flags.writeable


def test_orders_give_back_labelled_rankings():
    votes = Rankings([[2, 0, 1], [0, 1, 2]], items=["x", "y", "z"])
    assert Rankings.from_orders(votes.orders(), items=votes.items) == votes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Rankings.from_orders(5), "orders must be a list of items, not 5"),
        (lambda: Rankings.from_orders([["a", float("nan")]]), "labels must not be NaN"),
        (lambda: Rankings([[0, 1]], items=["a", np.float32("nan")]), "labels must not be NaN"),
        (lambda: Rankings([[1, 1, -1]]), "-1 marks an item that is not ranked, use Partial"),
        (lambda: Rankings.from_orders([[["a"], "b"]]), r"must be text or numbers, not \['a'\]"),
        (lambda: Rankings.from_orders(["ab"], items=5), "items must be a list of items, not 5"),
        (lambda: Rankings.from_orders([0, 1]), "order 0 must be a list of items, not 0"),
        (lambda: Rankings.from_ballots([1], items="ab"), "ballot 0 must be a list of items"),
        (lambda: Rankings([[0, 1]], items=[["a"], ["b"]]), r"must be text or numbers, not \['a'\]"),
        (lambda: Rankings.from_ballots([[("a", ["b"])]], items="ab"), "row 0: "),
        (lambda: aggregate([[0, 1]], ["borda"]), "method must be one of"),
        (lambda: aggregate([[0, 1]] * 2, weights=[[1], [1, 2]]), "weights must be one count"),
        (lambda: Rankings(np.float32([[0, 2.0**31]])), r"row 0: 2147483648\.0 of item 1 is too"),
    ],
)
def test_natural_mistakes_are_value_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ranks_are_int32_in_c_order():
    ranks = Rankings([[2, 0, 1], [0, 1, 2]]).ranks
    assert ranks.dtype == np.int32
    assert ranks.flags.c_contiguous
    assert ranks.tolist() == [[2, 0, 1], [0, 1, 2]]


def test_differences_of_ranks_do_not_wrap():
    ranks = Rankings([[0, 1]]).ranks
    assert (ranks[0, 0] - ranks[0, 1]) == -1


def test_ranks_cannot_be_written():
    votes = Rankings([[0, 1], [1, 0]])
    for array in (votes.ranks, votes[:1].ranks, next(iter(votes)), np.asarray(votes)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_ranks_cannot_be_made_writable():
    with pytest.raises(ValueError, match="WRITEABLE"):
        Rankings([[0, 1]]).ranks.flags.writeable = True


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rankings_do_not_share_memory_with_their_source(dtype):
    source = np.array([[0, 1, 2]], dtype=dtype)
    votes = Rankings(source)
    source[:] = 7
    assert votes.ranks.tolist() == [[0, 1, 2]]


def test_one_row_is_one_ranking():
    assert Rankings([1, 0, 2]) == Rankings([[1, 0, 2]])


def test_base_1_is_shifted():
    assert Rankings([[1, 3, 2]], base=1) == Rankings([[0, 2, 1]])


def test_items_default_to_numbers():
    votes = Rankings([[1, 0, 2]])
    assert votes.items == (0, 1, 2)
    assert votes.item_labels is None
    assert votes.n == 3


def test_rankings_of_rankings_keep_the_labels():
    votes = Rankings([[1, 0]], items="ab")
    assert Rankings(votes) == votes
    assert Rankings(votes, items="xy").items == ("x", "y")


def test_rows_are_taken_by_number_slice_mask_and_list():
    votes = Rankings([[0, 1, 2], [1, 0, 2], [2, 1, 0]], items="abc")
    assert votes[1].tolist() == [1, 0, 2]
    assert votes[-1].tolist() == [2, 1, 0]
    assert votes[np.int64(1)].tolist() == [1, 0, 2]
    assert votes[1:] == Rankings([[1, 0, 2], [2, 1, 0]], items="abc")
    assert votes[::-2] == Rankings([[2, 1, 0], [0, 1, 2]], items="abc")
    assert votes[[True, False, True]] == votes[[0, 2]]
    assert votes[np.array([2, 2, 0])].ranks.tolist() == [[2, 1, 0], [2, 1, 0], [0, 1, 2]]
    assert len(votes[:0]) == 0
    assert votes[:0].items == ("a", "b", "c")
    assert votes[::-1].ranks.flags.c_contiguous


def test_an_empty_list_takes_no_rows():
    assert len(Rankings([[0, 1]])[[]]) == 0


@pytest.mark.parametrize("rows", [3, -4, [0, 3], [True], "a", 1.5])
def test_rows_that_are_not_there_are_refused(rows):
    with pytest.raises(IndexError):
        Rankings([[0, 1, 2]] * 3)[rows]


def test_part_of_a_row_is_not_a_ranking():
    with pytest.raises(IndexError, match="whole"):
        Rankings([[0, 1, 2]] * 3)[[[0, 1], [1, 2]]]


def test_iteration_gives_the_rows():
    votes = Rankings([[0, 1], [1, 0]])
    assert [row.tolist() for row in votes] == [[0, 1], [1, 0]]
    assert len(votes) == 2


def test_equality_compares_ranks_and_labels():
    votes = Rankings([[0, 1]], items="ab")
    assert votes == Rankings([[0, 1]], items="ab")
    assert votes != Rankings([[1, 0]], items="ab")
    assert votes != Rankings([[0, 1]], items="xy")
    assert votes != Rankings([[0, 1], [0, 1]], items="ab")
    assert votes != "ab"
    with pytest.raises(TypeError, match="unhashable"):
        hash(votes)


def test_repr_says_how_many_of_what():
    assert repr(Rankings([[0, 1]])) == "Rankings: 1 ranking of 2 items"
    assert repr(Rankings([[0]] * 2)) == "Rankings: 2 rankings of 1 item"
    assert repr(Rankings([[0, 1]], items="ab")) == "Rankings: 1 ranking of 2 items (a, b)"
    many = repr(Rankings([range(1000)], items=[f"gene-{i}" for i in range(1000)]))
    assert "1000 items" in many
    assert "gene-0, gene-1" in many
    assert len(many) < 120


def test_array_protocol():
    votes = Rankings([[0, 1], [1, 0]])
    assert np.shares_memory(np.asarray(votes), votes.ranks)
    assert np.asarray(votes, dtype=float).dtype == np.float64
    copied = np.array(votes)
    copied[0, 0] = 9
    assert votes.ranks[0, 0] == 0
    assert (np.mean(votes, axis=0) == 0.5).all()
    assert np.ndim(votes) == 2
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.shares_memory(np.asarray(votes, copy=False), votes.ranks)
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(votes, dtype=np.float64, copy=False)


def test_a_consensus_is_an_array_and_a_ranking():
    found = aggregate(Rankings([[1, 0, 2]], items="abc"))
    assert np.asarray(found).tolist() == [1, 0, 2]
    assert Rankings(found) == Rankings([[1, 0, 2]], items="abc")


# --- Orders ---


@given(rankings)
def test_orders_are_the_inverse(votes):
    orders = Rankings(votes).orders()
    assert orders.tolist() == [list(reference.inverse(r)) for r in votes]
    assert Rankings.from_orders(orders) == Rankings(votes)


def test_orders_of_labels_are_indexed_by_sorted_labels():
    votes = Rankings.from_orders([["cy", "ann", "bob"], ["ann", "bob", "cy"]])
    assert votes.items == ("ann", "bob", "cy")
    assert votes.ranks.tolist() == [[1, 2, 0], [0, 1, 2]]


def test_orders_follow_the_items_given():
    votes = Rankings.from_orders([["b", "a"], ["a", "b"]], items=["b", "a"])
    assert votes.items == ("b", "a")
    assert votes.ranks.tolist() == [[0, 1], [1, 0]]


def test_orders_of_numbers_that_are_not_indices_are_labels():
    votes = Rankings.from_orders([[30, 10, 20]])
    assert votes.items == (10, 20, 30)
    assert votes.ranks.tolist() == [[1, 2, 0]]


def test_generators_are_orders():
    assert Rankings.from_orders(iter(order) for order in ([1, 0], [0, 1])).n == 2


@pytest.mark.parametrize(
    ("orders", "items", "message"),
    [
        ([], None, "no orders"),
        ([[]], None, "row 0: an order must name at least one item"),
        (["ab", "a"], None, "row 1: the order leaves out 'b', .*from_ballots"),
        (["ab", "ac"], None, "row 1: 'c' is not one of the items"),
        (["ab", "aba"], None, "row 1: the order names 'a' more than once"),
        (["aa"], None, "'a' is given twice"),
        (["ab"], "abc", "row 0: the order leaves out 'c'"),
        (["abc"], "ab", "row 0: 'c' is not one of the items"),
        (["ab"], "aab", "'a' is given twice"),
    ],
)
def test_bad_orders_are_refused(orders, items, message):
    with pytest.raises(ValueError, match=message):
        Rankings.from_orders(orders, items)


# --- Scores ---


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30, unique=True))
def test_the_highest_score_is_best(scores):
    expected = rankdata(-np.array(scores), method="ordinal") - 1
    assert Rankings.from_scores([scores]).ranks[0].tolist() == expected.tolist()


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=5))
def test_ties_by_index_keep_the_columns_in_order(scores):
    expected = rankdata(-np.array(scores), method="ordinal", axis=1) - 1
    found = Rankings.from_scores(scores, ties="index")
    assert found.ranks.tolist() == expected.tolist()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 2**32))
def test_random_ties_never_contradict_the_scores(scores, seed):
    ranks = Rankings.from_scores([scores], rng=seed).ranks[0]
    ordered = [scores[i] for i in reference.inverse(ranks)]
    assert ordered == sorted(scores, reverse=True)


def test_random_ties_are_uniform():
    # Scores with ties of three and two: 12 rankings, equally likely.
    votes = Rankings.from_scores(np.tile([5.0, 1.0, 5.0, 1.0, 5.0], (24_000, 1)), rng=3)
    counts = Counter(map(tuple, votes.ranks.tolist()))
    assert len(counts) == 12
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_random_ties_differ_over_seeds():
    found = {tuple(Rankings.from_scores([[1, 1, 1]], rng=seed).ranks[0]) for seed in range(60)}
    assert len(found) == 6


def test_a_row_of_scores_does_not_depend_on_the_others():
    scores = np.random.default_rng(1).integers(0, 3, (50, 9))
    whole = Rankings.from_scores(scores, rng=5)
    other = scores.copy()
    other[1:] = 0
    assert Rankings.from_scores(scores[:7], rng=5) == whole[:7]
    assert Rankings.from_scores(other, rng=5)[:1] == whole[:1]


def test_tied_scores_can_be_refused():
    with pytest.raises(ValueError, match="row 1: items 0 and 2 share the score 1"):
        Rankings.from_scores([[1, 2, 3], [1, 2, 1], [0, 0, 0]], ties="error")
    assert Rankings.from_scores([[1, 2, 3]], ties="error").ranks.tolist() == [[2, 1, 0]]


def test_zeros_of_both_signs_tie():
    with pytest.raises(ValueError, match="share the score"):
        Rankings.from_scores([[0.0, -0.0]], ties="error")
    assert Rankings.from_scores([[-0.0, 0.0]], ties="index").ranks.tolist() == [[0, 1]]


def test_infinite_scores_are_the_best_and_the_worst():
    scores = [[0.0, -np.inf, np.inf, 1e308]]
    assert Rankings.from_scores(scores).ranks.tolist() == [[2, 3, 0, 1]]


def test_a_missing_score_is_refused_and_named():
    scores = np.ones((9, 3))
    scores[4, 2] = scores[7, 0] = np.nan
    with pytest.raises(ValueError, match="row 4: the score of item 2 is NaN"):
        Rankings.from_scores(scores)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32])
def test_scores_of_any_number_type(dtype):
    scores = np.array([[3, 1, 2]], dtype=dtype)
    assert Rankings.from_scores(scores).ranks.tolist() == [[0, 2, 1]]


def test_integer_scores_too_large_to_tell_apart_are_refused():
    with pytest.raises(ValueError, match=r"beyond 2\^53"):
        Rankings.from_scores(np.array([[2**53, 2**53 + 1]]))


@pytest.mark.parametrize("scores", [[["a", "b"]], [[1j, 2]], [[None, 1]]])
def test_scores_that_are_not_real_numbers_are_refused(scores):
    with pytest.raises(ValueError, match=r"must be real numbers, not|is not a number"):
        Rankings.from_scores(scores)


def test_scores_in_any_memory_order():
    scores = np.random.default_rng(2).normal(size=(6, 5))
    expected = Rankings.from_scores(scores)
    assert Rankings.from_scores(np.asfortranarray(scores)) == expected
    assert Rankings.from_scores(np.repeat(scores, 2, axis=1)[:, ::2]) == expected
    assert Rankings.from_scores(scores[::-1])[::-1] == expected


def test_unknown_tie_rules_are_refused():
    with pytest.raises(ValueError, match='"random", "index" or "error", not \'first\''):
        Rankings.from_scores([[1, 2]], ties="first")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_scores_and_labels(frame):
    votes = Rankings.from_scores(frame({"ann": [1.0, 9.0], "bob": [2.0, 8.0], "cy": [3.0, 7.0]}))
    assert votes.items == ("ann", "bob", "cy")
    assert votes.ranks.tolist() == [[2, 1, 0], [0, 1, 2]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_ranks_and_labels(frame):
    votes = Rankings(frame({"ann": [0, 1], "bob": [1, 0]}))
    assert votes.items == ("ann", "bob")
    assert votes.ranks.tolist() == [[0, 1], [1, 0]]
    assert Rankings(frame({"ann": [0], "bob": [1]}), items="xy").items == ("x", "y")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_mixed_number_types(frame):
    data = frame({"a": np.array([1, 5], dtype=np.int8), "b": np.array([2.5, 2.5])})
    assert Rankings.from_scores(data).ranks.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 2.0]}),
        pl.DataFrame({"a": [1, None], "b": [2, 2]}),
    ],
)
def test_frames_with_gaps_are_refused(frame):
    with pytest.raises(ValueError, match=r"row 1: the score of item .* is NaN"):
        Rankings.from_scores(frame)


def test_pandas_nullable_integers_are_scores():
    frame = pd.DataFrame({"a": pd.array([1, 5], dtype="Int64"), "b": [2, 2]})
    assert Rankings.from_scores(frame).ranks.tolist() == [[1, 0], [0, 1]]


def test_pandas_frames_without_names_have_no_labels():
    assert Rankings.from_scores(pd.DataFrame([[1.0, 2.0]])).item_labels is None


def test_a_million_scores_are_ranked():
    scores = np.random.default_rng(1).permutation(10**6)
    assert (Rankings.from_scores(scores).ranks[0] == 10**6 - 1 - scores).all()


# --- Ballots ---


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


# --- Splitting ---


@given(st.integers(1, 30), st.data())
def test_split_deals_every_ranking_once_and_evenly(m, data):
    clients = data.draw(st.integers(1, m))
    everyone = list(permutations(range(5)))[:m]
    parts = Rankings(everyone, items="abcde").split(clients, rng=1)
    assert len(parts) == clients
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert sorted(tuple(row) for part in parts for row in part) == everyone
    assert all(part.items == tuple("abcde") for part in parts)


def test_split_is_random_and_repeatable():
    votes = Rankings(list(permutations(range(4))))
    assert votes.split(3, rng=1) == votes.split(3, rng=1)
    assert votes.split(3, rng=1) != votes.split(3, rng=2)


@pytest.mark.parametrize("clients", [0, -1, 1.5])
def test_split_refuses_what_is_no_number_of_clients(clients):
    with pytest.raises(ValueError, match=f"clients must be a whole number .* not {clients}"):
        Rankings([[0, 1]] * 2).split(clients)


@pytest.mark.parametrize("clients", [3, 10])
def test_split_refuses_an_empty_client(clients):
    with pytest.raises(ValueError, match=f"2 rankings cannot be split among {clients} clients"):
        Rankings([[0, 1]] * 2).split(clients)
