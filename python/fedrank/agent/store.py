"""What an agent keeps: the ledger, and for each study its text, rankings, sessions and runs.

Everything is written to a file beside its place, forced to the disk, and moved there, before
anybody is told. One process at a time may hold a store. A store is one identity's for ever: it
knows what this identity gave, and another store would not.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fedrank._files import sync_folder, write_whole
from fedrank._json import canonical
from fedrank.agent.ledger import CLOSED, DAY, PRIVATE, Ledger
from fedrank.exceptions import Code, InputError, RefusalError, Remedy
from fedrank.protocol.identity import public_identity
from fedrank.protocol.record import Record

STORE_FORMAT = 2  # of the folder
FIRST_FORMAT = {"ledger.jsonl", "runs", "sessions", "snapshots"}  # which had no file that says so
BEGUN_SESSIONS = 16  # that are kept in each study: those that got no masked input


@dataclass
class Session:
    """One round of one run, as it is kept.

    Attributes
    ----------
    requests : dict of str to str
        SHA-256 of the request of each step that was answered.
    state : bytes
        What secure aggregation needs to go on; it holds secrets, and the replies given.
    """

    requests: dict[str, str] = field(default_factory=dict)
    state: bytes = b""

    def to_bytes(self) -> bytes:
        """Write a line of JSON, and the state."""
        return canonical(self.requests).encode() + b"\n" + self.state

    @classmethod
    def from_bytes(cls, content: bytes) -> "Session":
        """Read what `to_bytes` wrote."""
        line, _, state = content.partition(b"\n")
        requests = json.loads(line)
        if not isinstance(requests, dict):
            raise TypeError("the requests are not an object")
        return cls(requests, state)


class Store:
    """The files of one agent.

    Parameters
    ----------
    folder : pathlib.Path
        Where they are. Without an identity it is made if it is not there.
    identity : str, optional
        The public line of the identity whose store it is.

    Raises
    ------
    InputError
        If it is another's store, of another format, readable for other users, or not there.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "state")
    >>> store.keep_rankings("abc", b"first"), store.keep_rankings("abc", b"second")
    (b'first', b'first')
    """

    def __init__(self, folder: Path, identity: str | None = None) -> None:
        self.folder = folder
        self.studies = folder / "studies"
        self.ledger_file = folder / "ledger.jsonl"
        self._lock: int | None = None
        if identity is None and is_unused(folder):
            make_store(folder, None)
        check_store(folder, identity)

    def take(self) -> None:
        """Become the only process that holds the store, until the process ends or releases it.

        Two processes that go on from one saved state could be made to give secrets away. The
        lock is on the folder itself, since a file in it could be deleted and made again.

        Raises
        ------
        ValueError
            If another process holds the lock, or the folder does not support locks.
        """
        try:
            import fcntl  # noqa: PLC0415  not on all systems
        except ImportError:
            raise ValueError("an agent needs a Unix system") from None
        lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise InputError(
                "the folder is in use by an agent that runs",
                file=self.folder,
                remedy="stop that agent first, or name another folder",
            ) from None
        except OSError as error:
            os.close(lock)
            raise InputError(
                f"the folder cannot be locked ({error})",
                file=self.folder,
                remedy="keep it on a disk of this machine",
            ) from None
        self._lock = lock
        for half in self.folder.rglob(".*.part"):  # of a process that was killed; may hold secrets
            half.unlink(missing_ok=True)

    def release(self) -> None:
        """Let another process take the store."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def check_place(self) -> None:
        """Refuse to go on if the folder is not the one that was locked.

        If it was moved away and a copy was put in its place, another agent may hold it, too.

        Raises
        ------
        RefusalError
        """
        assert self._lock is not None  # an agent holds its store
        try:
            locked, found = os.fstat(self._lock), self.folder.stat()
            same = (locked.st_dev, locked.st_ino) == (found.st_dev, found.st_ino)
        except FileNotFoundError:
            same = False
        if not same:
            raise RefusalError(
                Code.ERROR,
                f"{self.folder} is not the folder that this agent locked when it started: it was "
                "moved or replaced; put it back, and restart the agent",
            )

    def ledger(self) -> Ledger:
        """Read the ledger."""
        return Ledger(self.ledger_file)

    # Studies

    def study_folder(self, study: str) -> Path:
        """Return the folder of a study, which is made if it is not there."""
        folder = self.studies / study
        for each in (folder, folder / "sessions", folder / "runs"):
            if not each.is_dir():
                each.mkdir(mode=0o700)
                sync_folder(each.parent)
        return folder

    def keep_study(self, study: str, text: str) -> None:
        """Keep the canonical JSON of a study."""
        path = self.study_folder(study) / "study.json"
        if not path.exists():
            write_whole(path, text.encode(), mode=PRIVATE, sync=True)

    def study(self, study: str) -> str | None:
        """Read the JSON of a study, if it was kept."""
        with suppress(FileNotFoundError):
            return (self.studies / study / "study.json").read_text(encoding="utf-8")
        return None

    def allow(self, study: str, text: str) -> None:
        """Allow a study, beside those that the configuration allows."""
        self.keep_study(study, text)
        write_whole(self.study_folder(study) / "allowed", b"", mode=PRIVATE, sync=True)

    def disallow(self, study: str) -> bool:
        """Allow a study no more; tell whether it was allowed.

        The text of one that got nothing goes, so that later ones are not compared with it.
        """
        folder = self.studies / study
        allowed = self.allows(study)
        (folder / "allowed").unlink(missing_ok=True)
        if not self.ledger().of(study):
            (folder / "study.json").unlink(missing_ok=True)
        if folder.is_dir():
            sync_folder(folder)
        return allowed

    def allows(self, study: str) -> bool:
        """Tell whether a study was allowed."""
        return (self.studies / study / "allowed").exists()

    def rankings(self, study: str) -> bytes | None:
        """Read what a study is answered from, if it was asked before."""
        with suppress(FileNotFoundError):
            return (self.studies / study / "rankings").read_bytes()
        return None

    def kept_since(self, study: str) -> float | None:
        """Tell when that was kept, in seconds since 1970."""
        with suppress(FileNotFoundError):
            return (self.studies / study / "rankings").stat().st_mtime
        return None

    def keep_rankings(self, study: str, content: bytes) -> bytes:
        """Keep the first ones, and return those that are kept."""
        path = self.study_folder(study) / "rankings"
        with suppress(FileExistsError):
            write_whole(path, content, mode=PRIVATE, sync=True, replace=False)
        return path.read_bytes()

    def forget(self, study: str) -> bool:
        """Delete what a study is answered from; tell whether there was anything."""
        folder = self.studies / study
        try:
            (folder / "rankings").unlink()
        except FileNotFoundError:
            return False
        sync_folder(folder)
        return True

    def close(self, study: str) -> None:
        """End a study for ever, and delete its rankings and the keys of its sessions.

        A second message for the same study would show, subtracted from the first, what changed.
        """
        self.ledger().enter(study, CLOSED)
        folder = self.study_folder(study)
        for file in [*(folder / "sessions").iterdir(), *(folder / "runs").iterdir()]:
            file.unlink()
        (folder / "allowed").unlink(missing_ok=True)
        self.forget(study)

    # Sessions

    def session(self, study: str, run: int, round: int) -> Session | None:
        """Read a session, if it is kept."""
        path = self.session_file(study, run, round)
        try:
            return Session.from_bytes(path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise InputError(
                f"the session is damaged ({type(error).__name__})",
                file=path,
                remedy="take part in a new run",
            ) from None

    def save_session(self, study: str, run: int, round: int, session: Session) -> None:
        """Save a session."""
        self.study_folder(study)
        path = self.session_file(study, run, round)
        write_whole(path, session.to_bytes(), mode=PRIVATE, sync=True)

    def session_file(self, study: str, run: int, round: int) -> Path:
        """Name the file of a session."""
        return self.studies / study / "sessions" / f"{run}-{round}"

    def make_room(self, study: str, ledger: Ledger) -> None:
        """Have room for one more session of a study.

        Of those without a masked input, the ones that nobody has used for longest go.
        """
        entered = {f"{entry.run}-{entry.round}" for entry in ledger.of(study)}
        begun = [file for file in self.files(study, "sessions") if file.name not in entered]
        begun.sort(key=lambda file: file.stat().st_mtime_ns)
        for file in begun[: max(0, len(begun) - BEGUN_SESSIONS + 1)]:
            file.unlink()

    def prune(self) -> None:
        """Delete sessions and records that nobody has used for a day: they hold secrets.

        A session that has confirmed a list of survivors is kept, with the record of its run, until
        the round is opened: no other session can open it.
        """
        ledger, before = self.ledger(), time.time() - DAY
        for study in self.studies.iterdir():
            waiting = ledger.waiting(study.name)
            kept = {f"{run}-{round}" for run, round in waiting} | {str(run) for run, _ in waiting}
            for kind in ("sessions", "runs"):
                for file in self.files(study.name, kind):
                    if file.name not in kept and file.stat().st_mtime < before:
                        file.unlink()

    def files(self, study: str, kind: str) -> Iterator[Path]:
        """List the files of a study's sessions or runs."""
        with suppress(FileNotFoundError):
            yield from list((self.studies / study / kind).iterdir())

    # Records of runs

    def record(self, study: str, run: int) -> Record | None:
        """Read what was seen of a run, if anything was."""
        path = self.studies / study / "runs" / str(run)
        try:
            return Record.from_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError) as error:
            raise InputError(
                f"the record of the run is damaged ({type(error).__name__}: {error})",
                file=path,
                remedy="take part in a new run",
            ) from None

    def save_record(self, study: str, run: int, record: Record) -> None:
        """Save what was seen of a run, or note that it was used."""
        path, content = self.study_folder(study) / "runs" / str(run), record.to_json().encode()
        if path.exists() and path.read_bytes() == content:
            os.utime(path)
        else:
            write_whole(path, content, mode=PRIVATE, sync=True)


def is_unused(folder: Path) -> bool:
    """Tell whether a folder may become a store: it is not there, or has nothing in it.

    Examples
    --------
    >>> is_unused(Path("/nowhere")), is_unused(Path("/"))
    (True, False)
    """
    # A store that was being made when the process was killed has no format yet.
    return not folder.exists() or {file.name for file in folder.iterdir()} <= {
        "identity",
        "studies",
    }


def make_store(folder: Path, identity: str | None) -> None:
    """Make a new store, which knows of nothing that its identity ever gave.

    Raises
    ------
    InputError
        If the folder has anything in it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "state"
    >>> make_store(folder, None)
    >>> sorted(file.name for file in folder.iterdir())
    ['format', 'studies']
    """
    if not is_unused(folder):
        raise InputError(
            "the folder is not empty", file=folder, remedy="name a new folder for the store"
        )
    for each in (folder, folder / "studies"):
        if not each.is_dir():
            each.mkdir(mode=0o700, parents=True)
            sync_folder(each.parent)
        check_private(each)
    if identity is not None:
        write_whole(folder / "identity", f"{identity}\n".encode(), mode=PRIVATE, sync=True)
    write_whole(folder / "format", f"{STORE_FORMAT}\n".encode(), mode=PRIVATE, sync=True)


def check_store(folder: Path, identity: str | None) -> None:
    """Refuse a folder that is not the store of an identity, in this format, for its owner only."""
    if is_unused(folder):
        who = "" if identity is None else f" of identity {fingerprint(identity)}"
        raise InputError(f"there is no store{who}", file=folder, remedy=Remedy.NEW_STORE)
    check_format(folder)
    for each in (folder, folder / "studies"):
        check_private(each)
    bound = None
    with suppress(FileNotFoundError):
        bound = (folder / "identity").read_text(encoding="utf-8").strip()
    if bound != identity:
        whose = ["no identity" if each is None else fingerprint(each) for each in (bound, identity)]
        raise InputError(
            f"this is the store of {whose[0]}, and the configuration is of {whose[1]}",
            file=folder,
            remedy="name the key that it belongs to, or another folder",
        )


def check_private(folder: Path) -> None:
    """Refuse a folder that others than its owner can use."""
    if folder.stat().st_mode & 0o077:
        raise InputError(
            "other users can read the folder", file=folder, remedy=f"run chmod 700 {folder}"
        )


def check_format(folder: Path) -> None:
    """Refuse a store of another format, and say what to do."""
    try:
        found = (folder / "format").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        if not FIRST_FORMAT & {file.name for file in folder.iterdir()}:
            raise InputError(
                "this is not the store of an agent", file=folder, remedy="name a new folder"
            ) from None
        found = "1"
    if found != str(STORE_FORMAT):
        raise InputError(
            f"the store has format {found}, and this version of fedrank reads format "
            f"{STORE_FORMAT}",
            file=folder,
            remedy="use the version that made it; or take all studies that it answered out of the "
            "configuration, and name a new folder",
        )


def fingerprint(identity: str) -> str:
    """Return the fingerprint of a public line, or say that it is none."""
    try:
        return public_identity(identity).fingerprint
    except InputError:
        return "a damaged identity"
