"""Tables of orders: each row lists labels, the best first."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from fedrank._positions import are_directions, are_positions, is_position, positions_of
from fedrank._words import is_id
from fedrank.data._blocks import MAX_CELLS, REORDERED, from_levels
from fedrank.data._grid import MISSING, Choices, Grid
from fedrank.data._header import refuse_one_column, with_order_header
from fedrank.data._matrix import Read
from fedrank.data._numbered import may_be_rank, refuse_positions
from fedrank.data._odd import is_odd, refuse_odd
from fedrank.data._text import fail, shown_name
from fedrank.rankings.complete import in_order
from fedrank.rankings.source import Note, Source


def read_orders(grid: Grid) -> Read:
    """Read orders of labels; items that a row does not name are not ranked."""
    declared = grid.declared
    grid.comments.check_ballots(grid.path)
    if len(grid.names) == 1 and declared.layout is None:
        refuse_one_column(grid)
    grid = with_order_header(grid).without(declared.id_columns)
    if len(grid.names) == 1 and declared.layout is None:
        refuse_one_column(grid)
    refuse_numbered(grid)
    grid, moved = by_position(grid)
    codes, labels = grid.labelled()
    check_words(grid, codes, labels)
    refuse_name_column(grid, codes)
    used = [int(code) for code in np.unique(codes[codes > 0])]
    if not used:
        fail(grid.path, None, "no order names an item")
    names, items = as_items([labels[code] for code in used])
    place = {name: i for i, name in enumerate(names)}
    column = np.full(len(labels), -1, dtype=np.int32)
    column[used] = [place[labels[code]] for code in used]
    levels = levels_of_labels(grid, codes, column, labels, len(names))
    rows = np.flatnonzero((levels >= 0).any(axis=1))
    blank = Note(len(levels) - len(rows), "empty ranking", "{} left out")
    source = Source(
        files=(str(shown_name(grid.path)),),
        rankings=len(rows),
        items=len(names),
        kind="orders",
        how=f"orders, best first{REORDERED if moved else ''}",
        skipped=declared.id_columns,
        notes=tuple(note for note in (*grid.left_out, blank) if note.count),
    )
    return Read(from_levels(levels[rows], items, source), rows)


def refuse_numbered(grid: Grid) -> None:
    """Refuse a number below a position, which may be a rank, unless orders are declared."""
    if grid.declared.layout is not None or not grid.headed:
        return
    columns = [
        c for c, name in enumerate(grid.names) if is_position(name) or are_directions([name])
    ]
    codes, labels = grid.labelled()
    ranks = [code for code, label in enumerate(labels) if may_be_rank(label)]
    if np.isin(codes[:, columns], ranks).any():
        refuse_positions(grid, columns)


def by_position(grid: Grid) -> tuple[Grid, bool]:
    """Put the columns in the order of the positions in the header; say whether this moved any."""
    places = positions_of(grid.names) if grid.headed else None
    if isinstance(places, str):
        fail(
            grid.path,
            None,
            f"the header does not say where the best item is: {places}",
            value=", ".join(grid.names),
            remedy="name the columns of an order 1st, 2nd, 3rd, …, each position once",
        )
    if places is None or places == sorted(places):
        return grid, False
    return grid.take(sorted(range(len(places)), key=places.__getitem__)), True


def levels_of_labels(
    grid: Grid,
    codes: NDArray[np.int32],
    column: NDArray[np.int32],
    labels: list[str],
    n: int,
) -> NDArray[np.int32]:
    """Return the level of each item in each order; refuse an item that is named twice."""
    if len(codes) * n > MAX_CELLS:
        problem = f"{len(codes)} orders of {n} items are too many for the memory"
        fail(grid.path, None, problem, value=len(codes))
    levels = np.full((len(codes), n), -1, dtype=np.int32)
    level = np.zeros(len(codes), dtype=np.int32)
    twice: tuple[int, int] | None = None
    for place in range(codes.shape[1]):
        rows = np.flatnonzero(codes[:, place] > 0)
        items = column[codes[rows, place]]
        again = rows[levels[rows, items] >= 0]
        if again.size and (twice is None or again[0] < twice[0]):
            twice = int(again[0]), place
        levels[rows, items] = level[rows]
        level[rows] += 1
    if twice is not None:
        label = labels[codes[twice]]
        problem = f"the order names {label!r} more than once"
        fail(grid.path, grid.lines[twice[0]], problem, value=label)
    return levels


def as_items(labels: Sequence[str]) -> tuple[list[str], tuple[Hashable, ...] | None]:
    """Return labels sorted, and as items: whole numbers, if all are; None for those from 0 on.

    Examples
    --------
    >>> as_items(["b", "a"]), as_items(["10", "9"]), as_items(["1", "0"])
    ((['a', 'b'], ('a', 'b')), (['9', '10'], (9, 10)), (['0', '1'], None))
    """
    if all(label.isascii() and label.isdigit() and str(int(label)) == label for label in labels):
        numbers = sorted(map(int, labels))
        counted = numbers == list(range(len(numbers)))
        return [str(number) for number in numbers], None if counted else tuple(numbers)
    ordered = in_order(labels)
    return [str(label) for label in ordered], ordered


def check_words(grid: Grid, codes: NDArray[np.int32], labels: list[str]) -> None:
    """Refuse labels that may stand for an empty cell, or for a rank."""
    blank = [code for code, label in enumerate(labels) if code and label.lower() in MISSING]
    ranks = [code for code, label in enumerate(labels) if is_position(label)]
    odd = [code for code, label in enumerate(labels) if is_odd(label)]
    for row, place in np.argwhere(np.isin(codes, odd))[:1].tolist():
        refuse_odd(grid, row, labels[int(codes[row, place])], " or the name of an item")
    found = np.argwhere(np.isin(codes, blank + ranks))
    if not found.size:
        return
    row, place = found[0].tolist()
    code = int(codes[row, place])
    problem, remedy = f"{labels[code]!r} may be an item, or an empty cell", "leave the cell empty"
    if code in ranks:
        problem, remedy = f"{labels[code]!r} may be an item, or a rank", "write ranks as numbers"
    fail(
        grid.path,
        grid.lines[row],
        problem,
        value=labels[code],
        remedy=f"{remedy}, or rename the item",
    )


def refuse_name_column(grid: Grid, codes: NDArray[np.int32]) -> None:
    """Refuse a column that may name the rows."""
    positions = [
        grid.headed and (is_position(name) or are_directions([name])) for name in grid.names
    ]
    if all(positions) or (grid.headed and are_positions(grid.names)):
        return
    suspects = [c for c, name in enumerate(grid.names) if grid.headed and is_id(name)]
    if any(positions):
        suspects = positions_missing(positions)
    # Ids occur once: no order is like that, if there are several of the same items.
    once = (np.bincount(codes.ravel())[codes] == 1) & (codes > 0)
    # Beside a column of ids there are items; a lone column contains them itself.
    if len(codes) > 1 and (codes > 0).any(axis=0).sum() > 1:
        suspects += np.flatnonzero(once.all(axis=0)).tolist()
    for column in suspects[:1]:
        name = grid.names[column]
        ids = [*grid.declared.id_columns, name]
        choices: Choices = [(f"orders; column {name} skipped", {"id_columns": ids})]
        grid.refuse(
            f"column {name!r} may name the rows, or contain items",
            choices,
            remedy="if it contains items, put a header such as 1st, 2nd, … above the table",
        )


def positions_missing(positions: Sequence[bool]) -> list[int]:
    """Return the columns that are not named after a position.

    Examples
    --------
    >>> positions_missing([False, True, True])
    [0]
    """
    return [column for column, position in enumerate(positions) if not position]
