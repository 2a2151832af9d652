"""The central consensus: one ranking from many, all in one place."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fedrank import _core
from fedrank._frames import as_frame, labels_of
from fedrank._progress import Following, show
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_bool, check_ties, read_only, whole
from fedrank.consensus.result import Consensus
from fedrank.consensus.ties import Searched
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.labelled import Labelled
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

SEARCHES = {"pivot": "pivots", "kemeny": "search"}
"""What is random, beside ties, in methods that search."""

EXACT_MOST = _core.KEMENY_EXACT_MOST


def aggregate(
    rankings: ArrayLike,
    method: str = "borda",
    *,
    ties: str = "random",
    rng: RNG = None,
    weights: ArrayLike | None = None,
    base: int = 0,
    progress: bool = False,
    **options: int,
) -> Consensus:
    """Compute a consensus ranking.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n)
        Rankings; a `Rankings` or a data frame, whose labels the consensus then has; for borda,
        pivot and kemeny also a `PartialRankings`, which counts by mid-ranks or half counts.
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
    base : {0, 1}
        The best position in an array or a frame. The result's positions are 0-based.
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

    Notes
    -----
    ``tied_groups`` of the result lists what the tie rule decided, and ``searched`` the positions
    that depend on random pivots or a random search.

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
            f"must be one of {', '.join(OPTIONS)}, not {method!r}",
            parameter="method",
            value=method,
        )
    check_ties(ties)
    settings = check_options(method, options)
    if isinstance(rankings, PartialRankings) and method not in TAKE_PARTIAL:
        raise InputError(
            f"method {method!r} takes complete rankings only, and these have ties or gaps",
            remedy=Remedy.COMPLETE,
        )
    if isinstance(rankings, list | tuple) and any(isinstance(each, Labelled) for each in rankings):
        raise InputError(
            "aggregate takes one Rankings, not a list of them",
            remedy="join them with Rankings.concat, or give each to a client of federate",
        )
    rankings = as_frame(rankings)
    ranks, counts = as_profile(rankings, weights, base)
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
        decided_by=ties,
        searched=None if found.searched is None else Searched(SEARCHES[method], *found.searched),
        source=getattr(rankings, "source", None),
        tied_runs=found.tied,
    )
    if settings.get("best_of_both"):
        pick = aggregate(
            rankings,
            "pick",
            ties=ties,
            rng=np.random.default_rng([*seed]),
            weights=weights,
            base=base,
            progress=progress,
        )
        nearer = min(consensus, pick, key=lambda each: each.objective or 0.0)
        # With other pivots, the other of the two may be nearer, and they may differ anywhere.
        return replace(nearer, searched=found.searched and Searched(SEARCHES[method], 0, n))
    return consensus


def check_options(method: str, options: dict[str, int]) -> dict[str, int]:
    """Add the defaults of the method; refuse options that it does not have."""
    known = OPTIONS[method]
    for name, value in options.items():
        if name not in known:
            raise InputError(
                f"method {method!r} has no option {name!r}",
                value=name,
                remedy=f"its options are {', '.join(known)}" if known else "it takes no options",
            )
        limits = {"most": EXACT_MOST} if name == "exact_upto" else {}
        if name != "best_of_both":
            whole(name, value, least=1 if name == "runs" else 0, **limits)
    return known | {name: int(value) for name, value in options.items()}
