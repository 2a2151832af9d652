"""Downloads from a server on this machine that behaves in every way."""

import gzip
import hashlib
import io
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedrank import data
from fedrank.data import download
from fedrank.data.catalogue import CATALOGUE, DataSet, File
from fedrank.exceptions import MissingExtraError

CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2


class Home(BaseHTTPRequestHandler):
    """Serves `content` in the way that `server.manner` says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        self.content = self.server.content
        getattr(self, self.server.manner)()

    def send(self, code, body, claimed=None, **headers):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body) if claimed is None else claimed))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def whole(self):
        self.send(200, self.content)

    def cut(self):
        self.send(200, self.content[:HALF], claimed=len(self.content))

    def cut_in_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n" % HALF + self.content[:HALF] + b"\r\n")
        self.close_connection = True

    def endless(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                self.wfile.write(self.content)
        except OSError:
            self.close_connection = True

    def missing(self):
        self.send(404, b"no")

    def silent(self):
        self.server.done.wait(30)
        self.close_connection = True

    def stalling(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content[:HALF])
        self.wfile.flush()
        self.silent()

    def log_message(self, *_):
        pass


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Home)
    server.content, server.manner, server.asked = CONTENT, "whole", []
    server.done = threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}/a.bin"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    enter(monkeypatch, server.url)
    yield server
    server.done.set()
    server.shutdown()
    thread.join()
    server.server_close()


def enter(monkeypatch, *urls, name="a.bin", content=CONTENT, **more):
    """Put a data set of one file into the catalogue."""
    file = File(name, len(content), hashlib.sha256(content).hexdigest(), urls, **more)
    entry = DataSet("made-up", "made up", 1, 1, "made", (file,), "", "", "", "")
    monkeypatch.setitem(CATALOGUE, "made-up", entry)


def here(folder):
    """All files of a data folder, by name."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_comes_whole_and_is_not_fetched_twice(home, tmp_path):
    for _ in range(2):
        assert data.fetch("made-up", tmp_path) == {"a.bin": tmp_path / "made" / "a.bin"}
    assert here(tmp_path) == {"a.bin": CONTENT}
    assert home.asked == ["/a.bin"]


@pytest.mark.parametrize("manner", ["cut", "cut_in_chunks"])
def test_a_download_that_breaks_off_leaves_nothing_and_starts_again(home, tmp_path, manner):
    home.manner = manner
    with pytest.raises(ValueError, match=r"cannot download a\.bin .*by hand"):
        data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {}
    home.manner = "whole"
    data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {"a.bin": CONTENT}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (CONTENT[::-1], "its SHA-256 is [0-9a-f]{64} and not"),
        (CONTENT[:-1], f"its size is {len(CONTENT) - 1} bytes and not {len(CONTENT)}"),
        (CONTENT + b"x", f"its size is more than {len(CONTENT)} bytes"),
        (b"", "its size is 0 bytes"),
    ],
)
def test_another_file_is_refused_and_not_kept(home, tmp_path, content, problem):
    home.content = content
    with pytest.raises(ValueError, match=f"not the file of the catalogue: {problem}"):
        data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {}


def test_a_server_that_never_ends_is_left(home, tmp_path):
    home.manner = "endless"
    with pytest.raises(ValueError, match="its size is more than"):
        data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {}


@pytest.mark.parametrize(
    ("manner", "problem"),
    [
        ("missing", "404 .*Not Found"),
        ("silent", "timed out"),
        ("stalling", "timed out"),
    ],
)
def test_without_an_answer_it_says_what_to_do(home, tmp_path, manner, problem):
    home.manner = manner
    with pytest.raises(ValueError, match=problem) as caught:
        data.fetch("made-up", tmp_path, timeout=0.3)
    said = str(caught.value)
    assert "\n" not in said
    assert f"download {home.url} by hand, put it at {tmp_path / 'made' / 'a.bin'}" in said
    assert said.endswith("and fetch again")
    assert here(tmp_path) == {}


def test_a_refused_connection_leaves_nothing(home, monkeypatch, tmp_path):
    port = ThreadingHTTPServer(("127.0.0.1", 0), Home)
    port.server_close()  # nobody listens there any more
    enter(monkeypatch, f"http://127.0.0.1:{port.server_port}/a.bin")
    with pytest.raises(ValueError, match=r"cannot download a\.bin .*refused.*by hand"):
        data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {}
    assert home.asked == []


def test_the_second_home_is_asked_when_the_first_fails(home, monkeypatch, tmp_path):
    enter(monkeypatch, "http://127.0.0.1:1/a.bin", home.url)
    data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {"a.bin": CONTENT}


def test_a_wrong_file_is_never_overwritten_unasked(home, tmp_path):
    path = tmp_path / "made" / "a.bin"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"exists, but its size is 4 bytes .*replace=True"):
        data.fetch("made-up", tmp_path)
    assert here(tmp_path) == {"a.bin": b"mine"}
    assert home.asked == []
    home.manner = "missing"
    with pytest.raises(ValueError, match="404"):
        data.fetch("made-up", tmp_path, replace=True)
    assert here(tmp_path) == {"a.bin": b"mine"}  # until the right one is whole
    home.manner = "whole"
    data.fetch("made-up", tmp_path, replace=True)
    assert here(tmp_path) == {"a.bin": CONTENT}


def test_two_at_once_do_not_harm_each_other(home, tmp_path, python):
    done = [fetching(python, home.url, tmp_path) for _ in range(2)]
    for thread, _ in done:
        thread.join()
    assert [result.stderr for _, (result,) in done] == ["", ""]
    assert here(tmp_path) == {"a.bin": CONTENT}


def fetching(python, url, folder):
    """Fetch in a process of its own; returns the thread that waits for it, and its result."""
    code = f"""
from fedrank.data import CATALOGUE, DataSet, File, fetch
file = File("a.bin", {len(CONTENT)}, "{hashlib.sha256(CONTENT).hexdigest()}", ("{url}",))
CATALOGUE["made-up"] = DataSet("made-up", "", 1, 1, "made", (file,), "", "", "", "")
fetch("made-up", r"{folder}")
"""
    results = []
    thread = threading.Thread(target=lambda: results.append(python(code)))
    thread.start()
    return thread, results


def test_without_pooch_it_says_what_to_install_and_what_to_do_instead(home, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"needs pooch: pip install 'fedrank\[data\]'") as e:
        data.fetch("made-up", tmp_path)
    assert f"download {home.url} by hand, put it at {tmp_path / 'made' / 'a.bin'}" in str(e.value)
    (tmp_path / "made" / "a.bin").write_bytes(CONTENT)
    data.fetch("made-up", tmp_path)  # needs no download, so no pooch
    assert home.asked == []


def test_a_file_without_a_home_says_how_it_is_made(monkeypatch, tmp_path):
    enter(monkeypatch, name="t.gz", content=b"text\n", text_only=True, origin="stir well")
    with pytest.raises(ValueError, match=r"cannot be downloaded\. Make it: stir well\. .*put"):
        data.fetch("made-up", tmp_path)
    path = tmp_path / "made" / "t.gz"
    path.write_bytes(gzip.compress(b"txet\n"))
    with pytest.raises(ValueError, match="its SHA-256 is"):
        data.fetch("made-up", tmp_path, replace=True)
    path.write_bytes(gzip.compress(b"text\n")[:-3])
    with pytest.raises(ValueError, match="gzip stream is broken"):
        data.fetch("made-up", tmp_path)
    for level in (1, 9):  # however it was compressed
        path.write_bytes(gzip.compress(b"text\n", level))
        assert data.fetch("made-up", tmp_path) == {"t.gz": path}


def archive(**members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, content in members.items():
            opened.writestr(f"folder/{name}.txt", content)
    return made.getvalue()


def test_members_of_an_archive_are_unpacked(home, monkeypatch, tmp_path):
    home.content = archive(a="first", b="second")
    enter(monkeypatch, home.url, name="a.zip", content=home.content, members=("b.txt",))
    paths = data.fetch("made-up", tmp_path)
    assert paths["b.txt"].read_text() == "second"
    assert set(here(tmp_path)) == {"a.zip", "b.txt"}
    paths["b.txt"].write_text("mine")
    with pytest.raises(ValueError, match=r"b\.txt: .* differs from the one in a\.zip"):
        data.fetch("made-up", tmp_path)
    assert paths["b.txt"].read_text() == "mine"
    data.fetch("made-up", tmp_path, replace=True)
    assert paths["b.txt"].read_text() == "second"
    assert len(home.asked) == 1


def test_an_archive_without_the_member_is_refused(home, monkeypatch, tmp_path):
    home.content = archive(a="first")
    enter(monkeypatch, home.url, name="a.zip", content=home.content, members=("b.txt",))
    with pytest.raises(ValueError, match=r"the archive contains no b\.txt"):
        data.fetch("made-up", tmp_path)


def test_bad_arguments_are_refused(home, tmp_path):
    with pytest.raises(ValueError, match=r"no data set 'sashimi'; the data sets are sushi, jester"):
        data.fetch("sashimi", tmp_path)
    for timeout in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="timeout must be more than 0"):
            data.fetch("made-up", tmp_path, timeout=timeout)
    assert home.asked == []


@pytest.mark.usefixtures("home")
def test_the_data_folder_is_the_one_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDRANK_DATA", str(tmp_path / "there"))
    assert data.fetch("made-up")["a.bin"] == tmp_path / "there" / "made" / "a.bin"


@pytest.mark.parametrize(
    ("platform", "variable", "value", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "/x/cache", "/x/cache/fedrank"),
        ("linux", "XDG_CACHE_HOME", "relative", "/home/me/.cache/fedrank"),
        ("linux", None, None, "/home/me/.cache/fedrank"),
        ("darwin", None, None, "/home/me/Library/Caches/fedrank"),
        ("win32", "LOCALAPPDATA", "/c/local", "/c/local/fedrank/Cache"),
        ("win32", None, None, "/home/me/AppData/Local/fedrank/Cache"),
    ],
)
def test_the_data_folder_is_the_platforms_cache(monkeypatch, platform, variable, value, expected):
    for name in ("FEDRANK_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    if variable:
        monkeypatch.setenv(variable, value)
    assert data.data_folder() == Path(expected)
