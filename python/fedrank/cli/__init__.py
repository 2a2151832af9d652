"""The ``fedrank`` command: runs the subcommands, which have one file each, and prints errors."""

import errno
import os
import sys
from typing import Annotated, Any

import typer

import fedrank
from fedrank._progress import show
from fedrank.cli import agent, flower, identity, study
from fedrank.cli._flags import FLAGS
from fedrank.cli._output import printable
from fedrank.cli._reading import as_flags, flag_of
from fedrank.cli.aggregate import aggregate
from fedrank.cli.data import app as data
from fedrank.cli.demo import demo
from fedrank.cli.federate import federate
from fedrank.cli.plan import plan
from fedrank.cli.reproduce import reproduce
from fedrank.cli.sample import sample
from fedrank.exceptions import InputError, ProtocolError, RefusalError

STOPPED = 130  # exit code after Ctrl-C

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compute one consensus ranking from rankings that cannot be shared.",
)


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        typer.echo(f"fedrank {fedrank.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; invalid input ends with exit code 2 and a message of one line."""
    try:
        with show():
            code = app(standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:  # the program that reads our output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        code = explain(error)
    if code == STOPPED:
        print_error("stopped")
    sys.exit(code)


def explain(error: Exception) -> int:
    """Print what is wrong and return the exit code; raise the error again if it is a bug."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
    elif type(error).__name__ == "Abort":
        return STOPPED
    elif hasattr(error, "format_message"):  # an error of typer's, about options
        if type(error).__name__ == "NoSuchCommand":
            error.possibilities = None  # type: ignore[attr-defined]  # typer suggests, too
        print_error(error.format_message())
    elif isinstance(error, InputError):
        # A parameter of a file is a field of it, not an option of the command.
        name = named if error.file is None else str
        print_error(*error.lines(FLAGS.get(error.remedy, error.remedy), as_flags, name))
    elif isinstance(error, ProtocolError):
        print_error(error.message(FLAGS.get(error.remedy, error.remedy)))
    elif isinstance(error, RefusalError):
        print_error(error.detail, *error.more)
    elif isinstance(error, OSError) and error.filename is not None:
        print_error(f"{error.filename}: {error.strerror}")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        # Errors of files name the file, so this is one of what is printed.
        print_error(f"standard output: {error.strerror}")
    elif isinstance(error, ValueError | OSError | MemoryError):
        print_error(str(error) or "out of memory")
    else:
        raise error
    return 2


def named(parameter: str) -> str:
    """Return the flag of a parameter if the command that runs has it, or else the name itself."""
    command: Any = typer.main.get_command(app)
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    flags = ("--" + parameter.replace("_", "-"), flag_of(parameter))
    return next((f for f in flags if any(f in option.opts for option in command.params)), parameter)


def print_error(message: str, *more: str) -> None:
    """Print an error in one line, and the choices that it may list in lines of their own.

    A newline inside a line may come from data, and does not begin another line.
    """
    typer.echo(f"fedrank: {printable(message)}", err=True)
    for line in more:
        typer.echo("  " * line.startswith(" ") + printable(line), err=True)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Take options that come before the command."""


for command in (demo, aggregate, federate, plan, sample, reproduce):
    app.command()(command)
app.add_typer(data, name="data")
app.add_typer(identity.app, name="identity")
app.add_typer(study.app, name="study")
app.add_typer(agent.app, name="agent")
app.add_typer(flower.app, name="flower")
