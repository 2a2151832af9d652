"""What the readers share: text whatever its encoding, rows of cells, errors with a place."""

import csv
import gzip
import importlib
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.rankings import Rankings

PathLike: TypeAlias = str | os.PathLike[str]
Row: TypeAlias = tuple[int, list[str]]
"""A line number, from 1, and its cells."""

MOST_CELLS = 2**31  # of expanded ballots: 16 GiB of scores
SHEETS = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")


def fail(path: PathLike, line: int | None, problem: str) -> NoReturn:
    """Complain of a file, and of a line of it."""
    place = "" if line is None else f", line {line}"
    raise ValueError(f"{os.fspath(path)}{place}: {problem}") from None


def need(module: str) -> Any:
    """Import a library of the ``data`` extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ValueError(
            f"this file needs {module.replace('_', '-')}: pip install 'fedrank[data]'"
        ) from None


def read_text(path: PathLike) -> str:
    """Text of a file, unzipped if gzipped: UTF-8, or UTF-16 with its mark, else Latin-1.

    Examples
    --------
    >>> read_text("tests/samples/latin1.soi").splitlines()[4]
    '# ALTERNATIVE NAME 1: Zoë'
    """
    data = Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            fail(path, None, f"the gzip stream is broken or cut short ({error}); fetch it again")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if not text.strip():
        fail(path, None, "the file is empty")
    if "\0" in text:
        fail(path, None, "this is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_lines(path: PathLike) -> list[tuple[int, str]]:
    """Non-blank lines, stripped, with their numbers from 1."""
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line.strip()) for number, line in lines if line.strip()]


def table_rows(path: PathLike) -> Iterator[Row]:
    """Rows of a spreadsheet's first sheet, or of a CSV or TSV; blank ones are left out."""
    if Path(path).suffix.lower() in SHEETS:
        yield from sheet_rows(path, Path(path).read_bytes())
    else:
        yield from csv_rows(path, read_text(path))


def csv_rows(path: PathLike, text: str) -> Iterator[Row]:
    """Rows of CSV, TSV or semicolon-separated text: whichever mark the first line has most of."""
    first = text.lstrip("\n").split("\n", 1)[0]
    mark = max("\t,;", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=mark, strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        fail(path, reader.line_num, f"not a table: {error}")


def sheet_rows(path: PathLike, data: bytes) -> Iterator[Row]:
    """Rows of a workbook's first sheet, as text; whole numbers without a point."""
    for line, row in raw_rows(path, data):
        cells = [cell_text(cell) for cell in row]
        if any(cells):
            yield line, cells


def raw_rows(path: PathLike, data: bytes) -> Iterator[tuple[int, list[Any]]]:
    """Rows of a workbook's first sheet, as they are."""
    calamine = need("python_calamine")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError) as error:
        fail(path, None, f"not a spreadsheet that can be read ({error})")
    yield from enumerate(rows, 1)


def cell_text(cell: object) -> str:
    """Text of a cell.

    Examples
    --------
    >>> cell_text(3.0), cell_text(" a ")
    ('3', 'a')
    """
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def count(path: PathLike, line: int, text: str, what: str) -> int:
    """Check a whole number of at least 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        fail(path, line, f"{what} must be a whole number, not {text[:40]!r}")
    return int(text)


def numbers(path: PathLike, line: int, cells: Sequence[Any]) -> NDArray[np.float64]:
    """Cells as finite numbers."""
    try:
        values = np.array(cells, dtype=np.float64)
        if np.isfinite(values).all():
            return values
    except ValueError:
        pass
    wrong = next(cell for cell in map(cell_text, cells) if not is_number(cell))
    said = repr(wrong) if wrong else "an empty cell"
    return fail(path, line, f"{said} is not a number; fill it in, or leave the line out")


def is_number(cell: str) -> bool:
    """Tell whether a cell is a finite number.

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
    """Return the first label that was there before; None if all differ."""
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None


def complete(
    path: PathLike,
    scores: list[NDArray[np.float64]],
    counts: list[int],
    items: Sequence[str],
    rng: RNG,
) -> Rankings:
    """Write every counted line out as ballots; each orders its ties and gaps on its own."""
    total = sum(counts)
    if not total or not items:
        fail(path, None, "there is no ballot in it")
    if total * len(items) > MOST_CELLS:
        fail(path, None, f"{total} ballots of {len(items)} items are too many to write out")
    return Rankings.from_scores(np.repeat(scores, counts, axis=0), items, "random", rng)
