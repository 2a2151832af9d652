"""The central consensus: one ranking from many, all in one place."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fedrank import _core
from fedrank._progress import Following, show
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_array, as_bool, check_ties, few, plural, read_only, whole
from fedrank.exceptions import InputError
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
"""The options of each method, with their defaults."""

TAKE_PARTIAL = ("borda", "pivot", "kemeny")
"""Methods that take partial rankings: they use mid-ranks or margins only."""

EXACT_MOST = _core.KEMENY_EXACT_MOST


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """A consensus ranking, and how good it is.

    Attributes
    ----------
    ranks : numpy.ndarray of int32, shape (n,)
        Position of each item, 0 the best.
    item_labels : tuple or None
        Labels of the items, None if the rankings had none.
    method : str
        The method that computed it.
    scores : numpy.ndarray of float64 or None
        Mean position of each item, for methods that rank by it.
    ties : int
        Number of ties that the tie rule broke: items that share a score (borda), tied digits
        (lehmer), tied comparisons (pivot), rankings equally near (pick), tied neighbours
        (kemeny). The solver of footrule does not report ties: 0.
    exact : bool or None
        Whether it is proven to minimise the distance of the method (footrule, kemeny); None
        for methods that minimise no distance.
    objective : float or None
        Its `kemeny_score`, if the method computes it.
    lower_bound : float or None
        A lower bound of the `kemeny_score` of any ranking, if the method computes one.

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
    *,
    ties: str = "random",
    rng: RNG = None,
    weights: ArrayLike | None = None,
    progress: bool = False,
    **options: int,
) -> Consensus:
    """Compute a consensus ranking.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n)
        Rankings, or a `Rankings`, whose labels the consensus then has; for borda, pivot and
        kemeny also a `PartialRankings`, which counts by mid-ranks or half counts.
    method : str
        ``"borda"`` ranks by mean position (M5). ``"lehmer"`` decodes the most frequent
        digits of the Lehmer codes (M7); it depends on how the items are numbered.
        ``"footrule"`` minimises the total footrule distance by assignment, ``"pivot"``
        sorts by majority around random pivots, ``"pick"`` takes the nearest of the given
        rankings, ``"kemeny"`` minimises the total Kendall distance (M11), exactly where
        the cycles among majorities are small, by local search elsewhere: see ``exact``
        and ``lower_bound`` of the result. Pivot, pick and kemeny need n² memory.
    ties : {"random", "index"}
        Whether ties are broken at random, or by item number; with "index", footrule takes the
        first optimum of its solver.
    rng : None, int or numpy.random.Generator
        Random seed or generator.
    weights : array_like of int, shape (m,), optional
        How often each ranking counts.
    progress : bool
        Whether to draw a progress bar on standard error, from two seconds on.
    **options
        pivot: ``runs`` (10), the best of which is kept; ``best_of_both`` (False), whether the
        result of pick is returned if it is nearer. kemeny: ``exact_upto`` (20), the largest
        cycle solved exactly, at most 24; ``kicks`` (50), restarts of the local search.

    Returns
    -------
    consensus : Consensus

    Raises
    ------
    ValueError
        If the rankings are not valid, there are none, or an option is unknown.

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
        raise InputError(
            f"method must be one of {', '.join(OPTIONS)}, not {method!r}", value=method
        )
    check_ties(ties)
    settings = check_options(method, options)
    if isinstance(rankings, PartialRankings) and method not in TAKE_PARTIAL:
        raise InputError(
            f"method {method!r} takes complete rankings only",
            remedy="complete them with PartialRankings.complete(rng=…), or use the methods "
            + ", ".join(TAKE_PARTIAL),
        )
    ranks, counts = as_profile(rankings, weights)
    m, n = ranks.shape
    seed = seed_bytes(rng)
    runs = settings.get("runs", settings.get("kicks", 0))
    most = settings.get("exact_upto", 0)
    with show(as_bool("progress", progress)), Following(method):
        found = _core.aggregate(ranks, counts, method, ties, seed, runs, most)
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
        pick = aggregate(
            rankings,
            "pick",
            ties=ties,
            rng=np.random.default_rng([*seed]),
            weights=weights,
            progress=progress,
        )
        return min(consensus, pick, key=lambda each: each.objective or 0.0)
    return consensus


def places(consensus: Consensus) -> list[dict[str, Any]]:
    """All places of a consensus, best first.

    Examples
    --------
    >>> places(aggregate([[1, 0]]))
    [{'place': 0, 'item': 1, 'score': 0.0}, {'place': 1, 'item': 0, 'score': 1.0}]
    """
    scores = None if consensus.scores is None else consensus.scores.tolist()
    return [
        {
            "place": place,
            "item": consensus.items[item],
            "score": None if scores is None else scores[item],
        }
        for place, item in enumerate(consensus.order.tolist())
    ]


def check_options(method: str, options: dict[str, int]) -> dict[str, int]:
    """Add the defaults of the method; refuse options that it does not have."""
    known = OPTIONS[method]
    for name, value in options.items():
        if name not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise InputError(f"method {method!r} {takes}, not {name!r}", value=name)
        limits = {"most": EXACT_MOST} if name == "exact_upto" else {}
        if name != "best_of_both":
            whole(name, value, least=1 if name == "runs" else 0, **limits)
    return known | {name: int(value) for name, value in options.items()}
