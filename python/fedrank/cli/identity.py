"""``fedrank identity``: the keys by which the parties of a study know each other."""

import re
from pathlib import Path
from typing import Annotated

import typer

from fedrank._text import printable
from fedrank.cli import _output as output
from fedrank.cli._reading import check_file
from fedrank.exceptions import InputError
from fedrank.protocol.identity import (
    PRIVATE_START,
    PUBLIC_START,
    Identity,
    load_public,
    public_identity,
    save_public,
)

MAX_NAME_BYTES = 200  # of the 255 that file systems take
NO_FILE_NAME = re.compile(r'[/\\:*?"<>|]|^[.-]|[. ]$')
RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])(\..*)?", re.IGNORECASE)  # on Windows

app = typer.Typer(no_args_is_help=True, help="Make and show the keys of one party.")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Your name, as others will see it in the study.")],
    folder: Annotated[Path, typer.Option(help="Where to write both files.")] = Path(),
) -> None:
    """Write NAME.key, which is secret, and NAME.pub, to send to the coordinator.

    A data holder needs one identity, and the coordinator one of its own. The
    same identity can serve in many studies.
    """
    check_name(name)
    if not folder.is_dir():
        raise InputError("there is no such folder", file=folder, remedy="make it, or name another")
    key, public = folder / f"{name}.key", folder / f"{name}.pub"
    for file in (key, public):
        if file.exists() or file.is_symlink():
            raise InputError(
                "the file exists already, and a lost key cannot be made again",
                file=file,
                remedy="choose another name, or move the file away",
            )
    identity = Identity.generate()
    identity.save(key)
    try:
        save_public(public, name, identity.public)
    except BaseException:
        key.unlink(missing_ok=True)
        raise
    output.say_where(key, "private key, which must stay on this machine")
    output.say_where(public, "public line, to send to the other parties")
    typer.echo(f"fingerprint: {identity.fingerprint}")
    output.say(
        "Send the public line to the coordinator of the study, and compare the fingerprint by "
        "telephone or in person: anybody could send another line in your name."
    )


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A .key or .pub file.")],
    as_document: output.JsonOption = False,
) -> None:
    """Show the name, the public line and the fingerprint of an identity."""
    check_file(file)
    if is_private(file):
        name, line = file.stem, Identity.load(file).public
    else:
        name, line = load_public(file)
    mark = public_identity(line).fingerprint
    if as_document:
        typer.echo(output.as_json({"name": name, "identity": line, "fingerprint": mark}), nl=False)
        return
    typer.echo(f"name         {printable(name)}")
    typer.echo(f"public line  {line}")  # in one line, also where it is wider than the terminal
    typer.echo(f"fingerprint  {mark}")


def is_private(file: Path) -> bool:
    """Return whether a file is a private key, maybe a damaged one."""
    content = file.read_bytes()
    if content.lstrip().startswith(PRIVATE_START.encode()):
        return True
    return file.suffix == ".key" and PUBLIC_START.encode() not in content


def check_name(name: str) -> None:
    """Refuse a name that cannot be the name of a file on every system.

    Examples
    --------
    >>> check_name("St. Mary's, ward 3")
    >>> check_name("a/b")
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: NAME 'a/b' cannot be the name of a file; use letters, digits,
    spaces, points, - and _
    """
    wrong = not name or printable(name) != name or NO_FILE_NAME.search(name)
    if wrong or RESERVED.fullmatch(name) or len(name.encode()) > MAX_NAME_BYTES:
        raise InputError(
            f"NAME {name!r} cannot be the name of a file",
            value=name,
            remedy="use letters, digits, spaces, points, - and _",
        )
    if name.lower().endswith((".key", ".pub")):
        raise InputError(
            f"NAME {name!r} must be a name, not that of a file",
            value=name,
            remedy=f"leave out {name[-4:]}, which is added",
        )
