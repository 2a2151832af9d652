"""A study of four parties, one of them behind an agent."""

import json

import pytest

from fedrank import Borda, Mallows, Rankings, Study
from fedrank.agent import Config, Policy, RefusalError
from fedrank.protocol.secagg import STEPS, Client, Server
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


def as_config(config, study=STUDY, **more):
    """Write the TOML of a configuration that allows one unsigned study."""
    keys = {"name": config.name, "rankings": config.rankings, "folder": config.folder}
    keys |= {"socket": config.socket} | more
    lines = [f"{key} = {json.dumps(str(value))}" for key, value in keys.items()]
    return "\n".join([*lines, "[policy]", f'studies = ["{study.digest}"]', ALLOWED, ""])


ALLOWED = "allow_unsigned = true"


def files(agent, kind, study=STUDY):
    """List the files of a study's sessions or runs, in an agent's store."""
    return sorted(agent.store.files(study.digest, kind))


class Federation:
    """Three plain clients, and one behind an agent, number 1."""

    def __init__(self, agent, study=STUDY, number=1):
        self.agent, self.study, self.number = agent, study, number
        self.round = study.round(0)
        self.server = Server(self.round)
        self.others = {c: Client(self.round, c) for c in (0, 2, 3)}
        self.messages = {
            c: study.method.encode(Rankings(RANKS[c]), client=c, rng=c)
            for c in range(len(study.roster))
        }
        self.requests = dict.fromkeys(range(len(study.roster)), b"")
        self.asked, self.replied, self.server_before = {}, {}, {}  # by step

    def reply(self, step, client):
        request = self.requests[client]
        if client == 1:
            return self.agent.answer(self.study.to_json(), Step(self.number, 0, step), request)
        if step == "advertise":
            return self.others[client].advertise()
        if step == "mask":
            return self.others[client].mask(request, self.messages[client])
        return getattr(self.others[client], step)(request)

    def until(self, step):
        """Everybody takes all steps before this one."""
        for each in STEPS[: STEPS.index(step)]:
            self.step(each)
        return self

    def step(self, step, but=()):
        """Take a step, some clients left out; returns what the agent replied."""
        asked = [client for client in self.requests if client not in but]
        replies = {client: self.reply(step, client) for client in asked}
        self.asked[step], self.replied[step] = self.requests, replies
        self.server_before[step] = self.server.state()
        for client, reply in replies.items():
            self.server.receive(client, reply)
        self.requests = self.server.close_step()
        return replies.get(1)

    def finish(self):
        """Take all steps; returns the sum and who is in it."""
        for step in STEPS:
            self.step(step)
        return self.server.result()


def not_answered(code, agent, *arguments):
    """Ask what the agent must refuse with this code; returns its reason."""
    with pytest.raises(RefusalError) as error:
        agent.answer(*arguments)
    assert error.value.code is code
    return str(error.value)
