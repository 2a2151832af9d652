"""Which reader the commands read files with, and its options."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fedrank import data
from fedrank._validation import check_items
from fedrank.data._files import text_lines
from fedrank.rankings.partial import AnyRankings

STDIN = Path("/dev/stdin")
PANEL = "Reading (without --layout, the file's name and beginning tell)"


class Layout(StrEnum):
    """What a file can hold."""

    PREFLIB = "preflib"
    SUSHI = "sushi"
    JESTER = "jester"
    BALLOTS = "ballots"
    EXPRESSION = "expression"
    RANKS = "ranks"
    ORDERS = "orders"
    SCORES = "scores"


class Overvote(StrEnum):
    """What an overvote does to a ballot."""

    SKIP = "skip"
    STOP = "stop"


class GenesIn(StrEnum):
    """Where an expression table has its genes."""

    ROWS = "rows"
    COLUMNS = "columns"


def option(name: str, description: str, **bounds: Any) -> Any:
    """Describe an option of a reader."""
    return typer.Option(name, help=description, rich_help_panel=PANEL, **bounds)


LayoutOption = Annotated[Layout | None, option("--layout", "What the file holds.")]
BaseOption = Annotated[
    int | None, option("--base", "Best rank of a table of ranks, 0 or 1.", min=0, max=1)
]
GenesOption = Annotated[
    Path | None, option("--genes", "File of the genes to rank, for expression tables.")
]
GenesInOption = Annotated[
    GenesIn | None, option("--genes-in", "Where an expression table has its genes.")
]
CandidatesOption = Annotated[
    Path | None,
    option("--candidates", "File of all candidates, one a line, for ballots that name only some."),
]
ChoicesOption = Annotated[
    list[str] | None,
    option("--choices", "Column of a ballot's choices, for each of them in turn, best first."),
]
OvervoteOption = Annotated[
    Overvote | None, option("--overvote", "Whether an overvote is passed over or ends the ballot.")
]
KeepBlankOption = Annotated[
    bool, option("--keep-blank", "Count ballots without a valid choice, as random rankings.")
]
KeepTiesOption = Annotated[
    bool,
    option("--keep-ties", "Keep ties and gaps of PrefLib and ballots; else they fall at random."),
]

OWNERS = {
    "base": Layout.RANKS,
    "genes": Layout.EXPRESSION,
    "genes_in": Layout.EXPRESSION,
    "items": Layout.BALLOTS,
    "choices": Layout.BALLOTS,
    "overvote": Layout.BALLOTS,
    "keep_blank": Layout.BALLOTS,
}
"""The readers' options, and the layout that each goes with."""


READERS: dict[Layout | None, Callable[..., AnyRankings]] = {
    None: data.read,
    Layout.PREFLIB: data.read_preflib,
    Layout.SUSHI: lambda path, rng: data.read_sushi(path),  # noqa: ARG005  nothing is random
    Layout.JESTER: lambda path, rng: data.read_jester(path),  # noqa: ARG005
    Layout.BALLOTS: data.read_ballots,
    Layout.EXPRESSION: data.read_expression,
    Layout.RANKS: partial(data.read_table, kind="ranks"),
    Layout.ORDERS: partial(data.read_table, kind="orders"),
    Layout.SCORES: partial(data.read_table, kind="scores"),
}


@dataclass(frozen=True)
class Reading:
    """A layout, None to guess it, and the options of its reader."""

    layout: Layout | None
    options: dict[str, Any]

    @property
    def keeps_ties(self) -> bool:
        """Whether what it reads is partial rankings."""
        return "complete" in self.options

    def read(self, path: Path, rng: np.random.Generator) -> AnyRankings:
        """Read a file."""
        check_file(path)
        return READERS[self.layout](place(path), rng=rng, **self.options)

    def read_groups(self, path: Path, by: str, rng: np.random.Generator) -> dict[str, AnyRankings]:
        """Read a file of which a column names the clients."""
        check_file(path)
        return data.read_groups(
            place(path), by, self.layout and self.layout.value, rng, **self.options
        )


def reading(
    layout: Layout | None,
    base: int | None,
    genes: Path | None,
    genes_in: GenesIn | None,
    candidates: Path | None,
    choices: list[str] | None,
    overvote: Overvote | None,
    keep_blank: bool,
    keep_ties: bool,
) -> Reading:
    """Gather what the user asked for; an option tells the layout that it goes with."""
    items = None if candidates is None else read_labels(candidates)
    asked = {
        "base": base,
        "genes": genes,
        "genes_in": genes_in and genes_in.value,
        "items": items,
        "choices": choices or None,
        "overvote": overvote and overvote.value,
        "keep_blank": keep_blank or None,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        layout = layout or OWNERS[name]
        if layout is not OWNERS[name]:
            flag = "--candidates" if name == "items" else "--" + name.replace("_", "-")
            raise ValueError(f"{flag} goes with --layout {OWNERS[name]}, not {layout}")
    if keep_ties:
        if layout not in (None, Layout.PREFLIB, Layout.BALLOTS):
            raise ValueError(f"--keep-ties goes with --layout preflib or ballots, not {layout}")
        if keep_blank:
            raise ValueError("--keep-ties leaves no ranking of a blank ballot: drop --keep-blank")
        given["complete"] = False
    return Reading(layout, given)


def read_labels(path: Path) -> tuple[Hashable, ...]:
    """Labels in a file, one a line."""
    check_file(path)
    with text_lines(path) as lines:
        labels = [label for _, label in lines]
    try:
        return check_items(labels, len(labels))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def place(path: Path) -> Path:
    """Where a file is, standard input for ``-``.

    Examples
    --------
    >>> place(Path("-")).name, place(Path("votes.csv")).name
    ('stdin', 'votes.csv')
    """
    return STDIN if path == Path("-") else path


def check_file(path: Path) -> None:
    """Refuse what is not there, or is a folder."""
    path = place(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name the files in it, {path / '*'}")
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")


def stream(seed: int, *key: int) -> np.random.Generator:
    """Make a generator that depends on the seed and the key alone.

    Examples
    --------
    >>> stream(1, 0).integers(9) == stream(1, 0).integers(9)
    np.True_
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
