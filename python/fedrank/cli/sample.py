"""``fedrank sample``: random rankings of a Mallows model."""

import sys
from collections.abc import Hashable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import fedrank
from fedrank._positions import is_position
from fedrank._progress import Progress
from fedrank._validation import check_items
from fedrank._words import is_id
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.data._cells import is_number
from fedrank.mallows import Mallows
from fedrank.rankings.complete import Rankings

BLOCK_ROWS = 1000  # rows written at a time
MAX_ITEMS = 2**24
MAX_CELLS = 2**30  # cells of all rankings: 4 GiB of ranks


class Form(StrEnum):
    """How a ranking is written."""

    RANKS = "ranks"
    ORDERS = "orders"


def sample(
    items: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_ITEMS, help="Number of items; the center has item-0 first."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="File with the labels of the center, one per line, best first."),
    ] = None,
    center: Annotated[
        str | None, typer.Option(help="Labels of the center, best first, separated by commas.")
    ] = None,
    phi: Annotated[
        float,
        typer.Option(min=0, max=1, help="Dispersion, from 0 (the center only) to 1 (uniform)."),
    ] = 0.6,
    size: Annotated[int, typer.Option(min=1, help="Number of rankings.")] = 100,
    seed: output.SeedOption = 0,
    form: Annotated[
        Form,
        typer.Option("--as", help="One column per item (ranks), or the items best first (orders)."),
    ] = Form.RANKS,
    as_json: output.JsonOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Write to this .csv or .json file; printed by default.")
    ] = None,
) -> None:
    """Draw rankings from a Mallows model; the other commands read the table.

    Each pair of items that a ranking orders differently from the center makes
    the ranking less likely by a factor phi.

    Example: fedrank sample --items 20 --phi 0.8 --size 500 --out votes.csv
    """
    output.check_out(out)
    check_size(items or 1, size)  # before the labels are made
    names = center_labels(items, labels, center)
    check_size(len(names), size)
    model = Mallows(phi, center=Rankings(np.arange(len(names)), names))
    rankings = model.sample(size, seed)

    def text(as_document: bool) -> Iterator[str]:
        return document(rankings, form, phi, seed) if as_document else lines(rankings, form)

    blocks = 1 + -(-size // BLOCK_ROWS)
    if out is not None:
        output.write(out, with_progress(text(out.suffix.lower() == ".json"), blocks))
    if out is None or as_json:
        parts = text(as_json)
        # On a terminal the rankings themselves show how far the work is.
        for part in parts if sys.stdout.isatty() else with_progress(parts, blocks):
            typer.echo(part, nl=False)
    else:
        output.say_where(out, "rankings")


def with_progress(parts: Iterator[str], total: int) -> Iterator[str]:
    """Yield the parts of a text, and show how many have been written."""
    with Progress("writing", total) as progress:
        for part in parts:
            yield part
            progress.advance()


def check_size(items: int, size: int) -> None:
    """Refuse more rankings than fit into memory.

    Examples
    --------
    >>> check_size(1000, 2_000_000)
    Traceback (most recent call last):
    ValueError: --size 2000000 is too large: at most 1073741 rankings of 1000 items fit into memory
    """
    if items * size > MAX_CELLS:
        raise ValueError(
            f"--size {size} is too large: "
            f"at most {MAX_CELLS // items} rankings of {items} items fit into memory"
        )


def center_labels(
    items: int | None, labels: Path | None, center: str | None
) -> tuple[Hashable, ...]:
    """Return the labels of the center, best first."""
    if sum(given is not None for given in (items, labels, center)) != 1:
        raise ValueError("pass exactly one of --items N, --labels FILE and --center a,b,c")
    if items is not None:
        width = len(str(items - 1))
        return tuple(f"item-{item:0{width}}" for item in range(items))
    if labels is not None:
        names = _reading.read_labels(labels)
    else:
        split = [label.strip() for label in (center or "").split(",")]
        names = check_items(split, len(split))
    check_labels([str(name) for name in names])
    return names


def check_labels(names: Sequence[str]) -> None:
    """Refuse labels with which the table would be read as another layout."""
    for number, name in enumerate(names, start=1):
        if not name:
            raise ValueError(f"item labels must not be empty (label {number} of {len(names)})")
        if is_number(name):
            raise ValueError(f"label {name!r} would be read as a position: use words")
        means_more = is_id(name) or is_position(name)
        if name.startswith("#") or set(name) & set("\t;") or means_more:
            raise ValueError(f"label {name!r} would not be read as a label: rename it")


def document(rankings: Rankings, form: Form, phi: float, seed: int) -> Iterator[str]:
    """Return the rankings and their parameters as JSON."""
    known = {"version": fedrank.__version__, "phi": phi, "seed": seed}
    yield output.as_json(
        known | {"items": list(rankings.items), form.value: written(rankings, form)}
    )


def lines(rankings: Rankings, form: Form) -> Iterator[str]:
    """Yield the rankings as CSV, one block of rows at a time."""
    places = [f"place {place}" for place in range(1, rankings.n + 1)]
    yield output.as_csv([rankings.items if form is Form.RANKS else places])
    for start in range(0, len(rankings), BLOCK_ROWS):
        yield output.as_csv(written(rankings[start : start + BLOCK_ROWS], form))


def written(rankings: Rankings, form: Form) -> list[list[Any]]:
    """Return rows of positions, or of labels, best first."""
    matrix: NDArray[Any] = rankings.ranks
    if form is Form.ORDERS:
        matrix = np.array(rankings.items, dtype=object)[rankings.orders()]
    rows: list[list[Any]] = matrix.tolist()
    return rows
