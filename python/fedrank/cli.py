"""The ``fedrank`` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import fedrank

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


@app.command()
def demo(
    items: Annotated[int, typer.Option(min=1, help="Items to rank.")] = 978,
    clients: Annotated[int, typer.Option(min=1, help="Parties that hold rankings.")] = 10,
    samples: Annotated[int, typer.Option(min=1, help="Rankings at each party.")] = 50,
    phi: Annotated[float, typer.Option(min=0, max=1, help="Dispersion of the rankings.")] = 0.6,
    dropouts: Annotated[int, typer.Option(min=0, help="Parties that vanish half-way.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same result.")] = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw the picture (PNG, SVG or PDF).")
    ] = None,
) -> None:
    """Find a federated consensus of made-up rankings, with secure aggregation and dropouts.

    Real keys, shares and masked messages, all in this process. Ends with two tables and, with
    --picture, a picture (needs the extra: pip install 'fedrank[plot]').
    """
    from fedrank import demo as main_job  # noqa: PLC0415  the plotting extra loads slowly

    main_job.run(items, clients, samples, phi, dropouts, seed, picture)
