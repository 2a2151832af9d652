"""One file with the rankings of many parties; a column names the party of each row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data import tables
from fedrank.data._blocks import Ballots
from fedrank.data._cells import cell_text, first_row
from fedrank.data._csv import Row, comments_of
from fedrank.data._options import Declared, layout_of, one_of, refuse_table_options
from fedrank.data._text import PathLike, fail, rereadable
from fedrank.data.ballots import (
    MAX_COLUMNS_LISTED,
    NumberedError,
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
from fedrank.rankings.partial import AnyRankings
from fedrank.rankings.source import Note

LAYOUTS = ("ballots", "expression", "ranks", "orders", "scores")


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
    parties : dict of str to int
        The number of each party, in order of first appearance; filled in by `rows`.
    owners : list of int
        The number of the party of each row that counts; filled in by `rows`.
    blank : int
        Number of rows that are blank but for the party; ``counts`` of `rows` counts them itself.
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
        self.all_lines = lines
        self.parties: dict[str, int] = {}
        self.owners: list[int] = []
        self.blank = 0

    def others(self, cells: list[Any]) -> list[Any]:
        """Return the cells of a row without the party's."""
        return cells[: self.column] + cells[self.column + 1 :]

    def rows(self, counts: Callable[[Row], object] | None = None) -> Iterator[Row]:
        """Yield the header and the rows that count, and note the party of each row."""
        yield 1, self.header
        for line, cells in self.lines:
            party = cell_text(cells[self.column]) if self.column < len(cells) else ""
            row = (line, self.others(cells))
            if not any(map(cell_text, row[1])) and self.is_blank(row, party, counts):
                continue
            if not party:
                fail(
                    self.path,
                    line,
                    f"the cell in column {self.by!r} is empty",
                    remedy="enter the name of the party",
                )
            number = self.parties.setdefault(party, len(self.parties))
            if counts is None or counts(row):
                self.owners.append(number)
                yield row

    def is_blank(self, row: Row, party: str, counts: Callable[[Row], object] | None) -> bool:
        """Leave out a blank row, and count it; its party is known, if it is named."""
        if counts is not None and counts(row):
            return False
        self.blank += counts is None
        if party:
            self.parties.setdefault(party, len(self.parties))
        return True


def read_groups(
    path: PathLike,
    by: str,
    *,
    layout: str | None = None,
    best: str | None = None,
    id_columns: str | Iterable[str] = (),
    items_in: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    complete: bool = False,
    rng: RNG = None,
    **options: Any,
) -> dict[str, AnyRankings]:
    """Read a table in which one column names the party that holds each row.

    Without that column, the table must be cast vote records, an expression table with one sample
    per row, or a plain table of ranks, orders or scores with one ranking per row. The rankings of
    all parties together are those that `read` returns for the table without the column.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, spreadsheet or Parquet file with a header.
    by : str
        Name of the column.
    layout : {"ballots", "expression", "ranks", "orders", "scores"}, optional
        What the rows contain; by default recognised where it is certain, as in `read`.
    best : {"low", "high"}, optional
        Whether the lowest or the highest number is best. Scores need it.
    id_columns : str or sequence of str
        Columns that are no items.
    items_in : {"columns"}, optional
        The items are in the columns. Say it where a column of numbers that looks like an id is an
        item.
    header : {True}, optional
        The first row is a header, since it names the column.
    decimal : {".", ","}, optional
        The decimal sign; a point by default, unless all points may separate thousands.
    complete : bool
        Whether to order ties and gaps at random, which `source` of the results then counts.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``complete=True``.
    **options
        Options of `read_ballots` or `read_expression`; each one implies the layout.

    Returns
    -------
    parties : dict of str to Rankings, or to PartialRankings if items are tied or not ranked
        The rankings of each party that has any, in order of first appearance. Their `source` is
        the whole file, and counts the parties that have none.

    Raises
    ------
    fedrank.exceptions.InputError
        If there is no such column, a row names no party, or the other columns are not valid.

    Examples
    --------
    >>> parties = read_groups("tests/samples/cvr.csv", by="Precinct")
    >>> {party: len(rankings) for party, rankings in parties.items()}
    {'Orono': 2, 'Bangor': 2}
    >>> print(parties["Orono"].source)
    cvr.csv: 4 rankings of 3 items (ballots, best first; column Precinct names the clients; columns
    Cast Vote Record, Ballot Style, without a name, Three skipped; 1 blank ballot left out;
    2 overvotes dropped; 2 repeated choices dropped; 2 of its 4 rankings used)
    """
    one_of("layout", layout, LAYOUTS)
    one_of("items_in", items_in, ("columns",))
    if header is False:
        raise InputError("header must not be False: the column of the parties has a name")
    layout = layout_of(layout, options)
    declared = Declared(layout, best, id_columns, items_in, None, decimal, by)  # type: ignore[arg-type]
    with rereadable(path) as file:
        try:
            with tables.open_table(file, decimal) as lines:
                return read_parties(Grouped(file, by, lines), declared, complete, rng, options)
        except NumberedError:
            with tables.open_table(file, decimal) as lines:
                tables.refuse_numbered(file, Grouped(file, by, lines).rows(), declared)


def read_parties(
    table: Grouped, declared: Declared, complete: bool, rng: RNG, options: dict[str, Any]
) -> dict[str, AnyRankings]:
    """Read a table as declared, or as is certain, and divide its rankings among the parties."""
    layout = declared.layout
    if layout is None and choice_columns(table.header):
        layout = "ballots"
        refuse_table_options(table.path, declared, layout)
    if layout == "ballots":
        refuse_blank(options.get("keep_blank", False), complete)
        records = Ballots(table.path, "ballots", complete, rng)
        rankings = ballots(records, table, declared.layout is not None, **options)
        rows = np.arange(len(rankings))
    elif layout == "expression":
        rankings = expression(table, rng=rng, **options)
        rows = np.arange(len(rankings))
    else:
        found = tables.read_rows(table.path, table.rows(), declared)
        rankings, rows = tables.completed(found.rankings, complete, rng), found.rows
    return by_party(table, rankings, rows)


def by_party(
    table: Grouped, rankings: AnyRankings, rows: NDArray[np.intp]
) -> dict[str, AnyRankings]:
    """Divide rankings among the parties of the rows that they are from."""
    owner = np.array(table.owners)[rows]
    names = list(table.parties)
    parts = {party: np.flatnonzero(owner == number) for party, number in table.parties.items()}
    empty = Note(
        sum(not part.size for part in parts.values()), "client", "{} without a ranking left out"
    )
    source = rankings.source
    if source is not None:
        how = f"{source.how}; column {table.by.strip()} names the clients"
        blank = Note(table.blank, "blank row", "{} left out")
        comments = comments_of(table.all_lines)
        if source.kind in ("orders", "ballots"):
            comments.check_ballots(table.path)
        added = (blank, comments.note(), empty)
        notes = (*source.notes, *(note for note in added if note.count))
        source = replace(source, how=how, notes=notes)
    whole = type(rankings)._trusted(rankings.ranks, rankings.item_labels, source)
    return {party: whole[parts[party]] for party in names if parts[party].size}


def ballots(
    records: Ballots,
    table: Grouped,
    declared: bool,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
) -> AnyRankings:
    """Read cast vote records; blank ones belong to no party, unless ``keep_blank`` is True."""
    stop = stops(overvote)
    columns = find_columns(table.path, 1, table.header, choices)

    def counts(row: Row) -> bool:
        made, overvotes, unnamed = valid(table.path, *row, columns, stop, items or ())
        if made or keep_blank:
            return True
        records.blank += 1
        records.overvotes += overvotes
        records.unnamed += unnamed
        return False

    rows = table.rows(counts)
    return read_records(records, rows, items, choices, stop, keep_blank, declared)


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
