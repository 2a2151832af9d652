"""Joke ratings of Jester, data set 1."""

import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fedrank.data._blocks import Blocks, by_scores
from fedrank.data._cells import numbers, open_sheet, table_rows
from fedrank.data._csv import Comments, Row, comments_of, csv_rows
from fedrank.data._sheets import SHEETS
from fedrank.data._text import PathLike, fail, shown_name
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings
from fedrank.rankings.source import Note, Source

UNRATED = 99
MAX_RATING = 10
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)


def read_jester(paths: PathLike | Iterable[PathLike]) -> Rankings:
    """Read the Jester ratings of the people who rated every joke.

    The first column counts a person's ratings. The other columns contain the ratings, from -10
    to 10, and 99 for unrated. People with an unrated joke are left out, and counted in the `source`
    of the result. The higher rating ranks
    first, and equal ratings rank by joke number, as in the paper: nothing is random.

    Parameters
    ----------
    paths : str or path, or several
        An archive such as ``jester_dataset_1_1.zip`` with an xls, xlsx or csv inside; or such
        a file itself.

    Returns
    -------
    rankings : Rankings
        One row per person, in file order; the items are the joke numbers from 1.

    Raises
    ------
    fedrank.exceptions.InputError
        If a first column contradicts its row, or a rating is out of range.

    Examples
    --------
    >>> read_jester("tests/samples/jester.zip").ranks
    array([[1, 0, 2],
           [0, 1, 2]], dtype=int32)
    """
    width = None
    incomplete = tied = comments = 0
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    blocks = Blocks(listed[0] if listed else "", by_scores("index", None))
    for path in listed:
        with rating_rows(path) as rows:
            for line, cells in rows:
                width = width or len(cells)
                if len(cells) != width or width < 2:
                    fail(path, line, f"the row has {len(cells)} columns, not {max(width, 2)}")
                row = numbers(path, line, cells)
                rated = row[1:] != UNRATED
                if row[0] != rated.sum():
                    fail(
                        path,
                        line,
                        f"the first column says that {cells[0]} jokes are rated, but {rated.sum()} "
                        "are: is the row cut short, or is this not a Jester file?",
                    )
                incomplete += not rated.all()
                if rated.all():
                    wrong = row[1:][np.abs(row[1:]) > MAX_RATING]
                    if wrong.size:
                        fail(
                            path,
                            line,
                            f"rating {wrong[0]} is not in -10..10",
                            value=float(wrong[0]),
                        )
                    tied += len(np.unique(row[1:])) < len(row) - 1
                    blocks.add(row[1:])
            comments += comments_of(rows).number
    if not blocks.rows or width is None:
        fail(blocks.path, None, "no person in the file rated every joke")
    notes = (
        Note(incomplete, "rater", "{} with an unrated joke left out"),
        Note(tied, "ranking", "ties of {} broken by joke number"),
        Comments(comments).note(),
    )
    source = Source(
        files=tuple(str(shown_name(path)) for path in listed),
        rankings=blocks.rows,
        items=width - 1,
        kind="scores",
        how="ratings, highest best",
        notes=tuple(note for note in notes if note.count),
    )
    return Rankings._trusted(blocks.ranks(), tuple(range(1, width)), source)


@contextmanager
def rating_rows(path: PathLike) -> Iterator[Iterator[Row]]:
    """Yield the rows of a rating file, which may be inside a zip archive."""
    if Path(path).suffix.lower() != ".zip":
        with table_rows(path) as rows:
            yield rows
        return
    name, data = unpacked(path)
    if name.lower().endswith(".csv"):
        yield csv_rows(path, io.StringIO(data.decode("latin-1")))
    else:
        with open_sheet(path, data) as rows:
            yield rows


def unpacked(path: PathLike) -> tuple[str, bytes]:
    """Return the name and the contents of the ratings in an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(Path(path).read_bytes())) as archive:
            name = next(filter(ratings, archive.namelist()), "")
            data = archive.read(name) if name else b""
    except BROKEN_ZIP as error:
        fail(
            path,
            None,
            f"the archive is broken or cut short ({error})",
            remedy="get the file again",
        )
    if not name:
        fail(path, None, "the archive contains no .xls file")
    return name, data


def refuse_zipped_table(path: PathLike) -> None:
    """Refuse an archive without a spreadsheet: it is not certainly one of Jester."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
    except BROKEN_ZIP:
        return  # the reader says it
    if not any(ratings(name) and not name.lower().endswith(".csv") for name in names):
        shown = f"contains {names[0]}" if names else "is empty"
        raise InputError(
            f"the archive {shown}, and only Jester's spreadsheets are read from archives",
            file=shown_name(path),
            remedy="unpack it first",
        )


def ratings(name: str) -> bool:
    """Return whether a member of an archive can contain ratings.

    Examples
    --------
    >>> ratings("jester-data-1.xls"), ratings("__MACOSX/._jester-data-1.xls")
    (True, False)
    """
    return name.lower().endswith((*SHEETS, ".csv")) and not name.startswith("__MACOSX/")
