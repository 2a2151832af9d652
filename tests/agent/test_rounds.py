"""Agents in studies of several rounds: each derives what may be asked, and refuses the rest."""

import dataclasses
import os
import time

import pytest

from fedrank import Kemeny, Rankings, Study, conduct, federate
from fedrank.agent import Agent, Code, preview
from fedrank.agent.ledger import DAY
from fedrank.agent.store import BEGUN_SESSIONS
from fedrank.exceptions import RefusalError
from fedrank.protocol.methods import MAX_ROUNDS
from fedrank.protocol.secagg import STEPS, Begin, Server
from fedrank.transport import Lost, Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    begin_of,
    configured,
    files,
    not_answered,
    opening,
)
from helpers.command import write_ranks

STUDY = Study(
    Kemeny(4, 4, window=1, rounds=3, max_samples=12), LABELS, ROSTER, threshold=3, fit_phi=True
)
DATA = [Rankings(ranks, LABELS) for ranks in RANKS]


class Agents:
    """All clients of a study behind agents, and a record of all that they were asked."""

    def __init__(self, folder, study=STUDY, seed=5, **limits):
        self.study = study
        self.agents = [
            Agent(configured(folder / str(c), c, study, seed=seed, **limits)) for c in range(4)
        ]
        self.asked = []

    def exchange(self, step, requests):
        replies = {}
        for client, request in requests.items():
            self.asked.append((client, step, request))
            try:
                replies[client] = self.agents[client].answer(self.study.to_json(), step, request)
            except RefusalError as refusal:
                replies[client] = Lost(refusal.code.value)
        return replies

    def close(self):
        for agent in self.agents:
            agent.close()


@pytest.fixture
def agents(tmp_path):
    made = Agents(tmp_path)
    yield made
    made.close()


def test_kemeny_and_phi_behind_agents_are_those_of_one_process(agents):
    found = conduct(STUDY, agents, rng=5, run=1)
    expected = federate(DATA, STUDY.method, threshold=3, fit_phi=True, rng=5)
    assert found.ranks.tobytes() == expected.ranks.tobytes()
    assert found.fit == expected.fit
    assert [each.round.stage for each in found.rounds] == [
        each.round.stage for each in expected.rounds
    ]
    assert found.bytes_up.tolist() == expected.bytes_up.tolist()
    assert found.bytes_down.tolist() == expected.bytes_down.tolist()
    assert len(found.rounds) > 2
    # One run in the ledger, a line for each of its rounds.
    for agent in agents.agents:
        ledger, rounds = agent.store.ledger(), range(len(found.rounds))
        entered = [(entry.round, entry.step) for entry in ledger.of(STUDY.digest)]
        assert entered == [(k, step) for k in rounds for step in ("mask", "unmask")]
        assert ledger.runs_today(STUDY.digest) == 0  # it was opened


def test_every_step_may_be_asked_again_by_a_new_agent(agents):
    found = conduct(STUDY, agents, rng=5, run=1)
    asked, configs = agents.asked, [agent.config for agent in agents.agents]
    replies = [agents.agents[c].answer(STUDY.to_json(), step, r) for c, step, r in asked]
    agents.close()
    agents.agents = [Agent(config) for config in configs]
    again = [agents.agents[c].answer(STUDY.to_json(), step, r) for c, step, r in asked]
    assert again == replies
    assert len(asked) == 16 * len(found.rounds)


def first_round(agents, run=1):
    """Conduct the first round only; returns what opens the next one for client 1."""

    class Stopped(Exception):  # noqa: N818
        pass

    class FirstRound:
        def exchange(self, step, requests):
            if step.round == 1:
                raise Stopped(requests[1])
            return agents.exchange(step, requests)

    with pytest.raises(Stopped) as stopped:
        conduct(STUDY, FirstRound(), rng=5, run=run)
    return Begin.open(stopped.value.args[0], 1)


def changed(begin, me=1, **fields):
    """Announce something else than a server does, consistently; for client ``me``."""
    names = ("study", "run", "round", "nonce", "stage", "order", "previous", "survivors")
    values = {name: getattr(begin, name) for name in (*names, "confirmations")}
    return Begin(**(values | fields)).to_bytes(me)


def test_a_second_order_for_the_same_round_is_refused(agents):
    begin = first_round(agents)
    agent = agents.agents[1]
    first = Step(1, 1, "advertise")
    agent.answer(STUDY.to_json(), first, begin.to_bytes(1))
    other = changed(begin, order=begin.order[::-1])
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), first, other)
    assert "was announced before, with another order" in told
    # A dispersion instead of the refinement is another question, too.
    other = changed(begin, stage="dispersion")
    not_answered(Code.PROTOCOL, agent, STUDY.to_json(), first, other)
    # So is the same one under another nonce: the keys would be those of another session.
    told = not_answered(
        Code.PROTOCOL, agent, STUDY.to_json(), first, changed(begin, nonce=bytes(32))
    )
    assert "round 1 of run 1 has begun as another session" in told


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"round": 2}, "came before round 1 ended"),
        ({"stage": "margins"}, "no round 1"),
        ({"order": [0, 1, 2]}, "4 items"),
        ({"order": [0, 1, 2, 2]}, "every item number once"),
        ({"survivors": [0, 1, 2]}, "follows other rounds or survivors than this client saw"),
        ({"previous": bytes(32)}, "follows other rounds or survivors than this client saw"),
        ({"study": bytes(32)}, "the round belongs to another study"),
    ],
)
def test_a_round_that_does_not_follow_is_refused(agents, fields, why):
    begin = first_round(agents)
    step = Step(1, fields.get("round", 1), "advertise")
    request = changed(begin, **fields)
    told = not_answered(Code.PROTOCOL, agents.agents[1], STUDY.to_json(), step, request)
    assert why in told


@pytest.mark.parametrize("step", [Step(2, 1, "advertise"), Step(1, 2, "advertise")])
def test_a_round_of_another_run_or_number_than_the_transport_says_is_refused(agents, step):
    request = first_round(agents).to_bytes(1)
    told = not_answered(Code.PROTOCOL, agents.agents[1], STUDY.to_json(), step, request)
    assert "the request opens round 1 of run 1, not round" in told


def test_a_later_round_before_the_first_is_refused(agents, tmp_path):
    begin = first_round(agents)
    fresh = Agent(configured(tmp_path / "fresh", 1, STUDY))
    told = not_answered(
        Code.PROTOCOL, fresh, STUDY.to_json(), Step(1, 1, "advertise"), begin.to_bytes(1)
    )
    assert "round 1 came before round 0 ended" in told
    fresh.close()


def test_an_agent_that_dropped_out_does_not_take_part_later(agents):
    """A client that never opened the first round does not know over whom the others did."""
    agent = agents.agents[3]

    class Without:
        def exchange(self, step, requests):
            gone = (step.round, step.name) != (0, "advertise")
            asked = {c: r for c, r in requests.items() if c != 3 or not gone}
            return agents.exchange(step, asked)

    found = conduct(STUDY, Without(), rng=5, run=1)
    assert found.survivors == list(STUDY.roster[:3])
    begin = next(request for c, step, request in agents.asked if step.round == 1)
    begin = Begin.open(begin, 0).to_bytes(3)
    not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(1, 1, "advertise"), begin)


def test_an_agent_opens_no_later_round_over_other_survivors(agents):
    """A server that lies about the survivors of a later round gets no share."""
    begin = first_round(agents)
    # The server runs the second round with three of the four: same study, same order.
    round = STUDY.round(1, [begin.order], [0, 1, 2, 3])
    server_side = Server(round, 1)
    requests = {c: changed(begin, c, nonce=server_side.nonce) for c in range(4)}
    for name in ("advertise", "share", "mask"):
        for client, request in requests.items():
            if name == "mask" and client == 3:
                continue
            reply = agents.agents[client].answer(STUDY.to_json(), Step(1, 1, name), request)
            server_side.receive(client, reply)
        requests = server_side.close_step()
    assert sorted(requests) == [0, 1, 2]
    for client, request in requests.items():
        told = not_answered(
            Code.PROTOCOL, agents.agents[client], STUDY.to_json(), Step(1, 1, "unmask"), request
        )
        assert "differ from those of the rounds before" in told


def test_every_run_is_answered_from_the_same_rankings(tmp_path):
    """A ranking that is added meanwhile must not show in the difference of two sums."""
    agents = Agents(tmp_path, seed=None, runs_per_day=9)
    sums = []
    for run in (1, 2):
        sums.append(margins(agents, run, [3, 1, 0, 2]))
        rows = [*RANKS[1], [2, 0, 3, 1]]
        write_ranks(agents.agents[1].config.rankings, LABELS, rows)
    assert sums[0] == sums[1]
    kept = agents.agents[1].store.studies / ALL_PAIRS.digest / "rankings"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert preview(agents.agents[1].config, ALL_PAIRS).rankings == 12
    agents.close()


def test_a_round_is_not_opened_after_a_second_announcement_in_another_run(tmp_path):
    """Two orders are two questions: the second one is refused before anything is given."""
    agents = Agents(tmp_path, runs_per_day=9)
    margins(agents, 1, [3, 1, 0, 2])
    agent = agents.agents[1]
    with pytest.raises(TypeError):  # which is how `margins` fails where all refuse
        margins(agents, 2, [1, 3, 0, 2])
    # The first round of the second run was over the same survivors, and was answered.
    assert agent.store.record(ALL_PAIRS.digest, 2).opened == 1
    step, begin = next(
        (step, request) for client, step, request in agents.asked[::-1] if client == 1
    )
    assert step == Step(2, 1, "advertise")
    told = not_answered(Code.REFUSED, agent, ALL_PAIRS.to_json(), step, begin)
    assert "round 1 was opened in run 1 after another announcement" in told
    agents.close()


ALL_PAIRS = Study(Kemeny(4, 4, window=3, max_samples=15), LABELS, ROSTER, threshold=3)


def margins(agents, run, order):
    """Play the coordinator up to the second sum, and name its margins by their pairs."""
    agents.study = ALL_PAIRS
    for agent in agents.agents:
        policy = dataclasses.replace(agent.config.policy, studies=(ALL_PAIRS.digest,))
        agent.config = dataclasses.replace(agent.config, policy=policy)
    survivors, found = (), None
    for number, announced in enumerate([[], order]):
        orders = [order] if number else []
        round = ALL_PAIRS.round(number, orders, survivors)
        server = Server(round, run)
        given = announced, survivors
        requests = {client: begin_of(server, ALL_PAIRS, client, *given) for client in range(4)}
        for name in STEPS:
            replies = agents.exchange(Step(run, number, name), requests)
            for client, reply in replies.items():
                server.receive(client, reply)
            requests = server.close_step()
        found, survivors = server.result()
    pairs = [(order[i], order[i + d]) for d in (1, 2, 3) for i in range(4 - d)]
    bits = round.scheme.segments[0].bits
    signed = [int(v) - (int(v) >> (bits - 1) << bits) for v in found]
    return {
        (min(a, b), max(a, b)): m if a < b else -m for (a, b), m in zip(pairs, signed, strict=True)
    }


def test_runs_that_got_nothing_leave_no_record(agents):
    agent = agents.agents[0]
    for run in range(40):
        agent.answer(STUDY.to_json(), Step(run, 0, "advertise"), opening(run, STUDY, me=0))
        os.utime(agent.store.session_file(STUDY.digest, run, 0), (0, time.time() - DAY / 2))
    assert files(agent, "runs", STUDY) == []
    assert len(files(agent, "sessions", STUDY)) == BEGUN_SESSIONS
    huge = b"[" + b"{}," * 1_000_000
    not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(99, 0, "advertise"), huge)
    assert not agent.store.session_file(STUDY.digest, 99, 0).exists()


def test_a_record_in_use_is_not_pruned(agents):
    first_round(agents)
    agent = agents.agents[0]
    (record,) = files(agent, "runs", STUDY)
    os.utime(record, (0, time.time() - DAY + 60))
    asked = [(step, request) for client, step, request in agents.asked if client == 0]
    agent.answer(STUDY.to_json(), *asked[-1])
    assert record.stat().st_mtime > time.time() - 60


def test_runs_that_were_opened_cost_nothing(tmp_path):
    agents = Agents(tmp_path, runs_per_day=1)
    first, again = (conduct(STUDY, agents, rng=5, run=run) for run in (1, 2))
    assert first.survivors == again.survivors == list(STUDY.roster)
    assert first.ranks.tobytes() == again.ranks.tobytes()
    agents.close()


def test_a_preview_shows_every_round_that_may_come(tmp_path):
    config = configured(tmp_path, study=STUDY)
    shown = preview(config, STUDY)
    kinds = [(stage, most) for stage, most, _ in shown.rounds]
    assert kinds == [("start", 1), ("refine", 3), ("dispersion", 1)]
    found = federate(DATA, STUDY.method, threshold=3, fit_phi=True, rng=5)
    for each in found.rounds:
        sizes = next(sizes for stage, _, sizes in shown.rounds if stage == each.round.stage)
        assert max(each.bytes_up) <= sum(sizes.values())


def test_agents_answer_rounds_without_a_limit_until_nothing_moves(tmp_path):
    study = Study(Kemeny(4, 4, max_samples=12), LABELS, ROSTER, threshold=3)
    agents = Agents(tmp_path, study, runs_per_day=1)
    found = conduct(study, agents, rng=5, run=1)
    expected = federate(DATA, study.method, threshold=3, rng=5)
    assert found.ranks.tobytes() == expected.ranks.tobytes()
    assert len(found.rounds) == len(expected.rounds) > 1
    assert found.converged is expected.converged is True
    # Nothing moved, so an honest server stops; another one gets no pair twice.
    round = len(found.rounds)
    last = tuple(found.order.tolist())
    again = study.round(round, [last] * round, found.in_sum.nonzero()[0].tolist())
    assert again.scheme.segments == ()
    agents.close()


def test_a_preview_says_how_many_rounds_there_can_be_without_a_limit(tmp_path):
    study = Study(Kemeny(4, 4, max_samples=12), LABELS, ROSTER)
    shown = preview(configured(tmp_path, study=study), study)
    kinds = [(stage, most) for stage, most, _ in shown.rounds]
    assert kinds == [("start", 1), ("refine", 1), ("refine", MAX_ROUNDS - 1)]
    # Neighbours first, 3 entries of 7 bits; then at most all 6 pairs.
    masks = [sizes["mask"] for _, _, sizes in shown.rounds]
    assert masks[2] - masks[1] == 6 - 3
    with pytest.raises(ValueError, match="has no round 101"):
        study.round(MAX_ROUNDS + 1, [[0, 1, 2, 3]] * (MAX_ROUNDS + 1), stage="refine")
