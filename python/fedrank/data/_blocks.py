"""Turn the rows of a file into rankings, block by block.

A file may be larger than the memory, as long as its rankings are not.
"""

from array import array
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank._progress import Progress
from fedrank._random import RNG, as_rng
from fedrank.data._csv import Comments
from fedrank.data._text import PathLike, fail, shown_name
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings
from fedrank.rankings.source import Note, Source, counted

BLOCK_CELLS = 1 << 17  # cells ranked at a time
REORDERED = "; columns reordered by the header"
MAX_NAMED_COLUMNS = 4  # ignored columns that the source names; more are counted
MAX_CELLS = 2**28  # cells of expanded ballots: 1 GiB of ranks


class Blocks:
    """Rows of a file, ranked one block at a time as they are added.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    rank : callable
        Returns the ranks of a block of rows.

    Examples
    --------
    >>> blocks = Blocks("a.csv", by_scores("index", None))
    >>> blocks.add([0.5, 2.0])
    1
    >>> blocks.ranks()
    array([[1, 0]], dtype=int32)
    """

    def __init__(self, path: PathLike, rank: Callable[[list[Any]], NDArray[np.int32]]) -> None:
        self.path = path
        self.rank = rank
        self.block: list[Any] = []
        self.lines: list[int | None] = []
        self.ranked = array("i")
        self.n = 0
        self.rows = 0

    def add(
        self, row: Sequence[Any] | NDArray[np.float64], line: int | None = None, times: int = 1
    ) -> int:
        """Add a row up to ``times`` times, as often as the block has room for it.

        ``line`` is the line of the file, for error messages. Returns how often it was added.
        """
        taken = min(times, max(1, -(-BLOCK_CELLS // max(1, len(row))) - len(self.block)))
        self.block += [row] * taken
        self.lines += [line] * taken
        self.rows += taken
        if len(self.block) * len(row) >= BLOCK_CELLS:
            self.flush()
        return taken

    def flush(self) -> None:
        """Rank the rows that were added since the last time."""
        if not self.block:
            return
        try:
            ranks = self.rank(self.block)
        except InputError as error:
            line = None
            if error.row is not None:
                line = self.lines[error.row]
                error.row += self.rows - len(self.block)  # of the file, not of the block
            raise error.at(shown_name(self.path), line) from None
        self.n = ranks.shape[1]
        self.ranked.frombytes(np.ascontiguousarray(ranks, dtype=np.int32).data.cast("B"))
        self.block.clear()
        self.lines.clear()

    def ranks(self) -> NDArray[np.int32]:
        """Return the ranks of all rows."""
        self.flush()
        return np.frombuffer(self.ranked, dtype=np.int32).reshape(self.rows, self.n)


def by_scores(ties: str, rng: RNG) -> Callable[[list[Any]], NDArray[np.int32]]:
    """Return a function that ranks blocks of scores; all blocks share one generator.

    Raises
    ------
    ValueError
        If ``ties`` is not a tie rule.

    Examples
    --------
    >>> by_scores("index", None)([[1.0, 3.0, 1.0]])
    array([[1, 0, 2]], dtype=int32)
    """
    if ties not in ("index", "random", "error"):
        raise InputError(f'ties must be "index", "random" or "error", not {ties!r}', value=ties)
    draws = None if rng is None else as_rng(rng)
    return lambda block: Rankings.from_scores(np.array(block), None, ties=ties, rng=draws).ranks


def by_levels(block: list[Any]) -> NDArray[np.int32]:
    """Rank a block of scores and keep ties; minus infinity means not ranked.

    Examples
    --------
    >>> by_levels([[-1.0, 0.0, -1.0, -np.inf]])
    array([[ 1, 0, 1, -1]], dtype=int32)
    """
    scores = np.array(block)
    return PartialRankings.from_scores(np.where(scores == -np.inf, np.nan, scores)).ranks


class Ballots:
    """Ballots of a file, in which one line may count for several ballots.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    kind : {"orders", "ballots"}
        What the file contains.
    complete : bool
        Whether to order the ties and gaps of each ballot at random, independently.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for that order.

    Attributes
    ----------
    blank, overvotes, repeats, unnamed : int
        Number of blank ballots that were left out, and of choices that were dropped; the readers
        count them.
    comments : Comments
        The comment lines that were skipped.
    moved : bool
        Whether the columns of the choices were not in order.
    ignored : list of str
        Columns that are no choices.
    """

    def __init__(self, path: PathLike, kind: str, complete: bool, rng: RNG) -> None:
        self.path = path
        self.kind = kind
        self.complete = complete
        self.blocks = Blocks(path, by_scores("random", rng) if complete else by_levels)
        self.total = 0
        self.completed = 0
        self.blank = self.overvotes = self.repeats = self.unnamed = 0
        self.comments = Comments()
        self.moved = False
        self.ignored: list[str] = []

    def add(self, scores: NDArray[np.float64], count: int = 1) -> None:
        """Add a line that counts for ``count`` ballots."""
        self.total += count
        if self.total * len(scores) > MAX_CELLS:
            fail(
                self.path,
                None,
                f"{self.total} ballots of {len(scores)} items are too many: at most "
                f"{MAX_CELLS // len(scores)} fit into memory",
                value=self.total,
                remedy="divide the counts by a common number",
            )
        if self.complete and len(np.unique(scores)) < len(scores):
            self.completed += count
        with Progress("expanding ballots", count) as progress:
            while count:
                taken = self.blocks.add(scores, times=count)
                count -= taken
                progress.advance(taken)

    def rankings(self, items: Sequence[str]) -> AnyRankings:
        """Return all ballots."""
        if not self.total or not items:
            fail(self.path, None, "the file contains no ballot")
        notes = (
            Note(self.blank, "blank ballot", "{} left out"),
            Note(self.overvotes, "overvote", "{} dropped"),
            Note(self.repeats, "repeated choice", "{} dropped"),
            Note(self.unnamed, "cell", "{} such as NA left blank"),
            self.comments.note(),
        )
        few = len(self.ignored) <= MAX_NAMED_COLUMNS
        many = "" if few else f"; {counted(len(self.ignored), 'other column')} skipped"
        source = Source(
            files=(str(shown_name(self.path)),),
            rankings=self.total,
            items=len(items),
            kind=self.kind,
            how=f"{self.kind}, best first{REORDERED if self.moved else ''}{many}",
            skipped=tuple(self.ignored) if few else (),
            notes=tuple(note for note in notes if note.count),
            completed=self.completed,
        )
        return from_levels(self.blocks.ranks(), tuple(items), source)


def from_levels(
    levels: NDArray[np.int32], items: tuple[Hashable, ...] | None, source: Source
) -> AnyRankings:
    """Return levels as `Rankings` if nothing is tied or missing, else as `PartialRankings`."""
    complete = (levels.max(axis=1) == levels.shape[1] - 1).all()  # levels have no holes
    kind = Rankings if complete else PartialRankings
    return kind._trusted(levels, items, source)
