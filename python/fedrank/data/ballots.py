"""Ranked ballots: cast vote records with one ballot per row, and BLT profiles."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from fedrank._positions import CHOICE, TOP, UNCLEAR, choice_number, positions_of
from fedrank._random import RNG
from fedrank._validation import few
from fedrank._words import word_set, words_of
from fedrank.data._blocks import Ballots
from fedrank.data._cells import cell_text, first_repeat, first_row, is_number, table_rows
from fedrank.data._csv import Row, comments_of, csv_rows
from fedrank.data._grid import MAX_SHOWN_ROWS, MISSING, show
from fedrank.data._numbered import may_be_rank
from fedrank.data._options import BallotOptions
from fedrank.data._sheets import SHEETS
from fedrank.data._text import PathLike, fail, first_line, numbered, open_text, shown_name
from fedrank.data.blt import BLT_HEAD, read_blt
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings

NO_NAME = (MISSING | {"-"}) - {""}
BLANK = NO_NAME | {"", "undervote", "skipped", "blank"}
COUNTS = word_set("count counts n weight weights votes times ballots freq frequency")
OVERVOTE = "overvote"
END = -1  # after the candidates of each ballot
MAX_COLUMNS_LISTED = 12  # names of columns that an error message lists


class NumberedError(Exception):
    """A choice may be a rank, and it is not declared that the file contains ballots."""


@overload
def read_ballots(
    path: PathLike, *, complete: Literal[True], rng: RNG = None, **options: Unpack[BallotOptions]
) -> Rankings: ...
@overload
def read_ballots(
    path: PathLike, *, complete: bool = False, rng: RNG = None, **options: Unpack[BallotOptions]
) -> AnyRankings: ...
def read_ballots(
    path: PathLike,
    *,
    items: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    overvote: str = "skip",
    keep_blank: bool = False,
    complete: bool = False,
    rng: RNG = None,
) -> AnyRankings:
    """Read ranked ballots, which may be incomplete or partly invalid.

    The first line distinguishes two layouts. A cast vote record (spreadsheet or CSV) has a
    header and one ballot per row; its choices are the columns called "1st Choice", "rank1",
    "Choice 2" or similar, and other columns are ignored. A BLT profile begins with the numbers
    of candidates and seats; lines ``count 3 1 2 0``, a line ``0`` and the names follow;
    ``3=1`` is a tie.

    Blank choices ("undervote", "skipped", "NA", an empty cell), overvotes and second mentions of a
    candidate are dropped. Ballots without a valid choice are left out, and counted in the
    `source` of the result. With ``complete=True``, candidates that a ballot does not rank, and
    ties, are ordered uniformly at random, for each ballot independently.

    Parameters
    ----------
    path : str or path
        The file.
    items : sequence of str, optional
        The candidates of a cast vote record; by default those that it names, sorted. Pass
        them where several files must agree.
    choices : sequence of str, optional
        The columns that contain the choices, first choice first, if their names do not show it.
    overvote : {"skip", "stop"}
        Whether an overvote is skipped, or ends the ballot.
    keep_blank : bool
        Whether a ballot without a valid choice counts, as a uniformly random ranking; needs
        ``complete=True``.
    complete : bool
        Whether to order tied and unranked candidates at random.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``complete=True``.

    Returns
    -------
    rankings : Rankings, or PartialRankings if candidates are tied or not ranked
        One row per ballot.

    Raises
    ------
    fedrank.exceptions.InputError
        If a line is not valid, or no column contains choices.

    Examples
    --------
    >>> read_ballots("tests/samples/cvr.csv").ranks[-1]
    array([-1, -1,  0], dtype=int32)
    >>> print(read_ballots("tests/samples/cvr.csv").source)
    cvr.csv: 4 rankings of 3 items (ballots, best first; 5 other columns skipped; 1 blank ballot
    left out; 2 overvotes dropped; 2 repeated choices dropped)
    >>> read_ballots("tests/samples/profile.csv", complete=True, rng=1)
    Rankings: 7 rankings of 3 items (Ann, Bob "B" Bee, Cy, jr.)
    """
    refuse_blank(keep_blank, complete)
    ballots = Ballots(path, "ballots", complete, rng)
    return read_into(ballots, items, choices, overvote, keep_blank)


def refuse_blank(keep_blank: bool, complete: bool) -> None:
    """Refuse to keep blank ballots as partial rankings."""
    if keep_blank and not complete:
        raise InputError(
            "a blank ballot cannot be kept as a partial ranking, because it ranks no item",
            remedy=Remedy.OMIT_KEEP_BLANK,
        )


def read_into(
    ballots: Ballots,
    items: Sequence[str] | None,
    choices: Sequence[str] | None,
    overvote: str,
    keep_blank: bool,
    declared: bool = True,
) -> AnyRankings:
    """Read a file of either layout; numbers are candidates only if ballots are declared."""
    stop, path = stops(overvote), ballots.path
    if Path(path).suffix.lower() in SHEETS:
        with table_rows(path) as rows:
            return read_records(ballots, rows, items, choices, stop, keep_blank, declared)
    with open_text(path) as text:
        first, lines = first_line(text)
        if not BLT_HEAD.fullmatch(first.strip()):
            rows = csv_rows(path, lines)
            return read_records(ballots, rows, items, choices, stop, keep_blank, declared)
        if items is not None or choices is not None:
            fail(
                path,
                1,
                "a BLT profile names its candidates and has no columns",
                remedy=Remedy.OMIT_ITEMS,
            )
        return read_blt(ballots, numbered(lines), keep_blank)


def stops(overvote: str) -> bool:
    """Return whether an overvote ends a ballot."""
    if overvote not in ("skip", "stop"):
        raise InputError(f'overvote must be "skip" or "stop", not {overvote!r}', value=overvote)
    return overvote == "stop"


def read_records(
    ballots: Ballots,
    rows: Iterator[Row],
    items: Sequence[str] | None,
    choices: Sequence[str] | None,
    stop: bool,
    keep_blank: bool,
    declared: bool = True,
) -> AnyRankings:
    """Read cast vote records; a number is a candidate only if ballots are declared."""
    path = ballots.path
    line, header = first_row(path, rows)
    shown = [show(line, header)]
    columns = find_columns(path, line, header, choices)
    ballots.moved = choices is None and columns != sorted(columns)
    counts = [] if choices is not None else count_columns(header, columns)
    ballots.ignored = [
        name or "without a name" for i, name in enumerate(header) if i not in columns
    ]
    found = [] if items is None else [str(item) for item in items]
    twice = first_repeat(found)
    if twice is not None:
        raise InputError(f"candidates must differ, but {twice!r} is given twice", value=twice)
    index = {name: i for i, name in enumerate(found)}
    chosen = array("i")  # the candidates of all ballots, best first, each ballot followed by END
    for line, cells in rows:
        if len(shown) < MAX_SHOWN_ROWS:
            shown.append(show(line, list(map(cell_text, cells))))
        ballot: dict[int, None] = {}  # a set that keeps its order
        choices_made, overvotes, unnamed = valid(path, line, cells, columns, stop, index)
        ballots.overvotes += overvotes
        ballots.unnamed += unnamed
        counts = [c for c in counts if c < len(cells) and is_number(cell_text(cells[c]))]
        for choice in choices_made:
            if items is not None and choice not in index:
                fail(path, line, f"{choice!r} is not one of the items {few(found)}", value=choice)
            if not declared and choice not in index and may_be_rank(choice):
                raise NumberedError
            ballot[index.setdefault(choice, len(index))] = None
        ballots.repeats += len(choices_made) - len(ballot)
        if ballot or keep_blank:
            chosen.extend((*ballot, END))
        else:
            ballots.blank += 1
    ballots.comments = comments_of(rows)
    ballots.comments.check_ballots(path)
    if not index:
        fail(path, None, "no ballot has a valid choice")
    if counts:
        refuse_counts(path, header[counts[0]], [header[column] for column in columns], shown)
    names = sorted(index) if items is None else found
    for row in record_scores(chosen, {index[name]: i for i, name in enumerate(names)}):
        ballots.add(row)
    return ballots.rankings(names)


def record_scores(chosen: Iterable[int], items: dict[int, int]) -> Iterator[NDArray[np.float64]]:
    """Yield the scores of each ballot: minus the position, minus infinity if not ranked.

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
    path: PathLike,
    line: int | None,
    cells: Sequence[Any],
    columns: Sequence[int],
    stop: bool,
    items: Collection[str] = (),
) -> tuple[list[str], int, int]:
    """Return the choices of a ballot that name a candidate, best first.

    Also return the number of overvotes, and of cells such as NA, which name no candidate unless
    ``items`` has one of this name.

    Examples
    --------
    >>> row = ["7", "undervote", "Ann", "overvote", "Bob"]
    >>> valid("a.csv", 2, row, [1, 2, 3, 4], stop=True)
    (['Ann'], 1, 0)
    """
    if len(cells) <= max(columns):
        if not any(map(cell_text, cells)):
            return [], 0, 0
        fail(path, line, f"the row has {len(cells)} columns, not at least {max(columns) + 1}")
    found, overvotes, unnamed = [], 0, 0
    for choice in (cell_text(cells[column]) for column in columns):
        word = choice.lower()
        overvotes += word == OVERVOTE
        if word == OVERVOTE and stop:
            break
        if choice in items or (word != OVERVOTE and word not in BLANK):
            found.append(choice)
        else:
            unnamed += word in NO_NAME
    return found, overvotes, unnamed


def count_columns(header: Sequence[str], columns: Sequence[int]) -> list[int]:
    """Return the columns beside the choices that may say how often a ballot counts.

    Examples
    --------
    >>> count_columns(["rank1", "rank2", "n", "site"], [0, 1])
    [2]
    """
    rest = [c for c in range(len(header)) if c not in columns]
    return [c for c in rest if set(words_of(header[c])) & COUNTS]


def refuse_counts(path: PathLike, name: str, choices: list[str], shown: list[str]) -> NoReturn:
    """Refuse ballots with a column of numbers that may say how often each one counts."""
    one = f"one ballot per row; column {name} skipped"
    raise InputError(
        f"column {name!r} may say how often each ballot counts, but here each row is one ballot",
        file=shown_name(path),
        value=name,
        choices=[(one, {"layout": "ballots", "choices": choices})],
        remedy="if it counts ballots, repeat the rows, or write a BLT profile, which has counts",
        shown=shown,
    )


def choice_columns(header: Sequence[str]) -> list[int]:
    """Return the columns of the choices, the first choice first.

    Examples
    --------
    >>> choice_columns(["Precinct", "2nd Choice", "DEM Governor 1st Choice", "Five"])
    [2, 1]
    """
    found = [(choice_number(name), i) for i, name in enumerate(header)]
    return [i for _, i in sorted((number, i) for number, i in found if number is not None)]


def check_places(path: PathLike, line: int | None, header: Sequence[str]) -> None:
    """Refuse columns of choices of which one is missing, or there more than once."""
    found = [match for match in map(CHOICE.search, header) if match]
    numbers = [int(match[1] or match[2]) for match in found]
    places = positions_of(list(map(str, numbers)))
    for match, number in zip(found, numbers, strict=True):
        words = set(words_of(match[3] or ""))
        if (words & TOP and number > min(numbers)) or (words & UNCLEAR and number < max(numbers)):
            places = f"{match.string!r} contradicts its number"
            break
    if isinstance(places, str):
        fail(
            path,
            line,
            f"the header does not say which choice is the first: {places}",
            value=", ".join(match.string for match in found),
            remedy=Remedy.NAME_CHOICES,
        )


def find_columns(
    path: PathLike, line: int | None, header: Sequence[str], choices: Sequence[str] | None
) -> list[int]:
    """Return the columns with the given names, or those whose names say that they are choices."""
    there = ", ".join(map(repr, header[:MAX_COLUMNS_LISTED]))
    for name in choices or ():
        if name.strip() not in header:
            fail(path, line, f"there is no column {name!r}; the columns are {there}", value=name)
    if choices is None:
        columns = choice_columns(header)
        check_places(path, line, header)
    else:
        columns = [header.index(name.strip()) for name in choices]
    if not columns:
        fail(
            path,
            line,
            f"none of the columns {there} has a name that says it contains choices",
            remedy=Remedy.NAME_CHOICES,
        )
    return columns
