"""The one file writer: a file is there whole, or as it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(
    path: str | os.PathLike[str],
    *,
    mode: int = 0o666,
    sync: bool = False,
    replace: bool = True,
) -> Iterator[IO[bytes]]:
    """Open a file for writing, which takes its name only when all is written.

    It grows under another name in the same folder. A link stays one. Whatever ends the
    writing early, an earlier file is as it was, and nothing else is left behind.

    Parameters
    ----------
    path : path
        The file.
    mode : int
        Its permissions, less the process's umask; 0o600 for what only its owner may read.
    sync : bool
        Whether the content and the name are on the disk before this returns.
    replace : bool
        Whether an earlier file is replaced; otherwise that is a FileExistsError.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"all of it")
    ...         early = (Path(folder) / "a.txt").exists()
    ...     early, os.listdir(folder)
    (False, ['a.txt'])
    """
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
    try:
        with os.fdopen(os.open(part, flags, mode), "wb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            os.link(part, target)  # fails where there is one
        if sync:
            sync_folder(target.parent)
    except OSError as error:  # of the name that the user knows
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        part.unlink(missing_ok=True)


def write_whole(
    path: str | os.PathLike[str],
    content: bytes,
    *,
    mode: int = 0o666,
    sync: bool = False,
    replace: bool = True,
) -> None:
    """Write a file whole or not at all, as `whole_file` does.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", b"all of it")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'all of it'
    """
    with whole_file(path, mode=mode, sync=sync, replace=replace) as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
