"""Gene expression tables: every sample ranks the genes."""

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._files import PathLike, Row, fail, first_repeat, numbers, table_rows
from fedrank.rankings import Rankings

GENE_WORDS = ("gene", "symbol", "ensembl", "entrez", "hugo", "probe")
SAMPLE_WORDS = ("sample", "file", "patient", "barcode", "aliquot", "case", "cell")


def read_expression(
    path: PathLike,
    genes: PathLike | Iterable[str] | None = None,
    genes_in: str | None = None,
    ties: str = "index",
    rng: RNG = None,
) -> Rankings:
    """Read an expression table and rank the genes of each sample, the highest first.

    Parameters
    ----------
    path : str or path
        A TSV or CSV, perhaps gzipped, or a spreadsheet: a header, and a first column of names.
    genes : sequence of str, or path, optional
        The genes to rank, in the order that the items shall have; or a file of them: one a
        line, or a table with a column "Symbol". By default all, in the table's order.
    genes_in : {"rows", "columns"}, optional
        Where the genes are. By default where more of ``genes`` are found; without these,
        the name of the first column tells ("gene", "symbol": rows; "sample", "file": columns).
    ties : {"index", "random", "error"}
        Equal expressions are ordered as the items are, at random, or refused.
    rng : None, int or numpy.random.Generator
        Where random ties come from.

    Returns
    -------
    rankings : Rankings
        One row a sample, in the table's order.

    Raises
    ------
    ValueError
        If a value is not a number, a gene is missing or doubled, or the side is unclear.

    Examples
    --------
    >>> read_expression("tests/samples/expression.tsv").ranks
    array([[0, 2, 1],
           [1, 0, 2]], dtype=int32)
    >>> read_expression("tests/samples/expression.tsv", genes=["EGFR", "TP53"]).ranks
    array([[1, 0],
           [0, 1]], dtype=int32)
    """
    if genes_in not in (None, "rows", "columns"):
        raise ValueError(f'genes_in must be "rows" or "columns", not {genes_in!r}')
    return rank_genes(path, table_rows(path), genes, genes_in, ties, rng)


def rank_genes(
    path: PathLike,
    lines: Iterator[Row],
    genes: PathLike | Iterable[str] | None = None,
    genes_in: str | None = None,
    ties: str = "index",
    rng: RNG = None,
) -> Rankings:
    """Rankings of a table's samples."""
    corner, columns, rows, values = read_matrix(path, lines)
    wanted = None if genes is None else gene_list(genes)
    side = genes_in or genes_side(path, corner, columns, rows, wanted)
    if side == "rows":
        columns, values = rows, values.T
    wanted = columns if wanted is None else wanted
    used = set(wanted)
    twice = first_repeat([name for name in columns if name in used]) or first_repeat(wanted)
    if twice is not None:
        fail(path, None, f"gene {twice!r} is there twice: keep one of them")
    index = {name: i for i, name in enumerate(columns)}
    missing = [name for name in wanted if name not in index]
    if missing:
        fail(
            path,
            None,
            f"{len(missing)} of {len(wanted)} genes are not in it, {missing[0]!r} first: "
            "leave them out of genes",
        )
    chosen = values[:, [index[name] for name in wanted]]
    try:
        return Rankings.from_scores(chosen, wanted, ties, rng)
    except ValueError as error:
        fail(path, None, str(error))


def read_matrix(
    path: PathLike, lines: Iterator[Row]
) -> tuple[str, list[str], list[str], NDArray[np.float64]]:
    """Name of the first column, column names, row names and values."""
    first, header = next(lines, (1, []))
    corner, columns = (header or [""])[0], header[1:]
    names: list[str] = []
    values = []
    for line, cells in lines:
        if not names and len(cells) == len(header) + 1:  # as R writes it: no corner
            corner, columns = "", header
        if len(cells) != len(columns) + 1:
            fail(path, line, f"{len(cells)} columns where {len(columns) + 1} are due")
        names.append(cells[0])
        values.append(numbers(path, line, cells[1:]))
    if not values or not columns:
        fail(path, first, "a header, a column of names and at least one value are needed")
    return corner, columns, names, np.array(values)


def genes_side(
    path: PathLike, corner: str, columns: list[str], rows: list[str], wanted: list[str] | None
) -> str:
    """Tell whether the genes are in the rows or in the columns."""
    if wanted is not None:
        across, down = (len(set(wanted).intersection(names)) for names in (columns, rows))
        if across == down:
            fail(path, None, f"{across} of the genes are in its rows and as many in its columns")
        return "columns" if across > down else "rows"
    word = corner.lower()
    if any(known in word for known in GENE_WORDS):
        return "rows"
    if any(known in word for known in SAMPLE_WORDS):
        return "columns"
    return fail(
        path,
        1,
        f"are the genes in the rows or in the columns? The first column is called {corner!r}, "
        'which does not tell: pass genes_in="rows" or genes_in="columns"',
    )


def gene_list(genes: PathLike | Iterable[str]) -> list[str]:
    """Names of genes, from a file or as given."""
    if not isinstance(genes, str | os.PathLike):
        names = [str(gene) for gene in genes]
        if not names:
            raise ValueError("genes must name at least one gene")
        return names
    table = [cells for _, cells in table_rows(genes)]
    header = [cell.lower() for cell in table[0]]
    if "symbol" not in header:
        return [cells[0] for cells in table]
    column = header.index("symbol")
    return [cells[column] for cells in table[1:] if len(cells) > column]
