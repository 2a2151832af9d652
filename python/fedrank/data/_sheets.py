"""Workbooks: xls by the library xlrd, xlsx and xlsm by calamine.

xlrd shows error cells and keeps rows as long as they are, and the format ends at 65,536 rows and
256 columns. calamine needs a `Survey` before it.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedrank._progress import Progress
from fedrank.data._extras import need
from fedrank.data._survey import Survey, refuse_error
from fedrank.data._text import PathLike, Spooled, fail, shown_name
from fedrank.exceptions import InputError

SHEETS = (".xlsx", ".xlsm", ".xls")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


class Workbook(Spooled):
    """A workbook whose rows are loaded, so that it can be read several times.

    Attributes
    ----------
    rows : list of list
        The cells of the first sheet, with their types; empty ones are "".
    """

    def __init__(self, path: PathLike) -> None:
        super().__init__(shown_name(path), Path(path))
        self.rows = load_rows(path, self.copy.read_bytes())


@dataclass
class Sheet:
    """One sheet of a workbook."""

    name: str
    hidden: bool
    rows: list[list[Any]]

    def has_data(self) -> bool:
        """Return whether a cell is not empty."""
        return any(str(cell).strip() for row in self.rows for cell in row)


def load_rows(path: PathLike, data: bytes) -> list[list[Any]]:
    """Return the rows of a workbook's first sheet, which must be the only one with data."""
    with Progress(f"reading {Path(path).name}", 1) as progress:
        try:
            if data.startswith(b"PK"):
                sheets = xlsx_sheets(path, data, progress)
            else:
                sheets = xls_sheets(path, data)
            first = next(sheets)
            full = [first.name] * first.has_data()
            full += [sheet.name for sheet in sheets if sheet.has_data()]
        except (InputError, ImportError, MemoryError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of calamine is no Exception
            reason = str(error) or type(error).__name__
            if ENCRYPTED in data:
                reason = "it is protected by a password"
            fail(
                path,
                None,
                f"this is not a readable spreadsheet ({reason})",
                remedy="open it in a spreadsheet program, and save it as .xlsx or .csv",
            )
    problem = None
    if len(full) > 1:
        problem = f"{len(full)} sheets contain data: {', '.join(full)}"
    elif full and full[0] != first.name:
        problem = f"the first sheet, {first.name}, is empty, but {full[0]} contains data"
    elif full and first.hidden:
        problem = f"the first sheet, {first.name}, is hidden"
    if problem is not None:
        remedy = "save the sheet with the rankings as a file of its own"
        fail(path, None, problem, value=first.name, remedy=remedy)
    return first.rows


def xls_sheets(path: PathLike, data: bytes) -> Iterator[Sheet]:
    """Yield the sheets of an xls workbook."""
    xlrd = need("xlrd", "reading an xls workbook")
    book = xlrd.open_workbook(
        file_contents=data, logfile=io.StringIO(), on_demand=True, ragged_rows=True
    )
    plain = {xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK, xlrd.XL_CELL_TEXT, xlrd.XL_CELL_NUMBER}
    for number in range(book.nsheets):
        sheet = book.sheet_by_index(number)
        rows = [sheet.row_values(row) for row in range(sheet.nrows)]
        for row, cells in enumerate(rows):
            kinds = sheet.row_types(row)
            for column in range(len(cells)) if set(kinds) - plain else ():
                if kinds[column] == xlrd.XL_CELL_ERROR:
                    text = xlrd.error_text_from_code.get(cells[column], f"#{cells[column]}")
                    refuse_error(path, sheet.name, xlrd.cellname(row, column), text)
                elif kinds[column] == xlrd.XL_CELL_BOOLEAN:
                    cells[column] = bool(cells[column])
                elif kinds[column] == xlrd.XL_CELL_DATE:
                    cells[column] = xlrd.xldate_as_datetime(cells[column], book.datemode)
        yield Sheet(sheet.name, sheet.visibility != 0, rows)
        book.unload_sheet(number)


def xlsx_sheets(path: PathLike, data: bytes, progress: Progress) -> Iterator[Sheet]:
    """Yield the sheets of an xlsx workbook."""
    calamine = need("python_calamine", "reading an xlsx workbook")
    book = calamine.CalamineWorkbook.from_filelike(Survey(path, len(data)).copy(data, progress))
    for number, sheet in enumerate(book.sheets_metadata):
        if sheet.typ == calamine.SheetTypeEnum.WorkSheet:
            rows = book.get_sheet_by_index(number).to_python(skip_empty_area=False)
            yield Sheet(sheet.name, sheet.visible != calamine.SheetVisibleEnum.Visible, rows)
