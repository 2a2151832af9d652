"""Checks of the entries of matrices of ranks and scores; an error names the row and the item."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._frames import is_empty, refuse_id_columns
from fedrank._validation import INT32_MAX, plural
from fedrank.exceptions import InputError, Remedy

FILL_GAPS = "fill in the gaps, or use PartialRankings with -1 for items not ranked"
SCORES = "if these are scores, use Rankings.from_scores, which puts the highest score first"
MID_RANKS = f"if these are mid-ranks, pass twice the ranks to PartialRankings; {SCORES}"
"""Advice for gaps, and for numbers that are not positions."""


def as_integers(
    values: ArrayLike, what: str, labels: Sequence[object] | None = None
) -> NDArray[Any]:
    """Return input as a matrix whose entries are whole numbers that fit ``int32``.

    Errors name the item by its label, if there are labels.

    Examples
    --------
    >>> as_integers([0.0, 1.0], "positions")
    array([[0., 1.]])
    """
    matrix = as_matrix(values, what, labels)
    kind = matrix.dtype.kind
    refuse_text(matrix, labels)
    if kind not in "iuf":
        raise InputError(f"{what} must be whole numbers, not {matrix.dtype}")
    if kind == "f":
        missing = np.isnan(matrix)
        refuse_where(missing, matrix, "is not a whole number", FILL_GAPS, labels)
        wrong = ~np.isfinite(matrix) | (matrix != np.floor(matrix))
        halves = np.isfinite(matrix) & (matrix >= 0) & (2 * matrix == np.floor(2 * matrix))
        advice = MID_RANKS if halves.all() else SCORES
        refuse_where(wrong, matrix, "is not a whole number", advice, labels)
    if matrix.dtype.itemsize >= 4 and matrix.size and matrix.dtype != np.int32:
        large = (matrix >= 2.0**31) | (matrix <= -(2.0**31))
        refuse_where(large, matrix, "is too large", SCORES, labels)
    return matrix


def refuse_where(
    wrong: NDArray[np.bool_],
    matrix: NDArray[Any],
    problem: str,
    remedy: str | None = None,
    labels: Sequence[object] | None = None,
) -> None:
    """Raise an error for the first entry that is wrong, if there is one."""
    if wrong.any():
        row, item = map(int, np.argwhere(wrong)[0])
        raise bad_entry(row, item, matrix[row, item], problem, remedy, labels)


def bad_entry(
    row: int,
    item: int,
    value: object,
    problem: str,
    remedy: str | None = None,
    labels: Sequence[object] | None = None,
) -> InputError:
    """Make the error for one entry of a matrix.

    Examples
    --------
    >>> print(bad_entry(2, 0, 0.5, "is not a whole number"))
    row 2: 0.5 of item 0 is not a whole number
    >>> print(bad_entry(2, 0, 0.5, "is not a whole number", labels=["TP53"]))
    row 2: 0.5 of item 'TP53' is not a whole number
    """
    shown = repr(str(value)) if isinstance(value, str) else value
    return InputError(
        f"{shown} of item {item_name(item, labels)} {problem}",
        row=row,
        item=item,
        value=value,
        remedy=remedy,
    )


def item_name(item: int, labels: Sequence[object] | None) -> str:
    """Return the label of an item for a message; its number if there are no labels.

    Examples
    --------
    >>> item_name(0, ["TP53"]), item_name(0, None)
    ("'TP53'", '0')
    """
    return repr(labels[item]) if labels is not None and item < len(labels) else str(item)


def refuse_text(matrix: NDArray[Any], labels: Sequence[object] | None = None) -> None:
    """Refuse a matrix of texts, because text may be names as well as numbers.

    Examples
    --------
    >>> refuse_text(np.array([["0,5", "0,7"]]))
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: row 0: '0,5' of item 0 is text, not a number; write a decimal
    point, not a comma, and convert the texts to numbers
    """
    if matrix.dtype.kind in "US" and matrix.size:
        raise not_a_number(0, 0, matrix[0, 0], labels)


def not_a_number(
    row: int, item: int, value: object, labels: Sequence[object] | None = None
) -> InputError:
    """Make the error for an entry that is not a number, with advice for what it may be.

    Examples
    --------
    >>> print(not_a_number(0, 1, "pear"))
    row 0: 'pear' of item 1 is text, not a number; if the rows name items, best first, use
    Rankings.from_orders
    """
    if isinstance(value, str | bytes):
        text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
        if is_number_text(text):
            advice = "convert the texts to numbers"
        elif is_number_text(text.replace(",", ".", 1)):
            advice = "write a decimal point, not a comma, and convert the texts to numbers"
        else:
            advice = "if the rows name items, best first, use Rankings.from_orders"
        return bad_entry(row, item, text, "is text, not a number", advice, labels)
    advice = "fill in the gap, or use PartialRankings" if is_empty(value) else "pass numbers"
    return bad_entry(row, item, value, "is not a number", advice, labels)


def is_number_text(text: str) -> bool:
    """Return whether a text is written like a number, infinity and NaN among them.

    Examples
    --------
    >>> is_number_text("0.5"), is_number_text("0,5")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_matrix(values: ArrayLike, what: str, labels: Sequence[object] | None = None) -> NDArray[Any]:
    """Return input as a two-dimensional array with at least one column.

    Examples
    --------
    >>> as_matrix([1, 2], "scores").shape
    (1, 2)
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{what} must not be masked", remedy="fill in the gaps, or drop the rows")
    refuse_id_columns(values)
    try:
        matrix = np.asarray(values)
    except ValueError:
        lengths = [np.size(row) for row in cast(Iterable[Any], values)]
        odd = next((i for i, size in enumerate(lengths) if size != lengths[0]), 0)
        raise InputError(
            f"the row has {plural(lengths[odd], 'entry', 'entries')}, but row 0 has {lengths[0]}; "
            "all rows must have one entry per item",
            row=odd,
            value=lengths[odd],
            remedy="for orders of some of the items use PartialRankings.from_orders",
        ) from None
    if matrix.ndim == 1:
        matrix = matrix[np.newaxis]
    if matrix.dtype == object and matrix.ndim == 2:
        matrix = from_objects(matrix, labels)
    if matrix.ndim == 0:
        raise InputError(
            f"{what} must be one row or a matrix of rows, not {values!r}", value=values
        )
    if matrix.ndim != 2:
        raise InputError(
            f"{what} must be one row or a matrix of rows, not {matrix.ndim}-dimensional"
        )
    if matrix.shape[1] == 0:
        raise InputError(f"{what} must be given for at least one item, but the rows are empty")
    if matrix.shape[1] > INT32_MAX:
        raise InputError(f"{matrix.shape[1]} items are too many; at most {INT32_MAX} can be ranked")
    return matrix


def from_objects(
    matrix: NDArray[Any], labels: Sequence[object] | None = None
) -> NDArray[np.float64]:
    """Convert a matrix of Python numbers, such as nullable columns give, to floats.

    Examples
    --------
    >>> from_objects(np.array([[1, 2.5]], dtype=object))
    array([[1. , 2.5]])
    """
    for (row, item), value in np.ndenumerate(matrix):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise not_a_number(row, item, value, labels)
        if isinstance(value, int) and abs(value) > 2**53:
            raise bad_entry(row, item, value, "is too large", SCORES, labels)
    return matrix.astype(np.float64)


def not_a_ranking(
    ranks: NDArray[np.int32],
    row: int,
    rank: int,
    base: int,
    labels: Sequence[object] | None = None,
) -> InputError:
    """Make the error for a row that is not a ranking, in the caller's numbers.

    Examples
    --------
    >>> print(not_a_ranking(np.array([[1, 1]], dtype=np.int32), 0, 1, base=0))
    row 0: not a ranking: positions must be 0..1, but 1 is used twice, by items 0 and 1; for tied
    or missing positions use PartialRankings
    >>> print(not_a_ranking(np.array([[0, 35]], dtype=np.int32), 0, 35, 0, ["TP53", "EGFR"]))
    row 0: not a ranking: positions must be 0..1, but 35 of item 'EGFR' is out of range; if these
    are scores, use Rankings.from_scores, which puts the highest score first
    """
    n = ranks.shape[1]
    value = rank + base
    holders = np.flatnonzero(ranks[row] == rank).tolist()
    first, *others = (item_name(item, labels) for item in holders)
    if 0 <= rank < n:
        fault = f"{value} is used twice, by items {first} and {others[0]}"
    else:
        fault = f"{value} of item {first} is out of range"
    ordered = np.sort(ranks[row])
    remedy: str | None = None
    if base == 0 and np.array_equal(ordered, np.arange(1, n + 1)):
        remedy = Remedy.BASE_1
    elif base == 1 and np.array_equal(ordered, np.arange(-1, n - 1)):
        remedy = Remedy.BASE_0
    elif (ranks[row] == -1 - base).any():
        remedy = "if -1 marks an item that is not ranked, use PartialRankings"
    elif not 0 <= rank < n:
        remedy = SCORES
    else:
        remedy = "for tied or missing positions use PartialRankings"
    return InputError(
        f"not a ranking: positions must be {base}..{base + n - 1}, but {fault}",
        row=row,
        item=holders[0],
        value=value,
        remedy=remedy,
    )
