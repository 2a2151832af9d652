"""One ranking from many, all in one place."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fedrank import _core
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_array, check_ties, few, plural, read_only, whole
from fedrank.rankings.complete import labels_of
from fedrank.rankings.partial import PartialRankings, as_profile

OPTIONS: dict[str, dict[str, int]] = {
    "borda": {},
    "lehmer": {},
    "footrule": {},
    "pivot": {"runs": 10, "best_of_both": 0},
    "pick": {},
    "kemeny": {"exact_upto": _core.KEMENY_EXACT_UPTO, "kicks": _core.KEMENY_KICKS},
}
"""The methods, with their options and what these are by default."""

TAKE_PARTIAL = ("borda", "pivot", "kemeny")
"""Methods that decide by mid-ranks or margins, so that ties and gaps do not matter."""

EXACT_MOST = _core.KEMENY_EXACT_MOST


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """A consensus ranking and what is known about it.

    Attributes
    ----------
    ranks : numpy.ndarray of int32, shape (n,)
        Position of each item, 0 the best.
    item_labels : tuple or None
        Labels of the items, None if the rankings had none.
    method : str
        What found it.
    scores : numpy.ndarray of float64 or None
        Mean position of each item, where the method ranks by it.
    ties : int
        How many choices the data left open, so that the tie rule made them: items that
        share a score (borda), tied digits (lehmer), tied comparisons (pivot), rankings
        equally near (pick), tied neighbours (kemeny). Footrule's solver does not tell: 0.
    exact : bool or None
        Whether it is proved to minimise the method's own distance (footrule, kemeny); None
        where the method minimises nothing.
    objective : float or None
        Its `kemeny_score`, where the method knows it.
    lower_bound : float or None
        What no ranking's `kemeny_score` can be below, where the method knows it.

    Examples
    --------
    >>> found = aggregate([[0, 1, 2], [0, 2, 1], [1, 0, 2]], "kemeny")
    >>> found.order
    array([0, 1, 2], dtype=int32)
    >>> found.exact
    True
    """

    ranks: NDArray[np.int32]
    item_labels: tuple[Hashable, ...] | None
    method: str
    scores: NDArray[np.float64] | None = None
    ties: int = 0
    exact: bool | None = None
    objective: float | None = None
    lower_bound: float | None = None

    @property
    def items(self) -> tuple[Hashable, ...]:
        """Labels of the items; ``0..n-1`` if none were given."""
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
        >>> aggregate([[1, 0, 2]]).top(2)
        (1, 0)
        """
        return self.labels[: whole("count", count, least=0)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return as_array(self.ranks, dtype, copy)

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        return f"Consensus by {self.method} of {plural(len(self), 'item')}: {few(self.top(7))}"


def aggregate(
    rankings: ArrayLike,
    method: str = "borda",
    ties: str = "random",
    rng: RNG = None,
    *,
    weights: ArrayLike | None = None,
    **options: int,
) -> Consensus:
    """Find one ranking that stands for many.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n)
        Rankings, or a `Rankings`, whose labels the consensus then has; for borda, pivot and
        kemeny also a `PartialRankings`, which then counts by mid-ranks or half counts.
    method : str
        ``"borda"`` ranks by mean position (M5). ``"lehmer"`` decodes the most frequent
        digits of the Lehmer codes (M7); it depends on how the items are numbered.
        ``"footrule"`` minimises the total footrule distance by assignment, ``"pivot"``
        sorts by majority around random pivots, ``"pick"`` takes the nearest of the given
        rankings, ``"kemeny"`` minimises the total Kendall distance (M11), exactly where
        the cycles among majorities are small, by local search elsewhere: see ``exact``
        and ``lower_bound`` of the result. Pivot, pick and kemeny need n² memory.
    ties : {"random", "index"}
        Whether what the data leave open is decided at random, or the same way every time:
        by item number, except that footrule takes the first optimum its solver meets.
    rng : None, int or numpy.random.Generator
        Where randomness comes from.
    weights : array_like of int, shape (m,), optional
        How often each ranking counts.
    **options
        pivot: ``runs`` (10), the best of which is kept; ``best_of_both`` (False), whether
        pick's result is taken if nearer. kemeny: ``exact_upto`` (20), the largest cycle
        solved exactly, 24 at most; ``kicks`` (50), restarts of the local search.

    Raises
    ------
    ValueError
        If the input is not rankings, or there are none, or a parameter is unknown.

    Examples
    --------
    >>> from fedrank import Rankings
    >>> votes = Rankings([[0, 1, 2], [1, 0, 2], [0, 2, 1]], items=["ann", "bob", "cy"])
    >>> aggregate(votes).labels
    ('ann', 'bob', 'cy')
    >>> aggregate(votes, "kemeny").objective
    0.2222222222222222
    """
    if not isinstance(method, str) or method not in OPTIONS:
        raise ValueError(f"method must be one of {', '.join(OPTIONS)}, not {method!r}")
    check_ties(ties)
    settings = check_options(method, options)
    if isinstance(rankings, PartialRankings) and method not in TAKE_PARTIAL:
        raise ValueError(
            f"method {method!r} takes complete rankings only: complete these, "
            f"PartialRankings.complete(rng=…), or use {', '.join(TAKE_PARTIAL)}"
        )
    ranks, counts = as_profile(rankings, weights)
    m, n = ranks.shape
    seed = seed_bytes(rng)
    runs = settings.get("runs", settings.get("kicks", 0))
    found = _core.aggregate(ranks, counts, method, ties, seed, runs, settings.get("exact_upto", 0))
    total = m if counts is None else int(counts.sum(dtype=np.int64))
    consensus = Consensus(
        ranks=read_only(found.ranks),
        item_labels=labels_of(rankings),
        method=method,
        scores=None if found.sums is None else found.sums / total,
        ties=found.ties,
        exact=found.exact,
        objective=None if found.distance is None else found.distance / (total * n),
        lower_bound=None if found.lower_bound is None else found.lower_bound / (total * n),
    )
    if settings.get("best_of_both"):
        pick = aggregate(rankings, "pick", ties, np.random.default_rng([*seed]), weights=weights)
        return min(consensus, pick, key=lambda each: each.objective or 0.0)
    return consensus


def check_options(method: str, options: dict[str, int]) -> dict[str, int]:
    """Fill in the method's defaults; refuse options that it does not have."""
    known = OPTIONS[method]
    for name, value in options.items():
        if name not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise ValueError(f"method {method!r} {takes}, not {name!r}")
        if name != "best_of_both":
            whole(name, value, least=1 if name == "runs" else 0)
    if options.get("exact_upto", 0) > EXACT_MOST:
        raise ValueError(f"exact_upto must be at most {EXACT_MOST}, not {options['exact_upto']}")
    return known | {name: int(value) for name, value in options.items()}
