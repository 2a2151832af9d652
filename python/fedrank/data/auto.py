"""One reader for all: looks at the name and the first lines."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias, overload

from fedrank._random import RNG
from fedrank.data import preflib, tables
from fedrank.data._files import (
    SHEETS,
    PathLike,
    Row,
    csv_rows,
    fail,
    first_line,
    is_number,
    open_text,
    rereadable,
    sheet_rows,
)
from fedrank.data.ballots import BLT_HEAD, choice_columns, read_ballots
from fedrank.data.expression import read_expression
from fedrank.data.jester import read_jester
from fedrank.data.sushi import read_sushi
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

Reader: TypeAlias = Callable[[PathLike, RNG], Rankings]


@overload
def read(path: PathLike, rng: RNG = None, complete: Literal[True] = True) -> Rankings: ...
@overload
def read(path: PathLike, rng: RNG = None, *, complete: Literal[False]) -> PartialRankings: ...
def read(path: PathLike, rng: RNG = None, complete: bool = True) -> AnyRankings:
    """Read a file of any known layout.

    The suffix decides for PrefLib (soc, soi, toc, toi), Sushi (order), Jester (zip) and BLT.
    Otherwise the beginning does: a PrefLib header; the two numbers of a BLT profile; columns
    called "1st choice" or "rank1" (ballots); a named column of names beside numbers
    (expression); a spreadsheet without a header (Jester). All else is a table: of orders if
    its first row is not of numbers, of ranks if that is a permutation from 0 or from 1, and
    of scores otherwise; one of a single column is refused. Call the layout's own reader where
    this guess is wrong or an option is wanted.

    Parameters
    ----------
    path : str or path
        The file.
    rng : None, int or numpy.random.Generator
        Where ties and gaps are filled from, as each reader states.
    complete : bool
        Whether to fill them. False keeps them, of PrefLib files and ballots.

    Returns
    -------
    rankings : Rankings, or PartialRankings unless complete

    Raises
    ------
    ValueError
        If the file is broken, or of no known layout, or one whose ties cannot be kept.

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
    with rereadable(path) as file:  # opened to look at, and once more to read
        reader = by_suffix(suffix) or by_content(file, suffix)
        if complete:
            return reader(file, rng)
        if reader not in (preflib.read_preflib, ballots):
            fail(path, None, "ties and gaps are kept of PrefLib files and ballots only")
        keeping = read_ballots if reader is ballots else preflib.read_preflib
        return keeping(file, complete=False)


def by_suffix(suffix: str) -> Reader | None:
    """Reader of a suffix that leaves no doubt."""
    if suffix[1:] in (*preflib.KINDS, "cat"):
        return preflib.read_preflib
    if suffix == ".blt":
        return ballots
    if suffix in (".parquet", ".pq"):
        return table
    if suffix == ".order":
        return lambda path, _: read_sushi(path)
    return jester if suffix == ".zip" else None


def by_content(path: PathLike, suffix: str) -> Reader:
    """Reader of a file that begins like this one."""
    if suffix in SHEETS:
        top = [*islice(sheet_rows(path, Path(path).read_bytes()), 2)]
    else:
        with open_text(path) as text:
            first, lines = first_line(text)
            if first.lstrip().startswith("#"):
                return preflib.read_preflib
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
    """Tell whether a table begins with a named column of names beside numbers.

    Examples
    --------
    >>> is_expression(["gene", "s1"], ["TP53", "0.5"]), is_expression(["ann", "bob"], ["0", "1"])
    (True, False)
    """
    numeric = all(map(is_number, row[1:]))
    return bool(header[0] and row[1:] and numeric and not is_number(row[0]))


def jester(path: PathLike, _: RNG) -> Rankings:
    """Read ratings, where nothing is random."""
    return read_jester(path)


def ballots(path: PathLike, rng: RNG) -> Rankings:
    """Read ballots by the rules that go without saying."""
    return read_ballots(path, rng=rng)


def table(path: PathLike, rng: RNG) -> Rankings:
    """Read a table whose first row tells what it holds."""
    with tables.open_table(path) as lines:
        opened = tables.split_header(path, lines)
        if len(opened.header) == 1:  # anything is one: lines of prose, a list of names
            fail(path, None, "it has one column: if it ranks one item, name its layout (--layout)")
        return tables.from_rows(path, opened, *tables.guess(opened.first), rng=rng)
