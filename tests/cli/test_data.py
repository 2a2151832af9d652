"""``fedrank data``: piped, in a terminal, with and without a network."""

import hashlib
import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fedrank.data import CATALOGUE
from helpers import command

NO_NETWORK = {f"{kind}_proxy": "http://127.0.0.1:1" for kind in ("http", "https")}


def run(*arguments, **environment):
    return command.run("data", *arguments, no_proxy="", **NO_NETWORK, **environment)


def test_help_teaches():
    top = run("--help")
    assert top.returncode == 0
    assert all(word in top.stdout for word in ("list", "info", "fetch", "FEDRANK_DATA"))
    fetch = run("fetch", "--help")
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", fetch.stdout).split())
    for words in ("--folder", "--out", "--replace", "--timeout", "--json", "Without a network"):
        assert words in said


def test_list_is_a_row_a_set(tmp_path):
    done = run("list", "--folder", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = command.cells(done.stdout.splitlines())
    assert [row[0] for row in rows] == list(CATALOGUE)
    assert {row[4] for row in rows} == {"absent"}
    assert "\x1b" not in done.stdout


def test_list_as_json(tmp_path):
    rows = json.loads(run("list", "--json", "--folder", tmp_path).stdout)
    facts = {row["name"]: (row["rankings"], row["items"]) for row in rows}
    assert facts["sushi"] == (5000, 10)
    assert facts == {name: (entry.rankings, entry.items) for name, entry in CATALOGUE.items()}


def test_the_folder_may_come_from_the_environment(tmp_path):
    place = tmp_path / "preflib" / "00004-00000158.soc"
    place.parent.mkdir()
    place.write_bytes(b"mine")
    done = run("list", FEDRANK_DATA=str(tmp_path))
    states = {row[0]: row[4] for row in command.cells(done.stdout.splitlines())}
    assert (states["netflix"], states["aspen"]) == ("wrong", "absent")


def test_list_finds_files_that_were_unpacked_by_hand(tmp_path):
    absent = run("list", "--folder", tmp_path)
    said = " ".join(absent.stdout.split())
    assert f"sushi, by hand: download {CATALOGUE['sushi'].files[0].urls[0]} and put it" in said
    (tmp_path / "sushi").mkdir()
    for name, found in (
        ("sushi3a.5000.10.order", "incomplete: sushi3.udata is missing"),
        (
            "sushi3.udata",
            "unpacked, not verified",
        ),
    ):
        (tmp_path / "sushi" / name).write_text("10 1\n")
        done = run("list", "--folder", tmp_path)
        states = {row[0]: row[4] for row in command.cells(done.stdout.splitlines()) if len(row) > 4}
        assert states["sushi"] == found
        assert ("sushi, by hand: " in done.stdout) == found.startswith("incomplete")
    facts = json.loads(run("info", "sushi", "--json", "--folder", tmp_path).stdout)
    assert facts["files"][0]["state"] == "unpacked, not verified"


def test_list_finds_files_in_the_folder_that_an_archive_unpacks_to(tmp_path):
    inside = tmp_path / "sushi" / "sushi3-2016"
    inside.mkdir(parents=True)
    for name in ("sushi3a.5000.10.order", "sushi3.udata"):
        (inside / name).write_text("10 1\n")
    done = run("list", "--folder", tmp_path)
    states = {row[0]: row[4] for row in command.cells(done.stdout.splitlines()) if len(row) > 4}
    assert states["sushi"] == "unpacked, not verified"
    assert "sushi, by hand: " not in done.stdout


def test_info_tells_all(tmp_path):
    done = run("info", "sushi", "--folder", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    entry = CATALOGUE["sushi"]
    (file,) = entry.files
    for fact in (entry.home, entry.citation, entry.licence, file.sha256, *file.urls):
        assert fact in done.stdout
    rows = command.cells(done.stdout.splitlines())
    assert ["state", "absent"] in rows
    assert ["size", f"{file.size} bytes"] in rows


def test_info_as_json_tells_what_is_wrong(tmp_path):
    path = tmp_path / "sushi" / "sushi3-2016.zip"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    facts = json.loads(run("info", "sushi", "--json", "--out", tmp_path).stdout)
    assert facts["files"][0]["state"] == "its size is 4 bytes and not 222176"
    assert facts["folder"] == str(path.parent)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["info", "sashimi"], "there is no data set 'sashimi'; the data sets are sushi, jester"),
        (["fetch", "maine", "sashimi"], "there is no data set 'sashimi'"),
        (["fetch"], "Missing argument"),
        (["fetch", "maine", "--timeout", "0"], "--timeout"),
        (["guess"], "No such command 'guess'"),
        (["fetch", "maine"], "cannot download Maine_06122018.*by hand, put it at .*again$"),
        (["fetch", "luad"], "cannot download landmark_genes.txt"),
    ],
)
def test_bad_input_is_one_line_and_code_2(tmp_path, arguments, problem):
    done = run(*arguments, FEDRANK_DATA=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert re.search(problem, done.stderr.strip())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# --- with a server ---


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def fetch(tmp_path, python):
    """Run `fedrank data fetch` in a process whose catalogue has a file of this machine's."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "a.txt").write_bytes(b"content")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=shelf))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def run(*arguments):
        code = f"""
import sys
from fedrank.cli import main
from fedrank.data import CATALOGUE, DataSet, File
urls = ("http://127.0.0.1:{server.server_port}/a.txt",)
file = File("a.txt", 7, "{hashlib.sha256(b"content").hexdigest()}", urls)
CATALOGUE["made-up"] = DataSet("made-up", "", 1, 1, "made", (file,), "", "", "", "")
sys.argv = ["fedrank", "data", "fetch", "made-up", *{list(map(str, arguments))!r}]
main()
"""
        return python(code, no_proxy="*")

    yield run
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetch_prints_where_the_files_are(fetch, tmp_path):
    path = tmp_path / "made" / "a.txt"
    for _ in range(2):  # the second time, it is there
        done = fetch("--folder", tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
        assert path.read_bytes() == b"content"
    found = json.loads(fetch("--folder", tmp_path, "--json").stdout)
    assert found == {"made-up": {"a.txt": str(path)}}


def test_fetch_replaces_a_wrong_file_when_told_to(fetch, tmp_path):
    path = tmp_path / "made" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    done = fetch("--folder", tmp_path)
    assert done.returncode == 2
    assert "pass --replace" in done.stderr
    assert path.read_bytes() == b"mine"
    assert fetch("--folder", tmp_path, "--replace").returncode == 0
    assert path.read_bytes() == b"content"


# --- in a terminal ---


@pytest.mark.parametrize("width", [160, 60])
def test_tables_fit_the_terminal_and_lose_no_word(tmp_path, width):
    code, shown = command.in_terminal("data", "list", "--folder", tmp_path, width=160)
    assert code == 0
    assert re.search(r"14,116.*100.*8,095,833.*absent", shown)
    code, shown = command.in_terminal("data", "info", "lusc", "--folder", tmp_path, width=width)
    assert code == 0
    lines = command.visible(shown)
    assert max(map(len, lines)) <= width
    facts = {key: value.replace(" ", "") for key, value in command.cells(lines)}
    entry = CATALOGUE["lusc"]
    for key, fact in ("licence", entry.licence), ("note", entry.note), ("cite", entry.citation):
        assert facts[key] == fact.replace(" ", "")
