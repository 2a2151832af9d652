"""What a federated run gives, and what it cost."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedrank._text import printable
from fedrank._validation import MAX_LISTED, plural
from fedrank.consensus.html import MAX_ROWS, as_html, table
from fedrank.consensus.result import Consensus, same_fields
from fedrank.consensus.ties import chance, say_clients, say_close, tie_facts
from fedrank.exceptions import Remedy
from fedrank.protocol import documents
from fedrank.protocol.clients import Client, client_ids
from fedrank.protocol.methods import DISPERSION, REFINE, Kemeny
from fedrank.protocol.study import Round, Study
from fedrank.schemes import AnyScheme, Borda, Fit

MORE_ROUNDS = "more rounds may change it"  # what is said of a result that has not converged


@dataclass(frozen=True, eq=False)
class RoundResult:
    """One round that was run: one sum, and what it cost.

    Attributes
    ----------
    round : Round
        What was asked for.
    survivors : list of str or int
        Clients whose messages are in the sum, by name, or by number if they have no names; none
        if it was not opened.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client sent and was sent, in the order of the roster.
    seconds : dict of str to float
        Wall time of each step, from the requests to the last reply ("mask" includes the time that
        clients take to encode), of the server's work on it ("server mask"), and of "decode".
    faults : list of (str or int, str)
        Clients that sent something wrong, with a fixed code each.

    Examples
    --------
    >>> from fedrank import federate
    >>> [each.scheme.kind for each in federate([[[0, 1, 2]]] * 4, fit_phi=True).rounds]
    ['borda', 'dispersion']
    """

    round: Round
    survivors: list[Any]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    faults: list[tuple[Any, str]]

    @property
    def scheme(self) -> AnyScheme:
        """How rankings became messages."""
        return self.round.scheme

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RoundResult) and same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]  # equality is by value, and arrays have no hash


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FederatedConsensus(Consensus):
    """The consensus of a federated run, who took part, and what it cost.

    It is a `Consensus` and behaves like one. The attributes mean the same whatever carried the
    messages. Clients are named as in the study's roster; if that has the default names, by number.

    Attributes
    ----------
    survivors : list of str or int
        Clients whose messages are in the sum.
    dropped : dict of (str or int) to str
        Clients that were lost, and the first step that they did not answer; ``(round, step)``
        if that was in a later round than the first.
    reasons : dict of (str or int) to str
        Why each of them was lost, as far as that is known.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client sent and was sent, in all rounds, in the order of `clients`.
    seconds : dict of str to float
        Wall time by step, over all rounds: see `RoundResult`.
    study : Study
        What the parties agreed on.
    secure : bool
        Whether the messages were masked.
    run : int
        Number of the run; that of the run that was killed, if this one went on from its state.
    faults : list of (str or int, str)
        Clients that sent something wrong, with a fixed code each.
    rounds : list of RoundResult
        The rounds, in turn; one for each sum.
    fit : schemes.Fit or None
        phi and its standard error, if the study asked for them.
    note : str or None
        What did not go as planned: why a round was not opened, which dropouts never happened.
    local_ties : tuple of (str or int) or None
        Survivors whose messages depended on ties that they broke at random; None if that is not
        known, as clients do not tell it over a network.
    sources : tuple or None
        What each client's rankings were read from, if that is known and differs; otherwise see
        ``source``.

    Examples
    --------
    >>> from fedrank import federate
    >>> result = federate([[[0, 1, 2]]] * 4, "borda", dropouts={3: "unmask"})
    >>> result.survivors, result.dropped
    ([0, 1, 2, 3], {3: 'unmask'})
    >>> int(result.bytes_up[0])
    759
    >>> named = federate(dict.fromkeys(["north", "east", "south"], [[0, 1, 2]]))
    >>> named.survivors
    ['north', 'east', 'south']
    """

    kind: ClassVar[str] = "federated consensus"

    survivors: list[Any]
    dropped: dict[Any, str | tuple[int, str]]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    study: Study
    secure: bool
    run: int = 0
    reasons: dict[Any, str] = field(default_factory=dict)
    faults: list[tuple[Any, str]] = field(default_factory=list)
    rounds: list[RoundResult] = field(default_factory=list)
    fit: Fit | None = None
    note: str | None = None
    local_ties: tuple[Any, ...] | None = None
    sources: tuple[object | None, ...] | None = field(default=None, compare=False)

    @property
    def clients(self) -> tuple[Client, ...]:
        """Names of all clients, in the order of the roster; their numbers if it has none."""
        return client_ids(self.study)

    @property
    def in_sum(self) -> NDArray[np.bool_]:
        """Whether each client, in the order of `clients`, is a survivor."""
        survivors = set(self.survivors)
        return np.array([client in survivors for client in self.clients])

    @property
    def scheme(self) -> AnyScheme:
        """The scheme of the round that gave the consensus."""
        opened = [each for each in self.rounds if each.survivors]
        return [each.scheme for each in opened if each.round.stage != DISPERSION][-1]

    def _say_unfinished(self) -> tuple[str, ...]:
        refined = [each for each in self.rounds if each.round.stage == REFINE]
        opened = sum(bool(each.survivors) for each in refined)
        if opened == len(refined):
            return ()
        if not opened:
            return (
                "this is the Borda consensus of the first round, not a Kemeny consensus: nothing "
                "was refined",
            )
        done = plural(opened, "round")
        return (f"the refinement stopped after {done}, before it had converged",)

    def _say_clients(self) -> tuple[str, ...]:
        drawn = None if self.local_ties is None else len(self.local_ties)
        can_draw = any(each.scheme.breaks_ties for each in self.rounds if each.survivors)
        return say_clients(drawn, can_draw)

    def _rounded(self) -> Borda | None:
        """Return the scheme if it is one that rounded the means."""
        scheme = self.scheme
        return scheme if isinstance(scheme, Borda) and scheme.rounds_means else None

    def _say_exchanged(self) -> str | None:
        scheme = self._rounded()
        if scheme is None or scheme.levels is None or scheme.n == 1:
            return None
        if scheme.send == "weighted":
            return (
                "items may be in the wrong order where clients hold far fewer than "
                f"{scheme.max_samples} rankings"
            )
        assert self.scores is not None
        # Each client moves the difference of two items by less than a level, so the sum over S
        # clients by less than S. Sums are whole numbers, which the scores are not.
        clients = len(self.survivors)
        sums = np.rint(self.scores[self.order] * scheme.levels * clients)
        return say_close(self, np.diff(sums) / (scheme.levels * clients), 1 / scheme.levels)

    def _rounded_to(self) -> str | None:
        scheme = self._rounded()
        if scheme is None:
            return None
        # Where neighbours in the roster are lost, their shifts are missing between two others.
        apart = f"{scheme.resolution * (1 + longest_gap(self.in_sum)):.2g} of a place"
        if scheme.send == "means":
            return apart
        return f"{apart}, or more as clients hold fewer than {scheme.max_samples} rankings,"

    def _began_rounded(self) -> bool:
        method = self.study.method
        return isinstance(method, Kemeny) and method.start.send != "sums"

    def _extra(self) -> dict[str, Any]:
        return documents.extra_of(self)

    @classmethod
    def _read_extra(cls, extra: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
        return documents.read_extra(extra, RoundResult, len(facts["ranks"]), facts["item_labels"])

    def _costs(self) -> str:
        """Say who took part and what it cost, in one line."""
        how = "secure" if self.secure else "in the clear"
        rounds = f" in {len(self.rounds)} rounds" if len(self.rounds) > 1 else ""
        if self.converged is not None:
            rounds += ", converged" if self.converged else f", not converged: {MORE_ROUNDS}"
        return (
            f"{len(self.survivors)} of {plural(len(self.study.roster), 'client')}, {how}, "
            f"at most {plural(int(self.bytes_up.max()), 'byte')} sent per client{rounds}"
        )

    def __repr__(self) -> str:
        lines = [
            f"FederatedConsensus: {self._summary()}",
            *self._say_source(),
            *chance(self, MAX_LISTED),
            self._costs(),
        ]
        return "\n  ".join(lines if self.note is None else [*lines, printable(self.note)])

    def _repr_html_(self) -> str:
        rows: list[list[Hashable]] = [
            [client, "yes" if summed else "no", f"{up:,}", f"{down:,}"]
            for client, summed, up, down in zip(
                self.clients[:MAX_ROWS], self.in_sum, self.bytes_up, self.bytes_down, strict=False
            )
        ]
        head = ["client", "in the sum", "bytes sent", "bytes received"]
        return as_html(self, after=table(head, rows, len(self.clients)), more=self._notes())

    def _notes(self) -> list[str]:
        """Say what belongs beside the table of places."""
        return [self._costs()] if self.note is None else [self._costs(), self.note]


def longest_gap(present: NDArray[np.bool_]) -> int:
    """Return the longest run of clients that are not in the sum; the last is beside the first.

    Examples
    --------
    >>> longest_gap(np.array([False, True, True, False, False]))
    3
    """
    there = np.flatnonzero(present)
    gaps = np.diff(there, append=there[0] + len(present)) - 1
    return int(gaps.max())


def summary(result: FederatedConsensus, sums: str = Remedy.SUMS) -> dict[str, Any]:
    """Tell what a run gave and cost, in values that JSON has; the same for every transport.

    ``sums`` is as in `fedrank.consensus.chance`.

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
        "method": result.method,
        "secure": result.secure,
        "threshold": result.study.threshold if result.secure else None,
        "clients": [
            {
                "name": name,
                "in_sum": bool(result.in_sum[number]),
                "dropped_at": when.get(client),
                "why": result.reasons.get(client),
                "bytes_sent": int(result.bytes_up[number]),
                "bytes_received": int(result.bytes_down[number]),
            }
            for number, (client, name) in enumerate(
                zip(result.clients, result.study.roster, strict=True)
            )
        ],
        "faults": [{"client": client, "code": code} for client, code in result.faults],
        "rounds": [each.round.stage for each in result.rounds],
        "seconds": result.seconds,
        "note": "; ".join([*result._say_unfinished(), *filter(None, [result.note])]) or None,
        "phi": result.fit and {"estimate": result.fit.phi, "error": result.fit.standard_error},
        "exact": result.exact,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "converged": result.converged,
    } | tie_facts(result, sums)
