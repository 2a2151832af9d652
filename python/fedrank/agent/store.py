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
from fedrank.agent.folder import LEDGER, check_store, is_unused, make_store
from fedrank.agent.ledger import CLOSED, DAY, MASK, PRIVATE, Head, Ledger
from fedrank.exceptions import Code, InputError, RefusalError
from fedrank.protocol.record import Record

HEAD = "head"
BUSY_SECONDS = 600.0  # for which a session that has begun may wait for its next step
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
    state: bytes = field(default=b"", repr=False)

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
        self.ledger_file = folder / LEDGER
        self._ledger: Ledger | None = None  # as it was last read or written
        self._lock: int | None = None
        self._process = 0  # that took the lock
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
        self._lock, self._process = lock, os.getpid()
        for half in self.folder.rglob(".*.part"):  # of a process that was killed; may hold secrets
            half.unlink(missing_ok=True)

    def release(self) -> None:
        """Let another process take the store."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def check_process(self) -> None:
        """Refuse to go on in a copy of the process that took the store: it has the lock, too.

        Raises
        ------
        RefusalError
        """
        if os.getpid() != self._process:
            raise RefusalError(
                Code.ERROR,
                f"{self.folder} is held by process {self._process}, and this is a copy of it: make "
                "an agent in the process that answers",
            )

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
        """Read the ledger, again if its file is another one than before.

        Raises
        ------
        InputError
            If it is gone or damaged.
        RefusalError
            If it does not begin with what was read or written before.
        """
        if self._ledger is None or not self._ledger.is_current():
            found = Ledger(self.ledger_file)
            if self._ledger is not None:
                found.check_extends(self._ledger.head)
            self._ledger = found
        return self._ledger

    # Heads: what the ledger was when something of a study was last written

    def check_head(self, study: str) -> None:
        """Refuse a study that knows of a later ledger than there is.

        Raises
        ------
        RefusalError
        """
        folder = self.studies / study
        try:
            head = Head.from_bytes((folder / HEAD).read_bytes())
        except FileNotFoundError:
            if any(file.is_file() for file in folder.rglob("[!.]*")):
                raise RefusalError(
                    Code.REFUSED, f"{folder / HEAD} is gone, which tells what the ledger must hold"
                ) from None
        except ValueError as error:
            raise RefusalError(Code.REFUSED, f"{folder / HEAD} is damaged") from error
        else:
            self.ledger().check_extends(head)

    def keep_head(self, study: str, *, replace: bool = True) -> None:
        """Keep what the ledger is now; only who holds the store may replace what was kept."""
        path, content = self.studies / study / HEAD, self.ledger().head.to_bytes()
        if path.exists() and (not replace or path.read_bytes() == content):
            return
        with suppress(FileExistsError):
            write_whole(path, content, mode=PRIVATE, sync=True, replace=replace)

    # Studies

    def study_folder(self, study: str) -> Path:
        """Return the folder of a study, which is made if it is not there."""
        folder = self.studies / study
        for each in (folder, folder / "sessions", folder / "runs"):
            if not each.is_dir():
                each.mkdir(mode=0o700)
                sync_folder(each.parent)
        self.keep_head(study, replace=False)
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
        self.keep_head(study)
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
        """Save a session.

        Who sends an old *Begin* again does not keep its session in use.
        """
        self.study_folder(study)
        self.keep_head(study)
        path, content = self.session_file(study, run, round), session.to_bytes()
        if MASK in session.requests or not (path.exists() and path.read_bytes() == content):
            write_whole(path, content, mode=PRIVATE, sync=True)

    def session_file(self, study: str, run: int, round: int) -> Path:
        """Name the file of a session."""
        return self.studies / study / "sessions" / f"{run}-{round}"

    def make_room(self, study: str, run: int, ledger: Ledger) -> None:
        """Have room for one more session of a study.

        Of the runs without a masked input, the sessions go that gave keys only, and then those that
        nobody has used for longest; never one that may be waiting for its next step.

        Raises
        ------
        RefusalError
            If too many have begun within the last minutes.
        """
        entered = {str(entry.run) for entry in ledger.of(study)}
        if str(run) in entered:  # which few runs are
            return
        found = self.files(study, "sessions")
        begun = [each for each in found if each.name.partition("-")[0] not in entered]
        surplus, now = len(begun) - BEGUN_SESSIONS + 1, time.time()
        if surplus <= 0:
            return
        times = {each: each.stat().st_mtime for each in begun}
        idle = [each for each in begun if not 0 <= now - times[each] < BUSY_SECONDS]
        if len(idle) < surplus:
            raise RefusalError(
                Code.REFUSED,
                f"{len(begun)} sessions of the study have begun and got no masked input; begin "
                f"again in {BUSY_SECONDS / 60:.0f} minutes",
            )
        idle.sort(key=lambda each: (has_shared(each), times[each]))
        for each in idle[:surplus]:
            each.unlink()

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
        self.keep_head(study)
        if path.exists() and path.read_bytes() == content:
            os.utime(path)
        else:
            write_whole(path, content, mode=PRIVATE, sync=True)


def has_shared(file: Path) -> bool:
    """Tell whether a session has given its shares; one that cannot be read has not."""
    try:
        return "share" in Session.from_bytes(file.read_bytes()).requests
    except (ValueError, TypeError):
        return False
