"""Whether the first row of a table is its header."""

from dataclasses import replace
from typing import NoReturn

import numpy as np

from fedrank._positions import are_directions, are_positions, is_position
from fedrank._validation import plural
from fedrank.data._csv import REMOVE_TITLE
from fedrank.data._grid import MISSING, Choices, Grid
from fedrank.data._matrix import number_choices
from fedrank.data._text import fail


def with_header(grid: Grid) -> Grid:
    """Separate the header of a table of numbers, or refuse to guess where it is unclear.

    A first row is certainly a header if it has names, and no number, above the columns of numbers.
    It may lack the cell above the names of the rows: R writes it so.
    """
    grid = with_corner(grid)
    check_widths(grid)
    if grid.headed:
        return grid
    declared = grid.declared.header
    if declared is not None:
        return named(grid) if declared else grid
    if len(grid.lines) == 1:
        fail(grid.path, None, "the table has no rows below the header")
    below = grid.rows(1)
    columns = below.of_kind("number", "mixed") or below.of_kind("text", "blank")
    top = [grid.text(0, column).lower() for column in columns]
    if not np.isnan(grid.values[0, columns]).all() or all(cell in MISSING for cell in top):
        problem = "the first row contains numbers: it may be a header, or a ranking"
        grid.refuse(problem, CHOICES)
    return named(grid)


CHOICES = [
    ("the first row is a header of names", {"header": True}),
    ("there is no header: the first row is data", {"header": False}),
]


def refuse_heads(grid: Grid) -> None:
    """Refuse two rows of texts above numbers: a title and a header, or a header and units."""
    columns = grid.rows(2).of_kind("number") if len(grid.lines) > 2 else []
    if len(columns) < 2:
        return
    texts = np.isnan(grid.values[:2, columns]) & ~grid.missing[:2, columns]
    words = [grid.text(1, column) for column in columns]
    if not texts[1].all() or any(word[0].isdigit() for word in words):
        return
    if (grid.codes[0] != 0).sum() == 1 and grid.codes[0, 0] > 0:
        title = grid.text(0, 0)
        fail(
            grid.path,
            grid.lines[0],
            f"{title!r} looks like a title: the other cells of the row are empty",
            value=title,
            remedy=REMOVE_TITLE,
        )
    if texts[0].all():
        fail(
            grid.path,
            grid.lines[1],
            f"{words[0]!r} is not a number: between the header and the numbers is a row of texts",
            value=words[0],
            remedy="delete the row if it contains units or second names",
        )


def with_corner(grid: Grid) -> Grid:
    """Add the empty name of a first column of texts, which R leaves out."""
    width = len(grid.names)
    short = not grid.headed and grid.widths[0] == width - 1 and (grid.widths[1:] == width).all()
    if not short or len(grid.lines) == 1 or grid.declared.header is False:
        return grid
    if grid.rows(1).kinds[0] != "text":
        return grid
    values, codes = grid.values.copy(), grid.codes.copy()
    values[0], codes[0] = np.roll(values[0], 1), np.roll(codes[0], 1)
    widths = grid.widths.copy()
    widths[0] = width
    return replace(grid, values=values, codes=codes, widths=widths)


def check_widths(grid: Grid) -> None:
    """Refuse a row that has more or fewer cells than the first one."""
    wrong = np.flatnonzero(grid.widths != grid.widths[0])
    if wrong.size:
        row, width = int(wrong[0]), int(grid.widths[0])
        fail(
            grid.path,
            grid.lines[row],
            f"the row has {plural(int(grid.widths[row]), 'column')}, but the first row has {width}",
            value=int(grid.widths[row]),
        )


def named(grid: Grid) -> Grid:
    """Take the names of the columns from the first row."""
    if len(grid.lines) == 1:
        fail(grid.path, None, "the table has no rows below the header")
    names = [grid.text(0, column) for column in range(len(grid.names))]
    return replace(grid.rows(1), names=names, headed=True)


def with_order_header(grid: Grid) -> Grid:
    """Separate the header of a table of orders, or refuse to guess where it is unclear.

    A first row is certainly a header only if it names positions ("1st", "2nd"): other words may be
    items that no other order names, or that it spells in another way.
    """
    declared = grid.declared.header
    if grid.headed:
        return grid
    if declared is not None:
        return named(grid) if declared else grid
    if len(grid.lines) == 1:
        grid.refuse("the only row may be a header, or an order", CHOICES[1:])
    codes, labels = grid.labelled()
    below = codes[1:]
    top = [labels[code] for code in codes[0]]
    words = [code for code, name in zip(codes[0], top, strict=True) if is_position(name)]
    if are_positions(top) or are_directions(top):
        words = codes[0].tolist()
    new = not np.isin(words, below).any()
    if len(words) > 1 and new:
        return named(grid)
    problem = "the first row may be a header, or an order like those below it"
    if np.isin(codes[0], below).any():
        grid.refuse(problem, CHOICES)
    # Its cells would be items that no other order names.
    remedy = "if it is an order, put a header such as 1st, 2nd, … above it"
    return grid.refuse(problem, CHOICES[:1], remedy=remedy)


def refuse_one_column(grid: Grid) -> NoReturn:
    """Refuse a table of one column: any text is one."""
    problem = "the table has one column: tabs, commas and semicolons separate columns"
    cells = [grid.text(row, 0) for row in range(len(grid.lines))]
    remedy = None
    if all(len(cell.split()) > 1 for cell in cells):
        problem, remedy = f"{problem}, and spaces do not", "put one of these between the cells"
    choices: Choices = []
    if grid.of_kind("number"):
        for text, options in number_choices(grid.values[:, -1:].T):
            choices.append((f"{text}, one ranking of all rows", options | {"items_in": "rows"}))
    else:
        meaning, orders = "each row names one item, the best", {"layout": "orders"}
        choices = [(f"{meaning}; {text}", orders | options) for text, options in CHOICES]
        if grid.headed or grid.declared.header is not None:
            choices = [(meaning, orders)]
    grid.refuse(problem, [] if grid.declared.layout else choices, remedy=remedy)
