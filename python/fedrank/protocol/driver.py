"""The driver: the server's loop over the rounds and steps of a study, whatever the transport.

It is the only protocol loop. What the server's side must check that is not cryptographic is checked
here: enough survivors, and the same ones in every round. Agents check it again for themselves.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedrank._core import SecaggBegin
from fedrank._random import RNG, round_rng, seed_bytes
from fedrank._validation import as_bool, plural, whole
from fedrank.exceptions import InputError, ProtocolError, Remedy, RunFailedError
from fedrank.protocol.clients import client_ids
from fedrank.protocol.course import Course
from fedrank.protocol.envelope import envelopes
from fedrank.protocol.identity import Identity
from fedrank.protocol.plain import PlainServer
from fedrank.protocol.record import Begin, Record
from fedrank.protocol.result import FederatedConsensus, RoundResult
from fedrank.protocol.running import Running
from fedrank.protocol.saved import Saved
from fedrank.protocol.secagg import MIN_SURVIVORS, Server
from fedrank.protocol.study import Study
from fedrank.transport.base import Lost, Step, Transport

UNOPENED = {
    "changed": "its survivors are not those of the rounds before, and the difference could show "
    "one client's message",
    "few": "too few clients stayed to open it",
}
"""Why a later round may not be opened, by the error's code. The consensus so far then stands."""


def conduct(
    study: Study,
    transport: Transport,
    *,
    identity: Identity | None = None,
    secure: bool = True,
    min_survivors: int = MIN_SURVIVORS,
    rng: RNG = None,
    run: int | None = None,
    save: str | os.PathLike[str] | None = None,
) -> FederatedConsensus:
    """Conduct all rounds of a study over a transport, and decode the consensus.

    Parameters
    ----------
    study : Study
        What all parties agree on.
    transport : Transport
        Carries the bytes.
    identity : Identity, optional
        The coordinator's private keys, if the study names identities. Every message is then sealed
        for its recipient and signed, and the transport carries envelopes. For secure runs only.
    secure : bool
        Whether the messages are masked. False sums them in the clear, for experiments.
    min_survivors : int
        Fewest clients whose sum may be opened.
    rng : None, int or numpy.random.Generator
        Breaks the consensus' ties, as `fedrank.federate` does.
    run : int, optional
        Number of the run, below 2**64. Agents answer a number once, so the default is a new
        random one.
    save : path, optional
        A file in which the state is kept after every step, for its owner only. If it is there,
        a run that was killed goes on from it, with its own ties and its own run number. A run that
        fails deletes it. Delete it yourself once the result is kept.

    Returns
    -------
    result : FederatedConsensus

    Raises
    ------
    RunFailedError
        If too few clients are left in the first round, or no clients can have sent a sum.
    ValueError
        If the saved state is of another study or damaged, or another process goes on from it.

    Examples
    --------
    >>> from fedrank import Borda
    >>> class Nobody:
    ...     def exchange(self, step, requests):
    ...         return {client: Lost("unavailable") for client in requests}
    >>> try:
    ...     conduct(Study(Borda(2, 3), roster=["a", "b", "c"]), Nobody())
    ... except RunFailedError as failed:
    ...     print(failed.problem.partition("; lost ")[2])
    at advertise: a (unavailable), b (unavailable), c (unavailable)
    """
    if save is not None and not secure:
        raise InputError(
            "is for secure runs only", parameter="save", remedy="leave it out, or pass secure=True"
        )
    number = secrets.randbits(63) if run is None else run
    driver = Driver(study, transport, secure, min_survivors, seed_bytes(rng), number, identity)
    if save is None:
        return driver.conduct()
    with Saved(Path(save)) as saved:
        driver.saved = saved
        try:
            driver.load(saved)
            return driver.conduct()
        except RunFailedError:  # there is nothing to go on with
            saved.discard()
            raise


class Driver:
    """One run of a study, seen from the server: see `conduct`."""

    def __init__(
        self,
        study: Study,
        transport: Transport,
        secure: bool,
        min_survivors: int,
        seed: bytes,
        run: int,
        identity: Identity | None = None,
    ) -> None:
        if not isinstance(study, Study):
            raise InputError(
                f"must be a Study, not {type(study).__name__}", parameter="study", value=study
            )
        if not callable(getattr(transport, "exchange", None)):
            raise InputError(
                f"must have a method exchange, which {type(transport).__name__} has not",
                parameter="transport",
                value=transport,
            )
        self.study = study
        self.transport = transport
        self.secure = as_bool("secure", secure)
        if identity is not None and not self.secure:
            raise InputError(
                "is for secure runs only: nothing is signed or sealed in the clear",
                parameter="identity",
                remedy="leave it out, or pass secure=True",
            )
        self.min_survivors = whole("min_survivors", min_survivors)
        self.seed = seed
        self.run = whole("run", run, least=0, most=2**64 - 1)
        self.course = Course(study.method, study.fit_phi, study.items)
        self.record = Record()
        self.rounds: list[RoundResult] = []
        self.totals: list[NDArray[np.uint64]] = []  # of these rounds
        self.running: Running | None = None
        self.lost: dict[int, tuple[int, str, str]] = {}  # round, step and reason, by client
        self.note: str | None = None
        self.saved: Saved | None = None
        self.confirmations: list[tuple[int, bytes]] = []  # of the survivors of the last round
        self.envelopes = envelopes(study, None, identity) if self.secure else None

    def conduct(self) -> FederatedConsensus:
        """Run the rounds that are left, and sum them up."""
        while self.course.stage is not None and self.note is None:
            if self.running is None:
                self.running = self.begin()
                self.keep()
            try:
                self.finish(self.running)
            except ProtocolError as refused:
                self.stop(self.running, refused)
            self.running = None
        return self.result()

    def begin(self) -> Running:
        """Begin the next round: with all clients, then with those that survived the first."""
        number, stage = len(self.rounds), self.course.stage
        assert stage is not None
        begin = Begin(stage, tuple(self.course.orders[-1]) if number else ())
        round = self.record.begin(self.study, number, begin)
        clients = len(self.study.roster)
        asked = range(clients) if self.record.survivors is None else self.record.survivors
        server = Server(round, self.run) if self.secure else PlainServer(round)
        message = SecaggBegin(
            study=bytes.fromhex(self.study.digest),
            run=self.run,
            round=number,
            nonce=server.nonce,
            stage=stage,
            order=list(begin.order),
            previous=bytes.fromhex(round.previous),
            survivors=list(self.record.survivors or ()),
            confirmations=self.confirmations,
        )
        return Running(
            round=round,
            server=server,
            requests={client: message.to_bytes(client) for client in asked},
            up=np.zeros(clients, dtype=np.int64),
            down=np.zeros(clients, dtype=np.int64),
        )

    def finish(self, running: Running) -> None:
        """Run the steps that are left of a round, and decode its sum."""
        while running.step < len(running.steps):
            self.take_step(running, running.steps[running.step])
            running.step += 1
            self.keep()
        total, survivors = running.server.result()
        self.record.open(running.round.number, survivors)
        self.confirmations = running.server.confirmations
        with running.timed("decode"):
            self.decode(running.round.number, total, len(survivors))
        self.totals.append(total)
        self.rounds.append(running.result(survivors))

    def take_step(self, running: Running, name: str) -> None:
        """Ask all clients that are left, hand their replies to the server, and close the step."""
        number = running.round.number
        if name == running.opening:
            self.check_survivors(number, running.survivors())
        with running.timed("server " + name):
            outgoing = self.seal(running, name)
        try:
            with running.timed(name):
                replies = self.transport.exchange(Step(self.run, number, name), outgoing)
        except ProtocolError as error:  # of the transport's own: no verdict on this round
            raise RunFailedError(f"the transport failed at {name}: {error}", error.code) from error
        check_replies(replies, outgoing)
        with running.timed("server " + name):
            for client, request in outgoing.items():
                running.down[client] += len(request)
                reply = replies.get(client, Lost("no reply in time"))
                if isinstance(reply, Lost):
                    self.lost.setdefault(client, (number, name, reply.why))
                    continue
                running.up[client] += len(reply)
                try:
                    running.server.receive(client, self.open(running, name, client, bytes(reply)))
                except ProtocolError as error:  # a fault of the client is in the server's list
                    self.lost.setdefault(client, (number, name, error.code))
            running.requests = running.server.close_step()

    def seal(self, running: Running, name: str) -> Mapping[int, bytes]:
        """Put a step's requests into envelopes, if the study has identities."""
        if self.envelopes is None:
            return running.requests
        place = name, bytes.fromhex(running.round.digest), running.server.session
        return {
            client: self.envelopes.seal(request, *place, client=client)
            for client, request in running.requests.items()
        }

    def open(self, running: Running, name: str, client: int, reply: bytes) -> bytes:
        """Take a reply out of its envelope, if the study has identities.

        An envelope that does not open is not held against the client: whoever carried it may have
        changed it.
        """
        if self.envelopes is None:
            return reply
        digest, session = bytes.fromhex(running.round.digest), running.server.session
        return self.envelopes.open(reply, name, digest, session, client=client)

    def check_survivors(self, number: int, survivors: list[int]) -> None:
        """Refuse to open a sum over other clients than before, or over too few.

        Raises
        ------
        ProtocolError
            With the code "changed" or "few".
        """
        self.record.check_survivors(number, survivors)
        if self.secure and len(survivors) < self.min_survivors:
            raise ProtocolError(
                f"only {plural(len(survivors), 'client is', 'clients are')} left; a sum over fewer "
                f"than min_survivors = {self.min_survivors} clients reveals too much about each",
                "few",
                Remedy.MIN_SURVIVORS,
            )

    def decode(self, number: int, total: NDArray[np.uint64], survivors: int) -> None:
        """Decode the sum of a round.

        Raises
        ------
        RunFailedError
            If no clients can have sent it.
        """
        rng = round_rng(self.seed, number, 1)
        try:
            self.course.take(total, survivors, rng)
        except ValueError as error:
            raise RunFailedError(
                f"the sum of round {number} cannot be decoded: {error}", "total"
            ) from None

    def stop(self, running: Running, refused: ProtocolError) -> None:
        """End the run after a round that was not opened: with a note, or with an error."""
        number = running.round.number
        if isinstance(refused, RunFailedError):
            raise refused
        if number == 0:
            remedy = refused.remedy or (Remedy.THRESHOLD if refused.code == "few" else None)
            lost = self.describe_lost()
            raise RunFailedError(f"{refused.problem}{lost}", refused.code, remedy) from None
        if refused.code not in UNOPENED:
            raise refused
        why = UNOPENED[refused.code]
        self.note = f"round {number} ({running.round.stage}) was not opened: {why}"
        self.rounds.append(running.result([]))

    def describe_lost(self) -> str:
        """Say who was lost, at which step of the first round, and why."""
        text = ""
        for step in self.study.steps:
            names = [
                f"{self.study.roster[client]} ({why})"
                for client, (number, at, why) in sorted(self.lost.items())
                if (number, at) == (0, step)
            ]
            text += f"; lost at {step}: {', '.join(names)}" if names else ""
        return text

    def keep(self) -> None:
        """Save the state, if there is a place for it."""
        if self.saved is None:
            return
        self.saved.save(
            self.study,
            run=self.run,
            seed=self.seed,
            record=self.record,
            rounds=list(zip(self.rounds, self.totals, strict=True)),
            running=self.running,
            lost=self.lost,
        )

    def load(self, saved: Saved) -> None:
        """Go on from a saved state, if there is one; its sums are decoded again."""
        state = saved.load(self.study)
        if state is None:
            return
        self.run, self.seed, self.record = state.run, state.seed, state.record
        self.lost, self.running = state.lost, state.running
        for result, total in state.rounds:
            self.decode(result.round.number, total, len(result.survivors))
            self.rounds.append(result)
            self.totals.append(total)

    def result(self) -> FederatedConsensus:
        """Sum the rounds up."""
        seconds: dict[str, float] = {}
        for each in self.rounds:
            for name, spent in each.seconds.items():
                seconds[name] = seconds.get(name, 0.0) + spent
        consensus, fit = self.course.consensus, self.course.fit
        assert consensus is not None  # the first round was opened
        if fit is not None:
            # Over all rankings of the survivors, exactly.
            consensus = replace(consensus, objective=fit.mean_distance / len(consensus))
        clients = client_ids(self.study)
        lost = [(clients[client], when) for client, when in sorted(self.lost.items())]
        rounds = [
            replace(
                each,
                survivors=[clients[client] for client in each.survivors],
                faults=[(clients[client], code) for client, code in each.faults],
            )
            for each in self.rounds
        ]
        return FederatedConsensus(
            **{each.name: getattr(consensus, each.name) for each in fields(consensus)},
            survivors=[clients[client] for client in self.record.survivors or ()],
            dropped={c: (number, step) if number else step for c, (number, step, _) in lost},
            reasons={client: why for client, (_, _, why) in lost},
            bytes_up=np.sum([each.bytes_up for each in self.rounds], axis=0),
            bytes_down=np.sum([each.bytes_down for each in self.rounds], axis=0),
            seconds=seconds,
            study=self.study,
            secure=self.secure,
            run=self.run,
            faults=[fault for each in rounds for fault in each.faults],
            rounds=rounds,
            fit=fit,
            note=self.note,
        )


def check_replies(replies: object, requests: Mapping[int, bytes]) -> None:
    """Refuse what is not replies, by client number, to these requests: a fault of the transport.

    Examples
    --------
    >>> check_replies({0: b"", 1: Lost("refused")}, {0: b"", 1: b""})
    """
    if not isinstance(replies, Mapping):
        kind = type(replies).__name__
        raise ValueError(f"exchange must return a dict of client number to reply, not {kind}")
    for client, reply in replies.items():
        if client not in requests:
            raise ValueError(f"exchange returned a reply of {client!r}, which was not asked")
        if not isinstance(reply, bytes | bytearray | memoryview | Lost):
            kind = type(reply).__name__
            raise ValueError(f"the reply of client {client} must be bytes or Lost, not {kind}")
