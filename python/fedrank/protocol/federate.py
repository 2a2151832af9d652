"""The in-process engine: real clients and a real server, over bytes, in parallel."""

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._progress import Progress
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_bool, as_list, whole
from fedrank.consensus import Consensus
from fedrank.exceptions import ProtocolError
from fedrank.protocol.methods import Refinement
from fedrank.protocol.secagg import Client, Server
from fedrank.protocol.study import Study
from fedrank.rankings.complete import Rankings, same_items
from fedrank.rankings.partial import AnyRankings, PartialRankings, as_partial
from fedrank.schemes import (
    AnyScheme,
    Borda,
    Dispersion,
    Fit,
    Lehmer,
    Refine,
)
from fedrank.schemes.base import MAX_SAMPLES

STEPS = ("advertise", "share", "mask", "unmask")
FEWEST = 3  # survivors; a sum over two shows each the other's message
UNOPENED = {
    "changed": "its survivors are not those of the rounds before, and the difference could show "
    "one client's message",
    "few": "too few clients stayed to open it",
}
"""Why a later round may not be opened, by the error's code."""

T = TypeVar("T")
Kind = TypeVar("Kind", Rankings, PartialRankings)


@dataclass(frozen=True)
class Round:
    """One session of the protocol: one sum, and what it cost.

    Attributes
    ----------
    study : Study
        What the parties agreed on, the scheme among it.
    survivors : list of int
        Clients whose messages are in the sum; none if it was not opened.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client really sent and was sent.
    seconds : dict of str to float
        Wall time by stage.
    faults : list of (int, str)
        Clients that sent something wrong, with a code each.

    Examples
    --------
    >>> [each.study.scheme.kind for each in federate([[[0, 1, 2]]] * 4, fit_phi=True).rounds]
    ['borda', 'dispersion']
    """

    study: Study
    survivors: list[int]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    faults: list[tuple[int, str]]


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
        Clients that were lost, and the step before which they vanished; ``(round, step)``
        if that was in a later round than the first.
    bytes_up, bytes_down : numpy.ndarray of int64
        Bytes that each client really sent and was sent, in all rounds.
    seconds : dict of str to float
        Wall time by stage, over all rounds: what the clients do, in parallel, and what the
        server does.
    study : Study
        What the parties agreed on in the round that gave the consensus.
    secure : bool
        Whether the messages were masked.
    faults : list of (int, str)
        Clients that sent something wrong, with a code each.
    rounds : list of Round
        The sessions, in turn; one for each sum.
    fit : schemes.Fit or None
        phi and its standard error, if they were asked for.
    note : str or None
        Why a round was not opened, if one was not.

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
    dropped: dict[int, str | tuple[int, str]]
    bytes_up: NDArray[np.int64]
    bytes_down: NDArray[np.int64]
    seconds: dict[str, float]
    study: Study
    secure: bool
    faults: list[tuple[int, str]] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    fit: Fit | None = None
    note: str | None = None

    def __repr__(self) -> str:
        how = "secure" if self.secure else "in the clear"
        rounds = f" in {len(self.rounds)} rounds" if len(self.rounds) > 1 else ""
        return (
            f"FederatedConsensus: {self.consensus!r}\n"
            f"  {len(self.survivors)} of {len(self.study.roster)} clients, {how}, "
            f"{int(self.bytes_up.max())} bytes up a client at most{rounds}"
        )


def federate(
    clients: Sequence[ArrayLike],
    scheme: Borda | Lehmer | Refine | str = "borda",
    secure: bool = True,
    threshold: int | None = None,
    dropouts: Mapping[int, str | tuple[int, str]] | Iterable[int] = (),
    rng: RNG = None,
    *,
    allow_few: bool = False,
    fit_phi: bool = False,
    **options: Any,
) -> FederatedConsensus:
    """Find the consensus of rankings that stay with their clients.

    Runs the whole protocol in this process: real keys, real shares, real bytes. The server's
    part sees nothing but the bytes.

    Parameters
    ----------
    clients : sequence of array_like of int, each of shape (m, n)
        The rankings of each client, as arrays or `Rankings` with the same labels. If a client
        has `PartialRankings`, all take part as such: named schemes are made with
        ``partial=True``. If that is given, or the scheme's, arrays are read as such.
    scheme : Borda, Lehmer, Refine, "borda", "lehmer" or "kemeny"
        What is sent; a name stands for that scheme with ``options``. ``"kemeny"`` is Borda,
        then `Refine` around its consensus, and again around the new one, until nothing moves
        or the rounds are spent. No pair is asked twice. If other clients survive a later round
        than the first, that round is not opened, since the difference could show one client's
        message; the consensus is the last one, and ``note`` says so.
    secure : bool
        Whether to mask the messages. False sums them in the clear, for experiments: the
        consensus is the same, bit for bit.
    threshold : int, optional
        How many clients must stay to the end; ``2L//3 + 1`` by default. In the clear there is
        none: whoever is left is summed.
    dropouts : dict of int to str, or iterable of int
        Clients that vanish, and before which step: ``"share"``, ``"mask"`` (before the
        masked input is sent; for clients that are only listed) or ``"unmask"`` (after it: the
        input is in the sum). ``(round, step)`` is that step of a later round, the first
        being 0. Who has vanished does not come back.
    rng : None, int or numpy.random.Generator
        Breaks ties. What client ``l`` draws depends on the seed, ``l`` and the round only. No
        secret comes from here.
    allow_few : bool
        Whether a sum over fewer than three clients may be opened.
    fit_phi : bool
        Whether to run one more round, with a `Dispersion`, for ``fit`` of the result: how widely
        the rankings scatter around the consensus. It reveals how many there are.
    **options
        Parameters of the scheme, if it is given by name. For ``"kemeny"``: ``window`` (8),
        ``rounds`` of refinement at most (1), ``counts``, ``majority`` and ``max_samples`` of
        `Refine`, ``phi`` and ``quantize`` of `Borda`, and ``partial`` of both.

    Returns
    -------
    result : FederatedConsensus

    Raises
    ------
    ValueError
        If the input cannot be, or (as `secagg.ProtocolError`) too few clients are left.

    Examples
    --------
    >>> from fedrank import Mallows, kendall_distance
    >>> hospitals = Mallows(0.6, n=20).sample(2000, rng=0).split(10, rng=0)
    >>> result = federate(hospitals, "borda", dropouts=[3, 7], rng=0)
    >>> result.survivors
    [0, 1, 2, 4, 5, 6, 8, 9]
    >>> result.consensus.top(5)
    (0, 1, 2, 3, 4)

    A second round, of margins, is nearer to the center:

    >>> wards = Mallows(0.6, n=50).sample(50, rng=0).split(10, rng=0)
    >>> near, nearer = (federate(wards, scheme, rng=0) for scheme in ("borda", "kemeny"))
    >>> [kendall_distance(each.consensus, range(50)) for each in (near, nearer)]
    [3, 1]
    """
    told = bool(options.get("partial", getattr(scheme, "partial", False)))
    data: list[AnyRankings] = [
        as_client(client, each, PartialRankings)
        if isinstance(each, PartialRankings) or (told and not isinstance(each, Rankings))
        else as_client(client, each, Rankings)
        for client, each in enumerate(clients)
    ]
    check_clients(data)
    labels = same_items(*data)
    if any(isinstance(each, PartialRankings) for each in data):
        data = [as_partial(each) for each in data]
        options = partial_options(scheme, fit_phi, options)
    refining = refine_options(options) if scheme == "kemeny" else None
    first = as_scheme("borda" if refining else scheme, data, options)
    samples = check_samples(data, first, refining, as_bool("fit_phi", fit_phi))
    session = Session(data, labels, secure, threshold, dropouts, seed_bytes(rng), allow_few)
    total = session.run(first)
    with session.stage("decode"):
        found = first.decode(total, len(session.survivors), rng=session.rng())
    found = replace(found, item_labels=labels)
    if refining:
        found = refine(session, Refinement(found, len(data), **refining))
    study = session.opened()[-1].study
    fit = None
    if fit_phi and session.note is None:
        fit = fit_dispersion(session, Dispersion(found, len(data), samples))
    if fit is not None:
        # Of all rankings at the survivors, to the bit.
        found = replace(found, objective=fit.mean_distance / len(found))
    return session.result(found, study, fit)


def refine(session: "Session", course: Refinement) -> Consensus:
    """Run the rounds of a refinement, as long as the same clients survive."""
    found = course.consensus
    while course.scheme is not None:
        total = session.again(course.scheme)
        if total is None:
            break
        with session.stage("decode"):
            refined = course.take(total, len(session.survivors), rng=session.rng())
        found = replace(refined, method="federated kemeny")
    return found


def fit_dispersion(session: "Session", scheme: Dispersion) -> Fit | None:
    """Run one more round for phi, if the same clients survive."""
    total = session.again(scheme)
    if total is None:
        return None
    with session.stage("decode"):
        return scheme.decode(total, len(session.survivors))


class Session:
    """The rounds of one study, over the same survivors.

    A sum over some clients and one over all but one of them could show what that one sent. So
    a later round is opened only if its survivors are those of the first.
    """

    def __init__(
        self,
        data: list[AnyRankings],
        labels: tuple[Hashable, ...] | None,
        secure: bool,
        threshold: int | None,
        dropouts: Mapping[int, str | tuple[int, str]] | Iterable[int],
        seed: bytes,
        allow_few: bool,
    ) -> None:
        if secure and len(data) == 1:
            raise ValueError("one client has nobody to hide among: pass secure=False")
        self.data = data
        self.labels = labels
        self.secure = secure
        self.threshold = threshold
        self.lost = check_dropouts(dropouts, len(data))
        self.seed = seed
        self.allow_few = allow_few
        self.runs: list[Run] = []
        self.note: str | None = None

    @property
    def survivors(self) -> list[int]:
        """Clients whose messages are in every sum."""
        return self.runs[0].survivors

    def opened(self) -> list["Run"]:
        """Return the rounds whose sum is known."""
        return [run for run in self.runs if run.survivors]

    def run(self, scheme: AnyScheme) -> NDArray[np.uint64]:
        """Run one round; return the sum of the survivors' messages."""
        number = len(self.runs)
        study = Study(scheme, self.labels, threshold=self.threshold)
        if len(self.data) != len(study.roster):
            raise ValueError(
                f"the scheme is made for {scheme.clients} clients, not {len(self.data)}"
            )
        # Who vanished in an earlier round is not there from the start.
        lost = {
            client: step if round == number else STEPS[0]
            for client, (round, step) in self.lost.items()
            if round <= number
        }
        run = Run(study, self.data, lost, self.seed, number, self.survivors if number else None)
        self.runs.append(run)
        return run.secure(self.allow_few) if self.secure else run.plain()

    def again(self, scheme: AnyScheme) -> NDArray[np.uint64] | None:
        """Run a later round; None, with a note, if it may not be opened."""
        try:
            return self.run(scheme)
        except ProtocolError as refused:
            if refused.code not in UNOPENED:
                raise
            why = UNOPENED[refused.code]
        self.note = f"round {len(self.runs) - 1} ({scheme.kind}) was not opened: {why}"
        return None

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Time a stage of the round that was run last."""
        return self.runs[-1].stage(name)

    def rng(self) -> np.random.Generator:
        """Where the server's randomness of the round that was run last comes from."""
        return stream_rng(self.seed, 1, *self.runs[-1].stream)

    def result(self, found: Consensus, study: Study, fit: Fit | None) -> FederatedConsensus:
        """Sum the rounds up."""
        seconds: dict[str, float] = {}
        for run in self.runs:
            for name, spent in run.seconds.items():
                seconds[name] = seconds.get(name, 0.0) + spent
        return FederatedConsensus(
            consensus=found,
            survivors=self.survivors,
            dropped={
                client: (round, step) if round else step
                for client, (round, step) in self.lost.items()
                if round < len(self.runs)
            },
            bytes_up=sum((run.up for run in self.runs), np.zeros(len(self.data), dtype=np.int64)),
            bytes_down=sum(
                (run.down for run in self.runs), np.zeros(len(self.data), dtype=np.int64)
            ),
            seconds=seconds,
            study=study,
            secure=self.secure,
            faults=[fault for run in self.runs for fault in run.faults],
            rounds=[run.finish() for run in self.runs],
            fit=fit,
            note=self.note,
        )


class Run:
    """One run of the protocol: who is still there, what was sent, how long it took.

    With ``expected`` survivors, the sum over any others is not opened.
    """

    def __init__(
        self,
        study: Study,
        data: list[AnyRankings],
        lost: dict[int, str],
        seed: bytes,
        number: int,
        expected: list[int] | None,
    ) -> None:
        self.study = study
        self.data = data
        self.lost = lost
        self.seed = seed
        self.number = number
        self.stream = (number,) if number else ()
        self.expected = expected
        self.survivors: list[int] = []
        self.faults: list[tuple[int, str]] = []
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
            lambda c: scheme.encode(self.data[c], rng=stream_rng(self.seed, 0, c, *self.stream)),
        )

    def check_survivors(self, survivors: list[int]) -> None:
        """Refuse to open a sum over other clients than in the rounds before."""
        if self.expected is not None and survivors != self.expected:
            raise ProtocolError("other clients survived than in the rounds before", "changed")

    def finish(self) -> Round:
        """Return what the run came to."""
        return Round(self.study, self.survivors, self.up, self.down, self.seconds, self.faults)

    def plain(self) -> NDArray[np.uint64]:
        """Sum the messages in the clear."""
        scheme = self.study.scheme
        survivors = self.present("mask", range(len(self.data)))
        if not survivors:
            raise ProtocolError("every client dropped out: there is nothing to sum", "few")
        self.check_survivors(survivors)
        messages = self.encode(survivors)
        with self.stage("sum"):
            total = np.zeros(sum(segment.entries for segment in scheme.segments), dtype=np.uint64)
            for client in survivors:
                packed = scheme.pack(messages[client])
                self.up[client] += len(packed)
                total += scheme.unpack(packed)
        self.survivors = survivors
        return total

    def secure(self, allow_few: bool) -> NDArray[np.uint64]:
        """Sum the messages under masks."""
        everyone = list(range(len(self.data)))
        server = Server(self.study, self.number)
        clients: dict[int, Client] = {}

        def advertise(client: int) -> bytes:
            clients[client] = Client(self.study, client, self.number)
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
            if step == "unmask":
                self.check_survivors(sorted(requests))
                check_few(len(requests), allow_few)
            replies = self.each(step, present, work[step])
            with self.stage("server " + step):
                for client, reply in replies.items():
                    self.up[client] += len(reply)
                    server.receive(client, reply)
                requests = server.close_step()
        total, self.survivors = server.result()
        self.faults = server.faults
        return total


def stream_rng(seed: bytes, *key: int) -> np.random.Generator:
    """Make a generator that depends on the seed and the key alone."""
    return np.random.default_rng(
        np.random.SeedSequence(int.from_bytes(seed, "little"), spawn_key=key)
    )


def partial_options(scheme: object, fit_phi: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Refuse what cannot take partial rankings; tell named schemes that they are coming."""
    if isinstance(scheme, Lehmer) or scheme == "lehmer":
        raise ValueError(
            "Lehmer codes are of complete rankings: complete these, "
            "PartialRankings.complete(rng=…), or use borda or kemeny"
        )
    if fit_phi:
        raise ValueError(
            "fit_phi needs complete rankings, since the model has no ties: complete these, "
            "PartialRankings.complete(rng=…)"
        )
    if isinstance(scheme, Borda | Refine) and not scheme.partial:
        raise ValueError("a client has partial rankings: make the scheme with partial=True")
    return {"partial": True} | options if isinstance(scheme, str) else options


def as_scheme(
    scheme: object, data: list[AnyRankings], options: dict[str, Any]
) -> Borda | Lehmer | Refine:
    """Check the scheme of the first round; a name stands for one with these options."""
    named: dict[str, type[Borda] | type[Lehmer]] = {"borda": Borda, "lehmer": Lehmer}
    if isinstance(scheme, str) and scheme in named:
        try:
            return named[scheme](data[0].n, len(data), **options)
        except TypeError as error:
            raise ValueError(f"the options do not suit the scheme: {error}") from None
    if not isinstance(scheme, Borda | Lehmer | Refine):
        raise ValueError(
            f"scheme must be a scheme for a consensus or one of {', '.join(named)}, kemeny, "
            f"not {scheme!r}"
        )
    if options:
        raise ValueError(f"{next(iter(options))!r} goes with a scheme given by name")
    if scheme.n != data[0].n:
        raise ValueError(f"the scheme is made for {scheme.n} items, but these are {data[0].n}")
    if isinstance(scheme, Refine) and len(scheme.earlier):
        raise ValueError('a later round needs the sums of the earlier ones: federate "kemeny"')
    return scheme


def refine_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of a refinement out of those given; the others are Borda's."""
    refining = {"window": 8, "rounds": 1} | {
        name: options.pop(name)
        for name in ("window", "rounds", "counts", "majority")
        if name in options
    }
    shared = ("max_samples", "partial")
    return refining | {name: options[name] for name in shared if name in options}


def check_samples(
    data: list[AnyRankings],
    first: Borda | Lehmer | Refine,
    refining: dict[str, Any] | None,
    fit_phi: bool,
) -> int:
    """Refuse clients with more rankings than some round allows; return what the last allows.

    Before the first round, so that no round is run in vain.
    """
    n, clients = data[0].n, len(data)
    schemes: list[AnyScheme] = [first]
    if refining:
        trial = dict(refining)
        whole("rounds", trial.pop("rounds"))
        schemes.append(Refine(np.arange(n), clients, **trial))
    samples = first.max_samples or MAX_SAMPLES
    if fit_phi:
        schemes.append(Dispersion(np.arange(n), clients, samples))
    for scheme in schemes:
        for client, each in enumerate(data):
            if scheme.max_samples is not None and len(each) > scheme.max_samples:
                raise ValueError(
                    f"client {client} has {len(each)} rankings, more than max_samples = "
                    f"{scheme.max_samples}"
                )
    return samples


def check_few(survivors: int, allow_few: bool) -> None:
    """Refuse to open a sum over very few clients."""
    if survivors < FEWEST and not allow_few:
        raise ProtocolError(
            f"only {survivors} clients are left, and a sum over so few shows too much "
            "of each: pass allow_few=True to open it all the same",
            "few",
        )


def as_client(client: int, rankings: ArrayLike, kind: type[Kind]) -> Kind:
    """Check the rankings of one client; complaints name it."""
    if isinstance(rankings, kind):
        return rankings
    try:
        return kind(rankings)
    except ValueError as error:
        raise ValueError(f"client {client}: {error}") from None


def check_clients(data: Sequence[AnyRankings]) -> None:
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


def check_dropouts(
    dropouts: Mapping[int, str | tuple[int, str]] | Iterable[int], clients: int
) -> dict[int, tuple[int, str]]:
    """Say for every client that vanishes in which round, and before which step, it does."""
    if isinstance(dropouts, Mapping):
        lost = dict(dropouts)
    else:
        lost = dict.fromkeys(as_list(dropouts, "dropouts"), "mask")
    checked = {}
    for client, when in lost.items():
        if whole("dropout", client, least=0) >= clients:
            raise ValueError(f"dropout {client} is not a client: they are 0..{clients - 1}")
        round, step = when if isinstance(when, tuple) and len(when) == 2 else (0, when)
        if step not in STEPS[1:]:
            raise ValueError(f"client {client} drops out at {step!r}: say {', '.join(STEPS[1:])}")
        checked[int(client)] = (whole("round", round, least=0), str(step))
    return dict(sorted(checked.items()))
