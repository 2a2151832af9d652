"""Text files: whatever the encoding, gzipped or not, read line by line.

Errors name the file and the line. A file may be larger than the memory.
"""

import codecs
import gzip
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias

from fedrank._progress import Progress
from fedrank.exceptions import InputError

PathLike: TypeAlias = str | os.PathLike[str]

BLOCK_BYTES = 1 << 18  # bytes read at a time
UNREAD = (".xlsb", ".ods")  # workbooks that nothing here reads
PARSE_UNITS = 20  # time of parsing a byte, if that of finding the encoding is 1


def fail(
    path: PathLike,
    line: int | None,
    problem: str,
    *,
    value: object = None,
    remedy: str | None = None,
) -> NoReturn:
    """Raise the error of a file, and of a line of it."""
    raise InputError(
        problem, value=value, remedy=remedy, file=shown_name(path), line=line
    ) from None


def shown_name(path: PathLike) -> PathLike:
    """Return the name that the user gave a file."""
    return path.source if isinstance(path, Spooled) else path


class Spooled(os.PathLike[str]):
    """The copy of what came through a pipe, and the name of the pipe."""

    def __init__(self, source: PathLike, copy: Path) -> None:
        self.source = source
        self.copy = copy

    def __fspath__(self) -> str:
        return str(self.copy)


@contextmanager
def rereadable(path: PathLike) -> Iterator[PathLike]:
    """Yield a path that can be opened more than once: a pipe or a terminal is copied first.

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
        copy = Path(folder) / source.name  # keeps the suffix, which may decide the layout
        with source.open("rb") as pipe, copy.open("wb") as file:
            shutil.copyfileobj(pipe, file)
        yield Spooled(path, copy)


class Counted(io.RawIOBase):
    """A raw file that advances a progress bar as it is read."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self.file = raw
        self.progress = progress
        self.units = 1  # per byte
        self.rest = 0.0  # units of the work after the last byte

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to another position."""
        return self.file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and advance the bar."""
        size: int = self.file.readinto(buffer)  # type: ignore[attr-defined]
        self.progress.advance(size * self.units)
        if not size:
            self.progress.begin(self.rest)
        return size


@contextmanager
def open_text(path: PathLike, rest_units: float = 0) -> Iterator[Iterator[str]]:
    r"""Yield the lines of a file: UTF-8, UTF-16 with a byte order mark, or else Latin-1.

    Gzip is decompressed. All bytes are read twice: first to find the encoding, and to refuse a
    file that is empty, broken or not text before any of it is used; then to give the lines.
    ``rest_units`` is the time per byte of the work that the caller does after the last line, in
    units of `PARSE_UNITS`. A `Progress` of the caller shows how far it is.

    Examples
    --------
    >>> with open_text("tests/samples/latin1.soi") as lines:
    ...     list(lines)[4]
    '# ALTERNATIVE NAME 1: Zoë\n'
    """
    if Path(path).suffix.lower() in UNREAD:
        remedy = "save it as .xlsx or .csv"
        fail(path, None, "xlsb and ods workbooks are not read", remedy=remedy)
    with Path(path).open("rb", buffering=0) as opened:
        # A pipe can only be read once.
        raw = opened if opened.seekable() else io.BytesIO(opened.read())
        size = raw.seek(0, os.SEEK_END)
        raw.seek(0)
        total = (1 + PARSE_UNITS + rest_units) * size
        with Progress(f"reading {Path(path).name}", total) as progress:
            counted = Counted(raw, progress)
            data = io.BufferedReader(counted, BLOCK_BYTES)
            if data.peek(2).startswith(b"\x1f\x8b"):
                data = io.BufferedReader(gzip.GzipFile(fileobj=data), BLOCK_BYTES)  # type: ignore[arg-type]
            encoding = find_encoding(path, data)
            data.seek(0)
            counted.units, counted.rest = PARSE_UNITS, rest_units * size
            errors = "replace" if encoding == "utf-16" else "strict"
            yield without_mark(io.TextIOWrapper(data, encoding, errors))


def without_mark(lines: Iterator[str]) -> Iterator[str]:
    r"""Yield the lines without byte order marks at the beginning; programs may add a second one.

    Examples
    --------
    >>> list(without_mark(iter(["\ufeffa\n", "b\n"])))
    ['a\n', 'b\n']
    """
    first = next(lines, "")
    yield first.lstrip("\ufeff")
    yield from lines


def find_encoding(path: PathLike, data: IO[bytes]) -> str:
    """Return the name of the encoding, after reading all bytes."""
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
                held = decoder.getstate()[0]  # a character that the end of a block cut in two
                encoding = "latin-1"
                decoder = codecs.getincrementaldecoder(encoding)()
                text = decoder.decode(held + block)
            if "\0" in text:
                fail(path, None, "this is not a text file")
            blank = blank and not text.strip()
    except (OSError, EOFError, zlib.error) as error:
        fail(
            path,
            None,
            f"the gzip stream is broken or cut short ({error})",
            remedy="get the file again",
        )
    if blank:
        fail(path, None, "the file is empty")
    return encoding


@contextmanager
def text_lines(path: PathLike) -> Iterator[Iterator[tuple[int, str]]]:
    """Yield the non-blank lines, at least one, stripped, with their numbers from 1."""
    with open_text(path) as lines:
        yield numbered(lines)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Yield the non-blank lines, stripped, with their numbers from 1.

    Examples
    --------
    >>> list(numbered(["a\n", " \n", "b"]))
    [(1, 'a'), (3, 'b')]
    """
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield number, text


def first_line(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    r"""Return the first non-blank line, and an iterator over all lines.

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
