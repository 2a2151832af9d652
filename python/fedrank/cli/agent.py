"""``fedrank agent``: what runs beside the rankings, and answers for them."""

import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Annotated

import typer

from fedrank import agent as agents
from fedrank._random import stream_rng
from fedrank.agent.folder import is_unused
from fedrank.agent.ledger import CLOSED, PRIVATE
from fedrank.agent.policy import identity_folder
from fedrank.agent.preview import ranked
from fedrank.agent.store import Store
from fedrank.cli import _output as output
from fedrank.cli._asking import (
    ask,
    ask_for_store,
    ask_to_allow,
    check_allowed,
    check_signed,
    name_in,
    utc,
)
from fedrank.cli._configuration import configuration
from fedrank.cli._reading import Reading, check_file, reads_files
from fedrank.exceptions import InputError
from fedrank.protocol.identity import Identity
from fedrank.protocol.methods import Kemeny
from fedrank.protocol.study import Study

MAX_SHOWN_ENTRIES = 12  # per segment
SHOWN_ITEMS = 10  # at either end of the ranking by a message
LOG_BYTES, LOG_FILES = 1 << 22, 3  # bounded, since every request adds to the log

app = typer.Typer(
    no_args_is_help=True, help="Answer studies from rankings that stay on this machine."
)

ConfigOption = Annotated[Path, typer.Option("--config", help="The agent's configuration.")]
StudyArgument = Annotated[Path, typer.Argument(help="The study's JSON.")]


def read_study(path: Path) -> Study:
    """Read a study from its file."""
    check_file(path)
    try:
        return Study.from_json(path.read_text(encoding="utf-8"))
    except InputError as error:
        raise error.at(path) from None
    except UnicodeDecodeError:
        raise InputError("this is not the JSON of a study, in UTF-8", file=path) from None


def read_config(path: Path) -> agents.Config:
    """Read the configuration from its file."""
    check_file(path)
    return agents.read_config(path)


YesOption = Annotated[bool, typer.Option("--yes", help="Answer the question with yes.")]


@app.command()
@reads_files
def new(
    study: StudyArgument,
    rankings: Annotated[Path, typer.Option(help="The file of your rankings.")],
    name: Annotated[
        str | None,
        typer.Option(help="Your name in the study's roster, if it names no identities."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key of your identity in the study's roster.")
    ] = None,
    config: ConfigOption = Path("agent.toml"),
    min_samples: Annotated[
        int, typer.Option(min=1, help="Fewest rankings of yours that are enough to answer with.")
    ] = agents.Policy.min_samples,
    unsigned: Annotated[
        bool,
        typer.Option(
            "--unsigned",
            help="Allow a study without identities, although whoever runs the server can read "
            "your message.",
        ),
    ] = False,
    yes: YesOption = False,
    *,
    how: Reading,
) -> None:
    """Write a configuration file that allows one study.

    Read the file, and change what you need. The file of rankings is read once,
    to say how, and whether it suits the study; nothing is kept of it. Look at
    the items that your message ranks first and last: a reversed file shows. A
    key that no agent has used yet gets a store, which remembers what it
    answered. If there is a store, other studies with the same parties are
    named, and you are asked whether you allow this one.
    """
    agreed = read_study(study)
    check_file(rankings)
    if config.exists():
        raise InputError(
            "the file exists already",
            file=config,
            remedy=f"run 'fedrank agent allow {study} --config {config}'",
        )
    if not config.absolute().parent.is_dir():
        raise InputError("there is no folder for the configuration", file=config)
    if not os.access(config.absolute().parent, os.W_OK):
        raise InputError("the folder for the configuration is not writable", file=config)
    name = name_in(agreed, name, key)
    check_signed(agreed, unsigned, study)
    identity = None if key is None else Identity.load(key)
    folder = config.parent / "state" if identity is None else identity_folder(identity.fingerprint)
    policy = agents.Policy(
        (agreed.digest,),
        allow_unsigned=unsigned,
        min_threshold=agreed.threshold,
        min_samples=min_samples,
    )
    if "genes" in how.options:
        how.options["genes"] = str(Path(how.options["genes"]).resolve())
    settings = agents.Config(
        name,
        rankings.resolve(),
        folder,
        config.parent / "agent.sock",
        policy,
        key,
        None,
        how.options,
    )
    how.read(rankings, stream_rng(0))  # the flags that it may need are named
    store = None if is_unused(folder) else Store(folder, settings.public)
    check_allowed(settings, store, agreed, study)
    source, items = ranked(settings, agreed)
    output.say(source)
    output.say_study(agreed)
    if unsigned:
        output.warn(
            "allow_unsigned = true is written, since you passed --unsigned: whoever runs the "
            "server can play all other clients, and read your message."
        )
    show_ends(items)
    if store is not None:
        ask_to_allow(settings, store, agreed, yes)
    elif identity is not None:
        ask_for_store(folder, identity, yes)
    output.write(config, [configuration(settings)])
    # Later studies are compared with this one.
    Store(folder, settings.public).keep_study(agreed.digest, agreed.to_json())
    output.say_where(config, "configuration")


@app.command()
def new_store(config: ConfigOption = Path("agent.toml"), yes: YesOption = False) -> None:
    """Make the store of a key that has none.

    The store remembers what was answered with the key, so that nothing is
    answered twice. If it was lost, make a new identity, and agree on new
    studies. A folder that was moved can be moved back, but a backup must never
    be restored: it has forgotten what was answered since.
    """
    settings = read_config(config)
    if settings.identity is None:
        raise InputError(
            "the configuration names no key", file=config, remedy="without one no store is missing"
        )
    if not is_unused(settings.folder):
        raise InputError("the folder has a store, or other files", file=settings.folder)
    ask_for_store(settings.folder, settings.identity, yes)


@app.command()
def allow(
    study: StudyArgument, config: ConfigOption = Path("agent.toml"), yes: YesOption = False
) -> None:
    """Allow one more study, once you have read what it reveals.

    Other studies with the same parties are named: two sums over almost the
    same parties show what the others sent. A running agent need not be
    restarted.
    """
    settings, agreed = read_config(config), read_study(study)
    store = Store(settings.folder, settings.public)
    check_allowed(settings, store, agreed, study)
    output.say_study(agreed)
    ask_to_allow(settings, store, agreed, yes)
    store.allow(agreed.digest, agreed.to_json())
    typer.echo(f"allowed: {agreed.digest}")


@app.command()
def disallow(study: StudyArgument, config: ConfigOption = Path("agent.toml")) -> None:
    """Take back that a study is allowed; what was sent stays sent.

    A running agent refuses it from now on. A study that the configuration
    lists is to be taken out there, and the agent is to be restarted.
    """
    settings, agreed = read_config(config), read_study(study)
    if agreed.digest in settings.policy.studies:
        raise InputError(
            f"the configuration allows the study {agreed.digest}",
            file=config,
            remedy="take it out of 'studies' there, restart the agent, and run this again",
        )
    was = Store(settings.folder, settings.public).disallow(agreed.digest)
    typer.echo(f"{'allowed no more' if was else 'it was not allowed'}: {agreed.digest}")


class PrivateLog(RotatingFileHandler):
    """A log of bounded size that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        """Open the file; one that others can read, of an older version, is changed."""
        # The permissions must hold from the first moment.
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
        os.fchmod(descriptor, PRIVATE)
        return os.fdopen(descriptor, "a", encoding="utf-8")


@app.command()
def run(config: ConfigOption = Path("agent.toml")) -> None:
    """Answer requests on the socket until stopped; errors are logged in agent.log."""
    settings = read_config(config)
    agent = agents.Agent(settings)
    file = PrivateLog(settings.folder / "agent.log", maxBytes=LOG_BYTES, backupCount=LOG_FILES)
    logging.basicConfig(
        handlers=[file],
        format="%(asctime)s %(levelname)s %(message)s",
        level=logging.INFO,
    )
    # A service manager's signal must not leave the socket behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    line = output.printable(f"agent of {settings.name}: {settings.socket}")
    try:
        agents.serve(agent, lambda: typer.echo(line))
    except SystemExit:
        logging.getLogger("fedrank.agent").info("told to end, by SIGTERM")
        raise


@app.command()
def preview(
    study: StudyArgument,
    config: ConfigOption = Path("agent.toml"),
    as_document: output.JsonOption = False,
) -> None:
    """Show exactly what would leave for a study, without sending it.

    If the policy allows the study, the rankings are kept, and the study will
    be answered from them, also if the file changes. The message leaves masked,
    as bits that look random; what others learn is the sum of all clients'
    messages.
    """
    settings = read_config(config)
    shown = agents.preview(settings, read_study(study))
    if as_document:
        document = {
            "study": shown.study.digest,
            "objection": shown.objection,
            "rankings": shown.rankings,
            "source": shown.source,
            "kept_since": shown.kept_since,
            "changed": shown.changed,
            "best": shown.ranked[:SHOWN_ITEMS],
            "worst": shown.ranked[-SHOWN_ITEMS:],
            "segments": [
                {"name": segment.name, "bits": segment.bits, "entries": entries.tolist()}
                for segment, entries in shown.segments
            ],
            "rounds": [
                {"stage": stage, "at_most": most, "bytes": sizes}
                for stage, most, sizes in shown.rounds
            ],
        }
        typer.echo(output.as_json(document), nl=False)
        return
    output.say(shown.source)
    if shown.changed:
        output.warn(
            f"The file {settings.rankings} HAS CHANGED since it was read. The study is answered "
            "from the rankings as they were then."
        )
    output.say_study(shown.study)
    show_ends(shown.ranked)
    output.show(
        f"Message for study {shown.study.digest}",
        ["segment", "entries", "bits each", "values"],
        [
            [segment.name, segment.entries, segment.bits, first_entries(entries.tolist())]
            for segment, entries in shown.segments
        ],
    )
    steps = list(shown.rounds[0][2])
    rows = [[stage, most, *sizes.values()] for stage, most, sizes in shown.rounds]
    output.show(
        "Bytes that leave in one round, at most", ["stage", "rounds, at most", *steps], rows
    )
    if len(shown.rounds) > 1:
        typer.echo("What later rounds ask for depends on the consensus that is announced.")
    if isinstance(shown.study.method, Kemeny):
        typer.echo(
            "Refinement goes on until nothing moves. No pair of items is asked for twice, so all "
            "its rounds together have at most one entry for every pair."
        )
    kept = "not kept" if shown.kept_since is None else f"kept since {utc(shown.kept_since)} UTC"
    typer.echo(f"{kept}, of {shown.rankings} rankings")
    verdict = shown.objection or "allows it"
    typer.echo(output.printable(f"the policy: {verdict}"))


def show_ends(ranked: Sequence[object]) -> None:
    """Print the first and the last items of a message, so that a reversed file is seen."""
    best, worst = ranked[:SHOWN_ITEMS], ranked[max(SHOWN_ITEMS, len(ranked) - SHOWN_ITEMS) :]
    first = len(ranked) - len(worst) + 1
    rows = [[place, label] for place, label in enumerate(best, start=1)]
    if first > len(best) + 1:
        rows.append(["…", f"{first - len(best) - 1} more"])
    rows += [[place, label] for place, label in enumerate(worst, start=first)]
    output.show("Your items, best first, by your message alone", ["place", "item"], rows)


def first_entries(entries: Sequence[int]) -> str:
    """Spell out the first entries.

    Examples
    --------
    >>> first_entries(range(14))
    '0 1 2 3 4 5 6 7 8 9 10 11 … 2 more (--json shows all)'
    """
    shown = " ".join(map(str, entries[:MAX_SHOWN_ENTRIES]))
    left = len(entries) - MAX_SHOWN_ENTRIES
    return shown if left <= 0 else f"{shown} … {left} more (--json shows all)"


@app.command()
def forget(
    study: StudyArgument, config: ConfigOption = Path("agent.toml"), yes: YesOption = False
) -> None:
    """Forget the rankings kept for a study; close it if it got a masked input.

    A study that got no masked input yet is answered from the file as it is
    then. Any other is closed for ever: the difference of two sums would show
    the change of your message, so agree on a new study instead.
    """
    settings, agreed = read_config(config), read_study(study)
    store = Store(settings.folder, settings.public)
    store.take()
    try:
        ledger = store.ledger()
        if ledger.closed(agreed.digest):
            typer.echo("the study is closed already")
        elif ledger.masked(agreed.digest):
            output.say_study(agreed)
            ask(
                "The study got your masked message. Close it for ever?",
                "it is to be closed for ever",
                yes,
            )
            store.close(agreed.digest)
            typer.echo(
                "closed for ever: no request of this study is answered again; its rankings and the "
                "keys of its sessions are deleted"
            )
        elif store.forget(agreed.digest):
            typer.echo("forgotten: the study got nothing yet, and the file will be read again")
        else:
            typer.echo("no rankings are kept for the study")
    finally:
        store.release()


@app.command()
def ledger(
    config: ConfigOption = Path("agent.toml"), as_document: output.JsonOption = False
) -> None:
    """List what was given: masked inputs, opened sums, and studies that are closed."""
    settings = read_config(config)
    if is_unused(settings.folder):
        raise InputError(
            f"there is no such folder, since no agent has run from {config} yet",
            file=settings.folder,
            remedy=f"start one with 'fedrank agent run --config {config}'",
        )
    entries = Store(settings.folder, settings.public).ledger().entries
    if as_document:
        typer.echo(json.dumps([entry.to_fields() for entry in entries]))
        return
    rows = [
        [
            utc(entry.time),
            entry.study,
            *(("", "") if entry.step == CLOSED else (entry.run, entry.round)),
            entry.step,
            len(entry.survivors) or "",
        ]
        for entry in entries
    ]
    columns = ["time (UTC)", "study", "run", "round", "step", "survivors"]
    output.show("What was given", columns, rows)
