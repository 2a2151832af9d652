"""Files that are there whole, or as they were."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, which takes its name only when all is written.

    It grows under another name in the same folder. A link stays one. Whatever ends the
    writing early, an earlier file is as it was, and nothing else is left behind.

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
    try:
        with part.open("wb") as file:
            yield file
        part.replace(target)
    except OSError as error:  # of the name that the user knows
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all, as `whole_file` does.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", b"all of it")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'all of it'
    """
    with whole_file(path) as file:
        file.write(content)
