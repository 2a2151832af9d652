"""The labels of a study's items: what JSON can write and tell apart."""

from collections.abc import Hashable, Iterable

import numpy as np

from fedrank._validation import check_items
from fedrank.exceptions import InputError


def as_labels(items: Iterable[Hashable], n: int) -> tuple[str | int, ...]:
    """Check labels: JSON must be able to tell them apart.

    Examples
    --------
    >>> as_labels(["a", np.int64(2)], 2)
    ('a', 2)
    """
    labels: list[str | int] = []
    for label in check_items(items, n):
        if isinstance(label, bool) or not isinstance(label, str | int | np.integer):
            raise InputError(
                f"the item labels of a study must be text or whole numbers, not {label!r}",
                value=label,
            )
        labels.append(label if isinstance(label, str) else int(label))
    return tuple(labels)


def is_writable(text: object) -> bool:
    r"""Return whether UTF-8 can write a text.

    Examples
    --------
    >>> is_writable("Zoë"), is_writable("\ud800")
    (True, False)
    """
    try:
        str(text).encode()
    except UnicodeEncodeError:
        return False
    return True
