"""Partial rankings: items may be tied or not ranked, and nothing is drawn at random."""

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._entries import as_integers, refuse_where
from fedrank._frames import as_frame, labels_of, order_rows
from fedrank._random import RNG
from fedrank._validation import (
    as_list,
    as_weights,
    check_items,
    hashable,
    not_an_item,
    read_only,
)
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings, as_rankings, as_scores, in_order
from fedrank.rankings.labelled import Labelled


class PartialRankings(Labelled):
    """Rankings of ``n`` labelled items, some of them tied or not ranked; one ranking per row.

    Entry ``i`` of a row is the level of item ``i``, 0 the best: items of one level are tied.
    Items of level -1 are not ranked. They count everywhere as tied with each other, below all
    ranked items. Positions that share or skip numbers, such as 1, 1, 3, mean the same as the
    levels 0, 0, 1, and are stored as these.

    Parameters
    ----------
    ranks : array_like of int, shape (m, n) or (n,)
        Positions, the lowest best. Equal positions are ties, and -1 means not ranked.
    items : sequence, optional
        ``n`` different labels. Taken from the columns of a data frame; ``0..n-1`` otherwise.

    Raises
    ------
    ValueError
        If a position is below -1, or a row ranks no item.

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
        ranks = as_frame(ranks)
        if items is None:
            items = labels_of(ranks)
        labels = None if items is None else tuple(as_list(items, "items"))
        positions = as_integers(ranks, "positions", labels)
        refuse_where(
            positions < -1,
            positions,
            "is not a position",
            "use 0 or more, or -1 for an item that is not ranked",
            labels,
        )
        scores = np.where(positions < 0, np.nan, -positions.astype(np.float64))
        self._ranks = read_only(levels_of(np.ascontiguousarray(scores)))
        self._items = None if labels is None else check_items(labels, self.n)
        self._source = ranks._source if isinstance(ranks, Labelled) else None

    @classmethod
    def from_orders(
        cls, orders: Iterable[Iterable[Any]], items: Iterable[Hashable] | None = None
    ) -> "PartialRankings":
        """Make partial rankings from lists of items, best first.

        Parameters
        ----------
        orders : iterable of iterables
            Items, best first; tied items are a list or a set. Items that are left out are not
            ranked. Of a data frame, each row is an order.
        items : sequence, optional
            The labels, in the order of the columns of `ranks`. By default all labels that the
            orders name, sorted.

        Returns
        -------
        rankings : PartialRankings

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
        rows = [[as_tied(each) for each in order] for order in order_rows(orders, "order")]
        if not rows:
            raise InputError("no orders were given")
        for row, groups in enumerate(rows):
            if [] in groups:
                raise InputError("a tie names no item", row=row, remedy="leave the tie out")
            for label in (label for tied in groups for label in tied):
                if not hashable(label):
                    raise InputError(
                        f"item labels must be text or numbers, not {label!r}", row=row, value=label
                    )
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
                        raise not_an_item(label, index, row)
                    if levels[row, index[label]] != -1:
                        raise InputError(
                            f"the order names {label!r} more than once",
                            row=row,
                            item=index[label],
                            value=label,
                        )
                    levels[row, index[label]] = level
        return cls(levels, None if labels == tuple(range(len(labels))) else labels)

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, items: Iterable[Hashable] | None = None
    ) -> "PartialRankings":
        """Make partial rankings from scores, the highest score first; equal scores are ties.

        Parameters
        ----------
        scores : array_like of float, shape (m, n) or (n,)
            An array, or a data frame whose columns are the items. NaN means not ranked.
        items : sequence, optional
            Labels; by default the columns of a frame.

        Returns
        -------
        rankings : PartialRankings

        Raises
        ------
        ValueError
            If a row ranks no item.

        Examples
        --------
        >>> PartialRankings.from_scores([[0.5, 0.9, float("nan"), 0.5]]).ranks
        array([[ 1, 0, -1, 1]], dtype=int32)
        """
        scores = as_frame(scores)
        if items is None:
            items = labels_of(scores)
        labels = None if items is None else tuple(as_list(items, "items"))
        ranks = levels_of(as_scores(scores, labels))
        return cls._trusted(ranks, None if labels is None else check_items(labels, ranks.shape[1]))

    def complete(self, rng: RNG = None) -> Rankings:
        """Order tied items at random, and put the items not ranked last, in random order.

        The `source` of the result says how many rankings chance completed.

        Parameters
        ----------
        rng : None, int or numpy.random.Generator
            Random seed or generator. Each row is completed independently.

        Returns
        -------
        rankings : Rankings

        Examples
        --------
        >>> PartialRankings([[0, 1, -1], [0, 0, 1]]).complete(rng=0).ranks
        array([[0, 1, 2],
               [1, 0, 2]], dtype=int32)
        """
        scores = np.where(self._ranks < 0, -np.inf, -self._ranks.astype(np.float64))
        completed = Rankings.from_scores(scores, self._items, ties="random", rng=rng)
        if self._source is not None:
            completed._source = self._source.complete(count_open(self._ranks))
        return completed

    def twins(self) -> Rankings:
        """Return two complete rankings per partial one: all first twins, then all second twins.

        Both twins keep the order of items that are not tied. Tied items (items not ranked are
        tied too) are in the order of their numbers in the first twin, and in the reverse order
        in the second. So half the sum of an item's two positions is its mid-rank, and a tied
        pair counts one half for either order.

        Examples
        --------
        >>> PartialRankings([[1, 0, -1, -1]]).twins().ranks
        array([[1, 0, 2, 3],
               [1, 0, 3, 2]], dtype=int32)
        """
        return Rankings._trusted(_core.twins(self._ranks), self._items, self._source)


AnyRankings: TypeAlias = Rankings | PartialRankings


def count_open(levels: NDArray[np.int32]) -> int:
    """Count the rows whose order is open: with tied items, or at least two that are not ranked.

    Examples
    --------
    >>> count_open(np.array([[0, 1, -1], [0, 0, 1], [0, -1, -1]], dtype=np.int32))
    2
    """
    # Levels have no holes, so a row has as many as its highest one says.
    levels_used = levels.max(axis=1, initial=-1) + 1 + (levels < 0).any(axis=1)
    return int((levels_used < levels.shape[1]).sum())


def levels_of(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the levels of scores, the highest score first; NaN is not ranked.

    Examples
    --------
    >>> levels_of(np.array([[0.0, 1.0, np.nan]]))
    array([[ 1, 0, -1]], dtype=int32)
    """
    try:
        return _core.levels(scores)
    except ValueError:
        blank = np.flatnonzero(np.isnan(scores).all(axis=1))
        if blank.size:
            raise InputError(
                "the row ranks no item", row=int(blank[0]), remedy="leave the row out"
            ) from None
        raise


def as_partial(rankings: ArrayLike) -> PartialRankings:
    """Return rankings as `PartialRankings`; complete rankings are a special case.

    Examples
    --------
    >>> as_partial(Rankings([[0, 1]]))
    PartialRankings: 1 ranking of 2 items
    """
    if isinstance(rankings, PartialRankings):
        return rankings
    if isinstance(rankings, Rankings):
        return PartialRankings._trusted(rankings.ranks, rankings.item_labels, rankings._source)
    return PartialRankings(rankings)


def as_profile(
    rankings: ArrayLike, weights: ArrayLike | None, base: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.uint32] | None]:
    """Check rankings and their weights; partial rankings are replaced by their twins.

    Examples
    --------
    >>> ranks, weights = as_profile(PartialRankings([[0, 0], [1, 0]]), [3, 1])
    >>> ranks.tolist(), weights.tolist()
    ([[0, 1], [1, 0], [1, 0], [1, 0]], [3, 1, 3, 1])
    """
    if base != 0 and isinstance(rankings, Labelled):
        raise InputError(
            f"base is for arrays: the positions of {type(rankings).__name__} are 0-based",
            value=base,
            remedy="leave out base",
        )
    if isinstance(rankings, PartialRankings):
        counts = as_weights(weights, len(rankings))
        return rankings.twins().ranks, None if counts is None else np.tile(counts, 2)
    ranks = as_rankings(rankings, base, labels=labels_of(rankings))
    return ranks, as_weights(weights, len(ranks))


def as_tied(choice: Any) -> list[Any]:
    """Return the labels that share one position of an order.

    Examples
    --------
    >>> as_tied("ab"), as_tied(["a", "b"])
    (['ab'], ['a', 'b'])
    """
    return list(choice) if isinstance(choice, list | set | frozenset) else [choice]
