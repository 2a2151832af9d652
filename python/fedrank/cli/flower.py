"""``fedrank flower``: a study across machines, carried by Flower."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fedrank.cli import _output as output
from fedrank.cli._reading import check_file
from fedrank.cli.agent import StudyArgument, read_config, read_study

app = typer.Typer(
    no_args_is_help=True, help="Run a study across machines, on Flower (extra: fedrank[flower])."
)


@app.command()
def new(
    study: StudyArgument,
    folder: Annotated[Path, typer.Argument(help="Where to write the app.")] = Path("app"),
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Random seed for broken ties, for reproducible results."),
    ] = None,
) -> None:
    """For the coordinator: write a ready app for a study, with a README of the exact commands."""
    from fedrank.transport.flower.app import write_app  # noqa: PLC0415  of an extra

    write_app(read_study(study), folder, seed)
    output.say_where(folder / "README.md", "app")


@app.command()
def keys(
    study: StudyArgument,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Name or address of the SuperLink; may be given more than once."),
    ] = None,
    folder: Annotated[Path, typer.Argument(help="Where to write them.")] = Path("keys"),
) -> None:
    """For a trial: make certificates, and a key for every node of a study's roster.

    The holder of the folder can act as any party. In production, use your own authority's
    certificates, and let every data holder make its own key and send you the public half.
    """
    from fedrank.transport.flower.keys import write_keys  # noqa: PLC0415  of an extra

    write_keys(folder, host or [], len(read_study(study).roster))
    output.say_where(folder, "keys")


@app.command()
def join(
    superlink: Annotated[str, typer.Option(help="The SuperLink's address, host:port.")],
    root_certificates: Annotated[
        Path, typer.Option(help="Certificate of the authority that signed the SuperLink's.")
    ],
    key: Annotated[Path, typer.Option(help="This node's private key.")],
    config: Annotated[Path, typer.Option(help="The agent's configuration.")] = Path("agent.toml"),
    socket: Annotated[
        Path | None,
        typer.Option(
            help="Socket of an agent that already runs, as another user; no agent is started."
        ),
    ] = None,
    home: Annotated[Path, typer.Option(help="Flower's folder.")] = Path("flower"),
) -> None:
    """For a data holder: start the agent and a SuperNode, until stopped.

    No telemetry, no update check, no installing of packages; always TLS. The app's process can be
    reached on this machine only. The coordinator's code runs with your permissions: in production,
    run the agent as another user, and give its --socket here.
    """
    from fedrank.transport.flower.join import join as start  # noqa: PLC0415  of an extra

    for file in (root_certificates, key):
        check_file(file)
    command = None
    if socket is None:
        main = "from fedrank.cli import main; main()"
        command = [sys.executable, "-c", main, "agent", "run", "--config", str(config)]
    found = read_config(config).socket if socket is None else socket
    raise typer.Exit(start(superlink, root_certificates, key, found, command, home))
