"""``fedrank demo``: the main job on made-up rankings."""

from pathlib import Path
from typing import Annotated

import typer


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
