"""``fedrank data``: the paper's data sets, what they are and how to get them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedrank.cli import _output as output
from fedrank.data.catalogue import CATALOGUE, DataSet, data_set
from fedrank.data.download import TIMEOUT, data_folder, fetch, states

app = typer.Typer(
    no_args_is_help=True,
    help="""The paper's data sets: what there is, what may be done with it, and how to get it.

    fedrank data list | fedrank data info jester | fedrank data fetch jester maine

    Files are kept in a folder for each set, inside the data folder: --folder, or else the
    environment variable FEDRANK_DATA, or else the cache folder of your system.""",
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        "--out",
        show_default=False,
        help="The data folder; by default FEDRANK_DATA, or the cache folder of your system.",
    ),
]


@app.command("list")
def list_sets(folder: Folder = None, as_json: output.JsonOption = False) -> None:
    """List the data sets, and whether they are here.

    Verified means that every file is here and has the size and the SHA-256 of the catalogue.
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
    typer.echo("more of one: fedrank data info NAME")


def summary(files: dict[str, str]) -> str:
    """One word for a set.

    Examples
    --------
    >>> summary({"a": "verified", "b": "absent"}), summary({"a": "its size is 0"})
    ('incomplete', 'wrong')
    """
    found = set(files.values())
    if len(found) == 1 and found <= {"verified", "absent"}:
        return found.pop()
    return "incomplete" if found <= {"verified", "absent"} else "wrong"


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A name that `fedrank data list` shows.")],
    folder: Folder = None,
    as_json: output.JsonOption = False,
) -> None:
    """Tell all about a data set: home, size, SHA-256, citation, licence, and if it is here.

    Example: fedrank data info jester
    """
    entry = data_set(name)
    found = states(entry, folder)
    place = (folder or data_folder()) / entry.folder
    if as_json:
        facts = asdict(entry) | {"folder": str(place)}
        for file in facts["files"]:
            file["state"] = found[file["name"]]
        typer.echo(output.as_json(facts), nl=False)
    else:
        output.show("", ["", ""], facts_of(entry, found, place))


def facts_of(entry: DataSet, found: dict[str, str], place: Path) -> list[tuple[str, str]]:
    """Lines of a key and a value."""
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
            ("file", str(place / file.name)),
            ("state", found[file.name]),
            ("size", f"{file.size} bytes{inside}"),
            ("sha256", file.sha256 + inside),
            *(("url", url) for url in file.urls),
            *([("origin", file.origin)] if file.origin else []),
        ]
    return lines


@app.command("fetch")
def fetch_sets(
    names: Annotated[list[str], typer.Argument(help="Names that `fedrank data list` shows.")],
    folder: Folder = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite files that are here but wrong.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a server may be silent.")
    ] = TIMEOUT,
    as_json: output.JsonOption = False,
) -> None:
    """Download data sets, verify them, and print where their files are.

    What is here already is verified and not downloaded again. A download that breaks off is
    continued by the same command. A file gets its name only when its size and SHA-256 are
    right. Without a network, the message says what to download by hand and where to put it.

    Example: fedrank data fetch sushi jester --folder data
    """
    for name in names:
        data_set(name)  # a misspelt name is refused before anything is downloaded
    paths = {name: fetch(name, folder, replace, timeout) for name in names}
    if as_json:
        found = {name: {file: str(path) for file, path in p.items()} for name, p in paths.items()}
        typer.echo(output.as_json(found), nl=False)
        return
    for files in paths.values():
        for path in files.values():
            typer.echo(path)
