"""The Mallows model: a distribution of rankings around a center."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._frames import labels_of
from fedrank._progress import Following, show
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_bool, as_phi, as_weights, whole
from fedrank.consensus import aggregate
from fedrank.exceptions import InputError
from fedrank.rankings.complete import Rankings, as_rankings, same_items


class Mallows:
    """Distribution over rankings with ``Pr(r)`` proportional to ``phi ** K(r, center)`` (M3).

    Parameters
    ----------
    phi : float
        Dispersion in [0, 1]: 0 always gives the center, 1 is uniform.
    n : int, optional
        Number of items; the center is then ``0..n-1``.
    center : array_like of int, shape (n,), optional
        The most likely ranking. Pass exactly one of ``n`` and ``center``.

    Raises
    ------
    ValueError
        If ``phi`` is outside [0, 1], or both or neither of ``n`` and ``center`` are passed.

    Examples
    --------
    >>> model = Mallows(0.5, n=4)
    >>> model.sample(3, rng=0).ranks.shape
    (3, 4)
    >>> model.expected_ranks()
    array([0.73333333, 1.23809524, 1.76190476, 2.26666667])
    """

    __slots__ = ("_center", "_labels", "phi")

    def __init__(self, phi: float, n: int | None = None, center: ArrayLike | None = None) -> None:
        if (n is None) == (center is None):
            raise InputError("pass exactly one of n and center")
        self.phi = as_phi(phi)
        if center is None:
            center = np.arange(whole("n", n or 0))
        self._center = as_rankings(center, copy=True)
        if len(self._center) != 1:
            raise InputError(f"center must be one ranking, not {len(self._center)}")
        self._labels = labels_of(center)

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self._center.shape[1])

    @property
    def center(self) -> NDArray[np.int32]:
        """The most likely ranking, shape (n,), read-only."""
        center: NDArray[np.int32] = self._center[0]
        return center

    @property
    def item_labels(self) -> tuple[Hashable, ...] | None:
        """Labels of the center; None if it has none."""
        return self._labels

    def sample(self, size: int, rng: RNG = None, *, progress: bool = False) -> Rankings:
        """Draw rankings, exactly and in parallel.

        The same ``rng`` gives the same rankings on any number of threads, and draw ``i``
        does not depend on ``size``.

        Parameters
        ----------
        size : int
            Number of rankings.
        rng : None, int or numpy.random.Generator
            Random seed or generator.
        progress : bool
            Whether to draw a progress bar on standard error, from two seconds on.

        Returns
        -------
        rankings : Rankings

        Examples
        --------
        >>> Mallows(0.0, center=[2, 0, 1]).sample(2).ranks
        array([[2, 0, 1],
               [2, 0, 1]], dtype=int32)
        """
        count = whole("size", size, least=0)
        with show(as_bool("progress", progress)), Following("sampling"):
            ranks = _core.mallows_sample(self.phi, self._center, count, seed_bytes(rng))
        return Rankings._trusted(ranks, self._labels)

    def log_prob(self, rankings: ArrayLike) -> NDArray[np.float64]:
        """Return the natural logarithm of each ranking's probability, shape (m,).

        Examples
        --------
        >>> np.exp(Mallows(0.5, n=2).log_prob([[0, 1], [1, 0]]))
        array([0.66666667, 0.33333333])
        """
        same_items(self, rankings)
        return _core.mallows_log_prob(self.phi, self._center, as_rankings(rankings))

    @property
    def log_partition(self) -> float:
        """Logarithm of the sum of ``phi ** K`` over all rankings (M3)."""
        return _core.mallows_log_partition(self.phi, self.n)

    def expected_ranks(self) -> NDArray[np.float64]:
        """Return the mean position of each item, from 0, by the closed form M4.

        Examples
        --------
        >>> Mallows(0.5, center=[1, 0]).expected_ranks()
        array([0.66666667, 0.33333333])
        """
        by_place = _core.mallows_expected_ranks(self.phi, self.n)
        expected: NDArray[np.float64] = by_place[self.center]
        return expected

    def expected_distance(self) -> float:
        """Return the mean Kendall distance to the center (M15).

        Examples
        --------
        >>> round(Mallows(0.5, n=2).expected_distance(), 6)
        0.333333
        """
        return _core.mallows_expected_distance(self.phi, self.n)

    @classmethod
    def fit(
        cls,
        rankings: ArrayLike,
        center: ArrayLike | str | None = None,
        weights: ArrayLike | None = None,
        rng: RNG = None,
    ) -> "Mallows":
        """Fit phi by maximum likelihood, with a given center or a consensus as the center.

        The fitted phi makes the mean distance of the model equal to that of the rankings (M15).
        With an estimated center, phi is biased downwards, because the center was chosen to be
        near the same rankings.

        Parameters
        ----------
        rankings : array_like of int, shape (m, n)
            The sample.
        center : array_like of int, "borda" or "kemeny", optional
            The center, or the method that estimates it; Borda by default. Kemeny gives the
            maximum likelihood center, and costs O(m n²).
        weights : array_like of int, shape (m,), optional
            How often each ranking counts.
        rng : None, int or numpy.random.Generator
            Random seed or generator, for ties of an estimated center.

        Returns
        -------
        model : Mallows

        Examples
        --------
        >>> sample = Mallows(0.6, n=50).sample(2000, rng=0)
        >>> round(Mallows.fit(sample).phi, 2)
        0.6
        """
        data = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
        if center is None or isinstance(center, str):
            method = "borda" if center is None else center
            if method not in ("borda", "kemeny"):
                raise InputError(
                    f'center must be a ranking, "borda" or "kemeny", not {center!r}', value=center
                )
            center = aggregate(data, method, weights=weights, rng=rng)
        same_items(center, data)
        model = cls(0.0, center=center)
        total = _core.kendall_total(data.ranks, as_weights(weights, len(data)), model._center)
        model.phi = _core.mallows_phi(total.distance / total.rankings, model.n)
        return model

    def __repr__(self) -> str:
        return f"Mallows(phi={self.phi:.6g}, n={self.n})"
