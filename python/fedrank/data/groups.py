"""One file with the rankings of many parties; a column names the party of each row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal, overload

from fedrank._random import RNG
from fedrank.data import tables
from fedrank.data._blocks import Ballots, Kind
from fedrank.data._cells import Row, cell_text, first_row
from fedrank.data._text import PathLike, fail
from fedrank.data.auto import is_expression
from fedrank.data.ballots import (
    MAX_COLUMNS_LISTED,
    choice_columns,
    find_columns,
    read_records,
    refuse_blank,
    stops,
    valid,
)
from fedrank.data.expression import GENE_WORDS, rank_genes
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import PartialRankings

LAYOUTS = ("ballots", "expression", *tables.KINDS)


class Grouped:
    """A table without the column that names the parties.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    by : str
        Name of the column.
    lines : iterator of Row
        The header and the rows.

    Attributes
    ----------
    parties : dict of str to list of int
        Row numbers of each party, filled in by `rows`.
    """

    def __init__(self, path: PathLike, by: str, lines: Iterator[Row]) -> None:
        _, names = first_row(path, lines)
        if by.strip() not in names:
            there = ", ".join(filter(None, names[:MAX_COLUMNS_LISTED]))
            fail(path, None, f"there is no column {by!r}; the columns are {there}", value=by)
        first = next(lines, None)
        if first is None or len(names) == 1:
            fail(path, None, "the table has no rows below the header, or no other column")
        self.path = path
        self.by = by
        self.column = column = names.index(by.strip())
        if len(first[1]) == len(names) + 1:  # R leaves out the name of the first column
            self.column += 1
        self.header = names[:column] + names[column + 1 :]
        self.first = self.others(first[1])
        self.lines = chain([first], lines)
        self.parties: dict[str, list[int]] = {}

    def others(self, cells: list[Any]) -> list[Any]:
        """Return the cells of a row without the party's."""
        return cells[: self.column] + cells[self.column + 1 :]

    def rows(self, counts: Callable[[Row], object] | None = None) -> Iterator[Row]:
        """Yield the header and the rows that count, and note the party of each row."""
        yield 1, self.header
        number = 0
        for line, cells in self.lines:
            party = cell_text(cells[self.column]) if self.column < len(cells) else ""
            if not party:
                fail(
                    self.path,
                    line,
                    f"the cell in column {self.by!r} is empty",
                    remedy="enter the name of the party",
                )
            row = (line, self.others(cells))
            if counts is None or counts(row):
                self.parties.setdefault(party, []).append(number)
                number += 1
                yield row


@overload
def read_groups(
    path: PathLike,
    by: str,
    *,
    layout: str | None = None,
    rng: RNG = None,
    complete: Literal[True] = True,
    **options: Any,
) -> dict[str, Rankings]: ...
@overload
def read_groups(
    path: PathLike,
    by: str,
    *,
    layout: str | None = None,
    rng: RNG = None,
    complete: Literal[False],
    **options: Any,
) -> dict[str, PartialRankings]: ...
def read_groups(
    path: PathLike,
    by: str,
    *,
    layout: str | None = None,
    rng: RNG = None,
    complete: bool = True,
    **options: Any,
) -> dict[str, Rankings] | dict[str, PartialRankings]:
    """Read a table in which one column names the party that holds each row.

    Without that column, the table must be cast vote records, an expression table with one sample
    per row, or a plain table of ranks, orders or scores. The rankings of all parties together
    are those that the layout's own reader returns for the table without the column.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, spreadsheet or Parquet file with a header.
    by : str
        Name of the column.
    layout : {"ballots", "expression", "ranks", "orders", "scores"}, optional
        What the rows contain; by default guessed as in `read`.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ties and gaps.
    complete : bool
        Whether to order ties and gaps at random. False keeps them, for ballots only.
    **options
        Options of `read_ballots`, `read_expression` or `read_table`, according to the layout.

    Returns
    -------
    parties : dict of str to Rankings, or to PartialRankings unless complete
        The rankings of each party that has any, in order of first appearance.

    Raises
    ------
    fedrank.exceptions.InputError
        If there is no such column, a row names no party, or the other columns are not valid.

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
                fail(path, None, f"ties and gaps can be kept for ballots only, not for {layout}")
            refuse_blank(options.get("keep_blank", False))
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
            raise InputError(
                f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}", value=layout
            )
    return {party: rankings[mine] for party, mine in table.parties.items()}


def guess(table: Grouped) -> tuple[str, dict[str, Any]]:
    """Return the layout and its options, judged by the header and the first row."""
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
    """Read cast vote records; blank ones belong to no party, unless ``keep_blank`` is True."""
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
    """Rank the genes of the samples, one sample per row."""
    gene_rows = any(word in table.header[0].lower() for word in GENE_WORDS)
    if genes_in == "rows" or (genes_in is None and gene_rows):
        fail(
            table.path,
            1,
            "the genes are in the rows, but parties hold samples, so these must be in the rows",
            remedy="transpose the table",
        )
    return rank_genes(table.path, table.rows(), genes, genes_in or "columns", ties, rng)
