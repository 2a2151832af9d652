"""What complete and partial rankings have in common: rows of labelled items."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fedrank import _core
from fedrank._random import RNG, as_rng
from fedrank._validation import as_array, as_list, check_items, few, plural, read_only, whole
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.source import Note, Source

if TYPE_CHECKING:
    from fedrank.rankings.complete import Rankings
    from fedrank.rankings.partial import PartialRankings

GIVE_LABELS = "give the rankings labels, with Rankings(ranks, items=[…])"

Rows: TypeAlias = slice | Sequence[int] | Sequence[bool] | NDArray[Any]
"""A selection of rows: a slice, a mask or a list of row numbers."""


class Labelled:
    """Rows of ``n`` labelled items: the base of `Rankings` and `PartialRankings`."""

    __slots__ = ("_items", "_ranks", "_source")

    _ranks: NDArray[np.int32]
    _items: tuple[Hashable, ...] | None
    _source: Source | None

    @classmethod
    def _trusted(
        cls,
        ranks: NDArray[np.int32],
        items: tuple[Hashable, ...] | None = None,
        source: Source | None = None,
    ) -> Self:
        """Wrap a C-ordered ``int32`` matrix that is known to be valid, without checking it."""
        rankings = cls.__new__(cls)
        rankings._ranks = read_only(ranks)
        rankings._items = items
        rankings._source = source
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
    def source(self) -> Source | None:
        """What was read from which file, in words; None if the rankings are not from a file.

        The source of a part says how many of the rankings it has. Equality ignores the source.
        """
        return None if self._source is None else self._source.of(len(self))

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self._ranks.shape[1])

    def split(self, clients: int, rng: RNG = None) -> list[Self]:
        """Divide the rankings among clients at random, as evenly as possible.

        Parameters
        ----------
        clients : int
            Number of clients, from 1 to the number of rankings.
        rng : None, int or numpy.random.Generator
            Random seed or generator.

        Returns
        -------
        parts : list
            One object per client, of the same type as this one.

        Raises
        ------
        ValueError
            If a client would get no ranking.

        Examples
        --------
        >>> from fedrank import Rankings
        >>> [len(part) for part in Rankings([[0, 1]] * 7).split(3, rng=0)]
        [3, 2, 2]
        """
        if whole("clients", clients) > len(self):
            raise InputError(
                f"{len(self)} rankings cannot be split among {clients} clients: "
                "each client needs at least one",
                value=clients,
            )
        rows = as_rng(rng).permutation(len(self))
        return [self[np.sort(part)] for part in np.array_split(rows, clients)]

    def align(self, items: Iterable[Hashable]) -> Self:
        """Reorder the items.

        Parameters
        ----------
        items : sequence
            All labels of these rankings, in the new order.

        Returns
        -------
        aligned : Rankings or PartialRankings
            The same rankings, with the columns in the new order.

        Raises
        ------
        ValueError
            If labels are missing or extra; the message names them.

        Examples
        --------
        >>> from fedrank import Rankings
        >>> Rankings([[0, 1, 2]], items=["a", "b", "c"]).align(["c", "a", "b"]).ranks
        array([[2, 0, 1]], dtype=int32)
        """
        labels = tuple(items)
        if self._items is None:
            raise InputError("the rankings have no labels to align by", remedy=GIVE_LABELS)
        wanted, given = set(labels), set(self._items)
        missing = [label for label in labels if label not in given]
        extra = [label for label in self._items if label not in wanted]
        if missing or extra:
            lists = (("missing", missing), ("extra", extra))
            differences = [f"{word}: {few(some)}" for word, some in lists if some]
            raise InputError(
                "the labels differ from those of the rankings; " + "; ".join(differences),
                remedy=Remedy.COMMON_ITEMS,
            )
        labels = check_items(labels, self.n)
        index = {label: i for i, label in enumerate(self._items)}
        columns = [index[label] for label in labels]
        return self._trusted(np.ascontiguousarray(self._ranks[:, columns]), labels, self._source)

    @classmethod
    def concat(
        cls, parts: "Iterable[Rankings | PartialRankings]", *others: object
    ) -> "Rankings | PartialRankings":
        """Join rankings of the same items, one after the other.

        Parameters
        ----------
        parts : iterable of Rankings or PartialRankings
            If they have labels, the items get the order of the first part. If one
            is partial, or concat is called on PartialRankings, the result is partial too.
        *others
            Refused: the parts must be in one list.

        Returns
        -------
        rankings : Rankings or PartialRankings

        Raises
        ------
        ValueError
            If they rank different items; the message lists what is missing where. If the parts
            are not in one list.

        Examples
        --------
        >>> from fedrank import Rankings
        >>> one, two = Rankings([[0, 1]], items=["a", "b"]), Rankings([[0, 1]], items=["b", "a"])
        >>> Rankings.concat([one, two]).ranks.tolist()
        [[0, 1], [1, 0]]
        """
        if others:
            raise InputError(
                f"concat takes one list of rankings, not {len(others) + 1} arguments",
                remedy=f"put them in a list, as in {cls.__name__}.concat([one, two])",
            )
        from fedrank.rankings.combine import concat  # noqa: PLC0415  it knows both kinds

        return concat(parts, cls)

    def select(self, items: Iterable[Hashable]) -> Self:
        """Keep some items, ranked among themselves as before.

        Parameters
        ----------
        items : sequence
            Labels of the items to keep, in the new order of the columns.

        Returns
        -------
        selected : Rankings or PartialRankings

        Raises
        ------
        ValueError
            If the rankings have no labels, a label is unknown, or a partial ranking ranks none of
            these items.

        Examples
        --------
        >>> from fedrank import Rankings
        >>> Rankings([[2, 0, 3, 1]], items=["a", "b", "c", "d"]).select(["a", "c", "d"]).ranks
        array([[1, 2, 0]], dtype=int32)
        """
        labels = tuple(as_list(items, "items"))
        labels = check_items(labels, len(labels))
        if self._items is None:
            raise InputError("the rankings have no labels to select by", remedy=GIVE_LABELS)
        if not labels:
            raise InputError("select needs at least one item to keep")
        index = {label: i for i, label in enumerate(self._items)}
        unknown = [label for label in labels if label not in index]
        if unknown:
            raise InputError(
                f"{plural(len(unknown), 'label')} not among the items: {few(unknown)}",
                value=unknown[0],
                remedy=f"the items are {few(self._items)}; common_items lists those that several "
                "rankings share",
            )
        kept = self._ranks[:, [index[label] for label in labels]]
        blank = np.flatnonzero((kept < 0).all(axis=1))
        if blank.size:
            raise InputError(
                "the row ranks none of the selected items",
                row=int(blank[0]),
                remedy="leave the row out, or select more items",
            )
        scores = np.where(kept < 0, np.nan, -kept.astype(np.float64))
        left = Note(self.n - len(labels), "item", "{} left out")
        source = self._source and self._source.note(left)
        return self._trusted(_core.levels(np.ascontiguousarray(scores)), labels, source)

    def common_items(self, *others: "Labelled") -> tuple[Hashable, ...]:
        """Return the labels that these and all other rankings have, in the order of these.

        Examples
        --------
        >>> from fedrank import Rankings
        >>> north = Rankings([[0, 1, 2]], items=["a", "b", "c"])
        >>> north.common_items(Rankings([[0, 1, 2]], items=["c", "d", "a"]))
        ('a', 'c')
        """
        for each in (self, *others):
            if not isinstance(each, Labelled):
                raise InputError(
                    f"common_items takes Rankings or PartialRankings, not {type(each).__name__}"
                )
            if each._items is None:
                raise InputError("the rankings have no labels", remedy=GIVE_LABELS)
        sets = [set(each.items) for each in others]
        return tuple(label for label in self.items if all(label in held for held in sets))

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
        selection = rows if isinstance(rows, slice) else np.asarray(rows)
        whole_rows = "an index selects whole rankings: use a row, a slice, a mask or a list of rows"
        if isinstance(selection, np.ndarray) and selection.size == 0:
            selection = selection.astype(np.intp)
        if isinstance(selection, np.ndarray) and selection.dtype.kind in "US":
            raise IndexError(f"{whole_rows}, not {rows!r}; select keeps some of the items")
        picked = self._ranks[selection]
        if picked.ndim != 2 or picked.shape[1] != self.n:
            raise IndexError(whole_rows)
        return self._trusted(np.ascontiguousarray(picked), self._items, self._source)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return iter(self._ranks)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return as_array(self._ranks, dtype, copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labelled) or type(other) is not type(self):
            return NotImplemented
        return self._items == other._items and np.array_equal(self._ranks, other._ranks)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy goes through the constructor, so that it is checked and read-only too.
        return type(self), (np.array(self._ranks), self._items), self._source

    def __setstate__(self, source: Source | None) -> None:
        self._source = source

    __hash__ = None  # type: ignore[assignment]  # equality is by value, and arrays have no hash

    def __repr__(self) -> str:
        m, n = self._ranks.shape
        text = f"{type(self).__name__}: {plural(m, 'ranking')} of {plural(n, 'item')}"
        if self._items is None:
            return text
        return f"{text} ({few(self._items)})"
