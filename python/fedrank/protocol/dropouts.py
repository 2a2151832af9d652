"""Clients that vanish on purpose, in a simulation: what may be asked for, and what came of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from fedrank._validation import as_list, few, plural, whole
from fedrank.exceptions import InputError
from fedrank.protocol.clients import Client, client_ids
from fedrank.protocol.methods import Kemeny
from fedrank.protocol.result import FederatedConsensus
from fedrank.protocol.study import Study


def check_dropouts(
    dropouts: Mapping[Any, str | tuple[int, str]] | Iterable[Client], study: Study
) -> dict[int, tuple[int, str]]:
    """Say for every client that vanishes in which round, and at which step, it does."""
    clients = client_ids(study)
    numbers = {client: number for number, client in enumerate(clients)}
    numbers |= {name: number for number, name in enumerate(study.roster)}
    method = study.method
    last = (method.most_rounds if isinstance(method, Kemeny) else 0) + study.fit_phi
    if isinstance(dropouts, str):
        problem, remedy = f"must be a list of clients, not {dropouts!r}", f"pass [{dropouts!r}]"
        raise InputError(problem, parameter="dropouts", value=dropouts, remedy=remedy)
    if isinstance(dropouts, Mapping):
        lost = dict(dropouts)
    else:
        lost = dict.fromkeys(as_list(dropouts, "dropouts"), "mask")
    checked = {}
    for client, when in lost.items():
        if isinstance(client, bool) or client not in numbers:
            raise InputError(
                f"dropout {client!r} is not a client: the clients are {few(clients)}",
                value=client,
            )
        round, step = when if isinstance(when, tuple) and len(when) == 2 else (0, when)
        if step not in study.steps[1:]:
            raise InputError(
                f"the step of a dropout must be one of {', '.join(study.steps[1:])}, not {step!r}",
                value=step,
                client=client,
            )
        if whole("round", round, least=0) > last:
            raise InputError(
                f"it cannot drop out of round {round}: the rounds of this study are "
                f"{few(range(last + 1))}",
                value=round,
                client=client,
            )
        checked[numbers[client]] = (int(round), str(step))
    return dict(sorted(checked.items()))


def never_dropped(lost: Mapping[int, tuple[int, str]], result: FederatedConsensus) -> str | None:
    """Name the clients that were to vanish in a round that was never run.

    Examples
    --------
    >>> from fedrank import federate
    >>> votes = [[[0, 1, 2]]] * 4
    >>> federate(votes, "kemeny", rounds=5, rng=0, dropouts={3: (5, "mask")}).note
    'client 3 did not drop out of round 5: only 2 rounds were run'
    """
    run = len(result.rounds)
    names = [
        f"client {result.clients[client]!r} did not drop out of round {round}"
        for client, (round, _) in lost.items()
        if round >= run
    ]
    return f"{', '.join(names)}: only {plural(run, 'round')} were run" if names else None
