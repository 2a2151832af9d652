"""Rankings of several parties: the same items, in the same order."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from fedrank._validation import as_list, few, plural
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.complete import Rankings
from fedrank.rankings.labelled import Labelled
from fedrank.rankings.partial import AnyRankings, PartialRankings, as_partial
from fedrank.rankings.source import Source

Kind = TypeVar("Kind", bound=Labelled)
Name = int | str

MAX_PARTIES = 3  # parties whose missing items an error message lists


def concat(parts: Iterable[AnyRankings], kind: type[Labelled] = Rankings) -> AnyRankings:
    """Join rankings of the same items: see `Rankings.concat`.

    Examples
    --------
    >>> one, two = Rankings([[0, 1]], items="ab"), Rankings([[0, 1]], items="ba")
    >>> concat([one, two]).ranks.tolist()
    [[0, 1], [1, 0]]
    """
    if isinstance(parts, Labelled):
        raise InputError(f"concat takes a list of rankings, not one {type(parts).__name__}")
    given = as_list(parts, "parts")
    if not given:
        raise InputError("there is nothing to join: no rankings were given")
    for number, part in enumerate(given):
        if not isinstance(part, Labelled):
            raise InputError(
                f"part {number} is a {type(part).__name__}, not Rankings or PartialRankings",
                remedy="make it a Rankings first",
            )
    partial = kind is PartialRankings or any(isinstance(each, PartialRankings) for each in given)
    if partial:
        given = [as_partial(each) for each in given]
    aligned = align_all(dict(enumerate(given)), "part")
    ranks = np.concatenate([each.ranks for each in aligned])
    made: type[AnyRankings] = PartialRankings if partial else Rankings
    return made._trusted(ranks, aligned[0].item_labels, source_of(given))


def source_of(parts: Iterable[Labelled]) -> Source | None:
    """Say in one line what several rankings were read from; None if none is from a file.

    Examples
    --------
    >>> source_of([Rankings([[0, 1]])]) is None
    True
    """
    return Source.merge((each._source, len(each)) for each in parts)


def align_all(parties: Mapping[Name, Kind], word: str = "client") -> list[Kind]:
    """Put the items of all parties into the order of the first; labels decide, if there are any.

    Parameters
    ----------
    parties : mapping of name to Rankings or PartialRankings
        At least one.
    word : str
        What a party is called.

    Raises
    ------
    InputError
        If some have labels and others have not, or the items differ: the message lists what is
        missing where.

    Examples
    --------
    >>> north = Rankings([[0, 1, 2]], items=["a", "b", "c"])
    >>> east = Rankings([[0, 1, 2]], items=["c", "b", "a"])
    >>> [each.ranks.tolist() for each in align_all({"north": north, "east": east})]
    [[[0, 1, 2]], [[2, 1, 0]]]
    >>> try:
    ...     align_all({"north": north, "east": Rankings([[0, 1]], items=["a", "d"])})
    ... except InputError as error:
    ...     print(error)
    the clients rank different items: client 'north' lacks 1 (d); client 'east' lacks 2 (b, c); keep
    the items that all have, with select and common_items
    """
    (first, start), *others = parties.items()
    labelled = {name for name, each in parties.items() if each.item_labels is not None}
    bare = [name for name in parties if name not in labelled]
    if labelled and bare:
        some = next(name for name in parties if name in labelled)
        raise InputError(
            f"{word} {bare[0]!r} has no item labels, but {word} {some!r} has",
            remedy=f"give every {word} labels, with Rankings(ranks, items=[…])",
        )
    if bare:
        for name, each in others:
            if each.n != start.n:
                raise InputError(
                    f"{word} {name!r} ranks {plural(each.n, 'item')}, but {word} {first!r} ranks "
                    f"{start.n}",
                    remedy=Remedy.COMMON_ITEMS,
                )
        return list(parties.values())
    everything = {label: None for each in parties.values() for label in each.items}
    if any(each.n != len(everything) for each in parties.values()):
        raise different_items(parties, list(everything), word)
    return [
        each if each.item_labels == start.item_labels else each.align(start.items)
        for each in parties.values()
    ]


def different_items(
    parties: Mapping[Name, Kind], everything: list[Hashable], word: str
) -> InputError:
    """Make the error that lists what is missing where."""
    lacking = []
    for name, each in parties.items():
        held = set(each.items)
        missing = [label for label in everything if label not in held]
        if missing:
            lacking.append(f"{word} {name!r} lacks {len(missing):,} ({few(missing)})")
    more = len(lacking) - MAX_PARTIES
    if more > 0:
        lacking[MAX_PARTIES:] = [
            f"{plural(more, f'other {word}')} also lack{'s' * (more == 1)} items"
        ]
    return InputError(
        f"the {word}s rank different items: {'; '.join(lacking)}",
        remedy=Remedy.COMMON_ITEMS,
    )
