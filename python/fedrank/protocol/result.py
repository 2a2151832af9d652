"""What a federated run gives, and what it cost."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank.consensus import Consensus
from fedrank.protocol.methods import DISPERSION
from fedrank.protocol.study import Round, Study
from fedrank.schemes import AnyScheme, Fit


@dataclass(frozen=True)
class RoundResult:
    """One round that was run: one sum, and what it cost.

    Attributes
    ----------
    round : Round
        What was asked for.
    survivors : list of int
        Clients whose messages are in the sum; none if it was not opened.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client sent and was sent.
    seconds : dict of str to float
        Wall time of each step, from the requests to the last reply ("mask" includes the time that
        clients take to encode), of the server's work on it ("server mask"), and of "decode".
    faults : list of (int, str)
        Clients that sent something wrong, with a fixed code each.

    Examples
    --------
    >>> from fedrank import federate
    >>> [each.scheme.kind for each in federate([[[0, 1, 2]]] * 4, fit_phi=True).rounds]
    ['borda', 'dispersion']
    """

    round: Round
    survivors: list[int]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    faults: list[tuple[int, str]]

    @property
    def scheme(self) -> AnyScheme:
        """How rankings became messages."""
        return self.round.scheme


@dataclass(frozen=True)
class FederatedConsensus:
    """The consensus of a federated run, who took part, and what it cost.

    The attributes mean the same whatever carried the messages.

    Attributes
    ----------
    consensus : Consensus
        The ranking found.
    survivors : list of int
        Clients whose messages are in the sum.
    dropped : dict of int to str
        Clients that were lost, and the first step that they did not answer; ``(round, step)``
        if that was in a later round than the first.
    reasons : dict of int to str
        Why each of them was lost, as far as that is known.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client sent and was sent, in all rounds.
    seconds : dict of str to float
        Wall time by step, over all rounds: see `RoundResult`.
    study : Study
        What the parties agreed on.
    secure : bool
        Whether the messages were masked.
    run : int
        Number of the run; that of the run that was killed, if this one went on from its state.
    faults : list of (int, str)
        Clients that sent something wrong, with a fixed code each.
    rounds : list of RoundResult
        The rounds, in turn; one for each sum.
    fit : schemes.Fit or None
        phi and its standard error, if the study asked for them.
    note : str or None
        Why a round was not opened, if one was not.

    Examples
    --------
    >>> from fedrank import federate
    >>> result = federate([[[0, 1, 2]]] * 4, "borda", dropouts={3: "unmask"})
    >>> result.survivors, result.dropped
    ([0, 1, 2, 3], {3: 'unmask'})
    >>> int(result.bytes_up[0])
    758
    """

    consensus: Consensus
    survivors: list[int]
    dropped: dict[int, str | tuple[int, str]]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    study: Study
    secure: bool
    run: int = 0
    reasons: dict[int, str] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    rounds: list[RoundResult] = field(default_factory=list)
    fit: Fit | None = None
    note: str | None = None

    @property
    def scheme(self) -> AnyScheme:
        """The scheme of the round that gave the consensus."""
        opened = [each for each in self.rounds if each.survivors]
        return [each.scheme for each in opened if each.round.stage != DISPERSION][-1]

    def __repr__(self) -> str:
        how = "secure" if self.secure else "in the clear"
        rounds = f" in {len(self.rounds)} rounds" if len(self.rounds) > 1 else ""
        return (
            f"FederatedConsensus: {self.consensus!r}\n"
            f"  {len(self.survivors)} of {len(self.study.roster)} clients, {how}, "
            f"at most {int(self.bytes_up.max())} bytes sent per client{rounds}"
        )


def summary(result: FederatedConsensus) -> dict[str, Any]:
    """Tell what a run gave and cost, in values that JSON has; the same for every transport.

    Examples
    --------
    >>> from fedrank import federate
    >>> told = summary(federate([[[0, 1, 2]]] * 4, dropouts=[3]))
    >>> told["rounds"], told["clients"][3]["dropped_at"]
    (['start'], {'round': 0, 'step': 'mask'})
    """
    when = {
        client: {"round": at[0], "step": at[1]}
        if isinstance(at, tuple)
        else {"round": 0, "step": at}
        for client, at in result.dropped.items()
    }
    return {
        "study": result.study.digest,
        "run": result.run,
        "method": result.consensus.method,
        "secure": result.secure,
        "threshold": result.study.threshold if result.secure else None,
        "clients": [
            {
                "name": name,
                "in_sum": client in result.survivors,
                "dropped_at": when.get(client),
                "why": result.reasons.get(client),
                "bytes_sent": int(result.bytes_up[client]),
                "bytes_received": int(result.bytes_down[client]),
            }
            for client, name in enumerate(result.study.roster)
        ],
        "faults": [{"client": client, "code": code} for client, code in result.faults],
        "rounds": [each.round.stage for each in result.rounds],
        "seconds": result.seconds,
        "note": result.note,
        "phi": result.fit and {"estimate": result.fit.phi, "error": result.fit.standard_error},
        "exact": result.consensus.exact,
        "ties": result.consensus.ties,
    }
