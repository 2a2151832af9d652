"""Bits against error: how much each scheme achieves for what a client sends (M14)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank.experiments.ablations.base import (
    Ablation,
    Clients,
    Variant,
    mallows_trial,
    real_trial,
    summed,
)
from fedrank.experiments.ablations.borda import QUANTIZERS
from fedrank.experiments.ablations.lehmer import lehmer_scheme
from fedrank.experiments.ablations.means import LEVELS
from fedrank.experiments.figure import Figure, Row
from fedrank.experiments.table import matching
from fedrank.protocol.federate import federate
from fedrank.schemes import Borda, ConsensusScheme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WINDOWS = (1, 2, 4, 8, 16, 32, 64)  # of refinement
LABEL_SIZE = 7  # points


def compare_all(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Try every scheme with all its settings."""
    n, clients, most = parts[0].shape[1], len(parts), max(map(len, parts))
    schemes: list[tuple[str, str, ConsensusScheme]] = [
        ("Borda", f"phi {phi:g}", Borda(n, clients, send="centroids", phi=phi))
        for phi in QUANTIZERS
    ]
    schemes += [
        ("Borda, means", f"{levels} levels", Borda(n, clients, levels=levels)) for levels in LEVELS
    ]
    exact = Borda(n, clients, send="sums", max_samples=most)
    schemes.append(("Borda, exact", "exact", exact))
    schemes += [
        ("Lehmer", f"I {low_bits}", lehmer_scheme(n, clients, low_bits))
        for low_bits in range((n - 1).bit_length() + 1)
    ]
    for method, setting, scheme in schemes:
        labels = {"method": method, "setting": setting}
        yield Variant(labels, summed(scheme, parts, rng), scheme.message_bits)
    refinements: dict[str, Row] = {
        "Refine": {"rounds": 1},
        "Refine, rounds": {},
        "Refine, majority": {"rounds": 1, "majority": True},
        "Refine, majority, rounds": {"majority": True},
    }
    for (method, options), window in product(refinements.items(), WINDOWS):
        if window < n:
            labels = {"method": method, "setting": f"w {window}"}
            yield refined(labels, parts, rng, window=window, **options)
    for method, options in (("Refine, auto", {}), ("Refine, majority, auto", {"majority": True})):
        yield refined({"method": method, "setting": "auto"}, parts, rng, **options)


def refined(labels: Row, parts: Clients, rng: np.random.Generator, **options: Any) -> Variant:
    """Refine a Borda consensus, and count the bits of all rounds."""
    found = federate(parts, "kemeny", secure=False, rng=rng, **options)
    bits = sum(each.scheme.message_bits for each in found.rounds)
    return Variant(labels, found.ranks, bits, len(found.rounds))


def frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no other row beats in both bits and error, from few bits to many.

    Examples
    --------
    >>> points = [(1, 5), (2, 6), (3, 2)]
    >>> [row["bits"] for row in frontier([{"bits": b, "mean": m} for b, m in points])]
    [1, 3]
    """
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["bits"], row["mean"])):
        if not best or row["mean"] < best[-1]["mean"]:
            best.append(row)
    return best


def label_of(row: Row) -> str:
    """Name the setting of a row, with its rounds if there are several.

    Examples
    --------
    >>> label_of({"setting": "w 8", "rounds": 11.6}), label_of({"setting": "I 0", "rounds": 1.0})
    ('w 8, 12 rounds', 'I 0')
    """
    rounds = row["rounds"]
    return f"{row['setting']}, {rounds:.0f} rounds" if rounds > 1 else str(row["setting"])


def label(axes: "Axes", texts: Mapping[tuple[float, float], str]) -> None:
    """Write texts beside their points, the first ones first, and leave out those without room."""
    points_per_pixel = 72 / axes.figure.dpi
    bottom = axes.bbox.y0 * points_per_pixel
    taken: list[tuple[float, float, float, float]] = []
    for at, text in texts.items():
        x, y = axes.transData.transform(at) * points_per_pixel
        width = LABEL_SIZE * 0.6 * len(text)  # roughly
        for right, up in ((5, 4), (5, -11), (-5 - width, -11), (-5 - width, 4)):
            box = (x + right, y + up, x + right + width, y + up + LABEL_SIZE)
            if box[1] > bottom and all(
                box[0] > other[2] or other[0] > box[2] or box[1] > other[3] or other[1] > box[3]
                for other in taken
            ):
                taken.append(box)
                axes.annotate(
                    text, at, (right, up), textcoords="offset points", fontsize=LABEL_SIZE
                )
                break


def draw(rows: Sequence[Row]) -> Any:
    """Draw the error against bits, and the frontier, one panel below the other for the labels.

    Objectives differ only in late digits, so they are drawn as differences from the best one.
    """
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    real = "data" in rows[0]
    styles: dict[str, panels.Style] = {
        "Borda": (panels.BLUE, "o", ""),
        "Borda, means": (panels.BLUE, "s", ""),
        "Borda, exact": (panels.BLUE, "*", ""),
        "Lehmer": (panels.ORANGE, "v", ""),
        "Refine": (panels.PURPLE, "D", ""),
        "Refine, rounds": (panels.BLACK, "X", ""),
        "Refine, auto": (panels.VERMILLION, "X", ""),
        "Refine, majority": (panels.GREEN, "^", ""),
        "Refine, majority, rounds": (panels.SKY, "P", ""),
        "Refine, majority, auto": (panels.VERMILLION, "P", ""),
    }

    def fill(axes: "Axes", rows: Sequence[Row]) -> None:
        least = min(row["mean"] for row in rows) if real else 0.0
        best = frontier(rows)
        axes.step(
            [row["bits"] for row in best],
            [row["mean"] - least for row in best],
            color=panels.GREY,
            where="post",
            linewidth=1,
            zorder=1,
        )
        for name, (colour, marker, _) in styles.items():
            points = matching(rows, {"method": name})
            axes.plot(
                [row["bits"] for row in points],
                [row["mean"] - least for row in points],
                linestyle="",
                color=colour,
                marker=marker,
                markersize=6,
            )
        panels.log_scale(axes)
        axes.set_yscale("symlog", linthresh=1e-4 if real else 1e-2, linscale=0.4)
        axes.set_ylim(0, 2 * (max(row["mean"] for row in rows) - least))
        default = matching(rows, {"method": "Refine, auto"})
        said = [*default, *(row for row in best if row not in default)]
        label(axes, {(row["bits"], row["mean"] - least): label_of(row) for row in said})

    return panels.grid(
        panels.by_panel(
            rows,
            panels.panel_of if real else lambda row: f"{row['samples']} samples per client",
        ),
        1,
        fill,
        styles,
        "bits per client, all rounds",
        "objective, above the best found" if real else "mean Kendall distance\nto the center",
    )


FIGURES: tuple[Figure, ...] = (
    Ablation(
        "pareto",
        "What a bit buys: real data",
        20,
        [{"data": "jester"}, {"data": "luad"}],
        real_trial,
        compare_all,
        draw,
    ),
    Ablation(
        "pareto-mallows",
        "What a bit buys: 50 items, φ = 0.6, any center, 10 clients",
        200,
        [{"n": 50, "center": "random", "phi": 0.6, "samples": samples} for samples in (5, 20)],
        mallows_trial,
        compare_all,
        draw,
    ),
)
