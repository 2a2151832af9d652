"""One reader for all layouts: declared, or recognised where they are certain."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Literal, Unpack, overload

from fedrank._progress import Progress
from fedrank._progress import show as show_progress
from fedrank._random import RNG
from fedrank._validation import as_bool
from fedrank.data import preflib, tables
from fedrank.data._blocks import Ballots
from fedrank.data._cells import LOAD_UNITS, PARQUET, ROW_UNITS, suffix_of, table_rows
from fedrank.data._csv import is_comment
from fedrank.data._grid import Choices
from fedrank.data._options import (
    TABLES,
    Declared,
    ReadOptions,
    layout_of,
    refuse_table_options,
)
from fedrank.data._sheets import SHEETS, Workbook
from fedrank.data._text import PathLike, first_line, open_text, rereadable
from fedrank.data.ballots import NumberedError, choice_columns, read_ballots, read_into
from fedrank.data.blt import BLT_HEAD
from fedrank.data.expression import rank_genes, read_expression
from fedrank.data.jester import read_jester, refuse_zipped_table
from fedrank.data.sushi import read_sushi
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings

SUFFIXES = {
    **dict.fromkeys([f".{kind}" for kind in (*preflib.KINDS, "cat")], "preflib"),
    **dict.fromkeys(PARQUET, "table"),
    ".blt": "ballots",
    ".order": "sushi",
    ".zip": "jester",
}
"""Layouts that the end of a file's name decides."""


@overload
def read(
    path: PathLike,
    *,
    complete: Literal[True],
    rng: RNG = None,
    progress: bool = False,
    **options: Unpack[ReadOptions],
) -> Rankings: ...
@overload
def read(
    path: PathLike,
    *,
    complete: bool = False,
    rng: RNG = None,
    progress: bool = False,
    **options: Unpack[ReadOptions],
) -> AnyRankings: ...
def read(
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
    progress: bool = False,
    **options: Any,
) -> AnyRankings:
    """Read a file of any layout, as declared or as is certain.

    Certain without options are PrefLib (by the suffix soc, soi, toc or toi, or by its header),
    Sushi (order), Jester (zip), BLT profiles, ballots with columns such as "1st choice", tables of
    orders, and tables of ranks in which every row, or every column, is a permutation: see
    `read_table`. Everything else needs options: the error lists them for each possible reading.
    Nothing is guessed from the first row; the whole file decides.

    Parameters
    ----------
    path : str or path
        The file.
    layout : str, optional
        What the file contains: "ranks", "scores", "orders" or "long" for tables, or "preflib",
        "sushi", "jester", "ballots" or "expression".
    best : {"low", "high"}, optional
        Whether the lowest or the highest number is best. Scores need it. Alone, it means scores.
    id_columns : str or sequence of str
        Columns of a table that are no items.
    items_in : {"rows", "columns"}, optional
        Whether the items of a table are in the rows or in the columns.
    header : bool, optional
        Whether the first row of a table is a header.
    decimal : {".", ","}, optional
        The decimal sign; a point by default, unless all points may separate thousands.
    complete : bool
        Whether to order ties and gaps at random, which `source` of the result then counts.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``complete=True``.
    progress : bool
        Whether to show progress on standard error, from two seconds on.
    **options
        Options of `read_ballots` or `read_expression`; each one implies the layout.

    Returns
    -------
    rankings : Rankings, or PartialRankings if items are tied or not ranked
        The rankings; `source` says in one line what was read.

    Raises
    ------
    fedrank.exceptions.InputError
        If the file is broken, or can be read in several ways; `choices` of the error are these.

    Examples
    --------
    >>> votes = read("tests/samples/ranks.csv")
    >>> print(votes.source)
    ranks.csv: 2 rankings of 3 items (ranks, 1 = best)
    >>> read("tests/samples/scores.tsv")
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: tests/samples/scores.tsv: the numbers are not certainly ranks:
    not every row is a permutation
      line 1: ann, bob, cy
      line 2: 0.5, 2, -1
    Pass one of these:
      layout="scores", best="high": scores, the highest is best, one ranking per row
      layout="scores", best="low": scores, the lowest is best (p-values, times), one ranking per row
    >>> read("tests/samples/scores.tsv", best="high")
    PartialRankings: 2 rankings of 3 items (ann, bob, cy)
    """
    layout = layout_of(layout, options)
    declared = Declared(layout, best, id_columns, items_in, header, decimal)  # type: ignore[arg-type]
    watched = show_progress(as_bool("progress", progress))
    # It is opened twice, to find the layout and to read; a workbook is loaded before, once.
    load = LOAD_UNITS / ROW_UNITS if suffix_of(path) in SHEETS else 0
    bar = Progress(f"reading {Path(path).name}", load + 1)
    with watched, rereadable(path) as file, bar:
        bar.begin(load)
        if load:
            file = Workbook(file)  # noqa: PLW2901
        bar.advance(load)
        bar.begin(0)
        found = declared.layout or recognised(file, path)
        bar.begin(1)
        if found == "ballots" and layout is None:
            refuse_table_options(path, declared, found)
            ballots = Ballots(file, found, complete, rng)
            try:
                return read_into(ballots, None, None, "skip", keep_blank=False, declared=False)
            except NumberedError:
                with tables.open_table(file, decimal) as rows:
                    tables.refuse_numbered(file, rows, declared)
        if found in (*TABLES, "table"):
            try:
                with tables.open_table(file, decimal) as rows:
                    rankings = tables.read_rows(file, rows, declared).rankings
            except InputError as error:
                if not declared.given():
                    error.choices += expression_choices(file, error.choices)
                raise
            return tables.completed(rankings, complete, rng)
        refuse_table_options(path, declared, found)
        if found == "ballots":
            rankings = read_ballots(file, complete=complete, rng=rng, **options)
        elif found == "preflib":
            rankings = preflib.read_preflib(file, complete=complete, rng=rng)
        elif found == "expression":
            rankings = read_expression(file, rng=rng, **options)
        elif found == "jester":
            rankings = read_jester(file)
        else:
            rankings = tables.completed(read_sushi(file), complete, rng)
        return rankings


def recognised(file: PathLike, path: PathLike) -> str:
    """Return the layout that the name or the beginning of a file shows; "table" otherwise."""
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    if suffix == ".zip":
        refuse_zipped_table(file)
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix not in SHEETS:
        with open_text(file) as text:
            first, lines = first_line(text)
            if BLT_HEAD.fullmatch(first.strip()):
                return "ballots"
            comments = takewhile(lambda line: not line.strip() or is_comment(line), lines)
            if any(preflib.KEY.match(line.strip()) for line in comments):
                return "preflib"
    return "ballots" if choice_columns(header_of(file)) else "table"


def header_of(file: PathLike) -> list[str]:
    """Return the first row of a file, below its comments; empty if there is none."""
    with table_rows(file) as rows:
        return next(rows, (None, []))[1]


def expression_choices(file: PathLike, choices: Choices) -> Choices:
    """Return how scores beside a column of names can be read as gene expression."""
    offered = [options for _, options in choices]
    sides = {options.get("items_in") for options in offered if options.get("layout") == "scores"}
    ranks = any(options.get("layout") == "ranks" for options in offered)
    ids = any("id_columns" in options for options in offered)
    if sides != {"rows", "columns"} or ranks or ids:
        return []
    found: Choices = []
    for side in (None, "rows", "columns"):
        options = {"layout": "expression"} | ({"genes_in": side} if side else {})
        where = f", genes in {side}" if side else ""
        with suppress(InputError):
            with table_rows(file) as rows:
                first = islice(rows, tables.MAX_TRIED_ROWS)
                rank_genes(file, first, None, side, "index", None)
            found.append((f"gene expression, the highest is best{where}", options))
            if side is None:  # the name of the first column shows where the genes are
                break
    return found
