"""One opened sum per study and round, over all runs, whatever is asked, killed or put back."""

import hashlib
import os
import shutil
import threading
import time
from dataclasses import replace

import pytest

from fedrank import Study, conduct
from fedrank.agent import Agent, Code, preview
from fedrank.agent.ledger import MASK, Ledger
from fedrank.agent.store import Store
from fedrank.exceptions import RefusalError, RunFailedError
from fedrank.protocol.secagg import Server
from fedrank.schemes import Borda
from fedrank.transport import Lost, Step
from helpers.agents import (
    LABELS,
    ROSTER,
    STUDY,
    Federation,
    configured,
    files,
    not_answered,
    opening,
)
from helpers.command import write_ranks


class Parties:
    """All clients of a study behind agents, some of them absent from the step of the message."""

    def __init__(self, folder, study=STUDY, **limits):
        self.study, self.absent, self.refused = study, (), []
        limits = {"runs_per_day": 9} | limits
        self.agents = [Agent(configured(folder / str(c), c, study, **limits)) for c in range(4)]

    def exchange(self, step, requests):
        replies = {}
        for client, request in requests.items():
            if step.name == "mask" and client in self.absent:
                continue
            try:
                replies[client] = self.agents[client].answer(self.study.to_json(), step, request)
            except RefusalError as refusal:
                self.refused.append((client, step, str(refusal)))
                replies[client] = Lost(refusal.code.value)
        return replies

    def close(self):
        for agent in self.agents:
            agent.close()


@pytest.fixture
def parties(tmp_path):
    made = Parties(tmp_path)
    yield made
    made.close()


def test_a_second_sum_without_one_client_would_be_its_message(parties):
    """The attack, and that the agents do not play along."""
    first = conduct(STUDY, parties, rng=1, run=1)
    parties.absent = (3,)
    with pytest.raises(RunFailedError, match="refused"):
        conduct(STUDY, parties, rng=1, run=2)
    assert {step.name for _, step, _ in parties.refused} == {"unmask"}
    assert first.survivors == ROSTER
    for _, _, told in parties.refused:
        assert "round 0 was opened in run 1, and is asked for without 3" in told


def test_a_second_sum_with_one_more_client_is_refused_too(parties):
    parties.absent = (3,)
    assert conduct(STUDY, parties, rng=1, run=1).survivors == ROSTER[:3]
    parties.absent = ()
    with pytest.raises(RunFailedError):
        conduct(STUDY, parties, rng=1, run=2)
    assert any("asked for with 3" in told for _, _, told in parties.refused)


def test_a_second_run_over_the_same_survivors_is_answered(parties):
    first, again = (conduct(STUDY, parties, rng=1, run=run) for run in (1, 2))
    assert (first.ranks.tolist(), first.survivors) == (again.ranks.tolist(), again.survivors)
    opened = [entry for entry in parties.agents[0].store.ledger().entries if entry.survivors]
    assert [(each.run, each.survivors) for each in opened] == [(1, (0, 1, 2, 3)), (2, (0, 1, 2, 3))]
    assert len({each.digest for each in opened}) == 1


def test_of_two_runs_at_once_the_first_that_opens_fixes_the_list(agent):
    first, second = (Federation(agent, number=run).until("mask") for run in (1, 2))
    first.step("mask")
    second.step("mask", but=[3])
    request = first.requests[1]
    assert second.step("unmask")  # over 0, 1, 2
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(1, 0, "unmask"), request)
    assert "round 0 was opened in run 2, and is asked for with 3" in told
    agent.close()
    again = Agent(agent.config)  # a restart changes nothing
    not_answered(Code.REFUSED, again, STUDY.to_json(), Step(1, 0, "unmask"), request)
    again.close()


def test_of_two_threads_at_once_only_one_fixes_the_list(agent, monkeypatch):
    first, second = (Federation(agent, number=run).until("mask") for run in (1, 2))
    first.step("mask")
    second.step("mask", but=[3])
    check, told = Ledger.check_opening, []

    def slowly(*arguments):
        check(*arguments)
        time.sleep(0.2)  # both have looked before one has written

    monkeypatch.setattr(Ledger, "check_opening", slowly)

    def answer(federation):
        step = Step(federation.number, 0, "unmask")
        try:
            agent.answer(STUDY.to_json(), step, federation.requests[1])
        except RefusalError as refusal:
            told.append(str(refusal))

    threads = [threading.Thread(target=answer, args=[each]) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1
    assert "round 0 was opened in run" in told[0]


def test_a_copy_of_the_process_gives_nothing(agent):
    """It has the lock, too, and goes on from the same state."""
    child = os.fork()
    if child == 0:
        try:
            agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
        except RefusalError as refusal:
            os._exit(7 if "this is a copy of it" in str(refusal) else 8)
        except BaseException:
            os._exit(9)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_same_round_of_another_study_is_another_one(tmp_path):
    other = Study(Borda(4, 4, send="centroids"), LABELS, ROSTER)
    agent = Agent(configured(tmp_path, studies=(STUDY.digest, other.digest)))
    assert Federation(agent).finish()[1] == [0, 1, 2, 3]
    federation = Federation(agent, other).until("mask")
    federation.step("mask", but=[3])
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2]
    agent.close()


def crash(monkeypatch, agent, step, request, number=1):
    """Die after the ledger is written, and before the session is; return a new agent."""

    def die(*_):
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save_session", die)
        patch.setattr(Store, "save_record", die)
        with pytest.raises(OSError, match="killed"):
            agent.answer(STUDY.to_json(), Step(number, 0, step), request)
    agent.close()
    return Agent(agent.config)


def test_after_a_crash_between_ledger_and_session_only_the_same_request_is_answered(
    agent, monkeypatch
):
    federation = Federation(agent).until("mask")
    other = other_delivery(federation)
    federation.agent = crash(monkeypatch, agent, "mask", federation.requests[1])
    told = not_answered(Code.REFUSED, federation.agent, STUDY.to_json(), Step(1, 0, "mask"), other)
    assert "the saved session is older than the ledger" in told
    assert "mask was answered to another request" in told
    federation.step("mask")
    federation.agent = crash(monkeypatch, federation.agent, "unmask", federation.requests[1])
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2, 3]
    federation.agent.close()


def other_delivery(federation):
    """A second message of the step `mask` to the agent, of the same session: without client 3."""
    server = Server.resume(federation.round, federation.server_before["share"])
    for client in range(3):
        server.receive(client, federation.replied["share"][client])
    return server.close_step()[1]


@pytest.mark.parametrize("step", ["share", "mask"])
def test_an_older_session_beside_a_newer_ledger_gets_the_same_bytes_or_nothing(agent, step):
    federation = Federation(agent).until(step)
    (session,) = files(agent, "sessions")
    old = session.read_bytes()
    for each in ("share", "mask", "unmask")[("share", "mask").index(step) :]:
        federation.step(each)
    session.write_bytes(old)
    # What was asked then, and another one of the same step.
    asked, given = federation.asked[step][1], federation.replied[step][1]
    foreign = Federation(agent, number=2).until(step).requests[1]
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(1, 0, step), foreign)
    assert "was an older file put back?" in told
    assert agent.answer(STUDY.to_json(), Step(1, 0, step), asked) == given


def test_rankings_that_are_not_those_of_the_first_message_are_not_answered_from(agent):
    """Kept rankings of before, put back: a second message for the same study."""
    kept = agent.store.studies / STUDY.digest / "rankings"
    preview(agent.config, STUDY)
    old = kept.read_bytes()
    agent.store.forget(STUDY.digest)
    write_ranks(agent.config.rankings, LABELS, [[3, 2, 1, 0], [2, 3, 0, 1]] * 6)
    Federation(agent).finish()
    kept.write_bytes(old)
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert "the kept rankings are not those that it was answered from" in told


def test_runs_over_a_list_that_is_opened_already_count(parties):
    """Their sums tell nothing new, but each adds lines to the ledger, which nobody can delete."""
    for agent in parties.agents:
        limited = replace(agent.config.policy, runs_per_day=2)
        agent.config = replace(agent.config, policy=limited)
    for run in (1, 2, 3):
        assert conduct(STUDY, parties, rng=1, run=run).survivors == ROSTER
    with pytest.raises(RunFailedError):
        conduct(STUDY, parties, rng=1, run=4)
    assert all("runs_per_day = 2" in told for _, _, told in parties.refused)
    assert len(parties.agents[0].store.ledger().entries) == 6


def test_the_ledger_is_read_once_and_written_line_by_line(agent, monkeypatch):
    read, at = Ledger.read, []
    monkeypatch.setattr(Ledger, "read", lambda *given: at.append(given[2]) or read(*given))
    for run in (1, 2):
        Federation(agent, number=run).finish()
    assert len(agent.store.ledger().entries) == 4
    assert at == []
    place = agent.store.ledger_file.stat().st_ino
    Federation(agent, number=3).finish()
    assert agent.store.ledger_file.stat().st_ino == place
    again = Store(agent.config.folder)
    again.ledger(), again.ledger()
    assert at == [1, 2, 3, 4, 5, 6]


def test_a_sum_that_cannot_be_decoded_costs_no_run_and_leaves_the_round_opened(tmp_path):
    """One client's values beyond their range spoil the sum; people must find out whose."""
    study = Study(Borda(4, 4, send="sums", max_samples=15), LABELS, ROSTER)
    parties = Parties(tmp_path, study, runs_per_day=2)
    for run in (1, 2):
        with pytest.raises(RunFailedError) as failed:
            conduct(study, Spoiled(parties), rng=1, run=run)
        assert failed.value.code == "total"
    # Without the culprit it would be another sum.
    parties.absent = (3,)
    with pytest.raises(RunFailedError) as failed:
        conduct(study, Spoiled(parties), rng=1, run=3)
    assert failed.value.code == "few"
    assert all("asked for without 3" in told for _, _, told in parties.refused)
    parties.close()


class Spoiled:
    """A transport whose server changes a masked message: the sum is then wrong by as much."""

    def __init__(self, parties):
        self.parties = parties

    def exchange(self, step, requests):
        replies = dict(self.parties.exchange(step, requests))
        if step.name == "mask" and 0 in replies:
            replies[0] = spoiled(replies[0])
        return replies


def spoiled(reply):
    changed = reply[:36] + bytes([reply[36] ^ 0x3F]) + reply[37:-4]
    return changed + hashlib.sha256(changed).digest()[:4]


def test_a_study_that_is_closed_is_not_answered_again(agent):
    federation = Federation(agent).until("mask")
    request = federation.requests[1]
    federation.step("mask")
    agent.store.close(STUDY.digest)
    for step, asked in (("mask", request), ("unmask", federation.requests[1])):
        told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(1, 0, step), asked)
        assert "its owner has closed the study for ever" in told
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert files(agent, "sessions") == files(agent, "runs") == []
    assert agent.store.rankings(STUDY.digest) is None
    # Its file being there again changes nothing, nor does allowing it.
    agent.store.allow(STUDY.digest, STUDY.to_json())
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    agent.close()
    again = Agent(agent.config)
    not_answered(Code.REFUSED, again, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    again.close()
    assert preview(agent.config, STUDY).objection == "its owner has closed the study for ever"


def put_back(agent, ledger, again):
    """Put an older ledger back; the agent goes on, or is started again."""
    if again:
        agent.close()
    agent.store.ledger_file.write_bytes(ledger)
    return Agent(agent.config) if again else agent


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("lines", [0, 1])
def test_an_older_ledger_beside_newer_files_is_refused_in_every_run(agent, again, lines):
    Federation(agent).finish()
    whole = agent.store.ledger_file.read_bytes()
    older = b"".join(whole.splitlines(True)[:lines])
    other = put_back(agent, older, again)
    told = not_answered(Code.REFUSED, other, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert "does not begin with the 2 lines that it had before" in told
    assert "give up all studies" in told
    other = put_back(other, whole, again)
    assert other.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    other.close()


def test_an_older_ledger_that_has_grown_since_is_refused_too(agent):
    Federation(agent).finish()
    agent.close()
    agent.store.ledger_file.write_bytes(b"")
    for run in range(3):
        Store(agent.config.folder).ledger().enter("abc", MASK, run=run, round=0)
    again = Agent(agent.config)
    not_answered(Code.REFUSED, again, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    again.close()


def test_a_closed_study_stays_closed_under_an_older_ledger(agent):
    Federation(agent).finish()
    older = agent.store.ledger_file.read_bytes()
    agent.store.close(STUDY.digest)
    agent = put_back(agent, older, again=True)
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert "does not begin with the 3 lines" in told
    agent.close()


@pytest.mark.parametrize("content", [None, b"", b"1", b"x y\n", b"-1 y\n"])
def test_a_head_that_is_gone_or_damaged_is_refused(agent, content):
    Federation(agent).finish()
    head = agent.store.studies / STUDY.digest / "head"
    head.unlink()
    if content is not None:
        head.write_bytes(content)
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))


def test_a_ledger_that_is_deleted_or_damaged_while_the_agent_runs_is_refused(agent):
    Federation(agent).finish()
    whole = agent.store.ledger_file.read_bytes()
    for content, told in ((None, "is gone"), (b"x\n", "this is not a line of the ledger")):
        agent.store.ledger_file.unlink()
        if content is not None:
            agent.store.ledger_file.write_bytes(content)
        found = not_answered(Code.ERROR, agent, STUDY.to_json(), Step(2, 0, "advertise"), b"")
        assert told in found
        assert "give up all studies" in found
        agent.store.ledger_file.write_bytes(whole)
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))


def test_after_a_crash_between_line_and_head_the_study_goes_on(agent, monkeypatch):
    federation = Federation(agent).until("mask")

    def die(*_, **__):
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep_head", die)
        with pytest.raises(OSError, match="killed"):
            agent.answer(STUDY.to_json(), Step(1, 0, "mask"), federation.requests[1])
    agent.close()
    federation.agent = Agent(agent.config)
    federation.step("mask")
    federation.step("unmask")
    assert federation.server.result()[1] == [0, 1, 2, 3]
    federation.agent.close()


def test_a_whole_folder_that_is_put_back_cannot_be_noticed(agent, tmp_path):
    """Kept as a test of the limit that the documentation names: such a client is a colluder."""
    agent.close()
    shutil.copytree(agent.config.folder, tmp_path / "backup")
    agent = Agent(agent.config)
    Federation(agent).finish()
    agent.close()
    shutil.rmtree(agent.config.folder)
    shutil.copytree(tmp_path / "backup", agent.config.folder)
    agent = Agent(agent.config)
    federation = Federation(agent, number=2).until("mask")
    federation.step("mask", but=[3])
    assert federation.step("unmask")
    agent.close()
