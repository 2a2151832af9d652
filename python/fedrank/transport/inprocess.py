"""The transport inside one process: real clients, real keys, real bytes, in parallel threads."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._random import round_rng
from fedrank.exceptions import ProtocolError
from fedrank.protocol.envelope import check_session, envelopes
from fedrank.protocol.identity import Identity
from fedrank.protocol.record import Record, opening
from fedrank.protocol.secagg import Client
from fedrank.protocol.study import Round, Study
from fedrank.rankings.partial import AnyRankings
from fedrank.transport.base import Lost, Step

STOP_SECONDS = 0.02  # between requests to stop, after Ctrl-C
WAIT_SECONDS = 0.1  # between looks at the clock, while clients work


class Watch(Protocol):
    """Someone who wants to know how far the clients are."""

    def answered(self, step: Step, client: int) -> None:
        """Take note that a client has done its part of a step."""

    def waiting(self) -> None:
        """Take note that clients are still at work."""


class InProcess:
    """Clients in this process, for simulation: they see nothing but the study and the bytes.

    Parameters
    ----------
    study : Study
        What all parties agree on.
    data : sequence of Rankings or PartialRankings
        The rankings of each client, in the order of the roster.
    seed : bytes
        Breaks the clients' local ties. What client ``l`` draws depends on the seed, ``l`` and the
        round only. No secret comes from here.
    secure : bool
        Whether the clients mask their messages.
    dropouts : dict of int to (int, str)
        Clients that vanish, and in which round and at which step they do.
    watch : Watch, optional
        Told how far the clients are.
    identities : sequence of Identity, optional
        The private keys of the clients, if the study names identities.

    Examples
    --------
    >>> from fedrank import Borda, Rankings
    >>> from fedrank.protocol.driver import conduct
    >>> study = Study(Borda(n=3, clients=3))
    >>> clients = InProcess(study, [Rankings([[2, 0, 1]])] * 3, seed=bytes(32))
    >>> conduct(study, clients).survivors
    [0, 1, 2]
    """

    def __init__(
        self,
        study: Study,
        data: Sequence[AnyRankings],
        seed: bytes,
        secure: bool = True,
        dropouts: Mapping[int, tuple[int, str]] | None = None,
        watch: Watch | None = None,
        identities: Sequence[Identity] | None = None,
    ) -> None:
        party = Party if secure else PlainParty
        given: Sequence[Identity | None] = identities or [None] * len(data)
        self.parties = [
            party(study, me, rankings, seed, identity)
            for me, (rankings, identity) in enumerate(zip(data, given, strict=True))
        ]
        self.steps = study.steps
        self.dropouts = dict(dropouts or {})
        self.watch = watch

    def exchange(self, step: Step, requests: Mapping[int, bytes]) -> dict[int, bytes | Lost]:
        """Let every client that has not vanished answer, in parallel."""
        replies: dict[int, bytes | Lost] = {}
        present = []
        for client in requests:
            if self.vanished(client, step):
                replies[client] = Lost("vanished")
            else:
                present.append(client)
        return replies | self.ask(
            step, present, lambda client: self.parties[client].answer(step, requests[client])
        )

    def vanished(self, client: int, step: Step) -> bool:
        """Tell whether a client is gone by this step."""
        if client not in self.dropouts:
            return False
        round, name = self.dropouts[client]
        return (round, self.steps.index(name)) <= (step.round, self.steps.index(step.name))

    def ask(
        self, step: Step, clients: Sequence[int], work: Callable[[int], bytes]
    ) -> dict[int, bytes | Lost]:
        """Run one step of all clients; Ctrl-C stops them all."""
        replies: dict[int, bytes | Lost] = {}
        # Threads: the core releases the interpreter's lock.
        pool = ThreadPoolExecutor(max_workers=os.cpu_count())
        futures = {pool.submit(work, client): client for client in clients}
        try:
            left = set(futures)
            while left:
                done, left = wait(left, WAIT_SECONDS, FIRST_COMPLETED)
                for future in done:
                    client = futures[future]
                    try:
                        replies[client] = future.result()
                    except ProtocolError as refused:  # as an agent's refusal is
                        replies[client] = Lost(refused.code)
                    if self.watch is not None:
                        self.watch.answered(step, client)
                if self.watch is not None:
                    self.watch.waiting()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            # Again and again: a client may just have come to its next long call.
            while any(future.running() for future in futures):
                _core.interrupt_all()
                time.sleep(STOP_SECONDS)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return replies


class Party:
    """One client: its rankings, what it has seen of the run, and its keys in the present round."""

    def __init__(
        self,
        study: Study,
        me: int,
        rankings: AnyRankings,
        seed: bytes,
        identity: Identity | None = None,
    ) -> None:
        self.study = study
        self.me = me
        self.rankings = rankings
        self.seed = seed
        self.identity = identity
        self.envelopes = envelopes(study, me, identity)
        self.record = Record()
        self.client: Client | None = None
        self.drawn: set[int] = set()  # rounds whose messages depend on ties broken at random

    def answer(self, step: Step, request: bytes) -> bytes:
        """Answer one step; in an envelope, if the study names identities."""
        if self.envelopes is None:
            return self.take_step(step, request)
        if step.name == "advertise":
            header, request = self.envelopes.open_begin(request)
            reply = self.take_step(step, request)
            client = self.present()
            check_session(header, bytes.fromhex(client.round.digest), client.session)
        else:
            client = self.present()
            place = step.name, bytes.fromhex(client.round.digest), client.session
            reply = self.take_step(step, self.envelopes.open(request, *place))
        return self.envelopes.seal(
            reply, step.name, bytes.fromhex(client.round.digest), client.session
        )

    def take_step(self, step: Step, request: bytes) -> bytes:
        """Take one step, with the client of the round."""
        if step.name == "advertise":
            begin = opening(request, self.me, step.run, step.round)
            if self.record.missed(begin):
                self.record.catch_up(begin, self.present())
            round = self.record.take(self.study, begin)
            if self.client is None or self.client.round != round:
                self.client = Client(round, self.me, begin.session(), self.identity)
            return self.client.advertise()
        client = self.present()
        if step.name == "share":
            return client.share(request)
        if step.name == "mask":
            return client.mask(request, self.encode(client.round))
        if step.name == "confirm":
            self.record.open(step.round, _core.survivors_of(request))
            return client.confirm(request)
        if not self.study.signed:
            self.record.open(step.round, _core.survivors_of(request))
        return client.unmask(request)

    def present(self) -> Client:
        """Return the client of the present round."""
        assert self.client is not None  # the driver begins with the first step
        return self.client

    def encode(self, round: Round) -> NDArray[np.uint64]:
        """Encode the rankings, with ties from this client's own stream."""
        rng = round_rng(self.seed, round.number, 0, self.me)
        message, ties = round.scheme.encode_counting(self.rankings, client=self.me, rng=rng)
        if ties:
            self.drawn.add(round.number)
        return message


class PlainParty(Party):
    """One client that sends its message as it is."""

    def answer(self, step: Step, request: bytes) -> bytes:
        """Answer one step: only one of them carries anything."""
        if step.name == "advertise":
            begin = opening(request, self.me, step.run, step.round)
            if begin.round > 0:  # only here is said over whom the round before was opened
                self.record.open(begin.round - 1, begin.survivors)
            self.record.take(self.study, begin)
        elif step.name == "mask":
            round = self.record.round(self.study, step.round)
            return round.scheme.pack(self.encode(round))
        return b""
