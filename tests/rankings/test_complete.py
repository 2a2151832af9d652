"""Rankings: construction, conversion and the array protocol."""

import copy
import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Rankings, aggregate
from helpers import reference

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
        (lambda: Rankings.from_orders(5), "orders must be a list, not 5"),
        (lambda: Rankings.from_orders([["a", float("nan")]]), "labels must not be NaN"),
        (lambda: Rankings([[0, 1]], items=["a", np.float32("nan")]), "labels must not be NaN"),
        (lambda: Rankings([[1, 1, -1]]), "-1 marks an item that is not ranked, use Partial"),
        (lambda: Rankings.from_orders([[["a"], "b"]]), r"must be text or numbers, not \['a'\]"),
        (lambda: Rankings.from_orders(["ab"], items=5), "items must be a list, not 5"),
        (lambda: Rankings.from_orders([0, 1]), "order 0 must be a list, not 0"),
        (lambda: Rankings.from_ballots([1], items="ab"), "ballot 0 must be a list"),
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
