"""Distances, counts and codes of rankings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._entries import as_integers
from fedrank._progress import Following
from fedrank.exceptions import InputError
from fedrank.rankings.complete import as_rankings, same_items
from fedrank.rankings.partial import PartialRankings, as_profile


def kendall_distance(a: ArrayLike, b: ArrayLike) -> Any:
    """Count the pairs of items that two rankings order differently (M1).

    This is a number of pairs, from 0 to ``n (n-1)/2``, not a correlation.

    Parameters
    ----------
    a, b : array_like of int, shape (n,) or (m, n)
        Rankings.

    Returns
    -------
    distance : int or numpy.ndarray of int64
        An int for two rankings; shape (m,) for many and one; (m, k) for many and many.

    Raises
    ------
    ValueError
        If an input is not a ranking, or they rank different items.

    Examples
    --------
    >>> kendall_distance([0, 1, 2], [2, 0, 1])
    2
    >>> kendall_distance([[0, 1, 2], [2, 1, 0]], [2, 0, 1])
    array([2, 1])
    """
    return _distances(_core.kendall_distance, a, b)


def footrule_distance(a: ArrayLike, b: ArrayLike) -> Any:
    """Sum the distances between the positions of each item in two rankings.

    Parameters
    ----------
    a, b : array_like of int, shape (n,) or (m, n)
        Rankings.

    Returns
    -------
    distance : int or numpy.ndarray of int64
        Shaped as in `kendall_distance`.

    Raises
    ------
    ValueError
        If an input is not a ranking, or they rank different items.

    Examples
    --------
    >>> footrule_distance([0, 1, 2], [2, 0, 1])
    4
    """
    return _distances(_core.footrule_distance, a, b)


def _distances(kernel: Any, a: ArrayLike, b: ArrayLike) -> Any:
    same_items(a, b)
    rows, columns = as_rankings(a), as_rankings(b)
    matrix = kernel(rows, columns)
    shape = (rows.shape[0],) * (np.ndim(a) > 1) + (columns.shape[0],) * (np.ndim(b) > 1)
    return matrix.reshape(shape) if shape else int(matrix[0, 0])


def kemeny_score(
    consensus: ArrayLike, rankings: ArrayLike, weights: ArrayLike | None = None
) -> float:
    """Mean Kendall distance of a ranking to many, over the number of items (M11).

    Parameters
    ----------
    consensus : array_like of int, shape (n,)
        The ranking to evaluate.
    rankings : array_like of int, shape (m, n), or PartialRankings
        The rankings to compare it with. A pair that a partial ranking ties, or does not rank,
        counts one half.
    weights : array_like of int, shape (m,), optional
        How often each ranking counts.

    Returns
    -------
    score : float
        ``(1/(M n)) Σ K(consensus, r)``; lower is better.

    Examples
    --------
    >>> round(kemeny_score([0, 1, 2], [[0, 1, 2], [2, 0, 1]]), 4)
    0.3333
    >>> from fedrank import PartialRankings
    >>> round(kemeny_score([0, 1, 2], PartialRankings([[1, 0, -1], [0, 0, 0]])), 4)
    0.4167
    """
    same_items(consensus, rankings)
    one = as_rankings(consensus)
    many, counts = as_profile(rankings, weights)
    if one.shape[0] != 1:
        raise InputError(f"consensus must be one ranking, not {one.shape[0]}")
    with Following("Kemeny score"):
        total = _core.kendall_total(many, counts, one)
    return total.distance / (total.rankings * int(many.shape[1]))


def pairwise_counts(rankings: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.int64]:
    """Count how often each item comes before each other item.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n), or PartialRankings
        Rankings.
    weights : array_like of int, shape (m,), optional
        How often each ranking counts.

    Returns
    -------
    counts : numpy.ndarray of int64, shape (n, n)
        ``counts[i, j]`` rankings put item ``i`` before item ``j``. A pair that a partial ranking
        ties, or does not rank, counts in neither order.

    Examples
    --------
    >>> pairwise_counts([[0, 1, 2], [1, 0, 2]])
    array([[0, 1, 2],
           [1, 0, 2],
           [0, 0, 0]])
    """
    ranks, counts = as_profile(rankings, weights)
    if not isinstance(rankings, PartialRankings):
        return _core.pairwise_counts(ranks, counts)
    m = len(rankings)
    first, second = (
        _core.pairwise_counts(ranks[half], None if counts is None else counts[half])
        for half in (slice(m), slice(m, None))
    )
    # A tied pair is in the order of the item numbers in the first twin, and reversed in the second,
    # so the lower triangle of the first and the upper of the second count no ties.
    return np.tril(first) + np.triu(second)


def lehmer_encode(rankings: ArrayLike) -> NDArray[np.int32]:
    """Encode rankings as Lehmer codes.

    Digit ``i`` counts the earlier items that rank after item ``i`` (M2), so a row sums to
    its Kendall distance from the identity.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n)
        One ranking per row: the position of each item, 0 the best.

    Returns
    -------
    codes : numpy.ndarray of int32, shape (m, n)

    Raises
    ------
    ValueError
        If a row is not a permutation of ``0..n-1``.

    Examples
    --------
    >>> lehmer_encode([[2, 0, 1]])
    array([[0, 1, 1]], dtype=int32)
    """
    return _core.lehmer_encode(as_rankings(rankings))


def lehmer_decode(codes: ArrayLike) -> NDArray[np.int32]:
    """Decode Lehmer codes to rankings: the inverse of `lehmer_encode`.

    Parameters
    ----------
    codes : array_like of int, shape (m, n)
        One code per row, with digit ``i`` in ``0..i``.

    Returns
    -------
    rankings : numpy.ndarray of int32, shape (m, n)

    Raises
    ------
    ValueError
        If a digit is out of range.

    Examples
    --------
    >>> lehmer_decode([[0, 1, 1]])
    array([[2, 0, 1]], dtype=int32)
    """
    return _core.lehmer_decode(np.ascontiguousarray(as_integers(codes, "digits"), dtype=np.int32))
