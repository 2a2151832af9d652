"""Agents as processes: killed, started again, and with a socket handed over."""

import contextlib
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from fedrank.agent import Code, ask, preview
from fedrank.agent.preview import bytes_up
from fedrank.agent.socket import listens
from fedrank.protocol.secagg import STEPS
from fedrank.transport import Step
from helpers.agents import (
    STUDY,
    Federation,
    as_config,
    configured,
    not_answered,
    opening,
)
from helpers.command import COMMAND

pytestmark = pytest.mark.nodes


@pytest.fixture
def started(tmp_path):
    """Start agents as processes; ends each by its id."""
    processes = []

    def start(config):
        (tmp_path / "agent.toml").write_text(as_config(config))
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
        not_answered(Code.UNAVAILABLE, federation.agent, STUDY.to_json(), Step(1, 0, step), request)
        config.socket.unlink()
        process = started(config)
        assert federation.agent.answer(STUDY.to_json(), Step(1, 0, step), request) == reply
        if step != "advertise":
            other = request[:-1] + bytes([request[-1] ^ 1])
            not_answered(Code.PROTOCOL, federation.agent, STUDY.to_json(), Step(1, 0, step), other)
    total, survivors = federation.server.result()
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert survivors == [0, 1, 2, 3]
    assert (total - others).tolist() == preview(config, STUDY).message.tolist()
    told = (config.folder / "agent.log").read_text()
    assert "the request is malformed" not in told
    assert "a fault" not in told
    assert all(not file.stat().st_mode & 0o077 for file in config.folder.rglob("*"))


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_an_agent_that_is_told_to_end_does_so_and_takes_its_socket_with_it(tmp_path, started, told):
    config = configured(tmp_path / "east")
    process = started(config)
    assert f"agent of east: {config.socket}" in process.stdout.readline()
    with contextlib.ExitStack() as idle:
        for _ in range(20):
            idle.enter_context(socket.socket(socket.AF_UNIX)).connect(str(config.socket))
        ask(config.socket, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
        before = time.monotonic()
        process.send_signal(told)
        assert process.wait(timeout=60) == (0 if told == signal.SIGTERM else 130)
        # Half a second by itself; the rest is for machines with other work.
        assert time.monotonic() - before < 3
    assert not config.socket.exists()
    log = (config.folder / "agent.log").read_text()
    assert f"study {STUDY.digest[:12]}, run 1, round 0, advertise: answered with" in log
    assert ("told to end, by SIGTERM" in log) == (told == signal.SIGTERM)


def test_an_agent_says_where_it_is_only_once_it_listens(tmp_path):
    config = configured(tmp_path / "east")
    (tmp_path / "agent.toml").write_text(as_config(config))
    command = [COMMAND, "agent", "run", "--config", tmp_path / "agent.toml"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("agent of east")
        ask(config.socket, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    finally:
        process.kill()
        process.communicate()


def test_two_processes_cannot_hold_one_store(tmp_path, started):
    config = configured(tmp_path / "east")
    started(config)
    second = started(config)
    assert second.wait(timeout=60) == 2
    assert "in use by an agent" in second.stderr.read()
    # The first still answers.
    ask(config.socket, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))


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
    file.write_text(as_config(config))
    process = subprocess.Popen([sys.executable, "-c", code, handed, file])
    try:
        for _ in range(200):
            if handed.exists():
                break
            time.sleep(0.1)
        reply = ask(handed, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
        assert len(reply) == bytes_up(STUDY.round(0))["advertise"]
        assert not (tmp_path / "agent.sock").exists()
    finally:
        process.kill()
        process.wait()
