"""Plain tables of ranks, scores or orders, and long tables of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NoReturn, Unpack, overload

import numpy as np

from fedrank._positions import is_position
from fedrank._progress import Progress
from fedrank._random import RNG
from fedrank._text import noun
from fedrank._words import are_long
from fedrank.data._blocks import Ballots
from fedrank.data._cells import PARQUET, cell_text, comma_separated, table_rows
from fedrank.data._csv import Row
from fedrank.data._extras import need
from fedrank.data._grid import Choices, Grid, load
from fedrank.data._header import named, refuse_heads, with_corner, with_header
from fedrank.data._ids import LONG
from fedrank.data._long import read_long
from fedrank.data._matrix import Read, from_matrix
from fedrank.data._numbered import refuse_positions
from fedrank.data._options import OWNERS, TABLES, Declared, TableOptions, one_of
from fedrank.data._orders import read_orders
from fedrank.data._recognise import recognise, refuse_decimals
from fedrank.data._text import PARSE_UNITS, PathLike, fail
from fedrank.data.ballots import read_records
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

REST_UNITS = 8  # time per byte of recognising and ranking, if that of parsing is `PARSE_UNITS`
MAX_TRIED_ROWS = 300  # rankings with which a choice is tried
MAX_QUESTIONS = 3  # questions that follow each other about one table


@overload
def read_table(
    path: PathLike, *, complete: Literal[True], rng: RNG = None, **options: Unpack[TableOptions]
) -> Rankings: ...
@overload
def read_table(
    path: PathLike, *, complete: bool = False, rng: RNG = None, **options: Unpack[TableOptions]
) -> AnyRankings: ...
def read_table(
    path: PathLike,
    *,
    layout: str | None = None,
    best: str | None = None,
    id_columns: str | Iterable[str] = (),
    items_in: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    complete: bool = False,
    rng: RNG = None,
) -> AnyRankings:
    """Read a table of ranks, scores or orders: CSV, TSV, a spreadsheet or Parquet.

    Without options, only what is certain is read: orders of labels, and ranks under a header of
    item names of which every row is a permutation of ``0..n-1`` or ``1..n`` (or every column, if
    the first column names the items). The whole file decides. Everything else is refused, and the
    error lists the options of each possible reading. Lines that begin with ``#`` are comments.

    Parameters
    ----------
    path : str or path
        The file; text may be gzipped.
    layout : {"ranks", "scores", "orders", "long"}, optional
        What the table contains. Ranks: one number per item, the lowest best; equal numbers are
        ties. Scores: one number per item. Orders: labels or item numbers, best first. Long: three
        columns, for the ranking, the item, and its rank or score.
    best : {"low", "high"}, optional
        Whether the lowest or the highest number is best. Scores need it, and long tables unless
        the column of numbers is called rank, place or position. Alone, it means scores.
    id_columns : str or sequence of str
        Columns that are no items. Without a header, their numbers from 1. If the items are in rows
        and no column of texts names them, the first of these columns does.
    items_in : {"rows", "columns"}, optional
        Whether the items are in the rows or in the columns.
    header : bool, optional
        Whether the first row is a header.
    decimal : {".", ","}, optional
        The decimal sign; a point by default, unless all points may separate thousands.
    complete : bool
        Whether to order ties and gaps at random, which `source` of the result then counts.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``complete=True``.

    Returns
    -------
    rankings : Rankings, or PartialRankings if items are tied or not ranked
        The rankings, with their `source`.

    Raises
    ------
    fedrank.exceptions.InputError
        If the table can be read in several ways, or a cell is invalid.

    Examples
    --------
    >>> read_table("tests/samples/ranks.csv").ranks
    array([[0, 1, 2],
           [2, 0, 1]], dtype=int32)
    >>> print(read_table("tests/samples/scores.tsv", best="high").source)
    scores.tsv: 2 rankings of 3 items (scores, highest best)
    """
    one_of("layout", layout, TABLES)
    declared = Declared(layout, best, id_columns, items_in, header, decimal)  # type: ignore[arg-type]
    with open_table(path, decimal) as rows:
        found = read_rows(path, rows, declared).rankings
    return completed(found, complete, rng)


def completed(rankings: AnyRankings, complete: bool, rng: RNG) -> AnyRankings:
    """Order ties and gaps at random if the caller asks for it."""
    if complete and isinstance(rankings, PartialRankings):
        return rankings.complete(rng)
    return rankings


@contextmanager
def open_table(path: PathLike, decimal: str | None = None) -> Iterator[Iterator[Row]]:
    """Yield the rows of a text, spreadsheet or Parquet file, the header first."""
    if Path(path).suffix.lower() in PARQUET:
        polars = need("polars", "reading a Parquet file")
        try:
            frame = polars.read_parquet(Path(path).read_bytes())
        except polars.exceptions.PolarsError as error:
            fail(path, None, f"this is not a readable Parquet file ({error})")
        rest = frame.height * REST_UNITS / PARSE_UNITS
        with Progress(f"reading {Path(path).name}", frame.height + rest) as progress:
            yield parquet_rows(frame, progress, rest)
    else:
        with table_rows(path, decimal or ".", REST_UNITS) as rows:
            yield rows


def parquet_rows(frame: Any, progress: Progress, rest: float) -> Iterator[Row]:
    """Yield the header and the rows of a frame as texts; then the rest of the work begins."""
    yield None, frame.columns
    for row in frame.iter_rows():
        yield None, [cell if isinstance(cell, str) else cell_text(cell) for cell in row]
        progress.advance()
    progress.begin(rest)


def read_rows(path: PathLike, rows: Iterator[Row], declared: Declared) -> Read:
    """Read the rows of a table as declared, or as is certain."""
    grid = load(path, rows, declared)
    if Path(path).suffix.lower() in PARQUET or declared.by is not None:
        grid = named(with_corner(grid))  # the columns certainly have names
    if not grid.headed and declared.header is None:
        refuse_heads(grid)
    try:
        return read_grid(grid)
    except InputError as error:
        refusal = error
    raise with_choices(grid, refusal)


def refuse_numbered(path: PathLike, rows: Iterator[Row], declared: Declared) -> NoReturn:
    """Refuse what would be ballots if there were no numbers among the choices."""
    grid = named(with_corner(load(path, rows, declared)))
    try:
        refuse_positions(grid)
    except InputError as error:
        refusal = error
    raise with_choices(grid, refusal)


def with_choices(grid: Grid, refusal: InputError) -> InputError:
    """Return a refusal with the choices that work; if none does, say where the table is broken."""
    choices = working(grid, refusal.choices)
    if refusal.choices and not choices:
        chosen = refusal.choices[:1]
        try:
            read_chosen(grid, chosen[0][1], trial=False)
        except InputError as broken:
            broken.choices = []
            return broken
        choices = chosen  # the whole table can be read, although its first rows alone cannot
    decimals = [choice for choice in choices if choice[1].get("decimal") == ","]
    if decimals and comma_separated(grid.path):  # then it is no decimal sign
        choices = [choice for choice in choices if choice not in decimals]
    refusal.choices = choices
    return refusal


def read_chosen(grid: Grid, options: dict[str, Any], trial: bool) -> Read:
    """Read a table with the options of a choice; for a trial, its first rankings."""
    table = {name: value for name, value in options.items() if name not in OWNERS}
    chosen = grid.declare(replace(Declared(**table), by=grid.declared.by))
    if chosen.declared.layout != "ballots":
        return read_grid(chosen, trial)
    rows = chosen.head(MAX_TRIED_ROWS) if trial else chosen
    grid.comments.check_ballots(grid.path)
    records = Ballots(grid.path, "ballots", complete=False, rng=None)
    found = read_records(records, rows.cells(), None, options.get("choices"), False, False)
    return Read(found, np.arange(len(found)))


def read_grid(grid: Grid, trial: bool = False) -> Read:
    """Read a table as declared, or as is certain; refuse it otherwise.

    For a trial, the whole table decides how it is read, and just its first rankings are read.
    """
    declared = grid.declared
    if declared.layout == "orders" or (declared.layout is None and has_texts(grid)):
        if declared.items_in is not None:
            fail(
                grid.path,
                None,
                "the table contains orders: the items are its cells, not its rows or columns",
                value=declared.items_in,
                remedy="do not declare where the items are",
            )
        return read_orders(grid.head(MAX_TRIED_ROWS) if trial and declared.layout else grid)
    whole = with_header(grid)
    grid = whole.without(declared.id_columns)
    if declared.layout == "long":
        return read_long(grid.head(MAX_TRIED_ROWS) if trial else grid)
    if declared.layout == "scores" and declared.best is None:
        refuse_scores(grid)
    if trial:
        return from_matrix(grid, recognise(grid, row_labels(whole)).head(MAX_TRIED_ROWS))
    with Progress("ranking", 2) as progress:
        matrix = recognise(grid, row_labels(whole))
        progress.advance()
        return from_matrix(grid, matrix)


def row_labels(grid: Grid) -> tuple[str, ...] | None:
    """Return the cells of the first column that is declared as an id; None if there is none."""
    if not grid.declared.id_columns:
        return None
    column = grid.names.index(grid.declared.id_columns[0])
    return tuple(grid.text(row, column) for row in range(len(grid.lines)))


def working(grid: Grid, choices: Choices, depth: int = MAX_QUESTIONS) -> Choices:
    """Return the choices with which the first rankings of the table are really read.

    A choice that leads to another question is replaced by the answers to it.
    """
    found: Choices = []
    for meaning, options in choices:
        try:
            read_chosen(grid, options, trial=True)
        except InputError as error:
            more = working(grid, error.choices, depth - 1) if depth else []
            found += [(f"{meaning}; {text}", chosen) for text, chosen in more]
        else:
            found.append((meaning, options))
    unique = {
        str(sorted(options.items(), key=str)): (text, options) for text, options in found[::-1]
    }
    return list(unique.values())[::-1]


def has_texts(grid: Grid) -> bool:
    """Return whether a table consists of texts below its first row; refuse a mixture."""
    below = grid.rows(1) if len(grid.lines) > 1 and not grid.headed else grid
    if grid.declared.header is not False and not grid.headed:
        names = [grid.text(0, column) for column in range(len(grid.names))]
        below = replace(below, names=names)
    below = below.without(grid.declared.id_columns)
    words, numbers = below.of_kind("text", "mixed"), below.of_kind("number")
    for column in words:
        found = below.first_text([column])
        if found is not None:
            refuse_decimals(grid, below.text(*found))
    if numbers and len(words) > 1 and not below.of_kind("mixed"):
        refuse_mixture(below)
    return bool(words) and not numbers


def refuse_mixture(grid: Grid) -> None:
    """Refuse columns of texts beside columns of numbers."""
    declared = list(grid.declared.id_columns)
    words = [grid.names[column] for column in grid.of_kind("text")]
    numbers = [grid.names[column] for column in grid.of_kind("number")]
    choices: Choices = []
    if not are_long(grid.names):
        orders = {"layout": "orders", "id_columns": declared + numbers}
        skipped = f"{noun(len(numbers), 'column')} {', '.join(numbers)} skipped"
        choices.append((f"orders of labels, best first; {skipped}", orders))
    if len(numbers) > 1:
        choices.append(("one number per item", {"id_columns": declared + words}))
    if len(grid.names) == 3 and not all(map(is_position, words)):
        choices.append(LONG)
    grid.refuse("some columns contain texts, and others numbers", choices)


def refuse_scores(grid: Grid) -> None:
    """Refuse scores of which it is not said whether the highest or the lowest is best."""
    texts = {"high": "the highest score is best", "low": "the lowest score is best (p-values)"}
    choices: Choices = [(text, {"best": best}) for best, text in texts.items()]
    grid.refuse("it is not declared which scores are best", choices)
