"""What all figures share: parts, rows and random streams."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._random import stream_rng

Row: TypeAlias = dict[str, Any]
"""One row of a tidy table."""


@dataclass(frozen=True)
class Options:
    """What a user can choose.

    Attributes
    ----------
    seed : int
        Random seed; the same seed gives the same tables.
    repetitions : int, optional
        Repetitions per point; by default the figure's own number.
    data : path, optional
        Folder of the real data; by default `fedrank.data.data_folder`.
    """

    seed: int = 0
    repetitions: int | None = None
    data: Path | None = None


class Figure(ABC):
    """A figure of the paper, or several panels that belong together.

    Attributes
    ----------
    name, title : str
        Its name for the user, and the title above the picture.
    repetitions : int
        Repetitions per point, unless the user chooses another number.
    """

    name: str
    title: str
    repetitions: int

    @abstractmethod
    def parts(self, options: Options) -> Sequence[Row]:
        """List the parts that are computed one by one: the columns that identify each of them."""

    @abstractmethod
    def steps_of(self, options: Options) -> int:
        """Return how often the computation of a part calls ``advance``."""

    @abstractmethod
    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Compute one part, and call ``advance`` after every step, for the progress bar."""

    @abstractmethod
    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw all rows; returns a matplotlib figure."""

    def repeated(self, options: Options) -> int:
        """Return the number of repetitions per point."""
        return self.repetitions if options.repetitions is None else options.repetitions

    def stamp(self, options: Options) -> Row:
        """Return the columns that all rows of a run share; rows with other values are outdated."""
        return {
            "repetitions": self.repeated(options),
            "seed": options.seed,
            "version": _core.VERSION,
        }

    def rng(self, options: Options, *key: object) -> np.random.Generator:
        """Open the random stream of one point, which depends only on seed, figure name and key."""
        words = [crc32(repr(each).encode()) for each in (self.name, *key)]
        return stream_rng(options.seed, *words)


def summary(values: NDArray[Any]) -> Row:
    """Return the mean over repetitions, and its standard error.

    Examples
    --------
    >>> summary(np.array([1, 2, 3]))
    {'mean': 2.0, 'standard_error': 0.5773502691896258}
    """
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "standard_error": float(spread)}
