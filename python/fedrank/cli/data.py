"""``fedrank data``: list, describe and download the data sets of the paper."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedrank.cli import _output as output
from fedrank.data.catalogue import CATALOGUE, DataSet, data_set
from fedrank.data.download import (
    INCOMPLETE,
    TIMEOUT,
    WRONG,
    State,
    by_hand,
    data_folder,
    fetch,
    find,
    states,
)

app = typer.Typer(
    no_args_is_help=True,
    help="""List, describe and download the data sets of the paper.

    fedrank data list | fedrank data info jester | fedrank data fetch jester maine

    Each data set has its own folder inside the data folder, which is --folder,
    or the environment variable FEDRANK_DATA, or the cache folder of the system.""",
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        "--out",
        show_default=False,
        help="Data folder; by default FEDRANK_DATA, or the cache folder of the system.",
    ),
]


@app.command("list")
def list_sets(folder: Folder = None, as_json: output.JsonOption = False) -> None:
    """List the data sets and their states.

    Verified means that every file exists and has the size and the SHA-256 of
    the catalogue. Files of an archive that were unpacked by hand cannot be
    verified; the experiments read them all the same. If one of them is
    missing, the state names it.
    """
    rows = [
        {
            "name": entry.name,
            "rankings": entry.rankings,
            "items": entry.items,
            "bytes": sum(file.size for file in entry.files),
            "state": summary(states(entry, folder)),
            "title": entry.title,
        }
        for entry in CATALOGUE.values()
    ]
    if as_json:
        typer.echo(output.as_json(rows), nl=False)
        return
    cells = [[f"{v:,}" if isinstance(v, int) else v for v in row.values()] for row in rows]
    output.show(f"Data sets in {folder or data_folder()}", list(rows[0]), cells)
    for entry in CATALOGUE.values():
        place = (folder or data_folder()) / entry.folder
        for file in entry.files:
            if file.members and states(entry, folder)[file.name].missing:
                output.say(f"{entry.name}, by hand: {by_hand(file, place)}")
    typer.echo("details: fedrank data info NAME")


def summary(files: dict[str, State]) -> str:
    """Return the state of a data set in a few words.

    Examples
    --------
    >>> summary({"a": State("verified"), "b": State("absent")})
    'incomplete'
    >>> summary({"a": State("wrong", "its size is 0")})
    'wrong'
    """
    found = set(files.values())
    if any(state.kind == WRONG for state in found):
        return WRONG
    return str(found.pop()) if len(found) == 1 else INCOMPLETE


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A name that `fedrank data list` shows.")],
    folder: Folder = None,
    as_json: output.JsonOption = False,
) -> None:
    """Show a data set: home page, size, SHA-256, citation, licence and state.

    Example: fedrank data info jester
    """
    entry = data_set(name)
    found = states(entry, folder)
    place = (folder or data_folder()) / entry.folder
    if as_json:
        facts = asdict(entry) | {"folder": str(place)}
        for file in facts["files"]:
            file["state"] = str(found[file["name"]])
        typer.echo(output.as_json(facts), nl=False)
    else:
        output.show("", ["", ""], facts_of(entry, found, place))


def facts_of(entry: DataSet, found: dict[str, State], place: Path) -> list[tuple[str, str]]:
    """Return the facts about a data set, as keys and values."""
    lines = [
        ("name", entry.name),
        ("what", entry.title),
        ("rankings", f"{entry.rankings:,} of {entry.items} items"),
        ("note", entry.note),
        ("home", entry.home),
        ("cite", entry.citation),
        ("licence", entry.licence),
        ("read by", f"fedrank.data.{entry.reading}"),
    ]
    for file in entry.files:
        inside = " of text, unzipped" if file.text_only else ""
        lines += [
            ("file", str(find(place, file.name))),
            ("state", str(found[file.name])),
            ("size", f"{file.size} bytes{inside}"),
            ("sha256", file.sha256 + inside),
            *(("url", url) for url in file.urls),
            *([("by hand", by_hand(file, place))] if found[file.name].missing else []),
            *([("origin", file.origin)] if file.origin else []),
        ]
    return lines


@app.command("fetch")
def fetch_sets(
    names: Annotated[list[str], typer.Argument(help="Names that `fedrank data list` shows.")],
    folder: Folder = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite existing files with another content.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a server may be silent.")
    ] = TIMEOUT,
    as_json: output.JsonOption = False,
) -> None:
    r"""Download data sets, verify them, and print the paths of their files.

    Existing files are verified and not downloaded again. A file gets its name
    only when its size and SHA-256 are right; a download that breaks off starts
    from the beginning next time. Without a network, the message says what to
    download by hand and where to put it. Downloads need
    pip install 'fedrank\[data]'.

    Example: fedrank data fetch sushi jester --folder data
    """
    for name in names:
        data_set(name)  # refuse an unknown name before anything is downloaded
    paths = {name: fetch(name, folder, replace=replace, timeout=timeout) for name in names}
    if as_json:
        found = {name: {file: str(path) for file, path in p.items()} for name, p in paths.items()}
        typer.echo(output.as_json(found), nl=False)
        return
    for files in paths.values():
        for path in files.values():
            typer.echo(path)
