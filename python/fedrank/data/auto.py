"""One reader for all layouts, which it recognises by the name and the first lines."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias, overload

from fedrank._random import RNG
from fedrank.data import preflib, tables
from fedrank.data._cells import SHEETS, Row, csv_rows, is_number, sheet_rows
from fedrank.data._text import PathLike, fail, first_line, open_text, rereadable
from fedrank.data.ballots import choice_columns, read_ballots
from fedrank.data.blt import BLT_HEAD
from fedrank.data.expression import read_expression
from fedrank.data.jester import read_jester
from fedrank.data.sushi import read_sushi
from fedrank.exceptions import Remedy
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

Reader: TypeAlias = Callable[[PathLike, RNG], Rankings]


@overload
def read(path: PathLike, *, rng: RNG = None, complete: Literal[True] = True) -> Rankings: ...
@overload
def read(path: PathLike, *, rng: RNG = None, complete: Literal[False]) -> PartialRankings: ...
def read(path: PathLike, *, rng: RNG = None, complete: bool = True) -> AnyRankings:
    """Read a file of any known layout.

    The suffix decides for PrefLib (soc, soi, toc, toi), Sushi (order), Jester (zip) and BLT.
    Otherwise the beginning decides: a PrefLib header; the two numbers of a BLT profile; columns
    called "1st choice" or "rank1" (ballots); a named column of names next to numbers
    (expression); a spreadsheet without a header (Jester). Any other file is a table: of orders
    if its first row is not numeric, of ranks if that row is a permutation from 0 or from 1,
    and of scores otherwise. A table of one column is refused. Call the reader of the layout
    where this guess is wrong or an option is needed.

    Parameters
    ----------
    path : str or path
        The file.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ties and gaps, as each reader states.
    complete : bool
        Whether to order ties and gaps at random. False keeps them, for PrefLib files and
        ballots only.

    Returns
    -------
    rankings : Rankings, or PartialRankings unless complete

    Raises
    ------
    fedrank.exceptions.InputError
        If the file is broken, has no known layout, or has one whose ties cannot be kept.

    Examples
    --------
    >>> read("tests/samples/small.toi", rng=1)
    Rankings: 6 rankings of 4 items (Ann, Bob, Cy, Dée)
    >>> len(read("tests/samples/ranks.csv"))
    2
    >>> read("tests/samples/cvr.csv", complete=False)
    PartialRankings: 4 rankings of 3 items (Ann, Bob, Cy)
    """
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    with rereadable(path) as file:  # it is opened twice: to find the layout, and to read
        reader = by_suffix(suffix) or by_content(file, suffix)
        if complete:
            return reader(file, rng)
        if reader not in (orders, ballots):
            fail(path, None, "ties and gaps can be kept for PrefLib files and ballots only")
        keeping = read_ballots if reader is ballots else preflib.read_preflib
        return keeping(file, complete=False)


def by_suffix(suffix: str) -> Reader | None:
    """Return the reader of a suffix; None if the suffix does not decide."""
    if suffix[1:] in (*preflib.KINDS, "cat"):
        return orders
    if suffix == ".blt":
        return ballots
    if suffix in (".parquet", ".pq"):
        return table
    if suffix == ".order":
        return lambda path, _: read_sushi(path)
    return jester if suffix == ".zip" else None


def by_content(path: PathLike, suffix: str) -> Reader:
    """Return the reader of a file, judged by its first lines."""
    if suffix in SHEETS:
        top = [*islice(sheet_rows(path, Path(path).read_bytes()), 2)]
    else:
        with open_text(path) as text:
            first, lines = first_line(text)
            if first.lstrip().startswith("#"):
                return orders
            if BLT_HEAD.fullmatch(first.strip()):
                return ballots
            top = [*islice(csv_rows(path, lines), 2)]
    blank: Row = (0, [""])
    (_, header), (_, row) = [*top, blank, blank][:2]
    if choice_columns(header):
        return ballots
    if suffix in SHEETS and all(map(is_number, header)):
        return jester
    if is_expression(header, row):
        return lambda path, rng: read_expression(path, rng=rng)
    return table


def is_expression(header: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether a table begins with a named column of names next to numbers.

    Examples
    --------
    >>> is_expression(["gene", "s1"], ["TP53", "0.5"]), is_expression(["ann", "bob"], ["0", "1"])
    (True, False)
    """
    numeric = all(map(is_number, row[1:]))
    return bool(header[0] and row[1:] and numeric and not is_number(row[0]))


def jester(path: PathLike, _: RNG) -> Rankings:
    """Read ratings; nothing is random."""
    return read_jester(path)


def orders(path: PathLike, rng: RNG) -> Rankings:
    """Read a PrefLib file."""
    return preflib.read_preflib(path, rng=rng)


def ballots(path: PathLike, rng: RNG) -> Rankings:
    """Read ballots with the default options."""
    return read_ballots(path, rng=rng)


def table(path: PathLike, rng: RNG) -> Rankings:
    """Read a table; its first row decides whether it contains ranks, orders or scores."""
    with tables.open_table(path) as lines:
        opened = tables.split_header(path, lines)
        if len(opened.header) == 1:  # any text is such a table: prose, a list of names
            fail(
                path,
                None,
                "the table has one column, so its layout is unclear",
                remedy=Remedy.NAME_LAYOUT,
            )
        return tables.from_rows(path, opened, *tables.guess(opened.first), rng=rng)
