"""``fedrank reproduce``: the figures of the paper."""

from pathlib import Path
from typing import Annotated

import typer

from fedrank.cli import _output as output


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help="Figures or groups: all, synthetic, real, beyond, sushi, …; all by default."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write tables and pictures to.")] = Path(
        "out/results"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the real data, as in 'fedrank data fetch --folder'; by default "
            "FEDRANK_DATA, or the cache folder of the system."
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=1, help="Repetitions per point; by default those of the figure, mostly 100."
        ),
    ] = None,
    seed: output.SeedOption = 0,
    pictures: Annotated[
        bool, typer.Option(help="Draw pictures (needs pip install 'fedrank\\[plot]').")
    ] = True,
    show: Annotated[
        bool,
        typer.Option("--list", help="List the figures, their titles and the groups, and exit."),
    ] = False,
    as_document: output.JsonOption = False,
) -> None:
    """Compute the figures of the paper: a tidy CSV, a PNG and an SVG per figure.

    The paper's own methods appear under their numbers: Algorithm 1 (Borda,
    centralized), Algorithm 2 (Borda, quantized) and Algorithm 3 (Lehmer).

    Without a name, all figures are made; those whose data are missing are
    skipped, and a message says how to get the data. Results are kept: after an
    interruption, the same command continues. The synthetic figures take about
    a minute on two cores.

    Example: fedrank reproduce synthetic --out results
    """
    from fedrank import experiments  # noqa: PLC0415  loads slowly

    if show:
        titles = {name: figure.title for name, figure in experiments.FIGURES.items()}
        if as_document:
            typer.echo(output.as_json(titles), nl=False)
        else:
            output.show("Figures", ("figure", "title"), titles.items())
            typer.echo(f"groups: {', '.join(experiments.GROUPS)}")
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
        output.show("Figures", ("figure", "table, with the pictures next to it"), rows)
    for each in made:
        if each.problem:
            typer.echo(output.printable(f"{each.name} was skipped: {each.problem}"))
