"""Ranks or scores whose reading is settled, and the rankings that they are."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
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
LEAVE_EMPTY = (
    "leave the cells of unranked items empty, or, if 0 is the best rank, count the ranks from 1"
)


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
    item_lines : list of int or None
        Lines of the items, if these are in rows.
    """

    layout: str
    values: NDArray[np.float64]
    items: tuple[Hashable, ...] | None
    lines: list[int | None]
    empty: int
    skipped: tuple[str, ...] = ()
    form: str = ""
    item_lines: list[int | None] = field(default_factory=list)

    def line(self, ranking: int, item: int) -> int | None:
        """Return the line of a number; None if it is not known."""
        if self.lines:
            return self.lines[ranking]
        return self.item_lines[item] if self.item_lines else None

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
        check_zeros(grid, matrix)
    notes = [
        *grid.left_out,
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
        line=matrix.line(row, item),
        value=value,
    )


def check_zeros(grid: Grid, matrix: Matrix) -> None:
    """Refuse a 0 among ranks that may mean: not ranked."""
    found = unclear_zero(matrix.values)
    if found is not None:
        row, item, problem = found
        line = matrix.line(row, item)
        fail(grid.path, line, problem, value=0, remedy=LEAVE_EMPTY)


def unclear_zero(values: NDArray[np.float64]) -> tuple[int, int, str] | None:
    """Return row and item of a 0 that may mean "not ranked", and why; None if there is none.

    Ranks from 0 are less than the number of items, and whatever follows two items that are tied at
    0 has at least rank 2.

    Examples
    --------
    >>> unclear_zero(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 3.0]]))
    (0, 2, '0 and 3 both occur among ranks of 3 items')
    >>> unclear_zero(np.array([[0.0, 0.0, 1.0]]))
    (0, 0, '0 occurs 2 times in a ranking, and the other ranks do not follow such a tie')
    >>> unclear_zero(np.array([[0.0, 0.0, 2.0]]))
    """
    n = values.shape[1]
    zeros = values == 0
    several = np.flatnonzero(zeros.sum(axis=1) > 1)
    if zeros.any() and np.nanmax(values) >= n:
        row, item = divmod(int(np.flatnonzero(zeros)[0]), n)
        return row, item, f"0 and {np.nanmax(values):g} both occur among ranks of {n} items"
    ordered = np.sort(values[several], axis=1)
    first, last = tied_places(ordered)
    fits = np.isnan(ordered) | (ordered == first) | (ordered == (first + last) / 2)
    for row in several[~fits.all(axis=1)][:1].tolist():
        count = int(zeros[row].sum())
        problem = (
            f"0 occurs {count} times in a ranking, and the other ranks do not follow such a tie"
        )
        return row, int(np.argmax(zeros[row])), problem
    return None


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
    first, last = tied_places(ordered)
    new = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(ordered), 1), dtype=bool)
    dense = np.cumsum(np.hstack([~edge, new]), axis=1)
    fits = [
        (~known | (ordered - levels == base)).all(axis=1)
        for levels in (first, dense, (first + last) / 2)
        for base in (0, 1)
    ]
    return bool(np.any(fits, axis=0).all())


def tied_places(ordered: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last place of the numbers that are equal to each, in sorted rows.

    Examples
    --------
    >>> tied_places(np.array([[1.0, 1.0, 3.0]]))
    (array([[0, 0, 2]]), array([[1, 1, 2]]))
    """
    place = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    new = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(ordered), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, new]), place, 0), axis=1)
    ends = np.where(np.hstack([new, edge]), place, place.shape[1])
    return first, np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]


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
