"""PrefLib's orders: soc, soi, toc, toi, in today's layout and the one before 2022."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._files import Ballots, Kind, PathLike, count, fail, first_repeat, text_lines
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

KINDS = ("soc", "soi", "toc", "toi")
GROUP = r"\s*(?:\{[\s\d,]*\}|\d+)\s*"
ORDER = re.compile(f"{GROUP}(?:,{GROUP})*", re.ASCII)


class Head(NamedTuple):
    """What a file says of itself."""

    kind: str
    items: list[str]
    voters: int
    unique: int | None
    body: Iterator[tuple[int, str, str]]  # line number, count, order


@overload
def read_preflib(path: PathLike, rng: RNG = None, complete: Literal[True] = True) -> Rankings: ...
@overload
def read_preflib(
    path: PathLike, rng: RNG = None, *, complete: Literal[False]
) -> PartialRankings: ...
def read_preflib(path: PathLike, rng: RNG = None, complete: bool = True) -> AnyRankings:
    """Read an ordinal PrefLib file: soc, soi, toc or toi.

    Today's layout (``# KEY: value`` lines first) and that of before 2022 are told apart by
    the first line. A line that counts for k voters gives k rankings, a line that counts for
    none gives none. Items in braces are tied and items not named come last; each ballot
    orders both uniformly at random, on its own, unless they shall stay as they are.

    Parameters
    ----------
    path : str or path
        The file, perhaps gzipped: UTF-8, or else taken for Latin-1.
    rng : None, int or numpy.random.Generator
        Where the order of ties and unranked items comes from.
    complete : bool
        Whether to order them. False keeps ties tied and unranked items unranked.

    Returns
    -------
    rankings : Rankings, or PartialRankings unless complete
        One row a voter, in the file's order, labelled with the alternatives' names.

    Raises
    ------
    ValueError
        If the file is not ordinal, is cut short, or contradicts its header.

    Examples
    --------
    >>> read_preflib("tests/samples/small.toi", rng=1)
    Rankings: 6 rankings of 4 items (Ann, Bob, Cy, Dée)
    >>> read_preflib("tests/samples/small.toi", complete=False)
    PartialRankings: 6 rankings of 4 items (Ann, Bob, Cy, Dée)
    """
    if complete:
        return read_orders(path, Ballots(path, Rankings, rng))
    return read_orders(path, Ballots(path, PartialRankings, rng))


def read_orders(path: PathLike, ballots: Ballots[Kind]) -> Kind:
    """Read a file into ballots."""
    with text_lines(path) as lines:
        first = next(lines)
        split = today if first[1].startswith("#") else before_2022
        head = split(path, chain([first], lines))
        twice = first_repeat(head.items)
        if twice is not None:
            fail(path, None, f"two alternatives are called {twice!r}: rename one")
        unique = 0
        for line, votes, order in head.body:
            unique += 1
            voters = count(path, line, votes.strip(), "a count")
            ballots.add(score(path, line, order, head), voters)
    if head.unique is not None and head.unique != unique:
        fail(
            path,
            None,
            f"{head.unique} different orders are announced but {unique} are there: "
            "the file is cut short or its header is wrong",
        )
    if head.voters != ballots.total:
        fail(
            path,
            None,
            f"{head.voters} voters are announced but the counts sum to {ballots.total}: "
            "the file is cut short or its header is wrong",
        )
    return ballots.rankings(head.items)


def today(path: PathLike, lines: Iterator[tuple[int, str]]) -> Head:
    """Split a file that begins with metadata."""
    keys: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        if not text.startswith("#"):
            lines = chain([(line, text)], lines)
            break
        key, _, value = text.partition(":")
        keys[key.lstrip("# ").strip().upper()] = line, value.strip()
    kind = keys.get("DATA TYPE", (0, Path(path).suffix[1:]))[1].lower()
    check_kind(path, kind)

    def number(key: str) -> int:
        if key not in keys:
            fail(path, None, f"the header lacks '# {key}:'; is the file cut short?")
        return count(path, *keys[key], key)

    n = number("NUMBER ALTERNATIVES")
    items = []
    for i in range(1, n + 1):
        _, name = keys.get(f"ALTERNATIVE NAME {i}", (0, ""))
        if not name:
            fail(path, None, f"the header names no alternative {i} of {n}")
        items.append(name)
    if f"ALTERNATIVE NAME {n + 1}" in keys:
        fail(path, None, f"the header names more alternatives than the {n} it announces")
    unique = "NUMBER UNIQUE ORDERS"
    return Head(
        kind,
        items,
        number("NUMBER VOTERS"),
        number(unique) if unique in keys else None,
        orders(path, lines),
    )


def orders(path: PathLike, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Line number, count and order of each line below the metadata."""
    for line, text in lines:
        votes, colon, order = text.partition(":")
        if not colon:
            fail(path, line, f"{text[:40]!r} is not of the form 'count: order'; is it cut short?")
        if not text.startswith("#"):
            yield line, votes, order


def before_2022(path: PathLike, lines: Iterator[tuple[int, str]]) -> Head:
    """Split a file that begins with the number of alternatives."""
    kind = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2]
    check_kind(path, kind)
    line, text = next(lines)
    n = count(path, line, text, "the number of alternatives")
    top = list(islice(lines, n + 1))
    if len(top) < n + 1:
        last = top[-1][0] if top else line
        fail(path, last, f"the file ends before {n} alternatives and their totals")
    items = []
    for i, (line, text) in enumerate(top[:n], 1):
        number, _, name = text.partition(",")
        if number.strip() != str(i) or not name.strip():
            fail(path, line, f"{text[:40]!r} should be '{i},' and the alternative's name")
        items.append(name.strip())
    line, text = top[n]
    totals = [count(path, line, part.strip(), "a total") for part in text.split(",")]
    if len(totals) != 3:
        fail(path, line, f"{text[:40]!r} should be three totals: voters, their sum, orders")
    parts = ((line, text.partition(",")) for line, text in lines)
    body = ((line, votes, order) for line, (votes, _, order) in parts)
    return Head(kind, items, totals[1], totals[2], body)


def check_kind(path: PathLike, kind: str) -> None:
    """Refuse what is no order."""
    if kind == "cat":
        fail(path, None, "categorical data (cat) put items into classes and do not rank them")
    if kind not in KINDS:
        fail(path, None, f"the data type is {kind!r}; only {', '.join(KINDS)} are rankings")


def score(path: PathLike, line: int, order: str, head: Head) -> NDArray[np.float64]:
    """Scores of one line: minus the place, minus infinity if unranked."""
    n = len(head.items)
    scores = np.full(n, -np.inf)
    if not ORDER.fullmatch(order):
        fail(path, line, f"{order.strip()[:60]!r} is not an order of item numbers and {{ties}}")
    for place, group in enumerate(re.findall(r"\{[^}]*\}|\d+", order)):
        tied = re.findall(r"\d+", group)
        if not tied:
            fail(path, line, "an empty set {} has no place in an order")
        if len(tied) > 1 and head.kind in ("soc", "soi"):
            fail(
                path, line, f"{group} is a tie, and {head.kind} files have none: call it toc or toi"
            )
        for number in tied:
            item = count(path, line, number, "an alternative")
            if not 1 <= item <= n:
                fail(path, line, f"alternative {item} is not one of 1..{n}")
            if scores[item - 1] != -np.inf:
                fail(path, line, f"alternative {item} is named twice")
            scores[item - 1] = -place
    missing = np.flatnonzero(scores == -np.inf)
    if missing.size and head.kind in ("soc", "toc"):
        fail(
            path,
            line,
            f"alternative {missing[0] + 1} is missing, and {head.kind} files rank all: "
            "is the line cut short, or the file a soi or toi?",
        )
    return scores
