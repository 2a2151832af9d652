"""``fedrank identity``: two files per party."""

import json
import os
import re
from pathlib import Path

import pytest

from fedrank.cli import identity as command
from fedrank.protocol.identity import Identity, load_public
from helpers.command import refused, run


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_new_writes_a_private_and_a_public_file():
    made = run("identity", "new", "St. Mary's")
    assert (made.returncode, made.stderr) == (0, "")
    key = Identity.load("St. Mary's.key")
    assert load_public("St. Mary's.pub") == ("St. Mary's", key.public)
    assert sorted(each.name for each in Path().iterdir()) == ["St. Mary's.key", "St. Mary's.pub"]
    assert "private key, which must stay on this machine: St. Mary's.key\n" in made.stdout
    assert f"fingerprint: {key.fingerprint}\n" in made.stdout
    assert "compare the fingerprint by telephone" in made.stdout
    if os.name == "posix":
        assert Path("St. Mary's.key").stat().st_mode & 0o777 == 0o600


def test_show_reads_both_files_and_never_shows_the_secret():
    run("identity", "new", "north", "--folder", ".")
    key = Identity.load("north.key")
    texts = [run("identity", "show", f"north.{end}").stdout for end in ("key", "pub")]
    assert texts[0] == texts[1]
    assert texts[0] == (
        f"name         north\npublic line  {key.public}\nfingerprint  {key.fingerprint}\n"
    )
    told = json.loads(run("identity", "show", "north.pub", "--json").stdout)
    assert told == {"name": "north", "identity": key.public, "fingerprint": key.fingerprint}


def test_the_name_is_that_of_the_public_file_not_of_the_file_itself():
    run("identity", "new", "north")
    Path("north.pub").rename("from-mail.txt")
    assert run("identity", "show", "from-mail.txt").stdout.startswith("name         north\n")


@pytest.mark.parametrize("end", ["key", "pub"])
def test_new_replaces_nothing(end):
    Path(f"north.{end}").write_text("dear")
    told = refused(run("identity", "new", "north"))
    assert f"north.{end}: the file exists already" in told
    assert list(Path().iterdir()) == [Path(f"north.{end}")]
    assert Path(f"north.{end}").read_text() == "dear"


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device", "north.pub"), KeyboardInterrupt()]
)
def test_if_the_public_file_cannot_be_written_nothing_is_left(monkeypatch, error):
    def fail(*_):
        assert Path("north.key").exists()
        raise error

    monkeypatch.setattr(command, "save_public", fail)
    assert run("identity", "new", "north").returncode in (2, 130)
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", ".", "..", "a/b", "a\\b", "a:b", "a*", "a?", 'a"', "a<b", "a>b", "a|b"),
        *(".a", "a.", "a ", " a", "a\tb", "a\nb", "a\x1b[8m", "a\u202eb", "a  b"),
        *("con", "NUL", "com1", "Lpt9.x", "é" * 101, "\udcff"),
    ],
)
def test_names_that_cannot_be_file_names_are_refused(name):
    told = refused(run("identity", "new", name))
    assert "cannot be the name of a file; use letters" in told
    assert not list(Path().iterdir())
    assert "\x1b" not in told


def test_a_name_does_not_begin_like_an_option():
    assert "cannot be the name of a file" in refused(run("identity", "new", "--", "-a"))


@pytest.mark.parametrize("name", ["conrad", "com", "a.b", "é" * 100, "日本 1-2_3"])
def test_other_names_are_allowed(name):
    assert run("identity", "new", name).returncode == 0


def test_a_folder_that_is_not_there_is_named():
    told = refused(run("identity", "new", "north", "--folder", "none"))
    assert told == "fedrank: none: there is no such folder; make it, or name another\n"


def test_show_refuses_what_is_no_identity():
    assert "there is no such file" in refused(run("identity", "show", "none.pub"))
    Path("a.pub").write_text("north")
    assert "a.pub: a public identity must be one line" in refused(run("identity", "show", "a.pub"))


@pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
def test_show_refuses_a_private_key_that_others_can_read():
    run("identity", "new", "north")
    Path("north.key").chmod(0o644)
    assert "chmod 600 north.key" in refused(run("identity", "show", "north.key"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line[:-3], "north.key: .*damaged or incomplete"),
        (lambda line: line[3:], "north.key: .*it is not a private key of fedrank"),
        (lambda _: "", "north.key: .*it is not a private key of fedrank"),
    ],
)
def test_show_says_that_a_private_key_is_damaged(change, message):
    run("identity", "new", "north")
    line = Path("north.key").read_text().strip()
    Path("north.key").write_text(change(line))
    told = refused(run("identity", "show", "north.key"))
    assert re.search(message, told)
    assert line[20:30] not in told


@pytest.mark.parametrize("name", ["north.key", "north.pub", "north.KEY"])
def test_a_name_is_not_that_of_a_file(name):
    told = refused(run("identity", "new", name))
    assert f"must be a name, not that of a file; leave out {name[-4:]}" in told
    assert not list(Path().iterdir())
