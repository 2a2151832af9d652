"""``fedrank demo``: a federated consensus of simulated rankings, with tables and a picture."""

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from fedrank import _core
from fedrank._random import as_rng
from fedrank._validation import plural
from fedrank.cli import _output as output
from fedrank.cli._flags import FLAGS
from fedrank.consensus import aggregate
from fedrank.consensus.ties import tie_facts
from fedrank.distances import kemeny_score, kendall_distance
from fedrank.exceptions import Remedy
from fedrank.mallows import Mallows
from fedrank.protocol.federate import federate
from fedrank.protocol.result import FederatedConsensus
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.rankings.complete import Rankings

TOP = 10  # items in the table of the consensus


def demo(
    items: Annotated[int, typer.Option(min=1, help="Number of items.")] = 978,
    clients: Annotated[int, typer.Option(min=1, help="Number of clients that hold rankings.")] = 10,
    samples: Annotated[int, typer.Option(min=1, help="Number of rankings per client.")] = 50,
    phi: Annotated[
        float, typer.Option(min=0, max=1, help="Dispersion of the rankings, from 0 to 1.")
    ] = 0.6,
    dropouts: Annotated[int, typer.Option(min=0, help="Number of clients that drop out.")] = 2,
    seed: output.SeedOption = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture to this PNG, SVG or PDF file.")
    ] = None,
    out: output.OutOption = None,
    as_document: output.JsonOption = False,
) -> None:
    r"""Compute a federated consensus of simulated rankings; some clients drop out.

    Keys, shares and masked messages are real, but all parties run in this
    process. Prints two tables; --picture also draws a picture (needs
    pip install 'fedrank\[plot]').

    Example: fedrank demo --items 200 --clients 12 --dropouts 3 --picture demo.png
    """
    least = max(MIN_SURVIVORS, _core.default_threshold(clients))
    if clients - dropouts < least:
        left = plural(max(0, clients - dropouts), "client")
        raise ValueError(
            f"--clients {clients} with --dropouts {dropouts} leaves {left}, but at least {least} "
            "must stay; pass more --clients, or fewer --dropouts"
        )
    if picture:
        from fedrank import plots  # noqa: PLC0415  an extra, slow to load

        plots.check_path(picture)  # before any work is done
    output.check_out(out)
    rng = as_rng(seed)
    width = len(str(items - 1))
    center = Rankings(rng.permutation(items), [f"gene-{item:0{width}}" for item in range(items)])
    data = Mallows(phi, center=center).sample(clients * samples, rng)
    parties = [data[start : start + samples] for start in range(0, len(data), samples)]
    lost = sorted(int(client) for client in rng.permutation(clients)[:dropouts])
    if not as_document:
        typer.echo(
            f"{plural(clients, 'client')} rank {plural(items, 'gene')}, "
            f"{plural(samples, 'ranking')} each (Mallows, phi = {phi}); "
            f"{dropouts} of them drop out before they send their input"
        )
    result = federate(parties, "borda", dropouts=lost, rng=rng)
    costs = measure(result, data, center[0], samples)
    output.deliver(costs, result, as_document, out)
    if picture:
        with plots.off_screen():
            axes = plots.consensus(result, parties)
            axes.set_title(
                f"{plural(len(result.survivors), 'client')}, {plural(samples, 'ranking')} each, "
                "and the consensus\n"
                "computed without seeing them"
            )
            plots.save(axes, picture)
    if not as_document:
        hidden = (center[0] + 1).tolist()
        output.show_places("Federated consensus", result, TOP, hidden_place=hidden)
        show(costs)
        output.say_where(out, "consensus")
        output.say_where(picture, "picture")


def measure(
    result: FederatedConsensus, data: Rankings, center: NDArray[np.int32], samples: int
) -> dict[str, Any]:
    """Return how good the consensus is, what it cost, and which clients took part."""
    start = time.perf_counter()
    central = aggregate(data, "borda", rng=0)
    seconds = time.perf_counter() - start
    return {
        "clients": len(result.study.roster),
        "survivors": result.survivors,
        "dropped": list(result.dropped),
        "federated": {
            "wrong_pairs": int(kendall_distance(result, center)),
            "kemeny_score": kemeny_score(result, data),
            "bytes_up": int(result.bytes_up[result.in_sum].max()),
            "seconds": sum(result.seconds.values()),
        },
        "central": {
            "wrong_pairs": int(kendall_distance(central, center)),
            "kemeny_score": kemeny_score(central, data),
            "bytes_up": output.raw_bytes(samples, data.n),
            "seconds": seconds,
        },
    } | tie_facts(result, FLAGS[Remedy.SUMS])


def show(costs: dict[str, Any]) -> None:
    """Print the costs next to those of the central consensus."""
    ours, theirs = costs["federated"], costs["central"]
    rows: list[tuple[str, str, str]] = [
        ("pairs of items in the wrong order", str(ours["wrong_pairs"]), str(theirs["wrong_pairs"])),
        ("Kemeny score", f"{ours['kemeny_score']:.5f}", f"{theirs['kemeny_score']:.5f}"),
        ("clients in the sum", f"{len(costs['survivors'])} of {costs['clients']}", "all"),
        ("dropped out", ", ".join(map(str, costs["dropped"])) or "none", ""),
        (
            "bytes per client",
            f"{ours['bytes_up']:,}",
            f"{theirs['bytes_up']:,} (its rankings)",
        ),
        (
            "time, all parties",
            f"{ours['seconds'] * 1e3:.0f} ms",
            f"{theirs['seconds'] * 1e3:.1f} ms",
        ),
    ]
    output.show("Quality and cost", ("", "federated", "central"), rows)
