"""One file of many parties: a column says whose each ranking is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal, overload

from fedrank._random import RNG
from fedrank.data import tables
from fedrank.data._files import Ballots, Kind, PathLike, Row, cell_text, fail, first_row
from fedrank.data.auto import is_expression
from fedrank.data.ballots import (
    BLANK_IS_EMPTY,
    choice_columns,
    find_columns,
    read_records,
    stops,
    valid,
)
from fedrank.data.expression import GENE_WORDS, rank_genes
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import PartialRankings

LAYOUTS = ("ballots", "expression", *tables.KINDS)


class Grouped:
    """A table without the column that names the parties, whose rows are noted as they pass.

    Parameters
    ----------
    path : str or path
        The file to complain of.
    by : str
        The column's name.
    lines : iterator of Row
        The header and the rows.
    """

    def __init__(self, path: PathLike, by: str, lines: Iterator[Row]) -> None:
        _, names = first_row(path, lines)
        if by.strip() not in names:
            there = ", ".join(filter(None, names[:12]))
            fail(path, None, f"there is no column {by!r}; there are {there}")
        first = next(lines, None)
        if first is None or len(names) == 1:
            fail(path, None, "there is no row under the header, or no other column")
        self.path = path
        self.by = by
        self.column = column = names.index(by.strip())
        if len(first[1]) == len(names) + 1:  # as R writes it: no corner
            self.column += 1
        self.header = names[:column] + names[column + 1 :]
        self.first = self.others(first[1])
        self.lines = chain([first], lines)
        self.parties: dict[str, list[int]] = {}

    def others(self, cells: list[Any]) -> list[Any]:
        """Cells of a row but the party's."""
        return cells[: self.column] + cells[self.column + 1 :]

    def rows(self, counts: Callable[[Row], object] | None = None) -> Iterator[Row]:
        """Header, and the rows that count, whose numbers go to their parties."""
        yield 1, self.header
        number = 0
        for line, cells in self.lines:
            party = cell_text(cells[self.column]) if self.column < len(cells) else ""
            if not party:
                fail(self.path, line, f"the cell under {self.by!r} is empty: name a party in it")
            row = (line, self.others(cells))
            if counts is None or counts(row):
                self.parties.setdefault(party, []).append(number)
                number += 1
                yield row


@overload
def read_groups(
    path: PathLike,
    by: str,
    layout: str | None = None,
    rng: RNG = None,
    *,
    complete: Literal[True] = True,
    **options: Any,
) -> dict[str, Rankings]: ...
@overload
def read_groups(
    path: PathLike,
    by: str,
    layout: str | None = None,
    rng: RNG = None,
    *,
    complete: Literal[False],
    **options: Any,
) -> dict[str, PartialRankings]: ...
def read_groups(
    path: PathLike,
    by: str,
    layout: str | None = None,
    rng: RNG = None,
    *,
    complete: bool = True,
    **options: Any,
) -> dict[str, Rankings] | dict[str, PartialRankings]:
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
    complete : bool
        Whether to fill them. False keeps them, of ballots.
    **options
        Those of `read_ballots`, `read_expression` or `read_table`, whichever the layout needs.

    Returns
    -------
    parties : dict of str to Rankings, or to PartialRankings unless complete
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
    with tables.open_table(path) as lines:
        table = Grouped(path, by, lines)
        if layout is None:
            layout, found = guess(table)
            options = found | options
        if not complete:
            if layout != "ballots":
                fail(path, None, f"ties and gaps are kept of ballots only, and this is {layout}")
            if options.get("keep_blank"):
                raise ValueError(BLANK_IS_EMPTY)
            partial = ballots(Ballots(path, PartialRankings, rng), table, **options)
            return {party: partial[mine] for party, mine in table.parties.items()}
        if layout == "ballots":
            rankings = ballots(Ballots(path, Rankings, rng), table, **options)
        elif layout == "expression":
            rankings = expression(table, rng=rng, **options)
        elif layout in tables.KINDS:
            opened = tables.split_header(path, table.rows())
            rankings = tables.from_rows(path, opened, layout, rng=rng, **options)
        else:
            raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    return {party: rankings[mine] for party, mine in table.parties.items()}


def guess(table: Grouped) -> tuple[str, dict[str, Any]]:
    """Tell the layout, and its options, by the header and the first row."""
    first = [cell_text(cell) for cell in table.first]
    if choice_columns(table.header):
        return "ballots", {}
    if first and is_expression(table.header, first):
        return "expression", {}
    indexed = table.header[:1] == [""] and len(table.header) > 1
    kind, base = tables.guess(first[indexed:])
    return kind, {"base": base}


def ballots(
    records: Ballots[Kind],
    table: Grouped,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
) -> Kind:
    """Read cast vote records; a blank one is nobody's, unless it is to be kept."""
    stop = stops(overvote)
    columns = find_columns(table.path, 1, table.header, choices)
    rows = table.rows(lambda row: keep_blank or valid(table.path, *row, columns, stop))
    return read_records(records, rows, items, choices, stop, keep_blank)


def expression(
    table: Grouped,
    genes: PathLike | Iterable[str] | None = None,
    genes_in: str | None = None,
    ties: str = "index",
    rng: RNG = None,
) -> Rankings:
    """Rank the genes of the samples in the rows."""
    gene_rows = any(word in table.header[0].lower() for word in GENE_WORDS)
    if genes_in == "rows" or (genes_in is None and gene_rows):
        fail(
            table.path,
            1,
            "the genes are in the rows, and a party holds samples: turn the table over",
        )
    return rank_genes(table.path, table.rows(), genes, genes_in or "columns", ties, rng)
