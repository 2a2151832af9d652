"""A look at an xlsx workbook before calamine reads it.

calamine fills the rectangle around all cells of a sheet, ends the process if that does not fit into
memory, and shows error cells as empty.
"""

import io
import posixpath
import re
import zipfile
from array import array
from functools import cache
from typing import NoReturn
from xml.parsers import expat

from fedrank._progress import Progress
from fedrank.data._text import PathLike, fail

# The memory rule: a workbook may take FREE_BYTES and MAX_RATIO times the size of its file, and at
# most MAX_BYTES. A `Survey` adds up XML_BYTES, CELL_BYTES and the texts that cells share.
FREE_BYTES = 2**26
MAX_RATIO = 400
MAX_BYTES = 2**32
XML_BYTES = 4  # per byte of XML: the byte, and the cells and texts that are made of it
CELL_BYTES = 40  # per cell in the rectangles around the cells of each sheet

MAX_VALUE_CHARS = 100
LETTERS = re.compile("[A-Za-z]{1,3}")
BLOCK_BYTES = 2**18  # parsed at a time
SURVEY_PART = 0.8  # of the time of loading an xlsx workbook
PART = re.compile(r"(xl/.*|_rels/|\[Content_Types\])\.(xml|rels)", re.I)  # what calamine reads
LINKS = "xl/_rels/workbook.xml.rels"


class Survey:
    """Finds how much memory an xlsx workbook would take, and its first error cell.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    size : int
        Bytes of the file.

    Attributes
    ----------
    limit : int
        Bytes of memory that the workbook may take.
    spent : int
        Bytes of memory that the parts so far would take.
    extents : dict of str to tuple
        The last row and column with content of each part, from 1.
    """

    def __init__(self, path: PathLike, size: int) -> None:
        self.path = path
        self.limit = min(MAX_BYTES, FREE_BYTES + MAX_RATIO * size)
        self.spent = 0
        self.extents: dict[str, tuple[int, int]] = {}
        self.error: tuple[str, str, str] | None = None  # part, place and text of the first one
        self.names: dict[str, str] = {}  # of the sheets, by link
        self.targets: dict[str, str] = {}  # parts, by link
        self.lengths = array("Q")  # of the texts that cells share
        self.shared = array("Q")  # the number of the text of each cell that shares one
        self.texts = ""  # the part that contains them
        self.begin("")

    def begin(self, part: str) -> None:
        """Begin a part of the workbook."""
        self.part = part
        self.rows = self.columns = 0
        self.row, self.column = 1, 0  # of the last cell; those without a place follow each other
        self.place = (0, 0)  # of the cell
        self.label = ""  # its place as people see it
        self.kind: str | None = None  # of its value: s (a shared text) or e (an error)
        self.value = ""  # so far
        self.in_value = False

    def copy(self, data: bytes, progress: Progress) -> io.BytesIO:
        """Return a workbook of nothing but the parts that were surveyed."""
        copy = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(copy, "w") as surveyed:
            named = [(info.filename.replace("\\", "/"), info) for info in book.infolist()]
            parts = [(name, info) for name, info in named if PART.fullmatch(name)]
            total = sum(info.file_size for _, info in parts) or 1
            if len({name.lower() for name, _ in parts}) < len(parts):
                raise ValueError("two parts have the same name")
            for name, info in parts:
                with book.open(info) as file:
                    content = file.read((self.limit - self.spent) // XML_BYTES + 1)
                self.spend(XML_BYTES * len(content))
                self.parse(name, content, progress, SURVEY_PART / total)
                surveyed.writestr(name, content)
        self.spend(CELL_BYTES * sum(rows * columns for rows, columns in self.extents.values()))
        self.spend(sum(map(self.lengths.__getitem__, self.shared)))
        if self.error is not None:
            refuse_error(self.path, self.sheet_name(self.error[0]), *self.error[1:])
        copy.seek(0)
        return copy

    def spend(self, size: int) -> None:
        """Count bytes of memory."""
        self.spent += size
        if self.spent > self.limit:
            reach = ""
            if self.extents:
                part, (rows, columns) = max(self.extents.items(), key=lambda x: x[1][0] * x[1][1])
                name = self.sheet_name(part)
                reach = f"; the sheet {name} reaches to row {rows} and column {columns}"
            fail(
                self.path,
                None,
                f"reading the workbook would take {self.spent >> 20} MiB of memory or more; a file "
                f"of its size may take {self.limit >> 20} MiB{reach}",
                value=self.spent,
                remedy="delete the cells far away from the table and the columns of long texts, or "
                "save the sheet with the rankings as CSV",
            )

    def sheet_name(self, part: str) -> str:
        """Return the name of the sheet that a part contains; that of the part if it has none."""
        for link, name in self.names.items():
            target = posixpath.normpath(posixpath.join("/xl", self.targets.get(link, "")))
            if target.lower() == f"/{part}".lower():
                return name
        return part

    def parse(self, part: str, content: bytes, progress: Progress, weight: float) -> None:
        """Parse a part; each byte advances the progress by ``weight``."""
        self.begin(part)
        self.content = content
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = refuse_doctype
        for at in range(0, len(content), BLOCK_BYTES):
            parser.Parse(content[at : at + BLOCK_BYTES], False)
            progress.advance(weight * len(content[at : at + BLOCK_BYTES]))
        parser.Parse(b"", True)
        if self.rows:
            self.extents[part] = self.rows, self.columns

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take a tag."""
        tag = tag.rpartition(":")[2] if ":" in tag else tag
        if tag == "c":
            self.kind = attributes.get("t")
            self.column += 1
            row, place = self.row, attributes.get("r")
            if place is not None:
                letters = place.rstrip("0123456789")
                row, self.column = int(place[len(letters) :]), column_number(letters)
            self.place = row, self.column
            self.label = place or f"R{row}C{self.column}"
        elif tag in ("v", "is"):
            self.in_value = tag == "v"
            row, column = self.place
            self.rows = max(self.rows, row)
            self.columns = max(self.columns, column)
        elif tag == "row":
            self.row = int(attributes.get("r", self.row))
        elif tag == "si":
            if self.texts not in ("", self.part):
                raise ValueError("two parts contain the texts that cells share")
            self.texts = self.part
            self.lengths.append(0)
        elif tag == "sheet":
            link = next((key for key in attributes if key.endswith(":id")), "")
            self.names[attributes.get(link, "")] = attributes.get("name", "")
        elif tag == "Relationship" and self.part.lower() == LINKS:
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def text(self, content: str) -> None:
        """Take a text, or a piece of one."""
        if self.part == self.texts:
            self.lengths[-1] += len(content)
        if self.in_value and self.kind in ("s", "e"):
            self.value += content
            if len(self.value) > MAX_VALUE_CHARS:
                raise ValueError("the number of a text, or an error, is too long")

    def end(self, tag: str) -> None:
        """Take the end of a tag."""
        tag = tag.rpartition(":")[2] if ":" in tag else tag
        if tag == "v":
            self.in_value = False
            if self.value:
                self.take_value(self.value.strip())
                self.value = ""
        elif tag == "row":
            self.row, self.column = self.row + 1, 0

    def take_value(self, value: str) -> None:
        """Take the number of a shared text, or an error."""
        if self.kind == "e":
            self.error = self.error or (self.part, self.label, value)
            return
        plain, end = f">{value}".encode(), self.parser.CurrentByteIndex
        if self.content[end - len(plain) : end] != plain:  # calamine may take it for another
            raise ValueError(f"the number {value} of a text is not written plainly")
        self.shared.append(int(value))


def refuse_doctype(*_: object) -> NoReturn:
    """Refuse declarations: no workbook has one, and they can make texts longer."""
    raise ValueError("it has a document type")


@cache
def column_number(letters: str) -> int:
    """Return the number of a column, from 1.

    Examples
    --------
    >>> column_number("A"), column_number("AA"), column_number("XFD")
    (1, 27, 16384)
    """
    if not LETTERS.fullmatch(letters):
        raise ValueError(f"{letters[:MAX_VALUE_CHARS]!r} is not a column")
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def refuse_error(path: PathLike, sheet: str, place: str, text: str) -> NoReturn:
    """Refuse a cell that contains an error such as ``#DIV/0!``."""
    fail(
        path,
        None,
        f"cell {place} of the sheet {sheet} contains the error {text}",
        value=text,
        remedy="correct its formula, or leave the cell empty",
    )
