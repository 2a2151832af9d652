"""What the commands print and write: tables, one JSON document, files."""

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedrank._files import whole_file
from fedrank._text import as_csv as as_csv  # noqa: PLC0414  the commands use these from here
from fedrank._text import printable as printable  # noqa: PLC0414
from fedrank.cli._flags import FLAGS
from fedrank.consensus import Consensus, chance, places
from fedrank.consensus.tables import csv_text
from fedrank.exceptions import Remedy
from fedrank.protocol.labels import look_alikes
from fedrank.protocol.study import Study
from fedrank.protocol.summary import MARGIN

NO_IDENTITIES = (
    "This study has no identities: whoever runs the server can read every input. Use it for "
    "trials only."
)
FOLDED = "  "  # before the rest of a line that was folded
PIPE_WIDTH = 10_000  # columns of a table that is not printed to a terminal

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write the consensus to this .csv or .json file: place (1 = best), item, score (mean "
        "position, 0 = best) and tied (number of the tie).",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed, for reproducible results.")
]
TopOption = Annotated[
    int, typer.Option("--top", min=0, help="Number of items in the table; --out writes all.")
]


def make_console() -> Console:
    """Make a console as wide as the terminal; into a pipe, lines are not folded."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # replace letters that the encoding lacks
    # Labels are data, so markup and emoji codes in them must stay as they are.
    return Console(width=PIPE_WIDTH if piped else None, markup=False, emoji=False, highlight=False)


def say(text: object) -> None:
    """Print a line of text, folded at the width of the terminal."""
    make_console().print(printable(text))


def say_study(study: Study) -> None:
    """Print what a study is; loudly, if whoever runs the server can read every input."""
    say_folded(study.summary().splitlines())
    for sentence in look_alikes(study.items or ()):
        warn(sentence)
    if not study.signed:
        warn(NO_IDENTITIES)


def say_items(labels: Sequence[object]) -> None:
    """Print the labels of all items, with their numbers from 1."""
    say_folded(
        f"{number:<{len(MARGIN)}}{printable(label)}" for number, label in enumerate(labels, 1)
    )


def say_folded(lines: Iterable[str]) -> None:
    """Print lines whose texts begin after a margin.

    They are folded here, since a name must not reach the margin where a terminal folds its line.
    """
    console = make_console()
    width = max(console.width, 2 * len(MARGIN)) - len(MARGIN + FOLDED)
    for line in lines:
        head = line[: len(MARGIN)]
        for part in Text(line[len(MARGIN) :]).wrap(console, width, overflow="fold"):
            typer.echo(head + part.plain.rstrip())
            head = MARGIN + FOLDED


def warn(text: object) -> None:
    """Print a line that must not be missed."""
    make_console().print(f"! {printable(text)}", style="bold")


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table."""
    table = Table(title=title, show_header=any(columns))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    make_console().print(table)


def show_places(title: str, consensus: Consensus, top: int, **others: Sequence[object]) -> None:
    """Print the best items of a consensus, and which of their places the tie rule decided.

    ``others`` are more columns, indexed by item. Places are 1-based.
    """
    if consensus.scores is not None:
        others = {"score": [f"{score:.4g}" for score in consensus.scores], **others}
    rows = [
        [place, consensus.items[item], *(column[item] for column in others.values())]
        for place, item in enumerate(consensus.order[:top].tolist(), start=1)
    ]
    left = len(consensus) - len(rows)
    if left:
        rows.append(["…", f"{left} more"] + [""] * len(others))
    names = [name.replace("_", " ") for name in others]
    show(title, ["place", "item", *names], rows)
    for sentence in chance(consensus, top, FLAGS[Remedy.SUMS]):
        make_console().print(f"! {printable(sentence)}", style="bold")


def raw_bytes(rankings: int, items: int) -> int:
    """Return the bytes of complete rankings, each position in as few bits as possible.

    Examples
    --------
    >>> raw_bytes(3, 5)  # 45 bits
    6
    """
    return -(-rankings * items * max(1, (items - 1).bit_length()) // 8)


def as_json(document: object) -> str:
    """Return one JSON document, in ASCII."""
    return json.dumps(document, allow_nan=False) + "\n"


def check_out(path: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Refuse an output file that cannot be written, or is an input, before any work is done."""
    if path is None:
        return
    if path.suffix.lower() not in (".csv", ".json"):
        raise ValueError(f"--out {path} must end in .csv or .json")
    if path.resolve() in [file.resolve() for file in inputs]:
        raise ValueError(f"--out {path} is also an input file and would be overwritten")
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: name a file in it")
    if path.exists() and not path.is_file():
        raise ValueError(f"--out {path} is a pipe or a device: name a regular file")
    if not path.parent.is_dir():
        raise ValueError(f"--out {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--out {path}: the folder {path.parent} is not writable")


def write(path: Path, parts: Iterable[str]) -> None:
    """Write a file completely or not at all."""
    with whole_file(path) as file:
        file.writelines(part.encode() for part in parts)


def deliver(
    document: dict[str, Any], consensus: Consensus, as_document: bool, out: Path | None
) -> None:
    """Write the output file and print the JSON document, if requested."""
    text = as_json(document | {"consensus": places(consensus)})
    if out is not None and out.suffix.lower() == ".json":
        write(out, [text])
    elif out is not None:
        write(out, [csv_text(consensus)])
    if as_document:
        typer.echo(text, nl=False)


def say_where(out: Path | None, what: str) -> None:
    """Print the name of the file that was written."""
    if out is not None:
        typer.echo(printable(f"{what}: {out}"))
