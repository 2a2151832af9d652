"""Checks of what callers pass in; each complaint names the row, the value and the mend."""

import numbers
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

INT32_MAX = np.iinfo(np.int32).max
SHOWN = 6  # labels in a list of some


def as_integers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Turn input into a matrix of integers that fit ``int32``; complain of all else.

    Examples
    --------
    >>> as_integers([0.0, 1.0], "positions")
    array([[0., 1.]])
    """
    matrix = as_matrix(values, what)
    kind = matrix.dtype.kind
    if kind not in "iuf":
        raise ValueError(f"{what} must be whole numbers, not {matrix.dtype}")
    if kind == "f":
        wrong = ~np.isfinite(matrix) | (matrix != np.floor(matrix))
        if wrong.any():
            row, item = np.argwhere(wrong)[0]
            raise ValueError(f"row {row}: {matrix[row, item]} of item {item} is not a whole number")
    if matrix.dtype.itemsize >= 4 and matrix.size and matrix.dtype != np.int32:
        wrong = (matrix >= 2.0**31) | (matrix <= -(2.0**31))
        if wrong.any():
            row, item = np.argwhere(wrong)[0]
            raise ValueError(f"row {row}: {matrix[row, item]} of item {item} is too large")
    return matrix


def as_matrix(values: ArrayLike, what: str) -> NDArray[Any]:
    """Turn input into an array of rows, at least one column wide.

    Examples
    --------
    >>> as_matrix([1, 2], "scores").shape
    (1, 2)
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{what} must not be masked: fill the gaps in, or drop the rows")
    try:
        matrix = np.asarray(values)
    except ValueError:
        lengths = [np.size(row) for row in cast(Iterable[Any], values)]
        odd = next((i for i, size in enumerate(lengths) if size != lengths[0]), 0)
        raise ValueError(
            f"row {odd} has {plural(lengths[odd], 'entry', 'entries')} but row 0 has {lengths[0]}: "
            "all rows must rank the same items"
        ) from None
    if matrix.ndim == 1:
        matrix = matrix[np.newaxis]
    if matrix.dtype == object and matrix.ndim == 2:
        matrix = from_objects(matrix)
    if matrix.ndim != 2:
        raise ValueError(
            f"{what} must be one row or a matrix of rows, not {matrix.ndim}-dimensional"
        )
    if matrix.shape[1] == 0:
        raise ValueError(f"{what} must be given for at least one item; these rows are empty")
    if matrix.shape[1] > INT32_MAX:
        raise ValueError(f"{matrix.shape[1]} items are too many")
    return matrix


def from_objects(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Turn Python's numbers, as nullable columns give them, into floats.

    Examples
    --------
    >>> from_objects(np.array([[1, 2.5]], dtype=object))
    array([[1. , 2.5]])
    """
    for (row, item), value in np.ndenumerate(matrix):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ValueError(f"row {row}: {value!r} of item {item} is not a number")
        if isinstance(value, int) and abs(value) > 2**53:
            raise ValueError(f"row {row}: {value} of item {item} is too large")
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
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, not {value}")
    return int(value)


def as_probability(name: str, value: float) -> float:
    """Check a probability that is neither 0 nor 1.

    Examples
    --------
    >>> as_probability("delta", 0.05)
    0.05
    """
    if isinstance(value, int | float | np.floating) and 0 < value < 1:
        return float(value)
    raise ValueError(f"{name} must be above 0 and below 1, not {value!r}")


def as_phi(phi: float) -> float:
    """Check a dispersion.

    Examples
    --------
    >>> as_phi(1)
    1.0
    """
    if isinstance(phi, int | float | np.integer | np.floating) and 0 <= phi <= 1:
        return float(phi) + 0.0  # and not -0.0
    raise ValueError(f"phi must be in [0, 1], not {phi!r}")


def as_bool(name: str, value: object) -> bool:
    """Check a parameter that is True or False.

    Examples
    --------
    >>> as_bool("counts", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def check_ties(ties: str) -> None:
    """Check a tie rule."""
    if ties not in ("random", "index"):
        raise ValueError(f'ties must be "random" or "index", not {ties!r}')


def as_weights(weights: ArrayLike | None, rows: int) -> NDArray[np.uint32] | None:
    """Check the weights: a count of at least 0 for every ranking.

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
        raise ValueError("weights must be one count a ranking, not lists of some") from None
    if counts.ndim != 1 or len(counts) != rows:
        raise ValueError(f"weights must be one count a ranking: {rows}, not {np.size(weights)}")
    if counts.dtype.kind not in "iuf":
        raise ValueError(f"weights must be whole numbers, not {counts.dtype}")
    wrong = ~((counts >= 0) & (counts <= INT32_MAX) & (counts == np.floor(counts)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"weight {counts[row]} of ranking {row} is not a count: 0 or more, and whole"
        )
    return np.ascontiguousarray(counts, dtype=np.uint32)


def describe_fault(ranks: NDArray[np.int32], row: int, rank: int, base: int) -> str:
    """Say what is wrong with a row, in the caller's numbers, and how to mend it."""
    n = ranks.shape[1]
    value = rank + base
    problem = f"{value} is used twice" if 0 <= rank < n else f"{value} is out of range"
    text = f"row {row} is not a ranking: positions must be {base}..{base + n - 1}, and {problem}"
    ordered = np.sort(ranks[row])
    if base == 0 and np.array_equal(ordered, np.arange(1, n + 1)):
        return f"{text}; these look 1-based: pass base=1 (--base 1)"
    if base == 1 and np.array_equal(ordered, np.arange(-1, n - 1)):
        return f"{text}; these look 0-based: pass base=0 (--base 0)"
    if (ranks[row] == -1 - base).any():
        return f"{text}; if -1 is an item that is not ranked, use PartialRankings"
    return text


def check_items(items: Iterable[Hashable], n: int) -> tuple[Hashable, ...]:
    """Check that there are ``n`` different labels."""
    labels = tuple(as_list(items, "items"))
    if len(labels) != n:
        raise ValueError(f"{len(labels)} labels were given for {plural(n, 'item')}")
    seen: set[Hashable] = set()
    for label in labels:
        if not hashable(label):
            raise ValueError(f"label {label!r} cannot be one: use text or numbers")
        if isinstance(label, float | np.floating) and np.isnan(label):
            raise ValueError("label nan cannot be one, since it equals nothing: name the item")
        if label in seen:
            raise ValueError(f"label {label!r} is given twice: every item needs its own")
        seen.add(label)
    return labels


def as_list(values: Any, what: str) -> list[Any]:
    """Turn an order, a ballot or labels into a list.

    Examples
    --------
    >>> as_list("ba", "order 0")
    ['b', 'a']
    """
    try:
        return list(values)
    except TypeError:
        raise ValueError(f"{what} must be a list of items, not {values!r}") from None


def hashable(label: object) -> bool:
    """Tell whether a label can be looked up.

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
    """Item number of one choice on a ballot; None for a blank or an overvote."""
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
    raise ValueError(
        f"ballot {row} names {choice!r}, which is not an item; the items are {few(list(index))}"
    )


def as_array(ranks: NDArray[np.int32], dtype: DTypeLike | None, copy: bool | None) -> NDArray[Any]:
    """Answer numpy's array protocol."""
    if copy:
        return np.array(ranks, dtype=dtype)
    if copy is False and dtype is not None and np.dtype(dtype) != np.int32:
        raise ValueError(f"int32 ranks cannot become {np.dtype(dtype)} without a copy")
    return np.asarray(ranks, dtype=dtype)


def read_only(ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a view that cannot be written to, nor made writable again."""
    ranks.flags.writeable = False
    return ranks.view()


def few(labels: Sequence[object]) -> str:
    """Spell out the first labels."""
    shown = ", ".join(str(label) for label in labels[:SHOWN])
    return shown if len(labels) <= SHOWN else f"{shown}, …"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Spell a count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"
