"""BLT profiles: counted ballots of numbered candidates, whose names follow."""

import re
from collections.abc import Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fedrank.data._blocks import Ballots
from fedrank.data._cells import count, first_repeat
from fedrank.data._text import PathLike, fail
from fedrank.rankings.partial import AnyRankings

BLT_HEAD = re.compile(r"\d+\s+\d+", re.A)
MAX_CANDIDATES = 1 << 20


def read_blt(ballots: Ballots, lines: Iterator[tuple[int, str]], keep_blank: bool) -> AnyRankings:
    """Read the lines of a profile as ballots."""
    path = ballots.path
    line, head = next(lines)
    n = int(head.split()[0][:16])
    if n > MAX_CANDIDATES:
        fail(
            path,
            line,
            f"{n} candidates are more than {MAX_CANDIDATES}: is this a BLT file?",
            value=n,
        )
    for line, text in lines:
        if text == "0":
            break
        if text.startswith('"'):
            fail_unended(path, line)
        if text.startswith("-"):
            fail(
                path,
                line,
                f"{text!r} withdraws candidates, which is not supported",
                value=text,
                remedy="remove them from the file first",
            )
        votes, *choices = text.split()
        if not choices or choices.pop() != "0":
            fail(path, line, f"{text[:60]!r} does not end with 0: is it cut short?", value=text)
        row, repeats = blt_scores(path, line, choices, n)
        voters = count(path, line, votes, "a count")
        ballots.repeats += repeats * voters
        if keep_blank or (row > -np.inf).any():
            ballots.add(row, voters)
        else:
            ballots.blank += voters
    else:
        fail_unended(path, line)
    rest = list(lines)
    names = [text.removeprefix('"').removesuffix('"').strip() for _, text in rest]
    if not n <= len(names) <= n + 1:  # a title may follow
        fail(
            path,
            rest[-1][0] if rest else line,
            f"the first line announces {n} candidates, but {len(names)} are named",
        )
    twice = first_repeat(names[:n])
    if twice is not None:
        fail(
            path,
            None,
            f"two candidates are called {twice!r}",
            value=twice,
            remedy="rename one of them",
        )
    return ballots.rankings(names[:n])


def fail_unended(path: PathLike, line: int) -> NoReturn:
    """Raise the error of a profile that is cut short."""
    fail(path, line, "no line '0' ends the ballots: the file is cut short")


def blt_scores(
    path: PathLike, line: int, choices: list[str], n: int
) -> tuple[NDArray[np.float64], int]:
    """Return the scores of one line, and how many choices are repeated.

    A score is minus the position, and minus infinity if the candidate is not ranked.
    """
    row, repeats = np.full(n, -np.inf), 0
    for place, choice in enumerate(choices):
        for part in () if choice == "-" else choice.split("="):
            item = count(path, line, part, "a candidate")
            if not 1 <= item <= n:
                fail(path, line, f"candidate {item} is not one of 1..{n}", value=item)
            if row[item - 1] == -np.inf:
                row[item - 1] = -place
            else:
                repeats += 1
    return row, repeats
