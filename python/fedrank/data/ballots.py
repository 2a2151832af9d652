"""Ranked ballots: cast vote records (a row a ballot) and BLT profiles (a line, counted)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._files import (
    SHEETS,
    PathLike,
    Row,
    complete,
    count,
    fail,
    first_repeat,
    table_rows,
    text_lines,
)
from fedrank.rankings import Rankings

BLANK = ("", "undervote", "skipped", "blank")
OVERVOTE = "overvote"
CHOICE = re.compile(r"\b(\d+)(?:st|nd|rd|th)\s+choice\b|^(?:rank|choice)\s*_?(\d+)$", re.I | re.A)
BLT_HEAD = re.compile(r"\d+\s+\d+", re.A)


def read_ballots(
    path: PathLike,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    rng: RNG = None,
) -> Rankings:
    """Read ranked ballots, partial or spoilt in places.

    Two layouts are told apart by the first line. A cast vote record (spreadsheet or CSV) has
    a header and a ballot a row; its choices are the columns called "1st Choice", "rank1",
    "Choice 2" or the like, and other columns are ignored. A BLT profile begins with the
    numbers of candidates and seats; then come lines ``count 3 1 2 0``, a line ``0`` and the
    names, whatever the file is called; ``3=1`` is a tie.

    Blanks ("undervote", "skipped", nothing), overvotes and second mentions of a candidate
    are dropped. The candidates left over, and ties, are ordered uniformly at random, for
    each ballot on its own, also when a line counts for many.

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

    Returns
    -------
    rankings : Rankings
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
    """
    if overvote not in ("skip", "stop"):
        raise ValueError(f'overvote must be "skip" or "stop", not {overvote!r}')
    if Path(path).suffix.lower() not in SHEETS:
        lines = text_lines(path)
        if BLT_HEAD.fullmatch(lines[0][1]):
            if items is not None or choices is not None:
                fail(path, 1, "a BLT profile names its own candidates: leave out items and choices")
            return read_blt(path, lines, keep_blank, rng)
    rows = table_rows(path)
    return read_records(path, rows, items, choices, overvote == "stop", keep_blank, rng)


def read_records(
    path: PathLike,
    rows: Iterator[Row],
    items: Sequence[str] | None,
    choices: Sequence[str] | None,
    stop: bool,
    keep_blank: bool,
    rng: RNG,
) -> Rankings:
    """Read cast vote records."""
    first, header = next(rows, (1, []))
    columns = choice_columns(header) if choices is None else named(path, first, header, choices)
    if not columns:
        fail(
            path,
            first,
            f"no column holds choices among {', '.join(map(repr, header[:12]))}: "
            "name them with choices=[…]",
        )
    ballots = []
    for line, cells in rows:
        if len(cells) <= max(columns):
            fail(path, line, f"{len(cells)} columns where at least {max(columns) + 1} are due")
        ballot = dict.fromkeys(valid(cells, columns, stop), line)
        if ballot or keep_blank:
            ballots.append(ballot)
    found = sorted(set().union(*ballots)) if items is None else [str(item) for item in items]
    if not found:
        fail(path, None, "there is no valid choice in it")
    index = {name: i for i, name in enumerate(found)}
    scores = []
    for ballot in ballots:
        row = np.full(len(found), -np.inf)
        for place, (name, line) in enumerate(ballot.items()):
            if name not in index:
                fail(path, line, f"{name!r} is not one of the items {', '.join(found[:6])}")
            row[index[name]] = -place
        scores.append(row)
    return complete(path, scores, [1] * len(scores), found, rng)


def valid(cells: Sequence[str], columns: Sequence[int], stop: bool) -> list[str]:
    """Choices of a ballot that name a candidate, best first.

    Examples
    --------
    >>> valid(["7", "undervote", "Ann", "overvote", "Bob"], [1, 2, 3, 4], stop=True)
    ['Ann']
    """
    named = []
    for choice in (cells[column] for column in columns):
        word = choice.lower()
        if word == OVERVOTE and stop:
            break
        if word != OVERVOTE and word not in BLANK:
            named.append(choice)
    return named


def choice_columns(header: Sequence[str]) -> list[int]:
    """Columns of the choices, the first choice first.

    Examples
    --------
    >>> choice_columns(["Precinct", "2nd Choice", "DEM Governor 1st Choice", "Five"])
    [2, 1]
    """
    found = [(CHOICE.search(name), i) for i, name in enumerate(header)]
    return [i for _, i in sorted((int(m[1] or m[2]), i) for m, i in found if m)]


def named(path: PathLike, line: int, header: list[str], choices: Sequence[str]) -> list[int]:
    """Columns of these names, spaces around them aside."""
    for name in choices:
        if name.strip() not in header:
            fail(path, line, f"there is no column {name!r}; there are {', '.join(header[:12])}")
    return [header.index(name.strip()) for name in choices]


def read_blt(path: PathLike, lines: list[tuple[int, str]], keep_blank: bool, rng: RNG) -> Rankings:
    """Read a profile with counts."""
    n = int(lines[0][1].split()[0])
    end = next((i for i, (_, text) in enumerate(lines) if i and text == "0"), None)
    if end is None:
        fail(path, lines[-1][0], "the ballots do not end with a line '0': the file is cut short")
    names = [text.removeprefix('"').removesuffix('"').strip() for _, text in lines[end + 1 :]]
    if not n <= len(names) <= n + 1:  # a title may follow
        fail(path, lines[-1][0], f"{n} candidates are announced but {len(names)} named")
    twice = first_repeat(names[:n])
    if twice is not None:
        fail(path, None, f"two candidates are called {twice!r}: rename one")
    scores, counts = [], []
    for line, text in lines[1:end]:
        if text.startswith("-"):
            fail(path, line, f"{text!r} withdraws candidates: take them out of the file first")
        votes, *choices = text.split()
        if not choices or choices.pop() != "0":
            fail(path, line, f"{text[:60]!r} does not end with 0: is it cut short?")
        row = blt_scores(path, line, choices, n)
        if keep_blank or (row > -np.inf).any():
            counts.append(count(path, line, votes, "a count"))
            scores.append(row)
    return complete(path, scores, counts, names[:n], rng)


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
