"""Rankings from scores."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, rankdata

from fedrank import Rankings
from helpers import reference


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
    with pytest.raises(
        ValueError,
        match=r"must be real numbers|is text|is not a number",
    ):
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
