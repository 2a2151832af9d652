"""The in-process engine: real clients and a real server, over bytes, in parallel."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._errors import ProtocolError
from fedrank._input import as_list, whole
from fedrank._progress import Progress
from fedrank._random import RNG, seed_bytes
from fedrank.consensus import Consensus
from fedrank.rankings import Rankings, same_items
from fedrank.schemes import KINDS, Borda, Lehmer
from fedrank.secagg import Client, Server
from fedrank.study import Study

STEPS = ("advertise", "share", "mask", "unmask")
FEWEST = 3  # survivors; a sum over two shows each the other's message

T = TypeVar("T")


@dataclass(frozen=True)
class FederatedConsensus:
    """What a federated run gives, and what it cost.

    Attributes
    ----------
    consensus : Consensus
        The ranking found.
    survivors : list of int
        Clients whose messages are in the sum.
    dropped : dict of int to str
        Clients that were lost, and the step before which they vanished.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client really sent and was sent.
    seconds : dict of str to float
        Wall time by stage: what the clients do, in parallel, and what the server does.
    study : Study
        What the parties agreed on.
    secure : bool
        Whether the messages were masked.
    faults : list of (int, str)
        Clients that sent something wrong, with a code each.

    Examples
    --------
    >>> result = federate([[[0, 1, 2]]] * 4, "borda", dropouts={3: "unmask"})
    >>> result.survivors, result.dropped
    ([0, 1, 2, 3], {3: 'unmask'})
    >>> int(result.bytes_up[0])
    758
    """

    consensus: Consensus
    survivors: list[int]
    dropped: dict[int, str]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    study: Study
    secure: bool
    faults: list[tuple[int, str]] = field(default_factory=list)

    def __repr__(self) -> str:
        how = "secure" if self.secure else "in the clear"
        return (
            f"FederatedConsensus: {self.consensus!r}\n"
            f"  {len(self.survivors)} of {len(self.study.roster)} clients, {how}, "
            f"{int(self.bytes_up.max())} bytes up a client at most"
        )


def federate(
    clients: Sequence[ArrayLike],
    scheme: Borda | Lehmer | str = "borda",
    secure: bool = True,
    threshold: int | None = None,
    dropouts: Mapping[int, str] | Iterable[int] = (),
    rng: RNG = None,
    *,
    allow_few: bool = False,
    **options: Any,
) -> FederatedConsensus:
    """Find the consensus of rankings that stay with their clients.

    Runs the whole protocol in this process: real keys, real shares, real bytes. The server's
    part sees nothing but the bytes.

    Parameters
    ----------
    clients : sequence of array_like of int, each of shape (m, n)
        The rankings of each client, as arrays or `Rankings` with the same labels.
    scheme : Borda, Lehmer, "borda" or "lehmer"
        What is sent; a name stands for that scheme with ``options``.
    secure : bool
        Whether to mask the messages. False sums them in the clear, for experiments: the
        consensus is the same, bit for bit.
    threshold : int, optional
        How many clients must stay to the end; ``2L//3 + 1`` by default. In the clear there is
        none: whoever is left is summed.
    dropouts : dict of int to str, or iterable of int
        Clients that vanish, and before which step: ``"share"``, ``"mask"`` (before the
        masked input is sent; for clients that are only listed) or ``"unmask"`` (after it: the
        input is in the sum).
    rng : None, int or numpy.random.Generator
        Breaks ties. What client ``l`` draws depends on the seed and ``l`` only. No secret
        comes from here.
    allow_few : bool
        Whether a sum over fewer than three clients may be opened.
    **options
        Parameters of the scheme, if it is given by name.

    Returns
    -------
    result : FederatedConsensus

    Raises
    ------
    ValueError
        If the input cannot be, or (as `secagg.ProtocolError`) too few clients are left.

    Examples
    --------
    >>> from fedrank import Mallows
    >>> hospitals = Mallows(0.6, n=20).sample(2000, rng=0).split(10, rng=0)
    >>> result = federate(hospitals, "borda", dropouts=[3, 7], rng=0)
    >>> result.survivors
    [0, 1, 2, 4, 5, 6, 8, 9]
    >>> result.consensus.top(5)
    (0, 1, 2, 3, 4)
    """
    data = [as_client(client, each) for client, each in enumerate(clients)]
    check_clients(data)
    labels = same_items(*data)
    if isinstance(scheme, str):
        if scheme not in KINDS:
            raise ValueError(
                f"scheme must be a scheme or one of {', '.join(KINDS)}, not {scheme!r}"
            )
        try:
            scheme = KINDS[scheme](data[0].n, len(data), **options)
        except TypeError as error:
            raise ValueError(f"the options do not suit the scheme: {error}") from None
    elif not isinstance(scheme, Borda | Lehmer):
        raise ValueError(f"scheme must be a scheme or one of {', '.join(KINDS)}, not {scheme!r}")
    elif options:
        raise ValueError(f"{next(iter(options))!r} goes with a scheme given by name")
    if scheme.n != data[0].n:
        raise ValueError(f"the scheme is made for {scheme.n} items, but these are {data[0].n}")
    if secure and len(data) == 1:
        raise ValueError("one client has nobody to hide among: pass secure=False")
    for client, each in enumerate(data):
        if scheme.max_samples is not None and len(each) > scheme.max_samples:
            raise ValueError(
                f"client {client} has {len(each)} rankings, more than max_samples = "
                f"{scheme.max_samples}"
            )
    study = Study(scheme, labels, threshold=threshold)
    if len(data) != len(study.roster):
        raise ValueError(f"the scheme is made for {scheme.clients} clients, not {len(data)}")
    lost = check_dropouts(dropouts, len(data))
    seed = seed_bytes(rng)
    run = Run(study, data, lost, seed)
    total, survivors, faults = run.secure(allow_few) if secure else run.plain()
    with run.stage("decode"):
        found = study.scheme.decode(total, len(survivors), rng=stream_rng(seed, 1))
    return FederatedConsensus(
        consensus=replace(found, item_labels=labels),
        survivors=survivors,
        dropped=lost,
        bytes_up=run.up,
        bytes_down=run.down,
        seconds=run.seconds,
        study=study,
        secure=secure,
        faults=faults,
    )


class Run:
    """One run of the protocol: who is still there, what was sent, how long it took."""

    def __init__(
        self, study: Study, data: list[Rankings], lost: dict[int, str], seed: bytes
    ) -> None:
        self.study = study
        self.data = data
        self.lost = lost
        self.seed = seed
        self.up = np.zeros(len(data), dtype=np.int64)
        self.down = np.zeros(len(data), dtype=np.int64)
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    def present(self, step: str, clients: Iterable[int]) -> list[int]:
        """Those of the clients that have not vanished before this step."""
        reached = STEPS.index(step)
        return [c for c in clients if c not in self.lost or STEPS.index(self.lost[c]) > reached]

    def each(self, name: str, clients: Sequence[int], work: Callable[[int], T]) -> dict[int, T]:
        """Run one stage of all clients, in parallel."""
        results = {}
        with (
            self.stage(name),
            Progress(name, len(clients)) as progress,
            # Threads: the core releases the interpreter lock.
            ThreadPoolExecutor(max_workers=os.cpu_count()) as pool,
        ):
            for client, result in zip(clients, pool.map(work, clients), strict=True):
                results[client] = result
                progress.advance()
        return results

    def encode(self, clients: Sequence[int]) -> dict[int, NDArray[np.uint64]]:
        """Messages of the clients, each from a stream of its own."""
        scheme = self.study.scheme
        return self.each(
            "encode",
            clients,
            lambda c: scheme.encode(self.data[c], rng=stream_rng(self.seed, 0, c)),
        )

    def plain(self) -> tuple[NDArray[np.uint64], list[int], list[tuple[int, str]]]:
        """Sum the messages in the clear."""
        scheme = self.study.scheme
        survivors = self.present("mask", range(len(self.data)))
        if not survivors:
            raise ValueError("every client dropped out: there is nothing to sum")
        messages = self.encode(survivors)
        with self.stage("sum"):
            total = np.zeros(sum(segment.entries for segment in scheme.segments), dtype=np.uint64)
            for client in survivors:
                packed = scheme.pack(messages[client])
                self.up[client] += len(packed)
                total += scheme.unpack(packed)
        return total, survivors, []

    def secure(
        self, allow_few: bool
    ) -> tuple[NDArray[np.uint64], list[int], list[tuple[int, str]]]:
        """Sum the messages under masks."""
        everyone = list(range(len(self.data)))
        server = Server(self.study)
        clients: dict[int, Client] = {}

        def advertise(client: int) -> bytes:
            clients[client] = Client(self.study, client)
            return clients[client].advertise()

        messages: dict[int, NDArray[np.uint64]] = {}
        requests: dict[int, bytes] = dict.fromkeys(everyone, b"")
        work: dict[str, Callable[[int], bytes]] = {
            "advertise": advertise,
            "share": lambda c: clients[c].share(requests[c]),
            "mask": lambda c: clients[c].mask(requests[c], messages[c]),
            "unmask": lambda c: clients[c].unmask(requests[c]),
        }
        for step in STEPS:
            for client, request in requests.items():
                self.down[client] += len(request)
            present = self.present(step, requests)
            if step == "mask":
                messages = self.encode(present)
            if step == "unmask" and len(requests) < FEWEST and not allow_few:
                raise ProtocolError(
                    f"only {len(requests)} clients are left, and a sum over so few shows too much "
                    "of each: pass allow_few=True to open it all the same",
                    "few",
                )
            replies = self.each(step, present, work[step])
            with self.stage("server " + step):
                for client, reply in replies.items():
                    self.up[client] += len(reply)
                    server.receive(client, reply)
                requests = server.close_step()
        total, survivors = server.result()
        return total, survivors, server.faults


def stream_rng(seed: bytes, *key: int) -> np.random.Generator:
    """Make a generator that depends on the seed and the key alone."""
    return np.random.default_rng(
        np.random.SeedSequence(int.from_bytes(seed, "little"), spawn_key=key)
    )


def as_client(client: int, rankings: ArrayLike) -> Rankings:
    """Check the rankings of one client; complaints name it."""
    if isinstance(rankings, Rankings):
        return rankings
    try:
        return Rankings(rankings)
    except ValueError as error:
        raise ValueError(f"client {client}: {error}") from None


def check_clients(data: Sequence[Rankings]) -> None:
    """Refuse no clients, empty ones, and clients that rank different numbers of items."""
    if not data:
        raise ValueError("no clients were given")
    for client, rankings in enumerate(data):
        if len(rankings) == 0:
            raise ValueError(f"client {client} has no rankings")
        if rankings.n != data[0].n:
            raise ValueError(
                f"client {client} ranks {rankings.n} items but client 0 ranks {data[0].n}"
            )


def check_dropouts(dropouts: Mapping[int, str] | Iterable[int], clients: int) -> dict[int, str]:
    """Say for every client that vanishes before which step it does."""
    if isinstance(dropouts, Mapping):
        lost = dict(dropouts)
    else:
        lost = dict.fromkeys(as_list(dropouts, "dropouts"), "mask")
    for client, step in lost.items():
        if whole("dropout", client, least=0) >= clients:
            raise ValueError(f"dropout {client} is not a client: they are 0..{clients - 1}")
        if step not in STEPS[1:]:
            raise ValueError(f"client {client} drops out at {step!r}: say {', '.join(STEPS[1:])}")
    return {int(client): step for client, step in sorted(lost.items())}
