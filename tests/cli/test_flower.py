"""``fedrank flower``: what its commands make, and what they refuse."""

import sys
from pathlib import Path

import pytest

from fedrank.transport.flower.keys import write_keys
from helpers.agents import LABELS, RANKS, STUDY
from helpers.command import refused, run, run_process, write_ranks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Unix sockets")


def test_new_keys_and_join_say_what_they_made_or_miss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(STUDY.to_json())
    made = run("flower", "new", "study.json", "mine", "--seed", "3")
    assert (made.returncode, made.stdout) == (0, "app: mine/README.md\n")
    assert "seed = 3" in Path("mine/pyproject.toml").read_text()
    assert "mine: the folder exists already; name a new" in refused(
        run("flower", "new", "study.json", "mine")
    )
    made = run("flower", "keys", "study.json", "--host", "link.example.org")
    assert (made.returncode, made.stdout) == (0, "keys: keys\n")
    assert len(list(Path("keys/nodes").glob("*.key"))) == 4
    Path("ended.json").write_text(STUDY.to_json() + "\n")
    told = refused(run("flower", "new", "ended.json"))
    assert "ended.json: this text of a study may read differently" in told
    assert "make it again with 'fedrank study new'" in told
    Path("bad.json").write_text("{}")
    assert "bad.json: this is not the JSON of a study" in refused(run("flower", "new", "bad.json"))
    joined = ["flower", "join", "--superlink", "127.0.0.1:1", "--key", "keys/nodes/0.key"]
    absent = run(*joined, "--root-certificates", "none.crt")
    assert "none.crt: there is no such file" in refused(absent)
    absent = run(*joined, "--root-certificates", "keys/ca.crt")
    assert "agent.toml: there is no such file" in refused(absent)


@pytest.mark.nodes
def test_join_ends_both_processes_when_the_agent_cannot_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_keys(tmp_path / "keys", [], nodes=1)
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    Path("agent.toml").write_text(
        f'name = "east"\nrankings = "{votes}"\n[policy]\nstudies = ["{STUDY.digest}"]\n'
    )
    Path("state").mkdir(mode=0o755)  # others could read it
    Path("state").chmod(0o755)
    joined = run_process(
        *("flower", "join", "--superlink", "127.0.0.1:1", "--key", "keys/nodes/0.key"),
        *("--root-certificates", "keys/ca.crt"),
    )
    assert joined.returncode == 2
    assert "chmod 700" in joined.stderr


def test_without_flower_the_commands_say_how_to_get_it(python, tmp_path):
    (tmp_path / "study.json").write_text(STUDY.to_json())
    code = (
        "import sys\n"
        "sys.modules['flwr'] = None\n"
        "from fedrank.cli import main\n"
        f"sys.argv = ['fedrank', 'flower', 'new', {str(tmp_path / 'study.json')!r}]\n"
        "main()\n"
    )
    done = python(code)
    assert done.returncode == 2
    assert "pip install 'fedrank[flower]'" in done.stderr
