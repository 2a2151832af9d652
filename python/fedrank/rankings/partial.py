"""Partial rankings: items may be tied, and some not ranked; nothing is drawn at random."""

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._random import RNG
from fedrank._validation import as_integers, as_list, as_weights, check_items, hashable, read_only
from fedrank.rankings.complete import (
    Labelled,
    Rankings,
    as_rankings,
    as_scores,
    in_order,
    labels_of,
)


class PartialRankings(Labelled):
    """Rankings of ``n`` labelled items that may tie some and leave some out, one a row.

    Entry ``i`` of a row is the level of item ``i``, 0 the best: items of one level are tied.
    Items of level -1 are not ranked. One rule holds everywhere: they are tied with each other
    below all that are ranked. Positions that share or skip numbers, such as 1, 1, 3, mean the
    same as the levels 0, 0, 1, and are kept as these.

    Parameters
    ----------
    ranks : array_like of int, shape (m, n) or (n,)
        Positions, the lowest best; equal ones are tied, and -1 is not ranked.
    items : sequence, optional
        ``n`` different labels. Taken from the columns of a data frame; ``0..n-1`` otherwise.

    Raises
    ------
    ValueError
        If a position is below -1, or a row ranks nothing.

    Examples
    --------
    >>> votes = PartialRankings([[1, 3, 1, -1]], items=["ann", "bob", "cy", "dee"])
    >>> votes
    PartialRankings: 1 ranking of 4 items (ann, bob, cy, dee)
    >>> votes.ranks
    array([[ 0, 1, 0, -1]], dtype=int32)
    """

    __slots__ = ()

    def __init__(self, ranks: ArrayLike, items: Iterable[Hashable] | None = None) -> None:
        if items is None:
            items = labels_of(ranks)
        positions = as_integers(ranks, "positions")
        if positions.size and positions.min() < -1:
            row, item = np.argwhere(positions < -1)[0]
            raise ValueError(
                f"row {row}: {positions[row, item]} of item {item} is no position: these are "
                "0 or more, and -1 where the item is not ranked"
            )
        scores = np.where(positions < 0, np.nan, -positions.astype(np.float64))
        self._ranks = read_only(_core.levels(np.ascontiguousarray(scores)))
        self._items = None if items is None else check_items(items, self.n)

    @classmethod
    def from_orders(
        cls, orders: Iterable[Iterable[Any]], items: Iterable[Hashable] | None = None
    ) -> "PartialRankings":
        """Partial rankings from lists of items, best first.

        Parameters
        ----------
        orders : iterable of iterables
            Items, best first; several that are tied are a list or a set. Those that are left
            out are not ranked.
        items : sequence, optional
            The labels, in the order that the levels shall have. By default those named in any
            of the orders, sorted.

        Raises
        ------
        ValueError
            If an order repeats an item, names an unknown one or none at all, or has an empty tie.

        Examples
        --------
        >>> PartialRankings.from_orders([["b", ["a", "c"]], ["c"]]).ranks
        array([[ 1,  0,  1],
               [-1, -1,  0]], dtype=int32)
        """
        rows = [
            [as_tied(each) for each in as_list(order, f"order {row}")]
            for row, order in enumerate(as_list(orders, "orders"))
        ]
        if not rows:
            raise ValueError("no orders were given")
        for row, groups in enumerate(rows):
            if [] in groups:
                raise ValueError(f"row {row} has an empty tie: leave it out")
            for label in (label for tied in groups for label in tied):
                if not hashable(label):
                    raise ValueError(f"row {row} names {label!r}, which cannot be a label")
        if items is None:
            items = in_order({label for groups in rows for tied in groups for label in tied})
        labels = tuple(as_list(items, "items"))
        labels = check_items(labels, len(labels))
        index = {label: i for i, label in enumerate(labels)}
        levels = np.full((len(rows), len(labels)), -1, dtype=np.int32)
        for row, groups in enumerate(rows):
            for level, tied in enumerate(groups):
                for label in tied:
                    if label not in index:
                        raise ValueError(f"row {row} names {label!r}, which is not an item")
                    if levels[row, index[label]] != -1:
                        raise ValueError(f"row {row} names {label!r} more than once")
                    levels[row, index[label]] = level
        return cls(levels, None if labels == tuple(range(len(labels))) else labels)

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, items: Iterable[Hashable] | None = None
    ) -> "PartialRankings":
        """Partial rankings from scores, the highest best; equal scores are tied.

        Parameters
        ----------
        scores : array_like of float, shape (m, n) or (n,)
            An array, or a pandas or polars frame whose columns are the items. NaN is not
            ranked.
        items : sequence, optional
            Labels; by default the columns of a frame.

        Raises
        ------
        ValueError
            If a row ranks nothing.

        Examples
        --------
        >>> PartialRankings.from_scores([[0.5, 0.9, float("nan"), 0.5]]).ranks
        array([[ 1, 0, -1, 1]], dtype=int32)
        """
        if items is None:
            items = labels_of(scores)
        ranks = _core.levels(as_scores(scores))
        return cls.trusted(ranks, None if items is None else check_items(items, ranks.shape[1]))

    def complete(self, rng: RNG = None) -> Rankings:
        """Order ties and the items not ranked, which come last, at random.

        Parameters
        ----------
        rng : None, int or numpy.random.Generator
            Where the order comes from, for each row on its own.

        Examples
        --------
        >>> PartialRankings([[0, 1, -1], [0, 0, 1]]).complete(rng=0).ranks
        array([[0, 1, 2],
               [1, 0, 2]], dtype=int32)
        """
        scores = np.where(self._ranks < 0, -np.inf, -self._ranks.astype(np.float64))
        return Rankings.from_scores(scores, self._items, "random", rng)

    def twins(self) -> Rankings:
        """Two complete rankings for each: all first ones, then all second ones.

        Both keep what a partial ranking orders. What it ties (the items not ranked too) the
        first has by item number, and the second the other way round. So half the sum of an
        item's two positions is its mid-rank, and a tied pair counts one half for either order.

        Examples
        --------
        >>> PartialRankings([[1, 0, -1, -1]]).twins().ranks
        array([[1, 0, 2, 3],
               [1, 0, 3, 2]], dtype=int32)
        """
        return Rankings.trusted(_core.twins(self._ranks), self._items)


AnyRankings: TypeAlias = Rankings | PartialRankings


def as_partial(rankings: ArrayLike) -> PartialRankings:
    """Check partial rankings; complete ones are such, too.

    Examples
    --------
    >>> as_partial(Rankings([[0, 1]]))
    PartialRankings: 1 ranking of 2 items
    """
    if isinstance(rankings, PartialRankings):
        return rankings
    if isinstance(rankings, Rankings):
        return PartialRankings.trusted(rankings.ranks, rankings.item_labels)
    return PartialRankings(rankings)


def as_profile(
    rankings: ArrayLike, weights: ArrayLike | None
) -> tuple[NDArray[np.int32], NDArray[np.uint32] | None]:
    """Check rankings and their weights; of partial ones these are the twins'.

    Examples
    --------
    >>> ranks, weights = as_profile(PartialRankings([[0, 0], [1, 0]]), [3, 1])
    >>> ranks.tolist(), weights.tolist()
    ([[0, 1], [1, 0], [1, 0], [1, 0]], [3, 1, 3, 1])
    """
    if isinstance(rankings, PartialRankings):
        counts = as_weights(weights, len(rankings))
        return rankings.twins().ranks, None if counts is None else np.tile(counts, 2)
    ranks = as_rankings(rankings)
    return ranks, as_weights(weights, len(ranks))


def as_tied(choice: Any) -> list[Any]:
    """Labels of one place of an order.

    Examples
    --------
    >>> as_tied("ab"), as_tied(["a", "b"])
    (['ab'], ['a', 'b'])
    """
    return list(choice) if isinstance(choice, list | set | frozenset) else [choice]
