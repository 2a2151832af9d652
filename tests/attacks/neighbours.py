"""Processes beside the agent, and coordinators of other studies, keep an honest run waiting."""

import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from unittest import mock

from attacks.agents import Asked, agents_of
from attacks.outcome import Attack, Refused, at
from attacks.parties import study_of
from attacks.replay import sealed
from attacks.runs import removed, without_quotas_per_study
from fedrank import Study
from fedrank.agent.connections import Connections
from fedrank.agent.socket import ask, respond
from fedrank.agent.store import BEGUN_SESSIONS, Store
from fedrank.exceptions import RefusalError
from fedrank.protocol.secagg import Server
from fedrank.transport import Step
from helpers.agents import begin_of

VICTIM = 0
IDLE, SLOW = 40, 20
SECONDS = 2.0  # within which an honest step must be answered
READ_SECONDS = 10.0  # that version 1 waited for a request
SPENT, GIVEN, STARVED = "spends the day's runs", "is answered", "no answer in 2 s"


@contextmanager
def serving(agent, one_at_a_time):
    """An agent at its socket, in a thread, as `serve` runs it or as version 1 did."""
    path, stop = agent.config.socket, threading.Event()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        loop = first_come if one_at_a_time else in_turns
        thread = threading.Thread(target=loop, args=(server, partial(respond, agent), stop))
        thread.start()
        try:
            yield path
        finally:
            stop.set()
            thread.join()


def in_turns(server, respond, stop):
    connections = Connections(server, respond)
    while not stop.is_set():
        connections.turn(most=0.05)
    connections.close()


def first_come(server, respond, stop):
    """Version 1: one connection is read to its end before the next."""
    server.settimeout(0.05)
    while not stop.is_set():
        with suppress(OSError):  # nobody comes, or somebody has gone
            connection = server.accept()[0]
            with connection:
                read_all(connection, respond, stop)


def read_all(connection, respond, stop):
    connection.settimeout(0.05)
    end, asked = time.monotonic() + READ_SECONDS, b""
    while not stop.is_set() and time.monotonic() < end:
        with suppress(TimeoutError):
            part = connection.recv(1 << 16)
            if not part:
                connection.sendall(respond(asked))
                return
            asked += part


def connected(path, stack, content):
    """One more connection, if the agent takes it."""
    one = stack.enter_context(socket.socket(socket.AF_UNIX))
    one.setblocking(False)
    with suppress(OSError):
        one.connect(str(path))
        one.send(content)


def idle_connections(version1):
    """Many connections say nothing or begin a request; returns what the honest step waited for.

    The check: `Connections` reads all of them at once, and drops the idle ones.
    """
    study = study_of(4)
    with (
        agents_of(study, [VICTIM]) as agents,
        serving(agents[VICTIM], version1) as path,
        ExitStack() as stack,
    ):
        for k in range(IDLE + SLOW):
            connected(path, stack, b"" if k < IDLE else b"{")
        asked = Asked(study, agents)
        place = bytes.fromhex(asked.server.round.digest), asked.server.session
        request = asked.requests[VICTIM]
        request = asked.envelopes.seal(request, "advertise", *place, client=VICTIM)
        step = Step(asked.run, 0, "advertise")
        begun = time.monotonic()
        try:
            ask(path, study.to_json(), step, request, timeout=SECONDS)
        except RefusalError:
            return STARVED
        return STARVED if time.monotonic() - begun > SECONDS else "an answer in time"


def forged_sessions(version1):
    """Whoever reaches the socket begins sessions, until that of an honest run is pushed out.

    The check: in a signed study only the coordinator begins sessions (`Envelopes.open_begin`).
    """
    study = study_of(4, signed=not version1)
    check = without_rooms_per_study
    with removed(version1, check), agents_of(study, [VICTIM]) as agents:
        agent, asked = agents[VICTIM], Asked(study, agents)
        asked.ask(VICTIM, "advertise", asked.requests[VICTIM])
        for run in range(2, BEGUN_SESSIONS + 3):
            server = Server(study.round(0), run)
            begin = begin_of(server, study, VICTIM)
            if study.signed:
                begin = sealed(server, "advertise", VICTIM, begin)
            with at("advertise"):
                agent.answer(study.to_json(), Step(run, 0, "advertise"), begin)
        return agent.store.session(study.digest, asked.run, 0) is None


def make_room_for_all_studies(store, study, run, ledger):  # noqa: ARG001
    """Push out the oldest sessions of whatever study, as version 1 did."""
    found = [file for folder in store.studies.iterdir() for file in store.files(folder, "sessions")]
    found.sort(key=lambda file: file.stat().st_mtime_ns)
    for file in found[: max(0, len(found) - BEGUN_SESSIONS + 1)]:
        file.unlink()


@contextmanager
def without_rooms_per_study():
    with (
        mock.patch.object(Store, "make_room", make_room_for_all_studies),
        without_quotas_per_study(),
    ):
        yield


def neighbour_of(study):
    """Another study over the same parties, which the data holder allows, too."""
    lines = dict(zip(study.roster, study.identities, strict=True))
    return Study(study.method, study.items, lines, 4, study.coordinator)


def foreign_evictions(version1):
    """A stranger's study begins sessions, until that of an honest run is pushed out.

    Returns whether it is. The check: `Store.make_room` counts one study's sessions, and
    lets no new one push out those of the last minutes.
    """
    study, stranger = study_of(4), neighbour_of(study_of(4))
    allowed = (study.digest, stranger.digest)
    check = without_rooms_per_study
    with removed(version1, check), agents_of(study, [VICTIM], studies=allowed) as agents:
        asked = Asked(study, agents)
        asked.ask(VICTIM, "advertise", asked.requests[VICTIM])
        for run in range(2, BEGUN_SESSIONS + 3):
            other = Asked(stranger, agents, run)
            other.ask(VICTIM, "advertise", other.requests[VICTIM])
        return agents[VICTIM].store.session(study.digest, asked.run, 0) is None


def foreign_runs(version1):
    """A stranger's study runs until the day's runs are spent; returns whether they are.

    The check: `Ledger.runs_today` counts one study's runs.
    """
    study, stranger = study_of(4), neighbour_of(study_of(4))
    allowed = (study.digest, stranger.digest)
    check = without_rooms_per_study
    with removed(version1, check), agents_of(study, studies=allowed) as agents:
        for run in range(3):
            Asked(stranger, agents, run).until("confirm")
        try:
            Asked(study, agents, 7).until("confirm")
        except Refused:
            return SPENT
        return "spends nothing"


def strange_study(version1):
    """A study that nobody allowed is asked for. The check: `Agent.check`."""
    study, stranger = study_of(4), neighbour_of(study_of(4))
    allowed = (study.digest, stranger.digest) if version1 else (study.digest,)
    with agents_of(study, [VICTIM], studies=allowed) as agents:
        other = Asked(stranger, agents)
        other.ask(VICTIM, "advertise", other.requests[VICTIM])
        return GIVEN


@contextmanager
def without_turns():
    """Serve one connection at a time, whatever the other ones say."""
    with mock.patch(f"{__name__}.in_turns", first_come):
        yield


@contextmanager
def without_list():
    """Allow all studies."""
    with mock.patch.object(Store, "allows", return_value=True):
        yield


EVICTED = "pushes out an honest run"
ATTACKS = (
    Attack(
        "idle connections",
        "neighbour",
        idle_connections,
        STARVED,
        STARVED,
        before=STARVED,
        today="an answer in time",
        lost="an answer in time",
        without=without_turns,
    ),
    Attack(
        "forged sessions",
        "neighbour",
        forged_sessions,
        True,
        EVICTED,
        before=EVICTED,
        today="refused at advertise: protocol",
        rust="only_the_sender_signs_it",
    ),
    Attack(
        "sessions of another study",
        "its coordinator",
        foreign_evictions,
        True,
        EVICTED,
        before=EVICTED,
        today="refused at advertise: refused",
        without=without_rooms_per_study,
    ),
    Attack(
        "runs of another study",
        "its coordinator",
        foreign_runs,
        SPENT,
        SPENT,
        before=SPENT,
        today="spends its own runs",
        lost="spends its own runs",
        without=without_rooms_per_study,
    ),
    Attack(
        "a study that is not allowed",
        "neighbour",
        strange_study,
        GIVEN,
        GIVEN,
        before=GIVEN,
        today="refused at advertise: refused",
        without=without_list,
    ),
)
