"""How a table of numbers is to be read: as declared, as is certain, or not at all.

The whole file decides. What can be read in two ways is refused, with the options that choose.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fedrank._words import (
    are_long,
    are_scores,
    is_number_id,
    names_item,
    names_ranking,
    names_ranks,
)
from fedrank.data._csv import DECIMAL_COMMA
from fedrank.data._grid import Choices, Grid
from fedrank.data._header import refuse_one_column
from fedrank.data._ids import (
    LONG,
    extra_columns,
    refuse_counted,
    refuse_large,
    refuse_number_ids,
    refuse_rising,
    skipping,
    too_large,
)
from fedrank.data._matrix import HIGH, LOW, Matrix, are_ranks, number_choices, perm_base
from fedrank.data._numbered import refuse_bare
from fedrank.data._odd import refuse_odd
from fedrank.data._text import fail

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.A)


def recognise(grid: Grid, labels: tuple[str, ...] | None) -> Matrix:
    """Find the ranks or scores of a table whose header and declared ids are separated.

    ``labels`` are the cells of the first declared id; they name the items in rows, if no column of
    texts does.
    """
    refuse_points(grid)
    refuse_texts(grid)
    names = names_column(grid)
    numbers = [c for c in range(len(grid.names)) if c != names]
    if not numbers or (len(numbers) == 1 and names is None and grid.declared.layout is None):
        refuse_one_column(grid)
    if names is None and grid.declared.items_in is None and not too_large(grid, numbers).all():
        refuse_large(grid, numbers, "columns")
    refuse_number_ids(grid, numbers)
    refuse_bare(grid, numbers, named=names is not None)
    refuse_score_names(grid, numbers)
    values = grid.values[:, numbers]
    settled = grid.declared.items_in or ("columns" if grid.declared.by is not None else None)
    side = settled or side_of(grid, names, values)
    if settled and grid.declared.layout is None:
        check_side(grid, names, values)
    refuse_large(grid, numbers, side)
    if side == "columns":
        refuse_bare(grid, numbers, named=False)
        if grid.declared.items_in is None and names is None:
            refuse_counted(grid, numbers)
    else:
        if names is None and labels is None:
            refuse_rising(grid, numbers)
        if len(numbers) == 1:
            refuse_single(grid, grid.names[numbers[0]])
    return matrix_of(grid, names, numbers, side, labels)


def matrix_of(
    grid: Grid, names: int | None, numbers: list[int], side: str, labels: tuple[str, ...] | None
) -> Matrix:
    """Return the matrix of a table whose reading is settled."""
    layout, ids = grid.declared.layout or "ranks", grid.declared.id_columns
    values = grid.values[:, numbers]
    empty = int(np.isnan(values).sum())
    columns = [grid.names[column] for column in numbers]
    if side == "columns":
        skipped = () if names is None else (grid.names[names] or "without a name",)
        items = tuple(columns) if grid.headed else None
        check_labels(grid, items, "column")
        return Matrix(layout, values, items, grid.lines, empty, (*ids, *skipped))
    form = "items in rows"
    if names is not None:
        labels = tuple(grid.text(row, names) for row in range(len(grid.lines)))
    elif labels is not None:
        form += f", named by column {ids[0]}"
        ids = ids[1:]
    check_labels(grid, labels, "row")
    turned = np.ascontiguousarray(values.T)
    return Matrix(layout, turned, labels, [], empty, ids, form, grid.lines)


def names_column(grid: Grid) -> int | None:
    """Return the first column if it names the rows: by texts, or by numbers under no name."""
    unnamed = grid.headed and grid.names[0] == "" and len(grid.names) > 1
    return 0 if grid.kinds[0] == "text" or unnamed else None


def side_of(grid: Grid, names: int | None, values: NDArray[np.float64]) -> str:
    """Return where the items are, "rows" or "columns", if it is certain."""
    layout = grid.declared.layout
    # An id such as a gene's may name the items in rows.
    items = any(map(names_item, grid.declared.id_columns))
    if layout == "scores" and names is None and not items:
        return "columns"
    across, down = perm_base(values) is not None, perm_base(values.T) is not None
    if names is not None and down:
        labels = [grid.text(row, names) for row in range(len(grid.lines))]
        down = len(set(labels)) == len(labels)
    if layout != "scores":
        if across != down and (across or names is not None):
            return "columns" if across else "rows"
        if layout is not None and names is None and not down and not items:
            return "columns"
        if layout is None and not down:
            refuse_numbers(grid, names, values)
    return refuse_sides(grid, names, across, down)


def refuse_sides(grid: Grid, names: int | None, across: bool, down: bool) -> NoReturn:
    """Refuse a table whose items may be in the rows or in the columns."""
    ids = grid.declared.id_columns
    name = next(iter(ids), "") if names is None else grid.names[names]
    shown = repr(name) if name else "1, which has no name,"
    problem = f"column {shown} may name the items, or the rankings"
    options: dict[str, Any] = {}
    if grid.declared.layout != "scores" and down:
        options = {"layout": "ranks"}
        problem = "both the rows and the columns are complete rankings"
        if not across:
            problem = "the columns are complete rankings, and the rows are not"
    sides = sides_of(grid, names, both=True)
    grid.refuse(problem, [(text, options | side) for text, side in sides])


def check_side(grid: Grid, names: int | None, values: NDArray[np.float64]) -> None:
    """Refuse numbers that are not certainly ranks on the declared side."""
    turned = grid.declared.items_in == "rows"
    if perm_base(values.T if turned else values) is None:
        refuse_numbers(grid, names, values)


def sides_of(grid: Grid, names: int | None, both: bool = False) -> Choices:
    """Return where the items can be, and the options that say so."""
    if grid.declared.items_in is not None:
        where = {"columns": "one ranking per row", "rows": "one ranking per column"}
        return [(where[grid.declared.items_in], {"items_in": grid.declared.items_in})]
    ids = grid.declared.id_columns
    named = names is None and bool(ids) and not any(map(names_ranking, ids))
    if grid.declared.by is not None or (names is None and not both and not named):
        return [("one ranking per row", {})]
    across = "one ranking per row"
    down = "one ranking per column" + (f", column {ids[0]} names the items" if named else "")
    return [(across, {"items_in": "columns"}), (down, {"items_in": "rows"})]


def is_unlike(values: NDArray[np.float64]) -> bool:
    """Return whether the first column may be an id: whole numbers beside others, or larger ones.

    Examples
    --------
    >>> is_unlike(np.array([[7, 0.5, 2]])), is_unlike(np.array([[1.0, 2, 5]]))
    (True, False)
    """
    first, rest = values[:, 0], values[:, 1:]
    rest = rest[~np.isnan(rest)]
    if np.isnan(first).any() or not rest.size or values.shape[1] < 3:
        return False
    whole = bool((first == np.floor(first)).all())
    return whole and bool((rest != np.floor(rest)).any() or first.min() > rest.max())


def refuse_numbers(grid: Grid, names: int | None, values: NDArray[np.float64]) -> NoReturn:
    """Refuse numbers that are not certainly ranks, with the readings that apply."""
    numbers = [c for c in range(len(grid.names)) if c != names]
    choices: Choices = []
    if names is None:
        for column in extra_columns(values):
            name = grid.names[numbers[column]]
            text = f"ranks, the lowest is best; column {name} is no item"
            choices.append((text, {"id_columns": [*grid.declared.id_columns, name]}))
    for text, side in sides_of(grid, names):
        matrix = values.T if "items_in" in side and side["items_in"] == "rows" else values
        choices += [(f"{what}, {text}", o | side) for what, o in number_choices(matrix)]
    if are_long(grid.names):
        choices.append(LONG)
    if names is None and grid.headed and is_unlike(values):
        choices += skipping(grid, [grid.names[numbers[0]]])
    problem = "the numbers are not certainly ranks: not every row is a permutation"
    if np.isnan(values).any():
        problem = "the numbers are not certainly ranks: cells are empty"
    remedy = None
    if (values == 0).any() and are_ranks(np.nan_to_num(values)):
        remedy = "if 0 means that an item is not ranked, leave these cells empty first"
    grid.refuse(problem, choices, remedy=remedy)


def refuse_texts(grid: Grid) -> None:
    """Refuse cells that are not numbers, unless they are in a first column of names."""
    allowed = [0] if grid.kinds[0] == "text" else []
    columns = [c for c in range(len(grid.names)) if c not in allowed]
    found = grid.first_text(columns) if columns else None
    if found is None:
        return
    row, column = found
    word = grid.text(row, column)
    refuse_decimals(grid, word)
    refuse_odd(grid, row, word)
    if set(grid.kinds) == {"text"} and grid.declared.layout is not None:
        kept = replace(grid.declared, layout=None, best=None, items_in=None, decimal=None)
        grid.declare(kept).refuse(
            f"the cells contain texts, such as {word!r}, but {grid.declared.layout} must be "
            "numbers",
            [("labels, best first", {"layout": "orders"})],
            line=grid.lines[row],
            value=word,
        )
    ids = [*grid.declared.id_columns, grid.names[column]]
    name = grid.names[column]
    remedy = "correct the cell, or leave it empty"
    if (
        grid.headed
        and name
        and (column == 0 or is_number_id(name))
        and grid.kinds[column] != "text"
    ):
        grid.refuse(
            f"column {name!r} contains numbers and texts, such as {word!r}",
            skipping(grid, [name]),
            remedy="if it is an item, correct the cell, or leave it empty",
            line=grid.lines[row],
            value=word,
        )
    if grid.kinds[column] == "text" and grid.headed and name:
        long: Choices = [LONG] if len(grid.names) == 3 else []
        grid.refuse(
            f"column {name!r} contains texts, such as {word!r}",
            [(f"column {name} is no item", {"id_columns": ids}), *long],
            remedy="put a column of item names first",
            line=grid.lines[row],
            value=word,
        )
    fail(grid.path, grid.lines[row], f"{word!r} is not a number", value=word, remedy=remedy)


def refuse_decimals(grid: Grid, word: str) -> None:
    """Refuse a number with a decimal comma, unless it is declared."""
    if grid.declared.sign != "." or not DECIMAL_COMMA.fullmatch(word):
        return
    commas = [text for text in grid.texts if DECIMAL_COMMA.fullmatch(text)]
    if all(map(THOUSANDS.fullmatch, commas)):
        grid.refuse(
            f"the comma in {word!r} may separate thousands, or be the decimal sign",
            [],
            remedy="remove it from all numbers if it separates thousands, else write a point",
            value=word,
        )
    choice = ("the comma is the decimal sign", {"decimal": ","})
    grid.refuse(f"{word!r} is not a number with a decimal point", [choice])


def refuse_points(grid: Grid) -> None:
    """Refuse numbers whose points may separate thousands, unless the decimal sign is declared."""
    if grid.thousands is not None and grid.declared.decimal is None:
        grid.refuse(
            f"the point in {grid.thousands!r} may separate thousands, or be the decimal sign",
            [("the point is the decimal sign", {"decimal": "."})],
            remedy="if it separates thousands, remove it from all numbers",
            value=grid.thousands,
        )


def refuse_single(grid: Grid, name: str) -> None:
    """Refuse one column of numbers beside items, unless its name says that they are ranks."""
    if grid.declared.layout is not None or (grid.headed and names_ranks(name)):
        return
    shown = f"column {name!r}" if grid.headed else "the column of numbers"
    side = {"items_in": "rows"}
    choices: Choices = [
        ("ranks, the lowest is best", {"layout": "ranks"} | side),
        ("scores, the highest is best (votes, points)", HIGH | side),
        ("scores, the lowest is best (times)", LOW | side),
    ]
    grid.refuse(f"{shown} may contain ranks or scores: its name does not say it", choices)


def refuse_score_names(grid: Grid, numbers: Sequence[int]) -> None:
    """Refuse numbers that look like ranks under names that say that they are scores."""
    names = [grid.names[column] for column in numbers]
    if grid.declared.layout is not None or not grid.headed or not are_scores(names):
        return
    choices: Choices = [
        ("scores, the highest is best", dict(HIGH)),
        ("scores, the lowest is best (p-values, times)", dict(LOW)),
        ("ranks, the lowest is best", {"layout": "ranks"}),
    ]
    grid.refuse(f"the numbers may be scores, judging by the column name {names[0]!r}", choices)


def check_labels(grid: Grid, labels: tuple[str, ...] | None, what: str) -> None:
    """Refuse items that have no name, or share one."""
    seen: set[str] = set()
    for place, label in enumerate(labels or (), 1):
        line = grid.lines[place - 1] if what == "row" else None
        if not label:
            problem = f"{what} {place} has no name, but each item needs one"
            fail(grid.path, line, problem, remedy="enter the name of the item")
        if label in seen:
            problem = f"item labels must differ, but {label!r} is given twice"
            fail(grid.path, line, problem, value=label)
        seen.add(label)
