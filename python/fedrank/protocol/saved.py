"""The state of a run between its steps, so that a killed server goes on where it was."""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._files import Lock, write_whole
from fedrank._json import read_json
from fedrank._validation import whole
from fedrank.exceptions import InputError
from fedrank.protocol.record import Record
from fedrank.protocol.result import RoundResult
from fedrank.protocol.running import Running
from fedrank.protocol.secagg import Server
from fedrank.protocol.study import Study

FORMAT = 2
SEED_BYTES = 32
BEGIN_ANEW = "move it away to begin a new run"

Opened: TypeAlias = tuple[RoundResult, NDArray[np.uint64]]
"""A round that was opened, and its sum."""


@dataclass
class State:
    """What a driver goes on from."""

    run: int
    seed: bytes
    record: Record
    rounds: list[Opened]
    running: Running | None
    lost: dict[int, tuple[int, str, str]]


class Saved:
    """A file with the state of one run.

    It is for its owner only: it holds the sums, and shares of the clients' masks. It is forced to
    the disk before the requests of the next step leave.

    Parameters
    ----------
    path : pathlib.Path
        The file; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock(path.with_name(f"{path.name}.lock"))

    def __enter__(self) -> "Saved":
        self._lock.take()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def save(
        self,
        study: Study,
        run: int,
        seed: bytes,
        record: Record,
        rounds: Sequence[Opened],
        running: Running | None,
        lost: dict[int, tuple[int, str, str]],
    ) -> None:
        """Replace the file by this state."""
        fields = {
            "format": FORMAT,
            "study": study.digest,
            "run": run,
            "seed": seed.hex(),
            "record": record.to_json(),
            "rounds": [costs(each) | {"total": total.tolist()} for each, total in rounds],
            "running": None if running is None else running_fields(running),
            "lost": {str(client): list(when) for client, when in lost.items()},
        }
        write_whole(self.path, json.dumps(fields).encode(), mode=0o600, sync=True)

    def discard(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)

    def load(self, study: Study) -> State | None:
        """Read the file; None if there is none.

        Raises
        ------
        ValueError
            If it is of another study or version, or damaged.
        """
        try:
            fields = read_json(self.path.read_text(encoding="utf-8"), "saved run")
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise self.damaged(error) from None
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise InputError(
                "this is not a run saved by this version of fedrank",
                file=self.path,
                remedy=BEGIN_ANEW,
            )
        if fields.get("study") != study.digest:
            raise InputError(
                f"the run is of study {fields.get('study')}, not of {study.digest}",
                file=self.path,
                value=fields.get("study"),
                remedy=BEGIN_ANEW,
            )
        try:
            return read_state(study, fields)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise self.damaged(error) from None

    def damaged(self, error: Exception) -> InputError:
        """Make the error for a file that something else has changed."""
        what = f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else error
        return InputError(f"the saved run is damaged ({what})", file=self.path, remedy=BEGIN_ANEW)


def costs(result: RoundResult | Running) -> dict[str, Any]:
    """Write what a round cost."""
    up, down = (
        (result.up, result.down)
        if isinstance(result, Running)
        else (result.bytes_up, result.bytes_down)
    )
    fields: dict[str, Any] = {
        "bytes_up": up.tolist(),
        "bytes_down": down.tolist(),
        "seconds": result.seconds,
    }
    if isinstance(result, RoundResult):
        fields |= {"survivors": result.survivors, "faults": result.faults}
    return fields


def running_fields(running: Running) -> dict[str, Any]:
    """Write a round under way."""
    assert isinstance(running.server, Server)  # only secure runs are saved
    requests = {str(client): encoded(request) for client, request in running.requests.items()}
    return costs(running) | {
        "step": running.step,
        "requests": requests,
        "server": encoded(running.server.state()),
    }


def encoded(content: bytes) -> str:
    """Write bytes as text."""
    return b64encode(content).decode()


def read_state(study: Study, fields: dict[str, Any]) -> State:
    """Read the fields of a state."""
    record = Record.from_json(fields["record"])
    rounds = []
    for number, each in enumerate(fields["rounds"]):
        result = RoundResult(
            round=record.round(study, number),
            survivors=clients(each["survivors"], study),
            bytes_up=counts(each["bytes_up"], study),
            bytes_down=counts(each["bytes_down"], study),
            seconds=times(each["seconds"]),
            faults=[(client, code) for client, code in each["faults"]],
        )
        rounds.append((result, total_of(each["total"])))
    running = fields["running"]
    if running is not None:
        if type(running["step"]) is not int or not 0 <= running["step"] <= len(study.steps):
            raise InputError(f"there is no step {running['step']!r}", value=running["step"])
        round = record.round(study, len(rounds))
        requests = running["requests"].items()
        clients(sorted(int(client) for client, _ in requests), study)
        running = Running(
            round=round,
            server=Server.resume(round, b64decode(running["server"])),
            requests={int(client): b64decode(request) for client, request in requests},
            up=counts(running["bytes_up"], study),
            down=counts(running["bytes_down"], study),
            step=running["step"],
            seconds=times(running["seconds"]),
        )
    seed = bytes.fromhex(fields["seed"])
    if len(seed) != SEED_BYTES:
        raise InputError(f"the seed must have {SEED_BYTES} bytes, not {len(seed)}")
    clients(sorted(map(int, fields["lost"])), study)
    return State(
        run=whole("run", fields["run"], least=0, most=2**64 - 1),
        seed=seed,
        record=record,
        rounds=rounds,
        running=running,
        lost={int(c): (number, step, why) for c, (number, step, why) in fields["lost"].items()},
    )


def clients(values: Any, study: Study) -> list[int]:
    """Read the numbers of clients, in rising order."""
    known = range(len(study.roster))
    if not all(type(each) is int and each in known for each in values):
        raise InputError(f"{values!r} are not numbers of clients", value=values)
    if sorted({*values}) != list(values):
        raise InputError(f"the numbers of clients must rise, not {values!r}", value=values)
    return list(values)


def total_of(values: Any) -> NDArray[np.uint64]:
    """Read the sum of a round."""
    if not isinstance(values, list) or not all(type(each) is int for each in values):
        raise InputError("a sum must be a list of whole numbers")
    return np.array(values, dtype=np.uint64)


def counts(values: Any, study: Study) -> NDArray[np.int64]:
    """Read one count per client."""
    if not isinstance(values, list) or not all(type(each) is int for each in values):
        raise InputError("counts must be a list of whole numbers")
    found = np.array(values, dtype=np.int64)
    if found.shape != (len(study.roster),):
        raise InputError(
            f"there must be {len(study.roster)} counts, one per client, not {found.shape}",
            value=found.shape,
        )
    return found


def times(values: Any) -> dict[str, float]:
    """Read the seconds of each stage."""
    return {str(stage): float(spent) for stage, spent in values.items()}
