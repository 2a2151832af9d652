"""What all schemes have in common: segments of a message, packing, JSON.

A scheme is public and small. It knows nothing of keys or networks. It states the width of every
segment of its message, so that sums over all clients do not wrap.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._frozen import Frozen
from fedrank._json import canonical
from fedrank._random import RNG, seed_bytes
from fedrank._validation import check_ties, plural, whole
from fedrank.consensus import Consensus
from fedrank.exceptions import InputError, Remedy
from fedrank.rankings.complete import as_rankings
from fedrank.rankings.partial import as_partial


class Segment(NamedTuple):
    """A run of message entries of one width."""

    name: str
    entries: int
    bits: int


class Scheme(Frozen):
    """What all schemes have in common; make a Borda, a Lehmer, a Refine or a Dispersion."""

    kind = ""
    partial = False
    breaks_ties = False  # whether a client may have to break ties in its own message
    _core_scheme: _core.Scheme

    def __init__(self, n: int, clients: int, max_samples: int | None) -> None:
        self.n = whole("n", n)
        self.clients = whole("clients", clients)
        self.max_samples = None if max_samples is None else whole("max_samples", max_samples)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of a message, in order."""
        return tuple(Segment(s.name, s.entries, s.bits) for s in self._core_scheme.segments)

    @property
    def message_bits(self) -> int:
        """Bits of a message; on the wire it takes as many bytes as hold them."""
        return self._core_scheme.message_bits

    def encode(
        self,
        rankings: ArrayLike,
        *,
        client: int,
        rng: RNG = None,
    ) -> NDArray[np.uint64]:
        """Turn a client's rankings into its message.

        Parameters
        ----------
        rankings : array_like of int, shape (m, n)
            All rankings of one client; partial ones if the scheme is made for them.
        client : int
            The client's index in the roster: each client rounds its means at other points (M16).
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
        >>> from fedrank import Borda
        >>> Borda(n=3, clients=2).encode([[0, 1, 2], [0, 1, 2]], client=0)
        array([0, 4, 8], dtype=uint64)
        """
        return self.encode_counting(rankings, client=client, rng=rng)[0]

    def encode_counting(
        self,
        rankings: ArrayLike,
        *,
        client: int,
        rng: RNG = None,
    ) -> tuple[NDArray[np.uint64], int]:
        """Return the message that `encode` returns, and how many local ties were broken in it.

        Examples
        --------
        >>> from fedrank import Lehmer
        >>> Lehmer(n=2, clients=3).encode_counting([[0, 1], [1, 0]], client=0)[1]
        1
        """
        ranks = as_partial(rankings).twins().ranks if self.partial else as_rankings(rankings)
        if ranks.shape[1] != self.n:
            raise InputError(
                f"the scheme is made for {plural(self.n, 'item')}, but these rankings have "
                f"{ranks.shape[1]}",
                value=ranks.shape[1],
                remedy="encode the items of the study, in its order",
            )
        index = whole("client", client, least=0, most=self.clients - 1)
        return self._core_scheme.encode(ranks, index, seed_bytes(rng))

    def pack(self, message: ArrayLike) -> bytes:
        """Write a message in the fewest whole bytes.

        Examples
        --------
        >>> from fedrank import Borda
        >>> scheme = Borda(n=3, clients=2)
        >>> scheme.pack([8, 4, 0]).hex(), scheme.message_bits
        ('8800', 15)
        """
        return self._core_scheme.pack(as_message(message))

    def unpack(self, packed: bytes) -> NDArray[np.uint64]:
        """Read what `pack` wrote.

        Examples
        --------
        >>> from fedrank import Borda
        >>> Borda(n=3, clients=2).unpack(bytes.fromhex("8800"))
        array([8, 4, 0], dtype=uint64)
        """
        return self._core_scheme.unpack(packed)

    def _parameters(self) -> dict[str, Any]:
        raise TypeError("make a Borda, a Lehmer, a Refine or a Dispersion")

    def to_json(self) -> str:
        """Write the scheme as canonical JSON; `schemes.from_json` reads it.

        Examples
        --------
        >>> from fedrank import Borda
        >>> Borda(n=3, clients=2).to_json()
        '{"clients":2,"levels":4,"max_samples":null,"n":3,"scheme":"borda","send":"means"}'
        """
        return canonical({"scheme": self.kind} | self._parameters())

    def __reduce__(self) -> tuple[Any, ...]:
        return remade, (type(self), self._parameters())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({shown})"


def remade(kind: type[Scheme], parameters: dict[str, Any]) -> Scheme:
    """Make a scheme of its parameters again: a copy, or one that was pickled.

    Examples
    --------
    >>> from fedrank import Borda
    >>> remade(Borda, {"n": 3, "clients": 2}) == Borda(3, 2)
    True
    """
    return kind(**parameters)


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
        >>> from fedrank import Borda
        >>> scheme = Borda(n=3, clients=2)
        >>> messages = [
        ...     scheme.encode([[0, 1, 2]], client=0),
        ...     scheme.encode([[0, 2, 1], [0, 1, 2]], client=1),
        ... ]
        >>> scheme.decode(sum(messages), survivors=2).order[0]
        np.int32(0)
        """
        check_ties(ties)
        found = self._core_scheme.decode(
            [as_message(total)], whole("survivors", survivors), ties, seed_bytes(rng)
        )
        return Consensus(
            ranks=found.ranks,
            item_labels=None,
            method=f"federated {self.kind}",
            scores=None
            if found.sums is None
            else self._scores(found.sums.astype(np.float64), survivors),
            ties=found.ties,
            decided_by=ties,
            tied_runs=found.tied,
        )

    def _scores(self, sums: NDArray[np.float64], survivors: int) -> NDArray[np.float64]:
        return sums / survivors


def as_ranking(ranks: ArrayLike) -> NDArray[np.int32]:
    """Check one ranking, and keep it as a row of its own."""
    rows = as_rankings(ranks)
    if len(rows) != 1:
        raise InputError(
            f"the announced order must be one ranking, not {len(rows)}", value=len(rows)
        )
    return rows.copy()


def needed_bound(max_samples: int | None, what: str) -> int:
    """Check the bound on a client's rankings where a message cannot do without.

    Examples
    --------
    >>> needed_bound(63, "margins")
    63
    """
    if max_samples is None:
        raise InputError(
            f"{what} need max_samples, the most rankings that a client may hold: it fixes the "
            "width of the message",
            remedy=Remedy.STATE_MAX_SAMPLES,
        )
    return whole("max_samples", max_samples)


def only_true(**flags: bool) -> dict[str, bool]:
    """Keep the flags that are true, so that the JSON of a scheme without them does not change.

    Examples
    --------
    >>> only_true(partial=False)
    {}
    """
    return {name: value for name, value in flags.items() if value}


def as_message(message: ArrayLike) -> NDArray[np.uint64]:
    """Check the entries of a message or a total."""
    entries = np.asarray(message)
    if entries.ndim != 1:
        raise InputError(
            f"a message must be one row of entries, not {entries.ndim}-dimensional",
            value=entries.ndim,
        )
    if entries.size and entries.dtype.kind not in "iu":
        # Wide integers in a list become floats or objects: look at them one by one.
        values = message if isinstance(message, list | tuple) else entries
        whole_numbers = []
        for index, value in enumerate(values):
            # The value may be private, so it is not told.
            if not isinstance(value, int | float | np.number) or not 0 <= value < 2**64:
                raise InputError(f"entry {index} is negative, too large or not a whole number")
            if not isinstance(value, int | np.integer) and not float(value).is_integer():
                raise InputError(f"entry {index} is not a whole number")
            whole_numbers.append(int(value))
        entries = np.array(whole_numbers, dtype=np.uint64)
    if entries.size and entries.min() < 0:
        raise InputError(f"entry {int(np.argmax(entries < 0))} is negative")
    return np.ascontiguousarray(entries, dtype=np.uint64)
