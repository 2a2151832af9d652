"""Federated dispersion (M15)."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from fedrank import _core
from fedrank._validation import whole
from fedrank.schemes.base import Scheme, as_message, as_ranking


@dataclass(frozen=True)
class Fit:
    """How far rankings are from an announced one, in the Mallows model's terms.

    Attributes
    ----------
    phi : float
        The maximum likelihood estimate of the dispersion, with the announced ranking as
        center. Low by a little if that was estimated from the same rankings.
    standard_error : float
        Of phi, by the model (M15). At 0 and 1, the ends of the range, it says little.
    mean_distance : float
        Mean Kendall distance to the announced ranking.
    samples : int
        How many rankings there are in all.

    Examples
    --------
    >>> scheme = Dispersion([0, 1, 2], clients=1, max_samples=9)
    >>> fit = scheme.decode(scheme.encode([[0, 1, 2], [1, 0, 2]], client=0), survivors=1)
    >>> fit.samples, fit.mean_distance
    (2, 0.5)
    """

    phi: float
    standard_error: float
    mean_distance: float
    samples: int


class Dispersion(Scheme):
    """Federated dispersion (M15): how widely rankings scatter around an announced one.

    A client sends the sum of its rankings' Kendall distances to the announced ranking, and how
    many rankings it holds. It describes the data; it does not make a better quantizer.

    Parameters
    ----------
    ranks : array_like of int, shape (n,)
        The announced ranking, or a `Consensus`.
    clients : int
        Most clients that take part.
    max_samples : int
        Most rankings that a client may hold.

    Examples
    --------
    >>> Dispersion([0, 1, 2], clients=10, max_samples=100).segments
    (Segment(name='distance', entries=1, bits=12), Segment(name='samples', entries=1, bits=10))
    """

    kind = "dispersion"

    def __init__(self, ranks: ArrayLike, clients: int, *, max_samples: int) -> None:
        announced = as_ranking(ranks)
        super().__init__(announced.shape[1], clients, whole("max_samples", max_samples))
        self._announced = announced
        self._core_scheme = _core.Scheme.dispersion(
            announced, self.clients, whole("max_samples", max_samples)
        )
        self._freeze()

    def decode(self, total: ArrayLike, survivors: int) -> Fit:
        """Fit phi to the sum of the survivors' messages.

        Parameters
        ----------
        total : array_like of int
            The entry-wise sum of the messages.
        survivors : int
            How many messages were summed.

        Raises
        ------
        ValueError
            If so many clients cannot have sent this total.

        Examples
        --------
        >>> scheme = Dispersion([0, 1], clients=2, max_samples=9)
        >>> fit = scheme.decode([1, 4], survivors=2)
        >>> round(fit.phi, 6), round(fit.standard_error, 3)
        (0.333333, 0.385)
        """
        fit = self._core_scheme.fit(as_message(total), whole("survivors", survivors))
        return Fit(fit.phi, fit.standard_error, fit.distance / fit.samples, fit.samples)

    def _parameters(self) -> dict[str, Any]:
        return {
            "ranks": self._announced[0].tolist(),
            "clients": self.clients,
            "max_samples": self.max_samples,
        }

    def __repr__(self) -> str:
        return (
            f"Dispersion(<{self.n} items>, clients={self.clients}, max_samples={self.max_samples})"
        )
