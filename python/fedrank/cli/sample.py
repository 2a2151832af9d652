"""``fedrank sample``: rankings scattered around a center."""

from collections.abc import Hashable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import fedrank
from fedrank._progress import Progress
from fedrank._validation import as_phi, check_items
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.data._files import is_number
from fedrank.data.ballots import choice_columns
from fedrank.mallows import Mallows
from fedrank.rankings.complete import Rankings

BLOCK = 1000  # rows written at a time
MOST_ITEMS = 2**24
MOST_CELLS = 2**30  # of all rankings: 4 GiB of ranks


class Form(StrEnum):
    """How a ranking is written."""

    RANKS = "ranks"
    ORDERS = "orders"


def sample(
    items: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_ITEMS, help="Number of items; item-0 is the best of the center."
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="File of the center's labels, one a line, best first.")
    ] = None,
    center: Annotated[
        str | None, typer.Option(help="The center's labels, best first, with commas between.")
    ] = None,
    phi: Annotated[
        float, typer.Option(min=0, max=1, help="Dispersion: 0 the center only, 1 uniform.")
    ] = 0.6,
    size: Annotated[int, typer.Option(min=1, help="How many rankings.")] = 100,
    seed: output.SeedOption = 0,
    form: Annotated[
        Form, typer.Option("--as", help="A column an item (ranks), or items best first (orders).")
    ] = Form.RANKS,
    as_json: output.JsonOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Write to this .csv or .json; otherwise to the screen.")
    ] = None,
) -> None:
    """Draw rankings from a Mallows model, as a table that the other commands read.

    A ranking is the less likely, by a factor phi a pair, the more pairs of items
    it orders otherwise than the center.

    Example: fedrank sample --items 20 --phi 0.8 --size 500 --out votes.csv
    """
    output.check_out(out)
    check_size(items or 1, size)  # before as many labels are made
    names = center_labels(items, labels, center)
    check_size(len(names), size)
    model = Mallows(as_phi(phi), center=Rankings(np.arange(len(names)), names))
    rankings = model.sample(size, seed)

    def text(as_document: bool) -> Iterator[str]:
        return document(rankings, form, phi, seed) if as_document else lines(rankings, form)

    if out is not None:
        output.write(out, text(out.suffix.lower() == ".json"))
    if out is None or as_json:
        for part in text(as_json):
            typer.echo(part, nl=False)
    else:
        output.say_where(out, "rankings")


def check_size(items: int, size: int) -> None:
    """Refuse more than fits into memory.

    Examples
    --------
    >>> check_size(1000, 2_000_000)
    Traceback (most recent call last):
    ValueError: --size 2000000 rankings of 1000 items are too many: at most 1073741
    """
    if items * size > MOST_CELLS:
        raise ValueError(
            f"--size {size} rankings of {items} items are too many: at most {MOST_CELLS // items}"
        )


def center_labels(
    items: int | None, labels: Path | None, center: str | None
) -> tuple[Hashable, ...]:
    """Labels of the center, best first."""
    if sum(given is not None for given in (items, labels, center)) != 1:
        raise ValueError("give one of --items N, --labels FILE and --center a,b,c")
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
    """Refuse labels by which a table would be taken for something else when read back."""
    for name in names:
        if not name:
            raise ValueError("a label is empty: give every item a name")
        if is_number(name):
            raise ValueError(f"label {name!r} would be taken for a position: use words")
        if name.startswith("#") or set(name) & set("\t;") or choice_columns([name]):
            raise ValueError(f"label {name!r} would not be read back as one: rename it")


def document(rankings: Rankings, form: Form, phi: float, seed: int) -> Iterator[str]:
    """Give the rankings and where they come from as JSON."""
    known = {"version": fedrank.__version__, "phi": phi, "seed": seed}
    yield output.as_json(
        known | {"items": list(rankings.items), form.value: written(rankings, form)}
    )


def lines(rankings: Rankings, form: Form) -> Iterator[str]:
    """Give the rankings as CSV, a block at a time."""
    places = [f"place {place}" for place in range(rankings.n)]
    yield output.as_csv([rankings.items if form is Form.RANKS else places])
    starts = range(0, len(rankings), BLOCK)
    with Progress("writing", len(starts)) as progress:
        for start in starts:
            yield output.as_csv(written(rankings[start : start + BLOCK], form))
            progress.advance()


def written(rankings: Rankings, form: Form) -> list[list[Any]]:
    """Rows of positions, or of labels best first."""
    matrix: NDArray[Any] = rankings.ranks
    if form is Form.ORDERS:
        matrix = np.array(rankings.items, dtype=object)[rankings.orders()]
    rows: list[list[Any]] = matrix.tolist()
    return rows
