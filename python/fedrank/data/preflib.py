"""Orders of PrefLib: soc, soi, toc, toi, in the layouts since 2022 and before."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fedrank._random import RNG
from fedrank.data._blocks import Ballots
from fedrank.data._cells import count, first_repeat
from fedrank.data._text import PathLike, fail, text_lines
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings

KINDS = ("soc", "soi", "toc", "toi")
GROUP = r"\s*(?:\{[\s\d,]*\}|\d+)\s*"
KEY = re.compile(r"#\s*(?:DATA TYPE|NUMBER ALTERNATIVES|ALTERNATIVE NAME \d+):", re.ASCII)
"""A line that only the header of a PrefLib file has."""
ORDER = re.compile(f"{GROUP}(?:,{GROUP})*", re.ASCII)
PLACE = re.compile(r"\{[^}]*\}|\d+", re.ASCII)
NUMBER = re.compile(r"\d+", re.ASCII)


class Head(NamedTuple):
    """The header of a file, and its orders."""

    kind: str
    items: list[str]
    voters: int
    unique: int | None
    body: Iterator[tuple[int, str, str]]  # line number, count, order


@overload
def read_preflib(path: PathLike, *, complete: Literal[True], rng: RNG = None) -> Rankings: ...
@overload
def read_preflib(path: PathLike, *, complete: bool = False, rng: RNG = None) -> AnyRankings: ...
def read_preflib(path: PathLike, *, complete: bool = False, rng: RNG = None) -> AnyRankings:
    """Read an ordinal PrefLib file: soc, soi, toc or toi.

    The first line distinguishes the layout since 2022 (``# KEY: value``) from the one before.
    A line that counts for k voters gives k rankings. Items in braces are tied, and items not
    named are not ranked. With ``complete=True``, each ballot orders both uniformly at random and
    independently.

    Parameters
    ----------
    path : str or path
        The file, perhaps gzipped, in UTF-8 or Latin-1.
    complete : bool
        Whether to order tied and unranked items at random.
    rng : None, int or numpy.random.Generator
        Random seed or generator, for ``complete=True``.

    Returns
    -------
    rankings : Rankings, or PartialRankings if items are tied or not ranked
        One row per voter, in the file's order, labelled with the alternatives' names.

    Raises
    ------
    fedrank.exceptions.InputError
        If the file is not ordinal, is cut short, or contradicts its header.

    Examples
    --------
    >>> read_preflib("tests/samples/small.toi")
    PartialRankings: 6 rankings of 4 items (Ann, Bob, Cy, Dée)
    >>> print(read_preflib("tests/samples/small.toi", complete=True, rng=1).source)
    small.toi: 6 rankings of 4 items (orders, best first; ties and gaps of 6 rankings completed at
    random)
    """
    ballots = Ballots(path, "orders", complete, rng)
    with text_lines(path) as lines:
        first = next(lines)
        split = since_2022 if first[1].startswith("#") else before_2022
        head = split(path, chain([first], lines))
        twice = first_repeat(head.items)
        if twice is not None:
            fail(
                path,
                None,
                f"two alternatives are called {twice!r}",
                value=twice,
                remedy="rename one of them",
            )
        unique = 0
        for line, votes, order in head.body:
            unique += 1
            voters = count(path, line, votes.strip(), "a count")
            ballots.add(score(path, line, order, head), voters)
    if head.unique is not None and head.unique != unique:
        fail(
            path,
            None,
            f"the header announces {head.unique} different orders, but the file has {unique}: "
            "the file is cut short, or its header is wrong",
        )
    if head.voters != ballots.total:
        fail(
            path,
            None,
            f"the header announces {head.voters} voters, but the counts sum to {ballots.total}: "
            "the file is cut short, or its header is wrong",
        )
    return ballots.rankings(head.items)


def since_2022(path: PathLike, lines: Iterator[tuple[int, str]]) -> Head:
    """Separate the header of ``# KEY: value`` lines from the orders."""
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
            fail(path, None, f"the header lacks '# {key}:': is the file cut short?")
        return count(path, *keys[key], key)

    n = number("NUMBER ALTERNATIVES")
    items = []
    for i in range(1, n + 1):
        _, name = keys.get(f"ALTERNATIVE NAME {i}", (0, ""))
        if not name:
            fail(path, None, f"the header does not name alternative {i} of {n}")
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
    """Yield the line number, count and order of each line below the header."""
    for line, text in lines:
        votes, colon, order = text.partition(":")
        if not colon:
            fail(path, line, f"{text[:40]!r} is not of the form 'count: order': is it cut short?")
        if not text.startswith("#"):
            yield line, votes, order


def before_2022(path: PathLike, lines: Iterator[tuple[int, str]]) -> Head:
    """Separate the header from the orders, in a file that begins with the number of items."""
    kind = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2]
    check_kind(path, kind)
    line, text = next(lines)
    n = count(path, line, text, "the number of alternatives")
    top = list(islice(lines, n + 1))
    if len(top) < n + 1:
        last = top[-1][0] if top else line
        fail(path, last, f"the file ends before {n} alternatives and the totals")
    items = []
    for i, (line, text) in enumerate(top[:n], 1):
        number, _, name = text.partition(",")
        if number.strip() != str(i) or not name.strip():
            fail(path, line, f"{text[:40]!r} must be '{i},' and the alternative's name")
        items.append(name.strip())
    line, text = top[n]
    totals = [count(path, line, part.strip(), "a total") for part in text.split(",")]
    if len(totals) != 3:
        fail(path, line, f"{text[:40]!r} must be three totals: voters, their sum, orders")
    parts = ((line, text.partition(",")) for line, text in lines)
    body = ((line, votes, order) for line, (votes, _, order) in parts)
    return Head(kind, items, totals[1], totals[2], body)


def check_kind(path: PathLike, kind: str) -> None:
    """Refuse a data type that is not an order."""
    if kind == "cat":
        fail(path, None, "categorical data (cat) put items into classes and do not rank them")
    if kind not in KINDS:
        kinds = ", ".join(KINDS)
        fail(path, None, f"the data type is {kind!r}, but only {kinds} are rankings", value=kind)


def score(path: PathLike, line: int, order: str, head: Head) -> NDArray[np.float64]:
    """Return the scores of one line: minus the position, minus infinity if not ranked."""
    n = len(head.items)
    scores = [-inf] * n  # a list: arrays are slow to fill one by one
    if not ORDER.fullmatch(order):
        fail(
            path,
            line,
            f"{order.strip()[:60]!r} is not an order of item numbers and {{ties}}",
            value=order,
        )
    for place, group in enumerate(PLACE.findall(order)):
        tied = NUMBER.findall(group) if group[0] == "{" else [group]
        if not tied:
            fail(path, line, "an order must not contain an empty set {}")
        if len(tied) > 1 and head.kind in ("soc", "soi"):
            fail(
                path,
                line,
                f"{group} is a tie, but {head.kind} files have no ties",
                value=group,
                remedy="change the data type to toc or toi",
            )
        for number in tied:
            item = count(path, line, number, "an alternative")
            if not 1 <= item <= n:
                fail(path, line, f"alternative {item} is not one of 1..{n}", value=item)
            if scores[item - 1] != -inf:
                fail(path, line, f"alternative {item} is named twice", value=item)
            scores[item - 1] = -place
    if -inf in scores and head.kind in ("soc", "toc"):
        fail(
            path,
            line,
            f"alternative {scores.index(-inf) + 1} is missing, but {head.kind} files rank all: "
            "is the line cut short, or the data type soi or toi?",
        )
    return np.array(scores)
