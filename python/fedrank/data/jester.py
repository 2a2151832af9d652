"""Jester's joke ratings, data set 1."""

import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from fedrank.data._files import (
    SHEETS,
    Blocks,
    PathLike,
    Row,
    by_scores,
    csv_rows,
    fail,
    numbers,
    raw_rows,
    table_rows,
)
from fedrank.rankings.complete import Rankings

UNRATED = 99
BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)


def read_jester(paths: PathLike | Iterable[PathLike]) -> Rankings:
    """Read Jester ratings of those who rated every joke.

    The first column counts a person's ratings, the others hold them, from -10 to 10, and 99
    means unrated. People with an unrated joke are left out. The higher rating ranks first,
    and equal ones rank by joke number, as in the paper: nothing is random.

    Parameters
    ----------
    paths : str, path or several
        ``jester_dataset_1_1.zip`` and its like, with an xls (or xlsx, or csv) inside; or such
        a file by itself.

    Returns
    -------
    rankings : Rankings
        One row a complete rater, in file order; the items are the joke numbers from 1.

    Raises
    ------
    ValueError
        If a first column contradicts its row, or a rating is out of range.

    Examples
    --------
    >>> read_jester("tests/samples/jester.zip").ranks
    array([[1, 0, 2],
           [0, 1, 2]], dtype=int32)
    """
    width = None
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    blocks = Blocks(listed[0] if listed else "", by_scores("index", None))
    for path in listed:
        for line, cells in rating_rows(path):
            width = width or len(cells)
            if len(cells) != width or width < 2:
                fail(path, line, f"{len(cells)} columns where {max(width, 2)} are due")
            row = numbers(path, line, cells)
            rated = row[1:] != UNRATED
            if row[0] != rated.sum():
                fail(
                    path,
                    line,
                    f"the first column says {cells[0]} jokes are rated, and {rated.sum()} are; "
                    "is the row cut short, or is this not Jester?",
                )
            if rated.all():
                if np.abs(row[1:]).max() > 10:
                    fail(path, line, f"rating {row[1:][np.abs(row[1:]) > 10][0]} is not in -10..10")
                blocks.add(row[1:])
    if not blocks.rows or width is None:
        fail(blocks.path, None, "nobody in it rated every joke")
    return Rankings.trusted(blocks.ranks(), tuple(range(1, width)))


def rating_rows(path: PathLike) -> Iterator[Row]:
    """Rows of a rating file, inside a zip or bare."""
    if Path(path).suffix.lower() != ".zip":
        with table_rows(path) as rows:
            yield from rows
        return
    data = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            name = next(filter(ratings, archive.namelist()), "")
            data = archive.read(name) if name else b""
    except BROKEN as error:
        fail(path, None, f"the archive is broken or cut short ({error}); fetch it again")
    if not name:
        fail(path, None, "there is no .xls in this archive")
    if name.lower().endswith(".csv"):
        yield from csv_rows(path, io.StringIO(data.decode("latin-1")))
    else:
        yield from raw_rows(path, data)


def ratings(name: str) -> bool:
    """Tell whether a member of an archive can hold ratings.

    Examples
    --------
    >>> ratings("jester-data-1.xls"), ratings("__MACOSX/._jester-data-1.xls")
    (True, False)
    """
    return name.lower().endswith((*SHEETS, ".csv")) and not name.startswith("__MACOSX/")
