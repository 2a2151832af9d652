"""The ``fedrank`` command: one file a subcommand, which this one gathers and runs."""

import os
import sys
from typing import Annotated

import typer

import fedrank
from fedrank.cli import agent, flower
from fedrank.cli._output import printable
from fedrank.cli.aggregate import aggregate
from fedrank.cli.data import app as data
from fedrank.cli.demo import demo
from fedrank.cli.federate import federate
from fedrank.cli.plan import plan
from fedrank.cli.reproduce import reproduce
from fedrank.cli.sample import sample

STOPPED = 130  # exit code after Ctrl-C

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="One consensus ranking from rankings that many parties hold and may not show.",
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"fedrank {fedrank.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; bad input ends with exit code 2 and one line that says what is wrong."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        code = explain(error)
    if code == STOPPED:
        complain("stopped")
    sys.exit(code)


def explain(error: Exception) -> int:
    """Say what is wrong, unless it is our own fault, and give the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
    elif type(error).__name__ == "Abort":
        return STOPPED
    elif hasattr(error, "format_message"):  # what typer makes of wrong options
        complain(error.format_message())
    elif isinstance(error, OSError) and error.filename is not None:
        complain(f"{error.filename}: {error.strerror}")
    elif isinstance(error, ValueError | OSError | MemoryError):
        complain(str(error) or "out of memory")
    else:
        raise error
    return 2


def complain(message: str) -> None:
    """Say in one line what is wrong."""
    typer.echo(f"fedrank: {printable(message)}", err=True)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take options that come before the command."""


for command in (demo, aggregate, federate, plan, sample, reproduce):
    app.command()(command)
app.add_typer(data, name="data")
app.add_typer(agent.app, name="agent")
app.add_typer(flower.app, name="flower")
