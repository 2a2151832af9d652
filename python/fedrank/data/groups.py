"""One file of many parties: a column says whose each ranking is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fedrank._random import RNG
from fedrank.data import tables
from fedrank.data._files import PathLike, Row, cell_text, fail, table_rows
from fedrank.data.auto import is_expression
from fedrank.data.ballots import choice_columns, named, read_records, valid
from fedrank.data.expression import GENE_WORDS, rank_genes
from fedrank.rankings import Rankings

LAYOUTS = ("ballots", "expression", *tables.KINDS)


class Grouped(NamedTuple):
    """A table without the column that names the parties, and what stood in it."""

    header: list[str]
    lines: list[int]
    rows: list[list[Any]]
    parties: list[str]


def read_groups(
    path: PathLike, by: str, layout: str | None = None, rng: RNG = None, **options: Any
) -> dict[str, Rankings]:
    """Read a table of which one column names the party that holds each row.

    Without that column it must be cast vote records, an expression table with the samples in
    its rows, or a plain table of ranks, orders or scores. All parties' rankings together are
    those that the layout's own reader gives for the table without the column.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, spreadsheet or Parquet file with a header.
    by : str
        The column's name.
    layout : {"ballots", "expression", "ranks", "orders", "scores"}, optional
        What the rows hold; by default guessed as in `read`.
    rng : None, int or numpy.random.Generator
        Where ties and gaps are filled from.
    **options
        Those of `read_ballots`, `read_expression` or `read_table`, whichever the layout needs.

    Returns
    -------
    parties : dict of str to Rankings
        The rankings of each party that has any, in order of first appearance.

    Raises
    ------
    ValueError
        If there is no such column, a row names no party, or the rest cannot be read.

    Examples
    --------
    >>> parties = read_groups("tests/samples/cvr.csv", by="Precinct", rng=1)
    >>> {party: len(rankings) for party, rankings in parties.items()}
    {'Orono': 2, 'Bangor': 2}
    """
    table = take_out(path, by)
    if layout is None:
        layout, found = guess(table)
        options = found | options
    if layout == "ballots":
        rankings, parties = ballots(path, table, rng=rng, **options)
    elif layout == "expression":
        rankings, parties = expression(path, table, rng, **options), table.parties
    elif layout in tables.KINDS:
        loaded = tables.without_index(path, tables.even(path, numbered(table)))
        rankings = tables.from_rows(path, loaded, layout, rng=rng, **options)
        parties = table.parties
    else:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    rows: dict[str, list[int]] = {}
    for row, party in enumerate(parties):
        rows.setdefault(party, []).append(row)
    return {party: rankings[mine] for party, mine in rows.items()}


def take_out(path: PathLike, by: str) -> Grouped:
    """Read a table and split off the column that names the parties."""
    if tables.is_parquet(path):
        header, _, rows = tables.read_parquet(path)
        lines = list(range(1, len(rows) + 1))
    else:
        (_, header), *found = table_rows(path)
        lines, rows = [line for line, _ in found], [cells for _, cells in found]
    if by.strip() not in header:
        there = ", ".join(filter(None, header[:12]))
        fail(path, None, f"there is no column {by!r}; there are {there}")
    if not rows or len(header) == 1:
        fail(path, None, "there is no row under the header, or no other column")
    column = header.index(by.strip())
    parties = [cell_text(row[column]) if column < len(row) else "" for row in rows]
    if "" in parties:
        fail(path, lines[parties.index("")], f"the cell under {by!r} is empty: name a party in it")
    others = [[*row[:column], *row[column + 1 :]] for row in rows]
    return Grouped([*header[:column], *header[column + 1 :]], lines, others, parties)


def guess(table: Grouped) -> tuple[str, dict[str, Any]]:
    """Tell the layout, and its options, by the header and the first row."""
    first = [cell_text(cell) for cell in table.rows[0]]
    if choice_columns(table.header):
        return "ballots", {}
    if first and is_expression(table.header, first):
        return "expression", {}
    indexed = table.header[:1] == [""] and len(table.header) > 1
    kind, base = tables.guess(first[indexed:])
    return kind, {"base": base}


def numbered(table: Grouped) -> Iterator[Row]:
    """Lines of the table, the header's first."""
    yield 1, table.header
    yield from zip(table.lines, table.rows, strict=True)


def ballots(
    path: PathLike,
    table: Grouped,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    rng: RNG = None,
) -> tuple[Rankings, list[str]]:
    """Read cast vote records, and the parties of those that count."""
    stop, header = overvote == "stop", table.header
    rankings = read_records(path, numbered(table), items, choices, stop, keep_blank, rng)
    columns = choice_columns(header) if choices is None else named(path, 1, header, choices)
    ballots = zip(table.parties, table.rows, strict=True)
    return rankings, [
        party for party, cells in ballots if keep_blank or valid(cells, columns, stop)
    ]


def expression(
    path: PathLike,
    table: Grouped,
    rng: RNG,
    genes: PathLike | Iterable[str] | None = None,
    genes_in: str | None = None,
    ties: str = "index",
) -> Rankings:
    """Rank the genes of the samples in the rows."""
    gene_rows = any(word in table.header[0].lower() for word in GENE_WORDS)
    if genes_in == "rows" or (genes_in is None and gene_rows):
        fail(path, 1, "the genes are in the rows, and a party holds samples: turn the table over")
    return rank_genes(path, numbered(table), genes, "columns", ties, rng)
