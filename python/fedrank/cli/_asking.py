"""What the agent's commands ask their owner, and check before they ask."""

import sys
import time
from pathlib import Path

import typer

from fedrank import agent as agents
from fedrank._validation import few
from fedrank.agent.agent import objection
from fedrank.agent.store import Store
from fedrank.cli import _output as output
from fedrank.exceptions import InputError
from fedrank.protocol.identity import Identity
from fedrank.protocol.study import Study


def check_signed(study: Study, unsigned: bool, file: Path) -> None:
    """Refuse a study without identities, unless its owner passed ``--unsigned``."""
    if unsigned and study.signed:
        raise InputError("--unsigned is for studies without identities", remedy="leave it out")
    if not study.signed and not unsigned:
        raise InputError(
            "the study has no identities, so whoever runs the server can play all other clients, "
            "and read your message",
            file=file,
            remedy="agree on a study with identities, or for a trial pass --unsigned",
        )


def name_in(study: Study, name: str | None, key: Path | None) -> str:
    """Return the name of the data holder in a study's roster: by its key, if the roster has keys.

    Raises
    ------
    InputError
        If it is not there, or what is needed to find it is missing.
    """
    identities = study.identities
    if identities is None:
        if name is not None and name in study.roster:
            return name
        raise InputError(
            "--name must be given, since the study names no identities"
            if name is None
            else f"--name {name} is not in the roster of the study",
            value=name,
            remedy=f"its names are {few(study.roster)}",
        )
    if key is None:
        raise InputError(
            "the study names identities, so --key must be given",
            remedy="make one with 'fedrank identity new', if you have none",
        )
    identity = Identity.load(key)
    if identity.public not in identities:
        raise InputError(
            f"the identity {identity.fingerprint} is not in the roster of the study",
            file=key,
            remedy="name the key whose public line the coordinator got",
        )
    found = study.roster[identities.index(identity.public)]
    if name not in (None, found):
        raise InputError(
            f"this key is {found}'s in the study, not {name}'s",
            file=key,
            remedy="leave out --name, or name another key",
        )
    return found


def ask_for_store(folder: Path, identity: Identity, yes: bool) -> None:
    """Make the store of an identity, once its owner says that there is none."""
    output.say(
        f"Identity {identity.fingerprint} has no store at {folder}. The store remembers what an "
        "identity answered. With an empty one it could be made to answer a study a second time, "
        "and the difference of two answers may be your message."
    )
    ask("Is this key new, never used by any agent?", "no agent ever used the key", yes)
    agents.make_store(folder, identity.public)
    output.say_where(folder, "store")


def ask(question: str, meaning: str, yes: bool) -> None:
    """Ask a person to agree, or stop; ``meaning`` is what they say by it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(
            f"a question needs an answer ({question})",
            remedy=f"run it in a terminal, or pass --yes if {meaning}",
        )
    typer.confirm(question, abort=True)


def check_allowed(settings: agents.Config, store: Store | None, study: Study, file: Path) -> None:
    """Refuse to allow a study that would not be answered all the same."""
    if store is None:
        problem = settings.objection(study, allowed=True)
    else:
        problem = objection(settings, store, study, allowed=True)
    if problem is not None:
        raise InputError(f"the study would be refused all the same: {problem}", file=file)


def ask_to_allow(settings: agents.Config, store: Store, study: Study, yes: bool) -> None:
    """Show what a study reveals together with earlier ones, and ask whether it is allowed."""
    for each in agents.overlaps(settings, store, study):
        parties = few(each.parties) or "unknown parties"
        if each.opened is not None:
            how = f"was opened on {utc(each.opened)} UTC with {parties}: {each.revealed}"
        elif each.parties:
            how = f"is allowed too, with {parties}; if both are opened, {each.revealed}"
        else:
            how = f"is allowed too, with unknown parties: {each.revealed}"
        output.warn(f"Study {each.study} {how}.")
    ask("Do you allow this study?", "you allow it", yes)


def utc(seconds: float) -> str:
    """Spell out a time.

    Examples
    --------
    >>> utc(0.0)
    '1970-01-01 00:00:00'
    """
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
