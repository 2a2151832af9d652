"""Rows of cells, from CSV, TSV and spreadsheets, and the values of cells."""

import importlib
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank.data._csv import SEPARATORS, Row, Uncommented, comments_of, csv_rows
from fedrank.data._sheets import check_extent
from fedrank.data._text import PathLike, fail, open_text
from fedrank.exceptions import MissingExtraError
from fedrank.rankings.source import Note

ERROR_CELL = re.compile(
    rb'<c\b(?=[^>]*\bt="e")[^>]*\br="([A-Z]+[0-9]+)"[^>]*>.*?<v>(.*?)</v>', re.S
)
SHEETS = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")
PARQUET = (".parquet", ".pq")


def need(module: str, purpose: str, otherwise: str = "") -> Any:
    """Import a library of the extra ``data``, or say how to install it, or what else to do."""
    try:
        return importlib.import_module(module)
    except ImportError:
        library = module.replace("_", "-")
        alternative = f"; or {otherwise}" if otherwise else ""
        raise MissingExtraError(
            f"{purpose} needs {library}: pip install 'fedrank[data]'{alternative}"
        ) from None


@contextmanager
def table_rows(
    path: PathLike, decimal: str = ".", rest_units: float = 0
) -> Iterator[Iterator[Row]]:
    """Yield the rows of a CSV, a TSV or a spreadsheet's first sheet; the first is not blank."""
    if Path(path).suffix.lower() in SHEETS:
        yield sheet_rows(path, Path(path).read_bytes())
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
    if Path(path).suffix.lower() in (*SHEETS, *PARQUET):
        return False
    with open_text(path) as lines:
        return Uncommented(path, lines, SEPARATORS).separator == ","


def sheet_rows(path: PathLike, data: bytes) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet as text; whole numbers without a point.

    Blank rows between others are yielded too, so that they can be counted.
    """
    blank: list[Row] | None = None
    for line, row in raw_rows(path, data):
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


def raw_rows(path: PathLike, data: bytes) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet, with the types of the cells."""
    calamine = need("python_calamine", "reading a spreadsheet")
    check_extent(path, data)
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
        full = [name for name in book.sheet_names if has_data(book.get_sheet_by_name(name))]
        hidden = book.sheets_metadata[0].visible != calamine.SheetVisibleEnum.Visible
    except (calamine.CalamineError, OSError) as error:
        fail(path, None, f"this is not a readable spreadsheet ({error})")
    first = book.sheet_names[0]
    problem = None
    if len(full) > 1:
        problem = f"{len(full)} sheets contain data: {', '.join(full)}"
    elif full and full[0] != first:
        problem = f"the first sheet, {first}, is empty, but {full[0]} contains data"
    elif full and hidden:
        problem = f"the first sheet, {first}, is hidden"
    if problem is not None:
        remedy = "save the sheet with the rankings as a file of its own"
        fail(path, None, problem, value=first, remedy=remedy)
    refuse_error_cells(path, data)
    yield from enumerate(rows, 1)


def has_data(sheet: Any) -> bool:
    """Return whether a sheet has a cell that is not empty."""
    return any(cell_text(cell) for row in sheet.to_python() for cell in row)


def refuse_error_cells(path: PathLike, data: bytes) -> None:
    """Refuse a workbook with a cell such as ``#DIV/0!``, which would look empty."""
    if not zipfile.is_zipfile(io.BytesIO(data)):  # an old binary workbook
        return
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        for name in book.namelist():
            found = name.startswith("xl/worksheets/") and ERROR_CELL.search(book.read(name))
            if found:
                cell, error = (part.decode(errors="replace") for part in found.groups())
                fail(
                    path,
                    None,
                    f"cell {cell} contains the error {error}",
                    value=error,
                    remedy="correct its formula, or leave the cell empty",
                )


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
        if np.isfinite(values).all():
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
    >>> is_number("1e3"), is_number("NA"), is_number("nan")
    (True, False, False)
    """
    try:
        return bool(np.isfinite(np.float64(cell)))
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
