"""The extent of a sheet, which decides how much memory reading it takes."""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from fedrank.data._text import PathLike, fail

MAX_SHEET_CELLS = 2**26  # in the rectangle of a sheet: 2 GiB while it is read

CELL = re.compile(
    rb"<(?:\w+:)?c\s[^>]*?\br\s*=\s*[\"']([A-Z]{1,3})([0-9]{1,7})[\"'][^>]*(?<!/)>(?=\s*<[^/])"
)
"""The place of a cell that is not empty."""

BLOCK_BYTES = 1 << 22  # bytes of a sheet that are searched at a time
MAX_TAG_BYTES = 1 << 12  # bytes of a cell's tag that two blocks may share


def check_extent(path: PathLike, data: bytes) -> None:
    """Refuse an Excel workbook with cells so far apart that its first sheet needs too much memory.

    The library that reads sheets fills the whole rectangle, and ends the process if it cannot.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            name = first_sheet(archive)
            if name is None:
                return
            columns, rows = extent(archive, name)
    except (zipfile.BadZipFile, ElementTree.ParseError, OSError, KeyError, NotImplementedError):
        return  # not a workbook of this kind, or a broken one: the library says what is wrong
    if columns * rows > MAX_SHEET_CELLS:
        fail(
            path,
            None,
            f"the sheet reaches to row {rows} and column {columns}: these are more cells than fit "
            "into memory",
            value=columns * rows,
            remedy="delete the cells far away from the table",
        )


def first_sheet(archive: zipfile.ZipFile) -> str | None:
    """Return the name of the first sheet's file; None if this is no workbook of Excel's XML."""
    if "xl/workbook.xml" not in archive.namelist():
        return None
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    sheet = next((each for each in book.iter() if each.tag.endswith("}sheet")), None)
    if sheet is None:
        return None
    ids = {value for name, value in sheet.items() if name.endswith("}id")}
    for link in links:
        if link.get("Id") in ids:
            return posixpath.normpath(posixpath.join("/xl", link.get("Target", "")))[1:]
    return None


def extent(archive: zipfile.ZipFile, name: str) -> tuple[int, int]:
    """Return the last column and the last row that have a cell, from 1."""
    columns: set[bytes] = set()
    last = 0
    for block in blocks(archive, name):
        found = CELL.findall(block)
        columns.update(column for column, _ in found)
        last = max([last, *(int(row) for row in {row for _, row in found})])
    return max(map(column_number, columns), default=0), last


def blocks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield a file in blocks that overlap, so that no tag is cut in all of them."""
    with archive.open(name) as file:
        before = b""
        while block := file.read(BLOCK_BYTES):
            yield before + block
            before = block[-MAX_TAG_BYTES:]


def column_number(letters: bytes) -> int:
    """Return the number of a column, from 1.

    Examples
    --------
    >>> column_number(b"A"), column_number(b"AA"), column_number(b"XFD")
    (1, 27, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
