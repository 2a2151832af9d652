"""What an agent keeps: states of sessions, records of runs, snapshots of rankings, the ledger.

Everything is written to a file beside its place, forced to the disk, and moved there, before
anybody is told. One process at a time may hold a store.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fedrank._files import sync_folder, write_whole
from fedrank.exceptions import InputError
from fedrank.protocol.record import Record

DAY = 24 * 60 * 60.0  # seconds
PRIVATE = 0o600  # permissions of every file
LEDGER_KEYS = {"time", "session", "run_name", "study", "run", "round"}
NEW_STUDY = "agree on a new study to answer from other rankings"


class Store:
    """The files of one agent.

    Parameters
    ----------
    folder : pathlib.Path
        Made if it is not there, with all that is in it for its owner only.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "state")
    >>> store.keep_snapshot("abc", b"first"), store.keep_snapshot("abc", b"second")
    (b'first', b'first')
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions = folder / "sessions"
        self.runs = folder / "runs"
        self.snapshots = folder / "snapshots"
        self.ledger_file = folder / "ledger.jsonl"
        self._lock: int | None = None
        for each in (folder, self.sessions, self.runs, self.snapshots):
            if not each.is_dir():
                each.mkdir(mode=0o700, parents=True)
                sync_folder(each.parent)
            if each.stat().st_mode & 0o077:
                raise InputError(
                    "other users can read the folder", file=each, remedy=f"run chmod 700 {each}"
                )

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
        for folder in (self.folder, self.sessions, self.runs, self.snapshots):
            for half in folder.glob(".*.part"):  # of a process that was killed; may hold secrets
                half.unlink(missing_ok=True)

    def release(self) -> None:
        """Let another process take the store."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # Sessions

    def state(self, session: str) -> bytes | None:
        """Read the saved state of a session, if there is one."""
        with suppress(FileNotFoundError):
            return (self.sessions / session).read_bytes()
        return None

    def save_state(self, session: str, state: bytes) -> None:
        """Save the state of a session; it holds the replies given so far, too."""
        write_whole(self.sessions / session, state, mode=PRIVATE, sync=True)

    def prune(self) -> None:
        """Delete states and records that nobody has used for a day: they hold secrets."""
        for file in [*self.sessions.iterdir(), *self.runs.iterdir()]:
            if file.stat().st_mtime < time.time() - DAY:
                file.unlink()

    # Records of runs

    def record(self, run: str) -> Record | None:
        """Read what was seen of a run, if anything was."""
        path = self.runs / run
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

    def save_record(self, run: str, record: Record) -> None:
        """Save what was seen of a run, or note that it was used."""
        path, content = self.runs / run, record.to_json().encode()
        if path.exists() and path.read_bytes() == content:
            os.utime(path)
        else:
            write_whole(path, content, mode=PRIVATE, sync=True)

    def make_room(self, most: int) -> None:
        """Have room for one more of at most so many sessions without a masked input.

        Those that nobody has used for longest go. The others are as few as the ledger's runs.
        """
        entered = {line["session"] for line in self.ledger()}
        begun = [file for file in self.sessions.iterdir() if file.name not in entered]
        begun.sort(key=lambda file: file.stat().st_mtime_ns)
        for file in begun[: max(0, len(begun) - most + 1)]:
            file.unlink()

    # Snapshots

    def snapshot(self, digest: str) -> bytes | None:
        """Read what a study is answered from, if it was asked before."""
        with suppress(FileNotFoundError):
            return (self.snapshots / digest).read_bytes()
        return None

    def kept_since(self, digest: str) -> float | None:
        """Tell when that was kept, in seconds since 1970."""
        with suppress(FileNotFoundError):
            return (self.snapshots / digest).stat().st_mtime
        return None

    def keep_snapshot(self, digest: str, content: bytes) -> bytes:
        """Keep the first one, and return the one that is kept."""
        with suppress(FileExistsError):
            path = self.snapshots / digest
            write_whole(path, content, mode=PRIVATE, sync=True, replace=False)
        return (self.snapshots / digest).read_bytes()

    def forget(self, digest: str) -> bool:
        """Delete what a study is answered from; tell whether there was anything.

        Raises
        ------
        ValueError
            If the study got a masked input. A second message for the same study would show,
            subtracted from the first, what this client changed.
        """
        if self.masked(digest):
            raise InputError(
                f"study {digest} got a masked input already", value=digest, remedy=NEW_STUDY
            )
        try:
            (self.snapshots / digest).unlink()
        except FileNotFoundError:
            return False
        sync_folder(self.snapshots)
        return True

    # The ledger

    def ledger(self) -> list[dict[str, Any]]:
        """All runs that were given a masked input, oldest first."""
        try:
            lines = self.ledger_file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [self.entry(line, number) for number, line in enumerate(lines, start=1)]

    def entry(self, line: str, number: int) -> dict[str, Any]:
        """Read a line of the ledger; those of the first format have one round, and no run name."""
        try:
            entry = json.loads(line)
            found: dict[str, Any] = {"run_name": entry["session"], "round": 0} | entry
            if set(found) >= LEDGER_KEYS:
                return found
        except (ValueError, TypeError, LookupError):
            pass
        raise InputError(
            "this is not a line of the ledger, which shows what was sent",
            file=self.ledger_file,
            line=number,
            remedy="restore the file from a backup",
        )

    def runs_today(self, but: str = "") -> int:
        """Count the runs of the last 24 hours, without one of them."""
        since = time.time() - DAY
        recent = {line["run_name"] for line in self.ledger() if line["time"] > since}
        return len(recent - {but})

    def entered(self, session: str) -> bool:
        """Tell whether a session was ever given a masked input."""
        return any(line["session"] == session for line in self.ledger())

    def masked(self, study: str) -> bool:
        """Tell whether a study was ever given a masked input."""
        return any(line["study"] == study for line in self.ledger())

    def enter(self, run_name: str, session: str, study: str, run: int, round: int) -> None:
        """Write a round of a run into the ledger, once."""
        if self.entered(session):
            return
        lines = self.ledger()
        # A clock that was set back makes runs count for longer, never for less long.
        now = max([time.time(), *(line["time"] for line in lines[-1:])])
        entry = {"time": now, "session": session, "run_name": run_name, "study": study}
        lines.append(entry | {"run": run, "round": round})
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        write_whole(self.ledger_file, content, mode=PRIVATE, sync=True)
