"""Checks of the arguments of public functions; an `InputError` says what is wrong and where.

Also what their messages share: a few labels in one line, and a count with its noun.
"""

import numbers
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fedrank._text import noun, printable
from fedrank.exceptions import InputError

INT32_MAX = np.iinfo(np.int32).max
MAX_LISTED = 6  # labels that an error message lists


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
            f"must be a whole number of at least {least}, not {value!r}",
            parameter=name,
            value=value,
        )
    if value > most:
        raise InputError(f"must be at most {most}, not {value}", parameter=name, value=value)
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
    raise InputError(f"must be above 0 and below 1, not {value!r}", parameter=name, value=value)


def as_phi(phi: float) -> float:
    """Check a dispersion.

    Examples
    --------
    >>> as_phi(1)
    1.0
    """
    if isinstance(phi, int | float | np.integer | np.floating) and 0 <= phi <= 1:
        return float(phi) + 0.0  # turns -0.0 into 0.0
    raise InputError(f"must be in [0, 1], not {phi!r}", parameter="phi", value=phi)


def as_bool(name: str, value: object) -> bool:
    """Check a parameter that is True or False.

    Examples
    --------
    >>> as_bool("counts", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"must be True or False, not {value!r}", parameter=name, value=value)
    return bool(value)


def check_ties(ties: str) -> None:
    """Check a tie rule."""
    if ties not in ("random", "index"):
        raise InputError(f'must be "random" or "index", not {ties!r}', parameter="ties", value=ties)


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
        raise InputError(
            f"weights must be one count per ranking: there are {plural(rows, 'ranking')}, "
            f"but {plural(np.size(weights), 'weight')}"
        )
    if counts.dtype.kind not in "iuf":
        first = counts[:1].tolist()[0] if len(counts) else counts.dtype
        raise InputError(f"weights must be whole numbers, not {first!r}", value=first)
    wrong = ~((counts >= 0) & (counts <= INT32_MAX) & (counts == np.floor(counts)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"weight {counts[row]} is not a whole number of at least 0", row=row, value=counts[row]
        )
    if rows and not counts.any():
        raise InputError("no rankings: at least one row with a weight above 0 is needed", value=0)
    return np.ascontiguousarray(counts, dtype=np.uint32)


def check_items(items: Iterable[Hashable], n: int) -> tuple[Hashable, ...]:
    """Check that there are ``n`` different labels."""
    labels = tuple(as_list(items, "items"))
    if len(labels) != n:
        given = plural(len(labels), "label was given", "labels were given")
        raise InputError(f"{given} for {plural(n, 'item')}; each item needs one label")
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
        raise InputError(f"{what} must be a list, not {values!r}", value=values) from None


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
    raise not_an_item(choice, index, row)


def not_an_item(label: object, known: Iterable[object], row: int) -> InputError:
    """Make the error for a label that is not one of the items.

    Examples
    --------
    >>> print(not_an_item("pear", ["apple", "plum"], row=2))
    row 2: 'pear' is not one of the items apple, plum
    """
    return InputError(f"{label!r} is not one of the items {few(list(known))}", row=row, value=label)


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
    """Return the first labels as text in one line."""
    shown = ", ".join(printable(label) for label in labels[:MAX_LISTED])
    return shown if len(labels) <= MAX_LISTED else f"{shown}, …"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun for a message, in plain digits.

    Examples
    --------
    >>> plural(1234, "item"), plural(1, "entry", "entries")
    ('1234 items', '1 entry')
    """
    return f"{count} {noun(count, one, many)}"
