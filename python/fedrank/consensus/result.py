"""A consensus ranking, which behaves like the list of its labels, best first."""

import difflib
import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fedrank import _core
from fedrank._text import printable
from fedrank._validation import MAX_LISTED, as_array, few, hashable, plural, whole
from fedrank.consensus import saved, tables
from fedrank.consensus.html import as_html
from fedrank.consensus.ties import Groups, Searched, chance, groups_of
from fedrank.exceptions import InputError

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """A consensus ranking, and how good it is.

    It behaves like the list of its labels, best first: ``list(c)``, ``len(c)``, ``"ann" in c``.
    ``c["ann"]`` is the position of an item, by its label only. Positions are 0-based: 0 is the
    best. Tables, CSV, JSON and frames have a column ``place`` instead, in which 1 is the best.

    Attributes
    ----------
    ranks : numpy.ndarray of int32, shape (n,)
        Position of each item, 0 the best.
    item_labels : tuple or None
        Labels of the items, None if the rankings had none.
    method : str
        The method that computed it.
    scores : numpy.ndarray of float64 or None
        Mean position of each item (from 0, the best, to n - 1), for methods that rank by it. Of
        federated Borda, within the rounding of what clients send; with ``send="centroids"``, the
        position that the clients' mean level stands for (M6).
    ties : int
        Number of choices that the tie rule made: items that share a score (borda), tied digits
        (lehmer), tied comparisons (pivot), rankings equally near (pick), neighbours that as many
        rankings have in one order as in the other (kemeny, in which a cycle of majorities is a tied
        group too). The solver of footrule does not report ties: 0, and `tied_groups` is None.
        Sentences, tables and JSON count the tied groups instead.
    exact : bool or None
        Whether it is proven to minimise the distance of the method (footrule, kemeny); None
        for methods that minimise no distance. False also where it was not tested: a refinement
        that knows some pairs only needs the number of rankings for that (``counts``).
    objective : float or None
        Its `kemeny_score`, if the method computes it. A refinement knows it only where all pairs
        of items are known, or phi is fitted: it may prove an order to be the best without.
    lower_bound : float or None
        A lower bound of the `kemeny_score` of any ranking, if the method computes one.
    decided_by : {"random", "index", "order"}
        What decided the ties: chance, the item number, or, in a refinement, the order that the
        round before announced.
    searched : Searched or None
        Positions that are not tied, but whose order may be another one with another seed: what was
        random (``"search"`` of a kemeny consensus too large to be solved exactly, ``"pivots"``,
        or ``"start"``, the order that a refinement began with, which had ties broken at random
        that its comparisons do not settle), the first such position, and the position after the
        last.
    converged : bool or None
        Of a federated kemeny consensus, whether another round could not change it: nothing moved
        in the last one, every pair that is near was asked, or it is proved to be the best. False
        if the rounds were spent, or ended, before. None for other methods.
    source : object or None
        What was read, if the rankings say so; ``str(source)`` is one line.

    Examples
    --------
    >>> from fedrank import Rankings, aggregate
    >>> found = aggregate([[0, 1, 2], [0, 2, 1], [1, 0, 2]], "kemeny")
    >>> found.order
    array([0, 1, 2], dtype=int32)
    >>> found.exact
    True
    >>> found = aggregate(Rankings([[1, 0, 2]], items=["ann", "bob", "cy"]))
    >>> list(found), found["bob"]
    (['bob', 'ann', 'cy'], 0)
    """

    ranks: NDArray[np.int32]
    item_labels: tuple[Hashable, ...] | None
    method: str
    scores: NDArray[np.float64] | None = None
    ties: int = 0
    exact: bool | None = None
    objective: float | None = None
    lower_bound: float | None = None
    decided_by: str = "random"
    searched: Searched | None = None
    converged: bool | None = None
    source: object | None = field(default=None, compare=False)
    tied_runs: NDArray[np.int32] | None = field(default=None, compare=False)

    kind: ClassVar[str] = "consensus"
    kinds: ClassVar[dict[str, type["Consensus"]]] = {}

    def __init_subclass__(cls) -> None:
        Consensus.kinds[cls.kind] = cls

    @property
    def items(self) -> tuple[Hashable, ...]:
        """Labels of the items, by item number; ``0..n-1`` if none were given."""
        return tuple(range(len(self))) if self.item_labels is None else self.item_labels

    @property
    def order(self) -> NDArray[np.int32]:
        """Item numbers, best first."""
        order: NDArray[np.int32] = _core.invert(np.ascontiguousarray(self.ranks)[np.newaxis])[0]
        return order

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Labels, best first."""
        items = self.items
        return tuple(items[item] for item in self.order)

    def top(self, count: int = 10) -> tuple[Hashable, ...]:
        """Labels of the best items, best first.

        Examples
        --------
        >>> from fedrank import aggregate
        >>> aggregate([[1, 0, 2]]).top(2)
        (1, 0)
        """
        return self.labels[: whole("count", count, least=0)]

    @cached_property
    def tied_items(self) -> Groups | None:
        """Item numbers of `tied_groups`."""
        return None if self.tied_runs is None else groups_of(self.tied_runs, self.ranks)

    @property
    def tied_groups(self) -> tuple[tuple[Hashable, ...], ...] | None:
        """Labels of the items whose order the tie rule decided, one tuple per tie, best first.

        Borda: items of equal score. Kemeny, where it is solved exactly: the shortest runs of
        places that have the same items in every optimal ranking, if there are several such
        rankings. Pivot, refinements by some pairs only, and parts of a kemeny consensus that were
        searched: runs of neighbours that as many rankings have in one order as in the other. There
        a cycle of majorities is not seen unless all its pairs are known: see `searched`, which
        has its places. Lehmer: an item whose digit was tied, and those that it can move past; an
        item can be in several groups. Pick: the items whose places differ among the rankings that
        are equally near. None if the method does not report ties (footrule).

        Examples
        --------
        >>> from fedrank import aggregate
        >>> aggregate([[0, 1, 2], [1, 0, 2]], ties="index").tied_groups
        ((0, 1),)
        """
        if self.tied_items is None:
            return None
        items = self.items
        return tuple(tuple(items[item] for item in group) for group in self.tied_items)

    def to_pandas(self) -> Any:
        """Return a pandas frame, best item first.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``place`` (1 is the best), ``item``, ``score`` (if there are scores: mean
            positions, 0 the best) and ``tied`` (number of the item's first tie, or missing).

        Examples
        --------
        >>> from fedrank import aggregate
        >>> frame = aggregate([[1, 0]]).to_pandas()
        >>> frame["place"].tolist(), frame["item"].tolist(), frame["score"].tolist()
        ([1, 2], [1, 0], [0.0, 1.0])
        """
        return tables.to_pandas(self)

    def to_polars(self) -> "polars.DataFrame":
        """Return a polars frame, best item first, with the columns of `to_pandas`.

        Examples
        --------
        >>> from fedrank import aggregate
        >>> aggregate([[1, 0]]).to_polars().row(0)
        (1, 1, 0.0, None)
        """
        return tables.to_polars(self)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file, best item first, with the columns of `to_pandas`.

        Examples
        --------
        >>> from fedrank import aggregate
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     aggregate([[1, 0]]).to_csv(Path(folder) / "consensus.csv")
        ...     print((Path(folder) / "consensus.csv").read_text())
        place,item,score,tied
        1,1,0.0,
        2,0,1.0,
        """
        tables.to_csv(self, path)

    def to_json(self) -> str:
        """Write everything as JSON, which `from_json` reads; the rows have 1-based places.

        Raises
        ------
        fedrank.exceptions.InputError
            If a label is neither text nor a whole number: JSON could not tell them apart.

        Examples
        --------
        >>> from fedrank import aggregate
        >>> found = aggregate([[1, 0]])
        >>> Consensus.from_json(found.to_json()) == found
        True
        """
        return saved.write(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        It cannot detect a file whose author changed places, clients and costs consistently: use
        files only from people you trust.

        Raises
        ------
        fedrank.exceptions.InputError
            If it is something else, of another version, or damaged, or contradicts itself.

        Examples
        --------
        >>> from fedrank import aggregate
        >>> Consensus.from_json(aggregate([[1, 0]]).to_json()).order
        array([1, 0], dtype=int32)
        """
        return saved.read(text, cls)

    def _extra(self) -> dict[str, Any]:
        """Write the fields that a subclass adds, in values that JSON has."""
        return {}

    @classmethod
    def _read_extra(
        cls,
        extra: dict[str, Any],
        facts: dict[str, Any],  # noqa: ARG003  subclasses compare with it
    ) -> dict[str, Any]:
        """Check and read what `_extra` wrote; the other fields are read already."""
        saved.check_fields(extra, set())
        return {}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Offer the table of `to_pandas` to any library of data frames."""
        return tables.arrow_stream(self, requested_schema)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return as_array(self.ranks, dtype, copy)

    def __len__(self) -> int:
        return len(self.ranks)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {label: item for item, label in enumerate(self.items)}

    def __contains__(self, label: object) -> bool:
        return hashable(label) and label in self._index

    def __getitem__(self, label: Hashable) -> int:
        if not hashable(label):
            raise InputError(
                f"an index must be the label of one item, not {label!r}",
                value=label,
                remedy="look up one label at a time, with [c[label] for label in labels]",
            )
        if label in self._index:
            return int(self.ranks[self._index[label]])
        near = difflib.get_close_matches(str(label), [str(each) for each in self.items], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"they are {few(self.items)}"
        raise KeyError(f"{label!r} is not one of the items: {hint}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Consensus) or type(other) is not type(self):
            return NotImplemented
        return (
            same_fields(self, other)
            and self.tied_groups == other.tied_groups
            and str(self.source) == str(other.source)
        )

    __hash__ = None  # type: ignore[assignment]  # equality is by value, and arrays have no hash

    def _summary(self) -> str:
        """Say what this is, in one line, with the best `MAX_LISTED` items."""
        best = few(self.top(MAX_LISTED + 1))
        items = plural(len(self), "item")
        return f"Consensus by {printable(self.method)} of {items}: {best}"

    def _say_unfinished(self) -> tuple[str, ...]:
        """Say that this is not the consensus that was asked for, and which one it is."""
        return ()

    def _say_clients(self) -> tuple[str, ...]:
        """Say what chance decided before the rankings were counted; see `chance`."""
        return ()

    def _say_exchanged(self) -> str | None:
        """Say which items rounding may have put in the wrong order; None if it cannot have."""
        return None

    def _rounded_to(self) -> str | None:
        """Say how close items must be for rounding to tie them; None if nothing was rounded."""
        return None

    def _began_rounded(self) -> bool:
        """Tell whether a refinement began with means that were rounded."""
        return False

    def _say_source(self) -> tuple[str, ...]:
        """Say what was read, in one line, if that is known."""
        return () if self.source is None else (printable(self.source),)

    def __repr__(self) -> str:
        return "\n  ".join([self._summary(), *self._say_source(), *chance(self, MAX_LISTED)])

    def _repr_html_(self) -> str:
        return as_html(self)


Consensus.kinds[Consensus.kind] = Consensus


def same_fields(one: Any, other: Any) -> bool:
    """Tell whether two dataclasses of one type are equal in all fields that are compared."""
    return all(
        np.array_equal(getattr(one, each.name), getattr(other, each.name))
        if isinstance(getattr(one, each.name), np.ndarray)
        else getattr(one, each.name) == getattr(other, each.name)
        for each in fields(one)
        if each.compare
    )
