"""``fedrank reproduce``: the paper's figures, made again."""

from pathlib import Path
from typing import Annotated

import typer

from fedrank.cli import _output as output


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(help="Figures or groups of them: all, synthetic, real, beyond, sushi, …"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables and pictures.")] = Path(
        "out/results"
    ),
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data, as 'fedrank data fetch' fills it.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Of each point; the paper's 100 by default.")
    ] = None,
    seed: output.SeedOption = 0,
    pictures: Annotated[bool, typer.Option(help="Draw them (needs the extra 'plot').")] = True,
    show: Annotated[
        bool, typer.Option("--list", help="List the figures and their titles, and stop.")
    ] = False,
    as_document: output.JsonOption = False,
) -> None:
    """Make the paper's figures: a tidy CSV of each, and a PNG and an SVG.

    The paper's own methods appear under their numbers: Algorithm 1 (Borda, centralized),
    Algorithm 2 (Borda, quantized) and Algorithm 3 (Lehmer).

    Without a name, all of them; figures whose data are not at hand are passed over, and the end
    says how to get them. What is computed already is kept: stop it when you like, and run the
    same command again. The synthetic set takes about a minute on two cores.

    Example: fedrank reproduce synthetic --out results
    """
    from fedrank import experiments  # noqa: PLC0415  loads slowly

    if show:
        titles = {name: figure.title for name, figure in experiments.FIGURES.items()}
        if as_document:
            typer.echo(output.as_json(titles), nl=False)
        else:
            output.show("Figures", ("figure", "title"), titles.items())
        return
    options = experiments.Options(seed=seed, repetitions=repetitions, data=data)
    formats = ("png", "svg") if pictures else ()
    made = experiments.reproduce(figures or ["all"], out, options, formats)
    if as_document:
        told = [
            {
                "figure": each.name,
                "table": each.table and str(each.table),
                "pictures": [str(path) for path in each.pictures],
                "problem": each.problem,
            }
            for each in made
        ]
        typer.echo(output.as_json(told), nl=False)
        return
    rows = [(each.name, each.table) for each in made if each.table]
    if rows:
        output.show("Made", ("figure", "table, with its pictures beside it"), rows)
    for each in made:
        if each.problem:
            typer.echo(output.printable(f"{each.name} was passed over: {each.problem}"))
