"""What the commands print and write: tables, one JSON document, files."""

import csv
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

from fedrank._files import whole_file
from fedrank._text import printable as printable  # noqa: PLC0414  the commands use it from here
from fedrank.consensus import Consensus, places

PIPE_WIDTH = 10_000  # columns of a table that is not printed to a terminal

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Write the consensus to this .csv (place,item,score) or .json."),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed, for reproducible results.")
]
TopOption = Annotated[
    int, typer.Option("--top", min=0, help="Number of items in the table; --out writes all.")
]


def screen() -> Console:
    """Return what to print to: as wide as the terminal, and in a pipe without folding."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # replace letters that the encoding lacks
    # Labels are data, so markup and emoji codes in them must stay as they are.
    return Console(width=PIPE_WIDTH if piped else None, markup=False, emoji=False, highlight=False)


def say(text: object) -> None:
    """Print a line of text, folded at the width of the terminal."""
    screen().print(printable(text))


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, at most as wide as the terminal; into a pipe, rows are not folded."""
    table = Table(title=title, show_header=any(columns))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    screen().print(table)


def show_places(title: str, consensus: Consensus, top: int, **others: Sequence[object]) -> None:
    """Print the best items of a consensus; ``others`` are more columns, indexed by item."""
    rows = [
        [place, consensus.items[item], *(column[item] for column in others.values())]
        for place, item in enumerate(consensus.order[:top].tolist())
    ]
    left = len(consensus) - len(rows)
    if left:
        rows.append(["…", f"{left} more"] + [""] * len(others))
    names = [name.replace("_", " ") for name in others]
    show(title, ["place", "item", *names], rows)


def mean_places(consensus: Consensus) -> dict[str, list[str]]:
    """Return the scores as a column of a table; nothing if there are none."""
    if consensus.scores is None:
        return {}
    return {"mean_place": [f"{score:.4g}" for score in consensus.scores]}


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


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV.

    Examples
    --------
    >>> as_csv([["place", "item"], [0, "Ann, jr."]])
    'place,item\n0,"Ann, jr."\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


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
    found = places(consensus)
    text = as_json(document | {"consensus": found})
    if out is not None and out.suffix.lower() == ".json":
        write(out, [text])
    elif out is not None:
        rows = [list(place.values()) for place in found]
        write(out, [as_csv([["place", "item", "score"], *rows])])
    if as_document:
        typer.echo(text, nl=False)


def say_where(out: Path | None, what: str) -> None:
    """Print the name of the file that was written."""
    if out is not None:
        typer.echo(printable(f"{what}: {out}"))
