"""All cells of a table, so that the whole file can decide how it is read."""

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isfinite, isnan, nan
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._validation import plural
from fedrank.data._cells import Filled, cell_text, first_row
from fedrank.data._csv import Comments, CsvRows, Row, comments_of
from fedrank.data._options import Declared
from fedrank.data._text import PathLike, fail, shown_name
from fedrank.exceptions import InputError
from fedrank.rankings.source import Note

Choices: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Readings of a table: what each means, and its options."""

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "missing"))
"""Cells of tables of numbers that mean: no number."""

NUMBER_STARTS = (*"0123456789+-.",)
THOUSANDS_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.A)
LEADING_ZERO = re.compile(r",0[0-9]")
PLAIN = array("i", [-1])  # the code of a number

MAX_PADDING = 2**26  # cells that rows of a table lack: 1 GiB of values and codes
MAX_SHOWN_ROWS = 2  # rows of the file that an error message shows
MAX_SHOWN_CELLS = 8  # cells of a row that an error message shows
MAX_SHOWN_CHARS = 24  # characters of such a cell


@dataclass(frozen=True)
class Grid:
    """The cells of a table: numbers, and codes of texts.

    Attributes
    ----------
    path : str or path
        The file, for error messages.
    declared : Declared
        What the caller says about it.
    names : list of str
        Names of the columns; numbers from 1 if there is no header.
    headed : bool
        Whether there is a header.
    lines : list of int or None
        Lines of the rows.
    widths : numpy.ndarray of int
        Number of cells of each row.
    values : numpy.ndarray of float64, shape (m, k)
        Numbers of the cells; NaN in cells that are not a number.
    codes : numpy.ndarray of int32, shape (m, k)
        Numbers of the cells' texts in ``texts``; -1 if the cell is just a number.
    texts : list of str
        All different texts; the first one is empty.
    shown : tuple of str
        The first two rows of the file.
    left_out : tuple of Note
        How many blank rows and comments were left out.
    comments : Comments
        The comments.
    thousands : str or None
        A number with a point, if the points of all numbers may separate thousands.
    """

    path: PathLike
    declared: Declared
    names: list[str]
    headed: bool
    lines: list[int | None]
    widths: NDArray[np.int64]
    values: NDArray[np.float64]
    codes: NDArray[np.int32]
    texts: list[str]
    shown: tuple[str, ...]
    left_out: tuple[Note, ...]
    comments: Comments
    thousands: str | None

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each cell is empty, or says that there is no number."""
        blank = [code for code, text in enumerate(self.texts) if text.lower() in MISSING]
        return np.isnan(self.values) & np.isin(self.codes, blank)

    @cached_property
    def kinds(self) -> list[str]:
        """What each column contains: "number", "text", "mixed", or "blank" for nothing."""
        number = ~np.isnan(self.values)
        words = ~number & ~self.missing
        names = {(True, True): "mixed", (True, False): "number", (False, True): "text"}
        return [
            names.get((bool(number[:, c].any()), bool(words[:, c].any())), "blank")
            for c in range(number.shape[1])
        ]

    def of_kind(self, *kinds: str) -> list[int]:
        """Return the columns of these kinds."""
        return [column for column, kind in enumerate(self.kinds) if kind in kinds]

    def rows(self, start: int) -> "Grid":
        """Return the rows from one on."""
        return replace(
            self,
            lines=self.lines[start:],
            widths=self.widths[start:],
            values=self.values[start:],
            codes=self.codes[start:],
        )

    def head(self, count: int) -> "Grid":
        """Return the first rows, and the header, if it is separated."""
        return replace(
            self,
            lines=self.lines[:count],
            widths=self.widths[:count],
            values=self.values[:count],
            codes=self.codes[:count],
        )

    def take(self, columns: Iterable[int]) -> "Grid":
        """Return some of the columns."""
        chosen = list(columns)
        if chosen == list(range(len(self.names))):
            return self
        return replace(
            self,
            names=[self.names[column] for column in chosen],
            values=self.values[:, chosen],
            codes=self.codes[:, chosen],
        )

    def without(self, names: Iterable[str]) -> "Grid":
        """Leave out columns, each of which must be there."""
        dropped = set(names)
        for name in names:
            if name not in self.names:
                there = ", ".join(filter(None, self.names[:MAX_SHOWN_CELLS]))
                problem = f"there is no column {name!r}; the columns are {there}"
                fail(self.path, None, problem, value=name)
        left = [c for c, name in enumerate(self.names) if name not in dropped]
        if not left:
            fail(self.path, None, "all columns are ids: no column of items is left")
        return self.take(left)

    def declare(self, declared: Declared) -> "Grid":
        """Return the same cells, about which something else is declared."""
        values, codes = self.values, self.codes
        if declared.sign != self.declared.sign:
            numbers = np.array([cell_number(text, declared.sign) for text in self.texts])
            found = ~np.isnan(numbers)[codes] & (codes >= 0)
            values = np.where(found, numbers[codes], values)
            codes = np.where(found, np.int32(-1), codes)
        return replace(self, declared=declared, values=values, codes=codes)

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell; whole numbers have no point."""
        code = int(self.codes[row, column])
        return cell_text(float(self.values[row, column])) if code < 0 else self.texts[code]

    def cells(self) -> Iterator[Row]:
        """Yield the header and the rows as texts."""
        yield 1, self.names
        for row, line in enumerate(self.lines):
            yield line, [self.text(row, column) for column in range(len(self.names))]

    def labelled(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return the cells as labels: the number of each one's label, and the labels, "" first."""
        codes, index = self.codes.copy(), {text: code for code, text in enumerate(self.texts)}
        plain = codes < 0
        numbers, places = np.unique(self.values[plain], return_inverse=True)
        found = [index.setdefault(cell_text(each), len(index)) for each in numbers.tolist()]
        codes[plain] = np.array(found, dtype=np.int32)[places]
        return codes, list(index)

    def first_text(self, columns: list[int]) -> tuple[int, int] | None:
        """Return row and column of the first cell of some columns that is not a number."""
        wrong = (np.isnan(self.values) & ~self.missing)[:, columns]
        if not wrong.any():
            return None
        row, place = divmod(int(np.flatnonzero(wrong)[0]), len(columns))
        return row, columns[place]

    def refuse(
        self,
        problem: str,
        choices: Choices,
        *,
        remedy: str | None = None,
        line: int | None = None,
        value: object = None,
    ) -> NoReturn:
        """Refuse a table that can be read in several ways; the choices include all options."""
        given = self.declared.given()
        raise InputError(
            problem,
            file=shown_name(self.path),
            line=line,
            value=value,
            choices=[(meaning, given | options) for meaning, options in choices],
            shown=self.shown,
            remedy=remedy,
        )


def load(path: PathLike, rows: Iterator[Row], declared: Declared) -> Grid:
    """Read all cells; the first row is one of them, and the columns have no names yet."""
    numbers, words = array("d"), array("i")
    index: dict[str, int] = {"": 0}
    lines: list[int | None] = []
    widths: list[int] = []
    shown: list[str] = []
    width = 0
    filled = Filled(rows)
    points = Points(isinstance(rows, CsvRows) and rows.body.separator != ",")
    for line, cells in chain([first_row(path, filled)], filled):
        if len(shown) < MAX_SHOWN_ROWS:
            shown.append(show(line, cells))
        lines.append(line)
        widths.append(len(cells))
        width = max(width, len(cells))
        if width * len(lines) - len(numbers) - len(cells) > MAX_PADDING:
            fail(
                path,
                line,
                f"the row has {plural(len(cells), 'column')}, and the longest row so far has "
                f"{width}: filled up, {len(lines)} rows do not fit into memory",
                value=len(cells),
            )
        points.add(cells)
        found, codes = parse(cells, declared.sign, index)
        numbers.extend(found)
        words.extend(codes)
    count = np.array(widths, dtype=np.int64)
    shape = len(count), int(count.max())
    values, codes_of = np.frombuffer(numbers), np.frombuffer(words, dtype=np.int32)
    if (count < shape[1]).any():
        here = np.arange(shape[1]) < count[:, np.newaxis]
        found_values, found_codes = values, codes_of
        values, codes_of = np.full(shape, nan), np.zeros(shape, dtype=np.int32)
        values[here], codes_of[here] = found_values, found_codes
    values, codes_of = values.reshape(shape), codes_of.reshape(shape)
    names = [str(column + 1) for column in range(shape[1])]
    grid = Grid(
        path=path,
        declared=declared,
        names=names,
        headed=False,
        lines=lines,
        widths=count,
        values=values,
        codes=codes_of,
        texts=list(index),
        shown=tuple(shown),
        left_out=filled.notes(),
        comments=comments_of(rows),
        thousands=points.first,
    )
    last = shape[1]
    while last > 1 and not codes_of[:, last - 1].any():  # separators at the ends of all lines
        last -= 1
    return grid.take(range(last))


class Points:
    """Whether the points of all numbers of a table may separate thousands.

    Examples
    --------
    >>> points = Points(True)
    >>> points.add(["1.234", "900"])
    >>> points.first
    '1.234'
    >>> points.add(["0.5", "7"])
    >>> points.first
    """

    def __init__(self, possible: bool) -> None:
        self.possible = possible
        self.first: str | None = None

    def add(self, cells: list[str]) -> None:
        """Look at the cells of a row."""
        if not self.possible:
            return
        for cell in cells:
            if "." in cell and THOUSANDS_POINT.fullmatch(cell):
                self.first = self.first or cell
            elif "." in cell and not isnan(cell_number(cell)):
                self.possible, self.first = False, None
                return


def parse(
    cells: list[str], decimal: str, index: dict[str, int]
) -> tuple["array[float]", "array[int]"]:
    """Return the numbers of a row, NaN for a text, and the codes of texts, -1 for a number.

    ``index`` has the codes, and gets those of new texts. Digits after a leading zero are both a
    number and a text.

    Examples
    --------
    >>> index = {"": 0}
    >>> parse(["7", "ann", "", "007"], ".", index)
    (array('d', [7.0, nan, nan, 7.0]), array('i', [-1, 1, 0, 2]))
    """
    joined = "," + ",".join(cells[1:])
    odd = "_" in joined or not joined.isascii() or LEADING_ZERO.search(joined)
    if decimal == "." and len(cells) > 1 and not odd:
        try:
            rest = array("d", map(float, cells[1:]))  # most rows: all but the first are numbers
        except ValueError:
            rest = array("d", [nan])
        if np.isfinite(rest).all():
            first, codes = parse_each(cells[:1], decimal, index)
            return first + rest, codes + PLAIN * len(rest)
    return parse_each(cells, decimal, index)


def parse_each(
    cells: list[str], decimal: str, index: dict[str, int]
) -> tuple["array[float]", "array[int]"]:
    """Return what `parse` does, one cell after the other."""
    numbers, codes = array("d"), array("i")
    for cell in cells:
        value = cell_number(cell, decimal)
        plain = not isnan(value) and not (cell[0] == "0" and cell.isdigit() and cell != "0")
        numbers.append(value)
        codes.append(-1 if plain else index.setdefault(cell, len(index)))
    return numbers, codes


def cell_number(cell: str, decimal: str = ".") -> float:
    """Return the finite number that a cell contains; NaN if it contains none.

    Examples
    --------
    >>> cell_number("1e3"), cell_number("0,5", ",")
    (1000.0, 0.5)
    >>> cell_number("0,5"), cell_number("1_000"), cell_number("inf")
    (nan, nan, nan)
    """
    if decimal == ",":
        cell = "" if "." in cell else cell.replace(",", ".")
    if cell[:1] not in NUMBER_STARTS:
        return nan
    try:
        value = float(cell)
    except ValueError:
        return nan
    return value if isfinite(value) and "_" not in cell else nan


def show(line: int | None, cells: list[str]) -> str:
    """Return a row as an error message shows it.

    Examples
    --------
    >>> show(2, ["a", "b"]), show(None, ["x" * 30])
    ('line 2: a, b', 'xxxxxxxxxxxxxxxxxxxxxxx…')
    """
    short = [" ".join(cell.split()) for cell in cells[:MAX_SHOWN_CELLS]]
    shown = [c if len(c) <= MAX_SHOWN_CHARS else c[: MAX_SHOWN_CHARS - 1] + "…" for c in short]
    more = ["…"] if len(cells) > MAX_SHOWN_CELLS else []
    place = "" if line is None else f"line {line}: "
    return place + ", ".join([*shown, *more])
