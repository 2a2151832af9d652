"""Real agents in folders of their own, and a coordinator that asks them what it likes."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from attacks.outcome import at
from attacks.parties import COORDINATOR, ITEMS, as_product, identity
from fedrank import Mallows
from fedrank.agent import Agent, Config, Policy
from fedrank.agent.folder import make_store
from fedrank.exceptions import RefusalError
from fedrank.protocol.driver import Driver
from fedrank.protocol.envelope import envelopes
from fedrank.protocol.secagg import Server
from fedrank.transport import Lost, Step
from helpers.agents import begin_of
from helpers.command import write_ranks

SEED = 5
RANKINGS = 12
# Agents force all that they write to the disk, which takes long where it is a disk.
IN_MEMORY = next((each for each in ("/dev/shm",) if os.access(each, os.W_OK)), None)


def ranks_of(me):
    return Mallows(0.5, n=len(ITEMS)).sample(RANKINGS, rng=me).ranks.tolist()


def start(folder, study, me, **limits):
    """An agent for one client of a study; the policy allows this study unless told otherwise."""
    home = folder / str(me)
    home.mkdir()
    file = write_ranks(home / "votes.csv", ITEMS, ranks_of(me))
    key = home / "a.key"
    as_product(identity(me)).save(key)
    policy = Policy(**({"studies": (study.digest,), "allow_unsigned": not study.signed} | limits))
    socket = home / "a.sock"
    config = Config(study.roster[me], file, home / "state", socket, policy, key=key, seed=SEED)
    make_store(config.folder, config.public)
    return Agent(config)


@contextmanager
def agents_of(study, clients=None, **limits):
    """Agents of a study by number, while they are needed."""
    with tempfile.TemporaryDirectory(prefix="attack", dir=IN_MEMORY) as folder:
        chosen = range(len(study.roster)) if clients is None else clients
        made = {me: start(Path(folder), study, me, **limits) for me in chosen}
        try:
            yield made
        finally:
            for agent in made.values():
                agent.close()


class Asked:
    """One session in which a coordinator asks agents for single steps."""

    def __init__(self, study, agents, run=1):
        self.study, self.agents, self.run = study, agents, run
        self.server = Server(study.round(0), run)
        self.envelopes = None
        if study.signed:
            self.envelopes = envelopes(study, None, as_product(identity(COORDINATOR)))
        self.requests = {i: begin_of(self.server, study, i) for i in agents}

    def ask(self, client, step, request):
        """Ask one agent for one step; returns the message in its reply."""
        place = step, bytes.fromhex(self.server.round.digest), self.server.session
        if self.envelopes is not None:
            request = self.envelopes.seal(request, *place, client=client)
        with at(step):
            agent = self.agents[client]
            reply = agent.answer(self.study.to_json(), Step(self.run, 0, step), request)
        if self.envelopes is not None:
            reply = self.envelopes.open(reply, *place, client=client)
        return reply

    def take(self, step):
        for client, request in self.requests.items():
            self.server.receive(client, self.ask(client, step, request))
        self.requests = self.server.close_step()

    def until(self, step):
        for each in self.study.steps[: self.study.steps.index(step)]:
            self.take(each)
        return self

    @property
    def context(self):
        return next(iter(self.requests.values()))[4:36]


class Carrier:
    """Takes a driver's messages to agents, but not to those that are left out.

    ``others`` answer for clients without an agent. The first refusal ends the run if it is
    ``strict``; otherwise the agent that refused is lost.
    """

    def __init__(self, study, agents, but=(), others=None, strict=True):
        self.study, self.agents, self.but = study, agents, but
        self.others, self.strict = others or {}, strict

    def exchange(self, step, requests):
        replies = {}
        for client, request in requests.items():
            if client in self.but:
                replies[client] = Lost("unavailable")
            elif client in self.others:
                replies[client] = self.others[client](step, request)
            else:
                replies[client] = self.reply(step, client, request)
        return replies

    def reply(self, step, client, request):
        if self.strict:
            with at(step.name):
                return self.agents[client].answer(self.study.to_json(), step, request)
        try:
            return self.agents[client].answer(self.study.to_json(), step, request)
        except RefusalError as refusal:
            return Lost(refusal.code.value)


def driver(study, carrier, run):
    """The server's loop over one run of a study; `totals` of it are the sums that it opened."""
    signer = as_product(identity(COORDINATOR)) if study.signed else None
    return Driver(study, carrier, True, 3, bytes(32), run, signer)
