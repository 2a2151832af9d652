"""Plain tables of ranks, orders or scores under a header of labels."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._files import (
    Blocks,
    PathLike,
    by_scores,
    fail,
    first_repeat,
    is_number,
    need,
    numbers,
    table_rows,
)
from fedrank.rankings import Rankings

KINDS = ("ranks", "orders", "scores")
Rows: TypeAlias = Iterator[tuple[int | None, list[Any]]]
"""Line numbers (None for Parquet) and cells."""


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
    if ties not in ("random", "index", "error"):
        raise ValueError(f'ties must be "random", "index" or "error", not {ties!r}')
    with open_table(path) as (header, rows):
        first = next(rows)
        check_header(path, header, first[1], kind)
        orders = Orders()
        rank = {
            "ranks": lambda block: Rankings(np.array(block), None, base).ranks,
            "orders": orders.rank,
            "scores": by_scores(ties, rng),
        }
        blocks = Blocks(path, rank[kind])
        for line, cells in chain([first], rows):
            text = kind != "orders" and line is not None
            blocks.add(numbers(path, line, cells) if text else cells, line)
        ranks = blocks.ranks()
    return Rankings.trusted(ranks, orders.labels if kind == "orders" else tuple(header))


class Orders:
    """Ranks blocks of orders, whose labels are those of the first."""

    def __init__(self) -> None:
        self.labels: tuple[Hashable, ...] | None = None

    def rank(self, block: list[Any]) -> NDArray[np.int32]:
        """Rank a block."""
        rankings = Rankings.from_orders(block, self.labels)
        self.labels = rankings.item_labels
        return rankings.ranks


@contextmanager
def open_table(path: PathLike) -> Iterator[tuple[list[str], Rows]]:
    """Header and rows, of which there is one at least; an index without a name is left out."""
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        polars = need("polars")
        try:
            frame = polars.read_parquet(Path(path).read_bytes())
        except polars.exceptions.PolarsError as error:
            fail(path, None, f"not a Parquet file that can be read ({error})")
        yield table_parts(path, list(frame.columns), ((None, list(r)) for r in frame.iter_rows()))
    else:
        with table_rows(path) as rows:
            _, header = next(rows, (1, [""]))
            yield table_parts(path, header, rows)


def table_parts(path: PathLike, header: list[str], rows: Rows) -> tuple[list[str], Rows]:
    """Header and rows without the index, if there is one."""
    first = next(rows, None)
    if first is None:
        fail(path, None, "there is no row under the header")
    skipped = 1 if header[0] == "" and len(header) > 1 else 0
    return header[skipped:], whole_rows(path, chain([first], rows), len(header), skipped)


def whole_rows(path: PathLike, rows: Rows, width: int, skipped: int) -> Rows:
    """Rows as wide as the header, without the index."""
    for line, cells in rows:
        if len(cells) != width:
            fail(path, line, f"{len(cells)} columns where the header has {width}")
        yield line, cells[skipped:]


def check_header(path: PathLike, header: list[str], row: list[Any], kind: str) -> None:
    """Refuse a first line that is data: it would be lost without a word."""
    if kind == "orders":
        if sorted(header) == sorted(map(str, row)):
            fail(path, 1, "the first line looks like an order: put a header above it")
        return
    twice = first_repeat(header)
    counted = header in ([str(i + k) for i in range(len(header))] for k in (0, 1))
    if all(map(is_number, header)) and not counted:
        fail(path, 1, "the first line holds numbers: put a header of labels above it")
    if twice is not None:
        fail(path, 1, f"label {twice!r} is given twice: every item needs its own")
