"""Files and folders that are written completely or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fedrank.exceptions import InputError

READABLE = 0o666  # permissions of a file for everybody, less the umask


@contextmanager
def whole_file(
    path: str | os.PathLike[str],
    *,
    mode: int = READABLE,
    sync: bool = False,
    replace: bool = True,
) -> Iterator[IO[bytes]]:
    """Open a file for writing that gets its name only when all of it is written.

    Until then it has a temporary name, ``.<name>.<process id>.part``, in the same folder. If
    writing fails, an earlier file is unchanged and the temporary file is deleted. A symbolic
    link stays a link: the file that it points to is replaced.

    Parameters
    ----------
    path : str or path
        The file.
    mode : int
        Permissions of the file, less the umask: 0o600 for a secret.
    sync : bool
        Whether file and name are on the disk when this returns, so that they survive a crash
        of the machine.
    replace : bool
        Whether an earlier file is replaced. False raises FileExistsError and keeps it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"all of it")
    ...         early = (Path(folder) / "a.txt").exists()
    ...     early, os.listdir(folder)
    (False, ['a.txt'])
    """
    target = Path(path).resolve()
    # A pipe or a device would be replaced; a folder raises an error of its own.
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise InputError("only a regular file can be replaced", file=path, remedy="name another")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)  # of a process with the same number that was killed
        # Path.open has no opener, and the permissions must hold from the first moment.
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            os.link(part, target)  # unlike a rename, it fails if the target exists
        if sync:
            sync_folder(target.parent)
    except OSError as error:  # name the file that the caller knows, not the temporary one
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        part.unlink(missing_ok=True)


def write_whole(
    path: str | os.PathLike[str],
    content: bytes,
    *,
    mode: int = READABLE,
    sync: bool = False,
    replace: bool = True,
) -> None:
    """Write a file completely or not at all, with the options of `whole_file`.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", b"all of it")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'all of it'
    """
    with whole_file(path, mode=mode, sync=sync, replace=replace) as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk; only Unix systems can and need to."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def whole_folder(path: Path, *, mode: int = 0o777) -> Iterator[Path]:
    """Make a new folder that gets its name only when all files in it are written.

    Parameters
    ----------
    path : pathlib.Path
        The folder. It must not exist, and its parent must.
    mode : int
        Permissions of the folder, less the umask: 0o700 for secrets.

    Raises
    ------
    ValueError
        If the folder exists, or its parent does not.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with whole_folder(Path(parent) / "app") as folder:
    ...         write_whole(folder / "a.txt", b"all of it")
    ...     os.listdir(parent)
    ['app']
    """
    if path.exists():
        raise InputError("the folder exists already", file=path, remedy="name a new folder")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", file=path)
    part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        yield part
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(mode & ~umask)
        part.rename(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


class Lock:
    """A file that one process at a time can hold, until it ends or releases it.

    Parameters
    ----------
    path : pathlib.Path
        The file, which is there only while it is held.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = Lock(Path(folder) / "a.lock"), Lock(Path(folder) / "a.lock")
    ...     first.take()
    ...     try:
    ...         second.take()
    ...     except ValueError as error:
    ...         print(str(error).partition("a.lock")[2])
    ...     first.release()
    : another process holds this file; wait until it ends
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None

    def take(self) -> None:
        """Hold the file.

        Raises
        ------
        ValueError
            If another process, or another object of this one, holds it.
        """
        try:
            import fcntl  # noqa: PLC0415  only on Unix systems
        except ImportError:
            return
        while self._held is None:
            held = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its last holder may have deleted it meanwhile: then another file has the name.
                if self.path.exists() and self.path.stat().st_ino == os.fstat(held).st_ino:
                    self._held = held
            except BlockingIOError:
                raise InputError(
                    "another process holds this file", file=self.path, remedy="wait until it ends"
                ) from None
            finally:
                if self._held is None:
                    os.close(held)

    def release(self) -> None:
        """Let another process hold the file."""
        if self._held is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._held)
            self._held = None
