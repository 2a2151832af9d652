"""Older files are put back into an agent's store, so that it confirms a second list."""

import shutil
from contextlib import contextmanager
from unittest import mock

from attacks.agents import Asked, agents_of
from attacks.outcome import Attack
from attacks.parties import study_of
from attacks.runs import removed
from fedrank.agent import Agent
from fedrank.agent.ledger import Ledger
from helpers.wire import ids, message

VICTIM = 0
ALL, FEWER = range(4), range(3)


@contextmanager
def without_ledger():
    """Believe the session whatever the ledger says, as if there were none."""
    with (
        mock.patch.object(Ledger, "check_opening", return_value=None),
        mock.patch.object(Ledger, "check_request", return_value=None),
    ):
        yield


@contextmanager
def without_session_check():
    """Believe an older ledger beside a session that answered more, as if nothing were missing."""
    with mock.patch.object(Ledger, "check_session", return_value=None), without_heads():
        yield


@contextmanager
def without_heads():
    """Believe an older ledger beside newer files, whatever these know of it."""
    with mock.patch.object(Ledger, "check_extends", return_value=None):
        yield


@contextmanager
def without_ledger_or_heads():
    """Believe whatever ledger there is, and act as if there were none."""
    with without_ledger(), without_heads():
        yield


def older(part):
    """Put back a part of the store as it was before a list was confirmed; ask for another list.

    Returns how many lists were confirmed. The checks: `Ledger.check_request` and
    `Ledger.check_opening`, for an older session beside a newer ledger. If all files are put back,
    nothing can notice it: that client counts as a colluder.
    """

    def play(version1):
        study = study_of(4)
        with removed(version1, without_ledger), agents_of(study) as agents:
            asked = Asked(study, agents).until("confirm")
            folder = agents[VICTIM].store.folder
            kept = folder.parent / "kept"
            shutil.copytree(folder, kept)
            given = {confirmation(asked, ALL)}
            put_back(agents, kept, part)
            given.add(confirmation(asked, FEWER))
        return len(given)

    return play


def confirmation(asked, survivors):
    """Ask the victim to confirm a list."""
    request = message(6, VICTIM, asked.context, ids(survivors))
    return asked.ask(VICTIM, "confirm", request)


def put_back(agents, kept, part):
    """Put the session, or the ledger, or all files back in their places, and start the agent."""
    config = agents[VICTIM].config
    folder = config.folder
    agents[VICTIM].close()
    if part == "all":
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    for file in [each for each in kept.rglob("*") if each.is_file()]:
        is_ledger = file.name == "ledger.jsonl"
        if part != "all" and is_ledger == (part == "ledger"):
            shutil.copy2(file, folder / file.relative_to(kept))
    agents[VICTIM] = Agent(config)


def ledger_and_new_run(version1):
    """The ledger alone is put back, and another list is asked for in another run.

    The check: the study's folder has the head of the ledger, which the older one does not have
    (`Ledger.check_extends`).
    """
    study = study_of(4)
    with removed(version1, without_ledger_or_heads), agents_of(study) as agents:
        one, two = (Asked(study, agents, run).until("confirm") for run in (1, 2))
        folder = agents[VICTIM].store.folder
        kept = folder.parent / "kept"
        shutil.copytree(folder, kept)
        given = {confirmation(one, ALL)}
        put_back(agents, kept, "ledger")
        given.add(confirmation(two, FEWER))
    return len(given)


def masked_again(version1):
    """The ledger is put back as it was before the masked input, and its session goes on.

    The checks: `Ledger.check_extends`, and if the head was put back, too, `Ledger.check_session`.
    """
    study = study_of(4)
    with removed(version1, without_session_check), agents_of(study) as agents:
        asked = Asked(study, agents).until("confirm")
        agents[VICTIM].store.ledger_file.write_bytes(b"")
        confirmation(asked, ALL)
    return 2


def row(name, play, today, without=None):
    who, both = "server, thief of a store", "confirms two lists"
    return Attack(name, who, play, 2, both, both, today, without=without)


REFUSED, BOTH = "refused at confirm: refused", "confirms two lists"
ATTACKS = (
    row("older session, newer ledger", older("sessions"), REFUSED, without_ledger),
    row("older ledger, newer session", masked_again, REFUSED, without_session_check),
    row("older ledger, another run", ledger_and_new_run, REFUSED, without_heads),
    row("older store", older("all"), BOTH),
)
