"""The main job on made-up data, from rankings to a table and a picture."""

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from fedrank.consensus import Consensus, aggregate
from fedrank.kernels import kemeny_score, kendall_distance
from fedrank.mallows import Mallows
from fedrank.rankings import Rankings

METHODS = ("borda", "lehmer", "pick", "pivot", "footrule", "kemeny")


def run(
    items: int, clients: int, samples: int, phi: float, seed: int, picture: Path | None
) -> None:
    """Sample, aggregate, print the table and draw the picture."""
    plotting = check_picture(picture) if picture else None
    console = Console()
    rng = np.random.default_rng(seed)
    width = len(str(items - 1))
    labels = [f"gene-{item:0{width}}" for item in range(items)]
    center = Rankings(rng.permutation(items), labels)
    start = time.perf_counter()
    data = Mallows(phi, center=center).sample(clients * samples, rng)
    sampled = time.perf_counter() - start
    console.print(
        f"{len(data)} rankings of {items} items, Mallows phi = {phi}, "
        f"{clients} clients with {samples} each, sampled in {sampled * 1e3:.1f} ms"
    )
    found = compare(console, data, center[0], rng)
    console.print("best by kemeny:", ", ".join(str(label) for label in found.top(10)))
    if picture and plotting:
        draw(plotting, picture, data, found)
        console.print(f"picture: {picture}", soft_wrap=True)


def compare(
    console: Console, data: Rankings, center: np.ndarray[Any, Any], rng: np.random.Generator
) -> Consensus:
    """Print how near each method comes to the center; return the last one's consensus."""
    table = Table("method", title="Consensus against the hidden center")
    for column in ("pairs wrong", "Kemeny score", "proved optimal", "time"):
        table.add_column(column, justify="right")
    with console.status("aggregating") as status:
        for method in METHODS:
            status.update(f"aggregating: {method}")
            start = time.perf_counter()
            found = aggregate(data, method, rng=rng)
            seconds = time.perf_counter() - start
            proved = {None: "", True: "yes", False: "no"}[found.exact]
            table.add_row(
                method,
                str(kendall_distance(found, center)),
                f"{kemeny_score(found, data):.5f}",
                proved,
                f"{seconds * 1e3:.1f} ms",
            )
    console.print(table)
    return found


def check_picture(path: Path) -> Any:
    """Import matplotlib and make the folder, or say what is wrong before any work is done."""
    try:
        import matplotlib  # noqa: PLC0415  an extra
    except ModuleNotFoundError:
        raise ValueError("the picture needs matplotlib: pip install 'fedrank[plot]'") from None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    formats = plt.figure().canvas.get_supported_filetypes()
    plt.close()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise ValueError(f"{path} should end in one of .png, .svg, .pdf")
    path.parent.mkdir(parents=True, exist_ok=True)
    return plt


def draw(plt: Any, path: Path, data: Rankings, found: Consensus) -> None:
    """Draw where the rankings put each item, against the consensus."""
    n = data.n
    consensus = np.tile(found.ranks, len(data))
    offset = data.ranks.ravel() - consensus
    reach = max(1, int(np.abs(offset).max()))
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    bins = [min(n, 120), np.arange(-reach - 0.5, reach + 1)]
    _, _, _, image = axes.hist2d(consensus, offset, bins=bins, cmap="cividis", norm="log")
    figure.colorbar(image, ax=axes, label="rankings × items")
    axes.set(
        title=f"{len(data)} rankings of {n} items around their consensus",
        xlabel="position in the consensus (0 = best)",
        ylabel="position in a ranking, minus the consensus",
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)
