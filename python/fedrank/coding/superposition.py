"""The superposition channel (M13), simulated: the server hears sums and nothing else.

Clients send at the same time, and what they send adds up in the air. Block ``i`` has the slots
``0..i``; in slot ``t`` a client sends how many of its rankings have a Lehmer digit ``i`` of at
least ``t``, and stays silent if none has. Differences of neighbouring slots are the histogram of
digit ``i``, whose plurality is taken. Silence costs nothing, and near the identity most slots are
silent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._random import RNG, as_rng, seed_bytes
from fedrank._validation import check_ties, read_only
from fedrank.consensus import Consensus
from fedrank.exceptions import InputError
from fedrank.protocol.federate import as_client, check_clients
from fedrank.rankings.complete import Rankings, as_rankings

MAX_SUM = 2.0**53
"""Largest absolute value of a sum: noise beyond it is cut off. No number of rankings reaches it."""

__all__ = ["Reception", "aggregate", "receive", "transmit"]


@dataclass(frozen=True, eq=False)
class Reception:
    """What the server received over the superposition channel, and what it cost.

    Attributes
    ----------
    consensus : Consensus
        The ranking that the server decoded.
    slots : int
        Slots that the blocks have: ``n (n + 1) / 2``.
    slots_used : int
        Slots in which anybody sent.
    transmissions : numpy.ndarray of int64, shape (clients,)
        Slots in which each client sent.
    sums : numpy.ndarray of float64, shape (slots,)
        What the server heard, block after block, noise included.

    Examples
    --------
    >>> heard = aggregate([[[0, 1, 2], [0, 2, 1]], [[0, 1, 2]]])
    >>> heard.slots, heard.slots_used, heard.energy
    (6, 4, 7)
    """

    consensus: Consensus
    slots: int
    slots_used: int
    transmissions: NDArray[np.int64]
    sums: NDArray[np.float64]

    @property
    def energy(self) -> int:
        """Transmissions of all clients: slots in which each was not silent, summed."""
        return int(self.transmissions.sum())


def transmit(rankings: ArrayLike) -> NDArray[np.uint32]:
    """Symbols that a client sends, slot by slot; 0 is silence.

    Parameters
    ----------
    rankings : array_like of int, shape (m, n)
        All rankings of one client.

    Returns
    -------
    symbols : numpy.ndarray of uint32, shape (n (n + 1) / 2,)
        Block after block, how many of the rankings have a digit of at least ``0, 1, …``.

    Examples
    --------
    The codes are (0, 0, 0) and (0, 0, 1).

    >>> transmit([[0, 1, 2], [0, 2, 1]])
    array([2, 2, 0, 2, 1, 0], dtype=uint32)
    """
    return _core.superposition_transmit(as_rankings(rankings))


def receive(sums: ArrayLike, *, ties: str = "random", rng: RNG = None) -> Consensus:
    """Decode the consensus from what the server hears.

    Without noise the sums of a block never rise from slot to slot and are never negative. The
    sums of that kind which are nearest to those heard, by least squares, are taken for the truth:
    the likeliest if the noise is Gaussian. The slot before the steepest fall is the digit.

    Parameters
    ----------
    sums : array_like of float, shape (n (n + 1) / 2,)
        The sum in each slot, block after block.
    ties : {"random", "index"}
        Whether tied digits are drawn, or the least is taken.
    rng : None, int or numpy.random.Generator
        Draws tied digits, as `fedrank.aggregate` does.

    Raises
    ------
    ValueError
        If these are not the sums of whole blocks, or one is not a number.

    Examples
    --------
    >>> receive([3, 3, 1.2, 2.9, 1, 0]).ranks
    array([0, 1, 2], dtype=int32)
    """
    heard = np.asarray(sums)
    if heard.ndim != 1 or heard.dtype.kind not in "iuf":
        raise InputError(
            f"must be one row of numbers, one per slot, not {heard.dtype} of shape {heard.shape}",
            parameter="sums",
        )
    n = (isqrt(8 * len(heard) + 1) - 1) // 2
    if n == 0 or n * (n + 1) // 2 != len(heard):
        raise InputError(
            f"must be 1 + 2 + … + n numbers, one per slot, not {len(heard)}",
            parameter="sums",
            value=len(heard),
        )
    if np.isnan(heard).any():
        slot = int(np.argmax(np.isnan(heard)))
        raise InputError(f"must not be NaN (slot {slot})", parameter="sums", value=float("nan"))
    return decide(heard, n, ties, seed_bytes(rng))


def decide(heard: NDArray[Any], n: int, ties: str, seed: bytes) -> Consensus:
    """Let the core pick the digits."""
    check_ties(ties)
    bounded = np.ascontiguousarray(np.clip(heard, -MAX_SUM, MAX_SUM), dtype=np.float64)
    found = _core.superposition_receive(bounded, n, ties, seed)
    return Consensus(
        ranks=read_only(found.ranks),
        item_labels=None,
        method="superposition lehmer",
        ties=found.ties,
        decided_by=ties,
        tied_runs=found.tied,
    )


def aggregate(
    clients: Sequence[ArrayLike],
    *,
    noise: float = 0.0,
    ties: str = "random",
    rng: RNG = None,
) -> Reception:
    """Find the consensus of rankings whose codes are sent over one channel at once.

    Without noise it is ``fedrank.aggregate(all rankings, "lehmer")``, with the same ``rng`` too.

    Parameters
    ----------
    clients : sequence of array_like of int, each of shape (m, n) or (n,)
        The rankings of each client. The rows of one array are clients with one ranking each.
    noise : float
        Standard deviation of the Gaussian noise on the sum in each slot, silent ones included. A
        ranking counts 1.
    ties : {"random", "index"}
        Whether tied digits are drawn, or the least is taken.
    rng : None, int or numpy.random.Generator
        Draws tied digits and the noise.

    Returns
    -------
    heard : Reception
        The consensus, the slots used, the energy and the sums.

    Raises
    ------
    ValueError
        If the input is not rankings of the same items, or the noise is negative or not finite.

    Examples
    --------
    >>> from fedrank import Mallows
    >>> hospitals = Mallows(0.5, n=20).sample(200, rng=0).split(10, rng=0)
    >>> aggregate(hospitals).consensus.top(5)
    (0, 1, 2, 3, 4)
    >>> aggregate(hospitals, noise=0.1, rng=0).consensus.top(5)
    (0, 1, 2, 3, 4)
    """
    # The rows of one Rankings are clients, and have its labels.
    given = clients
    if isinstance(clients, Rankings):
        given = [Rankings(each, clients.item_labels) for each in clients]
    data = check_clients([as_client(client, each, Rankings) for client, each in enumerate(given)])
    labels = data[0].item_labels
    if not isinstance(noise, int | float | np.number) or not 0 <= noise < np.inf:
        raise InputError(
            f"must be a finite number of at least 0, not {noise!r}", parameter="noise", value=noise
        )
    n = data[0].n
    sums = np.zeros(n * (n + 1) // 2)
    transmissions = np.empty(len(data), dtype=np.int64)
    for client, rankings in enumerate(data):
        symbols = transmit(rankings)
        transmissions[client] = np.count_nonzero(symbols)
        sums += symbols
    used = int(np.count_nonzero(sums))
    generator = as_rng(rng)
    # The seed of the ties is drawn first: the same as without noise, and as centrally.
    seed = generator.bytes(32)
    if noise > 0:
        sums += generator.normal(scale=noise, size=len(sums))
    return Reception(
        consensus=replace(decide(sums, n, ties, seed), item_labels=labels),
        slots=len(sums),
        slots_used=used,
        transmissions=transmissions,
        sums=sums,
    )
