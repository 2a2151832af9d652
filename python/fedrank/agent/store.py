"""What an agent keeps: states of sessions, messages of studies, and the ledger.

Everything is written to a file beside its place, forced to the disk, and moved there, before
anybody is told. One process at a time may hold a store.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

DAY = 24 * 60 * 60.0  # seconds


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
    >>> store.keep_message("abc", b"first"), store.keep_message("abc", b"second")
    (b'first', b'first')
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions = folder / "sessions"
        self.messages = folder / "messages"
        self.ledger_file = folder / "ledger.jsonl"
        self._lock: int | None = None
        for each in (folder, self.sessions, self.messages):
            if not each.is_dir():
                each.mkdir(mode=0o700, parents=True)
                sync_folder(each.parent)
            if each.stat().st_mode & 0o077:
                raise ValueError(f"{each} can be read by others: chmod 700 it")

    def take(self) -> None:
        """Become the only process that holds the store, until the process ends or releases it.

        Two processes that go on from one saved state could be made to give secrets away. The
        lock is on the folder itself, since a file in it could be deleted and made again.

        Raises
        ------
        ValueError
            If another process holds it, or it cannot be held.
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
            raise ValueError(f"{self.folder} is in use by an agent that runs") from None
        except OSError as error:
            os.close(lock)
            raise ValueError(
                f"{self.folder} cannot be locked: {error}; keep it on a disk of this machine"
            ) from None
        self._lock = lock
        for folder in (self.folder, self.sessions, self.messages):
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
        write(self.sessions / session, state)

    def prune(self) -> None:
        """Delete states that nobody has used for a day: they hold secrets."""
        for file in self.sessions.iterdir():
            if file.stat().st_mtime < time.time() - DAY:
                file.unlink()

    def make_room(self, most: int) -> None:
        """Have room for one more of at most so many sessions without a masked input.

        Those that nobody has used for longest go. The others are as few as the ledger's runs.
        """
        entered = {line["session"] for line in self.ledger()}
        begun = [file for file in self.sessions.iterdir() if file.name not in entered]
        begun.sort(key=lambda file: file.stat().st_mtime_ns)
        for file in begun[: max(0, len(begun) - most + 1)]:
            file.unlink()

    # Messages

    def message(self, digest: str) -> bytes | None:
        """Read the message that a study was given, if it was given one."""
        with suppress(FileNotFoundError):
            return (self.messages / digest).read_bytes()
        return None

    def kept_since(self, digest: str) -> float | None:
        """Tell when a study was given its message, in seconds since 1970."""
        with suppress(FileNotFoundError):
            return (self.messages / digest).stat().st_mtime
        return None

    def keep_message(self, digest: str, message: bytes) -> bytes:
        """Keep a study's first message, and return the one that is kept."""
        with suppress(FileExistsError):
            write(self.messages / digest, message, replace=False)
        return (self.messages / digest).read_bytes()

    def forget(self, digest: str) -> bool:
        """Delete the message of a study; tell whether there was one."""
        try:
            (self.messages / digest).unlink()
        except FileNotFoundError:
            return False
        sync_folder(self.messages)
        return True

    # The ledger

    def ledger(self) -> list[dict[str, Any]]:
        """All runs that were given a masked input, oldest first."""
        try:
            lines = self.ledger_file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def runs_today(self, but: str = "") -> int:
        """Count the runs of the last 24 hours, without one session."""
        since = time.time() - DAY
        return sum(line["time"] > since and line["session"] != but for line in self.ledger())

    def entered(self, session: str) -> bool:
        """Tell whether a session was ever given a masked input."""
        return any(line["session"] == session for line in self.ledger())

    def enter(self, session: str, study: str, run: int) -> None:
        """Write a run into the ledger, once."""
        if self.entered(session):
            return
        lines = self.ledger()
        # A clock that was set back makes runs count for longer, never for less long.
        now = max([time.time(), *(line["time"] for line in lines[-1:])])
        lines.append({"time": now, "session": session, "study": study, "run": run})
        write(self.ledger_file, "".join(json.dumps(line) + "\n" for line in lines).encode())


def write(path: Path, content: bytes, replace: bool = True) -> None:
    """Write a file whole, and have it on the disk, before this returns."""
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    file = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if replace:
            half.replace(path)
        else:
            os.link(half, path)  # fails where there is one
        sync_folder(path.parent)
    finally:
        half.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
