"""Plain tables of ranks, orders or scores, with a header of labels."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._blocks import Blocks, by_scores
from fedrank.data._cells import (
    Row,
    first_repeat,
    first_row,
    is_number,
    need,
    numbers,
    table_rows,
)
from fedrank.data._text import PathLike, fail
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings

KINDS = ("ranks", "orders", "scores")


class Table(NamedTuple):
    """A header, the first row, and all rows, which can be iterated over once."""

    header: list[str]
    first: list[Any]
    rows: Iterator[Row]


def read_table(
    path: PathLike, *, kind: str = "ranks", base: int = 0, ties: str = "random", rng: RNG = None
) -> Rankings:
    """Read a CSV, TSV, spreadsheet or Parquet file with a header and one ranking per row.

    Parameters
    ----------
    path : str or path
        The file; text may be gzipped. A first column without a name is an index, and skipped.
    kind : {"ranks", "orders", "scores"}
        What the rows contain. Ranks and scores: one number per item, and the header contains
        the labels. Orders: the labels, best first, under any header ("1st", "2nd").
    base : {0, 1}
        The best rank, for ``kind="ranks"``.
    ties : {"random", "index", "error"}
        Whether equal scores are ordered at random, ordered by column, or an error, for
        ``kind="scores"``.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``ties="random"``.

    Returns
    -------
    rankings : Rankings
        One ranking per row of the table.

    Raises
    ------
    fedrank.exceptions.InputError
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
        raise InputError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}", value=kind)
    with open_table(path) as lines:
        return from_rows(path, split_header(path, lines), kind, base, ties, rng)


def from_rows(
    path: PathLike, table: Table, kind: str, base: int = 0, ties: str = "random", rng: RNG = None
) -> Rankings:
    """Rank the rows of a table."""
    check_header(path, table.header, table.first, kind)
    orders = Orders()
    rank = {
        "ranks": lambda block: Rankings(np.array(block), None, base).ranks,
        "orders": orders.rank,
        "scores": by_scores(ties, rng),
    }
    blocks = Blocks(path, rank[kind])
    for line, cells in table.rows:
        text = kind != "orders" and line is not None
        blocks.add(numbers(path, line, cells) if text else cells, line)
    ranks = blocks.ranks()
    return Rankings._trusted(ranks, orders.labels if kind == "orders" else tuple(table.header))


class Orders:
    """Ranks blocks of orders; the labels are those of the first order."""

    def __init__(self) -> None:
        self.labels: tuple[Hashable, ...] | None = None

    def rank(self, block: list[Any]) -> NDArray[np.int32]:
        """Return the ranks of a block."""
        rankings = Rankings.from_orders(block, self.labels)
        self.labels = rankings.item_labels
        return rankings.ranks


@contextmanager
def open_table(path: PathLike) -> Iterator[Iterator[Row]]:
    """Yield the rows of a text, spreadsheet or Parquet file, the header first."""
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        polars = need("polars", "reading a Parquet file")
        try:
            frame = polars.read_parquet(Path(path).read_bytes())
        except polars.exceptions.PolarsError as error:
            fail(path, None, f"this is not a readable Parquet file ({error})")
        yield ((None, list(row)) for row in chain([frame.columns], frame.iter_rows()))
    else:
        with table_rows(path) as rows:
            yield rows


def split_header(path: PathLike, lines: Iterator[Row]) -> Table:
    """Separate the header from the rows; an index column without a name is left out."""
    _, header = first_row(path, lines)
    first = next(lines, None)
    if first is None:
        fail(path, None, "the table has no rows below the header")
    skipped = 1 if header[0] == "" and len(header) > 1 else 0
    rows = whole_rows(path, chain([first], lines), len(header), skipped)
    return Table(header[skipped:], first[1][skipped:], rows)


def whole_rows(path: PathLike, rows: Iterator[Row], width: int, skipped: int) -> Iterator[Row]:
    """Yield the rows without the index; each must be as wide as the header."""
    for line, cells in rows:
        if len(cells) != width:
            fail(path, line, f"the row has {len(cells)} columns, but the header has {width}")
        yield line, cells[skipped:]


def guess(row: Sequence[object]) -> tuple[str, int]:
    """Return what a table contains, judged by its first row, and the best rank.

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


def check_header(path: PathLike, header: list[str], row: list[Any], kind: str) -> None:
    """Refuse a first line that is data and not a header."""
    if kind == "orders":
        if sorted(header) == sorted(map(str, row)):
            fail(path, 1, "the first line looks like an order", remedy="put a header above it")
        return
    twice = first_repeat(header)
    counted = header in ([str(i + k) for i in range(len(header))] for k in (0, 1))
    if all(map(is_number, header)) and not counted:
        fail(path, 1, "the first line contains numbers", remedy="put a header of labels above it")
    if twice is not None:
        fail(path, 1, f"item labels must differ, but {twice!r} is given twice", value=twice)
