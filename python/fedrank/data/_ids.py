"""Columns of numbers that may number or name the rows, and so are no items."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank._words import are_long, is_number_id
from fedrank.data._grid import Choices, Grid
from fedrank.data._matrix import perm_base

LONG: tuple[str, dict[str, Any]] = ("one row per ranking and item", {"layout": "long"})
MIN_COUNTED_ROWS = 3  # rows from which different whole numbers may number them


def extra_columns(values: NDArray[np.float64]) -> list[int]:
    """Return the columns without which every row is a permutation.

    Examples
    --------
    >>> extra_columns(np.array([[17.0, 1.0, 2.0], [18.0, 2.0, 1.0]]))
    [0]
    """
    n = values.shape[1] - 1
    sums = values.sum(axis=1, keepdims=True)
    if n < 2:  # one number is always a permutation
        return []
    found: list[int] = []
    for base in (0, 1):
        # What is left of the sum of a row is the number in the extra column.
        left = sums - (n * base + n * (n - 1) // 2)
        fits = np.flatnonzero((values == left).all(axis=0))
        found += [int(c) for c in fits if perm_base(np.delete(values, c, axis=1)) == base]
    return found


def refuse_number_ids(grid: Grid, numbers: Sequence[int]) -> None:
    """Refuse a column of numbers whose name says that it numbers or names the rows."""
    if not grid.headed:
        return
    ids = [grid.names[column] for column in numbers if is_number_id(grid.names[column])]
    if ids:
        shown = ", ".join(map(repr, ids))
        word, what = "column", "an item, judging by its name"
        if len(ids) > 1:
            word, what = "columns", "items, judging by their names"
        long: Choices = [LONG] if are_long(grid.names) else []
        grid.refuse(
            f"{word} {shown} may not be {what}",
            [*skipping(grid, ids), *long],
            remedy="if it is an item, rename it",
        )


def skipping(grid: Grid, ids: list[str]) -> Choices:
    """Return the choice that some columns are no items."""
    text = f"column {ids[0]} is no item"
    if len(ids) > 1:
        text = f"columns {', '.join(ids)} are no items"
    return [(text, {"id_columns": [*grid.declared.id_columns, *ids]})]


def refuse_counted(grid: Grid, numbers: list[int]) -> None:
    """Refuse a column of numbers that may number the rows."""
    values = grid.values[:, numbers]
    if len(numbers) < 2:
        return
    suspects = counted_columns(values, grid.declared.layout == "scores")
    if perm_base(values) is not None:
        suspects = constant_columns(values)
    if suspects:
        name = grid.names[numbers[suspects[0]]]
        like = {"layout": grid.declared.layout or "ranks", "items_in": "columns"}
        item = ("it is an item like the others", like)
        grid.refuse(f"column {name!r} may number the rows", [*skipping(grid, [name]), item])


def counted_columns(values: NDArray[np.float64], scores: bool) -> list[int]:
    """Return the columns that may number the rows of a table whose rows are no permutations.

    Examples
    --------
    >>> counted_columns(np.array([[61.0, 59.0, 1.0], [58.0, 60.0, 2.0], [57.0, 60.0, 3.0]]), True)
    [2]
    """
    suspects = extra_columns(values)
    if len(values) < MIN_COUNTED_ROWS:
        return suspects
    first = values[:, 0]
    different = [are_different(column) for column in values.T]
    rising = bool((np.diff(first) > 0).all())
    if different[0] and (rising or not any(different[1:])):
        suspects.append(0)
    if scores:  # ranks of few items count up by chance
        by_one = (np.diff(values, axis=0) == 1).all(axis=0)
        suspects += [c for c in np.flatnonzero(by_one).tolist() if different[c]]
    return suspects


def constant_columns(values: NDArray[np.float64]) -> list[int]:
    """Return the first column of permutations if it may be the number of a site, in a list.

    It then has the same number in all rows, and each row is a permutation without it too. A last
    column like that is an item that all rank last.

    Examples
    --------
    >>> constant_columns(np.array([[4.0, 1.0, 2.0, 3.0], [4.0, 3.0, 1.0, 2.0]]))
    [0]
    """
    same = bool((values[:, 0] == values[0, 0]).all())
    return [0] if same and values.shape[1] > 2 and perm_base(values[:, 1:]) is not None else []


def are_different(column: NDArray[np.float64]) -> bool:
    """Return whether numbers are whole, and no two are equal.

    Examples
    --------
    >>> are_different(np.array([17.0, 3.0])), are_different(np.array([0.5, 3.0]))
    (True, False)
    """
    return bool((column == np.floor(column)).all()) and len(np.unique(column)) == len(column)


def too_large(grid: Grid, numbers: list[int]) -> NDArray[np.bool_]:
    """Return which columns have a number that is larger than the number of columns."""
    large: NDArray[np.bool_] = np.nan_to_num(grid.values[:, numbers]) > len(numbers)
    return np.asarray(large.any(axis=0))


def refuse_large(grid: Grid, numbers: list[int], side: str) -> None:
    """Refuse a rank that is larger than the number of items: its column may be an id."""
    values = grid.values[:, numbers]
    n = values.shape[1] if side == "columns" else values.shape[0]
    large = np.nan_to_num(values) > n
    wrong = large.any(axis=0)
    if grid.declared.layout != "ranks" or not wrong.any():
        return
    if grid.declared.items_in == "columns" or (side == "rows" and wrong.all()):
        return  # ranks in a longer list
    row, place = divmod(int(np.flatnonzero(large)[0]), len(numbers))
    choices: Choices = []
    remedy = None
    if grid.headed and not wrong.all():
        choices += skipping(grid, [grid.names[numbers[c]] for c in np.flatnonzero(wrong)])
    if side == "columns":
        longer = "the ranks are from a longer list, one ranking per row"
        choices.append((longer, {"items_in": "columns"}))
    else:
        remedy = "if it is a ranking, rank the items of the table anew"
    value = float(values[row, place])
    grid.refuse(
        f"{value:g} in column {grid.names[numbers[place]]}: ranks of {n} items cannot exceed {n}",
        choices,
        remedy=remedy,
        line=grid.lines[row],
        value=value,
    )


def refuse_rising(grid: Grid, numbers: list[int]) -> None:
    """Refuse a first column that may number items in rows which have no names."""
    first = grid.values[:, numbers[0]]
    if len(numbers) > 1 and len(first) > 1 and bool((np.diff(first) > 0).all()):
        name = grid.names[numbers[0]]
        grid.refuse(
            f"column {name!r} may number the rows",
            [(f"column {name} names the items", {"id_columns": [name]})],
            remedy="if it is a ranking, put a column of item names first",
        )
