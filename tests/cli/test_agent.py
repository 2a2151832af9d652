"""``fedrank agent``."""

import json
import re
import shutil
import sys
from dataclasses import fields

import pytest

from fedrank import Borda, Study
from fedrank.agent import Agent, Code, Config, Policy, preview, read_config
from fedrank.agent.preview import bytes_up
from fedrank.agent.store import Store
from fedrank.protocol.identity import Identity
from fedrank.transport import Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    STUDY,
    Federation,
    as_config,
    configured,
    not_answered,
    opening,
)
from helpers.command import refused, run, run_process, write_ranks
from helpers.identities import PARTIES, with_identities

ME = PARTIES[-1]
EAST = ["--name", "east", "--unsigned"]
AS_RANKS = ["--layout", "ranks", "--items-in", "columns"]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Unix sockets at short paths, and files' modes"
)


def test_the_log_has_a_size_that_no_asker_can_exceed(tmp_path, python):
    config = configured(tmp_path)
    file = tmp_path / "agent.toml"
    file.write_text(as_config(config))
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
    made = run("agent", "new", study, *EAST, "--rankings", votes, "--config", config)
    assert (made.returncode, made.stderr) == (0, "")
    shown = made.stdout.replace("┃", "│")
    assert ("since you passed --unsigned" in shown, "│ place │ item" in shown) == (True, True)
    read = read_config(config)
    assert read.policy == Policy((STUDY.digest,), allow_unsigned=True, min_threshold=3)
    assert (read.name, read.rankings) == ("east", votes)
    shown = run("agent", "preview", study, "--config", config, "--json")
    document = json.loads(shown.stdout)
    assert document["objection"] is None
    assert (document["rankings"], document["kept_since"] > 0) == (12, True)
    assert document["best"] == document["worst"] == preview(read, STUDY).ranked
    assert document["rounds"] == [
        {"stage": "start", "at_most": 1, "bytes": bytes_up(STUDY.round(0))}
    ]
    message = preview(read, STUDY).message.tolist()
    assert document["segments"] == [{"name": "mean", "bits": 6, "entries": message}]
    table = run("agent", "preview", study, "--config", config)
    assert " ".join(map(str, message)) in table.stdout
    assert "the policy: allows it" in table.stdout
    assert " UTC, of 12 rankings" in table.stdout
    assert "north" in table.stdout
    assert "! The file" not in table.stdout
    forgotten = run("agent", "forget", study, "--config", config).stdout
    assert forgotten == "forgotten: the study got nothing yet, and the file will be read again\n"
    agent = Agent(read)
    Federation(agent).finish()
    held = run("agent", "forget", study, "--config", config)
    assert "in use by an agent" in refused(held)
    agent.close()
    lines = json.loads(run("agent", "ledger", "--config", config, "--json").stdout)
    given = [(line["study"], line["run"], line["step"]) for line in lines]
    assert given == [(STUDY.digest, 1, "mask"), (STUDY.digest, 1, "unmask")]
    assert STUDY.digest in run("agent", "ledger", "--config", config).stdout
    # Closing is for ever, so it is asked for.
    unanswered = run("agent", "forget", study, "--config", config)
    asked = (
        "Close it for ever?); run it in a terminal, or pass --yes if it is to be closed for ever"
    )
    assert (unanswered.returncode, asked in unanswered.stderr) == (2, True)
    assert unanswered.stdout.startswith(STUDY.summary())
    closed = run("agent", "forget", study, "--config", config, "--yes")
    assert "\nclosed for ever: no request of this study is answered again" in closed.stdout
    assert "closed already" in run("agent", "forget", study, "--config", config).stdout
    assert "closed" in run("agent", "ledger", "--config", config).stdout
    shown = run("agent", "preview", study, "--config", config)
    assert "the policy: its owner has closed the study for ever" in shown.stdout
    again = run("agent", "new", study, *EAST, "--rankings", votes, "--config", config)
    assert "fedrank agent allow" in refused(again)
    strange = run("agent", "new", study, "--name", "up", "--rankings", votes)
    assert "--name up is not in the roster of the study; its names are north, " in refused(strange)


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
    told = refused_after(run_process("agent", "run", "--config", file))
    assert "votes.csv: this is no socket, but another file or a folder; name another" in told
    assert config.rankings.read_text() == before


def refused_after(done):
    """The line by which the command refuses, once it has said who it is."""
    assert done.returncode == 2
    return done.stderr


def test_a_file_that_has_changed_since_it_was_kept_is_said_loudly(tmp_path):
    config = configured(tmp_path)
    study, file = tmp_path / "study.json", tmp_path / "agent.toml"
    study.write_text(STUDY.to_json())
    file.write_text(as_config(config))
    loud = f"! The file {config.rankings} HAS CHANGED since it was read."
    shown = ["agent", "preview", study, "--config", file]
    assert loud not in run(*shown).stdout
    config.rankings.write_text(config.rankings.read_text() + "0,1,2,3\n")
    assert loud in run(*shown).stdout
    assert json.loads(run(*shown, "--json").stdout)["changed"] is True
    config.rankings.unlink()
    assert loud in run(*shown).stdout


def test_a_study_is_allowed_after_its_overlaps_were_shown(tmp_path):
    """An agent that runs answers it at once; the configuration stays as it is."""
    config = configured(tmp_path)
    file, new = tmp_path / "agent.toml", tmp_path / "new.json"
    file.write_text(as_config(config))
    other = Study(Borda(3, 3), LABELS[:3], ["north", "east", "south"])
    new.write_text(other.to_json())
    write_ranks(config.rankings, LABELS, RANKS[1])
    agent = Agent(config)
    Federation(agent).finish()
    text = file.read_text()
    asked = run("agent", "allow", new, "--config", file)
    assert asked.returncode == 2
    assert "run it in a terminal, or pass --yes if you allow it" in asked.stderr
    not_answered(Code.REFUSED, agent, other.to_json(), Step(1, 0, "advertise"), opening(1, other))
    done = run("agent", "allow", new, "--config", file, "--yes")
    warned = f"! Study {STUDY.digest} was opened on "
    assert warned in asked.stdout
    assert warned in done.stdout
    assert "with north, east, south, west: the difference of the two sums shows" in done.stdout
    assert "what west alone sent" in done.stdout
    assert done.stdout.endswith(f"allowed: {other.digest}\n")
    assert file.read_text() == text
    write_ranks(config.rankings, LABELS[:3], [[0, 1, 2], [2, 0, 1]] * 6)
    agent.answer(other.to_json(), Step(1, 0, "advertise"), opening(1, other))
    # It is taken back while the agent runs.
    assert run("agent", "disallow", new, "--config", file).stdout == (
        f"allowed no more: {other.digest}\n"
    )
    not_answered(Code.REFUSED, agent, other.to_json(), Step(2, 0, "advertise"), opening(2, other))
    assert agent.store.study(other.digest) is None
    assert "it was not allowed" in run("agent", "disallow", new, "--config", file).stdout
    new.write_text(STUDY.to_json())
    told = refused(run("agent", "disallow", new, "--config", file))
    assert "take it out of 'studies' there, restart the agent" in told
    assert agent.store.study(STUDY.digest) is not None
    agent.close()


def test_a_study_that_would_be_refused_all_the_same_is_not_allowed(tmp_path):
    config = configured(tmp_path)
    file, new = tmp_path / "agent.toml", tmp_path / "new.json"
    file.write_text(as_config(config))
    three = Study(Borda(4, 3), LABELS, ROSTER[:3])
    new.write_text(three.to_json())  # the text of the first study was never here
    said = f"! Study {STUDY.digest} is allowed too, with unknown parties: its text is not here"
    assert said in run("agent", "allow", new, "--config", file, "--yes").stdout
    two = Study(Borda(4, 2), LABELS, ["north", "east"])
    new.write_text(two.to_json())
    told = refused(run("agent", "allow", new, "--config", file, "--yes"))
    assert "would be refused all the same: 2 clients are fewer than min_clients = 3" in told
    assert not Store(config.folder).allows(two.digest)


def test_the_store_of_a_key_is_found_by_its_fingerprint_wherever_the_configuration_is(tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path / "states")}
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    key = Identity.generate()
    key.save(tmp_path / "east.key")
    study = tmp_path / "study.json"
    study.write_text(STUDY.to_json())
    new = ["agent", "new", study, "--name", "east", "--unsigned", "--rankings", votes]
    new += ["--key", tmp_path / "east.key", "--config"]
    asked = run(*new, tmp_path / "agent.toml", **state)
    assert "never used by any agent?); run it in a terminal, or pass --yes if no" in asked.stderr
    assert not (tmp_path / "agent.toml").exists()
    made = run(*new, tmp_path / "agent.toml", "--yes", **state)
    folder = tmp_path / "states" / "fedrank" / key.fingerprint
    assert (made.returncode, made.stderr) == (0, "")
    assert f"store: {folder}" in made.stdout
    for place in (tmp_path, tmp_path / "elsewhere"):
        place.mkdir(exist_ok=True)
        if place != tmp_path:
            shutil.copy(tmp_path / "agent.toml", place)
        shown = run("agent", "preview", study, "--config", place / "agent.toml", **state)
        assert (shown.returncode, shown.stderr) == (0, "")
    assert not (tmp_path / "state").exists()
    assert len(list((folder / "studies").iterdir())) == 1
    # Another configuration of the same key has the same store, and no other one is made.
    again = run(*new, tmp_path / "other.toml", **state)
    assert "(Do you allow this study?)" in again.stderr
    again = run(*new, tmp_path / "other.toml", "--yes", **state)
    assert (again.returncode, again.stderr) == (0, "")
    # The store is lost: nothing is made without a word.
    shutil.rmtree(folder)
    lost = refused(run("agent", "run", "--config", tmp_path / "agent.toml", **state))
    assert "there is no store of identity" in lost
    assert "if it was lost, make a new identity, and agree on new studies" in lost
    assert "never restore a backup" in lost
    assert not folder.exists()
    command = ["agent", "new-store", "--config", tmp_path / "agent.toml"]
    assert "pass --yes if no agent ever used the key" in run(*command, **state).stderr
    assert not folder.exists()
    assert run(*command, "--yes", **state).returncode == 0
    assert (folder / "format").exists()
    assert "has a store, or other files" in refused(run(*command, "--yes", **state))


def test_every_key_of_a_configuration_is_written_with_a_line_about_it(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    study, config = tmp_path / "study.json", tmp_path / "agent.toml"
    study.write_text(STUDY.to_json())
    run("agent", "new", study, *EAST, "--rankings", votes, "--config", config)
    lines = config.read_text().splitlines()
    names = [each.name for kind in (Config, Policy) for each in fields(kind)]
    for name in set(names) - {"policy", "reading", "key"}:
        (at,) = [n for n, line in enumerate(lines) if re.match(rf"(# )?{name} = ", line)]
        assert re.match(r"# .*\.$", lines[at - 1]), name


@pytest.mark.parametrize("opened", [False, True])
def test_a_new_configuration_of_an_old_store_shows_the_overlaps_first(tmp_path, opened):
    state = {"XDG_STATE_HOME": str(tmp_path / "states")}
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    PARTIES[1].save(tmp_path / "east.key")
    studies = [
        Study(Borda(4, n), LABELS, with_identities(ROSTER[:n]), coordinator=ME) for n in (4, 3)
    ]
    new = ["agent", "new", "--rankings", votes, "--key", tmp_path / "east.key"]
    files = [tmp_path / f"{n}.json" for n in (4, 3)]
    for file, study in zip(files, studies, strict=True):
        file.write_text(study.to_json())
    made = run(*new, files[0], "--config", tmp_path / "0.toml", "--yes", **state)
    assert (made.returncode, made.stderr) == (0, "")
    said = f"! Study {studies[0].digest} is allowed too, with north, east, south, west; if both "
    if opened:
        store = Store(next((tmp_path / "states" / "fedrank").iterdir()), PARTIES[1].public)
        store.ledger().enter(studies[0].digest, "unmask", run=1, round=0, survivors=(0, 1, 2, 3))
        said = f"! Study {studies[0].digest} was opened on "
    other = tmp_path / "1.toml"
    asked = run(*new, files[1], "--config", other, **state)
    assert (asked.returncode, other.exists()) == (2, False)
    assert "(Do you allow this study?)" in asked.stderr
    assert said in asked.stdout
    assert "the difference of the two sums shows what west alone sent" in asked.stdout
    made = run(*new, files[1], "--config", other, "--yes", **state)
    assert (made.returncode, other.exists(), said in made.stdout) == (0, True, True)


def test_a_study_without_identities_needs_a_flag(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    PARTIES[1].save(tmp_path / "east.key")
    study, config = tmp_path / "study.json", tmp_path / "agent.toml"
    study.write_text(STUDY.to_json())
    new = ["agent", "new", study, "--rankings", votes, "--config", config, "--name", "east"]
    told = refused(run(*new))
    assert "whoever runs the server can play all other clients, and read your message" in told
    assert "or for a trial pass --unsigned" in told
    assert not config.exists()
    signed = Study(Borda(4, 4), LABELS, with_identities(ROSTER), coordinator=ME)
    study.write_text(signed.to_json())
    told = refused(run(*new, "--key", tmp_path / "east.key", "--unsigned"))
    assert "--unsigned is for studies without identities" in told
    made = run(
        *new, "--key", tmp_path / "east.key", "--yes", XDG_STATE_HOME=str(tmp_path / "states")
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert "\nallow_unsigned = false\n" in config.read_text()


def test_a_name_that_is_not_the_keys_is_refused(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    PARTIES[1].save(tmp_path / "east.key")
    study = tmp_path / "study.json"
    signed = Study(Borda(4, 4), LABELS, with_identities(ROSTER), coordinator=ME)
    study.write_text(signed.to_json())
    new = ["agent", "new", study, "--rankings", votes, "--key", tmp_path / "east.key"]
    told = refused(run(*new, "--name", "west", "--config", tmp_path / "agent.toml"))
    assert "is east's in the study, not west's; leave out --name, or name another key" in told


def test_no_store_is_made_for_a_configuration_that_cannot_be_written(tmp_path):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    PARTIES[1].save(tmp_path / "east.key")
    study = tmp_path / "study.json"
    signed = Study(Borda(4, 4), LABELS, with_identities(ROSTER), coordinator=ME)
    study.write_text(signed.to_json())
    new = ["agent", "new", study, "--rankings", votes, "--key", tmp_path / "east.key", "--yes"]
    state = tmp_path / "states"
    config = tmp_path / "nowhere" / "agent.toml"
    told = refused(run(*new, "--config", config, XDG_STATE_HOME=str(state)))
    assert "there is no folder for the configuration" in told
    assert not state.exists()


@pytest.mark.parametrize(
    ("labels", "rows", "more", "told"),
    [
        (
            ["ash", "birch", "cedar", "elm"],
            RANKS[1],
            [],
            "the study has dogwood, the file has not; the file has elm, the study has not",
        ),
        (
            LABELS[:3],
            [[0, 1, 2], [2, 1, 0]] * 6,
            AS_RANKS,
            "votes.csv: the study has dogwood, the file has not\n",
        ),
        (LABELS, RANKS[1][:1], AS_RANKS, "1 ranking is fewer than min_samples = 10"),
        (LABELS, RANKS[1][:9], [], "9 rankings are fewer than min_samples = 10"),
        (LABELS, RANKS[1][:9], ["--min-samples", "9"], None),
    ],
)
def test_rankings_that_do_not_suit_the_study_are_refused_at_once(
    tmp_path, labels, rows, more, told
):
    votes = write_ranks(tmp_path / "votes.csv", labels, rows)
    study, config = tmp_path / "study.json", tmp_path / "agent.toml"
    study.write_text(STUDY.to_json())
    new = ["agent", "new", study, "--name", "east", "--unsigned", "--rankings", votes]
    done = run(*new, "--config", config, *more)
    if told is None:
        assert (done.returncode, done.stderr) == (0, "")
        assert read_config(config).policy.min_samples == 9
        return
    assert told in refused(done)
    assert "select" not in done.stderr
    assert not config.exists()
    assert not (tmp_path / "state").exists()
