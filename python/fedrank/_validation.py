"""Checks of the arguments of public functions; an `InputError` says what is wrong and where."""

import numbers
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fedrank._words import is_id
from fedrank.exceptions import InputError, Remedy

INT32_MAX = np.iinfo(np.int32).max
MAX_LISTED = 6  # labels that an error message lists


FILL_GAPS = "fill in the gaps, or use PartialRankings with -1 for items not ranked"
SCORES = "if these are scores, use Rankings.from_scores"
"""Advice for numbers that cannot be positions, and for gaps."""


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
    if kind not in "iuf":
        raise InputError(f"{what} must be whole numbers, not {matrix.dtype}")
    if kind == "f":
        missing = np.isnan(matrix)
        refuse_where(missing, matrix, "is not a whole number", FILL_GAPS, labels)
        wrong = ~np.isfinite(matrix) | (matrix != np.floor(matrix))
        refuse_where(wrong, matrix, "is not a whole number", SCORES, labels)
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
    shown = repr(value) if isinstance(value, str) else value
    known = labels is not None and item < len(labels)
    name = repr(labels[item]) if labels is not None and known else item
    return InputError(
        f"{shown} of item {name} {problem}", row=row, item=item, value=value, remedy=remedy
    )


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
            f"{plural(lengths[odd], 'entry', 'entries')}, but row 0 has {lengths[0]}: "
            "all rows must rank the same items",
            row=odd,
        ) from None
    if matrix.ndim == 1:
        matrix = matrix[np.newaxis]
    if matrix.dtype == object and matrix.ndim == 2:
        matrix = from_objects(matrix, labels)
    if matrix.ndim != 2:
        raise InputError(
            f"{what} must be one row or a matrix of rows, not {matrix.ndim}-dimensional"
        )
    if matrix.shape[1] == 0:
        raise InputError(f"{what} must be given for at least one item, but the rows are empty")
    if matrix.shape[1] > INT32_MAX:
        raise InputError(f"{matrix.shape[1]} items are too many: at most {INT32_MAX}")
    return matrix


def labels_of(values: object) -> tuple[Hashable, ...] | None:
    """Return the labels of fedrank's own objects and of data frames; else None."""
    if hasattr(values, "item_labels"):
        return cast("tuple[Hashable, ...] | None", values.item_labels)
    # A pyarrow table's columns are the data, not the names.
    columns = getattr(values, "column_names", getattr(values, "columns", None))
    if columns is None or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(columns)


def refuse_id_columns(values: object) -> None:
    """Refuse a data frame with a column whose name says that it numbers or names the rows."""
    if hasattr(values, "item_labels"):  # fedrank's own, whose items were declared
        return
    for name in labels_of(values) or ():
        if isinstance(name, str) and is_id(name):
            raise InputError(
                f"column {name!r} of the data frame may be no item, by the name",
                value=name,
                remedy=f"leave it out, with .drop(columns={name!r}) in pandas or .drop({name!r}) "
                "in polars; if it is an item, rename it",
            )


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
            raise bad_entry(row, item, value, "is not a number", labels=labels)
        if isinstance(value, int) and abs(value) > 2**53:
            raise bad_entry(row, item, value, "is too large", labels=labels)
    return matrix.astype(np.float64)


def whole(name: str, value: float, least: int = 1, most: int = 2**63 - 1) -> int:
    """Check a whole number.

    Examples
    --------
    >>> whole("n", 3.0)
    3
    """
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not good or not (isinstance(value, int) or float(value).is_integer()) or value < least:
        raise InputError(
            f"{name} must be a whole number of at least {least}, not {value!r}", value=value
        )
    if value > most:
        raise InputError(f"{name} must be at most {most}, not {value}", value=value)
    return int(value)


def as_probability(name: str, value: float) -> float:
    """Check a probability between 0 and 1, both excluded.

    Examples
    --------
    >>> as_probability("delta", 0.05)
    0.05
    """
    if isinstance(value, int | float | np.floating) and 0 < value < 1:
        return float(value)
    raise InputError(f"{name} must be above 0 and below 1, not {value!r}", value=value)


def as_phi(phi: float) -> float:
    """Check a dispersion.

    Examples
    --------
    >>> as_phi(1)
    1.0
    """
    if isinstance(phi, int | float | np.integer | np.floating) and 0 <= phi <= 1:
        return float(phi) + 0.0  # turns -0.0 into 0.0
    raise InputError(f"phi must be in [0, 1], not {phi!r}", value=phi)


def as_bool(name: str, value: object) -> bool:
    """Check a parameter that is True or False.

    Examples
    --------
    >>> as_bool("counts", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r}", value=value)
    return bool(value)


def check_ties(ties: str) -> None:
    """Check a tie rule."""
    if ties not in ("random", "index"):
        raise InputError(f'ties must be "random" or "index", not {ties!r}', value=ties)


def as_weights(weights: ArrayLike | None, rows: int) -> NDArray[np.uint32] | None:
    """Check the weights: one count per ranking, 0 or more.

    Examples
    --------
    >>> as_weights([2, 0], rows=2)
    array([2, 0], dtype=uint32)
    """
    if weights is None:
        return None
    try:
        counts = np.asarray(weights)
    except ValueError:
        raise InputError("weights must be one count per ranking, not lists of counts") from None
    if counts.ndim != 1 or len(counts) != rows:
        raise InputError(f"weights must be one count per ranking: {rows}, not {np.size(weights)}")
    if counts.dtype.kind not in "iuf":
        raise InputError(f"weights must be whole numbers, not {counts.dtype}")
    wrong = ~((counts >= 0) & (counts <= INT32_MAX) & (counts == np.floor(counts)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"weight {counts[row]} is not a whole number of at least 0", row=row, value=counts[row]
        )
    return np.ascontiguousarray(counts, dtype=np.uint32)


def not_a_ranking(ranks: NDArray[np.int32], row: int, rank: int, base: int) -> InputError:
    """Make the error for a row that is not a ranking, in the caller's numbers.

    Examples
    --------
    >>> print(not_a_ranking(np.array([[1, 1]], dtype=np.int32), 0, 1, base=0))
    row 0: not a ranking: positions must be 0..1, but 1 is used twice; for tied or missing positions
    use PartialRankings
    """
    n = ranks.shape[1]
    value = rank + base
    fault = "is used twice" if 0 <= rank < n else "is out of range"
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
    elif base == 0:
        remedy = "for tied or missing positions use PartialRankings"
    return InputError(
        f"not a ranking: positions must be {base}..{base + n - 1}, but {value} {fault}",
        row=row,
        value=value,
        remedy=remedy,
    )


def check_items(items: Iterable[Hashable], n: int) -> tuple[Hashable, ...]:
    """Check that there are ``n`` different labels."""
    labels = tuple(as_list(items, "items"))
    if len(labels) != n:
        raise InputError(f"{len(labels)} labels were given for {plural(n, 'item')}")
    seen: set[Hashable] = set()
    for item, label in enumerate(labels):
        if not hashable(label):
            raise InputError(
                f"item labels must be text or numbers, not {label!r} (label {item})",
                item=item,
                value=label,
            )
        if isinstance(label, float | np.floating) and np.isnan(label):
            raise InputError(f"item labels must not be NaN (label {item})", item=item, value=label)
        if label in seen:
            raise InputError(
                f"item labels must differ, but {label!r} is given twice", item=item, value=label
            )
        seen.add(label)
    return labels


def as_list(values: Any, what: str) -> list[Any]:
    """Return an order, a ballot or labels as a list.

    Examples
    --------
    >>> as_list("ba", "order 0")
    ['b', 'a']
    """
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{what} must be a list of items, not {values!r}", value=values) from None


def hashable(label: object) -> bool:
    """Return whether a label can be a dictionary key.

    Examples
    --------
    >>> hashable(("a", ["b"]))
    False
    """
    try:
        hash(label)
    except TypeError:
        return False
    return True


def chosen(choice: Any, index: dict[Hashable, int], row: int) -> int | None:
    """Return the item number of one choice on a ballot; None for a blank or an overvote."""
    if choice is None or type(choice).__name__ == "NAType":
        return None
    if isinstance(choice, float | np.floating) and np.isnan(choice):
        return None
    if isinstance(choice, list | set | frozenset):
        return None if len(choice) != 1 else chosen(next(iter(choice)), index, row)
    if hashable(choice) and choice in index:
        return index[choice]
    if isinstance(choice, str) and choice.strip().lower() in ("", "undervote", "overvote"):
        return None
    raise InputError(
        f"{choice!r} is not one of the items {few(list(index))}", row=row, value=choice
    )


def as_array(ranks: NDArray[np.int32], dtype: DTypeLike | None, copy: bool | None) -> NDArray[Any]:
    """Implement numpy's array protocol."""
    if copy:
        return np.array(ranks, dtype=dtype)
    if copy is False and dtype is not None and np.dtype(dtype) != np.int32:
        raise InputError(f"int32 ranks cannot become {np.dtype(dtype)} without a copy")
    return np.asarray(ranks, dtype=dtype)


def read_only(ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a view that is read-only and cannot be made writable again."""
    ranks.flags.writeable = False
    return ranks.view()


def few(labels: Sequence[object]) -> str:
    """Return the first labels as text."""
    shown = ", ".join(str(label) for label in labels[:MAX_LISTED])
    return shown if len(labels) <= MAX_LISTED else f"{shown}, …"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, such as "3 items"."""
    return f"{count} {one if count == 1 else many or one + 's'}"
