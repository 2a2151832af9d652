"""Rows of cells, from CSV, TSV and spreadsheets, and the values of cells."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank._progress import Progress
from fedrank.data._csv import SEPARATORS, Row, Uncommented, comments_of, csv_rows
from fedrank.data._sheets import SHEETS, Workbook, load_rows
from fedrank.data._text import PathLike, fail, open_text
from fedrank.rankings.source import Note

LOAD_UNITS = 150  # time of loading a workbook, if that of the text of a CSV file is `PARSE_UNITS`
ROW_UNITS = 100  # time of using its rows
PARQUET = (".parquet", ".pq")


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

    def notes(self) -> tuple[Note, Note]:
        """Count the blank rows and the comments in words.

        Examples
        --------
        >>> [str(note) for note in Filled(iter([])).notes()]
        ['0 blank rows left out', '0 comment lines skipped']
        """
        return Note(self.blank, "blank row", "{} left out"), comments_of(self.rows).note()


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
