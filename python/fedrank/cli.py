"""The ``fedrank`` command."""

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


@app.callback()
def main(
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
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same result.")] = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw the picture (PNG, SVG or PDF).")
    ] = None,
) -> None:
    """Sample rankings around a hidden center, aggregate them and compare the methods.

    Ends with a table and, with --picture, a picture (needs the extra: pip install
    'fedrank[plot]').
    """
    from fedrank import demo as main_job  # noqa: PLC0415  the plotting extra loads slowly

    main_job.run(items, clients, samples, phi, seed, picture)
