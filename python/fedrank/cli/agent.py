"""``fedrank agent``: what runs beside the rankings, and answers for them."""

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Annotated

import typer

from fedrank import agent as agents
from fedrank._random import stream_rng
from fedrank._validation import few
from fedrank.agent.policy import as_toml, quoted
from fedrank.agent.store import PRIVATE, Store
from fedrank.cli import _output as output
from fedrank.cli._reading import Reading, check_file, reads_files
from fedrank.exceptions import InputError
from fedrank.protocol.methods import Kemeny
from fedrank.protocol.study import Study

MAX_SHOWN_ENTRIES = 12  # per segment
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


@app.command()
@reads_files
def new(
    study: StudyArgument,
    name: Annotated[str, typer.Option(help="Your name in the study's roster.")],
    rankings: Annotated[Path, typer.Option(help="The file of your rankings.")],
    config: ConfigOption = Path("agent.toml"),
    *,
    how: Reading,
) -> None:
    """Write a configuration file that allows one study.

    Read the file, and change what you need. The file of rankings is read once,
    to say how; nothing is kept of it.
    """
    agreed = read_study(study)
    check_file(rankings)
    if name not in agreed.roster:
        raise InputError(
            f"--name {name} is not in the roster of the study",
            value=name,
            remedy=f"its names are {few(agreed.roster)}",
        )
    if config.exists():
        raise InputError(
            "the file exists already", file=config, remedy=f"add the digest {agreed.digest} to it"
        )
    read = how.read(rankings, stream_rng(0))
    if "genes" in how.options:
        how.options["genes"] = str(Path(how.options["genes"]).resolve())
    text = TEMPLATE.format(
        name=quoted(name),
        rankings=quoted(str(rankings.resolve())),
        digest=agreed.digest,
        policy=agents.Policy((agreed.digest,)),
        threshold=agreed.threshold,
    )
    if how.options:
        options = as_toml(how.options, separator="\n")
        text += f"\n[reading]              # how the file of rankings is read\n{options}\n"
    output.write(config, [text])
    output.say(read.source)
    output.say_where(config, "configuration")


TEMPLATE = """\
name = {name}
rankings = {rankings}
folder = "state"       # keys, messages, ledger and log; for nobody else to read
socket = "agent.sock"  # where the agent listens

[policy]               # read when the agent starts: restart it after a change
studies = ["{digest}"]
min_clients = {policy.min_clients}
min_threshold = {threshold}
min_survivors = {policy.min_survivors}
min_samples = {policy.min_samples}
runs_per_day = {policy.runs_per_day}
"""


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
    agents.serve(agent, lambda: typer.echo(line))


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
    shown = agents.preview(read_config(config), read_study(study))
    if as_document:
        document = {
            "study": shown.study.digest,
            "objection": shown.objection,
            "rankings": shown.rankings,
            "source": shown.source,
            "kept_since": shown.kept_since,
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


def utc(seconds: float) -> str:
    """Spell out a time.

    Examples
    --------
    >>> utc(0.0)
    '1970-01-01 00:00:00'
    """
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


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
def forget(study: StudyArgument, config: ConfigOption = Path("agent.toml")) -> None:
    """Forget the rankings kept for a study, so that the file is read again.

    Use it when your rankings have changed and the study got no masked input
    yet. Afterwards it is refused: the difference of two sums would show the
    change of your message, so agree on a new study instead.
    """
    store = Store(read_config(config).folder)
    digest = read_study(study).digest
    store.take()
    try:
        done = store.forget(digest)
    finally:
        store.release()
    typer.echo("forgotten" if done else "no rankings are kept for the study")


@app.command()
def ledger(
    config: ConfigOption = Path("agent.toml"), as_document: output.JsonOption = False
) -> None:
    """List the rounds that got a masked input, also of runs that failed later."""
    folder = read_config(config).folder
    if not folder.is_dir():
        raise InputError(
            f"there is no such folder, since no agent has run from {config} yet",
            file=folder,
            remedy=f"start one with 'fedrank agent run --config {config}'",
        )
    lines = Store(folder).ledger()
    if as_document:
        typer.echo(json.dumps(lines))
        return
    rows = [[utc(line["time"]), line["study"], line["run"], line["round"]] for line in lines]
    output.show("Rounds that got a masked input", ["time (UTC)", "study", "run", "round"], rows)
