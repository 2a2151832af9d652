"""Kamishima's Sushi preferences: orders of sushi, and the regions of the people."""

from typing import overload

import numpy as np

from fedrank.data._blocks import Blocks
from fedrank.data._cells import count
from fedrank.data._text import PathLike, fail, text_lines
from fedrank.rankings.complete import Rankings

REGION = 8  # column of sushi3.udata, from 0
REGIONS = 10  # regions 0..9 are clients; region 10 is dropped, as in the paper


@overload
def read_sushi(orders: PathLike, users: None = None) -> Rankings: ...
@overload
def read_sushi(orders: PathLike, users: PathLike) -> dict[int, Rankings]: ...
def read_sushi(orders: PathLike, users: PathLike | None = None) -> Rankings | dict[int, Rankings]:
    """Read ``sushi3a.5000.10.order`` and, for clients by region, ``sushi3.udata``.

    Parameters
    ----------
    orders : str or path
        First line ``10 1``, then lines ``0 10`` and the item numbers, best first.
    users : str or path, optional
        One line per person, in the same order; the ninth column is the region.

    Returns
    -------
    rankings : Rankings or dict of int to Rankings
        All rankings in file order; with ``users``, the rankings of each region 0..9 that has
        any. Region 10 is dropped.

    Raises
    ------
    fedrank.exceptions.InputError
        If a line is not a complete order, or the two files differ in length.

    Examples
    --------
    >>> read_sushi("tests/samples/sushi.order")
    Rankings: 5 rankings of 4 items
    >>> parts = read_sushi("tests/samples/sushi.order", "tests/samples/sushi.udata")
    >>> {region: len(part) for region, part in parts.items()}
    {0: 1, 3: 2, 9: 1}
    """
    rankings = read_orders(orders)
    if users is None:
        return rankings
    regions = read_regions(users)
    if len(regions) != len(rankings):
        fail(users, None, f"{len(regions)} people, but {len(rankings)} orders: each needs one line")
    return {
        region: rankings[np.flatnonzero(regions == region)]
        for region in range(REGIONS)
        if (regions == region).any()
    }


def read_orders(path: PathLike) -> Rankings:
    """Read the orders of all people."""
    blocks = Blocks(path, lambda orders: np.argsort(orders, axis=1).astype(np.int32))
    with text_lines(path) as lines:
        first, head = next(lines)
        n = count(path, first, head.split()[0], "the number of items")
        if n < 1:
            fail(path, first, "there must be at least one item", value=n)
        for line, text in lines:
            cells = text.split()
            if cells[:2] != ["0", str(n)] or len(cells) != n + 2:
                fail(path, line, f"{text[:40]!r} must be '0 {n}' and {n} item numbers")
            items = [count(path, line, cell, "an item") for cell in cells[2:]]
            if max(items) >= n:
                fail(path, line, f"item {max(items)} is not one of 0..{n - 1}", value=max(items))
            if len(set(items)) != n:
                fail(path, line, "an item is named twice")
            blocks.add(items)
    if not blocks.rows:
        fail(path, None, "the file contains no order")
    return Rankings._trusted(blocks.ranks())


def read_regions(users: PathLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Read the region of each person."""
    regions = []
    with text_lines(users) as lines:
        for line, text in lines:
            cells = text.split()
            if len(cells) <= REGION:
                fail(
                    users,
                    line,
                    f"the line has {len(cells)} columns, but the region is column {REGION + 1}",
                )
            region = count(users, line, cells[REGION], "the region")
            if region > REGIONS:
                fail(users, line, f"region {region} is not one of 0..{REGIONS}", value=region)
            regions.append(region)
    return np.array(regions, dtype=np.int64)
