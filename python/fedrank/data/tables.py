"""Plain tables of ranks, orders or scores under a header of labels."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from fedrank._random import RNG
from fedrank.data._files import PathLike, fail, first_repeat, is_number, need, numbers, table_rows
from fedrank.rankings import Rankings

KINDS = ("ranks", "orders", "scores")


def read_table(
    path: PathLike, kind: str = "ranks", base: int = 0, ties: str = "random", rng: RNG = None
) -> Rankings:
    """Read a CSV, TSV, spreadsheet or Parquet file with a ranking a row and a header.

    Parameters
    ----------
    path : str or path
        The file; text may be gzipped. A first column without a name is an index, and skipped.
    kind : {"ranks", "orders", "scores"}
        What the rows hold. Ranks and scores: one number an item, and the header holds the
        labels. Orders: the labels themselves, best first, under any header ("1st", "2nd").
    base : {0, 1}
        The best rank, if ``kind="ranks"``.
    ties : {"random", "index", "error"}
        What becomes of equal scores, if ``kind="scores"``.
    rng : None, int or numpy.random.Generator
        Where random ties come from.

    Returns
    -------
    rankings : Rankings
        One row a row.

    Raises
    ------
    ValueError
        If a row is not a ranking, or the header is missing.

    Examples
    --------
    >>> read_table("tests/samples/ranks.csv", base=1).ranks
    array([[0, 1, 2],
           [2, 0, 1]], dtype=int32)
    >>> read_table("tests/samples/orders.csv", kind="orders").items
    ('ann', 'bob', 'cy')
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    header, lines, rows = load(path)
    check_header(path, header, rows, kind)
    try:
        if kind == "orders":
            return Rankings.from_orders(rows)
        if lines is not None:
            rows = [numbers(path, line, row) for line, row in zip(lines, rows, strict=True)]
        if kind == "ranks":
            return Rankings(np.array(rows), header, base)
        return Rankings.from_scores(np.array(rows), header, ties, rng)
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        place = re.match(r"row (\d+):? ", str(error))
        if place is None or lines is None:
            fail(path, None, str(error))
        fail(path, lines[int(place[1])], str(error)[place.end() :])


def load(path: PathLike) -> tuple[list[str], list[int] | None, list[Any]]:
    """Header, line numbers (None for Parquet) and rows."""
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        polars = need("polars")
        try:
            frame = polars.read_parquet(Path(path).read_bytes())
        except polars.exceptions.PolarsError as error:
            fail(path, None, f"not a Parquet file that can be read ({error})")
        header, lines, rows = list(frame.columns), None, [list(row) for row in frame.rows()]
    else:
        (_, header), *body = table_rows(path)
        for line, cells in body:
            if len(cells) != len(header):
                fail(path, line, f"{len(cells)} columns where the header has {len(header)}")
        lines, rows = [line for line, _ in body], [cells for _, cells in body]
    if not rows:
        fail(path, None, "there is no row under the header")
    if header[0] == "" and len(header) > 1:
        header, rows = header[1:], [row[1:] for row in rows]
    return header, lines, rows


def check_header(path: PathLike, header: list[str], rows: list[Any], kind: str) -> None:
    """Refuse a first line that is data: it would be lost without a word."""
    if kind == "orders":
        if sorted(header) == sorted(map(str, rows[0])):
            fail(path, 1, "the first line looks like an order: put a header above it")
        return
    twice = first_repeat(header)
    counted = header in ([str(i + k) for i in range(len(header))] for k in (0, 1))
    if all(map(is_number, header)) and not counted:
        fail(path, 1, "the first line holds numbers: put a header of labels above it")
    if twice is not None:
        fail(path, 1, f"label {twice!r} is given twice: every item needs its own")
