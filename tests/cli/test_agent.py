"""``fedrank agent``."""

import json
import sys

import pytest

from fedrank.agent import Agent, Policy, preview, read_config
from fedrank.agent.preview import bytes_up
from helpers.agents import LABELS, RANKS, STUDY, Federation, configured
from helpers.command import refused, run, run_process, write_ranks

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Unix sockets at short paths, and files' modes"
)


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
        "command.agents.serve = lambda made, ready: [respond(made, b'{}') for _ in range(100)]\n"
        f"command.run(Path({str(file)!r}))\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    logs = sorted(config.folder.glob("agent.log*"))
    assert [log.name for log in logs] == ["agent.log", *(f"agent.log.{n}" for n in (1, 2, 3))]
    assert all(0 < log.stat().st_size <= 2000 for log in logs)
    assert {log.stat().st_mode & 0o777 for log in logs} == {0o600}


def test_new_run_preview_forget_ledger(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    study = tmp_path / "study.json"
    study.write_text(STUDY.to_json())
    config = tmp_path / "agent.toml"
    made = run("agent", "new", study, "--name", "east", "--rankings", votes, "--config", config)
    assert (made.returncode, made.stderr) == (0, "")
    read = read_config(config)
    assert read.policy == Policy((STUDY.digest,), min_threshold=3)
    assert (read.name, read.rankings) == ("east", votes)
    shown = run("agent", "preview", study, "--config", config, "--json")
    document = json.loads(shown.stdout)
    assert document["objection"] is None
    assert (document["rankings"], document["kept_since"] > 0) == (12, True)
    assert document["rounds"] == [
        {"stage": "start", "at_most": 1, "bytes": bytes_up(STUDY.round(0))}
    ]
    message = preview(read, STUDY).message.tolist()
    assert document["segments"] == [{"name": "mean", "bits": 6, "entries": message}]
    table = run("agent", "preview", study, "--config", config)
    assert " ".join(map(str, message)) in table.stdout
    assert "the policy: allows it" in table.stdout
    assert " UTC, of 12 rankings" in table.stdout
    assert run("agent", "forget", study, "--config", config).stdout == "forgotten\n"
    agent = Agent(read)
    Federation(agent).finish()
    held = run("agent", "forget", study, "--config", config)
    assert "in use by an agent" in refused(held)
    agent.close()
    masked = refused(run("agent", "forget", study, "--config", config))
    assert "agree on a new study" in masked
    lines = json.loads(run("agent", "ledger", "--config", config, "--json").stdout)
    assert [(line["study"], line["run"]) for line in lines] == [(STUDY.digest, 1)]
    assert STUDY.digest in run("agent", "ledger", "--config", config).stdout
    again = run("agent", "new", study, "--name", "east", "--rankings", votes, "--config", config)
    assert STUDY.digest in refused(again)
    strange = run("agent", "new", study, "--name", "up", "--rankings", votes)
    assert "--name up is not in the roster of the study; its names are north, east" in refused(
        strange
    )


def test_the_ledger_of_an_agent_that_never_ran_is_no_new_folder(tmp_path):
    folder = configured(tmp_path).folder
    file = tmp_path / "agent.toml"
    file.write_text('name = "east"\nrankings = "votes.csv"\n[policy]\nstudies = []\n')
    assert "no agent has run" in refused(run("agent", "ledger", "--config", file))
    assert not folder.exists()


def test_a_file_where_the_socket_should_be_is_left_alone(tmp_path):
    config = configured(tmp_path)
    file = tmp_path / "agent.toml"
    file.write_text(
        f'name = "east"\nrankings = "votes.csv"\nsocket = "votes.csv"\n'
        f'[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    before = config.rankings.read_text()
    assert "votes.csv" in refused_after(run_process("agent", "run", "--config", file))
    assert config.rankings.read_text() == before


def refused_after(done):
    """The line by which the command refuses, once it has said who it is."""
    assert done.returncode == 2
    return done.stderr
