"""Federated Borda: staggered means (M16), the paper's centroids (M6), or exact sums."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._validation import as_bool, as_phi, whole
from fedrank.exceptions import InputError, Remedy
from fedrank.schemes.base import ConsensusScheme, as_message, needed_bound, only_true

DEFAULT_LEVELS = 4  # steps per place
DEFAULT_PHI = 0.6  # of the paper's quantizer
MAX_LEVELS = 2**32 - 1

OPTIONS = {
    "means": ("levels",),
    "weighted": ("levels", "max_samples"),
    "centroids": ("phi",),
    "sums": ("max_samples",),
}
"""What clients can send, and which options decide how."""


class Borda(ConsensusScheme):
    """Federated Borda: the items are sorted by the sum of what the clients send.

    ==============  ==================================================================  ==========
    ``send``        what a client sends for each item                                   counts
    ==============  ==================================================================  ==========
    "means"         its mean position, in ``levels`` steps per place (M16)              clients
    "weighted"      the same, weighted by its number of rankings                        rankings
    "centroids"     the place whose expected position is nearest, as in the paper (M6)  clients
    "sums"          the sum of its positions: exact                                     rankings
    ==============  ==================================================================  ==========

    Means are staggered: each client rounds at other points, by its index in the roster. Clients
    that agree therefore resolve differences of ``1/(levels * clients)`` of a place together, and
    nothing is decided by chance before the sum. Items whose means differ by less may tie. Where
    clients differ, items whose means differ by less than ``1/levels`` of a place may be exchanged:
    the result says how many neighbours are that close.

    Means and centroids do not reveal how many rankings a client has. The total of sums tells how
    many rankings there are in all. So does the total of weighted means: roughly for few items or a
    large ``max_samples``, exactly from some 20 items on.

    Parameters
    ----------
    n : int
        Number of items.
    clients : int
        Size of the roster: the most clients that take part.
    send : {"means", "weighted", "centroids", "sums"}
        What the clients send.
    levels : int, optional
        Steps per place of means and weighted means; 4 by default.
    phi : float, optional
        Dispersion of the Mallows model that the centroids come from, below 1; 0.6 by default.
    max_samples : int, optional
        Most rankings that a client may hold; needed for weighted means and sums.
    partial : bool
        Whether to take `PartialRankings`, by mid-ranks: items tied at some places share the
        mean of these, and items not ranked share the last. Sums are then of doubled mid-ranks,
        one bit wider; all others have the same width as without ``partial``.

    Examples
    --------
    >>> Borda(n=978, clients=10).segments
    (Segment(name='mean', entries=978, bits=16),)
    >>> Borda(n=978, clients=10, send="centroids").message_bits
    13692
    >>> exact = Borda(n=4, clients=3, send="sums", max_samples=9, partial=True)
    >>> exact.encode([[0, 1, 1, -1]], client=0)  # mid-ranks 0, 1½, 1½, 3
    array([0, 3, 3, 6], dtype=uint64)
    """

    kind = "borda"

    def __init__(
        self,
        n: int,
        clients: int,
        *,
        send: str = "means",
        levels: int | None = None,
        phi: float | None = None,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        super().__init__(n, clients, max_samples)
        if not isinstance(send, str) or send not in OPTIONS:
            known = ", ".join(f'"{name}"' for name in OPTIONS)
            raise InputError(f"must be one of {known}, not {send!r}", parameter="send", value=send)
        for name, value, remedy in (("levels", levels, Remedy.LEVELS), ("phi", phi, Remedy.PHI)):
            if value is not None and name not in OPTIONS[send]:
                problem = f'does not apply to send="{send}"'
                raise InputError(problem, parameter=name, value=value, remedy=remedy)
        if "max_samples" in OPTIONS[send]:
            needed_bound(max_samples, "sums" if send == "sums" else "weighted means")
        self.send = send
        self.breaks_ties = send == "centroids"
        self.levels = self.phi = None
        if "levels" in OPTIONS[send]:
            self.levels = whole(
                "levels", DEFAULT_LEVELS if levels is None else levels, most=MAX_LEVELS
            )
        if "phi" in OPTIONS[send]:
            self.phi = as_phi(DEFAULT_PHI if phi is None else phi)
        self.partial = as_bool("partial", partial)
        self._core_scheme = _core.Scheme.borda(
            self.n,
            self.clients,
            self.send,
            self.levels or 0,
            self.phi or 0.0,
            self.max_samples,
            self.partial,
        )
        self._freeze()

    @property
    def resolution(self) -> float:
        """Difference of mean positions, in places, from which clients that agree tell items apart.

        All clients must be in the sum; if up to g neighbours in the roster are lost, it is g + 1
        times as large. Weighted means resolve this much only if each client holds ``max_samples``
        rankings, and less with fewer.

        Examples
        --------
        >>> Borda(n=5, clients=10).resolution
        0.025
        """
        return 1 / (self.levels * self.clients) if self.levels else 0.0

    @property
    def rounds_means(self) -> bool:
        """Whether clients round what they send; not the means of one ranking.

        The means of one partial ranking are whole or half places: an even number of levels has
        both.

        Examples
        --------
        >>> Borda(n=5, clients=3).rounds_means, Borda(n=5, clients=3, max_samples=1).rounds_means
        (True, False)
        """
        if self.levels is None:
            return False
        return self.max_samples != 1 or (self.partial and self.levels % 2 == 1)

    def most_rankings(self, total: ArrayLike, survivors: int) -> int | None:
        """Tell how many rankings the clients with this sum hold at most; None if it does not tell.

        Exact sums tell the number itself. Of weighted means this is a bound that always holds:
        rounding takes less than one level from what a client sends for an item. The likeliest
        number is nearer, and from some 20 items on it is usually the number itself (M16).

        Examples
        --------
        >>> scheme = Borda(n=5, clients=1, send="sums", max_samples=9)
        >>> scheme.most_rankings(scheme.encode([[0, 1, 2, 3, 4]] * 7, client=0), survivors=1)
        7
        """
        pairs = self.n * (self.n - 1) // 2  # what the positions of a ranking sum to
        if self.max_samples is None or self.send not in ("sums", "weighted") or not pairs:
            return None
        summed = sum(int(entry) for entry in as_message(total))
        if self.send == "sums":
            return summed // (pairs * (1 + self.partial))
        assert self.levels is not None
        above = (summed + self.n * survivors) * self.max_samples // (self.levels * pairs)
        return min(above, survivors * self.max_samples)

    def _scores(self, sums: NDArray[np.float64], survivors: int) -> NDArray[np.float64]:
        if self.send == "means" and self.levels is not None:
            # The shifts average out over the roster: there is nothing to subtract.
            return np.asarray(sums / (self.levels * survivors), dtype=np.float64)
        if self.send == "centroids" or self.n == 1:
            # The sums are of levels, and level j stands for the model's expected position E_j.
            expected = _core.mallows_expected_ranks(self.phi or 0.0, self.n)
            positions: NDArray[np.float64] = np.interp(
                sums / survivors, np.arange(self.n), expected
            )
            return positions
        # Sums are of whole rankings (of two for a partial one), so they tell how many; weighted
        # means are sums divided by max_samples, and rounded.
        rankings = float(sums.sum()) / (self.n * (self.n - 1) / 2)
        if not rankings:
            return np.full(self.n, (self.n - 1) / 2)
        # With a bound far above what clients hold, or after dropouts, rounding outweighs the means.
        return np.clip(sums / rankings, 0, self.n - 1)

    def _parameters(self) -> dict[str, Any]:
        given = {"levels": self.levels, "phi": self.phi}
        return (
            {"n": self.n, "clients": self.clients, "send": self.send}
            | {name: value for name, value in given.items() if value is not None}
            | {"max_samples": self.max_samples}
            | only_true(partial=self.partial)
        )
