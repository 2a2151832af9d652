"""The coordinator's side of Flower: finds the nodes, conducts the run, writes the result."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedrank._files import write_whole
from fedrank._text import printable
from fedrank._validation import whole
from fedrank.consensus import chance, places
from fedrank.exceptions import Code, InputError, RunFailedError
from fedrank.protocol.driver import conduct
from fedrank.protocol.envelope import envelopes
from fedrank.protocol.identity import Identity
from fedrank.protocol.result import FederatedConsensus, summary
from fedrank.protocol.study import Study
from fedrank.transport.base import Lost, Step
from fedrank.transport.flower._flwr import (
    BYTES,
    CLIENT,
    CODE,
    RECORD,
    ROUND,
    RUN,
    WHICH,
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

    Its run configuration: ``key``, the file of the coordinator's private key on the SuperLink's
    machine, which a study with identities needs; ``wait``, seconds to wait for all nodes of the
    roster; ``deadline``, seconds per step, after which a client that has not replied has dropped
    out; ``out``, the folder of the results, on the SuperLink's machine; ``seed``, to break ties as
    ``federate(rng=seed)`` does; ``nameless``, for a simulation.

    The state is kept in ``out`` after every step. If the ServerApp is killed, the next run of the
    same study goes on where that one was. The file is deleted once the result is written, or when
    the run fails.

    A node plays the client of the name that it was registered under. Simulated nodes have no
    names: with ``nameless``, a node's number says which client it is. In a study with identities
    only the client itself can answer, whichever node carries its envelopes.

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
        identity = key_of(settings, agreed)
        nodes = Nodes(grid, agreed, seconds(settings, "deadline"), flag(settings, "nameless"))
        start = time.monotonic()
        nodes.find(seconds(settings, "wait"))
        waited = time.monotonic() - start
        out = Path(str(settings["out"]))
        out.mkdir(parents=True, exist_ok=True)
        state = out / f"{agreed.digest}.state"
        if state.exists():
            print(printable(f"going on with the run that left {state}"))
        rng = seed_of(settings)
        result = conduct(agreed, nodes, identity=identity, rng=rng, run=context.run_id, save=state)
        document = describe(result, context.run_id, waited)
        file = out / f"{context.run_id}.json"
        write_whole(file, (json.dumps(document, allow_nan=False) + "\n").encode())
        state.unlink(missing_ok=True)
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


def key_of(settings: Mapping[str, Any], study: Study) -> Identity | None:
    """Load the coordinator's private key from the file that the run's configuration names."""
    path = settings.get("key", "")
    if not isinstance(path, str):
        raise InputError(f"must be a path, not {path!r}", parameter="key", value=path)
    if study.signed and not path:
        raise InputError(
            "is missing: this study names identities, and its messages are sealed with the "
            "coordinator's private key",
            parameter="key",
            remedy="pass --run-config 'key=\"/path/to/coordinator.key\"', "
            "a file on the SuperLink's machine",
        )
    try:
        identity = Identity.load(path) if path else None
    except OSError as error:
        raise InputError(
            f"cannot be read on the SuperLink's machine: {error.strerror}: {path}",
            parameter="key",
            value=path,
            remedy="give the file to the account that the SuperLink runs as, with mode 600",
        ) from None
    try:
        envelopes(study, None, identity)  # refuses another party's key, before anybody is asked
    except InputError as error:
        error.parameter = "key"
        raise
    return identity


class Nodes:
    """The roster's nodes, and the way to them."""

    def __init__(self, grid: Grid, study: Study, deadline: float, nameless: bool = False) -> None:
        self.grid = grid
        self.study = study
        self.deadline = deadline
        self.nameless = nameless
        self.clients: dict[int, int] = {}  # by node

    def find(self, wait: float) -> None:
        """Wait up to ``wait`` seconds for the nodes of all clients."""
        numbers = {name: client for client, name in enumerate(self.study.roster)}
        end = time.monotonic() + wait
        while True:
            nodes = list(self.grid.get_nodes())
            if not self.nameless:
                self.clients = {n.node_id: numbers[n.name] for n in nodes if n.name in numbers}
                self.check_different("are registered as", "unregister one")
            up = len(nodes) if self.nameless else len(self.clients)
            if up >= len(numbers) or time.monotonic() > end:
                break
            time.sleep(POLL_SECONDS)
        if self.nameless:
            self.clients = self.ask_which([n.node_id for n in nodes])
            self.check_different("say that they are", "give each its own partition-id")

    def ask_which(self, nodes: Sequence[int]) -> dict[int, int]:
        """Ask simulated nodes which client each plays: a request is for one client only."""
        asked: dict[str, ConfigRecordValues] = {BYTES: b""}
        replies = self.send(WHICH, dict.fromkeys(nodes, asked))
        found = {node: client_of(message) for node, message in replies}
        return {
            node: client
            for node, client in found.items()
            if client is not None and 0 <= client < len(self.study.roster)
        }

    def check_different(self, what: str, remedy: str) -> None:
        """Refuse two nodes of one client: which is the data holder's, nobody here can tell."""
        for client, count in Counter(self.clients.values()).items():
            if count > 1:
                name = self.study.roster[client]
                raise RunFailedError(f"{count} nodes {what} {name}: {remedy}", "nodes")

    def exchange(self, step: Step, requests: Mapping[int, bytes]) -> dict[int, bytes | Lost]:
        """Take a step's requests to the nodes; a client that misses the deadline is lost."""
        numbers: dict[str, ConfigRecordValues] = {RUN: str(step.run), ROUND: str(step.round)}
        found: dict[int, bytes | Lost] = {
            client: Lost("its node is not there")
            for client in requests
            if client not in self.clients.values()
        }
        asked = {
            node: numbers | {BYTES: requests[client]}
            for node, client in self.clients.items()
            if client in requests
        }
        for node, message in self.send(step.name, asked):
            if node in asked:
                found[self.clients[node]] = read(message)
        return found

    def send(
        self, query: str, contents: Mapping[int, dict[str, ConfigRecordValues]]
    ) -> Iterator[tuple[int, Message]]:
        """Send a query to nodes, and give the replies that come in time, with their nodes."""
        messages = [
            Message(
                RecordDict({RECORD: ConfigRecord(content)}),
                dst_node_id=node,
                message_type=f"query.{query}",
            )
            for node, content in contents.items()
        ]
        for message in self.grid.send_and_receive(messages, timeout=self.deadline):
            yield message.metadata.src_node_id, message


def client_of(message: Message) -> int | None:
    """Read which client a simulated node says it plays."""
    if message.has_error():
        return None
    try:
        number = message.content.config_records[RECORD][CLIENT]
    except KeyError:
        return None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


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
