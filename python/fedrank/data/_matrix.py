"""Ranks or scores whose reading is settled, and the rankings that they are."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedrank.data._blocks import from_levels
from fedrank.data._grid import Grid
from fedrank.data._text import fail, shown_name
from fedrank.rankings.partial import AnyRankings, PartialRankings
from fedrank.rankings.source import Note, Source

HIGH = {"layout": "scores", "best": "high"}
LOW = {"layout": "scores", "best": "low"}


class Read(NamedTuple):
    """Rankings of a table, and the rows of the table that they are from."""

    rankings: AnyRankings
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class Matrix:
    """A table of ranks or scores, with its items in the columns.

    Attributes
    ----------
    layout : {"ranks", "scores"}
        What the numbers are.
    values : numpy.ndarray of float64, shape (m, n)
        One ranking per row; NaN where an item has no number.
    items : tuple or None
        Labels of the items.
    lines : list of int or None
        Lines of the rankings; empty if a ranking is not one line of the file.
    empty : int
        Number of empty cells.
    skipped : tuple of str
        Columns that are no items.
    form : str
        More about the table, such as "items in rows".
    """

    layout: str
    values: NDArray[np.float64]
    items: tuple[Hashable, ...] | None
    lines: list[int | None]
    empty: int
    skipped: tuple[str, ...] = ()
    form: str = ""

    def head(self, count: int) -> "Matrix":
        """Return the first rankings."""
        return replace(self, values=self.values[:count], lines=self.lines[:count])


def from_matrix(grid: Grid, matrix: Matrix) -> Read:
    """Rank the numbers of a matrix."""
    values, best = matrix.values, grid.declared.best or "low"
    rows = np.flatnonzero(~np.isnan(values).all(axis=1))
    if not rows.size:
        fail(grid.path, None, "no ranking has a number")
    blank = len(values) - len(rows)
    values = values[rows]
    base = perm_base(values)
    if matrix.layout == "ranks" and base is None:
        check_ranks(grid, matrix)
    notes = [
        grid.blank,
        Note(blank, "empty ranking", "{} left out"),
        Note(
            matrix.empty - blank * values.shape[1],
            "empty cell",
            "{}: these items count as last",
        ),
    ]
    how = f"{matrix.layout}, {'lowest' if best == 'low' else 'highest'} best"
    if matrix.layout == "ranks" and base is not None and best == "low":
        how = f"ranks, {base} = best"
    source = Source(
        files=(str(shown_name(grid.path)),),
        rankings=len(rows),
        items=values.shape[1],
        kind=matrix.layout,
        how=f"{how}; {matrix.form}" if matrix.form else how,
        skipped=matrix.skipped,
        notes=tuple(note for note in notes if note.count > 0),
        ranklike=matrix.layout == "ranks" or are_ranklike(values),
    )
    scores = np.ascontiguousarray(-values if best == "low" else values)
    levels = PartialRankings.from_scores(scores).ranks
    return Read(from_levels(levels, matrix.items, source), rows)


def check_ranks(grid: Grid, matrix: Matrix) -> None:
    """Refuse numbers that are not ranks: negative ones, and fractions other than halves."""
    known = np.where(np.isnan(matrix.values), 0, matrix.values)
    if are_ranks(known):
        return
    wrong = (known < 0) | (known * 2 != np.floor(known * 2))
    row, item = divmod(int(np.flatnonzero(wrong)[0]), known.shape[1])
    value = float(known[row, item])
    scores = [choice for choice in number_choices(known) if choice[1]["layout"] == "scores"]
    grid.refuse(
        f"{value:g} is not a rank: ranks are whole numbers of at least 0, or halves",
        scores,
        line=matrix.lines[row] if matrix.lines else None,
        value=value,
    )


def perm_base(values: NDArray[np.float64]) -> int | None:
    """Return 0 or 1 if every row is a permutation of so many numbers from it; else None.

    Examples
    --------
    >>> perm_base(np.array([[2.0, 1.0], [1.0, 2.0]])), perm_base(np.array([[1.0, 1.0]]))
    (1, None)
    """
    if not values.size or np.isnan(values).any():
        return None
    base = values.min()
    if base not in (0, 1) or values.max() != base + values.shape[1] - 1:
        return None
    counted = np.arange(values.shape[1]) + base
    return int(base) if (np.sort(values, axis=1) == counted).all() else None


def are_ranklike(values: NDArray[np.float64]) -> bool:
    """Return whether every row is a ranking from 0 or 1: of competitions, dense, or of mid-ranks.

    Examples
    --------
    >>> are_ranklike(np.array([[1.0, 1.0, 3.0], [2.0, 1.0, 1.0], [2.5, 2.5, 1.0]]))
    True
    >>> are_ranklike(np.array([[1.0, 2.0, 4.0]]))
    False
    """
    if not are_ranks(np.nan_to_num(values)) or np.nanmax(values) > values.shape[1]:
        return False
    ordered = np.sort(values, axis=1)  # NaN last, and unlike any other
    known = ~np.isnan(ordered)
    place = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    new = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(ordered), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, new]), place, 0), axis=1)
    ends = np.where(np.hstack([new, edge]), place, place.shape[1])
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    dense = np.cumsum(np.hstack([~edge, new]), axis=1)
    fits = [
        (~known | (ordered - levels == base)).all(axis=1)
        for levels in (first, dense, (first + last) / 2)
        for base in (0, 1)
    ]
    return bool(np.any(fits, axis=0).all())


def are_ranks(values: NDArray[np.float64]) -> bool:
    """Return whether numbers can be ranks, mid-ranks included.

    Examples
    --------
    >>> are_ranks(np.array([1.0, 1.5, 3.0])), are_ranks(np.array([0.3]))
    (True, False)
    """
    return bool((values >= 0).all() and (values * 2 == np.floor(values * 2)).all())


def number_choices(values: NDArray[np.float64]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what numbers can be.

    Examples
    --------
    >>> [options["layout"] for _, options in number_choices(np.array([[0.3, 2.0]]))]
    ['scores', 'scores']
    """
    known = values[~np.isnan(values)]
    if known.size and are_ranks(known) and known.max() <= values.shape[1]:
        yield "ranks with ties or gaps, the lowest is best", {"layout": "ranks"}
    yield "scores, the highest is best", dict(HIGH)
    yield "scores, the lowest is best (p-values, times)", dict(LOW)
