"""The ``fedrank`` command: one file a subcommand, which this one gathers and runs."""

import sys
from typing import Annotated

import typer

import fedrank
from fedrank.cli.demo import demo
from fedrank.cli.reproduce import reproduce

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
        app(standalone_mode=False)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
        elif hasattr(error, "format_message"):  # what typer makes of wrong options
            complain(error.format_message())
        elif isinstance(error, ValueError | OSError | MemoryError):
            complain(str(error))
        elif type(error).__name__ == "Abort":
            complain("stopped")
            sys.exit(130)
        else:
            raise
        sys.exit(2)


def complain(message: str) -> None:
    """Say in one line what is wrong."""
    typer.echo("fedrank: " + " ".join(message.split()), err=True)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take options that come before the command."""


app.command()(demo)
app.command()(reproduce)
