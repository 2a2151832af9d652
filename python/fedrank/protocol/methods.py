"""Refinement over several rounds: what the server announces next, and what it knows by now.

It knows nothing of engines: one runs the scheme that `Refinement.scheme` names and hands the
sum to `Refinement.take`, until there is no scheme left.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._random import RNG
from fedrank._validation import whole
from fedrank.consensus import Consensus
from fedrank.schemes import Refine


class Refinement:
    """A consensus on its way to Kemeny's, round by round (M14).

    Every round announces the consensus so far and asks for pairs that were not asked before.
    All sums must be over the same clients: others would contradict each other, and the
    difference of two sums would show one client's message.

    Parameters
    ----------
    start : Consensus
        Where to begin.
    clients : int
        Most clients that take part.
    window : int
        How many places apart items may be for their margin to be asked.
    rounds : int
        Most rounds.
    counts, majority, max_samples, partial
        As in `Refine`.

    Attributes
    ----------
    consensus : Consensus
        The best so far.

    Examples
    --------
    >>> from fedrank import Mallows, aggregate
    >>> votes = Mallows(0.8, n=30).sample(20, rng=0)
    >>> course = Refinement(aggregate(votes), clients=1, window=3, rounds=9)
    >>> while course.scheme is not None:
    ...     found = course.take(course.scheme.encode(votes), survivors=1)
    >>> bool((found.ranks == course.consensus.ranks).all())
    True
    """

    def __init__(
        self,
        start: Consensus,
        clients: int,
        window: int,
        rounds: int,
        counts: bool = False,
        majority: bool = False,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        self.consensus = start
        self._left = whole("rounds", rounds)
        self._announced: list[NDArray[np.int32]] = []
        self._totals: list[ArrayLike] = []
        self._survivors: int | None = None
        self._scheme: Refine | None = Refine(
            start, clients, window, counts, majority, max_samples, partial=partial
        )

    @property
    def scheme(self) -> Refine | None:
        """What to run next; None once nothing moves, all is proved or the rounds are spent."""
        return self._scheme

    def take(self, total: ArrayLike, survivors: int, rng: RNG = None) -> Consensus:
        """Refine the consensus by the sum of a round.

        Parameters
        ----------
        total : array_like of int
            The sum of the messages of `scheme`.
        survivors : int
            How many messages were summed: in every round as many as in the first.
        rng : None, int or numpy.random.Generator
            For the search where all pairs are known.

        Returns
        -------
        consensus : Consensus

        Raises
        ------
        ValueError
            If the refinement has ended, the sum cannot be, or it is over other clients.
        """
        scheme = self._scheme
        if scheme is None:
            raise ValueError("the refinement has ended: there is no round to take a sum of")
        if self._survivors not in (None, survivors):
            raise ValueError(
                f"survivors must be {self._survivors}, as in the first round, not {survivors}: "
                "sums over other clients do not go together"
            )
        found = scheme.decode(total, survivors, rng=rng, earlier=self._totals)
        self.consensus = replace(found, item_labels=self.consensus.item_labels)
        self._survivors = survivors
        self._left -= 1
        self._announced.append(scheme.ranks)
        self._totals.append(total)
        moved = not np.array_equal(found.ranks, scheme.ranks)
        self._scheme = self._next(scheme) if moved and self._left and not found.exact else None
        return self.consensus

    def _next(self, last: Refine) -> Refine | None:
        """Make the next round's scheme, unless it would ask for nothing."""
        scheme = Refine(
            self.consensus,
            last.clients,
            last.window,
            last.counts,
            last.majority,
            last.max_samples,
            earlier=self._announced,
            partial=last.partial,
        )
        return scheme if scheme.segments else None
