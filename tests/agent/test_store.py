"""What an agent keeps on disk, for how long, and for whom."""

import json
import os
import shutil
import time

import numpy as np
import pytest

from fedrank import Borda, Study
from fedrank.agent import Agent, Code, make_store, preview
from fedrank.agent.agent import PRUNE_SECONDS
from fedrank.agent.ledger import CLOSED, CONFIRM, DAY, MASK, UNMASK, WAITING_SESSIONS, Ledger
from fedrank.agent.snapshot import kept_snapshot
from fedrank.agent.socket import respond
from fedrank.agent.store import BEGUN_SESSIONS, Session, Store
from fedrank.exceptions import InputError, RefusalError
from fedrank.protocol.identity import Identity
from fedrank.protocol.record import Record
from fedrank.protocol.secagg import STEPS
from fedrank.transport import Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    STUDY,
    Federation,
    configured,
    files,
    not_answered,
    opening,
)


def test_nothing_is_given_before_it_is_on_the_disk(agent, monkeypatch):
    federation = Federation(agent).until("mask")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(Store, "save_session", fail)
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "round": 0, "step": "mask"}).encode()
    assert respond(agent, asked + b"\n" + federation.requests[1]) == b"error\n"
    # It counts all the same: nobody can know that it did not leave.
    assert len(agent.store.ledger().entries) == 1


def test_two_agents_cannot_hold_one_store(agent):
    with pytest.raises(ValueError, match="in use by an agent"):
        Agent(agent.config)
    agent.close()
    Agent(agent.config).close()


def test_states_that_nobody_used_for_a_day_are_deleted(agent):
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    (old,) = files(agent, "sessions")
    os.utime(old, (0, time.time() - DAY - 1))
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert old in files(agent, "sessions")  # it looks once a minute
    agent.pruned -= PRUNE_SECONDS
    not_answered(Code.REFUSED, agent, "{}", Step(9, 0, "share"), b"")
    assert old in files(agent, "sessions")  # and not for anybody
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert old not in files(agent, "sessions")


def test_they_are_deleted_at_the_start_too(agent):
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    (old,) = files(agent, "sessions")
    os.utime(old, (0, time.time() - DAY - 1))
    agent.close()
    Agent(agent.config).close()
    assert not old.exists()


def test_of_sessions_without_a_masked_input_only_the_newest_are_kept(agent):
    Federation(agent, number=0).finish()
    (masked,) = files(agent, "sessions")
    os.utime(masked, (0, time.time() - DAY / 2))  # the oldest, and kept
    for number in range(1, BEGUN_SESSIONS + 4):
        agent.answer(STUDY.to_json(), Step(number, 0, "advertise"), opening(number))
        made = agent.store.session_file(STUDY.digest, number, 0)
        os.utime(made, (0, time.time() - 1000 + number))
    kept = {file.name for file in files(agent, "sessions")}
    assert kept == {f"{number}-0" for number in range(4, BEGUN_SESSIONS + 4)} | {masked.name}


def test_old_openings_that_are_sent_again_push_out_no_session_in_use(agent):
    live = Federation(agent, number=99).until("mask")
    for number in range(BEGUN_SESSIONS - 1):
        agent.answer(STUDY.to_json(), Step(number, 0, "advertise"), opening(number))
    place = STUDY.to_json(), Step(50, 0, "advertise"), opening(50)
    told = not_answered(Code.REFUSED, agent, *place)
    assert "16 sessions of the study have begun and got no masked input; begin again in 10" in told
    # Those that gave keys only go first, in whatever order they were used.
    sessions = agent.store.session_file(STUDY.digest, 0, 0).parent
    for age, file in enumerate([sessions / "99-0", sessions / "7-0"]):
        os.utime(file, (0, time.time() - 5000 + age))
    # Its opening, sent once more, does not keep it.
    agent.answer(STUDY.to_json(), Step(7, 0, "advertise"), opening(7))
    agent.answer(*place)
    assert not (sessions / "7-0").exists()
    assert live.step("mask")


def test_a_later_round_of_a_run_that_got_a_masked_input_finds_room(agent):
    Federation(agent, number=99).finish()
    for number in range(BEGUN_SESSIONS):
        agent.answer(STUDY.to_json(), Step(number, 0, "advertise"), opening(number))
    store = agent.store
    store.make_room(STUDY.digest, 99, store.ledger())
    with pytest.raises(RefusalError):
        store.make_room(STUDY.digest, 98, store.ledger())


def test_sessions_of_another_study_push_out_none_of_this_one(tmp_path):
    other = Study(Borda(4, 4, send="centroids"), LABELS, ROSTER)
    agent = Agent(configured(tmp_path, studies=(STUDY.digest, other.digest), runs_per_day=1))
    federation = Federation(agent).until("share")
    for number in range(BEGUN_SESSIONS + 1):
        agent.answer(other.to_json(), Step(number, 0, "advertise"), opening(number, other))
        os.utime(agent.store.session_file(other.digest, number, 0), (0, time.time() - DAY / 2))
    Federation(agent, other, number=99).until("mask").step("mask")  # its quota is spent
    not_answered(
        Code.REFUSED, agent, other.to_json(), Step(100, 0, "advertise"), opening(100, other)
    )
    assert federation.step("share")
    for step in ("mask", "unmask"):
        federation.step(step)
    assert federation.server.result()[1] == [0, 1, 2, 3]
    agent.close()


def test_what_a_killed_process_left_half_written_is_deleted(agent):
    agent.close()
    halves = [
        folder / ".name.123.part"
        for folder in (agent.config.folder, agent.store.studies, agent.store.study_folder("s"))
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


def test_a_clock_that_was_ahead_makes_only_the_runs_of_then_count_for_longer(tmp_path, monkeypatch):
    store, now = Store(tmp_path / "state"), time.time()
    for run, clock in enumerate([now + 400 * DAY, now, now + 60]):
        monkeypatch.setattr(time, "time", lambda clock=clock: clock)
        store.ledger().enter(STUDY.digest, MASK, run=run, round=0)
    assert store.ledger().runs_today(STUDY.digest) == 3
    monkeypatch.setattr(time, "time", lambda: now + DAY + 30)
    assert store.ledger().runs_today(STUDY.digest) == 2
    monkeypatch.setattr(time, "time", lambda: now + 2 * DAY)
    assert store.ledger().runs_today(STUDY.digest) == 1
    monkeypatch.setattr(time, "time", lambda: now - DAY)  # set back: they count for longer
    assert store.ledger().runs_today(STUDY.digest) == 3


@pytest.mark.parametrize("step", STEPS)
def test_a_run_whose_state_was_deleted_is_over(agent, step):
    federation = Federation(agent)
    asked = {}
    for each in STEPS:
        asked[each] = federation.requests[1]
        federation.step(each)
    (old,) = files(agent, "sessions")
    os.utime(old, (0, time.time() - DAY - 1))
    agent.pruned -= PRUNE_SECONDS
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert not old.exists()
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(1, 0, step), asked[step])
    assert "round 0 of run 1 is over" in told
    assert len(agent.store.ledger().entries) == 2


def test_a_folder_that_others_can_read_is_refused(tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)
    with pytest.raises(InputError, match="other users can read the folder; run chmod 700"):
        Store(tmp_path / "state")


@pytest.mark.parametrize(
    "line",
    [
        *("", "{", "[]", '{"session": "a"}', "7", '{"step": "closed"}', '{"step": "peek"}'),
        '{"before":"", "step": "closed", "study": 7, "time": 1.0}',
        '{"before":"","step":"unmask","time":1.0,"study":"a","run":1,"round":0,"requests":{},"digest":"",'
        '"survivors":["a"]}',
    ],
)
def test_a_damaged_line_of_the_ledger_is_refused_and_named(tmp_path, line):
    store = Store(tmp_path / "state")
    store.ledger().enter(STUDY.digest, CLOSED)
    with store.ledger_file.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match="line 2: this is not a line of the ledger") as caught:
        store.ledger()
    assert (caught.value.file, caught.value.line) == (str(store.ledger_file), 2)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"begins": [], "opened": 3, "survivors": null}'])
def test_a_damaged_record_of_a_run_is_refused_and_named(tmp_path, text):
    store = Store(tmp_path / "state")
    file = store.study_folder("abc") / "runs" / "7"
    file.write_text(text)
    with pytest.raises(InputError, match="the record of the run is damaged") as caught:
        store.record("abc", 7)
    assert caught.value.file == str(file)


def test_no_repr_shows_a_secret(agent, monkeypatch):
    asked = []
    mask = Agent.mask
    monkeypatch.setattr(Agent, "mask", lambda *given: asked.append(given[2]) or mask(*given))
    Federation(agent).until("mask").step("mask")
    (found,) = asked
    snapshot, _ = kept_snapshot(agent.config, agent.store, STUDY)
    assert found.session.state
    for each in (found, found.session, snapshot):
        text = repr(each)
        for secret in (found.session.state, found.request, snapshot.seed):
            assert repr(secret)[2:-1] not in text
        assert "rankings=" not in text
    assert "state" not in repr(Session(state=b"state"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]\n", b"\xff\n"])
def test_a_damaged_session_is_refused_and_named(tmp_path, content):
    store = Store(tmp_path / "state")
    store.study_folder("abc")
    file = store.session_file("abc", 7, 0)
    file.write_bytes(content)
    with pytest.raises(InputError, match="the session is damaged") as caught:
        store.session("abc", 7, 0)
    assert caught.value.file == str(file)


def test_a_session_that_confirmed_is_kept_until_its_round_is_opened(tmp_path):
    """No other session can open the round: the sum would be lost, and the study with it."""
    store, ledger = Store(tmp_path / "state"), Ledger(tmp_path / "state" / "ledger.jsonl")

    def kept():
        for file in (tmp_path / "state").rglob("*/[0-9]*"):
            os.utime(file, (0, time.time() - 30 * DAY))
        store.prune()
        return sorted(file.name for file in (tmp_path / "state").rglob("*/[0-9]*"))

    for run in (1, 2, 3):
        store.save_session("abc", run, 0, Session({}, b"state"))
        store.save_record("abc", run, Record())
        ledger.enter("abc", MASK, run=run, round=0)
    for run in (1, 2):
        ledger.enter("abc", CONFIRM, run=run, round=0)
    assert kept() == ["1", "1-0", "2", "2-0"]
    ledger.enter("abc", UNMASK, run=2, round=0)
    assert kept() == []
    for run in range(WAITING_SESSIONS + 2):
        ledger.enter("abc", CONFIRM, run=run, round=1)
    assert len(ledger.waiting("abc")) == WAITING_SESSIONS


def test_a_folder_that_was_moved_and_replaced_by_a_copy_is_noticed(agent, tmp_path):
    """The lock stays with the folder that was moved; another agent could hold the copy."""
    folder = agent.config.folder
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    folder.rename(tmp_path / "moved")
    told = not_answered(Code.ERROR, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert "is not the folder that this agent locked when it started" in told
    shutil.copytree(tmp_path / "moved", folder)
    not_answered(Code.ERROR, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    shutil.rmtree(folder)
    (tmp_path / "moved").rename(folder)
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))


def test_a_folder_that_is_replaced_while_a_step_is_answered_gives_nothing(
    agent, tmp_path, monkeypatch
):
    folder, take_step = agent.config.folder, agent.take_step

    def replaced(*arguments):
        folder.rename(tmp_path / "moved")
        shutil.copytree(tmp_path / "moved", folder)
        return take_step(*arguments)

    monkeypatch.setattr(agent, "take_step", replaced)
    not_answered(Code.ERROR, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))


NORTH, EAST = Identity.generate(), Identity.generate()


def test_a_key_without_its_store_is_refused_until_its_owner_makes_one(tmp_path):
    folder = tmp_path / "state"
    for exists in (False, True):
        if exists:
            folder.mkdir(mode=0o700)
        with pytest.raises(InputError, match=f"no store of identity {NORTH.fingerprint}"):
            Store(folder, NORTH.public)
    make_store(folder, NORTH.public)
    Store(folder, NORTH.public)
    with pytest.raises(InputError, match="is not empty; name a new folder"):
        make_store(folder, NORTH.public)


def test_a_store_is_of_one_identity(tmp_path):
    folder, bare = tmp_path / "north", tmp_path / "bare"
    make_store(folder, NORTH.public)
    make_store(bare, None)
    for where, key, named in (
        (folder, EAST.public, f"store of {NORTH.fingerprint}, .* is of {EAST.fingerprint}"),
        (folder, None, f"store of {NORTH.fingerprint}, .* is of no identity"),
        (bare, EAST.public, f"store of no identity, .* is of {EAST.fingerprint}"),
    ):
        with pytest.raises(InputError, match=named):
            Store(where, key)


@pytest.mark.parametrize("found", ["1", "2", "nonsense", ""])
def test_a_store_of_another_format_is_named_with_what_to_do(tmp_path, found):
    folder = tmp_path / "state"
    make_store(folder, None)
    (folder / "format").write_text(found)
    with pytest.raises(InputError, match=f"has format {found}, .* reads format 3; use the version"):
        Store(folder)
    assert (folder / "format").read_text() == found


def test_a_store_of_the_first_format_and_a_strangers_folder_are_refused(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not the store of an agent; name a new folder"):
        Store(folder)
    (folder / "ledger.jsonl").write_text("")
    with pytest.raises(InputError, match="the store has format 1"):
        Store(folder)
    assert not (folder / "format").exists()


def test_a_store_whose_making_was_interrupted_is_made_again(tmp_path):
    folder = tmp_path / "state"
    make_store(folder, NORTH.public)
    (folder / "format").unlink()
    with pytest.raises(InputError, match="no store of identity"):
        Store(folder, NORTH.public)
    make_store(folder, NORTH.public)
    Store(folder, NORTH.public)


def test_a_store_without_its_ledger_is_no_new_one(tmp_path):
    folder = tmp_path / "state"
    make_store(folder, None)
    Store(folder).keep_study(STUDY.digest, STUDY.to_json())
    (folder / "ledger.jsonl").unlink()
    with pytest.raises(InputError, match="which shows what was sent, is gone"):
        Store(folder)
    (folder / "format").unlink()  # all that is left looks like a store that is being made
    with pytest.raises(InputError, match="not the store of an agent"):
        Store(folder)


def test_a_line_that_was_changed_or_deleted_is_noticed_at_the_next_one(tmp_path):
    store = Store(tmp_path / "state")
    for run in range(3):
        store.ledger().enter(STUDY.digest, MASK, run=run, round=0)
    lines = store.ledger_file.read_text().splitlines(True)
    changed = lines[1].replace('"run":1', '"run":9')
    for found in ([lines[0], lines[2]], [lines[0], changed, lines[2]]):
        store.ledger_file.write_text("".join(found))
        with pytest.raises(InputError, match="does not follow the one before") as caught:
            Store(tmp_path / "state").ledger()
        assert caught.value.line == len(found)


def test_half_a_line_of_a_killed_process_is_left_out(tmp_path):
    store = Store(tmp_path / "state")
    store.ledger().enter(STUDY.digest, MASK, run=1, round=0)
    whole = store.ledger_file.read_bytes()
    for half in (b'{"before"', b"\0" * 999):
        store.ledger_file.write_bytes(whole + half)
        assert len(store.ledger().entries) == 1
    store.ledger().enter(STUDY.digest, MASK, run=2, round=0)
    assert store.ledger_file.read_bytes().startswith(whole + b'{"before"')
    assert [entry.run for entry in Ledger(store.ledger_file).entries] == [1, 2]


def test_a_message_is_kept_with_the_width_of_the_scheme(tmp_path):
    study = Study(Borda(4, 4, send="sums", max_samples=2**40), LABELS, ROSTER)
    config = configured(tmp_path, study=study)
    message = preview(config, study).message
    assert message.tolist() == np.sum(RANKS[1], axis=0).tolist()
    assert preview(config, study).message.tolist() == message.tolist()
