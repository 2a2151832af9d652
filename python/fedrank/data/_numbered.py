"""Numbers under a header of positions: they may be ranks, or the numbers of items."""

from collections.abc import Sequence
from math import isnan
from typing import NoReturn

import numpy as np

from fedrank._positions import are_directions, are_positions, choice_number, is_position
from fedrank.data._grid import Choices, Grid, cell_number
from fedrank.data._matrix import HIGH, LOW, are_ranks


def may_be_rank(label: str) -> bool:
    """Return whether a cell below a position may be a rank, and no name of an item.

    Examples
    --------
    >>> [may_be_rank(label) for label in ("2", "=2", "2=", "2nd", "1.5")]
    [True, True, True, True, True]
    >>> may_be_rank("ann"), may_be_rank("P2"), may_be_rank("")
    (False, False, False)
    """
    return not isnan(cell_number(label.strip("=. "))) or is_position(label)


def refuse_bare(grid: Grid, numbers: Sequence[int], named: bool) -> None:
    """Refuse numbers that nothing says are ranks: without a header of item names.

    If the rows are named, columns that are just numbered may be rankings of them, and a single
    one, such as "final place", their ranks.
    """
    if grid.declared.layout is not None:
        return
    names = [grid.names[column] for column in numbers]
    counted = not named and are_positions(names)
    directed = are_directions(names) and not (named and len(names) == 1)
    if grid.headed and (counted or all(map(is_position, names)) or directed):
        refuse_positions(grid, numbers)
    if not grid.headed and not named:
        grid.refuse("there is no header of item names", readings(grid, numbers))


def refuse_positions(grid: Grid, columns: Sequence[int] | None = None) -> NoReturn:
    """Refuse a table with numbers below positions; by default these are the choices of ballots."""
    choices: Choices = []
    if columns is None:
        columns = [c for c, name in enumerate(grid.names) if choice_number(name) is not None]
        choices = [("candidates, best first", {"layout": "ballots"})]
    found = readings(grid, columns)
    choices += [each for each in found if not choices or each[1]["layout"] != "orders"]
    text = grid.first_text(list(columns))
    remedy = None
    if text is not None:
        line = grid.lines[text[0]]
        where = "" if line is None else f" in line {line}"
        remedy = (
            f"if they are ranks, write {grid.text(*text)!r}{where} as a number, or empty the cell"
        )
    grid.refuse(
        "the header names positions: the numbers may be ranks, or items", choices, remedy=remedy
    )


def readings(grid: Grid, columns: Sequence[int]) -> Choices:
    """Return what the numbers in some columns can be."""
    values = grid.values[:, list(columns)]
    known = values[~np.isnan(values)]
    choices: Choices = []
    if (known == np.floor(known)).all():
        choices.append(("item numbers, best first", {"layout": "orders"}))
    if are_ranks(known):
        choices.append(("the rank of each item, the lowest is best", {"layout": "ranks"}))
    choices += [
        ("scores, the highest is best", dict(HIGH)),
        ("scores, the lowest is best", dict(LOW)),
    ]
    return choices
