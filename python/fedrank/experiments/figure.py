"""What all figures have in common: parts, rows, and random streams."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fedrank import _core

Row: TypeAlias = dict[str, Any]
"""One line of a tidy table."""


@dataclass(frozen=True)
class Options:
    """What a user may choose.

    Attributes
    ----------
    seed : int
        The same seed gives the same tables.
    repetitions : int, optional
        How often each point is repeated; the figure's own number by default.
    data : path, optional
        Folder in which real data are looked for.
    """

    seed: int = 0
    repetitions: int | None = None
    data: Path | None = None


class Figure(ABC):
    """A figure of the paper, or several panels that belong together.

    Attributes
    ----------
    name, title : str
        What it is called on the command line and above the picture.
    repetitions : int
        How often each point is repeated unless the user says otherwise.
    """

    name: str
    title: str
    repetitions: int

    @abstractmethod
    def parts(self, options: Options) -> Sequence[Row]:
        """List what is computed piece by piece: the columns that tell a piece from the others."""

    @abstractmethod
    def steps_of(self, options: Options) -> int:
        """How many times the computation of a piece calls ``advance``."""

    @abstractmethod
    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Compute one piece, calling ``advance`` all along: there is somebody waiting."""

    @abstractmethod
    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw all rows; returns a matplotlib figure."""

    def repeated(self, options: Options) -> int:
        """How often each point is repeated."""
        return self.repetitions if options.repetitions is None else options.repetitions

    def stamp(self, options: Options) -> Row:
        """Return what all rows of a run have in common; rows with another stamp are stale."""
        return {
            "repetitions": self.repeated(options),
            "seed": options.seed,
            "version": _core.VERSION,
        }

    def rng(self, options: Options, *key: object) -> np.random.Generator:
        """Open the random stream of one point, which depends on the seed and its key only."""
        words = [crc32(repr(each).encode()) for each in (self.name, *key)]
        return np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=words))


def summary(values: NDArray[Any]) -> Row:
    """Mean of repetitions, and its standard error.

    Examples
    --------
    >>> summary(np.array([1, 2, 3]))
    {'mean': 2.0, 'standard_error': 0.5773502691896258}
    """
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "standard_error": float(spread)}
