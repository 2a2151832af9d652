"""Kamishima's Sushi preferences: orders of sushi, and the regions of the people."""

from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fedrank.data._blocks import Blocks, from_levels
from fedrank.data._cells import count
from fedrank.data._text import PathLike, fail, shown_name, text_lines
from fedrank.rankings.partial import AnyRankings
from fedrank.rankings.source import Note, Source

REGION = 8  # column of sushi3.udata, from 0
MAX_ITEMS = 1 << 20
REGIONS = 10  # regions 0..9 are clients; region 10 is dropped, as in the paper


@overload
def read_sushi(orders: PathLike, users: None = None) -> AnyRankings: ...
@overload
def read_sushi(orders: PathLike, users: PathLike) -> dict[int, AnyRankings]: ...
def read_sushi(
    orders: PathLike, users: PathLike | None = None
) -> AnyRankings | dict[int, AnyRankings]:
    """Read ``sushi3a.5000.10.order`` and, for clients by region, ``sushi3.udata``.

    Parameters
    ----------
    orders : str or path
        First line ``10 1``, then lines ``0 10`` and the item numbers, best first. Orders may be
        shorter than the number of items, as in ``sushi3b.5000.10.order``, ten of 100.
    users : str or path, optional
        One line per person, in the same order; the ninth column is the region.

    Returns
    -------
    rankings : Rankings or dict of int to Rankings
        All rankings in file order, as `PartialRankings` if orders are not complete; with
        ``users``, the rankings of each region 0..9 that has any. Region 10, for people from
        elsewhere, is left out, and counted in the `source`.

    Raises
    ------
    fedrank.exceptions.InputError
        If a line is not an order, or the two files differ in length.

    Examples
    --------
    >>> read_sushi("tests/samples/sushi.order")
    Rankings: 5 rankings of 4 items
    >>> parts = read_sushi("tests/samples/sushi.order", "tests/samples/sushi.udata")
    >>> {region: len(part) for region, part in parts.items()}
    {0: 1, 3: 2, 9: 1}
    >>> print(parts[0].source)
    sushi.order: 4 rankings of 4 items (orders, best first; 1 ranking of users without a region left
    out; 1 of its 4 rankings used)
    """
    rankings = read_people(orders)
    if users is None:
        return rankings
    regions = read_regions(users)
    if len(regions) != len(rankings):
        fail(users, None, f"{len(regions)} people, but {len(rankings)} orders: each needs one line")
    kept = np.flatnonzero(regions < REGIONS)
    lost = Note(len(regions) - len(kept), "ranking", "{} of users without a region left out")
    source = rankings.source
    if source is not None and lost.count:
        source = replace(source, rankings=len(kept), notes=(*source.notes, lost))
    rankings = type(rankings)._trusted(rankings.ranks, rankings.item_labels, source)
    return {
        region: rankings[np.flatnonzero(regions == region)]
        for region in range(REGIONS)
        if (regions == region).any()
    }


def read_people(path: PathLike) -> AnyRankings:
    """Read the orders of all people."""
    with text_lines(path) as lines:
        first, head = next(lines)
        n = count(path, first, head.split()[0], "the number of items")
        if not 1 <= n <= MAX_ITEMS:
            fail(path, first, f"there must be from 1 to {MAX_ITEMS} items, not {n}", value=n)
        blocks = Blocks(path, lambda orders: levels_of_numbers(orders, n))
        for line, text in lines:
            cells = text.split()
            if len(cells) < 3 or cells[0] != "0" or cells[1] != str(len(cells) - 2):
                fail(
                    path,
                    line,
                    f"{text[:40]!r} must be '0', the number of items, and so many item numbers",
                )
            items = [count(path, line, cell, "an item") for cell in cells[2:]]
            if max(items) >= n:
                fail(path, line, f"item {max(items)} is not one of 0..{n - 1}", value=max(items))
            if len(set(items)) != len(items):
                fail(path, line, "an item is named twice")
            blocks.add(items)
    if not blocks.rows:
        fail(path, None, "the file contains no order")
    source = Source(
        (str(shown_name(path)),), blocks.rows, n, kind="orders", how="orders, best first"
    )
    return from_levels(blocks.ranks(), None, source)


def levels_of_numbers(orders: list[list[int]], n: int) -> NDArray[np.int32]:
    """Return the levels of orders of item numbers; -1 for items that are left out.

    Examples
    --------
    >>> levels_of_numbers([[2, 0], [1]], 3)
    array([[ 1, -1,  0],
           [-1,  0, -1]], dtype=int32)
    """
    levels = np.full((len(orders), n), -1, dtype=np.int32)
    for row, order in zip(levels, orders, strict=True):
        row[order] = np.arange(len(order))
    return levels


def read_regions(users: PathLike) -> NDArray[np.int64]:
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
