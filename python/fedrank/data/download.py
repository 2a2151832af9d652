"""Get the files of the catalogue: resumable, verified, and never half-written."""

import gzip
import hashlib
import http.client
import os
import shlex
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedrank import _core
from fedrank._files import write_whole
from fedrank._progress import Progress
from fedrank.data._files import PathLike
from fedrank.data.catalogue import DataSet, File, data_set

if sys.platform != "win32":
    import fcntl

BLOCK = 1 << 16
TIMEOUT = 30.0  # seconds that a server may be silent
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


class NoAnswerError(Exception):
    """A server that cannot be reached, or does not send the file."""


def data_folder() -> Path:
    """Tell where data sets are kept: ``FEDRANK_DATA``, or else the platform's cache folder.

    Returns
    -------
    folder : pathlib.Path
        It may not exist yet.

    Examples
    --------
    >>> data_folder().is_absolute()
    True
    """
    if chosen := os.environ.get("FEDRANK_DATA"):
        return Path(chosen).absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "fedrank" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fedrank"
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "fedrank"


def fetch(
    name: str, folder: PathLike | None = None, replace: bool = False, timeout: float = TIMEOUT
) -> dict[str, Path]:
    """Get a data set: what is not there yet is downloaded, and everything is verified.

    A download grows under the name ``….part``, and a later call goes on where it stopped. It
    takes its own name only when size and SHA-256 are right. Nothing is downloaded if the
    files are there already.

    Parameters
    ----------
    name : str
        A name of `CATALOGUE`.
    folder : str or path, optional
        The data folder; by default `data_folder`. Each set has a folder of its own in it.
    replace : bool
        Whether a file that is there, and wrong, may be overwritten.
    timeout : float
        Seconds that a server may be silent.

    Returns
    -------
    paths : dict of str to pathlib.Path
        The files, and what was unpacked from them, by name.

    Raises
    ------
    ValueError
        If a file cannot be had, or is not what it should be. The message says what to do.

    Examples
    --------
    >>> fetch("nothing")
    Traceback (most recent call last):
    ValueError: there is no data set 'nothing'; there are sushi, jester, ...
    """
    entry = data_set(name)
    if not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout}")
    place = (data_folder() if folder is None else Path(folder)) / entry.folder
    command = f"fedrank data fetch {name}"
    if folder is not None:
        command += f" --folder {shlex.quote(os.fspath(folder))}"
    place.mkdir(parents=True, exist_ok=True)
    paths = {}
    # Those with a home first: a set is then as complete as it can be without the user.
    for file in sorted(entry.files, key=lambda file: not file.urls):
        target = place / file.name
        problem = mismatch(target, file)
        if problem is not None and target.exists() and not (replace and file.urls):
            raise ValueError(
                f"{target} is there, but {problem}: move it away"
                + (" or pass --replace (replace=True)" if file.urls else "")
                + f", then run '{command}' again"
            )
        if problem is not None and not file.urls:
            raise ValueError(
                f"{file.name} has no public home. Make it: {file.origin}. "
                f"Then put it at {target} and run '{command}' again"
            )
        if problem is not None:
            download(file, target, timeout, command)
        paths[file.name] = target
        for member in file.members:
            paths[member] = unpack(target, member, replace, command)
    return paths


def states(entry: DataSet, folder: PathLike | None = None) -> dict[str, str]:
    """Tell of each file of a set whether it is there: "verified", "absent", or what is wrong.

    Examples
    --------
    >>> from fedrank.data.catalogue import CATALOGUE
    >>> states(CATALOGUE["netflix"], "tests/samples")
    {'00004-00000158.soc': 'absent'}
    """
    place = (data_folder() if folder is None else Path(folder)) / entry.folder
    return {
        file.name: mismatch(place / file.name, file) or "verified"
        if (place / file.name).exists()
        else "absent"
        for file in entry.files
    }


def mismatch(path: Path, file: File) -> str | None:
    """Tell what is wrong with a file; None if it is the one of the catalogue."""
    if not path.is_file():
        return "it is not a file"
    digest = hashlib.sha256()
    size = 0
    try:
        with gzip.open(path) if file.text_only else path.open("rb") as source:
            while block := source.read(BLOCK):
                size += len(block)
                digest.update(block)
    except BROKEN_GZIP as error:
        return f"its gzip stream is broken ({error})"
    what = "text" if file.text_only else "size"
    if size != file.size:
        return f"its {what} is {size} bytes and not {file.size}"
    if digest.hexdigest() != file.sha256:
        return f"its SHA-256 is {digest.hexdigest()} and not {file.sha256}"
    return None


def download(file: File, target: Path, timeout: float, command: str) -> None:
    """Download from the first home that sends the right bytes."""
    part = target.with_name(target.name + ".part")
    said = []
    with claimed(part):
        for url in file.urls:
            try:
                receive(file, url, part, timeout)
            except NoAnswerError as error:
                said.append(f"{url}: {error}")
            else:
                part.replace(target)
                return
        kept = f"; {part} keeps what has come, and will be continued"
        if not part.stat().st_size:
            part.unlink()
            kept = ""
    raise ValueError(
        f"cannot fetch {file.name} ({'; '.join(said)}). Try later, or download {file.urls[0]} by "
        f"hand, put it at {target}, and run '{command}' again{kept}"
    )


@contextmanager
def claimed(part: Path) -> Iterator[None]:
    """Hold a partial file, so that no other process writes to it meanwhile."""
    if sys.platform == "win32":  # there, a file that is open can be neither renamed nor removed
        part.touch()
        yield
        return
    with part.open("ab") as claim:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = part.exists() and os.path.samestat(os.fstat(claim.fileno()), part.stat())
        except BlockingIOError:
            mine = False
        if not mine:
            raise ValueError(f"{part} is being written by another process: wait for it to end")
        yield


def receive(file: File, url: str, part: Path, timeout: float) -> None:
    """Complete a partial file; one that turns out wrong goes, and comes once more from 0."""
    start = part.stat().st_size
    if start < file.size:
        grow(file, url, part, start, timeout)
    problem = mismatch(part, file)
    if problem is None:
        return
    if part.stat().st_size < file.size:
        raise NoAnswerError("the connection ended early")
    os.truncate(part, 0)
    if not start:
        raise NoAnswerError(f"this is not the file known here: {problem}; it was not kept")
    receive(file, url, part, timeout)


def grow(file: File, url: str, part: Path, start: int, timeout: float) -> None:
    """Append what the server sends to a partial file."""
    with (
        Progress(file.name, file.size) as progress,
        part.open("r+b") as out,
    ):
        first = True
        for place, block in pieces(url, start, file.size, timeout):
            if first:  # from where it stopped, or from the beginning if the server cannot
                out.seek(place)
                out.truncate()
                progress.advance(place)
                first = False
            out.write(block)
            progress.advance(len(block))
            if out.tell() > file.size:
                return


def pieces(url: str, start: int, size: int, timeout: float) -> Iterator[tuple[int, bytes]]:
    """Bytes of a file as they come, each with its place: from ``start`` if the server can."""
    headers = {"User-Agent": f"fedrank/{_core.VERSION}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=timeout) as response:
            place = start if response.status == 206 else 0
            if place and response.headers["Content-Range"] != f"bytes {start}-{size - 1}/{size}":
                yield from pieces(url, 0, size, timeout)
                return
            length = response.headers["Content-Length"]
            if length is not None and length != str(size - place):
                raise NoAnswerError(
                    f"the file there has {length} bytes and not {size - place}: it is another one"
                )
            # read1 gives what has come: a bar moves, and what came before a failure is kept.
            while block := response.read1(BLOCK):
                yield place, block
                place += len(block)
    except urllib.error.HTTPError as error:
        with error:
            if not (start and error.code == 416):  # 416: there is no such range
                raise NoAnswerError(f"{error.code} {error.reason}") from None
        yield from pieces(url, 0, size, timeout)
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswerError(reason(error)) from None


def reason(error: Exception) -> str:
    """Say in a few words why there is no answer.

    Examples
    --------
    >>> reason(TimeoutError("timed out"))
    'timed out'
    >>> reason(http.client.IncompleteRead(b"x", 8))
    'the connection ended early'
    """
    if isinstance(error, http.client.IncompleteRead):
        return "the connection ended early"
    return str(getattr(error, "reason", "") or error) or type(error).__name__


def unpack(archive: Path, member: str, replace: bool, command: str) -> Path:
    """Put a member of an archive beside it."""
    target = archive.with_name(member)
    with zipfile.ZipFile(archive) as opened:
        inside = next((name for name in opened.namelist() if Path(name).name == member), None)
        if inside is None:
            raise ValueError(f"{archive}: there is no {member} in this archive")
        content = opened.read(inside)
    if target.exists() and target.read_bytes() == content:
        return target
    if target.exists() and not replace:
        raise ValueError(
            f"{target} is there, but is not that of {archive.name}: move it away or pass "
            f"--replace (replace=True), then run '{command}' again"
        )
    write_whole(target, content)
    return target
