"""The clients of a picture: their names, their rankings, and what each ranks by itself."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._validation import as_list, few, plural
from fedrank.consensus import aggregate
from fedrank.exceptions import InputError
from fedrank.protocol.federate import as_client, check_clients
from fedrank.protocol.result import FederatedConsensus
from fedrank.rankings.complete import Rankings
from fedrank.rankings.labelled import Labelled
from fedrank.rankings.partial import AnyRankings, PartialRankings

Clients: TypeAlias = Sequence[ArrayLike] | Mapping[Any, ArrayLike]
"""The rankings of each client, as a list or by name."""


def named(clients: Clients) -> tuple[list[str], list[AnyRankings]]:
    """Return the names and the checked rankings of the clients."""
    if isinstance(clients, Labelled):
        raise InputError(
            f"clients must be a list or a dict with the rankings of each client, not one "
            f"{type(clients).__name__}",
            remedy="put it in a list to draw it as one client, or deal it out with split",
        )
    if isinstance(clients, Mapping):
        names, given = [str(name) for name in clients], list(clients.values())
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two clients have the name {name!r}", value=name)
    else:
        given = as_list(clients, "clients")
        names = [str(client) for client in range(len(given))]
    known: Sequence[int | str] = names if isinstance(clients, Mapping) else range(len(given))
    data: list[AnyRankings] = [
        each if isinstance(each, PartialRankings) else as_client(client, each, Rankings)
        for client, each in zip(known, given, strict=True)
    ]
    return names, check_clients(data, names if isinstance(clients, Mapping) else None)


def of_result(result: FederatedConsensus, clients: Clients) -> tuple[list[str], list[AnyRankings]]:
    """Return the names and rankings of the clients whose messages are in a federated consensus.

    A list is in the order of the roster, and takes its names. A mapping is matched with the
    roster by name, unless the roster has no names of its own.
    """
    names, data = named(clients)
    roster = list(result.study.roster)
    if len(data) != len(roster):
        given = plural(len(data), "client was", "clients were")
        raise InputError(
            f"{given} given for a result of {len(roster)}",
            remedy="give all of them, also those that dropped out",
        )
    if not isinstance(clients, Mapping):
        names = roster
    elif set(names) == set(roster):
        data = [data[names.index(name)] for name in roster]
        names = roster
    elif roster != [str(client) for client in range(len(roster))]:
        unknown = [name for name in names if name not in roster]
        raise InputError(
            f"the result has no client {unknown[0]!r}",
            value=unknown[0],
            remedy=f"its clients are {few(roster)}",
        )
    summed = np.flatnonzero(result.in_sum)
    return [names[client] for client in summed], [data[client] for client in summed]


def own_consensus(data: Sequence[AnyRankings]) -> PartialRankings:
    """Compute each client's Borda consensus: one row per client, equal mean positions tied.

    Examples
    --------
    >>> own_consensus([Rankings([[0, 1, 2], [0, 2, 1]])]).ranks
    array([[0, 1, 1]], dtype=int32)
    """
    scores = [aggregate(each, "borda", ties="index").scores for each in data]
    return PartialRankings.from_scores(-np.array(scores, dtype=np.float64))


def places(rankings: AnyRankings) -> NDArray[np.float64]:
    """Return the place of each item, from 1; tied items share the mean of their places.

    Examples
    --------
    >>> places(PartialRankings([[0, 1, 1, -1]]))
    array([[1. , 2.5, 2.5, 4. ]])
    """
    if isinstance(rankings, Rankings):
        return np.add(rankings.ranks, 1, dtype=np.float64)
    first, second = np.split(rankings.twins().ranks.astype(np.float64), 2)
    return (first + second) / 2 + 1
