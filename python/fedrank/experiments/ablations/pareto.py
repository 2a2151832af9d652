"""Bits against error: how much each scheme achieves for what a client sends (M14)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank._validation import plural
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
MARKER = 6  # points
OFFSETS = ((5, 3), (5, -3), (-5, -3), (-5, 3), (0, 5), (0, -5), (5, 12), (5, -12), (-5, -12))
"""Where a label may be, from its point, in points: the best first."""


def compare_all(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Try every scheme with all its settings."""
    n, clients, most = parts[0].shape[1], len(parts), max(map(len, parts))
    schemes: list[tuple[str, str, ConsensusScheme]] = [
        ("Borda", f"phi {phi:g}", Borda(n, clients, send="centroids", phi=phi))
        for phi in QUANTIZERS
    ]
    schemes += [
        ("Borda, means", plural(levels, "level"), Borda(n, clients, levels=levels))
        for levels in LEVELS
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


def label(
    axes: "Axes", texts: Mapping[tuple[float, float], str], points: Sequence[tuple[float, float]]
) -> None:
    """Write texts beside their points, the first ones first, and leave out those without room.

    A text has room if it is inside the axes and covers neither another text nor a point. The
    layout of the figure must be final.
    """
    from matplotlib.transforms import Bbox  # noqa: PLC0415  needs the extra plot

    pixels = axes.figure.dpi / 72  # per point
    here = axes.transData.transform(list(points))
    taken = [Bbox([at - MARKER / 2 * pixels, at + MARKER / 2 * pixels]) for at in here]
    for at, text in texts.items():
        for right, up in OFFSETS:
            beside = axes.annotate(
                text,
                at,
                (right, up),
                textcoords="offset points",
                fontsize=LABEL_SIZE,
                ha="left" if right > 0 else "right" if right < 0 else "center",
                va="bottom" if up > 0 else "top" if up < 0 else "center",
            )
            beside.set_in_layout(False)  # or the layout would change with every label
            box = beside.get_window_extent().padded(pixels)
            inside = axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1)
            inside = inside and axes.bbox.containsy(box.y0) and axes.bbox.containsy(box.y1)
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            beside.remove()


class Pareto(Ablation):
    """An ablation whose picture names the points of its frontier."""

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw the picture, and the labels once the title has its place."""
        figure = super().draw(rows)
        figure.draw_without_rendering()  # fixes the layout
        for axes, panel in zip(figure.axes, panels_of(rows).values(), strict=True):
            least = least_of(panel)
            default = matching(panel, {"method": "Refine, auto"})
            said = [*default, *(row for row in frontier(panel) if row not in default)]
            at = {id(row): (row["bits"], row["mean"] - least) for row in panel}
            label(axes, {at[id(row)]: label_of(row) for row in said}, list(at.values()))
        return figure


def panels_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group rows by the name of their panel."""
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    if "data" in rows[0]:
        return panels.by_panel(rows)
    return panels.by_panel(rows, lambda row: f"{plural(row['samples'], 'sample')} per client")


def least_of(rows: Sequence[Row]) -> float:
    """Return what errors are drawn as differences from: the best objective, or 0.

    Objectives differ only in late digits.
    """
    return float(min(row["mean"] for row in rows)) if "data" in rows[0] else 0.0


def draw(rows: Sequence[Row]) -> Any:
    """Draw the error against bits, and the frontier, one panel below the other for the labels."""
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
        least, best = least_of(rows), frontier(rows)
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
                markersize=MARKER,
            )
        panels.log_scale(axes)
        axes.set_yscale("symlog", linthresh=1e-4 if real else 1e-2, linscale=0.4)
        axes.set_ylim(0, 2 * (max(row["mean"] for row in rows) - least))

    return panels.grid(
        panels_of(rows),
        1,
        fill,
        styles,
        "bits per client, all rounds",
        "objective, above the best found" if real else "mean Kendall distance\nto the center",
    )


FIGURES: tuple[Figure, ...] = (
    Pareto(
        "pareto",
        "What a bit buys: real data",
        20,
        [{"data": "jester"}, {"data": "luad"}],
        real_trial,
        compare_all,
        draw,
    ),
    Pareto(
        "pareto-mallows",
        "What a bit buys: 50 items, φ = 0.6, any center, 10 clients",
        200,
        [{"n": 50, "center": "random", "phi": 0.6, "samples": samples} for samples in (5, 20)],
        mallows_trial,
        compare_all,
        draw,
    ),
)
