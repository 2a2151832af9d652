"""The server's way through a method, round by round."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from fedrank._random import RNG
from fedrank.consensus import Consensus
from fedrank.consensus.ties import Searched
from fedrank.exceptions import InputError
from fedrank.protocol.methods import DISPERSION, REFINE, START, Kemeny, Method, scheme_of
from fedrank.schemes import AnyScheme, Borda, Dispersion, Fit, Refine
from fedrank.schemes.refine import AUTO


class Course:
    """The server's way through a method: what to announce next, and what the sums gave so far.

    All sums must be over the same clients: others would contradict each other, and the difference
    of two sums would show one client's message.

    Parameters
    ----------
    method : Method
        The study's method.
    fit_phi : bool
        Whether to end with a round of dispersion.
    labels : tuple, optional
        Labels of the items, which the consensus will have.

    Attributes
    ----------
    consensus : Consensus or None
        The best so far.
    fit : schemes.Fit or None
        The dispersion, once its round was taken.
    orders : list of list of int
        The orders announced so far.

    Examples
    --------
    >>> from fedrank import Mallows
    >>> votes = Mallows(0.8, n=30).sample(20, rng=0)
    >>> course = Course(Kemeny(n=30, clients=1, max_samples=20))
    >>> while (scheme := course.scheme) is not None:
    ...     course.take(scheme.encode(votes, client=0), survivors=1, rng=0)
    >>> course.consensus.method, course.consensus.converged, len(course.orders) > 0
    ('federated kemeny', True, True)
    """

    def __init__(
        self, method: Method, fit_phi: bool = False, labels: tuple[Hashable, ...] | None = None
    ) -> None:
        self.method = method
        self.fit_phi = fit_phi
        self.labels = labels
        self.consensus: Consensus | None = None
        self.fit: Fit | None = None
        self.orders: list[list[int]] = []
        self.stage: str | None = START
        self._refined: list[ArrayLike] = []  # sums of the rounds of refinement, in turn
        self._survivors: int | None = None
        self._first: Consensus | None = None  # that of the first round
        self._most: int | None = None  # rankings that its sum allows

    @property
    def scheme(self) -> AnyScheme | None:
        """What to ask for next; None once the method has ended."""
        if self.stage is None:
            return None
        return scheme_of(self.method, self.fit_phi, self.stage, self.orders)

    def take(self, total: ArrayLike, survivors: int, rng: RNG = None) -> None:
        """Go on by the sum of a round.

        Parameters
        ----------
        total : array_like of int
            The sum of the messages of `scheme`.
        survivors : int
            How many messages were summed: in every round as many as in the first.
        rng : None, int or numpy.random.Generator
            Breaks ties, and is for the search where all pairs are known.

        Raises
        ------
        ValueError
            If the method has ended, no clients can have sent this sum, or it is over others.
        """
        scheme = self.scheme
        if scheme is None:
            raise ValueError("the method has ended: there is no round to take a sum of")
        if self._survivors not in (None, survivors):
            raise InputError(
                f"must be {self._survivors}, as in the first round, not {survivors}",
                parameter="survivors",
                value=survivors,
                remedy="sums of different clients cannot be combined",
            )
        if isinstance(scheme, Dispersion):
            self.fit = scheme.decode(total, survivors)
            self.stage = None
        elif self.stage == REFINE:
            self._refine(scheme, total, survivors, rng)
        else:
            found = scheme.decode(total, survivors, rng=rng)
            self.consensus = replace(found, item_labels=self.labels)
            self._first = found
            self._most = (
                scheme.most_rankings(total, survivors) if isinstance(scheme, Borda) else None
            )
            self._go_on(moved=True)
        self._survivors = survivors

    def _refine(self, scheme: AnyScheme, total: ArrayLike, survivors: int, rng: RNG) -> None:
        """Refine the consensus, and see whether there is anything left to ask."""
        assert isinstance(scheme, Refine)
        found = scheme.decode(total, survivors, rng=rng, earlier=self._refined)
        self._refined.append(total)
        assert self._first is not None
        if found.decided_by == "order":
            found = replace(found, decided_by=decided_before(found, self._first))
        self.consensus = replace(found, item_labels=self.labels, method="federated kemeny")
        moved = not np.array_equal(found.ranks, scheme.ranks)
        self._go_on(moved and not found.exact)
        if self._first.tied_items:
            searched = self._searched(self.consensus, self._first, scheme, survivors)
            self.consensus = replace(self.consensus, searched=searched)

    def _searched(
        self, found: Consensus, first: Consensus, scheme: Refine, survivors: int
    ) -> Searched | None:
        """Tell which places may be others if the ties of the first round are broken otherwise."""
        assert isinstance(self.method, Kemeny)
        ties = [places_of(group, found) for group in found.tied_items or ()]
        by_lot = ties if found.decided_by == "random" else []
        window = 1 if scheme.window == AUTO else int(scheme.window)  # of the first refinement
        if window >= scheme.n - 1:
            # All pairs are known, whatever came first: the best rankings differ in ties only.
            runs = ties
        else:
            bounds = self._most, survivors * (self.method.max_samples or 1)
            most = min(bound for bound in bounds if bound is not None)
            settled = scheme.open_runs(self._refined, survivors, found.ranks, max(1, most))
            # Only where the rounds go on until nothing moves do other draws end there too.
            ended = self.method.rounds is None and bool(found.converged)
            runs = drawn_runs(found, first, settled, ended)
        runs = [(a, b) for a, b in runs if not any(c <= a and b <= d for c, d in by_lot)]
        if not runs:
            return found.searched
        by, start, end = found.searched or Searched("start", scheme.n, 0)
        return Searched(by, min(start, runs[0][0]), max(end, runs[-1][1]))

    def _go_on(self, moved: bool) -> None:
        """Choose the next round, and announce the consensus so far for it."""
        assert self.consensus is not None
        order = self.consensus.order.tolist()
        method, orders = self.method, [*self.orders, order]
        if isinstance(method, Kemeny):
            # If every near pair is known, another round could not move anything.
            left = moved and bool(method.refine(orders).segments)
            self.consensus = replace(self.consensus, converged=not left)
            if left and len(self.orders) < method.most_rounds:
                self.stage, self.orders = REFINE, orders
                return
        self.stage = DISPERSION if self.fit_phi else None
        if self.fit_phi:
            self.orders = orders


def drawn_runs(
    found: Consensus, first: Consensus, open_runs: Sequence[tuple[int, int]], ended: bool
) -> list[tuple[int, int]]:
    """Find the places that may be others if the ties of the first round are broken otherwise.

    Parameters
    ----------
    found, first : Consensus
        The refined consensus, and that of the first round.
    open_runs : sequence of (int, int)
        The places that `Refine.open_runs` tells.
    ended : bool
        Whether rounds go on until nothing moves. If they are limited, other draws may need more
        of them, and only cuts that the first round has, however its ties are broken, are safe: no
        refinement moves an item past one that a majority has before it.

    Returns
    -------
    runs : list of (int, int)
        The first position of each run, and the position after its last.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> first = aggregate([[0, 1, 2, 3], [1, 0, 2, 3]], ties="index")  # items 0 and 1 are tied
    >>> drawn_runs(first, first, [(0, 2), (2, 4)], ended=True)
    [(0, 2)]
    """
    n = len(found)
    settled, kept = np.ones((2, n + 1), dtype=bool)  # which cuts between places are there
    for start, end in open_runs:
        settled[start + 1 : end] = False
    for group in first.tied_items or ():
        start, end = places_of(group, first)
        kept[start + 1 : end] = False
    # … and have the same items before them.
    kept[1:] &= np.maximum.accumulate(first.ranks[found.order]) == np.arange(n)
    kept &= settled
    drawn = np.zeros(n, dtype=bool)
    drawn[[found.ranks[item] for group in first.tied_items or () for item in group]] = True
    runs = []
    for part in pairwise(np.flatnonzero(kept).tolist()):
        if not drawn[slice(*part)].any():
            continue  # nothing was drawn between these cuts, and nothing moves past them
        cuts = part[0] + np.flatnonzero((settled if ended else kept)[part[0] : part[1] + 1])
        runs += [(a, b) for a, b in pairwise(cuts.tolist()) if b - a > 1]
    return runs


def places_of(group: Sequence[int], found: Consensus) -> tuple[int, int]:
    """Return the first position of some items, and the position after the last."""
    positions = found.ranks[list(group)]
    return int(positions.min()), int(positions.max()) + 1


def decided_before(found: Consensus, first: Consensus) -> str:
    """Say what decided ties that were left in the order of the round before.

    That order may itself have been decided by lot: if all items of each tie were tied with each
    other in the first round too, it was. If only some were, the others may leave no choice.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> tied, clear = aggregate([[0, 1], [1, 0]]), aggregate([[0, 1]])
    >>> decided_before(tied, tied), decided_before(tied, clear)
    ('random', 'order')
    """
    groups = [set(group) for group in first.tied_items or ()]
    ties = found.tied_items or ()
    drawn = ties and all(any(group.issuperset(tie) for group in groups) for tie in ties)
    return first.decided_by if drawn else "order"
