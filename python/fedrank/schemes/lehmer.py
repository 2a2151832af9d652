"""Federated Lehmer coding (M8)."""

from typing import Any

from fedrank import _core
from fedrank._validation import as_phi, as_probability, whole
from fedrank.exceptions import InputError
from fedrank.schemes.base import ConsensusScheme

MAX_LOW_BITS = 31


class Lehmer(ConsensusScheme):
    """Federated Lehmer coding (M8).

    A client sends the most frequent digit in each place of its Lehmer codes: the high part
    as a number, the lowest bits as a one-hot vector, of which the server sees the histogram.

    Parameters
    ----------
    n : int
        Items.
    clients : int
        Most clients that take part.
    phi : float
        Dispersion, for ``low_bits="paper"``.
    low_bits : int or "paper"
        Bits sent one-hot. 0, the default, is the best on most data; ``"paper"`` is the
        paper's formula, from ``phi``, ``epsilon`` and ``clients * max_samples``.
    max_samples : int, optional
        Most rankings that a client may hold; needed for ``low_bits="paper"``.
    epsilon : float
        Probability of failure, for ``low_bits="paper"``.
    decode : {"nearest", "paper"}
        How the server puts the parts together: the digit with the commonest low part that is
        nearest to the mean digit, or the rounded mean of the high parts with the commonest low
        part.

    Examples
    --------
    >>> Lehmer(n=10, clients=5).message_bits
    44
    >>> Lehmer(n=978, clients=10, low_bits="paper", max_samples=50).low_bits
    11
    """

    kind = "lehmer"
    breaks_ties = True

    def __init__(
        self,
        n: int,
        clients: int,
        *,
        phi: float = 0.6,
        low_bits: int | str = 0,
        max_samples: int | None = None,
        epsilon: float = 0.01,
        decode: str = "nearest",
    ) -> None:
        super().__init__(n, clients, max_samples)
        self.phi = as_phi(phi)
        self.epsilon = as_probability("epsilon", epsilon)
        if decode not in ("nearest", "paper"):
            raise InputError(
                f'must be "nearest" or "paper", not {decode!r}', parameter="decode", value=decode
            )
        self.decode_rule = decode
        if isinstance(low_bits, str):
            if low_bits != "paper":
                raise InputError(
                    f'must be a whole number from 0 to {MAX_LOW_BITS}, or "paper", '
                    f"not {low_bits!r}",
                    parameter="low_bits",
                    value=low_bits,
                )
            if self.max_samples is None:
                raise InputError(
                    'low_bits="paper" is computed from max_samples, which is not given',
                    remedy="pass max_samples, the largest number of rankings per client",
                )
            total = float(self.clients * self.max_samples)
            low_bits = _core.paper_low_bits(self.phi, self.n, total, self.epsilon)
        self.low_bits = whole("low_bits", low_bits, least=0, most=MAX_LOW_BITS)
        self._core_scheme = _core.Scheme.lehmer(
            self.n, self.clients, self.low_bits, decode, self.max_samples
        )
        self._freeze()

    def _parameters(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "clients": self.clients,
            "phi": self.phi,
            "low_bits": self.low_bits,
            "max_samples": self.max_samples,
            "epsilon": self.epsilon,
            "decode": self.decode_rule,
        }
