"""Gene expression tables: each sample ranks the genes."""

import os
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._blocks import Blocks, by_scores
from fedrank.data._cells import Filled, first_repeat, first_row, numbers, table_rows
from fedrank.data._csv import Row
from fedrank.data._text import PathLike, fail, shown_name
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.complete import Rankings
from fedrank.rankings.source import Note, Source

GENE_WORDS = ("gene", "symbol", "ensembl", "entrez", "hugo", "probe")
TIES = {"index": "ties of {} broken by gene order", "random": "ties of {} broken at random"}
SAMPLE_WORDS = ("sample", "file", "patient", "barcode", "aliquot", "case", "cell")


def read_expression(
    path: PathLike,
    *,
    genes: PathLike | Iterable[str] | None = None,
    genes_in: str | None = None,
    ties: str = "index",
    rng: RNG = None,
) -> Rankings:
    """Read an expression table and rank the genes of each sample, the highest value first.

    Parameters
    ----------
    path : str or path
        A TSV or CSV, perhaps gzipped, or a spreadsheet: a header, and a first column of names.
    genes : sequence of str, or path, optional
        The genes to rank, in the order of the items; or a file of them: one per line, or a
        table with a column "Symbol". By default all genes, in the table's order.
    genes_in : {"rows", "columns"}, optional
        Where the genes are. By default where more of ``genes`` are found. Without ``genes``,
        the name of the first column decides ("gene", "symbol": rows; "sample", "file": columns).
    ties : {"index", "random", "error"}
        Whether equal values are ordered by item, ordered at random, or an error. The `source` of
        the result counts the rankings with ties.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``ties="random"``.

    Returns
    -------
    rankings : Rankings
        One row per sample, in the table's order.

    Raises
    ------
    fedrank.exceptions.InputError
        If a value is not a number, a gene is missing or repeated, or it is unclear where the
        genes are.

    Examples
    --------
    >>> read_expression("tests/samples/expression.tsv").ranks
    array([[0, 2, 1],
           [1, 0, 2]], dtype=int32)
    >>> read_expression("tests/samples/expression.tsv", genes=["EGFR", "TP53"]).ranks
    array([[1, 0],
           [0, 1]], dtype=int32)
    """
    with table_rows(path) as lines:
        return rank_genes(path, lines, genes, genes_in, ties, rng)


def rank_genes(
    path: PathLike,
    lines: Iterator[Row],
    genes: PathLike | Iterable[str] | None,
    genes_in: str | None,
    ties: str,
    rng: RNG,
) -> Rankings:
    """Rank the genes of the samples of a table."""
    if genes_in not in (None, "rows", "columns"):
        raise InputError(f'genes_in must be "rows" or "columns", not {genes_in!r}', value=genes_in)
    wanted = None if genes is None else gene_list(genes)
    blocks, tied = Blocks(path, by_scores(ties, rng)), 0
    names: list[str] = []
    filled = Filled(lines)
    corner, columns, rows = split_header(path, filled)
    side = genes_in or (side_by_corner(path, corner) if wanted is None else None)
    if side == "columns" or (wanted is not None and not side and set(wanted) <= set(columns)):
        # A row is a sample, and is ranked as it is read.
        wanted = columns if wanted is None else wanted
        chosen = positions(path, wanted, columns)
        for name, values in rows:
            names.append(name)
            tied += has_ties(values[chosen])
            blocks.add(values[chosen])
        if side is None:
            side_by_genes(path, wanted, columns, names)
    else:
        table = array("d")
        for name, values in rows:
            names.append(name)
            table.frombytes(values.tobytes())
        matrix = np.frombuffer(table).reshape(len(names), len(columns))
        if wanted is None or (side or side_by_genes(path, wanted, columns, names)) == "rows":
            columns, matrix = names, matrix.T
        wanted = columns if wanted is None else wanted
        chosen = positions(path, wanted, columns)
        for values in matrix:
            tied += has_ties(values[chosen])
            blocks.add(values[chosen])
    notes = (*filled.notes(), Note(tied, "ranking", TIES.get(ties, "")))
    source = Source(
        files=(str(shown_name(path)),),
        rankings=blocks.rows,
        items=len(wanted),
        kind="scores",
        how="expression, highest best",
        notes=tuple(note for note in notes if note.count),
    )
    return Rankings._trusted(blocks.ranks(), tuple(wanted), source)


def has_ties(values: NDArray[np.float64]) -> bool:
    """Return whether a value occurs twice.

    Examples
    --------
    >>> has_ties(np.array([1.0, 2.0, 1.0]))
    True
    """
    return len(np.unique(values)) < len(values)


def split_header(
    path: PathLike, lines: Iterator[Row]
) -> tuple[str, list[str], Iterator[tuple[str, NDArray[np.float64]]]]:
    """Return the name of the first column, the other names, and the rows: a name and values."""
    first, header = first_row(path, lines)
    row = next(lines, (first, []))
    corner, columns = (header or [""])[0], header[1:]
    if len(row[1]) == len(header) + 1:  # R leaves out the name of the first column
        corner, columns = "", header
    if not columns or not row[1]:
        fail(path, first, "an expression table has a header, a column of names, and values")
    return corner, columns, named_rows(path, chain([row], lines), len(columns) + 1)


def named_rows(
    path: PathLike, lines: Iterator[Row], width: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the name and the values of each row."""
    for line, cells in lines:
        if len(cells) != width:
            fail(path, line, f"the row has {len(cells)} columns, not {width}")
        yield cells[0], numbers(path, line, cells[1:])


def positions(path: PathLike, wanted: list[str], there: list[str]) -> NDArray[np.intp]:
    """Return the position of each wanted gene among the genes of the table."""
    used = set(wanted)
    twice = first_repeat([name for name in there if name in used]) or first_repeat(wanted)
    if twice is not None:
        fail(path, None, f"gene {twice!r} occurs twice", value=twice, remedy="keep one of the two")
    index = {name: i for i, name in enumerate(there)}
    missing = [name for name in wanted if name not in index]
    if missing:
        fail(
            path,
            None,
            f"{len(missing)} of {len(wanted)} genes are not in the table, {missing[0]!r} first",
            value=missing[0],
            remedy="leave them out of the list of genes",
        )
    return np.array([index[name] for name in wanted], dtype=np.intp)


def side_by_genes(path: PathLike, wanted: list[str], columns: list[str], rows: list[str]) -> str:
    """Return where more of the genes are found: "rows" or "columns"."""
    across, down = (len(set(wanted).intersection(names)) for names in (columns, rows))
    if across == down:
        fail(
            path,
            None,
            f"{across} of the genes are in the rows, and as many are in the columns",
            remedy=Remedy.GENES_IN,
        )
    return "columns" if across > down else "rows"


def side_by_corner(path: PathLike, corner: str) -> str:
    """Return where the genes are, judged by the name of the first column."""
    word = corner.lower()
    if any(known in word for known in GENE_WORDS):
        return "rows"
    if any(known in word for known in SAMPLE_WORDS):
        return "columns"
    return fail(
        path,
        1,
        f"the name of the first column, {corner!r}, does not show whether the genes are in the "
        "rows or in the columns",
        value=corner,
        remedy=Remedy.GENES_IN,
    )


def gene_list(genes: PathLike | Iterable[str]) -> list[str]:
    """Return the names of genes, from a file or as given."""
    if not isinstance(genes, str | os.PathLike):
        names = [str(gene) for gene in genes]
        if not names:
            raise InputError("genes must name at least one gene")
        return names
    with table_rows(genes) as rows:
        table = [cells for _, cells in Filled(rows)]
    if not table:
        fail(genes, None, "the file contains no gene")
    header = [cell.lower() for cell in table[0]]
    if "symbol" not in header:
        return [cells[0] for cells in table]
    column = header.index("symbol")
    return [cells[column] for cells in table[1:] if len(cells) > column]
