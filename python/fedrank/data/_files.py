"""What the readers share: text whatever its encoding, rows of cells, errors with a place.

Text is read line by line, and rows are ranked block by block: a file may be larger than the
memory as long as its rankings are not.
"""

import codecs
import csv
import gzip
import importlib
import io
import os
import re
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, Generic, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedrank._progress import Progress
from fedrank._random import RNG
from fedrank.rankings.complete import Labelled, Rankings
from fedrank.rankings.partial import PartialRankings

PathLike: TypeAlias = str | os.PathLike[str]
Row: TypeAlias = tuple[int | None, list[Any]]
"""A line number, from 1 (None in Parquet), and its cells."""

Kind = TypeVar("Kind", bound=Labelled)

BLOCK_BYTES = 1 << 18  # read at a time
BLOCK_CELLS = 1 << 17  # ranked at a time
MOST_CELLS = 2**28  # of expanded ballots: 1 GiB of ranks
SHEETS = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")


def fail(path: PathLike, line: int | None, problem: str) -> NoReturn:
    """Complain of a file, and of a line of it."""
    place = "" if line is None else f", line {line}"
    said = path.source if isinstance(path, Spooled) else path
    raise ValueError(f"{os.fspath(said)}{place}: {problem}") from None


class Spooled(os.PathLike[str]):
    """A copy of what came through a pipe, and what the user calls it."""

    def __init__(self, source: PathLike, copy: Path) -> None:
        self.source = source
        self.copy = copy

    def __fspath__(self) -> str:
        return str(self.copy)


@contextmanager
def rereadable(path: PathLike) -> Iterator[PathLike]:
    """Path that can be opened more than once: of a copy, if it is a pipe's or a terminal's.

    Examples
    --------
    >>> with rereadable("tests/samples/ranks.csv") as path:
    ...     path
    'tests/samples/ranks.csv'
    """
    source = Path(path)
    if not source.is_fifo() and not source.is_char_device():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / source.name  # its suffix may tell the layout
        with source.open("rb") as pipe, copy.open("wb") as file:
            shutil.copyfileobj(pipe, file)
        yield Spooled(path, copy)


def need(module: str) -> Any:
    """Import a library of the ``data`` extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ValueError(
            f"this file needs {module.replace('_', '-')}: pip install 'fedrank[data]'"
        ) from None


class Counted(io.RawIOBase):
    """A file that moves a progress bar as it is read."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self.file = raw
        self.progress = progress

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go elsewhere."""
        return self.file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """Read, and count."""
        size: int = self.file.readinto(buffer)  # type: ignore[attr-defined]
        self.progress.advance(size)
        return size


@contextmanager
def open_text(path: PathLike) -> Iterator[Iterator[str]]:
    r"""Lines of a file, unzipped if gzipped: UTF-8, or UTF-16 with its mark, else Latin-1.

    The bytes are gone through once to find the encoding, and to refuse what is empty, broken
    or no text before any of it is used; and once to give the lines.

    Examples
    --------
    >>> with open_text("tests/samples/latin1.soi") as lines:
    ...     list(lines)[4]
    '# ALTERNATIVE NAME 1: Zoë\n'
    """
    with Path(path).open("rb", buffering=0) as opened:
        # A pipe can be read once only.
        raw = opened if opened.seekable() else io.BytesIO(opened.read())
        size = raw.seek(0, os.SEEK_END)
        raw.seek(0)
        with Progress(Path(path).name, 2 * size) as progress:
            data = io.BufferedReader(Counted(raw, progress), BLOCK_BYTES)
            if data.peek(2).startswith(b"\x1f\x8b"):
                data = io.BufferedReader(gzip.GzipFile(fileobj=data), BLOCK_BYTES)  # type: ignore[arg-type]
            encoding = find_encoding(path, data)
            data.seek(0)
            errors = "replace" if encoding == "utf-16" else "strict"
            yield io.TextIOWrapper(data, encoding, errors)


def find_encoding(path: PathLike, data: IO[bytes]) -> str:
    """Name of the encoding, after a look at all bytes."""
    encoding = "utf-8-sig"
    decoder = codecs.getincrementaldecoder(encoding)()
    blank = first = more = True
    try:
        while more:
            block = data.read(BLOCK_BYTES)
            more = block != b""
            if first and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                encoding = "utf-16"
                decoder = codecs.getincrementaldecoder(encoding)("replace")
            first = False
            try:
                text = decoder.decode(block, not more)
            except UnicodeDecodeError:
                held = decoder.getstate()[0]  # a character that a block's end cut in two
                encoding = "latin-1"
                decoder = codecs.getincrementaldecoder(encoding)()
                text = decoder.decode(held + block)
            if "\0" in text:
                fail(path, None, "this is not text")
            blank = blank and not text.strip()
    except (OSError, EOFError, zlib.error) as error:
        fail(path, None, f"the gzip stream is broken or cut short ({error}); fetch it again")
    if blank:
        fail(path, None, "the file is empty")
    return encoding


@contextmanager
def text_lines(path: PathLike) -> Iterator[Iterator[tuple[int, str]]]:
    """Non-blank lines, of which there is one at least, stripped, with their numbers from 1."""
    with open_text(path) as lines:
        yield numbered(lines)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Non-blank lines, stripped, with their numbers from 1.

    Examples
    --------
    >>> list(numbered(["a\n", " \n", "b"]))
    [(1, 'a'), (3, 'b')]
    """
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield number, text


def first_line(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    r"""First line that is not blank, and all lines once more.

    Examples
    --------
    >>> first, again = first_line(iter(["\n", "a\n", "b\n"]))
    >>> first, list(again)
    ('a\n', ['\n', 'a\n', 'b\n'])
    """
    seen = []
    for line in lines:
        seen.append(line)
        if line.strip():
            return line, chain(seen, lines)
    return "", iter(seen)


@contextmanager
def table_rows(path: PathLike) -> Iterator[Iterator[Row]]:
    """Rows of a spreadsheet's first sheet, or of a CSV or TSV; blank ones are left out."""
    if Path(path).suffix.lower() in SHEETS:
        yield sheet_rows(path, Path(path).read_bytes())
    else:
        with open_text(path) as lines:
            yield csv_rows(path, lines)


def first_row(path: PathLike, rows: Iterator[Row]) -> Row:
    """Take the first row, which there must be."""
    row = next(rows, None)
    if row is None:
        fail(path, None, "the file is empty")
    return row


def csv_rows(path: PathLike, lines: Iterator[str]) -> Iterator[Row]:
    """Rows of CSV, TSV or semicolon-separated text: whichever mark the first line has most of."""
    first, lines = first_line(lines)
    mark = max("\t,;", key=first.count)
    reader = csv.reader(lines, delimiter=mark, strict=True)
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


def raw_rows(path: PathLike, data: bytes) -> Iterator[Row]:
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


def numbers(path: PathLike, line: int | None, cells: Sequence[Any]) -> NDArray[np.float64]:
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


class Blocks:
    """Rows that are ranked a block at a time, as they come.

    Parameters
    ----------
    path : str or path
        The file to complain of.
    rank : callable
        Gives the ranks of a block of rows.

    Examples
    --------
    >>> blocks = Blocks("a.csv", by_scores("index", None))
    >>> blocks.add([0.5, 2.0])
    1
    >>> blocks.ranks()
    array([[1, 0]], dtype=int32)
    """

    def __init__(self, path: PathLike, rank: Callable[[list[Any]], NDArray[np.int32]]) -> None:
        self.path = path
        self.rank = rank
        self.block: list[Any] = []
        self.lines: list[int | None] = []
        self.ranked = array("i")
        self.n = 0
        self.rows = 0

    def add(
        self, row: Sequence[Any] | NDArray[np.float64], line: int | None = None, times: int = 1
    ) -> int:
        """Take a row in, and the line to name if it cannot be ranked.

        Returns how many times: as many as there is room for in the block, up to ``times``.
        """
        taken = min(times, max(1, -(-BLOCK_CELLS // max(1, len(row))) - len(self.block)))
        self.block += [row] * taken
        self.lines += [line] * taken
        self.rows += taken
        if len(self.block) * len(row) >= BLOCK_CELLS:
            self.flush()
        return taken

    def flush(self) -> None:
        """Rank the rows that wait."""
        if not self.block:
            return
        try:
            ranks = self.rank(self.block)
        except ValueError as error:
            self.complain(str(error))
        self.n = ranks.shape[1]
        self.ranked.frombytes(np.ascontiguousarray(ranks, dtype=np.int32).data.cast("B"))
        self.block.clear()
        self.lines.clear()

    def complain(self, problem: str) -> NoReturn:
        """Name the line of a row that is at fault, or its number in the file."""
        place = re.match(r"row (\d+)(:? )", problem)
        if place is None:
            fail(self.path, None, problem)
        row, rest = int(place[1]), problem[place.end() :]
        if (line := self.lines[row]) is not None:
            fail(self.path, line, rest)
        before = self.rows - len(self.block)
        fail(self.path, None, f"row {before + row}{place[2]}{rest}")

    def ranks(self) -> NDArray[np.int32]:
        """Return the ranks of all rows."""
        self.flush()
        return np.frombuffer(self.ranked, dtype=np.int32).reshape(self.rows, self.n)


def by_scores(ties: str, rng: RNG) -> Callable[[list[Any]], NDArray[np.int32]]:
    """Rank blocks by their scores; every block draws on, from the same ``rng``.

    Raises
    ------
    ValueError
        If ``ties`` is not a way to break them.

    Examples
    --------
    >>> by_scores("index", None)([[1.0, 3.0, 1.0]])
    array([[1, 0, 2]], dtype=int32)
    """
    if ties not in ("index", "random", "error"):
        raise ValueError(f'ties must be "index", "random" or "error", not {ties!r}')
    draws = None if rng is None else np.random.default_rng(rng)
    return lambda block: Rankings.from_scores(np.array(block), None, ties, draws).ranks


def by_levels(block: list[Any]) -> NDArray[np.int32]:
    """Rank a block by its scores, of which minus infinity is not ranked, and keep ties.

    Examples
    --------
    >>> by_levels([[-1.0, 0.0, -1.0, -np.inf]])
    array([[ 1, 0, 1, -1]], dtype=int32)
    """
    scores = np.array(block)
    return PartialRankings.from_scores(np.where(scores == -np.inf, np.nan, scores)).ranks


class Ballots(Generic[Kind]):
    """Counted lines, written out as ballots.

    Parameters
    ----------
    path : str or path
        The file to complain of.
    kind : Rankings or PartialRankings
        What to make of them: complete, each ballot orders its ties and gaps on its own.
    rng : None, int or numpy.random.Generator
        Where that order comes from.
    """

    def __init__(self, path: PathLike, kind: type[Kind], rng: RNG) -> None:
        self.path = path
        self.kind = kind
        self.blocks = Blocks(path, by_scores("random", rng) if kind is Rankings else by_levels)
        self.total = 0

    def add(self, scores: NDArray[np.float64], count: int = 1) -> None:
        """Take in a line that counts for so many."""
        self.total += count
        if self.total * len(scores) > MOST_CELLS:
            fail(
                self.path,
                None,
                f"{self.total} ballots of {len(scores)} items are too many to write out: "
                f"{MOST_CELLS // len(scores)} are not; divide the counts",
            )
        with Progress("writing ballots out", count) as progress:
            while count:
                taken = self.blocks.add(scores, times=count)
                count -= taken
                progress.advance(taken)

    def rankings(self, items: Sequence[str]) -> Kind:
        """Return all ballots."""
        if not self.total or not items:
            fail(self.path, None, "there is no ballot in it")
        return self.kind.trusted(self.blocks.ranks(), tuple(items))
