"""What the sheets of a workbook contain, found before the library reads them.

The library that reads sheets fills the rectangle around all cells, ends the process if that does
not fit into memory, and shows error cells as empty or 0. So each sheet is surveyed first, piece by
piece: how far it reaches, how much text it repeats, and where its first error cell is.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable
from xml.parsers.expat import ExpatError

from fedrank.data._sheets.archive import Archive
from fedrank.data._sheets.compound import MAGIC, compound_file, workbook_stream
from fedrank.data._sheets.extent import BrokenError, Survey
from fedrank.data._sheets.markup import survey_ods, survey_xlsx
from fedrank.data._sheets.records import survey_xls, survey_xlsb
from fedrank.data._text import PathLike, fail
from fedrank.exceptions import InputError

BROKEN = (
    BrokenError,
    EOFError,
    ExpatError,
    IndexError,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted member
    ValueError,  # a place such as A0, or text of another encoding
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What a broken workbook raises while it is unpacked and surveyed."""

KINDS = {
    "xl/workbook.xml": survey_xlsx,
    "xl/workbook.bin": survey_xlsb,
    "content.xml": survey_ods,
}
"""How a zip archive is surveyed, by the member that it must have."""


def survey(
    path: PathLike, data: bytes, advance: Callable[[float], None] = lambda _: None
) -> tuple[Survey, bytes]:
    """Return what a workbook contains, and the bytes that the library may read.

    Whatever would take too much memory is refused. ``advance`` is told which part of the file was
    surveyed since the last time.
    """
    found = Survey(path)
    try:
        if data.startswith(MAGIC):
            stream = workbook_stream(data)
            survey_xls(found, stream, advance)
            data = compound_file(stream)  # nothing that was not surveyed
        else:
            with Archive(path, data, advance) as archive:
                kinds = [part for part in KINDS if part in archive.members]
                if len(kinds) != 1:
                    raise BrokenError("it is not one workbook")
                KINDS[kinds[0]](found, archive)
                archive.read_rest()
    except InputError:
        raise
    except BROKEN as error:
        fail(path, None, f"this is not a readable spreadsheet ({error})")
    found.check_memory()
    return found, data
