"""Federated Borda (M6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._validation import as_bool, as_phi
from fedrank.schemes.base import ConsensusScheme, only_true


class Borda(ConsensusScheme):
    """Federated Borda (M6): mean positions, quantized, or exact sums.

    Quantized, a client sends for each item the place whose expected position under a Mallows
    model is nearest to the item's mean position; how many rankings it holds never leaves it.
    Exact, it sends the sums of the positions: the consensus then equals the one of all
    rankings in one place, to the bit, and the total tells how many rankings there are.

    Parameters
    ----------
    n : int
        Items.
    clients : int
        Most clients that take part.
    phi : float
        Dispersion of the model that the places come from, below 1.
    quantize : bool
        Whether to send places rather than sums.
    max_samples : int, optional
        Most rankings that a client may hold; needed without quantizing.
    partial : bool
        Whether to take `PartialRankings`, by mid-ranks: items tied at some places share the
        mean of these, and items not ranked share the last. Sums are then of doubled mid-ranks,
        one bit wider; places have the same width as without ``partial``.

    Examples
    --------
    >>> Borda(n=978, clients=10).segments
    (Segment(name='position', entries=978, bits=14),)
    >>> Borda(n=978, clients=10, quantize=False, max_samples=1000).message_bits
    23472
    >>> exact = Borda(n=4, clients=3, quantize=False, max_samples=9, partial=True)
    >>> exact.encode([[0, 1, 1, -1]])  # mid-ranks 0, 1½, 1½, 3
    array([0, 3, 3, 6], dtype=uint64)
    """

    kind = "borda"

    def __init__(
        self,
        n: int,
        clients: int,
        *,
        phi: float = 0.6,
        quantize: bool = True,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        super().__init__(n, clients, max_samples)
        self.phi = as_phi(phi)
        self.quantize = self.breaks_ties = as_bool("quantize", quantize)
        self.partial = as_bool("partial", partial)
        self._core_scheme = _core.Scheme.borda(
            self.n, self.clients, self.phi, self.quantize, self.max_samples, self.partial
        )
        self._freeze()

    def _scores(self, sums: NDArray[np.float64], survivors: int) -> NDArray[np.float64]:
        if self.quantize or self.n == 1:
            # The sums are of levels, and level j stands for the model's expected position E_j.
            expected = _core.mallows_expected_ranks(self.phi, self.n)
            positions: NDArray[np.float64] = np.interp(
                sums / survivors, np.arange(self.n), expected
            )
            return positions
        # Exact sums are of whole rankings (of two for a partial one), so they tell how many.
        return sums / (float(sums.sum()) / (self.n * (self.n - 1) / 2))

    def _parameters(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "clients": self.clients,
            "phi": self.phi,
            "quantize": self.quantize,
            "max_samples": self.max_samples,
        } | only_true(partial=self.partial)
