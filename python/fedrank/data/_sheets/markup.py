"""Sheets in XML: those of Excel (xlsx, xlsm) and of OpenDocument (ods)."""

import posixpath
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from xml.parsers import expat

from fedrank.data._sheets.archive import Archive, plain_name
from fedrank.data._sheets.extent import BrokenError, Survey, column_number

MAX_TAG_BYTES = 2**22  # of a tag with its attributes
ERROR = re.compile(r"#(?:N/A|[A-Z0-9/_]+[!?])|Err:[0-9]+")
PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
MAX_SHOWN_CHARS = 20  # of a place that is none
PLAIN_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"(?: s="[0-9]+")?(?: t="(s|n|b|str|inlineStr)")?>'
    rb"(?:<f>[^<]*</f>)?(?:<v>([^<]*)</v>|<is><t>[^<]*</t></is>)</c>"
)
"""A cell as most programs write it: column, row, kind and value."""
SHARED_STRINGS = "xl/sharedstrings.xml"

Attributes = dict[str, str]
Start = Callable[[str, Attributes], None]
Text = Callable[[str], None]


def parse(blocks: Iterable[bytes], start: Start, text: Text | None = None) -> None:
    """Parse XML in blocks; ``start`` gets the tags with their attributes, ``text`` the texts."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse_doctype
    fed = 0
    for block in blocks:
        parser.Parse(block, False)
        fed += len(block)
        if fed - parser.CurrentByteIndex > MAX_TAG_BYTES:
            raise BrokenError("a tag is too long")
    parser.Parse(b"", True)


def refuse_doctype(*_: object) -> None:
    """Refuse declarations: no sheet has one, and they can make texts longer."""
    raise BrokenError("it has a document type")


def survey_xlsx(found: Survey, archive: Archive) -> None:
    """Survey the sheets of an Excel workbook in XML."""
    lengths = array("q")
    if SHARED_STRINGS in archive.members:
        parse(archive.blocks(SHARED_STRINGS), *shared_lengths(lengths))
    for name, part in excel_sheets(archive, sheets_in_markup(archive)):
        found.begin(name)
        sheet = ExcelSheet(found, lengths)
        parse(sheet.without_plain(archive.blocks(part)), sheet.start, sheet.text)


def sheets_in_markup(archive: Archive) -> list[tuple[str, str]]:
    """Return the names of the sheets of ``xl/workbook.xml``, and the names of their links."""
    sheets = []

    def start(tag: str, attributes: Attributes) -> None:
        if local_name(tag) == "sheet":
            by_local = {local_name(key): value for key, value in attributes.items()}
            sheets.append((by_local.get("name", ""), by_local.get("id", "")))

    parse(archive.blocks("xl/workbook.xml"), start)
    return sheets


def excel_sheets(
    archive: Archive, sheets: Iterable[tuple[str, str]], book: str = "workbook.xml"
) -> Iterator[tuple[str, str]]:
    """Yield the name of each sheet, and the member that contains it."""
    targets = {}

    def start(tag: str, attributes: Attributes) -> None:
        if local_name(tag) == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    links = f"xl/_rels/{book}.rels"
    if links not in archive.members:
        raise BrokenError(f"it has no {links}")
    parse(archive.blocks(links), start)
    for name, link in sheets:
        part = plain_name(posixpath.normpath(posixpath.join("/xl", targets.get(link, ""))))[1:]
        if part not in archive.members:
            raise BrokenError(f"the sheet {name} is missing")
        yield name, part


def shared_lengths(lengths: "array[int]") -> tuple[Start, Text]:
    """Return handlers that append the length of each text that cells share."""

    def start(tag: str, _: Attributes) -> None:
        if local_name(tag) == "si":
            lengths.append(0)

    def text(content: str) -> None:
        if lengths:
            lengths[-1] += len(content)

    return start, text


class ExcelSheet:
    """Surveys the XML of one sheet of Excel.

    A cell without a place follows the one before it. A cell without a value is empty, whatever
    its format. Most cells are found by a regular expression, which takes a seventh of the time,
    and the others by a parser.
    """

    def __init__(self, found: Survey, lengths: "array[int]") -> None:
        self.found = found
        self.lengths = lengths
        self.row = self.column = 0
        self.widest = 0  # the last column of the plain cells
        self.place = (0, 0)
        self.kind: str | None = None  # of the cell
        self.value = False  # whether its value has begun

    def without_plain(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Survey the plain cells, and yield the rest of the sheet."""
        rest = b""
        for block in blocks:
            whole, end, rest = (rest + block).rpartition(b"</c>")
            parts = PLAIN_CELL.split(whole + end)
            self.add_plain(*(parts[i::5] for i in range(1, 5)))
            yield b" ".join(parts[::5])  # a space, so that no tag is made of two parts
            if len(rest) > MAX_TAG_BYTES:
                yield rest
                rest = b""
        yield rest

    def add_plain(
        self, columns: list[bytes], rows: list[bytes], kinds: list[bytes], values: list[bytes]
    ) -> None:
        """Count plain cells."""
        if not columns:
            return
        self.widest = max(self.widest, *(column_number(each.decode()) for each in set(columns)))
        self.found.add(max(map(int, set(rows))), self.widest, len(columns))
        if b"s" in kinds:
            shared = (value for kind, value in zip(kinds, values, strict=True) if kind == b"s")
            self.found.chars += sum(map(self.lengths.__getitem__, map(int, shared)))

    def start(self, tag: str, attributes: Attributes) -> None:
        """Take a tag."""
        tag = local_name(tag)
        if tag in ("v", "is"):
            if not self.value:
                self.value = True
                self.found.add(*self.place)
        elif tag == "c":
            self.value = False
            self.kind = attributes.get("t")
            place = attributes.get("r")
            self.place = row_and_column(place) if place else (self.row, self.column + 1)
            self.column = self.place[1]
        elif tag == "row":
            row = attributes.get("r")
            self.row = int(row) if row else self.row + 1
            self.column = self.widest  # at least: plain cells may be before it

    def text(self, content: str) -> None:
        """Take a text: a value, or the number of a shared text."""
        if not self.value:
            return
        if self.kind == "s" and content.isdecimal() and int(content) < len(self.lengths):
            self.found.chars += self.lengths[int(content)]
        elif self.kind == "e" and content.strip():
            self.found.add_error(*self.place, content.strip())


def survey_ods(found: Survey, archive: Archive) -> None:
    """Survey the sheets of an OpenDocument workbook."""
    sheets = OpenSheets(found)
    parse(archive.blocks("content.xml"), sheets.start, sheets.text)


class OpenSheets:
    """Surveys the XML of all sheets of OpenDocument.

    Rows and cells may be repeated. Programs write errors as an empty text or as 0; what people
    see is the text below.
    """

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.row = self.rows = 0  # the rows before this one, and how often it is repeated
        self.column = self.cells = 0  # likewise
        self.attributes: Attributes = {}  # of the cell

    def start(self, tag: str, attributes: Attributes) -> None:
        """Take a tag."""
        if tag == "text:p":
            return
        if tag in ("table:table-cell", "table:covered-table-cell"):
            self.column += self.cells
            self.cells = int(attributes.get("table:number-columns-repeated", 1))
            self.attributes = attributes
            if "office:value-type" in attributes:
                last = self.column + self.cells
                self.found.add(self.row + self.rows, last, self.rows * self.cells)
                if "office:string-value" in attributes:
                    self.add_text(attributes["office:string-value"])
        elif tag == "table:table-row":
            self.row += self.rows
            self.rows = int(attributes.get("table:number-rows-repeated", 1))
            self.column = self.cells = 0
        elif tag == "table:table":
            self.found.begin(attributes.get("table:name", ""))
            self.row = self.rows = self.column = self.cells = 0

    def text(self, content: str) -> None:
        """Take a text that a cell shows."""
        if "#" in content or "Err:" in content or "table:formula" in self.attributes:
            self.check_error(content.strip())
        self.add_text(content)

    def check_error(self, shown: str) -> None:
        """Take a text that may be an error."""
        given = self.attributes
        error = given.get("calcext:value-type") == "error"
        computed = "table:formula" in given or given.get("office:value-type") != "string"
        if self.cells and shown and (error or (computed and ERROR.fullmatch(shown))):
            self.found.add_error(self.row + 1, self.column + 1, shown)

    def add_text(self, content: str) -> None:
        """Count a text, which is repeated with its cell."""
        self.found.chars += len(content) * self.rows * self.cells


def local_name(tag: str) -> str:
    """Return the name of a tag without its namespace.

    Examples
    --------
    >>> local_name("x:row"), local_name("row")
    ('row', 'row')
    """
    return tag.rpartition(":")[2]


def row_and_column(place: str) -> tuple[int, int]:
    """Return the row and the column of a place, from 1.

    Examples
    --------
    >>> row_and_column("AB12")
    (12, 28)
    """
    match = PLACE.fullmatch(place)
    if match is None:
        raise BrokenError(f"{place[:MAX_SHOWN_CHARS]!r} is not the place of a cell")
    return int(match[2]), column_number(match[1])
