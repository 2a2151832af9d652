"""``fedrank flower``: what its commands make, and what they refuse."""

import sys
import tomllib
from pathlib import Path

import pytest

from fedrank import Study
from fedrank.transport.flower.keys import write_keys
from helpers.agents import LABELS, RANKS, ROSTER, STUDY
from helpers.command import refused, run, run_process, write_ranks
from helpers.identities import PARTIES, with_identities

ME = PARTIES[-1]
SIGNED = Study(STUDY.method, LABELS, with_identities(ROSTER), coordinator=ME)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Unix sockets")


def test_new_keys_and_join_say_what_they_made_or_miss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(STUDY.to_json())
    made = run("flower", "new", "study.json", "mine", "--seed", "3", "--unsigned")
    assert made.returncode == 0
    assert made.stdout.startswith(STUDY.summary())
    assert "! This study has no identities" in made.stdout
    assert made.stdout.endswith("\napp: mine/README.md\n")
    told = Path("mine/README.md").read_text()
    assert "whoever runs the server can read every input" in told
    assert "agent new study.json --name NAME --unsigned --rankings FILE" in told
    assert all(" ".join(STUDY.words[at : at + 6]) in told for at in range(0, 24, 6))
    assert "seed = 3" in Path("mine/pyproject.toml").read_text()
    assert "mine: the folder exists already; name a new" in refused(
        run("flower", "new", "study.json", "mine", "--unsigned")
    )
    made = run("flower", "keys", "study.json", "--host", "link.example.org")
    assert made.returncode == 0
    assert made.stdout.startswith(STUDY.summary())
    assert made.stdout.endswith("\nkeys: keys\n")
    assert len(list(Path("keys/nodes").glob("*.key"))) == 4
    Path("ended.json").write_text(STUDY.to_json() + "\n")
    told = refused(run("flower", "new", "ended.json", "--unsigned"))
    assert "ended.json: this text of a study may read differently" in told
    assert "make it again with 'fedrank study new'" in told
    Path("bad.json").write_text("{}")
    assert "bad.json: this is not the JSON of a study" in refused(run("flower", "new", "bad.json"))
    joined = ["flower", "join", "--superlink", "127.0.0.1:1", "--key", "keys/nodes/0.key"]
    absent = run(*joined, "--root-certificates", "none.crt")
    assert "none.crt: there is no such file" in refused(absent)
    absent = run(*joined, "--root-certificates", "keys/ca.crt")
    assert "agent.toml: there is no such file" in refused(absent)


def test_an_app_of_a_study_without_identities_is_made_only_if_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(STUDY.to_json())
    told = refused(run("flower", "new", "study.json"))
    assert "study.json: the study has no identities, so whoever runs the server can read" in told
    assert "--unsigned" in told
    assert not Path("app").exists()
    told = refused(run("flower", "new", "study.json", "--unsigned", "--key", "me.key"))
    assert "--key is for studies with identities; leave it out" in told


def test_an_app_of_a_signed_study_has_the_path_of_the_key_and_never_the_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(SIGNED.to_json())
    ME.save("me.key")
    made = run("flower", "new", "study.json", "--key", "me.key")
    assert made.returncode == 0, made.stderr
    assert all(mark in made.stdout for mark in SIGNED.fingerprints)
    assert "! This study has no identities" not in made.stdout
    project = tomllib.loads(Path("app/pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"]["key"] == "me.key"
    assert "The path me.key is in the app, so every data holder can read it" in made.stdout
    assert "start the SuperLink in this folder: me.key is looked for from there" in made.stdout
    secret = Path("me.key").read_text().strip()
    for file in Path("app").rglob("*"):
        text = "" if file.is_dir() else file.read_text()
        assert secret not in text
        assert "key1:" not in text
    assert str(tmp_path) not in Path("app/pyproject.toml").read_text()
    told = Path("app/README.md").read_text()
    assert "`me.key`,\non the SuperLink's machine" in told
    assert "**The path is public: the app goes to every data holder.**" in told
    assert "/etc/fedrank/coordinator.key" in told
    assert told.index("--host 127.0.0.1") < told.index("--host 0.0.0.0") < told.index("**everybody")
    assert "agent new study.json --key NAME.key --rankings FILE" in told
    assert "    flwr run . trial --stream\n" in told


def test_the_key_of_an_app_can_be_elsewhere_or_named_later_but_must_be_the_coordinators(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("study.json").write_text(SIGNED.to_json())
    made = run("flower", "new", "study.json", "there", "--key", "/srv/other machine/me.key")
    assert "/srv/other machine/me.key is not on this machine" in made.stdout
    project = tomllib.loads(Path("there/pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"]["key"] == "/srv/other machine/me.key"
    assert run("flower", "new", "study.json", "later").returncode == 0
    project = tomllib.loads(Path("later/pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"]["key"] == ""
    told = Path("later/README.md").read_text()
    assert """flwr run . trial --stream --run-config 'key="/path/me.key"'""" in told
    told = refused(run("flower", "new", "study.json", "--key", "none.key"))
    assert "none.key: there is no such file" in told
    PARTIES[0].save("other.key")
    told = refused(run("flower", "new", "study.json", "--key", "other.key"))
    assert f"other.key: this key has the fingerprint {PARTIES[0].fingerprint}, but" in told
    told = refused(run("flower", "new", "study.json", "--unsigned"))
    assert "--unsigned is for studies without identities; leave it out" in told
    assert not Path("app").exists()


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
        f"sys.argv = ['fedrank', 'flower', 'new', '--unsigned', {str(tmp_path / 'study.json')!r}]\n"
        "main()\n"
    )
    done = python(code)
    assert done.returncode == 2
    assert "pip install 'fedrank[flower]'" in done.stderr
