"""Compound files, in which Excel stored workbooks until 2003 (MS-CFB)."""

import struct
from collections.abc import Sequence

from fedrank.data._sheets.extent import BrokenError

MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
FREE, END, IN_TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD  # instead of the next sector
HEADER = struct.Struct("<8s16x5H6x9I")
HEADER_BYTES = 512
LISTED = (HEADER_BYTES - HEADER.size) // 4  # sectors of the table that the header lists
ENTRY = struct.Struct("<64sHB49xIQ")  # of the directory
SMALL_SHIFT = 6  # sectors of short streams have 64 bytes
SMALL_STREAM_BYTES = 4096  # shorter streams have small sectors
SHIFT = 12  # sectors of the files that we write have 4096 bytes: the table reaches 400 MiB


def workbook_stream(data: bytes) -> bytes:
    """Return the stream of a compound file that contains the workbook."""
    header = HEADER.unpack_from(data)
    shift, small_shift, directory, small_table, more = (header[i] for i in (4, 5, 8, 11, 13))
    if shift not in (9, SHIFT) or small_shift != SMALL_SHIFT:
        raise BrokenError("its sectors have no valid size")
    sectors = Sectors(data[1 << shift :], shift)
    listed = list(numbers(data[HEADER.size : HEADER_BYTES]))
    while more < IN_TABLE:
        *here, more = numbers(sectors.sector(more))
        listed += here
        if len(listed) > len(data):
            raise BrokenError("a chain of sectors has no end")
    for sector in listed:
        if sector < IN_TABLE:
            sectors.table.extend(numbers(sectors.sector(sector)))
    entries = sectors.stream(directory)
    streams: dict[str, tuple[int, int]] = {}
    for at in range(0, len(entries) - ENTRY.size + 1, ENTRY.size):
        name, used, _, start, size = ENTRY.unpack_from(entries, at)
        text = name[: max(0, used - 2)].decode("utf-16-le", "replace")
        streams.setdefault(text, (start, size & 0xFFFFFFFF))  # the upper half may be anything
    if "EncryptedPackage" in streams:
        raise BrokenError("it is protected by a password")
    for text in ("Workbook", "Book"):
        if text in streams:
            start, size = streams[text]
            if size < SMALL_STREAM_BYTES:
                root = ENTRY.unpack_from(entries)[3]
                small = Sectors(sectors.stream(root), SMALL_SHIFT)
                small.table.extend(numbers(sectors.stream(small_table)))
                sectors = small
            content = sectors.stream(start)[:size]
            if len(content) < size:
                raise BrokenError("it is cut short")
            return content
    raise BrokenError("it contains no workbook")


class Sectors:
    """Sectors of a compound file, and the table that says which one follows each."""

    def __init__(self, data: bytes, shift: int) -> None:
        self.data = data
        self.shift = shift
        self.table: list[int] = []

    def sector(self, number: int) -> bytes:
        """Return the content of a sector."""
        content = self.data[number << self.shift : (number + 1) << self.shift]
        if not content:
            raise BrokenError("a sector is outside of the file")
        return content

    def stream(self, sector: int) -> bytes:
        """Return the content of the sectors from this one on."""
        parts: list[bytes] = []
        while sector != END:
            if sector >= len(self.table) or len(parts) > len(self.table):
                raise BrokenError("a chain of sectors has no end")
            parts.append(self.sector(sector))
            sector = self.table[sector]
        return b"".join(parts)


def numbers(content: bytes) -> Sequence[int]:
    """Return the numbers of four bytes each that a content consists of.

    Examples
    --------
    >>> numbers(bytes([1, 0, 0, 0, 2, 1, 0, 0]))
    (1, 258)
    """
    return struct.unpack(f"<{len(content) // 4}I", content[: len(content) // 4 * 4])


def compound_file(stream: bytes) -> bytes:
    """Return a compound file that contains the workbook of a stream, and nothing else.

    Examples
    --------
    >>> workbook_stream(compound_file(bytes(5000))) == bytes(5000)
    True
    """
    size = max(len(stream), SMALL_STREAM_BYTES)
    count = -(-size >> SHIFT)
    table = 1
    while table << (SHIFT - 2) < table + 1 + count:
        table += 1
    if table > LISTED:
        raise BrokenError("it is too large")
    first = table + 1  # after the table and the directory
    following = [IN_TABLE] * table + [END] + [*range(first + 1, first + count), END]
    following += [FREE] * ((table << (SHIFT - 2)) - len(following))
    header = HEADER.pack(
        MAGIC, 0x3E, 3, 0xFFFE, SHIFT, SMALL_SHIFT, 0, table, table, 0, 4096, END, 0, END, 0
    )
    listed = [*range(table), *[FREE] * (LISTED - table)]
    entries = b"".join(
        ENTRY.pack(name.encode("utf-16-le"), 2 * len(name) + 2, kind, start, length)
        for name, kind, start, length in (
            ("Root Entry", 5, END, 0),
            ("Workbook", 2, first, size),
        )
    )
    blocks = (
        header + struct.pack(f"<{LISTED}I", *listed),
        struct.pack(f"<{len(following)}I", *following),
        entries,
        stream.ljust(size, b"\0"),
    )
    return b"".join(block.ljust(-(-len(block) >> SHIFT) << SHIFT, b"\0") for block in blocks)
