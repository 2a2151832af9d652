"""The server's part of a run, whatever carries the bytes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fedrank.exceptions import ProtocolError
from fedrank.protocol.federate import FEWEST, STEPS, FederatedConsensus, stream_rng
from fedrank.protocol.secagg import Server
from fedrank.protocol.study import Study
from fedrank.schemes import Borda, Lehmer


@dataclass(frozen=True)
class Lost:
    """A client that gave no reply to a step, and why.

    Examples
    --------
    >>> Lost("refused").why
    'refused'
    """

    why: str


class RunFailedError(ValueError):
    """A run that came to nothing; the message says at which step, and who was lost.

    Examples
    --------
    >>> issubclass(RunFailedError, ValueError)
    True
    """


Exchange = Callable[[str, Mapping[int, bytes]], Mapping[int, bytes | Lost]]
"""Takes a step's requests to the clients, and brings what became of them."""


def conduct(study: Study, exchange: Exchange, seed: bytes) -> FederatedConsensus:
    """Conduct the steps of one run, and decode the consensus.

    Parameters
    ----------
    study : Study
        What all parties agree on.
    exchange : callable
        ``exchange(step, requests)`` takes the bytes to the clients, by number, and returns
        their replies; `Lost`, or nothing, for those who gave none in time.
    seed : bytes
        Breaks the consensus' ties, as `fedrank.federate` does.

    Returns
    -------
    result : FederatedConsensus

    Raises
    ------
    RunFailedError
        If fewer clients than the threshold are left, or fewer than three.
    ValueError
        If the study's scheme is neither Borda nor Lehmer.

    Examples
    --------
    >>> from fedrank import Borda
    >>> def nobody(step, requests):
    ...     return {client: Lost("unavailable") for client in requests}
    >>> try:
    ...     conduct(Study(Borda(2, 3), roster=["a", "b", "c"]), nobody, bytes(32))
    ... except RunFailedError as failed:
    ...     print(str(failed).partition("; ")[2])
    lost before advertise: a (unavailable), b (unavailable), c (unavailable)
    """
    scheme = one_round(study)
    server = Server(study)
    up, down = (np.zeros(len(study.roster), dtype=np.int64) for _ in range(2))
    seconds: dict[str, float] = {}
    lost: dict[int, tuple[str, str]] = {}
    requests = dict.fromkeys(range(len(study.roster)), b"")
    try:
        for step in STEPS:
            if step == "unmask" and len(requests) < FEWEST:
                raise ProtocolError(f"a sum over {len(requests)} clients shows too much", "few")
            start = time.perf_counter()
            replies = exchange(step, requests)
            seconds[step] = time.perf_counter() - start
            for client, request in requests.items():
                down[client] += len(request)
                reply = replies.get(client, Lost("no reply in time"))
                if isinstance(reply, Lost):
                    lost[client] = (step, reply.why)
                    continue
                up[client] += len(reply)
                try:
                    server.receive(client, reply)
                except ProtocolError as error:
                    lost[client] = (step, error.code)
            requests = server.close_step()
        total, survivors = server.result()
    except ProtocolError as error:
        raise RunFailedError(f"{error}; {describe(study, lost)}") from None
    found = scheme.decode(total, len(survivors), rng=stream_rng(seed, 1))
    return FederatedConsensus(
        consensus=replace(found, item_labels=study.items),
        survivors=survivors,
        dropped={client: step for client, (step, _) in sorted(lost.items())},
        bytes_up=up,
        bytes_down=down,
        seconds=seconds,
        study=study,
        secure=True,
        faults=[(client, why) for client, (_, why) in sorted(lost.items())],
    )


def one_round(study: Study) -> Borda | Lehmer:
    """Return the scheme of a study that a run can conduct, or refuse it.

    Examples
    --------
    >>> from fedrank import Borda
    >>> one_round(Study(Borda(2, 3))).kind
    'borda'
    """
    scheme = study.scheme
    if not isinstance(scheme, Borda | Lehmer):  # the others go on from an earlier round
        raise ValueError(
            f"a run has one round, of Borda or Lehmer, not of {type(scheme).__name__}: "
            "make another study"
        )
    return scheme


def describe(study: Study, lost: Mapping[int, tuple[str, str]]) -> str:
    """Say who was lost, before which step, and why.

    Examples
    --------
    >>> from fedrank import Borda
    >>> describe(Study(Borda(2, 2), roster=["a", "b"]), {1: ("mask", "refused")})
    'lost before mask: b (refused)'
    """
    parts = []
    for step in STEPS:
        names = [f"{study.roster[c]} ({why})" for c, (at, why) in lost.items() if at == step]
        if names:
            parts.append(f"lost before {step}: {', '.join(names)}")
    return "; ".join(parts) or "nobody was lost"
