"""Identities: the keys by which the parties of a study know each other."""

import os
from pathlib import Path

from fedrank import _core
from fedrank._files import write_whole
from fedrank._text import printable
from fedrank.exceptions import InputError, ProtocolError

PRIVATE = 0o600  # permissions of a key file
PRIVATE_START = "fedrank-key1:"
PUBLIC_START = "fedrank-id1:"


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
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError("it is not text", file=path) from None
        private = PRIVATE_START in text
        if PUBLIC_START in text and not private:
            raise InputError("this is the public file", file=path, remedy="name the .key")
        if private and os.name == "posix" and path.stat().st_mode & 0o077:
            raise InputError(
                "other users can read this private key",
                file=path,
                remedy=f"run chmod 600 {path}; if others had access, make a new identity",
            )
        try:
            return cls(_core.Identity.from_line(text))
        except ProtocolError as error:
            raise InputError(error.problem, file=path) from None

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
        If it is not the public line of an identity. The error never has the line itself, which
        may be a private key or a part of one.

    Examples
    --------
    >>> public_identity(Identity.generate().public).fingerprint[4]
    '-'
    """
    if not isinstance(line, str):
        raise InputError(f"an identity must be a public line of text, not {type(line).__name__}")
    refuse_private(line)
    try:
        return _core.PublicIdentity.from_line(line)
    except ProtocolError as error:
        raise InputError(error.problem) from None


def refuse_private(text: str) -> None:
    """Refuse a private key in the place of what others will see, and do not repeat it.

    Examples
    --------
    >>> refuse_private("fedrank-key1:…")
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: this is a private key; pass its public line (.public, or the .pub
    file)
    """
    if PRIVATE_START in text.lower():
        raise InputError(
            "this is a private key", remedy="pass its public line (.public, or the .pub file)"
        )


def save_public(path: str | os.PathLike[str], name: str, line: str) -> None:
    """Write a name and a public line to a new file, to send to others.

    Raises
    ------
    FileExistsError
        If the file is there.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "north.pub"
    >>> save_public(path, "north", Identity.generate().public)
    >>> path.read_text()[:18]
    'north fedrank-id1:'
    """
    write_whole(path, f"{name} {line}\n".encode(), sync=True, replace=False)


def load_public(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Read what `save_public` wrote: a name and a public line.

    Raises
    ------
    InputError
        If the file is not one line with both, or the line is damaged.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "north.pub"
    >>> north = Identity.generate()
    >>> save_public(path, "north of here", north.public)
    >>> load_public(path) == ("north of here", north.public)
    True
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError("it is not text", file=path) from None
    if PRIVATE_START in text:
        raise InputError(
            "this file has a private key, which must stay where it is",
            file=path,
            remedy="name the file of the public line, which ends in .pub",
        )
    name, _, line = text.replace("\t", " ").rpartition(" ")
    name = name.strip()
    if not name or printable(name) != name:  # a second line would be part of the name
        raise InputError(
            "a public identity must be one line: a name, a space and the public line", file=path
        )
    try:
        return name, public_identity(line).line()
    except InputError as error:
        raise InputError(error.problem, file=path) from None
