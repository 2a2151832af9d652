"""Plain tables of ranks, orders or scores under a header of labels."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fedrank._random import RNG
from fedrank.data._files import (
    PathLike,
    Row,
    fail,
    first_repeat,
    is_number,
    need,
    numbers,
    table_rows,
)
from fedrank.rankings import Rankings

Table: TypeAlias = tuple[list[str], list[int] | None, list[Any]]
"""Header, line numbers (None for Parquet) and rows."""

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
    return from_rows(path, load(path), kind, base, ties, rng)


def from_rows(
    path: PathLike, table: Table, kind: str, base: int = 0, ties: str = "random", rng: RNG = None
) -> Rankings:
    """Rankings of a table's rows."""
    header, lines, rows = table
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


def load(path: PathLike) -> Table:
    """Read a table; a first column without a name is skipped."""
    return without_index(
        path, read_parquet(path) if is_parquet(path) else even(path, table_rows(path))
    )


def is_parquet(path: PathLike) -> bool:
    """Tell by the name whether a file is Parquet.

    Examples
    --------
    >>> is_parquet("votes.pq"), is_parquet("votes.csv")
    (True, False)
    """
    return Path(path).suffix.lower() in (".parquet", ".pq")


def read_parquet(path: PathLike) -> Table:
    """Read a Parquet file, which has no lines."""
    polars = need("polars")
    try:
        frame = polars.read_parquet(Path(path).read_bytes())
    except polars.exceptions.PolarsError as error:
        fail(path, None, f"not a Parquet file that can be read ({error})")
    return list(frame.columns), None, [list(row) for row in frame.rows()]


def even(path: PathLike, lines: Iterable[Row]) -> Table:
    """Check that all rows of text or a spreadsheet are as long as the header."""
    (_, header), *body = lines
    for line, cells in body:
        if len(cells) != len(header):
            fail(path, line, f"{len(cells)} columns where the header has {len(header)}")
    return header, [line for line, _ in body], [cells for _, cells in body]


def without_index(path: PathLike, table: Table) -> Table:
    """Leave out a first column without a name."""
    header, lines, rows = table
    if not rows:
        fail(path, None, "there is no row under the header")
    if header[0] == "" and len(header) > 1:
        header, rows = header[1:], [row[1:] for row in rows]
    return header, lines, rows


def guess(row: Sequence[object]) -> tuple[str, int]:
    """Tell what a table holds, and the best rank if it is ranks, by its first row.

    Examples
    --------
    >>> guess(["2", "1", "3"]), guess(["2", "2", "7"]), guess(["ann", "bob"])
    (('ranks', 1), ('scores', 0), ('orders', 0))
    """
    cells = [str(cell) for cell in row]
    if not all(map(is_number, cells)):
        return "orders", 0
    values = np.sort(np.array(cells, dtype=np.float64))
    for base in (0, 1):
        if np.array_equal(values, np.arange(base, base + len(cells))):
            return "ranks", base
    return "scores", 0


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
