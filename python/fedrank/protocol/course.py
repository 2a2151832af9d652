"""The server's way through a method, round by round."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fedrank._random import RNG
from fedrank.consensus import Consensus
from fedrank.consensus.ties import Searched
from fedrank.exceptions import InputError
from fedrank.protocol.methods import DISPERSION, REFINE, START, Kemeny, Method, scheme_of
from fedrank.schemes import AnyScheme, Dispersion, Fit, Refine
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
        self._drawn = False  # whether the start had ties, which were broken at random

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
            self._drawn = bool(found.tied_items)
            self._go_on(moved=True)
        self._survivors = survivors

    def _refine(self, scheme: AnyScheme, total: ArrayLike, survivors: int, rng: RNG) -> None:
        """Refine the consensus, and see whether there is anything left to ask."""
        assert isinstance(scheme, Refine)
        found = scheme.decode(total, survivors, rng=rng, earlier=self._refined)
        self._refined.append(total)
        if found.decided_by == "order" and self.consensus is not None:
            found = replace(found, decided_by=decided_before(found, self.consensus))
            # With all pairs known, whatever the start was, the best rankings differ in their ties
            # only. With the window "auto" another start may end before they are.
            told = not found.tied_items or found.decided_by == "random"
            settled = scheme.window != AUTO and int(scheme.window) >= scheme.n - 1 and told
            if self._drawn and not settled and found.searched is None:
                found = replace(found, searched=Searched("start", 0, scheme.n))
        self.consensus = replace(found, item_labels=self.labels, method="federated kemeny")
        moved = not np.array_equal(found.ranks, scheme.ranks)
        self._go_on(moved and not found.exact)

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


def decided_before(found: Consensus, before: Consensus) -> str:
    """Say what decided ties that were left in the order of the round before.

    That order may itself have been decided by lot: if all items of each tie were tied with each
    other in the round before too, it was. If only some were, the others may leave no choice.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> tied, clear = aggregate([[0, 1], [1, 0]]), aggregate([[0, 1]])
    >>> decided_before(tied, tied), decided_before(tied, clear)
    ('random', 'order')
    """
    groups = [set(group) for group in before.tied_items or ()]
    ties = found.tied_items or ()
    drawn = ties and all(any(group.issuperset(tie) for group in groups) for tie in ties)
    return before.decided_by if drawn else "order"
