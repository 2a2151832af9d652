"""The reader of the rankings that a command takes, and the options of the reader."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fedrank import data
from fedrank._random import stream_rng
from fedrank._validation import check_items
from fedrank.data._text import text_lines
from fedrank.exceptions import InputError
from fedrank.rankings.partial import AnyRankings

STDIN = Path("/dev/stdin")
PANEL = "Reading (without --layout, the name and the first lines of the file decide)"


class Layout(StrEnum):
    """What a file contains."""

    PREFLIB = "preflib"
    SUSHI = "sushi"
    JESTER = "jester"
    BALLOTS = "ballots"
    EXPRESSION = "expression"
    RANKS = "ranks"
    ORDERS = "orders"
    SCORES = "scores"


class Overvote(StrEnum):
    """How an overvote changes a ballot."""

    SKIP = "skip"
    STOP = "stop"


class GenesIn(StrEnum):
    """Where the genes of an expression table are."""

    ROWS = "rows"
    COLUMNS = "columns"


def option(name: str, description: str, **bounds: Any) -> Any:
    """Describe an option of a reader."""
    return typer.Option(name, help=description, rich_help_panel=PANEL, **bounds)


LayoutOption = Annotated[
    Layout | None, option("--layout", "What the file contains; recognised by default.")
]
BaseOption = Annotated[
    int | None,
    option(
        "--base",
        "Tables of ranks: the best rank, 0 or 1; recognised by default, 0 with --layout ranks.",
        min=0,
        max=1,
    ),
]
GenesOption = Annotated[
    Path | None,
    option("--genes", "Expression tables: file with the genes to rank, one per line; default all."),
]
GenesInOption = Annotated[
    GenesIn | None,
    option("--genes-in", "Expression tables: where the genes are; recognised by default."),
]
CandidatesOption = Annotated[
    Path | None,
    option(
        "--candidates",
        "Ballots: file with all candidates, one per line; by default those on the ballots.",
    ),
]
ChoicesOption = Annotated[
    list[str] | None,
    option(
        "--choices",
        "Ballots: name of a column with choices; repeat it for each choice, best first. "
        "By default the columns called '1st choice', 'rank1' or similar.",
    ),
]
OvervoteOption = Annotated[
    Overvote | None,
    option("--overvote", "Ballots: skip an overvote, or stop the ballot there; skip by default."),
]
KeepBlankOption = Annotated[
    bool,
    option(
        "--keep-blank",
        "Ballots: count a ballot without a valid choice as a random ranking; dropped by default.",
    ),
]
KeepTiesOption = Annotated[
    bool,
    option(
        "--keep-ties",
        "PrefLib and ballots: keep ties and gaps; by default they are ordered at random.",
    ),
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
"""The layout that each option of a reader belongs to."""


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
    """A layout, None to recognise it, and the options of its reader."""

    layout: Layout | None
    options: dict[str, Any]

    @property
    def keeps_ties(self) -> bool:
        """Whether the result is partial rankings."""
        return "complete" in self.options

    def read(self, path: Path, rng: np.random.Generator) -> AnyRankings:
        """Read a file."""
        check_file(path)
        return READERS[self.layout](place(path), rng=rng, **self.options)

    def read_groups(self, path: Path, by: str, rng: np.random.Generator) -> dict[str, AnyRankings]:
        """Read a file in which a column names the clients."""
        check_file(path)
        return data.read_groups(
            place(path), by, layout=self.layout and self.layout.value, rng=rng, **self.options
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
    """Collect the options; an option implies the layout that it belongs to."""
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
            raise ValueError(f"{flag} needs --layout {OWNERS[name]}, not {layout}")
    if keep_ties:
        if layout not in (None, Layout.PREFLIB, Layout.BALLOTS):
            raise ValueError(f"--keep-ties needs --layout preflib or ballots, not {layout}")
        if keep_blank:
            raise ValueError(
                "--keep-ties cannot keep blank ballots, which rank no item: leave out --keep-blank"
            )
        given["complete"] = False
    return Reading(layout, given)


def read_labels(path: Path) -> tuple[Hashable, ...]:
    """Read labels from a file, one per line."""
    check_file(path)
    with text_lines(path) as lines:
        labels = [label for _, label in lines]
    try:
        return check_items(labels, len(labels))
    except InputError as error:
        raise error.at(path) from None


def place(path: Path) -> Path:
    """Return the path of a file, or of standard input for ``-``.

    Examples
    --------
    >>> place(Path("-")).name, place(Path("votes.csv")).name
    ('stdin', 'votes.csv')
    """
    return STDIN if path == Path("-") else path


def check_file(path: Path) -> None:
    """Refuse a path that does not exist, or is a folder."""
    path = place(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name the files in it, {path / '*'}")
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")


stream = stream_rng
