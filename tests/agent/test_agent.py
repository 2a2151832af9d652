"""The local agent: what it answers, what it refuses, and what it never forgets."""

import importlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from fedrank import Borda, Lehmer, Mallows, Rankings, Study, federate
from fedrank.agent import Agent, Code, Config, Policy, RefusalError, ask, preview, read_config
from fedrank.agent import agent as answering
from fedrank.agent.preview import bytes_up
from fedrank.agent.socket import listens, respond
from fedrank.agent.store import DAY, Store
from fedrank.protocol.federate import STEPS
from fedrank.protocol.secagg import Client, Server
from helpers.command import COMMAND, refused, run, write_ranks

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Unix sockets at short paths, and files' modes"
)

serving = importlib.import_module("fedrank.agent.socket")  # the package has a function of its name

LABELS = ["ash", "birch", "cedar", "dogwood"]
ROSTER = ["north", "east", "south", "west"]
STUDY = Study(Borda(4, 4), LABELS, ROSTER)  # threshold 3
MARKER = 7_654_321  # a score that nothing which leaves may show

# What every client holds: twelve rankings.
RANKS = [Mallows(0.5, n=4).sample(12, rng=seed).ranks.tolist() for seed in range(4)]


def configured(folder, me=1, study=STUDY, ranks=None, seed=None, **limits):
    folder.mkdir(exist_ok=True)
    file = write_ranks(folder / "votes.csv", LABELS, RANKS[me] if ranks is None else ranks)
    policy = Policy(**({"studies": (study.digest,)} | limits))
    return Config(study.roster[me], file, folder / "state", folder / "a.sock", policy, seed)


@pytest.fixture
def agent(tmp_path):
    made = Agent(configured(tmp_path))
    yield made
    made.close()


class Federation:
    """Three plain clients, and one behind an agent, number 1."""

    def __init__(self, agent, study=STUDY, number=1):
        self.agent, self.study, self.number = agent, study, number
        self.server = Server(study)
        self.others = {c: Client(study, c) for c in (0, 2, 3)}
        self.messages = {
            c: study.scheme.encode(Rankings(RANKS[c]), rng=c) for c in range(len(study.roster))
        }
        self.requests = dict.fromkeys(range(len(study.roster)), b"")

    def reply(self, step, client):
        request = self.requests[client]
        if client == 1:
            return self.agent.answer(self.study.to_json(), self.number, step, request)
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
        asked = [client for client in self.requests if client not in but]
        replies = {client: self.reply(step, client) for client in asked}
        for client, reply in replies.items():
            self.server.receive(client, reply)
        self.requests = self.server.close_step()
        return replies.get(1)

    def finish(self):
        for step in STEPS:
            self.step(step)
        return self.server.result()


def not_answered(code, agent, *arguments):
    with pytest.raises(RefusalError) as error:
        agent.answer(*arguments)
    assert error.value.code is code
    return str(error.value)


# A session


def test_an_agents_message_is_in_the_exact_sum(agent):
    federation = Federation(agent)
    total, survivors = federation.finish()
    own = preview(agent.config, STUDY).message
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert survivors == [0, 1, 2, 3]
    assert total.tolist() == (own + others).tolist()


@pytest.mark.parametrize("scheme", [Borda(4, 4), Lehmer(4, 4)])
def test_with_a_seed_the_message_is_the_engines(tmp_path, scheme):
    study = Study(scheme, LABELS, ROSTER, threshold=3)
    tied = [[0, 1, 2, 3], [3, 2, 1, 0]] * 6
    configs = [configured(tmp_path / str(c), c, study, tied, seed=5) for c in range(4)]
    sent = [preview(config, study).message for config in configs]
    engine = federate([Rankings(tied, LABELS)] * 4, scheme, rng=5)
    decoded = scheme.decode(sum(sent), 4, rng=answering.stream_rng(answering.seed_bytes(5), 1))
    assert decoded.ranks.tolist() == engine.consensus.ranks.tolist()
    assert len({message.tobytes() for message in sent}) > 1  # a stream each


def test_items_are_put_into_the_studys_order(tmp_path):
    study = Study(Borda(4, 4, phi=0.05), LABELS[::-1], ROSTER)
    config = configured(tmp_path, study=study, ranks=[[0, 1, 2, 3]] * 12)
    assert preview(config, study).message.tolist() == [3, 2, 1, 0]


def test_the_same_request_gets_the_same_bytes_and_another_is_refused(agent):
    federation = Federation(agent)
    foreign = Federation(agent, number=2)
    for step in STEPS:
        request = federation.requests[1]
        reply = federation.step(step)
        foreign.step(step)
        assert agent.answer(STUDY.to_json(), 1, step, request) == reply
        if step != "advertise":
            other = request[:-1] + bytes([request[-1] ^ 1])
            not_answered(Code.PROTOCOL, agent, STUDY.to_json(), 1, step, other)
            assert agent.answer(STUDY.to_json(), 1, step, request) == reply


def test_a_second_list_of_survivors_is_refused_after_a_restart_too(agent):
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[3])
    request = federation.requests[1]
    assert len(request) == 40 + 2 * 3
    reply = agent.answer(STUDY.to_json(), 1, "unmask", request)
    # A list that names everybody: of the same session, but for the server's lie.
    body = b"".join(c.to_bytes(2, "little") for c in range(4))
    forged = request[:36] + body
    forged += answering.hashlib.sha256(forged).digest()[:4]
    agent.close()
    again = Agent(agent.config)
    not_answered(Code.PROTOCOL, again, STUDY.to_json(), 1, "unmask", forged)
    assert again.answer(STUDY.to_json(), 1, "unmask", request) == reply
    again.close()


def test_a_session_goes_on_in_another_agent_after_each_step(agent):
    federation = Federation(agent)
    for step in STEPS:
        request = federation.requests[1]
        reply = federation.step(step)
        federation.agent.close()
        federation.agent = Agent(agent.config)
        assert federation.agent.answer(STUDY.to_json(), 1, step, request) == reply
    federation.agent.close()
    assert federation.server.result()[1] == [0, 1, 2, 3]


def test_nothing_is_given_before_it_is_on_the_disk(agent, monkeypatch):
    federation = Federation(agent).until("mask")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(Store, "save_state", fail)
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "step": "mask"}).encode()
    assert respond(agent, asked + b"\n" + federation.requests[1]) == b"error\n"
    # It counts all the same: nobody can know that it did not leave.
    assert len(agent.store.ledger()) == 1


def test_two_agents_cannot_hold_one_store(agent):
    with pytest.raises(ValueError, match="in use by an agent"):
        Agent(agent.config)
    agent.close()
    Agent(agent.config).close()


def test_a_step_of_a_session_that_never_began_is_refused(agent):
    federation = Federation(agent).until("share")
    request = federation.requests[1]
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), 99, "share", request)
    assert "has not begun" in told
    not_answered(Code.PROTOCOL, agent, STUDY.to_json(), 1, "peek", b"")


def test_states_that_nobody_used_for_a_day_are_deleted(agent):
    agent.answer(STUDY.to_json(), 1, "advertise", b"")
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    agent.answer(STUDY.to_json(), 2, "advertise", b"")
    assert old not in list(agent.store.sessions.iterdir())


@pytest.mark.parametrize("restart", [True, False])
def test_they_are_deleted_at_the_start_and_at_a_refused_request_too(agent, restart):
    agent.answer(STUDY.to_json(), 1, "advertise", b"")
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    if restart:
        agent.close()
        Agent(agent.config).close()
    else:
        not_answered(Code.REFUSED, agent, "{}", 9, "share", b"")
    assert not old.exists()


def test_of_sessions_without_a_masked_input_only_the_newest_are_kept(tmp_path):
    agent = Agent(configured(tmp_path, runs_a_day=1))
    Federation(agent, number=0).finish()
    (masked,) = agent.store.sessions.iterdir()
    os.utime(masked, (0, time.time() - DAY / 2))  # the oldest, and kept
    (line,) = agent.store.ledger()
    agent.store.ledger_file.write_text(json.dumps(line | {"time": line["time"] - DAY}) + "\n")
    most = answering.BEGUN + 1
    for number in range(1, most + 4):
        agent.answer(STUDY.to_json(), number, "advertise", b"")
        made = agent.store.sessions / answering.session_name(STUDY, number)
        os.utime(made, (0, time.time() - 1000 + number))
    kept = {file.name for file in agent.store.sessions.iterdir()}
    newest = {answering.session_name(STUDY, number) for number in range(4, most + 4)}
    assert kept == newest | {masked.name}
    agent.close()


def test_what_a_killed_process_left_half_written_is_deleted(agent):
    agent.close()
    halves = [
        folder / ".name.123.part"
        for folder in (agent.config.folder, agent.store.sessions, agent.store.messages)
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
        store.enter(str(number), STUDY.digest, number)
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
    agent.answer(STUDY.to_json(), 2, "advertise", b"")
    assert not old.exists()
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), 1, step, asked[step])
    assert "this run is over" in told
    assert len(agent.store.ledger()) == 1


def test_a_run_that_got_no_masked_input_may_begin_anew_with_new_keys(agent):
    first = agent.answer(STUDY.to_json(), 1, "advertise", b"")
    (old,) = agent.store.sessions.iterdir()
    os.utime(old, (0, time.time() - DAY - 1))
    agent.answer(STUDY.to_json(), 2, "advertise", b"")
    assert agent.answer(STUDY.to_json(), 1, "advertise", b"") != first


# Policy


@pytest.mark.parametrize(
    ("limits", "study", "named"),
    [
        ({"studies": ("0" * 64,)}, STUDY, "not among those allowed"),
        ({"least_clients": 5}, STUDY, "4 clients are fewer than least_clients = 5"),
        ({"least_threshold": 4}, STUDY, "threshold 3 is below least_threshold = 4"),
        ({"least_samples": 13}, STUDY, "12 rankings are fewer than least_samples = 13"),
        ({"runs_a_day": 0}, STUDY, "runs_a_day = 0"),
        ({}, Study(Borda(4, 4), LABELS, ["a", "b", "c", "d"]), "east is not in the roster"),
    ],
)
def test_what_the_policy_does_not_allow_is_refused_at_the_first_step(
    tmp_path, limits, study, named
):
    config = configured(tmp_path, **({"studies": (study.digest,)} | limits))
    agent = Agent(config)
    assert named in not_answered(Code.REFUSED, agent, study.to_json(), 1, "advertise", b"")
    assert list(agent.store.sessions.iterdir()) == []
    assert agent.store.ledger() == []
    agent.close()


def test_too_few_rankings_are_not_kept_as_the_studys_message(tmp_path):
    config = configured(tmp_path, ranks=RANKS[1][:9])
    agent = Agent(config)
    not_answered(Code.REFUSED, agent, STUDY.to_json(), 1, "advertise", b"")
    write_ranks(config.rankings, LABELS, RANKS[1])
    agent.answer(STUDY.to_json(), 1, "advertise", b"")
    agent.close()
    # A policy that asks for more holds for a message that is kept, too.
    agent = Agent(configured(tmp_path, least_samples=13))
    not_answered(Code.REFUSED, agent, STUDY.to_json(), 2, "advertise", b"")
    agent.close()


def test_labels_that_the_study_does_not_have_are_not_guessed_at(tmp_path):
    bare = Study(Borda(4, 4), roster=ROSTER)
    agent = Agent(configured(tmp_path, study=bare))
    told = not_answered(Code.DATA, agent, bare.to_json(), 1, "advertise", b"")
    assert "agree on their order" in told
    write_ranks(agent.config.rankings, ["0", "1", "2", "3"], RANKS[1])
    agent.answer(bare.to_json(), 1, "advertise", b"")
    agent.close()


def test_a_sum_over_few_survivors_is_not_opened(tmp_path):
    agent = Agent(configured(tmp_path, least_survivors=4))
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[0])
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), 1, "unmask", federation.requests[1])
    assert told == "3 survivors are fewer than least_survivors = 4"
    agent.close()
    # All four: opened.
    agent = Agent(configured(tmp_path, least_survivors=4))
    assert Federation(agent, number=2).finish()[1] == [0, 1, 2, 3]
    agent.close()


def test_a_list_cannot_be_made_to_look_longer_than_it_is(tmp_path):
    agent = Agent(configured(tmp_path, least_survivors=4))
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[0])
    request = federation.requests[1]
    for extra in (request[-8:-4] * 2, b"\xff\xff" * 2, b"\0\0"):
        forged = request[:-4] + extra
        forged += answering.hashlib.sha256(forged).digest()[:4]
        with pytest.raises(RefusalError):
            agent.answer(STUDY.to_json(), 1, "unmask", forged)
    agent.close()


def test_runs_count_from_the_masked_step_whatever_becomes_of_them(tmp_path):
    agent = Agent(configured(tmp_path, runs_a_day=2))
    for number in (1, 2, 3):
        Federation(agent, number=number).until("share")  # keys alone cost nothing
    assert agent.store.ledger() == []
    open_run = Federation(agent, number=4).until("mask")
    for number in (5, 6):
        federation = Federation(agent, number=number).until("mask")
        request = federation.requests[1]
        sent = federation.step("mask")  # and no further: aborted
        assert agent.answer(STUDY.to_json(), number, "mask", request) == sent  # counted once
    assert [line["run"] for line in agent.store.ledger()] == [5, 6]
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), 7, "advertise", b"")
    assert "runs_a_day = 2" in told
    not_answered(Code.REFUSED, agent, STUDY.to_json(), 4, "mask", open_run.requests[1])
    agent.close()
    # A restart changes nothing.
    agent = Agent(agent.config)
    not_answered(Code.REFUSED, agent, STUDY.to_json(), 8, "advertise", b"")
    # A day later there is room.
    lines = agent.store.ledger()
    lines[0]["time"] -= DAY
    agent.store.ledger_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    agent.answer(STUDY.to_json(), 8, "advertise", b"")
    agent.close()


def test_a_repeated_study_gets_the_same_message_though_data_and_ties_change(tmp_path):
    tied = [[0, 1, 2, 3], [3, 2, 1, 0]] * 6
    config = configured(tmp_path, ranks=tied)
    agent = Agent(config)
    first, _ = Federation(agent).finish()
    write_ranks(config.rankings, LABELS, [[3, 2, 1, 0]] * 12)
    for number in range(2, 4):
        assert Federation(agent, number=number).finish()[0].tolist() == first.tolist()
    agent.close()
    store = Store(config.folder)
    assert store.forget(STUDY.digest)
    assert not store.forget(STUDY.digest)
    fresh = STUDY.scheme.encode([[3, 2, 1, 0]] * 12)
    assert preview(config, STUDY).message.tolist() == fresh.tolist()


@pytest.mark.parametrize(
    "spell", [lambda text: f"{text}\n", lambda text: text.replace(",", ", "), lambda _: "\ud800"]
)
def test_a_study_is_known_by_its_canonical_text_before_it_is_parsed(agent, monkeypatch, spell):
    def parsed(_):
        raise AssertionError("parsed")

    monkeypatch.setattr(Study, "from_json", parsed)
    text = spell(STUDY.to_json())
    told = not_answered(Code.REFUSED, agent, text, 1, "advertise", b"")
    assert "not among those allowed" in told


# What leaves


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ash,birch,cedar\n7654321,1,2\n", Code.DATA),  # an item is missing
        ("ash,birch,cedar,dogwood\n7654321,1,2,x\n", Code.DATA),  # not a number
        ("ash,birch,cedar,dogwood\n7654321,1,2,3\n", Code.REFUSED),  # one ranking only
        ("", Code.DATA),
    ],
)
def test_a_marker_in_the_data_never_leaves(tmp_path, text, code):
    config = configured(tmp_path)
    config.rankings.write_text(text)
    agent = Agent(config)
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "step": "advertise"}).encode()
    assert respond(agent, asked + b"\n") == code.value.encode() + b"\n"
    agent.close()


@pytest.mark.parametrize(
    "asked", [b"", b"\n", b"{}\n", b"[]\n", b'{"study": 1}\n', b"\xff\n", b"[" * 100_000]
)
def test_requests_that_cannot_be_read_get_a_code(agent, asked):
    assert respond(agent, asked) == b"error\n"


def test_a_first_line_too_long_is_not_parsed(agent, monkeypatch):
    monkeypatch.setattr(serving, "HEAD", 1000)
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "step": "advertise"}).encode() + b"\n"
    assert len(asked) < 1000
    assert respond(agent, asked + bytes(2000)).startswith(b"ok\n")
    assert respond(agent, b" " * 1000 + asked) == b"error\n"


def test_no_more_than_the_beginning_of_a_detail_is_logged(agent, caplog):
    asked = json.dumps({"study": STUDY.to_json(), "run": 1, "step": "B" * 100_000}).encode()
    assert respond(agent, asked + b"\n") == b"protocol\n"
    (record,) = caplog.records
    assert "there is no step 'BBB" in record.getMessage()
    assert len(record.getMessage()) < 600


def test_whoever_asks_has_one_time_for_the_whole_request(monkeypatch):
    ours, theirs = socket.socketpair()
    clock = iter([0.0, 1.0, 9.0, 10.0])
    monkeypatch.setattr(serving.time, "monotonic", lambda: next(clock))
    theirs.sendall(bytes(2 << 16))  # two parts, and more might come
    with ours, theirs, pytest.raises(OSError, match="longer than 10"):
        serving.receive(ours)


def test_a_panic_gets_a_code(agent, monkeypatch):
    class PanicError(BaseException):
        pass

    def panic(*_):
        raise PanicError(str(MARKER))

    monkeypatch.setattr(agent, "answer", panic)
    asked = json.dumps({"study": "{}", "run": 1, "step": "advertise"}).encode()
    assert respond(agent, asked + b"\n") == b"error\n"


@pytest.mark.parametrize("scheme", [Borda(4, 4), Lehmer(4, 4, low_bits=1)])
def test_the_previews_bytes_are_those_really_sent(scheme):
    study = Study(scheme, LABELS, ROSTER)
    result = federate([Rankings(ranks, LABELS) for ranks in RANKS], scheme)
    assert set(result.bytes_up.tolist()) == {sum(bytes_up(study).values())}


def test_a_preview_shows_the_very_message_that_leaves(tmp_path):
    config = configured(tmp_path, ranks=[[0, 1, 2, 3], [3, 2, 1, 0]] * 6)
    shown = preview(config, STUDY)
    agent = Agent(config)
    federation = Federation(agent)
    total, _ = federation.finish()
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert (total - others).tolist() == shown.message.tolist()
    agent.close()


def test_a_preview_says_since_when_and_of_how_many_rankings(tmp_path):
    config = configured(tmp_path)
    first = preview(config, STUDY)
    write_ranks(config.rankings, LABELS, RANKS[1] * 2)
    again = preview(config, STUDY)
    assert first.rankings == again.rankings == 12
    assert first.kept_since == again.kept_since
    assert abs(first.kept_since - time.time()) < DAY


@pytest.mark.parametrize("study", [STUDY, Study(Borda(4, 4), LABELS, ["a", "b", "c", "d"])])
def test_a_preview_keeps_nothing_for_a_study_that_is_not_allowed(tmp_path, study):
    allowed = () if study is STUDY else (study.digest,)
    config = configured(tmp_path, studies=allowed)
    shown = preview(config, study)
    assert shown.objection is not None
    assert (shown.kept_since, shown.rankings) == (None, 12)
    assert list((config.folder / "messages").iterdir()) == []


@pytest.mark.parametrize("number", [True, 1.0, "1", -1, 2**64, None])
def test_a_runs_number_is_a_whole_one_of_64_bits(agent, number):
    asked = {"study": STUDY.to_json(), "run": 2**64 - 1, "step": "advertise"}
    assert respond(agent, json.dumps(asked).encode() + b"\n").startswith(b"ok\n")
    wrong = json.dumps(asked | {"run": number}).encode() + b"\n"
    assert respond(agent, wrong) == b"error\n"


# The process


def test_a_socket_that_another_process_listens_on_is_left_alone(tmp_path):
    path = tmp_path / "a.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(ValueError, match="another process listens"), serving.listening(path):
            pass
        assert listens(path)
    assert not listens(path)
    with serving.listening(path):  # nobody does any more
        assert listens(path)
        path.unlink()
        path.write_text("another's")
    assert path.read_text() == "another's"


@pytest.fixture
def started(tmp_path):
    """Start agents as processes; ends each by its id."""
    processes = []

    def start(config):
        text = (
            f'name = "{config.name}"\nrankings = "{config.rankings}"\nfolder = "{config.folder}"\n'
            f'socket = "{config.socket}"\n[policy]\nstudies = ["{STUDY.digest}"]\n'
        )
        (tmp_path / "agent.toml").write_text(text)
        process = subprocess.Popen(
            [COMMAND, "agent", "run", "--config", tmp_path / "agent.toml"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        for _ in range(200):
            if config.socket.exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


class Asked:
    """An agent on the other side of its socket."""

    def __init__(self, config):
        self.config = config

    def answer(self, *arguments):
        return ask(self.config.socket, *arguments)


def test_an_agent_killed_between_steps_goes_on_where_it_was(tmp_path, started):
    config = configured(tmp_path / "east")
    process = started(config)
    assert stat.S_IMODE(config.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.folder.stat().st_mode) == 0o700
    assert listens(config.socket)  # which costs nothing, and leaves no trace
    federation = Federation(Asked(config))
    for step in STEPS:
        request = federation.requests[1]
        reply = federation.step(step)
        process.send_signal(signal.SIGKILL)
        process.wait()
        not_answered(Code.UNAVAILABLE, federation.agent, STUDY.to_json(), 1, step, request)
        config.socket.unlink()
        process = started(config)
        assert federation.agent.answer(STUDY.to_json(), 1, step, request) == reply
        if step != "advertise":
            other = request[:-1] + bytes([request[-1] ^ 1])
            not_answered(Code.PROTOCOL, federation.agent, STUDY.to_json(), 1, step, other)
    total, survivors = federation.server.result()
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert survivors == [0, 1, 2, 3]
    assert (total - others).tolist() == preview(config, STUDY).message.tolist()
    told = (config.folder / "agent.log").read_text()
    assert "a request that cannot be read" not in told
    private = [*config.folder.rglob("*")]
    assert all(not file.stat().st_mode & 0o077 for file in private if file.suffix != ".log")


def test_two_processes_cannot_hold_one_store(tmp_path, started):
    config = configured(tmp_path / "east")
    started(config)
    second = started(config)
    assert second.wait(timeout=60) == 2
    assert "in use by an agent" in second.stderr.read()
    # The first still answers.
    ask(config.socket, STUDY.to_json(), 1, "advertise", b"")


def test_a_socket_may_be_handed_over(tmp_path):
    config = configured(tmp_path / "east")
    handed = tmp_path / "handed.sock"
    code = (
        "import os, socket, sys\n"
        "from pathlib import Path\n"
        "from fedrank.agent import Agent, read_config, serve\n"
        "server = socket.socket(socket.AF_UNIX)\n"
        "server.bind(sys.argv[1])\n"
        "server.listen()\n"
        "os.dup2(server.fileno(), 3)\n"
        "os.environ['LISTEN_PID'] = str(os.getpid())\n"
        "serve(Agent(read_config(Path(sys.argv[2]))))\n"
    )
    file = tmp_path / "agent.toml"
    file.write_text(
        f'name = "east"\nrankings = "{config.rankings}"\n[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    process = subprocess.Popen([sys.executable, "-c", code, handed, file])
    try:
        for _ in range(200):
            if handed.exists():
                break
            time.sleep(0.1)
        reply = ask(handed, STUDY.to_json(), 1, "advertise", b"")
        assert len(reply) == bytes_up(STUDY)["advertise"]
        assert not (tmp_path / "agent.sock").exists()
    finally:
        process.kill()
        process.wait()


# The command


def test_the_log_has_a_size_that_no_asker_can_exceed(tmp_path, python):
    config = configured(tmp_path)
    file = tmp_path / "agent.toml"
    file.write_text(
        f'name = "east"\nrankings = "{config.rankings}"\n[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    code = (
        "from pathlib import Path\n"
        "from fedrank.agent.socket import respond\n"
        "from fedrank.cli import agent as command\n"
        "command.LOG_BYTES = 2000\n"
        "command.agents.serve = lambda made: [respond(made, b'{}') for _ in range(100)]\n"
        f"command.run(Path({str(file)!r}))\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    logs = sorted(config.folder.glob("agent.log*"))
    assert [log.name for log in logs] == ["agent.log", *(f"agent.log.{n}" for n in (1, 2, 3))]
    assert all(0 < log.stat().st_size <= 2000 for log in logs)


def test_new_run_preview_forget_ledger(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    study = tmp_path / "study.json"
    study.write_text(STUDY.to_json())
    config = tmp_path / "agent.toml"
    made = run("agent", "new", study, "--name", "east", "--rankings", votes, "--config", config)
    assert (made.returncode, made.stderr) == (0, "")
    read = read_config(config)
    assert read.policy == Policy((STUDY.digest,), least_threshold=3)
    assert (read.name, read.rankings) == ("east", votes)
    shown = run("agent", "preview", study, "--config", config, "--json")
    document = json.loads(shown.stdout)
    assert document["objection"] is None
    assert (document["rankings"], document["kept_since"] > 0) == (12, True)
    assert document["bytes"] == bytes_up(STUDY)
    message = preview(read, STUDY).message.tolist()
    assert document["segments"] == [{"name": "position", "bits": 4, "entries": message}]
    table = run("agent", "preview", study, "--config", config)
    assert " ".join(map(str, message)) in table.stdout
    assert "the policy: allows it" in table.stdout
    assert " UTC, of 12 rankings" in table.stdout
    agent = Agent(read)
    Federation(agent).finish()
    held = run("agent", "forget", study, "--config", config)
    assert "in use by an agent" in refused(held)
    agent.close()
    assert run("agent", "forget", study, "--config", config).stdout == "forgotten\n"
    lines = json.loads(run("agent", "ledger", "--config", config, "--json").stdout)
    assert [(line["study"], line["run"]) for line in lines] == [(STUDY.digest, 1)]
    assert STUDY.digest in run("agent", "ledger", "--config", config).stdout
    again = run("agent", "new", study, "--name", "east", "--rankings", votes, "--config", config)
    assert STUDY.digest in refused(again)
    strange = run("agent", "new", study, "--name", "up", "--rankings", votes)
    assert "--name up is not in the roster: north, east, south, west" in refused(strange)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = ", "not TOML"),
        ('name = "a"\nrankings = "v"\n', r"no \[policy\]"),
        ('name = "a"\nrankings = "v"\n[policy]\n', "policy lacks 'studies'"),
        ('rankings = "v"\n[policy]\nstudies = []\n', "file lacks 'name'"),
        ('name = ""\nrankings = "v"\n[policy]\nstudies = []\n', "name must be"),
        ('name = "a"\nrankings = 3\n[policy]\nstudies = []\n', "rankings must be a path, not 3"),
        ('name = "a"\nrankings = "v"\ncolour = 1\n[policy]\nstudies = []\n', "no 'colour'"),
        ('name = "a"\nrankings = "v"\n[policy]\nstudies = ["abc"]\n', "'abc' is not a digest"),
        ('name = "a"\nrankings = "v"\n[policy]\nstudies = "abc"\n', "a list of digests"),
        (
            'name = "a"\nrankings = "v"\n[policy]\nstudies = []\nleast_samples = 0\n',
            "least_samples must be .* not 0",
        ),
        ('name = "a"\nrankings = "v"\n[policy]\nstudies = []\nmost = 1\n', "no 'most'"),
        ('name = "a"\nrankings = "v"\nseed = -1\n[policy]\nstudies = []\n', "seed must be"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused_and_named(tmp_path, text, named):
    file = tmp_path / "agent.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=named) as error:
        read_config(file)
    assert str(file) in str(error.value)


def test_a_file_where_the_socket_should_be_is_left_alone(tmp_path):
    config = configured(tmp_path)
    file = tmp_path / "agent.toml"
    file.write_text(
        f'name = "east"\nrankings = "votes.csv"\nsocket = "votes.csv"\n'
        f'[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    before = config.rankings.read_text()
    assert "votes.csv" in refused_after(run("agent", "run", "--config", file))
    assert config.rankings.read_text() == before


def refused_after(done):
    """The line by which the command refuses, once it has said who it is."""
    assert done.returncode == 2
    return done.stderr


def test_a_folder_that_others_can_read_is_refused(tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)
    with pytest.raises(ValueError, match="chmod 700"):
        Store(tmp_path / "state")


def test_a_message_is_kept_with_the_width_of_the_scheme(tmp_path):
    study = Study(Borda(4, 4, quantize=False, max_samples=2**40), LABELS, ROSTER)
    config = configured(tmp_path, study=study)
    message = preview(config, study).message
    assert message.tolist() == np.sum(RANKS[1], axis=0).tolist()
    assert preview(config, study).message.tolist() == message.tolist()
