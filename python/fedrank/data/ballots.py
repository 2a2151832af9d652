"""Ranked ballots: cast vote records (a row a ballot) and BLT profiles (a line, counted)."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._files import (
    SHEETS,
    Ballots,
    Kind,
    PathLike,
    Row,
    cell_text,
    count,
    csv_rows,
    fail,
    first_line,
    first_repeat,
    first_row,
    numbered,
    open_text,
    sheet_rows,
)
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

BLANK = ("", "undervote", "skipped", "blank")
OVERVOTE = "overvote"
END = -1
CHOICE = re.compile(r"\b(\d+)(?:st|nd|rd|th)\s+choice\b|^(?:rank|choice)\s*_?(\d+)$", re.I | re.A)
BLT_HEAD = re.compile(r"\d+\s+\d+", re.A)
MOST_CANDIDATES = 1 << 20

BLANK_IS_EMPTY = "a blank ballot ranks nothing: leave out keep_blank, or complete=False"


@overload
def read_ballots(
    path: PathLike,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    rng: RNG = None,
    complete: Literal[True] = True,
) -> Rankings: ...
@overload
def read_ballots(
    path: PathLike,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    rng: RNG = None,
    *,
    complete: Literal[False],
) -> PartialRankings: ...
def read_ballots(
    path: PathLike,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    rng: RNG = None,
    complete: bool = True,
) -> AnyRankings:
    """Read ranked ballots, partial or spoilt in places.

    Two layouts are told apart by the first line. A cast vote record (spreadsheet or CSV) has
    a header and a ballot a row; its choices are the columns called "1st Choice", "rank1",
    "Choice 2" or the like, and other columns are ignored. A BLT profile begins with the
    numbers of candidates and seats; then come lines ``count 3 1 2 0``, a line ``0`` and the
    names, whatever the file is called; ``3=1`` is a tie.

    Blanks ("undervote", "skipped", nothing), overvotes and second mentions of a candidate
    are dropped. The candidates left over, and ties, are ordered uniformly at random, for
    each ballot on its own, also when a line counts for many, unless they shall stay as they are.

    Parameters
    ----------
    path : str or path
        The file.
    items : sequence of str, optional
        The candidates of a cast vote record; by default those named in it, sorted. Give
        them where several files must agree.
    choices : sequence of str, optional
        The columns that hold the choices, first choice first, if their names do not tell.
    overvote : {"skip", "stop"}
        Whether an overvote is passed over, or ends the ballot.
    keep_blank : bool
        Whether a ballot without any valid choice counts, as an entirely random ranking.
    rng : None, int or numpy.random.Generator
        Where the completions come from.
    complete : bool
        Whether to order them. False keeps ties tied and candidates left over unranked; a blank
        ballot then cannot be kept.

    Returns
    -------
    rankings : Rankings, or PartialRankings unless complete
        One row a ballot.

    Raises
    ------
    ValueError
        If a line cannot be understood, or no column holds choices.

    Examples
    --------
    >>> read_ballots("tests/samples/cvr.csv", rng=1)
    Rankings: 4 rankings of 3 items (Ann, Bob, Cy)
    >>> read_ballots("tests/samples/profile.csv", rng=1)
    Rankings: 7 rankings of 3 items (Ann, Bob "B" Bee, Cy, jr.)
    >>> read_ballots("tests/samples/cvr.csv", complete=False).ranks[-1]
    array([-1, -1,  0], dtype=int32)
    """
    if complete:
        ballots = Ballots(path, Rankings, rng)
        return read_into(ballots, items, choices, overvote, keep_blank)
    if keep_blank:
        raise ValueError(BLANK_IS_EMPTY)
    partial = Ballots(path, PartialRankings, rng)
    return read_into(partial, items, choices, overvote, keep_blank)


def read_into(
    ballots: Ballots[Kind],
    items: Sequence[str] | None,
    choices: Sequence[str] | None,
    overvote: str,
    keep_blank: bool,
) -> Kind:
    """Read a file of either layout."""
    stop, path = stops(overvote), ballots.path
    if Path(path).suffix.lower() in SHEETS:
        rows = sheet_rows(path, Path(path).read_bytes())
        return read_records(ballots, rows, items, choices, stop, keep_blank)
    with open_text(path) as text:
        first, lines = first_line(text)
        if not BLT_HEAD.fullmatch(first.strip()):
            rows = csv_rows(path, lines)
            return read_records(ballots, rows, items, choices, stop, keep_blank)
        if items is not None or choices is not None:
            fail(
                path,
                1,
                "a BLT profile names its own candidates: leave them (--candidates) and choices out",
            )
        return read_blt(ballots, numbered(lines), keep_blank)


def stops(overvote: str) -> bool:
    """Tell whether an overvote ends a ballot."""
    if overvote not in ("skip", "stop"):
        raise ValueError(f'overvote must be "skip" or "stop", not {overvote!r}')
    return overvote == "stop"


def read_records(
    ballots: Ballots[Kind],
    rows: Iterator[Row],
    items: Sequence[str] | None,
    choices: Sequence[str] | None,
    stop: bool,
    keep_blank: bool,
) -> Kind:
    """Read cast vote records."""
    path = ballots.path
    line, header = first_row(path, rows)
    columns = find_columns(path, line, header, choices)
    found = [] if items is None else [str(item) for item in items]
    twice = first_repeat(found)
    if twice is not None:
        raise ValueError(f"item {twice!r} is given twice: every candidate needs a name of its own")
    index = {name: i for i, name in enumerate(found)}
    chosen = array("i")  # every ballot's candidates, best first, and END
    for line, cells in rows:
        ballot: dict[int, None] = {}  # a set that keeps its order
        for choice in valid(path, line, cells, columns, stop):
            if items is not None and choice not in index:
                fail(path, line, f"{choice!r} is not one of the items {', '.join(found[:6])}")
            ballot[index.setdefault(choice, len(index))] = None
        if ballot or keep_blank:
            chosen.extend((*ballot, END))
    if not index:
        fail(path, None, "there is no valid choice in it")
    names = sorted(index) if items is None else found
    for row in record_scores(chosen, {index[name]: i for i, name in enumerate(names)}):
        ballots.add(row)
    return ballots.rankings(names)


def record_scores(chosen: Iterable[int], items: dict[int, int]) -> Iterator[NDArray[np.float64]]:
    """Scores of each ballot: minus the place, minus infinity if unranked.

    Examples
    --------
    >>> [row.tolist() for row in record_scores([1, END, END], {0: 0, 1: 1})]
    [[-inf, 0.0], [-inf, -inf]]
    """
    row, place = np.full(len(items), -np.inf), 0
    for candidate in chosen:
        if candidate == END:
            yield row
            row, place = np.full(len(items), -np.inf), 0
        else:
            row[items[candidate]] = -place
            place += 1


def valid(
    path: PathLike, line: int | None, cells: Sequence[Any], columns: Sequence[int], stop: bool
) -> list[str]:
    """Choices of a ballot that name a candidate, best first.

    Examples
    --------
    >>> row = ["7", "undervote", "Ann", "overvote", "Bob"]
    >>> valid("a.csv", 2, row, [1, 2, 3, 4], stop=True)
    ['Ann']
    """
    if len(cells) <= max(columns):
        fail(path, line, f"{len(cells)} columns where at least {max(columns) + 1} are due")
    found = []
    for choice in (cell_text(cells[column]) for column in columns):
        word = choice.lower()
        if word == OVERVOTE and stop:
            break
        if word != OVERVOTE and word not in BLANK:
            found.append(choice)
    return found


def choice_columns(header: Sequence[str]) -> list[int]:
    """Columns of the choices, the first choice first.

    Examples
    --------
    >>> choice_columns(["Precinct", "2nd Choice", "DEM Governor 1st Choice", "Five"])
    [2, 1]
    """
    found = [(CHOICE.search(name), i) for i, name in enumerate(header)]
    return [i for _, i in sorted((int(m[1] or m[2]), i) for m, i in found if m)]


def find_columns(
    path: PathLike, line: int | None, header: Sequence[str], choices: Sequence[str] | None
) -> list[int]:
    """Columns of these names, spaces around them aside, or those whose names tell."""
    there = ", ".join(map(repr, header[:12]))
    for name in choices or ():
        if name.strip() not in header:
            fail(path, line, f"there is no column {name!r}; there are {there}")
    if choices is None:
        columns = choice_columns(header)
    else:
        columns = [header.index(name.strip()) for name in choices]
    if not columns:
        fail(
            path,
            line,
            f"no column holds choices among {there}: name them with choices=[…] (--choices)",
        )
    return columns


def read_blt(ballots: Ballots[Kind], lines: Iterator[tuple[int, str]], keep_blank: bool) -> Kind:
    """Read a profile with counts."""
    path = ballots.path
    line, head = next(lines)
    n = int(head.split()[0][:16])
    if n > MOST_CANDIDATES:
        fail(path, line, f"{n} candidates are too many: is this a profile?")
    for line, text in lines:
        if text == "0":
            break
        if text.startswith('"'):
            fail_unended(path, line)
        if text.startswith("-"):
            fail(path, line, f"{text!r} withdraws candidates: take them out of the file first")
        votes, *choices = text.split()
        if not choices or choices.pop() != "0":
            fail(path, line, f"{text[:60]!r} does not end with 0: is it cut short?")
        row = blt_scores(path, line, choices, n)
        voters = count(path, line, votes, "a count")
        if keep_blank or (row > -np.inf).any():
            ballots.add(row, voters)
    else:
        fail_unended(path, line)
    rest = list(lines)
    names = [text.removeprefix('"').removesuffix('"').strip() for _, text in rest]
    if not n <= len(names) <= n + 1:  # a title may follow
        fail(
            path,
            rest[-1][0] if rest else line,
            f"{n} candidates are announced but {len(names)} named",
        )
    twice = first_repeat(names[:n])
    if twice is not None:
        fail(path, None, f"two candidates are called {twice!r}: rename one")
    return ballots.rankings(names[:n])


def fail_unended(path: PathLike, line: int) -> NoReturn:
    """Refuse a profile that is cut short."""
    fail(path, line, "the ballots do not end with a line '0': the file is cut short")


def blt_scores(path: PathLike, line: int, choices: list[str], n: int) -> NDArray[np.float64]:
    """Scores of one line: minus the place, minus infinity if unranked."""
    row = np.full(n, -np.inf)
    for place, choice in enumerate(choices):
        for part in () if choice == "-" else choice.split("="):
            item = count(path, line, part, "a candidate")
            if not 1 <= item <= n:
                fail(path, line, f"candidate {item} is not one of 1..{n}")
            if row[item - 1] == -np.inf:
                row[item - 1] = -place
    return row
