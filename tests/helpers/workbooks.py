"""Writes small xlsx and xls workbooks, as the formats define them.

Cells are whole numbers, texts or None; a text that begins with # is an error.
"""

import struct
import zipfile
from itertools import count
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
CODES = {
    "#NULL!": 0,
    "#DIV/0!": 7,
    "#VALUE!": 15,
    "#REF!": 23,
    "#NAME?": 29,
    "#NUM!": 36,
    "#N/A": 42,
}


def is_error(cell):
    return isinstance(cell, str) and cell.startswith("#")


def placed(rows):
    """The cells that are not None, with their rows and columns from 0."""
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if cell is not None:
                yield r, c, cell


# xlsx


def xlsx_cell(place, cell):
    if isinstance(cell, int):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if is_error(cell):
        return f'<c r="{place}" t="e"><f>1/0</f><v>{cell}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'


def xlsx_rows(rows):
    return "".join(
        f'<row r="{r}">'
        + "".join(xlsx_cell("ABC"[c] + str(r), x) for c, x in enumerate(row) if x is not None)
        + "</row>"
        for r, row in enumerate(rows, 1)
    )


def xlsx(path, sheets, hidden=(), strings=()):
    """Write an xlsx workbook of sheets with names; a sheet may be the XML of its rows."""
    states = {name: ' state="hidden"' if name in hidden else "" for name in sheets}
    listed, related, types = "", "", ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for i, (name, rows) in enumerate(sheets.items(), 1):
            listed += f'<sheet name="{name}" sheetId="{i}"{states[name]} r:id="rId{i}"/>'
            related += link(i, "worksheet", f"worksheets/sheet{i}.xml")
            types += (
                f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
                f'ContentType="{OFFICE}.worksheet+xml"/>'
            )
            lines = rows if isinstance(rows, str) else xlsx_rows(rows)
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{i}.xml", sheet)
        if strings:
            related += link("S", "sharedStrings", "sharedStrings.xml")
            texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
            book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{texts}</sst>')
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>{listed}</sheets></workbook>',
        )
        book.writestr("xl/_rels/workbook.xml.rels", links(related))
        book.writestr("_rels/.rels", links(link(1, "officeDocument", "xl/workbook.xml")))
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Override '
            f'PartName="/xl/workbook.xml" ContentType="{OFFICE}.sheet.main+xml"/>{types}</Types>',
        )
    return path


def link(i, kind, target):
    return f'<Relationship Id="rId{i}" Type="{DOCUMENT}/{kind}" Target="{target}"/>'


def links(related):
    return f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'


# xls


def biff(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def biff_cell(r, c, cell, formula=False):
    head = struct.pack("<HHH", r, c, 0)
    if isinstance(cell, int):
        return biff(0x203, head + struct.pack("<d", cell))
    if is_error(cell) and formula:
        result = bytes([2, 0, CODES[cell], 0, 0, 0, 255, 255])
        return biff(0x06, head + result + bytes(6) + struct.pack("<H", 3) + b"\x1e\x01\x00")
    if is_error(cell):
        return biff(0x205, head + bytes([CODES[cell], 1]))
    return biff(0x204, head + struct.pack("<HB", len(cell), 0) + cell.encode("latin-1"))


def xls_stream(sheets, formula=False, extra=b""):
    """The stream of an xls workbook of sheets with names; a sheet may be its records."""
    begin = biff(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + extra
    parts = []
    for rows in sheets.values():
        cells = rows
        if not isinstance(rows, bytes):
            cells = b"".join(biff_cell(*each, formula) for each in placed(rows))
        part = biff(0x809, struct.pack("<HHHHII", 0x600, 16, 0, 0, 0, 0))
        parts.append(part + cells + biff(0x0A))
    names = [bytes([0, 0, len(name), 0]) + name.encode("latin-1") for name in sheets]
    at = len(begin) + sum(8 + len(name) for name in names) + 4
    listed = b""
    for name, part in zip(names, parts, strict=True):
        listed += biff(0x85, struct.pack("<I", at) + name)
        at += len(part)
    return begin + listed + biff(0x0A) + b"".join(parts)


def compound(streams):
    """A compound file of named streams; short ones are in the small sectors."""
    size = 512
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    small, small_next, sectors, following = b"", [], [], []

    def store(content):
        """Store a content in sectors of its own; returns the first."""
        first, parts = len(sectors), [content[i : i + size] for i in range(0, len(content), size)]
        sectors.extend(part.ljust(size, b"\0") for part in parts)
        following.extend([*range(first + 1, first + len(parts)), end])
        return first if parts else end

    entries = []
    for name, content in streams.items():
        if len(content) >= 4096:
            start = store(content)
        else:
            start, parts = len(small_next), -(-len(content) // 64)
            small += content.ljust(64 * parts, b"\0")
            small_next += [*range(start + 1, start + parts), end]
        entries.append((name, 2, start, len(content)))
    entries.insert(0, ("Root Entry", 5, store(small), len(small)))
    small_table = store(struct.pack(f"<{len(small_next)}I", *small_next).ljust(size, b"\xff"))
    directory = store(
        b"".join(
            name.encode("utf-16-le").ljust(64, b"\0")
            + struct.pack("<HBx3I36x", 2 * len(name) + 2, kind, free, after, child)
            + struct.pack("<IQ", start, length)
            for (name, kind, start, length), after, child in zip(
                entries,
                [free, *range(2, len(entries)), free],  # each stream is left of none
                [1] + [free] * (len(entries) - 1),  # the root is above the first
                strict=True,
            )
        )
    )
    tables = next(t for t in count(1) if t * size // 4 >= len(sectors) + t)
    first = len(sectors)
    following += [table] * tables
    following += [free] * (tables * size // 4 - len(following))
    assert tables <= 109
    listed = [*range(first, first + tables), *[free] * (109 - tables)]
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, tables, directory, 0, 4096, small_table, 1, end, 0)
    header += struct.pack("<109I", *listed)
    return b"".join([header, *sectors, struct.pack(f"<{len(following)}I", *following)])


def xls(path, sheets, formula=False, extra=b""):
    """Write an xls workbook of sheets with names; a sheet may be its records."""
    path.write_bytes(compound({"Workbook": xls_stream(sheets, formula, extra)}))
    return path


def xls_texts(parts, count):
    """Texts that cells share: a record, and those that continue it."""
    first, *more = parts
    head = biff(0xFC, struct.pack("<II", count, count) + first)
    return head + b"".join(biff(0x3C, part) for part in more)


def xls_shared(r, c, text):
    """A cell with a shared text."""
    return biff(0xFD, struct.pack("<HHHI", r, c, 0, text))
