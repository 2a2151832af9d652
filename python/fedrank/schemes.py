"""Schemes: how a client's rankings become an integer message, and a sum of them a consensus.

A scheme is public and small. It knows nothing of keys or networks; it says how wide every
segment of its message is, so that sums over all clients do not wrap.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._input import as_list, as_phi, whole
from fedrank._random import RNG, seed_bytes
from fedrank.consensus import Consensus
from fedrank.partial import as_partial
from fedrank.rankings import as_rankings

MAX_SAMPLES = 65_535  # where a scheme needs a bound and none is given
MOST_LOW_BITS = 31


class Segment(NamedTuple):
    """A run of message entries of one width."""

    name: str
    entries: int
    bits: int


class Scheme:
    """What all schemes have in common; make a Borda, a Lehmer, a Refine or a Dispersion."""

    kind = ""
    partial = False
    _core_scheme: _core.Scheme

    def __init__(self, n: int, clients: int, max_samples: int | None) -> None:
        self.n = whole("n", n)
        self.clients = whole("clients", clients)
        self.max_samples = None if max_samples is None else whole("max_samples", max_samples)

    def __setattr__(self, name: str, value: object) -> None:
        if "_core_scheme" in self.__dict__:  # set last
            raise AttributeError("a scheme cannot be changed: make another one")
        super().__setattr__(name, value)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of a message, in order."""
        return tuple(Segment(*segment) for segment in self._core_scheme.segments)

    @property
    def message_bits(self) -> int:
        """Bits of a message; on the wire it takes as many bytes as hold them."""
        return self._core_scheme.message_bits

    def encode(self, rankings: ArrayLike, rng: RNG = None) -> NDArray[np.uint64]:
        """Turn a client's rankings into its message.

        Parameters
        ----------
        rankings : array_like of int, shape (m, n)
            All rankings of one client; partial ones if the scheme is made for them.
        rng : None, int or numpy.random.Generator
            Breaks local ties.

        Returns
        -------
        message : numpy.ndarray of uint64
            One entry for every place of the segments.

        Raises
        ------
        ValueError
            If these are not rankings of ``n`` items, none, or more than ``max_samples``.

        Examples
        --------
        >>> Borda(n=3, clients=2).encode([[0, 1, 2], [0, 1, 2]])
        array([0, 1, 2], dtype=uint64)
        """
        ranks = as_partial(rankings).twins().ranks if self.partial else as_rankings(rankings)
        return self._core_scheme.encode(ranks, seed_bytes(rng))

    def pack(self, message: ArrayLike) -> bytes:
        """Write a message in the fewest whole bytes.

        Examples
        --------
        >>> scheme = Borda(n=3, clients=2)
        >>> scheme.pack([2, 1, 0]).hex(), scheme.message_bits
        ('0a00', 9)
        """
        return self._core_scheme.pack(as_message(message))

    def unpack(self, packed: bytes) -> NDArray[np.uint64]:
        """Read what `pack` wrote.

        Examples
        --------
        >>> Borda(n=3, clients=2).unpack(bytes.fromhex("0a00"))
        array([2, 1, 0], dtype=uint64)
        """
        return self._core_scheme.unpack(packed)

    def _parameters(self) -> dict[str, Any]:
        raise TypeError("make a Borda, a Lehmer, a Refine or a Dispersion")

    def to_json(self) -> str:
        """Write the scheme as canonical JSON; `scheme_from_json` reads it.

        Examples
        --------
        >>> Borda(n=3, clients=2).to_json()
        '{"clients":2,"max_samples":null,"n":3,"phi":0.6,"quantize":true,"scheme":"borda"}'
        """
        return canonical({"scheme": self.kind} | self._parameters())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({shown})"


class ConsensusScheme(Scheme):
    """A scheme whose sums hold a consensus."""

    def decode(
        self, total: ArrayLike, survivors: int, rng: RNG = None, ties: str = "random"
    ) -> Consensus:
        """Find the consensus in the sum of the survivors' messages.

        Parameters
        ----------
        total : array_like of int
            The entry-wise sum of the messages.
        survivors : int
            How many messages were summed.
        rng : None, int or numpy.random.Generator
            Breaks ties.
        ties : {"random", "index"}
            Whether ties are broken at random, or by item number (least digit).

        Raises
        ------
        ValueError
            If an entry is above what so many clients can send, or entries contradict each other.

        Examples
        --------
        >>> scheme = Borda(n=3, clients=2)
        >>> messages = [scheme.encode([[0, 1, 2]]), scheme.encode([[0, 2, 1], [0, 1, 2]])]
        >>> scheme.decode(sum(messages), survivors=2).order[0]
        np.int32(0)
        """
        check_ties(ties)
        ranks, tied, counted, _, _, _ = self._core_scheme.decode(
            [as_message(total)], whole("survivors", survivors), ties, seed_bytes(rng)
        )
        return Consensus(
            ranks=ranks,
            item_labels=None,
            method=f"federated {self.kind}",
            scores=None
            if counted is None
            else self._scores(counted.view(np.uint64).astype(np.float64), survivors),
            ties=tied,
        )

    def _scores(self, sums: NDArray[np.float64], survivors: int) -> NDArray[np.float64]:
        return sums / survivors


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
        one bit wider; places are as wide as ever.

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
        phi: float = 0.6,
        quantize: bool = True,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        super().__init__(n, clients, max_samples)
        self.phi = as_phi(phi)
        self.quantize = yes("quantize", quantize)
        self.partial = yes("partial", partial)
        self._core_scheme = _core.Scheme.borda(
            self.n, self.clients, self.phi, self.quantize, self.max_samples, self.partial
        )

    def _scores(self, sums: NDArray[np.float64], survivors: int) -> NDArray[np.float64]:
        # Exact sums are of whole rankings (of two for a partial one), so they tell how many.
        if self.quantize or self.n == 1:
            return sums / survivors
        return sums / (float(sums.sum()) / (self.n * (self.n - 1) / 2))

    def _parameters(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "clients": self.clients,
            "phi": self.phi,
            "quantize": self.quantize,
            "max_samples": self.max_samples,
        } | said_if(partial=self.partial)


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

    def __init__(
        self,
        n: int,
        clients: int,
        phi: float = 0.6,
        low_bits: int | str = 0,
        max_samples: int | None = None,
        epsilon: float = 0.01,
        decode: str = "nearest",
    ) -> None:
        super().__init__(n, clients, max_samples)
        self.phi = as_phi(phi)
        if not isinstance(epsilon, int | float | np.number) or not 0 < epsilon < 1:
            raise ValueError(f"epsilon must be above 0 and below 1, not {epsilon!r}")
        self.epsilon = float(epsilon)
        if decode not in ("nearest", "paper"):
            raise ValueError(f'decode must be "nearest" or "paper", not {decode!r}')
        self.decode_rule = decode
        if isinstance(low_bits, str):
            if low_bits != "paper":
                raise ValueError(f'low_bits must be a whole number or "paper", not {low_bits!r}')
            if self.max_samples is None:
                raise ValueError('low_bits="paper" needs max_samples: its formula has M in it')
            total = float(self.clients * self.max_samples)
            low_bits = _core.paper_low_bits(self.phi, self.n, total, self.epsilon)
        self.low_bits = whole("low_bits", low_bits, least=0, most=MOST_LOW_BITS)
        self._core_scheme = _core.Scheme.lehmer(
            self.n, self.clients, self.low_bits, decode, self.max_samples
        )

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


class Refine(ConsensusScheme):
    """Refinement of an announced consensus towards Kemeny's (M14).

    A client sends, for every two items at most ``window`` places apart in the announced
    ranking, its margin: how many of its rankings put the first before the second, less the
    reverse. The server moves items past each other as long as that brings the ranking nearer
    to the clients' rankings; items whose margin it does not know keep their order.

    Parameters
    ----------
    ranks : array_like of int, shape (n,)
        The announced ranking, or a `Consensus`.
    clients : int
        Most clients that take part.
    window : int
        How many places apart items may be for their margin to be sent.
    counts : bool
        Whether to send the number of rankings too. The objective (if all pairs are known) and
        a proof of optimality (if not all are) need it; without it the number stays hidden but
        for its parity and a lower bound.
    majority : bool
        Whether to send one bit a pair instead: which item most of the client's rankings
        have first, ties by lot. Shorter, hides the number of rankings, and gains less.
    max_samples : int, optional
        Most rankings that a client may hold; 65,535 by default. It bounds the margins, so a
        lower one makes messages shorter. Not needed with ``majority``.
    earlier : sequence of array_like of int, each of shape (n,)
        Rankings that were announced before, with the same window, in turn: pairs asked then
        are not asked again.
    partial : bool
        Whether to take `PartialRankings`: a pair that one ties, or leaves out, adds 0 to the
        margin. Margins then tell nothing of the parity of the number of rankings.

    Examples
    --------
    >>> scheme = Refine([0, 1, 2, 3], clients=3, window=2, max_samples=50)
    >>> scheme.segments
    (Segment(name='margin', entries=5, bits=9),)
    >>> messages = [scheme.encode([[1, 0, 2, 3], [0, 1, 2, 3]]), scheme.encode([[1, 0, 2, 3]])]
    >>> scheme.decode(sum(messages), survivors=2).order
    array([1, 0, 2, 3], dtype=int32)
    """

    kind = "refine"

    def __init__(
        self,
        ranks: ArrayLike,
        clients: int,
        window: int,
        counts: bool = False,
        majority: bool = False,
        max_samples: int | None = None,
        earlier: Iterable[ArrayLike] = (),
        partial: bool = False,
    ) -> None:
        announced = [as_ranking(each) for each in [*as_list(earlier, "earlier"), ranks]]
        if len({each.shape for each in announced}) > 1:
            raise ValueError("the rankings announced earlier must be of the same items")
        self.window = whole("window", window)
        self.counts, self.majority = yes("counts", counts), yes("majority", majority)
        self.partial = yes("partial", partial)
        if self.counts and self.majority:
            raise ValueError("counts go with margins: leave out counts or majority")
        if max_samples is None and not self.majority:
            max_samples = MAX_SAMPLES
        super().__init__(announced[0].shape[1], clients, max_samples)
        self._announced = np.vstack(announced)
        self._announced.flags.writeable = False
        vote = "counted" if self.counts else "majority" if self.majority else "margins"
        self._core_scheme = _core.Scheme.refine(
            self._announced, self.clients, self.max_samples, self.window, vote, self.partial
        )

    @property
    def ranks(self) -> NDArray[np.int32]:
        """The announced ranking."""
        ranks: NDArray[np.int32] = self._announced[-1]
        return ranks

    @property
    def earlier(self) -> NDArray[np.int32]:
        """Rankings announced before, one a row."""
        earlier: NDArray[np.int32] = self._announced[:-1]
        return earlier

    def decode(
        self,
        total: ArrayLike,
        survivors: int,
        rng: RNG = None,
        ties: str = "random",
        earlier: Sequence[ArrayLike] = (),
    ) -> Consensus:
        """Refine the announced ranking by the sum of the survivors' messages.

        Where all pairs are known, Kemeny's consensus is searched for among all rankings, and
        ``exact`` says whether the result is proved to be one. Otherwise it is proved with
        ``counts`` only, where chains of known pairs settle those that are not known.

        Parameters
        ----------
        total : array_like of int
            The entry-wise sum of the messages, reduced modulo the widths or not.
        survivors : int
            How many messages were summed.
        rng : None, int or numpy.random.Generator
            For the search where all pairs are known, and its ties.
        ties : {"random", "index"}
            Whether that search breaks ties at random, or by the announced order, as
            refinement always does.
        earlier : sequence of array_like of int
            The sums of the earlier rounds, of the same survivors, in turn.

        Raises
        ------
        ValueError
            If a margin is beyond what so many clients can have, or beyond the number of
            rankings, or margins of complete rankings are not all even or all odd, or so many
            clients cannot hold that number. Margins that contradict each other in other ways
            are not found out.

        Examples
        --------
        >>> scheme = Refine([0, 1, 2], clients=2, window=2, counts=True, max_samples=9)
        >>> votes = [[0, 2, 1], [0, 2, 1], [0, 1, 2]]
        >>> found = scheme.decode(scheme.encode(votes), survivors=1)
        >>> found.order, found.exact, round(found.objective, 3)
        (array([0, 2, 1], dtype=int32), True, 0.111)
        """
        check_ties(ties)
        totals = [as_message(each) for each in [*as_list(earlier, "earlier"), total]]
        ranks, tied, _, distance, bound, exact = self._core_scheme.decode(
            totals, whole("survivors", survivors), ties, seed_bytes(rng)
        )
        # The number of rankings ends the first round's message; distances are of twins, if partial.
        scale = int(totals[0][-1]) * (1 + self.partial) * self.n if self.counts else 1
        return Consensus(
            ranks=ranks,
            item_labels=None,
            method=f"federated {self.kind}",
            ties=tied,
            exact=exact,
            objective=None if distance is None else distance / scale,
            lower_bound=None if bound is None else bound / scale,
        )

    def _parameters(self) -> dict[str, Any]:
        return {
            "ranks": self.ranks.tolist(),
            "clients": self.clients,
            "window": self.window,
            "counts": self.counts,
            "majority": self.majority,
            "max_samples": self.max_samples,
            "earlier": self.earlier.tolist(),
        } | said_if(partial=self.partial)

    def __repr__(self) -> str:
        return (
            f"Refine(<{self.n} items>, clients={self.clients}, window={self.window}, "
            f"counts={self.counts}, majority={self.majority}, max_samples={self.max_samples}, "
            f"earlier=<{len(self.earlier)}>{', partial=True' if self.partial else ''})"
        )


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
    >>> scheme = Dispersion([0, 1, 2], clients=1)
    >>> fit = scheme.decode(scheme.encode([[0, 1, 2], [1, 0, 2]]), survivors=1)
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

    def __init__(self, ranks: ArrayLike, clients: int, max_samples: int = MAX_SAMPLES) -> None:
        announced = as_ranking(ranks)
        super().__init__(announced.shape[1], clients, whole("max_samples", max_samples))
        self._announced = announced
        self._core_scheme = _core.Scheme.dispersion(
            announced, self.clients, whole("max_samples", max_samples)
        )

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
            If no rankings of so many clients are so far away.

        Examples
        --------
        >>> scheme = Dispersion([0, 1], clients=2)
        >>> fit = scheme.decode([1, 4], survivors=2)
        >>> round(fit.phi, 6), round(fit.standard_error, 3)
        (0.333333, 0.385)
        """
        phi, error, distance, samples = self._core_scheme.fit(
            as_message(total), whole("survivors", survivors)
        )
        return Fit(phi, error, distance / samples, samples)

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


AnyScheme = Borda | Lehmer | Refine | Dispersion

KINDS: dict[str, type[Borda] | type[Lehmer] | type[Refine] | type[Dispersion]] = {
    "borda": Borda,
    "lehmer": Lehmer,
    "refine": Refine,
    "dispersion": Dispersion,
}


def scheme_from_json(text: str) -> AnyScheme:
    """Read a scheme that `Scheme.to_json` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Raises
    ------
    ValueError
        If it is not the JSON of a scheme.

    Examples
    --------
    >>> scheme = Lehmer(n=10, clients=5, low_bits=2)
    >>> scheme_from_json(scheme.to_json()) == scheme
    True
    """
    parameters = read_json(text, "scheme")
    named = parameters.get("scheme") if isinstance(parameters, dict) else None
    if not isinstance(named, str) or named not in KINDS:
        raise ValueError(f'the JSON of a scheme has "scheme": one of {", ".join(KINDS)}')
    kind = KINDS[parameters.pop("scheme")]
    try:
        return kind(**parameters)
    except TypeError as error:
        raise ValueError(f"the JSON of the scheme has a wrong field: {error}") from None


def as_ranking(ranks: ArrayLike) -> NDArray[np.int32]:
    """Check one ranking, and keep it as a row of its own."""
    rows = as_rankings(ranks)
    if len(rows) != 1:
        raise ValueError(f"one ranking is announced at a time, not {len(rows)}")
    return rows.copy()


def yes(name: str, value: object) -> bool:
    """Check a parameter that is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def said_if(**flags: bool) -> dict[str, bool]:
    """Keep the flags that are set, so that schemes without them are written as they ever were.

    Examples
    --------
    >>> said_if(partial=False)
    {}
    """
    return {name: value for name, value in flags.items() if value}


def check_ties(ties: str) -> None:
    """Check a tie rule."""
    if ties not in ("random", "index"):
        raise ValueError(f'ties must be "random" or "index", not {ties!r}')


def read_json(text: str, what: str) -> Any:
    """Parse JSON that may come from a stranger."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a {what} must be JSON: {error}") from None


def canonical(value: object) -> str:
    """JSON of which there is only one spelling."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def as_message(message: ArrayLike) -> NDArray[np.uint64]:
    """Check the entries of a message or a total."""
    entries = np.asarray(message)
    if entries.ndim != 1:
        raise ValueError(f"a message is one row of entries, not {entries.ndim}-dimensional")
    if entries.size and entries.dtype.kind not in "iu":
        # Wide integers in a list become floats or objects: look at them one by one.
        values = message if isinstance(message, list | tuple) else entries
        whole_numbers = []
        for index, value in enumerate(values):
            # The value may be private, so it is not told.
            if not isinstance(value, int | float | np.number) or not 0 <= value < 2**64:
                raise ValueError(f"entry {index} is negative, too large or not a whole number")
            if not isinstance(value, int | np.integer) and not float(value).is_integer():
                raise ValueError(f"entry {index} is not a whole number")
            whole_numbers.append(int(value))
        entries = np.array(whole_numbers, dtype=np.uint64)
    if entries.size and entries.min() < 0:
        raise ValueError(f"entry {int(np.argmax(entries < 0))} is negative")
    return np.ascontiguousarray(entries, dtype=np.uint64)
