"""The JSON of a federated result: what `FederatedConsensus` adds to a consensus."""

import json
import math
from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._json import canonical
from fedrank._validation import few
from fedrank.consensus.saved import as_known, as_number, check_fields, is_count
from fedrank.exceptions import InputError
from fedrank.protocol.clients import client_ids
from fedrank.protocol.study import Study
from fedrank.schemes import Dispersion, Fit, Refine

if TYPE_CHECKING:
    from fedrank.protocol.result import FederatedConsensus, RoundResult

FIELDS = {
    "study",
    "secure",
    "run",
    "survivors",
    "dropped",
    "rounds",
    "fit",
    "note",
    "named",
    "local_ties",
    "sources",
}
ROUND_FIELDS = {"stage", "order", "survivors", "bytes_up", "bytes_down", "seconds", "faults"}
FIT_FIELDS = ("phi", "standard_error", "mean_distance", "samples")


def extra_of(result: "FederatedConsensus") -> dict[str, Any]:
    """Write what a run adds to its consensus; sums over the rounds are not written twice."""
    fit = result.fit
    return {
        "study": json.loads(result.study.to_json()),
        "secure": result.secure,
        "run": result.run,
        "survivors": result.survivors,
        "dropped": [
            {
                "client": client,
                "round": at[0] if isinstance(at, tuple) else 0,
                "step": at[1] if isinstance(at, tuple) else at,
                "why": result.reasons.get(client),
            }
            for client, at in result.dropped.items()
        ],
        "rounds": [round_fields(each) for each in result.rounds],
        "fit": None if fit is None else {name: finite(getattr(fit, name)) for name in FIT_FIELDS},
        "note": result.note,
        "named": result.study.named,
        "local_ties": None if result.local_ties is None else list(result.local_ties),
        "sources": None
        if result.sources is None
        else [None if each is None else str(each) for each in result.sources],
    }


def round_fields(result: "RoundResult") -> dict[str, Any]:
    """Write one round; its scheme follows from the study and the announced orders."""
    scheme = result.scheme
    order = None
    if result.round.number and isinstance(scheme, Refine | Dispersion):
        order = _core.invert(scheme._announced[-1:])[0].tolist()
    return {
        "stage": result.round.stage,
        "order": order,
        "survivors": result.survivors,
        "bytes_up": result.bytes_up.tolist(),
        "bytes_down": result.bytes_down.tolist(),
        "seconds": result.seconds,
        "faults": [list(fault) for fault in result.faults],
    }


def finite(value: float) -> float | str:
    """Write a number that JSON may not have, such as infinity, as text."""
    return value if math.isfinite(value) else str(value)


def read_extra(
    extra: Any, kind: type["RoundResult"], n: int, labels: tuple[Hashable, ...] | None
) -> dict[str, Any]:
    """Check and read what `extra_of` wrote for a consensus of ``n`` items with these labels."""
    check_fields(extra, FIELDS)
    study = read_study(extra["study"], extra["named"])
    if study.method.n != n or study.items != labels:
        raise InputError("the items of the study are not those of the places")
    clients = client_ids(study)
    index = {client: number for number, client in enumerate(clients)}
    survivors = as_clients(extra["survivors"], index)
    rounds: list[RoundResult] = []
    orders: list[list[int]] = []
    numbers = [index[client] for client in survivors]
    for number, fields in enumerate(extra["rounds"]):
        check_fields(fields, ROUND_FIELDS)
        if number:
            orders.append(fields["order"])
        rounds.append(
            kind(
                round=study.round(number, orders, numbers if number else (), fields["stage"]),
                survivors=as_clients(fields["survivors"], index),
                bytes_up=as_counts(fields["bytes_up"], len(clients)),
                bytes_down=as_counts(fields["bytes_down"], len(clients)),
                seconds={name: as_seconds(spent) for name, spent in fields["seconds"].items()},
                faults=[
                    (one_client(client, index), str(code)) for client, code in fields["faults"]
                ],
            )
        )
    if not rounds or rounds[0].survivors != survivors:
        raise InputError("the survivors are not those of the first round")
    if not isinstance(extra["secure"], bool):
        raise InputError(f"secure must be true or false, not {extra['secure']!r}")
    if not is_count(extra["run"]):
        raise InputError(f"run must be a whole number of at least 0, not {extra['run']!r}")
    if not isinstance(extra["note"], str | None):
        raise InputError("note must be text or null")
    seconds: dict[str, float] = {}
    for each in rounds:
        for name, spent in each.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + spent
    return {
        "study": study,
        "secure": extra["secure"],
        "run": extra["run"],
        "survivors": survivors,
        **read_dropped(extra["dropped"], index, set(survivors), len(rounds), study.steps),
        "rounds": rounds,
        "bytes_up": np.sum([each.bytes_up for each in rounds], axis=0),
        "bytes_down": np.sum([each.bytes_down for each in rounds], axis=0),
        "seconds": seconds,
        "faults": [fault for each in rounds for fault in each.faults],
        "fit": read_fit(extra["fit"]),
        "note": extra["note"],
        "local_ties": None
        if extra["local_ties"] is None
        else tuple(as_clients(extra["local_ties"], index)),
        "sources": read_sources(extra["sources"], len(clients)),
    }


def read_study(fields: Any, named: Any) -> Study:
    """Read the study, and whether it was given names, which its own JSON does not tell."""
    study = Study.from_json(canonical(fields))
    known = study.named or study.signed
    if not isinstance(named, bool) or (known and named != study.named):
        raise InputError(
            f"named must be true where the roster has names, else true or false, not {named!r}"
        )
    if named and not study.named:
        return Study(
            study.method, study.items, study.roster, study.threshold, fit_phi=study.fit_phi
        )
    return study


def as_seconds(value: Any) -> float:
    """Read a time."""
    spent = as_number(value)
    if spent is None or spent < 0:
        raise InputError(f"{value!r} is not a time in seconds")
    return spent


def read_dropped(
    entries: Any,
    numbers: Mapping[Any, int],
    survivors: set[Any],
    rounds: int,
    steps: tuple[str, ...],
) -> dict[str, Any]:
    """Read who was lost, when and why.

    A client is in the sum if and only if it sent its masked message in the first round.
    """
    unsummed = steps[: steps.index("mask") + 1]
    dropped: dict[Any, str | tuple[int, str]] = {}
    reasons: dict[Any, str] = {}
    for entry in entries:
        check_fields(entry, {"client", "round", "step", "why"})
        client = one_client(entry["client"], numbers)
        step = as_known(entry["step"], steps, "step")
        round = entry["round"]
        if client in dropped or not is_count(round) or round >= rounds:
            raise InputError(
                f"client {client!r} must be dropped once, in a round from 0 to {rounds - 1}, "
                f"not in {round!r}"
            )
        if (round == 0 and step in unsummed) == (client in survivors):
            where = f"{step} of round {round}"
            is_in = "is" if client in survivors else "is not"
            raise InputError(f"client {client!r} was lost at {where}, but {is_in} in the sum")
        dropped[client] = (entry["round"], step) if entry["round"] else step
        if entry["why"] is not None:
            reasons[client] = str(entry["why"])
    return {"dropped": dropped, "reasons": reasons}


def as_clients(given: Any, numbers: Mapping[Any, int]) -> list[Any]:
    """Read different clients, in the order of the roster."""
    found = [one_client(client, numbers) for client in given]
    places = [numbers[client] for client in found]
    if any(later <= earlier for earlier, later in pairwise(places)):
        raise InputError("clients must be different and in the order of the roster")
    return found


def one_client(given: Any, numbers: Mapping[Any, int]) -> Any:
    """Check a client, of which there may be very many."""
    if type(given) not in (str, int) or given not in numbers:
        raise InputError(f"there is no client {given!r}: they are {few(list(numbers))}")
    return given


def as_counts(values: Any, clients: int) -> NDArray[np.int64]:
    """Read one count per client."""
    if not isinstance(values, list) or len(values) != clients or not all(map(is_count, values)):
        raise InputError(f"there must be one number of bytes for each of {clients} clients")
    return np.array(values, dtype=np.int64)


def read_fit(fields: Any) -> Fit | None:
    """Read the dispersion."""
    if fields is None:
        return None
    check_fields(fields, set(FIT_FIELDS))
    phi, error, distance = (float(fields[name]) for name in FIT_FIELDS[:-1])
    if not is_count(fields["samples"]):
        raise InputError("samples of the fit must be a whole number")
    return Fit(phi, error, distance, fields["samples"])


def read_sources(lines: Any, clients: int) -> tuple[str | None, ...] | None:
    """Read what was read, one line per client."""
    if lines is None:
        return None
    if len(lines) != clients or not all(isinstance(line, str | None) for line in lines):
        raise InputError("sources must be one line of text, or null, per client")
    return tuple(lines)
