"""What an agent keeps on disk, for how long, and for whom."""

import json
import os
import time

import numpy as np
import pytest

from fedrank import Borda, Study
from fedrank.agent import Agent, Code, preview
from fedrank.agent import agent as answering
from fedrank.agent.socket import respond
from fedrank.agent.store import DAY, Store
from fedrank.exceptions import InputError
from fedrank.protocol.secagg import STEPS
from fedrank.transport import Step
from helpers.agents import LABELS, RANKS, ROSTER, STUDY, Federation, configured, not_answered


def test_nothing_is_given_before_it_is_on_the_disk(agent, monkeypatch):
    federation = Federation(agent).until("mask")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(Store, "save_state", fail)
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "round": 0, "step": "mask"}).encode()
    assert respond(agent, asked + b"\n" + federation.requests[1]) == b"error\n"
    # It counts all the same: nobody can know that it did not leave.
    assert len(agent.store.ledger()) == 1


def test_two_agents_cannot_hold_one_store(agent):
    with pytest.raises(ValueError, match="in use by an agent"):
        Agent(agent.config)
    agent.close()
    Agent(agent.config).close()


def test_states_that_nobody_used_for_a_day_are_deleted(agent):
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), b"")
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), b"")
    assert old not in list(agent.store.sessions.iterdir())


@pytest.mark.parametrize("restart", [True, False])
def test_they_are_deleted_at_the_start_and_at_a_refused_request_too(agent, restart):
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), b"")
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    if restart:
        agent.close()
        Agent(agent.config).close()
    else:
        not_answered(Code.REFUSED, agent, "{}", Step(9, 0, "share"), b"")
    assert not old.exists()


def test_of_sessions_without_a_masked_input_only_the_newest_are_kept(tmp_path):
    agent = Agent(configured(tmp_path, runs_per_day=1))
    Federation(agent, number=0).finish()
    (masked,) = agent.store.sessions.iterdir()
    os.utime(masked, (0, time.time() - DAY / 2))  # the oldest, and kept
    (line,) = agent.store.ledger()
    agent.store.ledger_file.write_text(json.dumps(line | {"time": line["time"] - DAY}) + "\n")
    most = answering.BEGUN_SESSIONS + 1
    for number in range(1, most + 4):
        agent.answer(STUDY.to_json(), Step(number, 0, "advertise"), b"")
        made = agent.store.sessions / answering.session_name(STUDY, Step(number, 0, ""))
        os.utime(made, (0, time.time() - 1000 + number))
    kept = {file.name for file in agent.store.sessions.iterdir()}
    newest = {answering.session_name(STUDY, Step(number, 0, "")) for number in range(4, most + 4)}
    assert kept == newest | {masked.name}
    agent.close()


def test_what_a_killed_process_left_half_written_is_deleted(agent):
    agent.close()
    halves = [
        folder / ".name.123.part"
        for folder in (agent.config.folder, agent.store.sessions, agent.store.snapshots)
    ]
    for half in halves:
        half.write_bytes(b"secret")
    Agent(agent.config).close()
    assert not any(half.exists() for half in halves)


def test_no_file_that_can_be_deleted_keeps_a_second_agent_out(agent):
    for file in agent.config.folder.iterdir():
        if file.is_file():
            file.unlink()
    with pytest.raises(ValueError, match="in use by an agent"):
        Agent(agent.config)


def test_the_ledgers_times_never_go_back(tmp_path, monkeypatch):
    store = Store(tmp_path / "state")
    clock = iter([5000.0, 1000.0, 7000.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    for number in range(3):
        store.enter(str(number), str(number), STUDY.digest, number, 0)
    assert [line["time"] for line in store.ledger()] == [5000.0, 5000.0, 7000.0]


@pytest.mark.parametrize("step", STEPS)
def test_a_run_whose_state_was_deleted_is_over(agent, step):
    federation = Federation(agent)
    asked = {}
    for each in STEPS:
        asked[each] = federation.requests[1]
        federation.step(each)
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), b"")
    assert not old.exists()
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(1, 0, step), asked[step])
    assert "this run is over" in told
    assert len(agent.store.ledger()) == 1


def test_a_folder_that_others_can_read_is_refused(tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)
    with pytest.raises(InputError, match="other users can read the folder; run chmod 700"):
        Store(tmp_path / "state")


@pytest.mark.parametrize("line", ["", "{", "[]", '{"session": "a"}', "7"])
def test_a_damaged_line_of_the_ledger_is_refused_and_named(tmp_path, line):
    store = Store(tmp_path / "state")
    store.enter("run", "session", STUDY.digest, 1, 0)
    with store.ledger_file.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match="line 2: this is not a line of the ledger") as caught:
        store.ledger()
    assert (caught.value.file, caught.value.line) == (str(store.ledger_file), 2)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"begins": [], "opened": 3, "survivors": null}'])
def test_a_damaged_record_of_a_run_is_refused_and_named(tmp_path, text):
    store = Store(tmp_path / "state")
    (store.runs / "run").write_text(text)
    with pytest.raises(InputError, match="the record of the run is damaged") as caught:
        store.record("run")
    assert caught.value.file == str(store.runs / "run")


def test_a_message_is_kept_with_the_width_of_the_scheme(tmp_path):
    study = Study(Borda(4, 4, send="sums", max_samples=2**40), LABELS, ROSTER)
    config = configured(tmp_path, study=study)
    message = preview(config, study).message
    assert message.tolist() == np.sum(RANKS[1], axis=0).tolist()
    assert preview(config, study).message.tolist() == message.tolist()
