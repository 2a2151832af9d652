"""Long tables: one row per ranking and item, with the rank or the score."""

from itertools import combinations
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fedrank._words import RANK_WORDS, RANKING_WORDS, VALUE_WORDS, is_id, names_item
from fedrank.data._blocks import MAX_CELLS
from fedrank.data._grid import Choices, Grid
from fedrank.data._matrix import LEAVE_EMPTY, Matrix, Read, from_matrix, unclear_zero
from fedrank.data._orders import as_items
from fedrank.data._recognise import refuse_points
from fedrank.data._text import fail

MAX_CHOICES = 6  # columns to keep that a message lists


def read_long(grid: Grid) -> Read:
    """Read a table of three columns: the ranking, the item, and its rank or score."""
    if len(grid.names) != 3:
        refuse_width(grid)
    refuse_points(grid)
    ranking, item, value = roles(grid)
    wrong = grid.first_text([value])
    if wrong is not None:
        word = grid.text(*wrong)
        fail(grid.path, grid.lines[wrong[0]], f"{word!r} is not a number", value=word)
    codes, labels = grid.labelled()
    for column, what in ((ranking, "ranking"), (item, "item")):
        blank = np.flatnonzero(codes[:, column] == 0)
        if blank.size:
            fail(grid.path, grid.lines[blank[0]], f"the row names no {what}")
    used, first = np.unique(codes[:, ranking], return_index=True)
    row_of = {int(used[i]): row for row, i in enumerate(np.argsort(first))}
    names, items = as_items([labels[code] for code in np.unique(codes[:, item])])
    place = {name: i for i, name in enumerate(names)}
    if len(row_of) * len(names) > MAX_CELLS:
        problem = f"{len(row_of)} rankings of {len(names)} items are too many for the memory"
        fail(grid.path, None, problem, value=len(row_of))
    rows = np.array([row_of[int(code)] for code in codes[:, ranking]])
    columns = np.array([place[labels[code]] for code in codes[:, item]])
    check_pairs(grid, rows * len(names) + columns, codes[:, item], labels)
    values = np.full((len(row_of), len(names)), np.nan)
    values[rows, columns] = grid.values[:, value]
    if grid.declared.best is None:
        name = grid.names[value] if grid.headed else ""
        refuse_unclear(grid, name, values)
    layout = "ranks" if grid.declared.best is None else "scores"
    zero = unclear_zero(values) if grid.names[value].lower() in RANK_WORDS else None
    if zero is not None:
        line = grid.lines[int(np.argmax(grid.values[:, value] == 0))]
        fail(grid.path, line, zero[2], value=0, remedy=LEAVE_EMPTY)
    empty = int(np.isnan(grid.values[:, value]).sum())
    parts = zip(("ranking", "item", "number"), (ranking, item, value), strict=True)
    form = "long table: " + ", ".join(f"{what} {grid.names[column]}" for what, column in parts)
    matrix = Matrix(layout, values, items, [], empty, grid.declared.id_columns, form)
    return Read(from_matrix(grid, matrix).rankings, np.array([], dtype=np.intp))


def refuse_width(grid: Grid) -> NoReturn:
    """Refuse a table of more or fewer columns than three, with the columns that may be skipped."""
    found = len(grid.names)
    choices: Choices = []
    if found > 3 and grid.headed:
        roles = [c for c, name in enumerate(grid.names) if has_role(name)]
        fixed = roles if len(roles) <= 3 else []
        others = [c for c in range(found) if c not in fixed]
        for kept in combinations(others, 3 - len(fixed)):
            skipped = [grid.names[c] for c in others if c not in kept]
            names = ", ".join(name for name in grid.names if name not in skipped)
            ids = [*grid.declared.id_columns, *skipped]
            choices.append((f"the columns are {names}", {"id_columns": ids}))
    grid.refuse(
        f"a long table has three columns (ranking, item, rank or score), not {found}",
        choices if len(choices) <= MAX_CHOICES else [],
        value=found,
        remedy=None if 0 < len(choices) <= MAX_CHOICES else "keep these three columns only",
    )


def has_role(name: str) -> bool:
    """Return whether the name of a column says what it is in a long table.

    Examples
    --------
    >>> has_role("Item"), has_role("rank"), has_role("comment")
    (True, True, False)
    """
    word = name.lower()
    return names_item(word) or word in RANKING_WORDS or word in VALUE_WORDS or is_id(name)


def refuse_unclear(grid: Grid, name: str, values: NDArray[np.float64]) -> None:
    """Refuse numbers that are not certainly ranks: by the name of their column, and by counting."""
    problem = "the numbers of a ranking are not a permutation"
    if name.lower() not in RANK_WORDS:
        shown = f"column {name!r}" if name else "the third column"
        problem = f"{shown} may contain ranks or scores"
    elif are_counted(values):
        return
    choices: Choices = [
        ("the highest number is best (ratings)", {"best": "high"}),
        ("the lowest number is best (ranks, p-values)", {"best": "low"}),
    ]
    grid.refuse(problem, choices)


def roles(grid: Grid) -> tuple[int, int, int]:
    """Return the columns of the ranking, the item and the number.

    The header shows them, or else the contents: the number is in the only column of numbers.
    Otherwise they are in this order.
    """
    words = [name.lower() for name in grid.names] if grid.headed else [""] * 3
    numbers = grid.of_kind("number")
    items = [c for c, word in enumerate(words) if names_item(word)]
    tests = (
        [
            c
            for c, word in enumerate(words)
            if c not in items and (word in RANKING_WORDS or is_id(grid.names[c]))
        ],
        items,
        [c for c, word in enumerate(words) if word in VALUE_WORDS and c in numbers],
    )
    found = [some[0] if len(some) == 1 else None for some in tests]
    if found[2] is None and len(numbers) == 1:
        found[2] = numbers[0]
    chosen = [column for column in found if column is not None]
    if len(set(chosen)) < len(chosen):
        return 0, 1, 2
    rest = iter(column for column in range(3) if column not in chosen)
    if found[2] is None and 2 not in chosen:
        found[2] = 2
        rest = iter(column for column in range(2) if column not in chosen)
    ranking, item, value = (next(rest) if column is None else column for column in found)
    return ranking, item, value


def check_pairs(
    grid: Grid, pairs: NDArray[np.int64], items: NDArray[np.int32], labels: list[str]
) -> None:
    """Refuse an item that a ranking has twice."""
    order = np.argsort(pairs, kind="stable")
    again = order[1:][pairs[order[1:]] == pairs[order[:-1]]]
    if again.size:
        row = int(again.min())
        label = labels[items[row]]
        problem = f"the ranking has item {label!r} more than once"
        fail(grid.path, grid.lines[row], problem, value=label)


def are_counted(values: NDArray[np.float64]) -> bool:
    """Return whether the numbers of each row are a permutation, from one base in all rows.

    Examples
    --------
    >>> are_counted(np.array([[2.0, 1.0, np.nan], [3.0, 1.0, 2.0]]))
    True
    >>> are_counted(np.array([[2.0, 1.0], [0.0, 1.0]]))
    False
    """
    ordered = np.sort(values, axis=1)  # NaN last
    base = ordered[:, :1].min()
    counted = np.arange(values.shape[1]) + base
    return bool(base in (0, 1) and (np.isnan(ordered) | (ordered == counted)).all())
