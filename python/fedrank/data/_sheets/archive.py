"""The members of a workbook that is a zip archive, unpacked within limits."""

import io
import posixpath
import sys
import zipfile
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from fedrank.data._sheets.extent import BrokenError
from fedrank.data._text import PathLike, fail

MAX_UNPACKED_BYTES = 2**30  # of all members of a workbook
MAX_SMALL_BYTES = 2**26  # what a workbook of any size may unpack to
MAX_RATIO = 200  # bytes unpacked for each byte of the file, above that; tables have 5 to 100
BLOCK_BYTES = 2**18  # unpacked at a time


class Archive:
    """The members of a zip archive.

    Parameters
    ----------
    path : str or path
        The file, for error messages.
    data : bytes
        The archive.
    advance : callable
        Is told which part of the archive was read since the last time.

    Attributes
    ----------
    members : dict of str to zipfile.ZipInfo
        The members by name. The library that reads sheets takes capitals for small letters, and
        backslashes for slashes, so the names are in small letters.
    """

    def __init__(self, path: PathLike, data: bytes, advance: Callable[[float], None]) -> None:
        self.archive = zipfile.ZipFile(io.BytesIO(data))
        infos = self.archive.infolist()
        self.members = {plain_name(info.filename): info for info in infos}
        if len(self.members) < len(infos):
            raise BrokenError("two members of the archive have the same name")
        for name in self.members:
            if posixpath.normpath(name) != name.rstrip("/"):
                raise BrokenError(f"the archive has a member with the unclear name {name!r}")
        self.rest = set(self.members)
        self.total = sum(info.file_size for info in infos)
        self.advance = advance
        limit = min(MAX_UNPACKED_BYTES, max(MAX_SMALL_BYTES, MAX_RATIO * len(data)))
        if self.total > limit:
            fail(
                path,
                None,
                f"the workbook of {len(data)} bytes unpacks to {self.total} bytes; at most {limit} "
                "are read",
                value=self.total,
                remedy="save the sheet with the rankings as CSV",
            )

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a member, which must have the size that the archive states."""
        info = self.members[name]
        size, info.file_size = info.file_size, sys.maxsize  # zipfile would stop there
        self.rest.discard(name)
        read = 0
        try:
            with self.archive.open(info) as file:
                while block := file.read(BLOCK_BYTES):
                    read += len(block)
                    if read > size:
                        break
                    self.advance(len(block) / self.total)
                    yield block
        finally:
            info.file_size = size
        if read != size:
            raise BrokenError(f"{info.filename} does not have the size that the archive states")

    def read_rest(self) -> None:
        """Read the members that nobody has read, so that all sizes are checked."""
        for name in sorted(self.rest):
            for _ in self.blocks(name):
                pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.archive.close()


def plain_name(name: str) -> str:
    r"""Return the name of a member in small letters, with slashes.

    Examples
    --------
    >>> plain_name("xl\\Workbook.xml")
    'xl/workbook.xml'
    """
    return name.replace("\\", "/").lower()
