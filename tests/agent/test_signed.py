"""Agents in studies with identities: envelopes, signatures, and one confirmed list."""

import hashlib
import os
import time
from dataclasses import replace

import pytest

from fedrank import Borda, Identity, Kemeny, Rankings, Study, conduct, federate
from fedrank.agent import Agent, Code, preview
from fedrank.agent.ledger import CONFIRM, CONFIRMED, DAY, MASK, UNMASK, Ledger
from fedrank.agent.store import Store
from fedrank.exceptions import RefusalError
from fedrank.protocol.envelope import Envelopes, envelopes
from fedrank.protocol.secagg import Begin, Client, Server
from fedrank.transport import Lost, Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    Federation,
    begin_of,
    configured,
    files,
    not_answered,
    with_key,
)
from helpers.identities import PARTIES, with_identities

OWNER = PARTIES[4]
KEYS = PARTIES[:5]
ROSTER_OF_KEYS = with_identities(ROSTER)
BORDA = Study(Borda(4, 4), LABELS, ROSTER_OF_KEYS, coordinator=OWNER.public)
KEMENY = Study(
    Kemeny(4, 4, window=1, rounds=2, max_samples=12),
    LABELS,
    ROSTER_OF_KEYS,
    coordinator=OWNER.public,
)


def agent_of(folder, me=1, study=BORDA, **limits):
    limits = {"allow_unsigned": False} | limits
    return Agent(with_key(configured(folder, me, study, **limits), PARTIES[me]))


@pytest.fixture
def agent(tmp_path):
    made = agent_of(tmp_path)
    yield made
    made.close()


def federation_of(agent, number=1):
    return Federation(agent, BORDA, number, KEYS)


class Parties:
    """All clients behind agents with keys; some are not asked some steps of some rounds."""

    def __init__(self, folder, study, **limits):
        self.study, self.gone, self.asked = study, {}, []
        limits = {"seed": 5} | limits
        self.agents = [agent_of(folder / str(c), c, study, **limits) for c in range(4)]

    def exchange(self, step, requests):
        replies = {}
        for client, request in requests.items():
            if client in self.gone.get((step.round, step.name), ()):
                continue
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
def parties(tmp_path):
    made = Parties(tmp_path, KEMENY)
    yield made
    made.close()


def test_signed_studies_behind_agents_give_what_one_process_does(parties):
    found = conduct(KEMENY, parties, rng=5, run=1, identity=OWNER)
    data = [Rankings(ranks, LABELS) for ranks in RANKS]
    expected = federate(data, KEMENY.method, threshold=KEMENY.threshold, rng=5)
    assert found.ranks.tobytes() == expected.ranks.tobytes()
    assert len(found.rounds) > 1
    for agent in parties.agents:
        entered = [(each.round, each.step) for each in agent.store.ledger().entries]
        rounds = range(len(found.rounds))
        assert entered == [(k, step) for k in rounds for step in (MASK, CONFIRM, UNMASK)]
    # What the preview says that leaves is what leaves.
    sizes = {stage: each for stage, _, each in preview(parties.agents[0].config, KEMENY).rounds}
    assert found.rounds[0].bytes_up.tolist() == [sum(sizes["start"].values())] * 4


def test_every_step_may_be_asked_again_by_a_new_agent(parties):
    conduct(KEMENY, parties, rng=5, run=1, identity=OWNER)
    asked, configs = list(parties.asked), [agent.config for agent in parties.agents]
    replies = [parties.agents[c].answer(KEMENY.to_json(), step, r) for c, step, r in asked]
    parties.close()
    parties.agents = [Agent(config) for config in configs]
    again = [parties.agents[c].answer(KEMENY.to_json(), step, r) for c, step, r in asked]
    assert again == replies


def test_what_the_coordinator_did_not_seal_is_refused_and_costs_nothing(agent):
    text, first = BORDA.to_json(), Step(1, 0, "advertise")
    server = Server(BORDA.round(0), 1)
    begin, place = begin_of(server, BORDA, 1), (bytes.fromhex(BORDA.round(0).digest),)
    stranger = Identity.generate()
    forged = Envelopes(stranger, None, BORDA.identities, stranger.public)
    ours = envelopes(BORDA, None, OWNER)
    seal = ours.seal
    session = server.session
    for blob in (
        begin,
        forged.seal(begin, "advertise", *place, session, client=1),
        seal(begin, "share", *place, session, client=1),
        seal(begin, "advertise", *place, bytes(32), client=1),  # another session outside
        seal(begin, "advertise", bytes(32), session, client=1),
        seal(begin_of(server, BORDA, 0), "advertise", *place, session, client=0),
        seal(begin_of(server, BORDA, 0), "advertise", *place, session, client=1),
        seal(begin, "advertise", *place, session, client=1)[:-1],
    ):
        not_answered(Code.PROTOCOL, agent, text, first, blob)
    good = seal(begin, "advertise", *place, session, client=1)
    not_answered(Code.PROTOCOL, agent, text, Step(2, 0, "advertise"), good)  # of another run
    assert files(agent, "sessions", BORDA) == []
    assert agent.store.ledger().entries == []
    agent.answer(text, first, good)


def test_a_coordinator_that_plays_all_other_clients_gets_no_masked_input(agent):
    """It has no signatures of them: the agent refuses the whole delivery."""
    round = BORDA.round(0)
    server = Server(round, 1)
    place, ours = bytes.fromhex(round.digest), envelopes(BORDA, None, OWNER)
    played = {c: Client(round, c, server.session, PARTIES[c]) for c in (0, 2, 3)}

    def asks(step, message):
        blob = ours.seal(message, step, place, server.session, client=1)
        reply = agent.answer(BORDA.to_json(), Step(1, 0, step), blob)
        return ours.open(reply, step, place, server.session, client=1)

    server.receive(1, asks("advertise", begin_of(server, BORDA, 1)))
    for client, each in played.items():
        server.receive(client, each.advertise())
    requests = server.close_step()
    server.receive(1, asks("share", requests[1]))
    for client, each in played.items():
        server.receive(client, each.share(requests[client]))
    delivery = server.close_step()[1]
    # Here the coordinator has everybody's keys. Without those of client 0 it can only invent.
    entries, size = delivery[36:-4], 114 + 64
    invented = entries[: size - 64] + bytes(64) + entries[size:]
    forged = delivery[:36] + invented
    forged += hashlib.sha256(forged).digest()[:4]
    with pytest.raises(RefusalError) as refused:
        asks("mask", forged)
    assert "the signature of client 0, sent by the server, is wrong" in str(refused.value)
    assert refused.value.code is Code.PROTOCOL
    assert agent.store.ledger().entries == []


def other_list(federation):
    """Survivors without client 3, from a server that is taken back to before it closed `mask`."""
    server = Server.resume(federation.round, federation.server_before["mask"])
    for client in (0, 1, 2):
        place = "mask", bytes.fromhex(federation.round.digest), federation.server.session
        reply = federation.replied["mask"][client]
        server.receive(client, federation.coordinator.open(reply, *place, client=client))
    return federation.sealed(server.close_step(), "confirm")[1]


def test_one_list_is_confirmed_over_all_runs_and_after_a_restart(agent):
    federation, second = (federation_of(agent, number) for number in (1, 2))
    federation.until("confirm")
    second.until("mask")
    second.step("mask", but=[3])
    other, text = other_list(federation), BORDA.to_json()
    again = federation.requests[1]
    reply = federation.step("confirm")
    agent.close()
    agent = Agent(agent.config)
    # Of the same session, and of another run.
    not_answered(Code.REFUSED, agent, text, Step(1, 0, "confirm"), other)
    told = not_answered(Code.REFUSED, agent, text, Step(2, 0, "confirm"), second.requests[1])
    assert "round 0 was opened in run 1, and is asked for without 3" in told
    assert agent.answer(text, Step(1, 0, "confirm"), again) == reply
    # A retry goes on with the first session only.
    federation.agent = agent
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2, 3]
    agent.close()


def killed(monkeypatch, agent, step, request):
    """Die after the ledger is written, and before anything else is; return a new agent."""

    def die(*_):
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save_session", die)
        patch.setattr(Store, "save_record", die)
        with pytest.raises(OSError, match="killed"):
            agent.answer(BORDA.to_json(), Step(1, 0, step), request)
    agent.close()
    return Agent(agent.config)


@pytest.mark.parametrize("step", ["mask", "confirm", "unmask"])
def test_after_a_crash_between_ledger_and_session_the_same_request_is_answered(
    agent, monkeypatch, step
):
    federation = federation_of(agent).until(step)
    federation.agent = killed(monkeypatch, agent, step, federation.requests[1])
    if step == "confirm":
        other = other_list(federation)
        told = not_answered(
            Code.REFUSED, federation.agent, BORDA.to_json(), Step(1, 0, step), other
        )
        assert "confirm was answered to another request" in told
    for each in BORDA.steps[BORDA.steps.index(step) :]:
        federation.step(each)
    assert federation.server.result()[1] == [0, 1, 2, 3]
    federation.agent.close()


def test_between_confirm_and_unmask_a_session_waits_for_as_long_as_it_takes(agent):
    federation = federation_of(agent).until("unmask")
    for kind in ("sessions", "runs"):
        for file in files(agent, kind, BORDA):
            os.utime(file, (0, time.time() - 30 * DAY))
    agent.close()
    federation.agent = Agent(agent.config)
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2, 3]
    for kind in ("sessions", "runs"):
        for file in files(agent, kind, BORDA):
            os.utime(file, (0, time.time() - 30 * DAY))
    federation.agent.store.prune()
    assert files(agent, "sessions", BORDA) == files(agent, "runs", BORDA) == []
    federation.agent.close()


def test_an_older_session_is_noticed_beside_a_newer_ledger_and_the_other_way_round(
    agent, monkeypatch
):
    federation = federation_of(agent).until("confirm")
    (session,) = files(agent, "sessions", BORDA)
    ledger = agent.store.ledger_file
    old, old_ledger = session.read_bytes(), ledger.read_bytes()
    other, request, text = other_list(federation), federation.requests[1], BORDA.to_json()
    federation.step("confirm")
    newer, newer_ledger = session.read_bytes(), ledger.read_bytes()
    session.write_bytes(old)
    told = not_answered(Code.REFUSED, agent, text, Step(1, 0, "confirm"), other)
    assert "was an older file put back?" in told
    assert agent.answer(text, Step(1, 0, "confirm"), request)
    session.write_bytes(newer)
    ledger.write_bytes(old_ledger)
    told = not_answered(Code.REFUSED, agent, text, Step(1, 0, "confirm"), request)
    assert "does not begin with the 2 lines that it had before: was an older file put back" in told
    monkeypatch.setattr(Ledger, "check_extends", lambda *_: None)
    told = not_answered(Code.REFUSED, agent, text, Step(1, 0, "confirm"), request)
    assert "the ledger is older than the saved session, which answered confirm" in told
    ledger.write_bytes(newer_ledger)
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2, 3]


def test_a_survivor_that_missed_the_end_of_a_round_believes_enough_signatures(parties):
    parties.gone = {(0, "confirm"): (3,), (0, "unmask"): (3,)}
    found = conduct(KEMENY, parties, rng=5, run=1, identity=OWNER)
    assert found.survivors == list(ROSTER)
    assert len(found.rounds) > 1
    agent = parties.agents[3]
    entries = [(each.round, each.step) for each in agent.store.ledger().entries]
    assert entries[:2] == [(0, MASK), (0, CONFIRMED)]
    seen = agent.store.ledger().opened(KEMENY.digest, 0)
    assert seen.survivors == (0, 1, 2, 3)
    # The round is opened for it as for the others: no other list, in whatever run.
    parties.gone = {(0, "mask"): (0,)}
    with pytest.raises(ValueError, match="refused"):
        conduct(KEMENY, parties, rng=5, run=2, identity=OWNER)
    assert agent.store.ledger().opened(KEMENY.digest, 0) == seen


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("few", "only 2 clients confirmed the survivors; the threshold is 3"),
        ("none", "round 1 came before round 0 ended"),
        ("others", "a client that confirmed is not among the survivors"),
        ("swapped", "the signature of client 0, sent by the server, is wrong"),
    ],
)
def test_a_survivor_that_missed_the_end_believes_nothing_less(parties, change, why):
    parties.gone = {(0, "confirm"): (3,), (0, "unmask"): (3,), (1, "advertise"): (3,)}
    conduct(KEMENY, parties, rng=5, run=1, identity=OWNER)
    asked = next(r for c, step, r in parties.asked if (step.round, c) == (1, 0))
    _, body = envelopes(KEMENY, 0, PARTIES[0]).open_begin(asked)
    begin = Begin.open(body, 0)
    names = ("study", "run", "round", "nonce", "stage", "order", "previous")
    values = {name: getattr(begin, name) for name in names}
    signed = begin.confirmations
    changed = Begin(
        **values,
        survivors=[0, 1, 3] if change == "others" else begin.survivors,
        confirmations={
            "few": signed[:-1],
            "swapped": [(signed[0][0], signed[1][1]), *signed[1:]],
            "none": [],
            "others": signed,
        }[change],
    )
    place = changed.round_digest(), changed.session()
    ours = envelopes(KEMENY, None, OWNER)
    agent = parties.agents[3]
    blob = ours.seal(changed.to_bytes(3), "advertise", *place, client=3)
    told = not_answered(Code.PROTOCOL, agent, KEMENY.to_json(), Step(1, 1, "advertise"), blob)
    assert why in told
    assert agent.store.ledger().opened(KEMENY.digest, 0) is None
    good = ours.seal(
        begin.to_bytes(3), "advertise", begin.round_digest(), begin.session(), client=3
    )
    assert agent.answer(KEMENY.to_json(), Step(1, 1, "advertise"), good)


def next_round(parties):
    """Let client 3 miss the end of the first round; return what opens the next one for it."""
    parties.gone = {(0, "confirm"): (3,), (0, "unmask"): (3,), (1, "advertise"): (3,)}
    conduct(KEMENY, parties, rng=5, run=1, identity=OWNER)
    asked = next(r for c, step, r in parties.asked if (step.round, c) == (1, 0))
    begin = Begin.open(envelopes(KEMENY, 0, PARTIES[0]).open_begin(asked)[1], 0)
    place = "advertise", begin.round_digest(), begin.session()
    return envelopes(KEMENY, None, OWNER).seal(begin.to_bytes(3), *place, client=3)


def test_a_survivor_that_missed_the_end_keeps_to_its_own_ledger_and_policy(parties):
    blob, agent = next_round(parties), parties.agents[3]
    text, first, config = KEMENY.to_json(), Step(1, 1, "advertise"), agent.config
    agent.config = replace(config, policy=replace(config.policy, min_survivors=5))
    told = not_answered(Code.REFUSED, agent, text, first, blob)
    assert "4 survivors are fewer than min_survivors = 5" in told
    agent.config = config
    opened = {"digest": KEMENY.round(0).digest, "survivors": (1, 2, 3)}
    agent.store.ledger().enter(KEMENY.digest, CONFIRM, run=9, round=0, **opened)
    told = not_answered(Code.REFUSED, agent, text, first, blob)
    assert "round 0 was opened in run 9, and is asked for with 0" in told
