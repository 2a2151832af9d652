"""Rows of cells, from CSV, TSV and spreadsheets, and the values of cells."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._progress import Progress
from fedrank.data._sheets import SHEETS, Workbook, load_rows
from fedrank.data._text import PathLike, fail, open_text, shown_name
from fedrank.exceptions import InputError
from fedrank.rankings.source import Note

Row: TypeAlias = tuple[int | None, list[Any]]
"""A line number, from 1 (None in Parquet), and its cells."""

SEPARATOR_LINE = re.compile(r'"?sep=([\t,;|])"?', re.I)
LOAD_UNITS = 150  # time of loading a workbook, if that of the text of a CSV file is `PARSE_UNITS`
ROW_UNITS = 100  # time of using its rows
PARQUET = (".parquet", ".pq")
SEPARATORS = "\t,;"
MAX_SHOWN_CHARS = 80  # characters of a line that an error message shows


@contextmanager
def table_rows(
    path: PathLike, decimal: str = ".", rest_units: float = 0
) -> Iterator[Iterator[Row]]:
    """Yield the rows of a CSV, a TSV or a spreadsheet's first sheet; the first is not blank."""
    if isinstance(path, Workbook):
        with loaded_rows(path, rest_units) as rows:
            yield text_rows(rows)
    elif suffix_of(path) in SHEETS:
        with open_sheet(path, Path(path).read_bytes(), rest_units) as rows:
            yield text_rows(rows)
    else:
        with open_text(path, rest_units) as lines:
            yield csv_rows(path, lines, decimal)


def first_row(path: PathLike, rows: Iterator[Row]) -> Row:
    """Return the first row; a file without one is refused."""
    row = next(rows, None)
    if row is None:
        fail(path, None, "the file is empty")
    return row


def csv_rows(path: PathLike, lines: Iterator[str], decimal: str = ".") -> Iterator[Row]:
    """Yield the rows of text separated by tabs, commas or semicolons, without comments.

    The separator is the one that the first line has most of; a comma that is the decimal sign is
    none. Lines that begin with ``#`` are comments. One with as many cells as the next row may be
    a row or a header, and is refused. Blank rows below the first row are yielded too, so that they
    can be counted. An empty line is no row, except between the rows of a single column.
    """
    body = Uncommented(path, lines, SEPARATORS.replace(decimal, ""))
    if decimal == "," and body.separator not in body.first and "," in body.first:
        raise InputError(
            "the comma is declared to be the decimal sign, and it separates the columns",
            file=shown_name(path),
            value=decimal,
            remedy="separate the columns by semicolons or tabs, or write decimal points",
            shown=[f"line {body.line}: {body.first.strip()[:MAX_SHOWN_CHARS]}"],
        )
    reader = csv.reader(body, delimiter=body.separator, strict=True)
    width = 0  # of the first row
    empty: list[Row] = []  # lines since the last row of a single column
    try:
        for row in reader:
            cells = list(map(str.strip, row))  # faster than a comprehension
            body.check(len(row))
            if width == 1 and not cells:
                empty.append((body.number, [""]))
            elif cells and (width or any(cells)):
                width = width or len(cells)
                if empty:
                    yield from empty
                    empty.clear()
                if width == 1 or len(cells) > 1 or any(cells):
                    yield body.number, cells
    except csv.Error as error:
        fail(path, body.number, f"this is not a valid table ({error})")


def comma_separated(path: PathLike) -> bool:
    """Return whether a file is text in which commas separate the columns.

    Examples
    --------
    >>> comma_separated("tests/samples/ranks.csv"), comma_separated("tests/samples/scores.tsv")
    (True, False)
    """
    if suffix_of(path) in (*SHEETS, *PARQUET):
        return False
    with open_text(path) as lines:
        return Uncommented(path, lines, SEPARATORS).separator == ","


class Uncommented:
    """The lines of a table without its comments.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    lines : iterator of str
        All lines.
    separators : str
        Characters that may separate cells.

    Attributes
    ----------
    number : int
        The line that was last read, from 1.
    first : str
        The first line that is no comment.
    line : int
        Its number.
    separator : str
        The separator that it has most of.
    """

    def __init__(self, path: PathLike, lines: Iterator[str], separators: str) -> None:
        self.path = path
        declared, lines = declared_separator(lines)
        top = []
        for line in lines:
            top.append(line)
            if line.strip() and not is_comment(line):
                break
        self.line, self.first = len(top), top[-1] if top else ""
        self.separator = declared or max(separators, key=self.first.count)
        self.lines = chain(top, lines)
        self.number = 0
        self.fresh = True  # the next line begins a row
        self.cells = 0  # of the last row
        self.comment: tuple[int, int] | None = None  # line and cells of a comment just above

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            if self.fresh and is_comment(line):
                self.comment = self.number, line.count(self.separator) + 1
                self.compare(self.cells)
            else:
                self.fresh = False
                yield line

    def check(self, cells: int) -> None:
        """Refuse a comment above a row of as many cells; the next line begins a row."""
        self.fresh = True
        self.compare(cells)
        if cells:
            self.comment = None
            self.cells = cells

    def compare(self, cells: int) -> None:
        """Refuse a comment with as many cells as the row above or below it."""
        if self.comment is not None and self.comment[1] == cells > 1:
            fail(
                self.path,
                self.comment[0],
                "the line begins with # and has as many cells as a row beside it: it may "
                "be a comment, or a row or header",
                remedy="remove the line, or remove the #, or put the first cell into quotes",
            )


def declared_separator(lines: Iterator[str]) -> tuple[str | None, Iterator[str]]:
    r"""Return the separator that a first line ``sep=;`` declares, as Excel writes it.

    Also return all lines; this one is blank.

    Examples
    --------
    >>> separator, lines = declared_separator(iter(["sep=;\n", "a;b\n"]))
    >>> separator, list(lines)
    (';', ['\n', 'a;b\n'])
    """
    first = next(lines, None)
    if first is None:
        return None, lines
    match = SEPARATOR_LINE.fullmatch(first.rstrip("\r\n"))
    return (match[1], chain(["\n"], lines)) if match else (None, chain([first], lines))


def is_comment(line: str) -> bool:
    """Return whether a line begins with ``#``.

    Examples
    --------
    >>> is_comment(" # made up"), is_comment('"#1",2')
    (True, False)
    """
    return line.lstrip().startswith("#")


def text_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows of a sheet as text; whole numbers have no point.

    The first is not blank. Blank rows between others are yielded too, so that they can be counted.
    """
    blank: list[Row] | None = None
    for line, row in rows:
        cells = [cell_text(cell) for cell in row]
        if any(cells):
            yield from blank or ()
            yield line, cells
            blank = []
        elif blank is not None:
            blank.append((line, cells))


class Filled(Iterator[Row]):
    """The rows of a table that are not blank.

    Attributes
    ----------
    blank : int
        Number of blank rows that were left out so far.

    Examples
    --------
    >>> rows = Filled(iter([(1, ["a", "b"]), (2, ["", None]), (3, ["1", ""])]))
    >>> [line for line, _ in rows], rows.blank
    ([1, 3], 1)
    """

    def __init__(self, rows: Iterator[Row]) -> None:
        self.rows = rows
        self.blank = 0

    def __next__(self) -> Row:
        for line, cells in self.rows:
            if any(cell_text(cell) for cell in cells):
                return line, cells
            self.blank += 1
        raise StopIteration

    def note(self) -> Note:
        """Count the blank rows in words.

        Examples
        --------
        >>> print(Filled(iter([])).note())
        0 blank rows left out
        """
        return Note(self.blank, "blank row", "{} left out")


@contextmanager
def open_sheet(path: PathLike, data: bytes, rest_units: float = 0) -> Iterator[Iterator[Row]]:
    """Yield the rows of a workbook's first sheet, with the types of the cells.

    ``rest_units`` is as in `open_text`.
    """
    with Progress(f"reading {Path(path).name}", LOAD_UNITS + ROW_UNITS + rest_units) as progress:
        progress.begin(LOAD_UNITS)
        rows = load_rows(path, data)
        progress.advance(LOAD_UNITS)
        yield counted_rows(rows, progress, rest_units)


@contextmanager
def loaded_rows(book: Workbook, rest_units: float) -> Iterator[Iterator[Row]]:
    """Yield the rows of a workbook that is loaded, as `open_sheet` does."""
    with Progress(f"reading {Path(book).name}", ROW_UNITS + rest_units) as progress:
        yield counted_rows(book.rows, progress, rest_units)


def suffix_of(path: PathLike) -> str:
    """Return the end of a file's name, in small letters.

    Examples
    --------
    >>> suffix_of("Votes.XLSX")
    '.xlsx'
    """
    return Path(path).suffix.lower()


def counted_rows(rows: list[list[Any]], progress: Progress, rest: float) -> Iterator[Row]:
    """Yield rows of equal width with their numbers; then the rest of the work begins."""
    width = max(map(len, rows), default=0)
    for line, row in enumerate(rows, 1):
        yield line, row + [""] * (width - len(row))
        progress.advance(ROW_UNITS / len(rows))
    progress.begin(rest)


def cell_text(cell: object) -> str:
    """Return a cell as text.

    Examples
    --------
    >>> cell_text(3.0), cell_text(" a ")
    ('3', 'a')
    """
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def count(path: PathLike, line: int, text: str, what: str) -> int:
    """Return text as a whole number of at least 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        fail(path, line, f"{what} must be a whole number, not {text[:40]!r}", value=text)
    return int(text)


def numbers(path: PathLike, line: int | None, cells: Sequence[Any]) -> NDArray[np.float64]:
    """Return cells as finite numbers."""
    try:
        values = np.array(cells, dtype=np.float64)
        grouped = any("_" in cell for cell in cells if isinstance(cell, str))  # such as 1_000
        if np.isfinite(values).all() and not grouped:
            return values
    except ValueError:
        pass
    wrong = next(cell for cell in map(cell_text, cells) if not is_number(cell))
    shown = repr(wrong) if wrong else "an empty cell"
    return fail(
        path,
        line,
        f"{shown} is not a number",
        value=wrong,
        remedy="fill in a number, or remove the line",
    )


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number.

    Examples
    --------
    >>> is_number("1e3"), is_number("NA"), is_number("nan"), is_number("1_000")
    (True, False, False, False)
    """
    try:
        return bool(np.isfinite(np.float64(cell))) and "_" not in cell
    except ValueError:
        return False


def first_repeat(labels: Sequence[str]) -> str | None:
    """Return the first label that occurs a second time; None if all differ."""
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None
