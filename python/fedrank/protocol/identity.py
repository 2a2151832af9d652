"""Identities: the keys by which the parties of a study know each other."""

import os
from pathlib import Path

from fedrank import _core
from fedrank._files import write_whole
from fedrank.exceptions import InputError, ProtocolError

PRIVATE = 0o600  # permissions of a key file


class Identity:
    """The private keys of one party: one that signs, and one that envelopes are sealed to.

    Its public half is a line of text that goes into the study's roster. The private half belongs
    to the agent of a data holder, or to the coordinator's driver, and never leaves their machine.

    Examples
    --------
    >>> north = Identity.generate()
    >>> north.public[:12], len(north.fingerprint)
    ('fedrank-id1:', 19)
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Identity) -> None:
        self._core = core

    @classmethod
    def generate(cls) -> "Identity":
        """Make a new identity from the operating system's randomness.

        Examples
        --------
        >>> Identity.generate().public == Identity.generate().public
        False
        """
        return cls(_core.Identity.generate())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Identity":
        """Read a key file that `save` wrote.

        Raises
        ------
        InputError
            If the file is not a private key of fedrank, or other users can read it.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "north.key"
        >>> north = Identity.generate()
        >>> north.save(path)
        >>> Identity.load(path) == north
        True
        """
        path = Path(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise InputError(
                "other users can read this private key",
                file=path,
                remedy=f"run chmod 600 {path}; if others had access, make a new identity",
            )
        try:
            return cls(_core.Identity.from_line(path.read_text(encoding="utf-8")))
        except (ProtocolError, UnicodeDecodeError) as error:
            problem = error.problem if isinstance(error, ProtocolError) else "it is not text"
            raise InputError(problem, file=path) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the private keys to a new file, for its owner only.

        Raises
        ------
        FileExistsError
            If the file is there: a lost key cannot be made again.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "north.key"
        >>> Identity.generate().save(path)
        >>> oct(path.stat().st_mode)[-3:]
        '600'
        """
        content = f"{self._core.line()}\n".encode()
        write_whole(Path(path), content, mode=PRIVATE, sync=True, replace=False)

    @property
    def public(self) -> str:
        """The public line, which goes into a study's roster."""
        return self._core.public.line()

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits in groups of four, to compare with another party."""
        return self._core.public.fingerprint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.public == other.public

    def __hash__(self) -> int:
        return hash(self.public)

    def __repr__(self) -> str:
        return f"Identity({self.fingerprint})"  # never the keys

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an Identity holds private keys and is not pickled: use save and load")


def public_identity(line: str) -> _core.PublicIdentity:
    """Read a public line.

    Raises
    ------
    InputError
        If it is not the public line of an identity.

    Examples
    --------
    >>> public_identity(Identity.generate().public).fingerprint[4]
    '-'
    """
    if not isinstance(line, str):
        raise InputError(
            f"an identity must be a public line of text, not {type(line).__name__}", value=line
        )
    try:
        return _core.PublicIdentity.from_line(line)
    except ProtocolError as error:
        raise InputError(error.problem, value=line) from None
