"""The main job on made-up data: a federated consensus, ending in a table and a picture."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from fedrank.consensus import aggregate
from fedrank.engine import FederatedConsensus, federate
from fedrank.kernels import kemeny_score, kendall_distance
from fedrank.mallows import Mallows
from fedrank.rankings import Rankings

SHOWN = 10  # items of the consensus in the table


def run(
    items: int,
    clients: int,
    samples: int,
    phi: float,
    dropouts: int,
    seed: int,
    picture: Path | None,
) -> None:
    """Sample, federate, print the tables and draw the picture."""
    if not 0 <= phi <= 1:  # a NaN passes the option's own bounds in some versions
        raise ValueError(f"--phi must be in [0, 1], not {phi}")
    least = max(3, 2 * clients // 3 + 1)
    if clients - dropouts < least:
        raise ValueError(
            f"--clients {clients} with --dropouts {dropouts} leaves too few: "
            f"at least {least} must stay"
        )
    if picture:
        from fedrank import plots  # noqa: PLC0415  an extra, slow to load

        plots.check_path(picture)  # before any work is done
    console = Console()
    rng = np.random.default_rng(seed)
    width = len(str(items - 1))
    center = Rankings(rng.permutation(items), [f"gene-{item:0{width}}" for item in range(items)])
    data = Mallows(phi, center=center).sample(clients * samples, rng)
    parties = [data[start : start + samples] for start in range(0, len(data), samples)]
    lost = sorted(int(client) for client in rng.permutation(clients)[:dropouts])
    console.print(
        f"{clients} clients rank {items} genes, {samples} rankings each (Mallows, phi = {phi}); "
        f"{dropouts} of them vanish before they send their input"
    )
    result = federate(parties, "borda", phi=min(phi, 0.99), dropouts=lost, rng=rng)
    show_consensus(console, result, center)
    show_cost(console, result, data, center[0], samples)
    if picture:
        axes = plots.consensus(result, parties)
        axes.set_title(
            f"{len(result.survivors)} clients, {samples} rankings each, around the consensus\n"
            "found without seeing them"
        )
        plots.save(axes, picture)
        console.print(f"picture: {picture}", soft_wrap=True)


def show_consensus(console: Console, result: FederatedConsensus, center: Rankings) -> None:
    """Print the best items of the consensus beside their place in the hidden center."""
    table = Table("place", "item", "hidden place", title="Federated consensus")
    hidden = dict(zip(center.items, center[0].tolist(), strict=True))
    for place, label in enumerate(result.consensus.top(SHOWN)):
        table.add_row(str(place), str(label), str(hidden[label]))
    console.print(table)


def show_cost(
    console: Console,
    result: FederatedConsensus,
    data: Rankings,
    center: NDArray[np.int32],
    samples: int,
) -> None:
    """Print how good the consensus is, what it cost, and who took part."""
    start = time.perf_counter()
    central = aggregate(data, "borda", rng=0)
    central_ms = (time.perf_counter() - start) * 1e3
    raw = samples * data.n * int(np.ceil(np.log2(max(2, data.n)))) / 8
    table = Table("", "federated", "all in one place", title="What it gives and costs")
    rows: Sequence[tuple[str, str, str]] = [
        (
            "pairs of items in the wrong order",
            str(kendall_distance(result.consensus, center)),
            str(kendall_distance(central, center)),
        ),
        (
            "Kemeny score",
            f"{kemeny_score(result.consensus, data):.5f}",
            f"{kemeny_score(central, data):.5f}",
        ),
        ("clients in the sum", f"{len(result.survivors)} of {len(result.study.roster)}", "all"),
        ("dropped out", ", ".join(map(str, result.dropped)) or "nobody", ""),
        (
            "bytes a client sends",
            f"{int(result.bytes_up[result.survivors].max()):,}",
            f"{raw:,.0f} (its rankings)",
        ),
        (
            "time, all parties",
            f"{sum(result.seconds.values()) * 1e3:.0f} ms",
            f"{central_ms:.1f} ms",
        ),
    ]
    for row in rows:
        table.add_row(*row)
    console.print(table)
