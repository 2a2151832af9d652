"""Cells that are no plain numbers, and how to convert them."""

import re

from fedrank.data._grid import Grid
from fedrank.data._text import fail

ODD = (
    (re.compile(r"[+-]?[\d.,]+\s*%"), "a percentage", "remove the percent signs"),
    (re.compile(r"\d+:\d\d(:\d\d)?([.,]\d+)?"), "a time", "convert times to seconds"),
    (re.compile(r"true|false", re.I), "true or false", "write 1 and 0"),
    (re.compile(r"\{.*|.*\}"), "part of a tie", "write ties as equal ranks, one column per item"),
)
"""Patterns of cells, what these are, and what to do."""


def is_odd(word: str) -> bool:
    """Return whether a cell has to be converted before it is a number or an item.

    Examples
    --------
    >>> [is_odd(word) for word in ("50 %", "1:02:03", "TRUE", "{x", "ann", "7")]
    [True, True, True, True, False, False]
    """
    return any(pattern.fullmatch(word) for pattern, _, _ in ODD)


def refuse_odd(grid: Grid, row: int, word: str, otherwise: str = "") -> None:
    """Refuse a cell that has to be converted before it is a number or an item."""
    for pattern, what, remedy in ODD:
        if pattern.fullmatch(word):
            problem = f"{word!r} is {what}, not a number{otherwise}"
            fail(grid.path, grid.lines[row], problem, value=word, remedy=remedy)
