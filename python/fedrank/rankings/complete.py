"""Complete rankings of labelled items, and the checks that all rankings pass on their way in."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._entries import (
    SCORES,
    as_integers,
    as_matrix,
    item_name,
    not_a_ranking,
    refuse_text,
    refuse_where,
)
from fedrank._frames import as_frame, labels_of, order_rows
from fedrank._random import RNG, seed_bytes
from fedrank._validation import (
    INT32_MAX,
    as_list,
    check_items,
    chosen,
    hashable,
    not_an_item,
    read_only,
)
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.labelled import Labelled


class Rankings(Labelled):
    """Validated rankings of ``n`` labelled items, one ranking per row.

    A ranking is a rank vector: entry ``i`` is the position of item ``i``, 0 the best.
    The positions are a read-only C-ordered ``int32`` matrix. They are checked once, here:
    functions that take a `Rankings` do not check it again.

    Parameters
    ----------
    ranks : array_like of int, shape (m, n) or (n,)
        Positions, each row a permutation of ``base..base+n-1``. Integral floats, any
        integer type and any memory order are accepted.
    items : sequence, optional
        ``n`` different labels. Taken from the columns of a data frame; ``0..n-1`` otherwise.
    base : {0, 1}
        The best position.

    Raises
    ------
    fedrank.exceptions.InputError
        If a row is not a ranking. The error has the first such row, the value at fault and,
        where it can be guessed, the remedy.

    Examples
    --------
    >>> votes = Rankings([[0, 1, 2], [1, 0, 2]], items=["ann", "bob", "cy"])
    >>> votes
    Rankings: 2 rankings of 3 items (ann, bob, cy)
    >>> votes.ranks[1]
    array([1, 0, 2], dtype=int32)
    >>> len(votes[:1])
    1
    """

    __slots__ = ()

    def __init__(
        self, ranks: ArrayLike, items: Iterable[Hashable] | None = None, base: int = 0
    ) -> None:
        ranks = as_frame(ranks)
        labels = labels_of(ranks) if items is None else tuple(as_list(items, "items"))
        self._ranks = as_rankings(ranks, base, copy=True, labels=labels)
        self._items = None if labels is None else check_items(labels, self.n)
        self._source = ranks._source if isinstance(ranks, Labelled) else None

    @classmethod
    def from_orders(
        cls, orders: Iterable[Iterable[Hashable]], items: Iterable[Hashable] | None = None
    ) -> "Rankings":
        """Make rankings from lists of items, best first.

        Parameters
        ----------
        orders : iterable of iterables
            Every item once, best first: labels, or the numbers ``0..n-1``. Of a data frame, each
            row is an order.
        items : sequence, optional
            The labels, in the order of the columns of `ranks`. By default ``0..n-1`` if the
            entries are these numbers, otherwise the labels found, sorted, so that any two
            parties agree on the order.

        Returns
        -------
        rankings : Rankings

        Raises
        ------
        ValueError
            If a list leaves out an item, repeats one or names an unknown one.

        Examples
        --------
        >>> Rankings.from_orders(["bac", "abc"]).ranks
        array([[1, 0, 2],
               [0, 1, 2]], dtype=int32)
        """
        rows = order_rows(orders, "order")
        if not rows:
            raise InputError("no orders were given")
        found = rows[0] if items is None else as_list(items, "items")
        labels = check_items(found, len(found))
        if items is None:
            labels = in_order(labels)
        index = {label: i for i, label in enumerate(labels)}
        if not labels:
            raise InputError("an order must name at least one item, but this is empty", row=0)
        order_indices = np.empty((len(rows), len(labels)), dtype=np.int32)
        numbers = set(range(len(labels)))
        if not any(hashable(x) and x in index for x in rows[0]) and all(
            isinstance(x, int | np.integer) and x in numbers for row in rows for x in row
        ):
            index = {number: number for number in numbers}  # item numbers instead of labels
        for row, order in enumerate(rows):
            check_order(order, index, row)
            order_indices[row] = [index[label] for label in order]
        named = labels if items is not None or labels != tuple(range(len(labels))) else None
        return cls._trusted(_core.invert(order_indices), named)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        items: Iterable[Hashable] | None = None,
        *,
        ties: str = "random",
        rng: RNG = None,
    ) -> "Rankings":
        """Make rankings from scores, the highest score first.

        Parameters
        ----------
        scores : array_like of float, shape (m, n) or (n,)
            An array, or a data frame whose columns are the items.
        items : sequence, optional
            Labels; by default the columns of a frame.
        ties : {"random", "index", "error"}
            Whether equal scores of a row are ordered at random, ordered by column, or an error.
        rng : None, int or numpy.random.Generator
            Random seed or generator, for ``ties="random"``.

        Returns
        -------
        rankings : Rankings

        Raises
        ------
        ValueError
            If a score is NaN, or tied under ``ties="error"``.

        Examples
        --------
        >>> Rankings.from_scores([[0.1, 0.9, 0.5]]).ranks
        array([[2, 0, 1]], dtype=int32)
        """
        if ties not in ("random", "index", "error"):
            raise InputError(f'ties must be "random", "index" or "error", not {ties!r}', value=ties)
        scores = as_frame(scores)
        if items is None:
            items = labels_of(scores)
        labels = None if items is None else tuple(as_list(items, "items"))
        matrix = as_scores(scores, labels)
        try:
            ranks = _core.from_scores(matrix, ties, seed_bytes(rng))
        except ValueError as error:
            raise score_error(matrix, ties, labels) or error from None
        return cls._trusted(ranks, None if labels is None else check_items(labels, ranks.shape[1]))

    @classmethod
    def from_ballots(
        cls, ballots: Iterable[Iterable[Any]], items: Iterable[Hashable], *, rng: RNG = None
    ) -> "Rankings":
        """Make rankings from ballots that may be incomplete or partly invalid.

        Each ballot lists choices, best first. Blank choices (None, NaN, "", "undervote"),
        overvotes ("overvote", or a list or set of several labels) and second mentions of an
        item are dropped. The items that a ballot does not rank follow in uniformly random
        order, drawn for each ballot independently.

        Parameters
        ----------
        ballots : iterable of iterables
            Choices, best first. Of a data frame, each row is a ballot.
        items : sequence
            All labels.
        rng : None, int or numpy.random.Generator
            Random seed or generator, for the items that a ballot does not rank.

        Returns
        -------
        rankings : Rankings
            One row per ballot.

        Raises
        ------
        ValueError
            If a ballot names an unknown item.

        Examples
        --------
        >>> ballots = [["bob", None, "bob", "ann"], [{"ann", "bob"}, "cy"]]
        >>> Rankings.from_ballots(ballots, items=["ann", "bob", "cy"], rng=1).ranks
        array([[1, 0, 2],
               [1, 2, 0]], dtype=int32)
        """
        labels = tuple(items)
        labels = check_items(labels, len(labels))
        index = {label: i for i, label in enumerate(labels)}
        if not labels:
            raise InputError("items must name at least one item")
        rows = []
        for row, ballot in enumerate(order_rows(ballots, "ballot")):
            scores = np.full(len(labels), -np.inf)
            for place, choice in enumerate(ballot):
                item = chosen(choice, index, row)
                if item is not None and scores[item] == -np.inf:
                    scores[item] = -place
            rows.append(scores)
        if not rows:
            return cls._trusted(np.empty((0, len(labels)), dtype=np.int32), labels)
        return cls.from_scores(np.array(rows), labels, ties="random", rng=rng)

    def orders(self) -> NDArray[np.int32]:
        """Return the item numbers of each ranking, best first, shape (m, n).

        Examples
        --------
        >>> Rankings([[2, 0, 1]]).orders()
        array([[1, 2, 0]], dtype=int32)
        """
        return _core.invert(self._ranks)


def as_rankings(
    ranks: ArrayLike,
    base: int = 0,
    copy: bool = False,
    labels: tuple[Hashable, ...] | None = None,
) -> NDArray[np.int32]:
    """Return rankings as a valid C-ordered ``int32`` matrix; a `Rankings` is not checked again.

    An ``int32`` array in C order is not copied unless ``copy`` is True. Errors name items by
    their labels, if these are given.

    Examples
    --------
    >>> as_rankings([[1.0, 2.0]], base=1)
    array([[0, 1]], dtype=int32)
    """
    if isinstance(ranks, Rankings):
        return ranks.ranks
    if isinstance(ranks, Labelled):
        raise InputError(
            "this function takes complete rankings, not PartialRankings",
            remedy="complete them with PartialRankings.complete(rng=…), or use Borda or Refine "
            "with partial=True, or the methods borda, pivot or kemeny",
        )
    if base not in (0, 1):
        raise InputError(f"base must be 0 or 1, not {base!r}", value=base)
    matrix = as_integers(ranks, "positions", labels)
    ordered = np.array(matrix, dtype=np.int32, order="C", copy=True if copy or base else None)
    if base:
        refuse_where(ordered < -INT32_MAX, ordered, "is too large", SCORES, labels)
        ordered -= base
    fault = _core.find_fault(ordered)
    if fault is not None:
        raise not_a_ranking(ordered, fault.row, fault.rank, base, labels)
    return read_only(ordered) if copy else ordered


def check_order(order: list[Any], index: dict[Hashable, int], row: int) -> None:
    """Check that an order names every item once."""
    unknown = [label for label in order if not hashable(label) or label not in index]
    if unknown:
        raise not_an_item(unknown[0], index, row)
    if len(set(order)) < len(order):
        twice = next(label for label in order if order.count(label) > 1)
        raise InputError(
            f"the order names {twice!r} more than once", row=row, item=index[twice], value=twice
        )
    missing = set(index).difference(order)
    if missing:
        first = next(label for label in index if label in missing)
        raise InputError(
            f"the order leaves out {first!r}, but an order names every item",
            row=row,
            item=index[first],
            remedy="for partial ballots use Rankings.from_ballots or PartialRankings.from_orders",
        )


def score_error(
    scores: NDArray[np.float64], ties: str, labels: Sequence[object] | None = None
) -> InputError | None:
    """Make the error of the first row that the core refused to rank; None if all are valid.

    Examples
    --------
    >>> print(score_error(np.array([[2.0, 1.0, 2.0]]), ties="error"))
    row 0: items 0 and 2 share the score 2; pass ties="random" or ties="index"
    """
    for row, values in enumerate(scores):
        nan = np.flatnonzero(np.isnan(values))
        if nan.size:
            item = int(nan[0])
            return InputError(
                f"the score of item {item_name(item, labels)} is NaN",
                row=row,
                item=item,
                value=float(values[item]),
                remedy="fill in the score, drop the row, or use PartialRankings.from_scores",
            )
        order = np.argsort(-values, kind="stable")
        equal = np.flatnonzero(values[order[1:]] == values[order[:-1]])
        if equal.size and ties == "error":
            first, second = order[equal[0] : equal[0] + 2].tolist()
            return InputError(
                f"items {item_name(first, labels)} and {item_name(second, labels)} share the "
                f"score {values[first]:g}",
                row=row,
                item=first,
                value=float(values[first]),
                remedy=Remedy.TIES,
            )
    return None


def in_order(labels: Collection[Hashable]) -> tuple[Hashable, ...]:
    """Sort labels, so that any two parties agree on the order.

    Examples
    --------
    >>> in_order([10, 9, "b", "a"]), in_order([1, 0])
    ((10, 9, 'a', 'b'), (0, 1))
    """
    if set(labels) == set(range(len(labels))):
        return tuple(range(len(labels)))
    return tuple(sorted(labels, key=lambda label: (type(label).__name__, str(label))))


def as_scores(scores: ArrayLike, labels: tuple[Hashable, ...] | None = None) -> NDArray[np.float64]:
    """Return scores as a C-ordered matrix of floats; refuse integers that floats would merge.

    Examples
    --------
    >>> as_scores([1, 2])
    array([[1., 2.]])
    """
    matrix = as_matrix(scores, "scores", labels)
    refuse_text(matrix, labels)
    if not np.can_cast(matrix.dtype, np.float64, "same_kind") and matrix.dtype.kind not in "iu":
        raise InputError(f"scores must be real numbers, not {matrix.dtype}")
    exact = matrix.astype(np.float64, copy=False)
    if matrix.dtype.kind in "iu" and not np.array_equal(exact.astype(matrix.dtype), matrix):
        raise InputError(
            "integer scores beyond 2^53 lose precision as floats", remedy="pass ranks instead"
        )
    return np.ascontiguousarray(exact)


def same_items(*rankings: object) -> tuple[Hashable, ...] | None:
    """Return the labels that several inputs share; None if none of them has labels.

    Raises ValueError if two inputs are labelled differently, because position ``i`` would
    then mean different items.
    """
    labelled = [labels for labels in map(labels_of, rankings) if labels is not None]
    if not labelled:
        return None
    shared = labelled[0]
    for labels in labelled[1:]:
        if len(labels) != len(shared):
            raise InputError(
                f"rankings of {len(shared)} items cannot be combined with rankings of "
                f"{len(labels)} items",
                remedy=Remedy.COMMON_ITEMS,
            )
        for item, (ours, theirs) in enumerate(zip(shared, labels, strict=True)):
            if ours != theirs:
                raise InputError(
                    f"the rankings label their items differently: item {item} is {ours!r} in one "
                    f"and {theirs!r} in another",
                    item=item,
                    value=theirs,
                    remedy="put the same items into one order with align",
                )
    return shared
