"""Rankings of labelled items: the one door through which data enters."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fedrank import _core
from fedrank._random import RNG, seed_bytes
from fedrank._validation import (
    INT32_MAX,
    as_array,
    as_integers,
    as_list,
    as_matrix,
    check_items,
    chosen,
    describe_fault,
    few,
    hashable,
    plural,
    read_only,
    whole,
)

Rows: TypeAlias = slice | Sequence[int] | Sequence[bool] | NDArray[Any]
"""Which rows to take: a slice, a mask or a list."""


class Labelled:
    """Rows of ``n`` labelled items: what `Rankings` and partial ones have in common."""

    __slots__ = ("_items", "_ranks")

    _ranks: NDArray[np.int32]
    _items: tuple[Hashable, ...] | None

    @classmethod
    def trusted(cls, ranks: NDArray[np.int32], items: tuple[Hashable, ...] | None = None) -> Self:
        """Wrap an ``int32`` C-ordered matrix that the core made, without a check.

        Examples
        --------
        >>> Rankings.trusted(np.array([[1, 0]], dtype=np.int32))
        Rankings: 1 ranking of 2 items
        """
        rankings = cls.__new__(cls)
        rankings._ranks = read_only(ranks)
        rankings._items = items
        return rankings

    @property
    def ranks(self) -> NDArray[np.int32]:
        """Positions, shape (m, n), read-only."""
        return self._ranks

    @property
    def items(self) -> tuple[Hashable, ...]:
        """Labels of the items; ``0..n-1`` if none were given."""
        return tuple(range(self.n)) if self._items is None else self._items

    @property
    def item_labels(self) -> tuple[Hashable, ...] | None:
        """Labels of the items; None if none were given."""
        return self._items

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self._ranks.shape[1])

    def split(self, clients: int, rng: RNG = None) -> list[Self]:
        """Deal the rankings at random to clients, as evenly as can be.

        Parameters
        ----------
        clients : int
            From 1 to the number of rankings.
        rng : None, int or numpy.random.Generator
            Decides who gets what.

        Raises
        ------
        ValueError
            If a client would get none.

        Examples
        --------
        >>> [len(part) for part in Rankings([[0, 1]] * 7).split(3, rng=0)]
        [3, 2, 2]
        """
        if whole("clients", clients) > len(self):
            raise ValueError(
                f"{len(self)} rankings cannot be split among {clients} clients: "
                f"each needs at least one"
            )
        rows = np.random.default_rng(rng).permutation(len(self))
        return [self[np.sort(part)] for part in np.array_split(rows, clients)]

    def align(self, items: Iterable[Hashable]) -> Self:
        """Put the items into another order of the same labels.

        Parameters
        ----------
        items : sequence
            All labels, in the order wanted.

        Raises
        ------
        ValueError
            If labels are missing or extra; the message names them.

        Examples
        --------
        >>> Rankings([[0, 1, 2]], items=["a", "b", "c"]).align(["c", "a", "b"]).ranks
        array([[2, 0, 1]], dtype=int32)
        """
        labels = tuple(items)
        if self._items is None:
            raise ValueError("these rankings have no labels to align by: give them items=")
        wanted, given = set(labels), set(self._items)
        missing = [label for label in labels if label not in given]
        extra = [label for label in self._items if label not in wanted]
        if missing or extra:
            lacks = f"missing: {few(missing)}" if missing else ""
            more = f"extra: {few(extra)}" if extra else ""
            raise ValueError("the labels differ; " + "; ".join(filter(None, (lacks, more))))
        labels = check_items(labels, self.n)
        index = {label: i for i, label in enumerate(self._items)}
        columns = [index[label] for label in labels]
        return self.trusted(np.ascontiguousarray(self._ranks[:, columns]), labels)

    def __len__(self) -> int:
        return int(self._ranks.shape[0])

    @overload
    def __getitem__(self, rows: int) -> NDArray[np.int32]: ...
    @overload
    def __getitem__(self, rows: Rows) -> Self: ...
    def __getitem__(self, rows: int | Rows) -> NDArray[np.int32] | Self:
        if isinstance(rows, int | np.integer):
            one: NDArray[np.int32] = self._ranks[rows]
            return one
        chosen_rows = rows if isinstance(rows, slice) else np.asarray(rows)
        if isinstance(chosen_rows, np.ndarray) and chosen_rows.size == 0:
            chosen_rows = chosen_rows.astype(np.intp)
        picked = self._ranks[chosen_rows]
        if picked.ndim != 2 or picked.shape[1] != self.n:
            raise IndexError("rankings are taken whole: index by row, slice, mask or list of rows")
        return self.trusted(np.ascontiguousarray(picked), self._items)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return iter(self._ranks)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return as_array(self._ranks, dtype, copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labelled) or type(other) is not type(self):
            return NotImplemented
        return self._items == other._items and np.array_equal(self._ranks, other._ranks)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are made anew, and so checked and read-only again.
        return type(self), (np.array(self._ranks), self._items)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays do not hash

    def __repr__(self) -> str:
        m, n = self._ranks.shape
        text = f"{type(self).__name__}: {plural(m, 'ranking')} of {plural(n, 'item')}"
        if self._items is None:
            return text
        return f"{text} ({few(self._items)})"


class Rankings(Labelled):
    """Validated rankings of ``n`` labelled items, one a row.

    A ranking is a rank vector: entry ``i`` is the position of item ``i``, 0 the best.
    The positions are kept as a read-only C-ordered ``int32`` matrix, checked once, so
    that functions which are given a `Rankings` need not check it again.

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
    ValueError
        If a row is not a ranking; the message names the first such row, the value at fault
        and, where it can be guessed, the mend.

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
        if items is None:
            items = labels_of(ranks)
        self._ranks = as_rankings(ranks, base, copy=True)
        self._items = None if items is None else check_items(items, self.n)

    @classmethod
    def from_orders(
        cls, orders: Iterable[Iterable[Hashable]], items: Iterable[Hashable] | None = None
    ) -> "Rankings":
        """Rankings from lists of items, best first.

        Parameters
        ----------
        orders : iterable of iterables
            Every item once, best first: labels, or the numbers ``0..n-1``.
        items : sequence, optional
            The labels, in the order that the positions shall have. By default ``0..n-1``
            if the entries are these numbers, otherwise the labels found, sorted: any two
            parties then agree on it.

        Raises
        ------
        ValueError
            If a list misses an item, repeats one or names an unknown one.

        Examples
        --------
        >>> Rankings.from_orders(["bac", "abc"]).ranks
        array([[1, 0, 2],
               [0, 1, 2]], dtype=int32)
        """
        given = as_list(orders, "orders")
        rows = [as_list(order, f"order {row}") for row, order in enumerate(given)]
        if not rows:
            raise ValueError("no orders were given")
        found = rows[0] if items is None else as_list(items, "items")
        labels = check_items(found, len(found))
        if items is None:
            labels = in_order(labels)
        index = {label: i for i, label in enumerate(labels)}
        if not labels:
            raise ValueError("row 0 is empty: an order must name at least one item")
        order_indices = np.empty((len(rows), len(labels)), dtype=np.int32)
        numbers = set(range(len(labels)))
        if not any(hashable(x) and x in index for x in rows[0]) and all(
            isinstance(x, int | np.integer) and x in numbers for row in rows for x in row
        ):
            index = {number: number for number in numbers}  # item numbers instead of labels
        for row, order in enumerate(rows):
            unknown = [x for x in order if not hashable(x) or x not in index]
            if unknown:
                raise ValueError(f"row {row} names {unknown[0]!r}, which is not an item")
            missing = set(index).difference(order)
            if missing:
                first = next(label for label in index if label in missing)
                raise ValueError(
                    f"row {row} leaves out {first!r}: an order names every item; "
                    "for partial ballots use Rankings.from_ballots or PartialRankings.from_orders"
                )
            if len(order) != len(index):
                twice = next(label for label in order if order.count(label) > 1)
                raise ValueError(f"row {row} names {twice!r} more than once")
            order_indices[row] = [index[label] for label in order]
        named = labels if items is not None or labels != tuple(range(len(labels))) else None
        return cls.trusted(_core.invert(order_indices), named)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        items: Iterable[Hashable] | None = None,
        ties: str = "random",
        rng: RNG = None,
    ) -> "Rankings":
        """Rankings from scores, the highest best.

        Parameters
        ----------
        scores : array_like of float, shape (m, n) or (n,)
            An array, or a pandas or polars frame whose columns are the items.
        items : sequence, optional
            Labels; by default the columns of a frame.
        ties : {"random", "index", "error"}
            Equal scores of a row are ordered at random from ``rng``, by column, or refused.
        rng : None, int or numpy.random.Generator
            Where random ties come from.

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
            raise ValueError(f'ties must be "random", "index" or "error", not {ties!r}')
        if items is None:
            items = labels_of(scores)
        ranks = _core.from_scores(as_scores(scores), ties, seed_bytes(rng))
        labels = None if items is None else check_items(items, ranks.shape[1])
        return cls.trusted(ranks, labels)

    @classmethod
    def from_ballots(
        cls, ballots: Iterable[Iterable[Any]], items: Iterable[Hashable], rng: RNG = None
    ) -> "Rankings":
        """Rankings from ballots that may be partial or spoilt in places.

        Each ballot lists choices, best first. Dropped are blank choices (None, NaN, "",
        "undervote"), overvotes ("overvote", or a list or set of several labels) and second
        mentions of an item. The items not ranked follow in uniformly random order, drawn
        for each ballot on its own.

        Parameters
        ----------
        ballots : iterable of iterables
            Choices, best first.
        items : sequence
            All labels.
        rng : None, int or numpy.random.Generator
            Where the completions come from.

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
            raise ValueError("items must name at least one item")
        rows = []
        for row, ballot in enumerate(ballots):
            scores = np.full(len(labels), -np.inf)
            for place, choice in enumerate(as_list(ballot, f"ballot {row}")):
                item = chosen(choice, index, row)
                if item is not None and scores[item] == -np.inf:
                    scores[item] = -place
            rows.append(scores)
        if not rows:
            return cls.trusted(np.empty((0, len(labels)), dtype=np.int32), labels)
        return cls.from_scores(np.array(rows), labels, "random", rng)

    def orders(self) -> NDArray[np.int32]:
        """Item numbers best first, shape (m, n): the inverse of the ranks.

        Examples
        --------
        >>> Rankings([[2, 0, 1]]).orders()
        array([[1, 2, 0]], dtype=int32)
        """
        return _core.invert(self._ranks)


def as_rankings(ranks: ArrayLike, base: int = 0, copy: bool = False) -> NDArray[np.int32]:
    """Cast, order and validate rankings; a `Rankings` passes as it is.

    An ``int32`` array in C order is not copied unless ``copy`` says so.

    Examples
    --------
    >>> as_rankings([[1.0, 2.0]], base=1)
    array([[0, 1]], dtype=int32)
    """
    if isinstance(ranks, Rankings):
        return ranks.ranks
    if isinstance(ranks, Labelled):
        raise ValueError(
            "partial rankings are not taken here: complete them, PartialRankings.complete(rng=…), "
            "or use Borda or Refine with partial=True, or the methods borda, pivot or kemeny"
        )
    if base not in (0, 1):
        raise ValueError(f"base must be 0 or 1, not {base!r}")
    matrix = as_integers(ranks, "positions")
    ordered = np.array(matrix, dtype=np.int32, order="C", copy=True if copy or base else None)
    if base:
        if ordered.size and ordered.min() < -INT32_MAX:
            row, item = np.argwhere(ordered < -INT32_MAX)[0]
            raise ValueError(f"row {row}: {ordered[row, item]} of item {item} is too large")
        ordered -= base
    fault = _core.find_fault(ordered)
    if fault is not None:
        raise ValueError(describe_fault(ordered, fault.row, fault.rank, base))
    return read_only(ordered) if copy else ordered


def in_order(labels: Collection[Hashable]) -> tuple[Hashable, ...]:
    """Put labels into an order that any two parties agree on.

    Examples
    --------
    >>> in_order([10, 9, "b", "a"]), in_order([1, 0])
    ((10, 9, 'a', 'b'), (0, 1))
    """
    if set(labels) == set(range(len(labels))):
        return tuple(range(len(labels)))
    return tuple(sorted(labels, key=lambda label: (type(label).__name__, str(label))))


def as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Cast and order scores; complain of what a float cannot tell apart.

    Examples
    --------
    >>> as_scores([1, 2])
    array([[1., 2.]])
    """
    matrix = as_matrix(scores, "scores")
    if not np.can_cast(matrix.dtype, np.float64, "same_kind") and matrix.dtype.kind not in "iu":
        raise ValueError(f"scores must be real numbers, not {matrix.dtype}")
    exact = matrix.astype(np.float64, copy=False)
    if matrix.dtype.kind in "iu" and not np.array_equal(exact.astype(matrix.dtype), matrix):
        raise ValueError("integer scores beyond 2^53 cannot be told apart; rank them first")
    return np.ascontiguousarray(exact)


def labels_of(values: object) -> tuple[Hashable, ...] | None:
    """Labels that an input carries: our own objects, pandas and polars frames; else None."""
    if hasattr(values, "item_labels"):
        return cast("tuple[Hashable, ...] | None", values.item_labels)
    columns = getattr(values, "columns", None)
    if columns is None or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(columns)


def same_items(*rankings: object) -> tuple[Hashable, ...] | None:
    """Labels that several inputs share; None if none has any.

    Raises ValueError if two inputs are labelled differently, because position ``i`` would
    then mean different items.
    """
    shared: tuple[Hashable, ...] | None = None
    for labels in map(labels_of, rankings):
        if labels is None:
            continue
        if shared is None:
            shared = labels
        elif labels != shared:
            if len(labels) != len(shared):
                raise ValueError(
                    f"rankings of {len(shared)} items do not go with rankings of {len(labels)}"
                )
            first = next(pair for pair in zip(shared, labels, strict=True) if pair[0] != pair[1])
            raise ValueError(
                f"the rankings label their items differently: {first[0]!r} in one is "
                f"{first[1]!r} in another; Rankings.align puts them into one order"
            )
    return shared
