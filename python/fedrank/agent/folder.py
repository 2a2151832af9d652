"""The folder of a store: it is made once, for one identity, and never again by itself."""

from contextlib import suppress
from pathlib import Path

from fedrank._files import sync_folder, write_whole
from fedrank.agent.ledger import PRIVATE, missing
from fedrank.exceptions import InputError, Remedy
from fedrank.protocol.identity import public_identity

STORE_FORMAT = 3  # of the folder
LEDGER = "ledger.jsonl"
FIRST_FORMAT = {LEDGER, "runs", "sessions", "snapshots"}  # which had no file that says so


def is_unused(folder: Path) -> bool:
    """Tell whether a folder may become a store: it is not there, or has nothing in it.

    Examples
    --------
    >>> is_unused(Path("/nowhere")), is_unused(Path("/"))
    (True, False)
    """
    if not folder.exists():
        return True
    # A store that was being made when the process was killed has no format yet.
    ledger, studies = folder / LEDGER, folder / "studies"
    return (
        {file.name for file in folder.iterdir()} <= {"identity", "studies", LEDGER}
        and not (ledger.exists() and ledger.stat().st_size)
        and not (studies.exists() and any(studies.iterdir()))
    )


def make_store(folder: Path, identity: str | None) -> None:
    """Make a new store, which knows of nothing that its identity ever gave.

    Raises
    ------
    InputError
        If the folder has anything in it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "state"
    >>> make_store(folder, None)
    >>> sorted(file.name for file in folder.iterdir())
    ['format', 'ledger.jsonl', 'studies']
    """
    if not is_unused(folder):
        raise InputError(
            "the folder is not empty", file=folder, remedy="name a new folder for the store"
        )
    for each in (folder, folder / "studies"):
        if not each.is_dir():
            each.mkdir(mode=0o700, parents=True)
            sync_folder(each.parent)
        check_private(each)
    if identity is not None:
        write_whole(folder / "identity", f"{identity}\n".encode(), mode=PRIVATE, sync=True)
    write_whole(folder / LEDGER, b"", mode=PRIVATE, sync=True)
    write_whole(folder / "format", f"{STORE_FORMAT}\n".encode(), mode=PRIVATE, sync=True)


def check_store(folder: Path, identity: str | None) -> None:
    """Refuse a folder that is not the store of an identity, in this format, for its owner only."""
    if is_unused(folder):
        who = "" if identity is None else f" of identity {fingerprint(identity)}"
        raise InputError(f"there is no store{who}", file=folder, remedy=Remedy.NEW_STORE)
    check_format(folder)
    if not (folder / LEDGER).is_file():  # an empty one would be one that knows of nothing
        raise missing(folder / LEDGER)
    for each in (folder, folder / "studies"):
        check_private(each)
    bound = None
    with suppress(FileNotFoundError):
        bound = (folder / "identity").read_text(encoding="utf-8").strip()
    if bound != identity:
        whose = ["no identity" if each is None else fingerprint(each) for each in (bound, identity)]
        raise InputError(
            f"this is the store of {whose[0]}, and the configuration is of {whose[1]}",
            file=folder,
            remedy="name the key that it belongs to, or another folder",
        )


def check_private(folder: Path) -> None:
    """Refuse a folder that others than its owner can use."""
    if folder.stat().st_mode & 0o077:
        raise InputError(
            "other users can read the folder", file=folder, remedy=f"run chmod 700 {folder}"
        )


def check_format(folder: Path) -> None:
    """Refuse a store of another format, and say what to do."""
    try:
        found = (folder / "format").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        if not FIRST_FORMAT & {file.name for file in folder.iterdir()}:
            raise InputError(
                "this is not the store of an agent", file=folder, remedy="name a new folder"
            ) from None
        found = "1"
    if found != str(STORE_FORMAT):
        raise InputError(
            f"the store has format {found}, and this version of fedrank reads format "
            f"{STORE_FORMAT}",
            file=folder,
            remedy="use the version that made it; or take all studies that it answered out of the "
            "configuration, and name a new folder",
        )


def fingerprint(identity: str) -> str:
    """Return the fingerprint of a public line, or say that it is none."""
    try:
        return public_identity(identity).fingerprint
    except InputError:
        return "a damaged identity"
