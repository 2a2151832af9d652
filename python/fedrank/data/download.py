"""Get the files of the catalogue: verified, and never half-written."""

import gzip
import hashlib
import os
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

from fedrank import _core
from fedrank._files import whole_file, write_whole
from fedrank._progress import Progress
from fedrank._text import noun
from fedrank.data._extras import need
from fedrank.data._text import PathLike
from fedrank.data.catalogue import DataSet, File, data_set
from fedrank.exceptions import InputError, Remedy

BLOCK_BYTES = 1 << 16  # bytes read at a time
TIMEOUT = 30.0  # seconds that a server may be silent
VERIFIED = "verified"
ABSENT = "absent"
UNPACKED = "unpacked, not verified"  # the members are there without their archive
INCOMPLETE = "incomplete"  # some of them are
WRONG = "wrong"
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


class DownloadError(Exception):
    """A server that cannot be reached, or that does not send the file."""


def data_folder() -> Path:
    """Return the folder of the data sets: ``FEDRANK_DATA``, or else the platform's cache folder.

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
    name: str, folder: PathLike | None = None, *, replace: bool = False, timeout: float = TIMEOUT
) -> dict[str, Path]:
    """Download the files of a data set that are missing, and verify all of them.

    A file gets its name only when its size and SHA-256 are right. A download that breaks off
    leaves nothing behind: the next call starts it from the beginning. Files that exist are
    verified and not downloaded again. Downloads need the extra ``data``.

    Parameters
    ----------
    name : str
        A name of `CATALOGUE`.
    folder : str or path, optional
        The data folder; by default `data_folder`. Each data set has a folder of its own in it.
    replace : bool
        Whether an existing file with another content is overwritten.
    timeout : float
        Seconds that a server may be silent.

    Returns
    -------
    paths : dict of str to pathlib.Path
        The files, and the members unpacked from them, by name.

    Raises
    ------
    ValueError
        If a file cannot be downloaded, or is not the one of the catalogue. The message says
        what to do.

    Examples
    --------
    >>> fetch("nothing")
    Traceback (most recent call last):
    fedrank.exceptions.InputError: there is no data set 'nothing'; the data sets are sushi, ...
    """
    entry = data_set(name)
    if not timeout > 0:
        raise InputError(
            f"must be more than 0 seconds, not {timeout}", parameter="timeout", value=timeout
        )
    place = (data_folder() if folder is None else Path(folder)) / entry.folder
    place.mkdir(parents=True, exist_ok=True)
    paths = {}
    # Files that can be downloaded come first, so that only those to make by hand are missing.
    for file in sorted(entry.files, key=lambda file: not file.urls):
        target = find(place, file.name)
        problem = mismatch(target, file)
        if problem is not None and target.exists() and not (replace and file.urls):
            remedy = Remedy.REPLACE if file.urls else "move it away"
            raise InputError(f"the file exists, but {problem}", file=target, remedy=remedy)
        if problem is not None and not file.urls:
            raise InputError(
                f"{file.name} cannot be downloaded. Make it: {file.origin}. "
                f"Then put it at {target} and fetch again"
            )
        if problem is not None:
            download(file, target, timeout)
        paths[file.name] = target
        for member in file.members:
            paths[member] = unpack(target, member, replace)
    return paths


class State(NamedTuple):
    """State of a file.

    Attributes
    ----------
    kind : str
        "verified", "absent", "unpacked, not verified", "incomplete" or "wrong".
    detail : str
        What is missing or wrong, if anything is.

    Examples
    --------
    >>> str(State(INCOMPLETE, "sushi3.udata is missing")), str(State(WRONG, "its size is 0"))
    ('incomplete: sushi3.udata is missing', 'its size is 0')
    """

    kind: str
    detail: str = ""

    @property
    def missing(self) -> bool:
        """Whether the file, or a part of it, is still to be put into its folder."""
        return self.kind in (ABSENT, INCOMPLETE)

    def __str__(self) -> str:
        if self.kind == WRONG:
            return self.detail
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


def find(place: Path, name: str) -> Path:
    """Return where a file is: in this folder, or in a folder inside it, as archives unpack.

    If it is in neither, its path in this folder is returned.

    Examples
    --------
    >>> find(Path("tests"), "sushi.order").as_posix(), find(Path("tests"), "nothing").as_posix()
    ('tests/samples/sushi.order', 'tests/nothing')
    """
    here = place / name
    below = [] if here.exists() else sorted(place.glob(f"*/{name}"))
    return below[0] if below else here


def states(entry: DataSet, folder: PathLike | None = None) -> dict[str, State]:
    """Return the state of each file of a data set.

    An archive that is absent, but whose members were put there by hand, is "unpacked, not
    verified": the catalogue has the checksum of the archive only. If some of the members are there,
    it is "incomplete", and the state names the others.

    Examples
    --------
    >>> from fedrank.data.catalogue import CATALOGUE
    >>> states(CATALOGUE["netflix"], "tests/samples")
    {'00004-00000158.soc': State(kind='absent', detail='')}
    """
    place = (data_folder() if folder is None else Path(folder)) / entry.folder
    return {file.name: state_of(place, file) for file in entry.files}


def state_of(place: Path, file: File) -> State:
    """Return the state of one file in this folder."""
    path = find(place, file.name)
    if path.exists():
        problem = mismatch(path, file)
        return State(VERIFIED) if problem is None else State(WRONG, problem)
    missing = [member for member in file.members if not find(place, member).is_file()]
    if len(missing) == len(file.members):
        return State(ABSENT)
    if not missing:
        return State(UNPACKED)
    verb = noun(len(missing), "is", "are")
    return State(INCOMPLETE, f"{' and '.join(missing)} {verb} missing")


def by_hand(file: File, place: Path) -> str:
    """Say how to put a file into its folder without `fetch`.

    Examples
    --------
    >>> from fedrank.data.catalogue import CATALOGUE
    >>> print(by_hand(CATALOGUE["sushi"].files[0], Path("data/sushi")))
    download https://www.kamishima.net/asset/sushi3-2016.zip and put it into data/sushi, or unpack
    it and put sushi3a.5000.10.order and sushi3.udata there
    """
    if not file.urls:
        return f"make it ({file.origin}) and put it into {place}"
    unpacked = f", or unpack it and put {' and '.join(file.members)} there" if file.members else ""
    return f"download {file.urls[0]} and put it into {place}{unpacked}"


def mismatch(path: Path, file: File) -> str | None:
    """Return how a file differs from the one of the catalogue; None if it does not."""
    if not path.is_file():
        return "it is not a file"
    digest = hashlib.sha256()
    size = 0
    try:
        with (
            gzip.open(path) if file.text_only else path.open("rb") as source,
            Progress(f"verifying {path.name}", file.size) as progress,
        ):
            while block := source.read(BLOCK_BYTES):
                size += len(block)
                digest.update(block)
                progress.advance(len(block))
    except BROKEN_GZIP as error:
        return f"its gzip stream is broken ({error})"
    what = "text" if file.text_only else "size"
    if size != file.size:
        return f"its {what} is {size} bytes and not {file.size}"
    if digest.hexdigest() != file.sha256:
        return f"its SHA-256 is {digest.hexdigest()} and not {file.sha256}"
    return None


def download(file: File, target: Path, timeout: float) -> None:
    """Download a file from the first of its addresses that sends the right bytes."""
    by_hand = f"download {file.urls[0]} by hand, put it at {target}, and fetch again"
    pooch = need("pooch", f"downloading {file.name}", otherwise=by_hand)
    receive = pooch.HTTPDownloader(
        chunk_size=BLOCK_BYTES,
        timeout=timeout,
        headers={"User-Agent": f"fedrank/{_core.VERSION}", "Accept-Encoding": "identity"},
    )
    failures = []
    for url in file.urls:
        try:
            with whole_file(target) as part, Progress(file.name, file.size) as progress:
                receive_from(url, receive, Limited(part, file.size, progress))
                part.flush()
                if problem := mismatch(Path(part.name), file):
                    raise DownloadError(f"this is not the file of the catalogue: {problem}")
        except DownloadError as error:
            failures.append(f"{url}: {error}")
        else:
            return
    raise ValueError(
        f"cannot download {file.name} ({'; '.join(failures)}). Try later, or {by_hand}"
    )


class Limited:
    """A file to download into, which refuses more bytes than the catalogue announces.

    Parameters
    ----------
    file : file object
        Where the bytes go.
    size : int
        Number of bytes announced.
    progress : Progress
        Advanced by the bytes received.
    """

    def __init__(self, file: IO[bytes], size: int, progress: Progress) -> None:
        self.file = file
        self.size = size
        self.progress = progress

    def write(self, block: bytes) -> None:
        """Write a block."""
        self.file.write(block)
        self.progress.advance(len(block))
        if self.progress.done > self.size:
            raise DownloadError(
                f"this is not the file of the catalogue: its size is more than {self.size} bytes"
            )

    def flush(self) -> None:
        """Do nothing: the file is flushed once, at its end."""


def receive_from(url: str, receive: Callable[..., None], target: Limited) -> None:
    """Receive the bytes of one address; a failure of the network is a `DownloadError`."""
    import requests  # noqa: PLC0415  slow to load; pooch depends on it

    try:
        receive(url, target, None)
    except requests.RequestException as error:
        cause = error.args[0] if error.args else error
        raise DownloadError(getattr(cause, "reason", cause)) from None


def unpack(archive: Path, member: str, replace: bool) -> Path:
    """Put a member of an archive next to the archive."""
    target = archive.with_name(member)
    with zipfile.ZipFile(archive) as opened:
        inside = next((name for name in opened.namelist() if Path(name).name == member), None)
        if inside is None:
            raise InputError(f"the archive contains no {member}", file=archive, value=member)
        content = opened.read(inside)
    if target.exists() and target.read_bytes() == content:
        return target
    if target.exists() and not replace:
        raise InputError(
            f"the file exists, but differs from the one in {archive.name}",
            file=target,
            remedy=Remedy.REPLACE,
        )
    write_whole(target, content)
    return target
