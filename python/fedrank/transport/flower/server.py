"""The coordinator's side of Flower: finds the nodes, conducts the run, writes the result."""

import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedrank import _core
from fedrank._files import write_whole
from fedrank._text import printable
from fedrank._validation import whole
from fedrank.consensus import chance, places
from fedrank.exceptions import Code, InputError, ProtocolError, RunFailedError
from fedrank.protocol.driver import conduct
from fedrank.protocol.result import FederatedConsensus, summary
from fedrank.protocol.study import Study
from fedrank.transport.base import Lost, Step
from fedrank.transport.flower._flwr import (
    BYTES,
    CODE,
    RECORD,
    ROUND,
    RUN,
    ConfigRecord,
    ConfigRecordValues,
    Context,
    Grid,
    Message,
    RecordDict,
    ServerApp,
)

POLL_SECONDS = 1.0  # between looks for nodes
MAX_SHOWN_ITEMS = 10  # printed, best first


def server_app(study: Path) -> ServerApp:
    """Make the ServerApp of a study.

    Its run configuration: ``wait``, seconds to wait for all nodes of the roster; ``deadline``,
    seconds per step, after which a client that has not replied has dropped out; ``out``, the folder
    of the results, on the SuperLink's machine; ``seed``, to break ties as ``federate(rng=seed)``
    does; ``nameless``, for a simulation.

    The state is kept in ``out`` after every step. If the ServerApp is killed, the next run of the
    same study goes on where that one was. The file is deleted once the result is written, or when
    the run fails.

    A node plays the client of the name that it was registered under. Simulated nodes have no
    names: with ``nameless``, a node's agent says which client it is.

    Parameters
    ----------
    study : pathlib.Path
        The study's JSON, in the app's folder.

    Returns
    -------
    app : flwr.serverapp.ServerApp

    Examples
    --------
    >>> type(server_app(Path("study.json"))).__name__
    'ServerApp'
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        settings = context.run_config
        agreed = Study.from_json(study.read_text(encoding="utf-8"))
        nodes = Nodes(grid, agreed, seconds(settings, "deadline"), flag(settings, "nameless"))
        start = time.monotonic()
        nodes.find(seconds(settings, "wait"))
        waited = time.monotonic() - start
        out = Path(str(settings["out"]))
        out.mkdir(parents=True, exist_ok=True)
        state = out / f"{agreed.digest}.state"
        # Nameless nodes are met at the first step, so that a run cannot go on in the middle.
        save = None if nodes.take_nameless else state
        if save is not None and save.exists():
            print(printable(f"going on with the run that left {save}"))
        rng = seed_of(settings)
        result = conduct(agreed, nodes, rng=rng, run=context.run_id, save=save)
        document = describe(result, context.run_id, waited)
        file = out / f"{context.run_id}.json"
        write_whole(file, (json.dumps(document, allow_nan=False) + "\n").encode())
        if save is not None:
            save.unlink(missing_ok=True)
        announce(result, document, file)

    return app


def seconds(settings: Mapping[str, Any], name: str) -> float:
    """Read a time from the run's configuration."""
    value = settings[name]
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not 0 < value < math.inf:
        raise InputError(
            f"must be a number of seconds above 0, not {value!r}", parameter=name, value=value
        )
    return float(value)


def flag(settings: Mapping[str, Any], name: str) -> bool:
    """Read a yes or no, by default no, from the run's configuration."""
    value = settings.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"must be true or false, not {value!r}", parameter=name, value=value)
    return value


def seed_of(settings: Mapping[str, Any]) -> int | None:
    """Read the seed from the run's configuration; a float would not hold all of it."""
    seed = settings.get("seed")
    if isinstance(seed, float):
        raise InputError(
            f"must be written as a whole number, not {seed!r}", parameter="seed", value=seed
        )
    return None if seed is None else whole("seed", seed, least=0)


class Nodes:
    """The roster's nodes, and the way to them."""

    def __init__(self, grid: Grid, study: Study, deadline: float, nameless: bool = False) -> None:
        self.grid = grid
        self.study = study
        self.deadline = deadline
        self.clients: dict[int, int] = {}  # by node
        self.take_nameless = nameless
        self.nameless: list[int] = []

    def find(self, wait: float) -> None:
        """Wait up to ``wait`` seconds for the nodes of all clients."""
        numbers = {name: client for client, name in enumerate(self.study.roster)}
        end = time.monotonic() + wait
        while True:
            nodes = list(self.grid.get_nodes())
            if self.take_nameless:
                self.nameless = [n.node_id for n in nodes]
            else:
                self.clients = {n.node_id: numbers[n.name] for n in nodes if n.name in numbers}
            for client, count in Counter(self.clients.values()).items():
                if count > 1:  # which of them is the data holder's, nobody here can tell
                    name = self.study.roster[client]
                    raise RunFailedError(
                        f"{count} nodes are registered as {name}: unregister one", "nodes"
                    )
            if len(self.clients or self.nameless) >= len(numbers) or time.monotonic() > end:
                return
            time.sleep(POLL_SECONDS)

    def exchange(self, step: Step, requests: Mapping[int, bytes]) -> dict[int, bytes | Lost]:
        """Take a step's requests to the nodes; a client that misses the deadline is lost."""
        numbers: dict[str, ConfigRecordValues] = {RUN: str(step.run), ROUND: str(step.round)}
        asked = {node: requests[c] for node, c in self.clients.items() if c in requests}
        asked |= dict.fromkeys(self.nameless, b"")
        messages = [
            Message(
                RecordDict({RECORD: ConfigRecord(numbers | {BYTES: request})}),
                dst_node_id=node,
                message_type=f"query.{step.name}",
            )
            for node, request in asked.items()
        ]
        found: dict[int, bytes | Lost] = {
            client: Lost("its node is not there")
            for client in requests
            if client not in self.clients.values() and not self.nameless
        }
        for message in self.grid.send_and_receive(messages, timeout=self.deadline):
            node = message.metadata.src_node_id
            reply = read(message)
            if node in self.nameless and isinstance(reply, bytes):
                self.meet(node, reply)
            if node in self.clients:
                found[self.clients[node]] = reply
        self.nameless = []
        return found

    def meet(self, node: int, reply: bytes) -> None:
        """Believe which client a nameless node says it is, unless another one said the same."""
        try:
            client = _core.sender_of(reply)
        except ProtocolError:
            return
        if client < len(self.study.roster) and client not in self.clients.values():
            self.clients[node] = client


def read(message: Message) -> bytes | Lost:
    """Read a node's reply; nothing that a node says is repeated unless it is a known word."""
    if message.has_error():
        return Lost(f"Flower's error {message.error.code}")
    try:
        record = message.content.config_records[RECORD]
        reply = record.get(BYTES)
        return reply if isinstance(reply, bytes) else Lost(Code(str(record[CODE])).value)
    except (KeyError, ValueError):
        return Lost(Code.ERROR.value)


def describe(result: FederatedConsensus, run: int, waited: float) -> dict[str, Any]:
    """All that a run gave and cost, as one JSON document."""
    told = summary(result)
    told["seconds"] = {"wait": waited} | told["seconds"]
    return told | {"flower_run": run, "consensus": places(result)}


def announce(result: FederatedConsensus, document: Mapping[str, Any], file: Path) -> None:
    """Print what matters: `flwr log` shows it."""
    print(printable(f"consensus of {len(result.survivors)} clients: {file.resolve()}"))
    for row in document["consensus"][:MAX_SHOWN_ITEMS]:
        print(printable(f"  {row['place']}  {row['item']}"))
    for sentence in chance(result, MAX_SHOWN_ITEMS):
        print(printable(f"! {sentence}"))
    for client in document["clients"]:
        how = "in the sum" if client["in_sum"] else f"dropped out at {client['dropped_at']['step']}"
        print(printable(f"{client['name']}: {how}, {client['bytes_sent']:,} bytes sent"))
    if result.note is not None:
        print(printable(result.note))
    print(json.dumps({step: round(spent, 3) for step, spent in document["seconds"].items()}))
