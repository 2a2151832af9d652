"""Rows of cells, from CSV, TSV and spreadsheets, and the values of cells."""

import csv
import importlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank.data._text import PathLike, fail, first_line, open_text
from fedrank.exceptions import MissingExtraError

Row: TypeAlias = tuple[int | None, list[Any]]
"""A line number, from 1 (None in Parquet), and its cells."""

SHEETS = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")


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
def table_rows(path: PathLike) -> Iterator[Iterator[Row]]:
    """Yield the rows of a CSV, a TSV or a spreadsheet's first sheet, without blank rows."""
    if Path(path).suffix.lower() in SHEETS:
        yield sheet_rows(path, Path(path).read_bytes())
    else:
        with open_text(path) as lines:
            yield csv_rows(path, lines)


def first_row(path: PathLike, rows: Iterator[Row]) -> Row:
    """Return the first row; a file without one is refused."""
    row = next(rows, None)
    if row is None:
        fail(path, None, "the file is empty")
    return row


def csv_rows(path: PathLike, lines: Iterator[str]) -> Iterator[Row]:
    """Yield the rows of text separated by tabs, commas or semicolons.

    The separator is the one that the first line has most of.
    """
    first, lines = first_line(lines)
    separator = max("\t,;", key=first.count)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        fail(path, reader.line_num, f"this is not a valid table ({error})")


def sheet_rows(path: PathLike, data: bytes) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet as text; whole numbers without a point."""
    for line, row in raw_rows(path, data):
        cells = [cell_text(cell) for cell in row]
        if any(cells):
            yield line, cells


def raw_rows(path: PathLike, data: bytes) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet, with the types of the cells."""
    calamine = need("python_calamine", "reading a spreadsheet")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError) as error:
        fail(path, None, f"this is not a readable spreadsheet ({error})")
    yield from enumerate(rows, 1)


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
