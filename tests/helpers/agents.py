"""A study of four parties, one of them behind an agent."""

import json
from dataclasses import replace
from functools import cache

import pytest

from fedrank import Borda, Mallows, Rankings, Study
from fedrank._json import canonical
from fedrank.agent import Config, Policy, RefusalError, make_store
from fedrank.agent.ledger import sha256
from fedrank.protocol.envelope import envelopes
from fedrank.protocol.secagg import Begin, Client, Server
from fedrank.transport import Step
from helpers.command import write_ranks

LABELS = ["ash", "birch", "cedar", "dogwood"]
ROSTER = ["north", "east", "south", "west"]
STUDY = Study(Borda(4, 4), LABELS, ROSTER)  # threshold 3
SECRET = "7654321"  # a score that nothing which leaves may show

# What every client holds: twelve rankings.
RANKS = [Mallows(0.5, n=4).sample(12, rng=seed).ranks.tolist() for seed in range(4)]


def configured(folder, me=1, study=STUDY, ranks=None, seed=None, reading=None, **limits):
    """Write a client's rankings, and configure its agent; limits are of its policy."""
    folder.mkdir(exist_ok=True)
    file = write_ranks(folder / "votes.csv", LABELS, RANKS[me] if ranks is None else ranks)
    policy = Policy(**({"studies": (study.digest,), "allow_unsigned": True} | limits))
    where = (file, folder / "state", folder / "a.sock")
    return Config(study.roster[me], *where, policy, seed=seed, reading=reading or {})


def with_key(config, identity):
    """Give a client its key, and a store for it."""
    key = config.folder.parent / "own.key"
    if not key.exists():
        identity.save(key)
        make_store(config.folder, identity.public)
    return replace(config, key=key)


def as_config(config, study=STUDY, **more):
    """Write the TOML of a configuration that allows one unsigned study."""
    keys = {"name": config.name, "rankings": config.rankings, "folder": config.folder}
    keys |= {"socket": config.socket} | more
    lines = [f"{key} = {json.dumps(str(value))}" for key, value in keys.items()]
    return "\n".join([*lines, "[policy]", f'studies = ["{study.digest}"]', ALLOWED, ""])


ALLOWED = "allow_unsigned = true"


def changed_ledger(file, change):
    """Rewrite a ledger: ``change`` gets the list of its lines' fields; all follow one another."""
    lines, before = [json.loads(line) for line in file.read_text().splitlines()], sha256(b"")
    change(lines)
    with file.open("w") as written:
        for fields in lines:
            line = canonical(fields | {"before": before})
            before = sha256(line.encode())
            written.write(line + "\n")


def files(agent, kind, study=STUDY):
    """List the files of a study's sessions or runs, in an agent's store."""
    return sorted(agent.store.files(study.digest, kind))


class Federation:
    """Three plain clients, and one behind an agent, number 1.

    In a study with identities all messages are in envelopes: ``identities`` are those of the
    clients, and the last one is the coordinator's.
    """

    def __init__(self, agent, study=STUDY, number=1, identities=None):
        self.agent, self.study, self.number = agent, study, number
        self.round, roster = study.round(0), range(len(study.roster))
        self.server = Server(self.round, number)
        keys = identities or [None] * (len(roster) + 1)
        self.others = {c: Client(self.round, c, self.server.session, keys[c]) for c in (0, 2, 3)}
        self.messages = {
            c: study.method.encode(Rankings(RANKS[c]), client=c, rng=c) for c in roster
        }
        self.coordinator = envelopes(study, None, keys[-1])
        self.envelopes = {c: envelopes(study, c, keys[c]) for c in self.others}
        begins = {c: begin_of(self.server, study, c) for c in roster}
        self.requests = self.sealed(begins, "advertise")
        self.asked, self.replied, self.server_before = {}, {}, {}  # by step

    def sealed(self, messages, step):
        """Put what the server sends into envelopes."""
        if self.coordinator is None:
            return messages
        place = step, bytes.fromhex(self.round.digest), self.server.session
        return {c: self.coordinator.seal(m, *place, client=c) for c, m in messages.items()}

    def take(self, client, step, reply):
        """Hand a reply to the server."""
        if self.coordinator is not None:
            place = step, bytes.fromhex(self.round.digest), self.server.session
            reply = self.coordinator.open(reply, *place, client=client)
        self.server.receive(client, reply)

    def reply(self, step, client):
        request = self.requests[client]
        if client == 1:
            return self.agent.answer(self.study.to_json(), Step(self.number, 0, step), request)
        envelopes, other = self.envelopes[client], self.others[client]
        place = step, bytes.fromhex(self.round.digest), self.server.session
        if envelopes is not None:
            request = envelopes.open(request, *place)
        if step == "advertise":
            reply = other.advertise()
        elif step == "mask":
            reply = other.mask(request, self.messages[client])
        else:
            reply = getattr(other, step)(request)
        return reply if envelopes is None else envelopes.seal(reply, *place)

    def until(self, step):
        """Everybody takes all steps before this one."""
        for each in self.study.steps[: self.study.steps.index(step)]:
            self.step(each)
        return self

    def step(self, step, but=()):
        """Take a step, some clients left out; returns what the agent replied."""
        asked = [client for client in self.requests if client not in but]
        replies = {client: self.reply(step, client) for client in asked}
        self.asked[step], self.replied[step] = self.requests, replies
        self.server_before[step] = self.server.state()
        for client, reply in replies.items():
            self.take(client, step, reply)
        steps = self.study.steps
        following = steps[min(steps.index(step) + 1, len(steps) - 1)]
        self.requests = self.sealed(self.server.close_step(), following)
        return replies.get(1)

    def finish(self):
        """Take all steps; returns the sum and who is in it."""
        for step in self.study.steps:
            self.step(step)
        return self.server.result()


def begin_of(server, study, me, order=(), survivors=()):
    """What a server opens its round with, for client ``me``."""
    round = server.round
    begin = Begin(
        study=bytes.fromhex(study.digest),
        run=server.run,
        round=round.number,
        nonce=server.nonce,
        stage=round.stage,
        order=list(order),
        previous=bytes.fromhex(round.previous),
        survivors=list(survivors),
        confirmations=[],
    )
    return begin.to_bytes(me)


@cache
def opening(run, study=STUDY, me=1):
    """What opens the first round of a run for a client, the same bytes for the same run."""
    return begin_of(Server(study.round(0), run), study, me)


def not_answered(code, agent, *arguments):
    """Ask what the agent must refuse with this code; returns its reason."""
    with pytest.raises(RefusalError) as error:
        agent.answer(*arguments)
    assert error.value.code is code
    return str(error.value)
