"""The extents of sheets, which decide how much memory reading them takes."""

from dataclasses import dataclass
from typing import NoReturn

from fedrank.data._text import PathLike, fail

MAX_COLUMNS = 2**14  # of a sheet, in all formats
MAX_ROWS = 2**20
MAX_SHEET_CELLS = 2**26  # in the rectangles of all sheets: 2 GiB while they are read
MAX_SPARSE_CELLS = 2**23  # in these rectangles, however few cells have content
MAX_SPARSITY = 32  # cells in these rectangles for each one with content, above that
MAX_TEXT_CHARS = 2**29  # of all cells: a text that many cells share counts for each of them


class BrokenError(Exception):
    """A workbook that does not follow its format."""


@dataclass
class Sheet:
    """What one sheet contains.

    Attributes
    ----------
    name : str
        The name that people see.
    rows, columns : int
        The last row and column with content, from 1.
    filled : int
        Number of cells with content.
    """

    name: str
    rows: int = 0
    columns: int = 0
    filled: int = 0


class Survey:
    """What the sheets of a workbook contain.

    Parameters
    ----------
    path : str or path
        The file, for error messages.

    Attributes
    ----------
    sheets : list of Sheet
        The sheets that were begun; cells belong to the last one.
    chars : int
        Length of the texts of all cells, those that are stored elsewhere.

    Examples
    --------
    >>> found = Survey("votes.xlsx")
    >>> found.begin("north")
    >>> found.add(2, 3)
    >>> found.sheets
    [Sheet(name='north', rows=2, columns=3, filled=1)]
    """

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.sheets: list[Sheet] = []
        self.chars = 0
        self.error: tuple[str, str, str] | None = None  # sheet, place and text of the first one

    def begin(self, name: str) -> None:
        """Begin a sheet."""
        self.sheets.append(Sheet(name))

    def add(self, row: int, column: int, cells: int = 1) -> None:
        """Count cells with content, the last one at this row and column, from 1."""
        sheet = self.sheets[-1]
        sheet.rows = max(sheet.rows, row)
        sheet.columns = max(sheet.columns, column)
        sheet.filled += cells
        if row > MAX_ROWS or column > MAX_COLUMNS:
            self.refuse_extent(sheet)

    def add_error(self, row: int, column: int, text: str) -> None:
        """Remember the first error cell.

        Examples
        --------
        >>> found = Survey("votes.xlsx")
        >>> found.begin("north")
        >>> found.add_error(3, 28, "#DIV/0!")
        >>> found.error
        ('north', 'AB3', '#DIV/0!')
        """
        if self.error is None:
            self.error = self.sheets[-1].name, f"{column_letters(column)}{row}", text

    def check_memory(self) -> None:
        """Refuse sheets that would take too much memory."""
        cells = sum(sheet.rows * sheet.columns for sheet in self.sheets)
        filled = sum(sheet.filled for sheet in self.sheets)
        if cells > min(MAX_SHEET_CELLS, max(MAX_SPARSE_CELLS, MAX_SPARSITY * filled)):
            self.refuse_extent(max(self.sheets, key=lambda sheet: sheet.rows * sheet.columns))
        if self.chars > MAX_TEXT_CHARS:
            fail(
                self.path,
                None,
                f"the cells repeat long texts, {self.chars} characters in all: they do not fit "
                "into memory",
                value=self.chars,
                remedy="delete the columns of long texts",
            )

    def refuse_extent(self, sheet: Sheet) -> NoReturn:
        """Refuse a sheet that reaches too far."""
        fail(
            self.path,
            None,
            f"the sheet {sheet.name} reaches to row {sheet.rows} and column {sheet.columns}: these "
            "are more cells than fit into memory",
            value=sheet.rows * sheet.columns,
            remedy="delete the cells far away from the table",
        )

    def refuse_errors(self) -> None:
        """Refuse a workbook with an error cell, which the library shows as empty or 0."""
        if self.error is not None:
            sheet, place, text = self.error
            fail(
                self.path,
                None,
                f"cell {place} of the sheet {sheet} contains the error {text}",
                value=text,
                remedy="correct its formula, or leave the cell empty",
            )


def column_number(letters: str) -> int:
    """Return the number of a column, from 1.

    Examples
    --------
    >>> column_number("A"), column_number("AA"), column_number("XFD")
    (1, 27, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """Return the letters of a column.

    Examples
    --------
    >>> column_letters(1), column_letters(27), column_letters(16384)
    ('A', 'AA', 'XFD')
    """
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
