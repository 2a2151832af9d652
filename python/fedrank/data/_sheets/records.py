"""Sheets in binary records: those of Excel until 2003 (xls), and xlsb."""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from fedrank.data._sheets.archive import BLOCK_BYTES, Archive
from fedrank.data._sheets.extent import BrokenError, Survey
from fedrank.data._sheets.markup import excel_sheets

ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
"""The errors of both formats."""

# Records of an xls workbook (MS-XLS 2.3).
FORMULA, END, PASSWORD, CONTINUE, SHEET = 0x06, 0x0A, 0x2F, 0x3C, 0x85
NUMBERS, RICH_TEXT, SHARED_TEXTS, SHARED_TEXT = 0xBD, 0xD6, 0xFC, 0xFD
DIMENSIONS, BOOL_OR_ERROR, VERSION = 0x200, 0x205, 0x809
CELLS = frozenset((FORMULA, SHARED_TEXT, 0x203, 0x204, BOOL_OR_ERROR, 0x27E))
VERSION_8 = 0x600  # of Excel 97 and later
MAX_XLS_ROWS, MAX_XLS_COLUMNS = 2**16, 2**8

# Records of xlsb (MS-XLSB 2.3).
ROW, CELL_ERROR, CELL_SHARED, FORMULA_ERROR = 0x00, 0x03, 0x07, 0x0B
FIRST_CELL, LAST_CELL, SHARED_ITEM, CELL_RICH = 0x02, 0x0B, 0x13, 0x3E
END_DATA, BOOK_SHEET = 0x92, 0x9C
SHARED_STRINGS = "xl/sharedstrings.bin"
MAX_HEAD_BYTES = 6  # kind and size of a record
MAX_RECORD_BYTES = 2**22

UNREADABLE = "it has formatted texts that cannot be read; save it as xlsx"


def survey_xls(found: Survey, stream: bytes, advance: Callable[[float], None]) -> None:
    """Survey the sheets of an Excel workbook of 2003 or before."""
    sheets: list[tuple[int, str]] = []
    lengths: array[int] = array("q")
    shared: list[bytes] = []
    modern, before = True, -1
    for kind, data in xls_records(stream, 0, advance):
        if kind == PASSWORD:
            raise BrokenError("it is protected by a password")
        if kind == VERSION:
            modern = data[:2] == VERSION_8.to_bytes(2, "little")
        elif kind == SHEET:
            sheets.append((int.from_bytes(data[:4], "little"), sheet_name(data[6:], modern)))
        elif kind == SHARED_TEXTS or (kind == CONTINUE and before == SHARED_TEXTS):
            shared.append(data)
            kind = SHARED_TEXTS  # noqa: PLW2901  so do more records that continue it
        before = kind
    if shared:
        lengths.extend(shared_lengths(shared))
    for start, name in sheets:
        found.begin(name)
        survey_xls_sheet(found, xls_records(stream, start, advance), lengths, modern)


def xls_records(
    stream: bytes, at: int, advance: Callable[[float], None]
) -> Iterator[tuple[int, bytes]]:
    """Yield the kinds and contents of the records of an xls workbook, up to the end of a part."""
    told = at
    while True:
        kind, size = struct.unpack_from("<HH", stream, at)
        if at - told > BLOCK_BYTES:
            advance((at - told) / len(stream))
            told = at
        if kind == END:
            return
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def sheet_name(data: bytes, modern: bool) -> str:
    r"""Return the name of a sheet, after its length.

    Examples
    --------
    >>> sheet_name(b"\2\0ab", True), sheet_name(b"\2\1a\0b\0", True), sheet_name(b"\2ab", False)
    ('ab', 'ab', 'ab')
    """
    size = data[0]
    if not modern:
        return data[1 : 1 + size].decode("latin-1")
    return data[2:].decode("utf-16-le" if data[1] & 1 else "latin-1", "replace")[:size]


def shared_lengths(parts: list[bytes]) -> Iterator[int]:
    """Yield the lengths of the texts that cells share, in a record and those that continue it."""
    part, at = 0, 8

    def skip(size: int) -> None:
        nonlocal part, at
        at += size
        while at >= len(parts[part]) and part + 1 < len(parts):
            at -= len(parts[part])
            part += 1

    for _ in range(int.from_bytes(parts[0][4:8], "little")):
        skip(0)
        size, flags = struct.unpack_from("<HB", parts[part], at)
        yield size
        at += 3
        runs = extra = 0
        if flags & 8:
            (runs,) = struct.unpack_from("<H", parts[part], at)
            at += 2
        if flags & 4:
            (extra,) = struct.unpack_from("<I", parts[part], at)
            at += 4
        while True:
            width = 1 + (flags & 1)
            here = min(size, (len(parts[part]) - at) // width)
            at += here * width
            size -= here
            if not size:
                break
            part, at = part + 1, 1
            flags = parts[part][0]  # says anew how wide the characters are
        skip(4 * runs + extra)


def survey_xls_sheet(
    found: Survey, records: Iterable[tuple[int, bytes]], lengths: "array[int]", modern: bool
) -> None:
    """Survey one sheet of an xls workbook."""
    for kind, data in records:
        if kind in CELLS:
            row, column = struct.unpack_from("<HH", data)
            found.add(row + 1, column + 1)
            code = error_code(kind, data)
            if code is not None:
                found.add_error(row + 1, column + 1, error_text(code))
            elif kind == SHARED_TEXT:
                found.chars += lengths[int.from_bytes(data[6:10], "little")]
        elif kind == NUMBERS:  # of a row
            row, first = struct.unpack_from("<HH", data)
            count = (len(data) - 6) // 6
            found.add(row + 1, first + count, count)
        elif kind == DIMENSIONS:
            rows, columns = struct.unpack_from("<4xI2xH" if modern else "<2xH2xH", data)
            if rows > MAX_XLS_ROWS or columns > MAX_XLS_COLUMNS:
                raise BrokenError(f"it claims to have {rows} rows and {columns} columns")
        elif kind == RICH_TEXT:
            raise BrokenError(UNREADABLE)


def error_code(kind: int, data: bytes) -> int | None:
    """Return the code of the error in a cell of an xls workbook; None if it contains none."""
    if kind == BOOL_OR_ERROR and data[7]:
        return data[6]
    if kind == FORMULA and data[6] == 2 and data[12:14] == b"\xff\xff":
        return data[8]
    return None


def error_text(code: int) -> str:
    """Return an error as people see it.

    Examples
    --------
    >>> error_text(0x2A), error_text(0x99)
    ('#N/A', '#153')
    """
    return ERRORS.get(code, f"#{code}")


def survey_xlsb(found: Survey, archive: Archive) -> None:
    """Survey the sheets of an Excel workbook in binary records."""
    sheets = [
        book_sheet(data)
        for kind, data in xlsb_records(archive.blocks("xl/workbook.bin"))
        if kind == BOOK_SHEET
    ]
    lengths: array[int] = array("q")
    if SHARED_STRINGS in archive.members:
        for kind, data in xlsb_records(archive.blocks(SHARED_STRINGS)):
            if kind == SHARED_ITEM:
                lengths.append(int.from_bytes(data[1:5], "little"))
    for name, part in excel_sheets(archive, sheets, "workbook.bin"):
        found.begin(name)
        survey_xlsb_sheet(found, xlsb_records(archive.blocks(part)), lengths)


def book_sheet(data: bytes) -> tuple[str, str]:
    """Return the name of a sheet, and the name of its link."""
    texts, at = [], 8
    for _ in range(2):
        size = int.from_bytes(data[at : at + 4], "little")
        at += 4 + 2 * size
        texts.append(data[at - 2 * size : at].decode("utf-16-le", "replace"))
    link, name = texts
    return name, link


def xlsb_records(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the kinds and contents of the records of a member, which comes in blocks."""
    buffer, at = b"", 0
    for block in chain(blocks, [bytes(MAX_HEAD_BYTES)]):  # records of kind 0 without content
        buffer, at = buffer[at:] + block, 0
        while at + MAX_HEAD_BYTES <= len(buffer):
            kind, size, begin = buffer[at], buffer[at + 1], at + 2
            if kind > 0x7F or size > 0x7F:
                kind, begin = variable(buffer, at, 2)
                size, begin = variable(buffer, begin, 4)
                if size > MAX_RECORD_BYTES:
                    raise BrokenError("a record is too long")
            if begin + size > len(buffer):
                break
            yield kind, buffer[begin : begin + size]
            at = begin + size


def variable(buffer: bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number of at most so many bytes, seven bits in each, and where it ends.

    Examples
    --------
    >>> variable(bytes([0x94, 0x01, 0x10]), 0, 2)
    (148, 2)
    """
    number = 0
    for i in range(most):
        number |= (buffer[at + i] & 0x7F) << (7 * i)
        if not buffer[at + i] & 0x80:
            break
    return number, at + i + 1


def survey_xlsb_sheet(
    found: Survey, records: Iterable[tuple[int, bytes]], lengths: "array[int]"
) -> None:
    """Survey one sheet of an xlsb workbook."""
    row = 0
    for kind, data in records:
        if kind == ROW:
            row = int.from_bytes(data[:4], "little") + 1
        elif FIRST_CELL <= kind <= LAST_CELL:
            column = int.from_bytes(data[:4], "little") + 1
            found.add(row, column)
            if kind in (CELL_ERROR, FORMULA_ERROR):
                found.add_error(row, column, error_text(data[8]))
            elif kind == CELL_SHARED:
                found.chars += lengths[int.from_bytes(data[8:12], "little")]
        elif kind == CELL_RICH:
            raise BrokenError(UNREADABLE)
        elif kind == END_DATA:
            break
    for _ in records:  # so that all of it is unpacked
        pass
