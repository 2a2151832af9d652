"""Which places a tie rule decided, and how that is said wherever a result is shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._text import noun, printable
from fedrank._validation import few, plural
from fedrank.exceptions import Remedy

if TYPE_CHECKING:
    from fedrank.consensus.result import Consensus

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Item numbers of each tie, best first."""


class Searched(NamedTuple):
    """Positions whose order may be another one with another seed, though they are not tied.

    Attributes
    ----------
    by : {"search", "pivots", "start"}
        What was random: the search, the pivots, or the order that a refinement began with.
    start, end : int
        The first such position, and the position after the last.
    """

    by: str
    start: int
    end: int


SEARCHED = {
    "search": "places {places} come from a random search: another seed may order them differently",
    "pivots": "pivots are drawn at random: another seed may order places {places} differently",
    "start": "the refinement began with ties that were broken at random, and its comparisons do "
    "not settle places {places}: another seed may order {items} differently",
}
"""What is said of positions that a random search decided."""

NOT_COUNTED = (
    "clients break ties in their own messages at random, if they have any: these are not counted "
    "here, and may decide any place"
)

BROKEN = {
    "random": "broken at random",
    "index": "broken by item number",
    "order": "left in the order of the round before",
}
"""What a tie rule does with a tie."""

DECIDED = {
    "random": "decided by lot",
    "index": "decided by item number",
    "order": "tied, and left in the order of the round before",
}
"""What a tie rule does with the places of a tie."""

UNKNOWN = {
    "random": "this method does not report ties: places may have been decided at random",
    "index": "this method does not report ties: of equal rankings, the first found is shown",
}


ROUNDED = "mean positions were rounded"
"""How everything begins that is said of rounding."""


def chance(
    consensus: "Consensus", top: int | None = None, sums: str = Remedy.SUMS
) -> tuple[str, ...]:
    """Say how many ties were broken, and which of them matter for what is shown.

    Also what else makes this another ranking than the one asked for: rounding, and rounds that
    were not opened.

    Parameters
    ----------
    consensus : Consensus
        Any consensus.
    top : int, optional
        How many of the best items are shown. By default all are.
    sums : str
        The option that would have sent exact sums, as the reader can give it.

    Returns
    -------
    sentences : tuple of str
        Nothing if another seed gives the same ranking, rounding cannot have changed it, and all
        rounds were opened. Otherwise that a refinement was not carried out; how many ties there
        were, then the places (1 the best) of the tie that decided the winner, and of the tie at
        the end of what is shown; which items may be tied only because means were rounded;
        which neighbours rounding may have exchanged; which places a random search, or the ties of a
        refinement's first round, may have decided; how many clients broke ties in their own
        messages.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> found = aggregate([[0, 1, 2, 3], [1, 0, 2, 3]], ties="index")
    >>> chance(found)
    ('1 tie broken by item number', 'places 1 and 2 were decided by item number: 0, 1')
    >>> chance(aggregate([[0, 1, 2]]))
    ()
    """
    sentences = say_ties(consensus, len(consensus) if top is None else top)
    sentences += say_rounding(consensus, sums)
    if consensus.searched is not None:
        by, start, end = consensus.searched
        items = few([printable(label) for label in consensus.labels[start:end]])
        places = spans(range(start + 1, end + 1))
        sentence = SEARCHED[by].format(places=places, items=items)
        fewer = f"; {sums} in the first round ties only items of equal means"
        sentences.append(sentence + fewer * (by == "start" and consensus._began_rounded()))
    return (*consensus._say_unfinished(), *sentences, *consensus._say_clients())


def say_ties(consensus: "Consensus", shown: int) -> list[str]:
    """Say how many ties the tie rule decided, and which of them touch the places shown."""
    groups = consensus.tied_items
    if groups is None:
        return [UNKNOWN[consensus.decided_by]]
    if not groups:
        return []
    sentences = [f"{plural(len(groups), 'tie')} {BROKEN[consensus.decided_by]}"]
    position = consensus.ranks
    winner = [group for group in groups if position[group[0]] == 0]
    edge = [group for group in groups if position[group[0]] < shown <= position[group[-1]]]
    for touched in (winner, edge) if shown else ():
        if touched:
            sentence = say_places(consensus, touched)
            if sentence not in sentences:
                sentences.append(sentence)
    return sentences


def say_rounding(consensus: "Consensus", sums: str) -> list[str]:
    """Say which items may be tied, or in the wrong order, only because means were rounded."""
    tied = [item for group in consensus.tied_items or () for item in group]
    apart, exchanged = consensus._rounded_to(), consensus._say_exchanged()
    names = few([printable(consensus.items[item]) for item in tied])
    may_tie = f"{ROUNDED}, so items closer than {apart} may tie: {names}"
    if tied and apart is not None:
        if exchanged is None:
            return [f"{may_tie}; {sums} tells them apart unless their means are equal"]
        return [f"{may_tie}; {exchanged}; {sums} is exact"]
    return [] if exchanged is None else [f"{ROUNDED}: {exchanged}; {sums} is exact"]


def say_close(consensus: "Consensus", gaps: NDArray[np.float64], least: float) -> str | None:
    """Say how many neighbours are closer than rounding can tell, but not tied; None if none are.

    Parameters
    ----------
    consensus : Consensus
        Any consensus.
    gaps : numpy.ndarray of float64
        Differences between the mean positions of neighbours, best first.
    least : float
        The difference, in places, from which on rounding cannot exchange two items.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> print(say_close(aggregate([[0, 1, 2]]), np.array([0.1, 0.4]), 0.25))
    1 pair of neighbours is less than 0.25 of a place apart, places 1 and 2 (0, 1), and may be in
    the wrong order where clients differ
    """
    close = (gaps > 0) & (gaps < least)
    if not close.any():
        return None
    count = int(close.sum())
    verb = noun(count, "is", "are")
    first = ""
    if close[0]:
        best = ", ".join(printable(label) for label in consensus.top(2))
        first = f", places 1 and 2 ({best}){'' if count == 1 else ' among them'},"
    return (
        f"{plural(count, 'pair')} of neighbours {verb} less than {least:.2g} of a place apart"
        f"{first} and may be in the wrong order where clients differ"
    )


def say_clients(drawn: int | None, can_draw: bool) -> tuple[str, ...]:
    """Say how many clients broke ties in their own messages.

    Parameters
    ----------
    drawn : int or None
        How many did; None if that is not known.
    can_draw : bool
        Whether some message of the study may need it.

    Examples
    --------
    >>> say_clients(3, True)
    ('the messages of 3 clients depended on ties that they broke at random: another seed may give
    another consensus',)
    >>> say_clients(None, True)
    ('clients break ties in their own messages at random, if they have any: these are not counted
    here, and may decide any place',)
    """
    if drawn is None:
        return (NOT_COUNTED,) if can_draw else ()
    if not drawn:
        return ()
    who = "it" if drawn == 1 else "they"
    return (
        f"the messages of {plural(drawn, 'client')} depended on ties that {who} broke at random: "
        "another seed may give another consensus",
    )


def tie_facts(consensus: "Consensus", sums: str = Remedy.SUMS) -> dict[str, Any]:
    """Say what the tie rule decided, in values that JSON has; ``sums`` as in `chance`.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> tie_facts(aggregate([[0, 1], [1, 0]], ties="index"))["chance"]
    ['1 tie broken by item number', 'places 1 and 2 were decided by item number: 0, 1']
    """
    groups = consensus.tied_groups
    return {
        "ties": tie_count(consensus),
        "tied_groups": None if groups is None else [list(group) for group in groups],
        "chance": list(chance(consensus, sums=sums)),
    }


def tie_count(consensus: "Consensus") -> int | None:
    """Count the groups of tied items; None if the method does not report them.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> tie_count(aggregate([[0, 1, 2], [1, 0, 2]]))
    1
    """
    return None if consensus.tied_items is None else len(consensus.tied_items)


def say_places(consensus: "Consensus", groups: Sequence[tuple[int, ...]]) -> str:
    """Say which places these ties decided, and between whom."""
    positions = sorted({int(consensus.ranks[item]) for group in groups for item in group})
    order, items = consensus.order, consensus.items
    labels = [printable(items[order[position]]) for position in positions]
    where = spans([position + 1 for position in positions])
    return f"places {where} were {DECIDED[consensus.decided_by]}: {few(labels)}"


def spans(numbers: Sequence[int]) -> str:
    """Return rising numbers in words.

    Examples
    --------
    >>> spans([1, 2]), spans([1, 2, 3]), spans([1, 3, 7, 8, 9])
    ('1 and 2', '1 to 3', '1, 3 and 7 to 9')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        part
        for run in runs
        for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def groups_of(runs: NDArray[np.int32], ranks: NDArray[np.int32]) -> Groups:
    """Return the items of each tie, from the runs that the core reports.

    A run is a row ``group, items, start, end``: of the items below ``items``, ranked among
    themselves, those at positions ``start..end-1``. The runs of a group follow each other.

    Examples
    --------
    >>> ranks = np.array([2, 0, 1, 3], dtype=np.int32)  # item 1 is the best, then 2, 0 and 3
    >>> groups_of(np.array([[0, 4, 0, 2], [1, 3, 1, 3]], dtype=np.int32), ranks)
    ((1, 2), (2, 0))
    """
    order = _core.invert(np.ascontiguousarray(ranks)[np.newaxis])[0]
    groups: dict[int, list[int]] = {}
    for group, items, start, end in runs.tolist():
        among = order if items == len(order) else order[order < items]
        groups.setdefault(group, []).extend(among[start:end].tolist())
    return tuple(map(tuple, groups.values()))


def runs_of(groups: Sequence[Sequence[int]], ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return runs from which `groups_of` makes these groups.

    Examples
    --------
    >>> ranks = np.array([2, 0, 1, 3], dtype=np.int32)
    >>> groups_of(runs_of([[1, 2], [1, 3]], ranks), ranks)
    ((1, 2), (1, 3))
    """
    rows = [
        (group, len(ranks), position, position + 1)
        for group, items in enumerate(groups)
        for position in sorted(int(ranks[item]) for item in items)
    ]
    return np.array(rows, dtype=np.int32).reshape(-1, 4)
