"""Rows of cells from text: CSV and TSV, their comments and separators."""

import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from fedrank.data._text import PathLike, fail, shown_name
from fedrank.exceptions import InputError
from fedrank.rankings.source import Note

Row: TypeAlias = tuple[int | None, list[Any]]
"""A line number, from 1 (None in Parquet), and its cells."""

SEPARATOR_LINE = re.compile(r'"?sep=([\t,;|])"?', re.I)
SEPARATORS = "\t,;"
REMOVE_TITLE = "delete the line, or put # and a space before it"
TAG = re.compile(r"\s*#\w")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)+", re.A)
MAX_SHOWN_CHARS = 80  # characters of a line that an error message shows


def csv_rows(path: PathLike, lines: Iterator[str], decimal: str = ".") -> "CsvRows":
    """Return the rows of text separated by tabs, commas or semicolons, without comments.

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
    body.refuse_title()
    return CsvRows(body)


class CsvRows(Iterator[Row]):
    """The rows of a text table, and what is known about its lines.

    Parameters
    ----------
    body : Uncommented
        The lines.
    """

    def __init__(self, body: "Uncommented") -> None:
        self.body = body
        self.rows = self.read()

    def __next__(self) -> Row:
        return next(self.rows)

    def read(self) -> Iterator[Row]:
        """Yield the rows."""
        body = self.body
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
            fail(body.path, body.number, f"this is not a valid table ({error})")


class Comments(NamedTuple):
    """The comment lines of a table that were skipped.

    Attributes
    ----------
    number : int
        How many.
    unclear : int or None
        The first line below the first row that begins with ``#`` and a letter or a digit.
    """

    number: int = 0
    unclear: int | None = None

    def note(self) -> Note:
        """Count the comments in words.

        Examples
        --------
        >>> print(Comments(2).note())
        2 comment lines skipped
        """
        return Note(self.number, "comment line", "{} skipped")

    def check_ballots(self, path: PathLike) -> None:
        """Refuse a comment that may be an order or a ballot."""
        if self.unclear is not None:
            fail(
                path,
                self.unclear,
                "the line begins with #: it may be a comment, or a ballot",
                remedy="put a space after the # of a comment, or the first cell into quotes",
            )


def comments_of(rows: Iterator[Row]) -> Comments:
    """Return the comments among the rows that were read so far; only text has any."""
    if not isinstance(rows, CsvRows):
        return Comments()
    return Comments(rows.body.comments, rows.body.unclear)


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
    comments : int
        Number of comments so far.
    unclear : int or None
        The first line below ``first`` that begins with ``#`` and a letter or a digit.
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
        self.separators = "" if declared else separators
        self.lines = chain(top, lines)
        self.number = 0
        self.fresh = True  # the next line begins a row
        self.cells = 0  # of the last row
        self.comment: tuple[int, int] | None = None  # line and cells of a comment just above
        self.comments = 0
        self.unclear: int | None = None

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            if self.fresh and is_comment(line):
                self.comments += 1
                if self.unclear is None and self.number > self.line and TAG.match(line):
                    self.unclear = self.number
                self.comment = self.number, line.count(self.separator) + 1
                self.compare(self.cells)
            else:
                self.fresh = False
                yield line

    def refuse_title(self) -> None:
        """Refuse a first line without separators above two lines that have the same ones."""
        if '"' in self.first or any(self.first.count(each) for each in self.separators):
            return
        below: list[str] = []
        seen: list[str] = []
        for line in self.lines:
            seen.append(line)
            if len(seen) > self.line and line.strip() and not is_comment(line):
                below.append(line)
            if len(below) == 2:
                break
        self.lines = chain(seen, self.lines)
        for each in self.separators:
            numbers = each == "," and all(DECIMAL_COMMA.fullmatch(line.strip()) for line in below)
            widths = {len(row) for row in csv.reader(below, delimiter=each)}
            if len(below) == 2 and len(widths) == 1 and widths != {1} and not numbers:
                fail(
                    self.path,
                    self.line,
                    f"{self.first.strip()[:MAX_SHOWN_CHARS]!r} looks like a title: it is one "
                    f"cell, and the next row has {widths.pop()}",
                    value=self.first.strip(),
                    remedy=REMOVE_TITLE,
                )

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
