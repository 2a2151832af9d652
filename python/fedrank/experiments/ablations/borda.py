"""Borda: how finely a client's mean positions are quantized (M6, M16)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank._validation import plural
from fedrank.experiments.ablations.base import (
    CLIENTS,
    Ablation,
    Clients,
    Ranking,
    Variant,
    mallows_trial,
    ranked,
    real_trial,
    summed,
)
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.experiments.table import matching
from fedrank.planning.simulate import simulate
from fedrank.protocol.federate import least_bound
from fedrank.schemes import Borda

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTIZERS = (0.0, 0.3, 0.6, 0.9)  # phi of the model whose expected positions are the centroids
DEFAULT = "staggered means, the default"


def rounded_by_chance(parts: Clients, rng: np.random.Generator) -> tuple[Ranking, int]:
    """Rank by means rounded to whole positions at random; also return the bits per client.

    Means are rounded up or down so that the expectation is the mean, and errors cancel in the
    sum.
    """
    means = np.array([part.mean(axis=0) for part in parts])
    below = np.floor(means)
    up = rng.random(means.shape) < means - below
    n = parts[0].shape[1]
    bits = n * (len(parts) * (n - 1)).bit_length()
    return ranked((below + up).sum(axis=0), rng), bits


def compare_borda(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Try exact sums, quantizers of several dispersions, the default, and rounding at random."""
    n, clients = parts[0].shape[1], len(parts)
    exact = Borda(n, clients, send="sums", max_samples=least_bound(parts))
    yield Variant({"quantizer": "exact"}, summed(exact, parts, rng), exact.message_bits)
    for phi in QUANTIZERS:
        scheme = Borda(n, clients, send="centroids", phi=phi)
        labels = {"quantizer": f"phi {phi:g}"}
        yield Variant(labels, summed(scheme, parts, rng), scheme.message_bits)
    default = Borda(n, clients)
    yield Variant({"quantizer": DEFAULT}, summed(default, parts, rng), default.message_bits)
    yield Variant({"quantizer": "by chance"}, *rounded_by_chance(parts, rng))


class BordaPhi(Figure):
    """Quantizers of many dispersions for few items, and the default, compared with exact sums."""

    name = "borda-phi"
    title = "Borda's phi, where there are few items"
    repetitions = 1000
    phis = (0.0, 0.1, 0.2, 0.3, 0.39, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

    def parts(self, _: Options) -> Sequence[Row]:
        """List one part per kind of clients, from agreement to disagreement."""
        kinds = ((10, 0.0, 5), (10, 0.3, 5), (10, 0.5, 20), (10, 0.7, 20), (10, 0.9, 50))
        return [
            {"n": n, "phi": phi, "samples": samples}
            for n, phi, samples in (*kinds, (8, 0.9, 500), (20, 0.9, 50))
        ]

    def steps_of(self, _: Options) -> int:
        """Count one step: the core computes all repetitions in one call."""
        return 1

    def run(self, part: Row, options: Options, advance: Callable[[], object] = int) -> list[Row]:
        """Simulate all quantizers and the default on the same rankings."""
        n, samples = part["n"], part["samples"]
        schemes = {
            f"phi {phi:g}": Borda(n, CLIENTS, send="centroids", phi=phi) for phi in self.phis
        } | {DEFAULT: Borda(n, CLIENTS)}
        found = simulate(
            ["borda", *schemes.values()],
            phi=part["phi"],
            n=n,
            clients=CLIENTS,
            samples=samples,
            repetitions=self.repeated(options),
            rng=self.rng(options, *part.values()),
        )
        advance()
        return [
            {
                "figure": self.name,
                **part,
                "clients": CLIENTS,
                "quantizer": name,
                **summary(distances),
                **{f"beside_{k}": v for k, v in summary(distances - found[:, 0]).items()},
                **self.stamp(options),
            }
            for name, distances in zip(("exact", *schemes), found.T, strict=True)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw one curve per kind of clients, against the quantizer's phi; the default is a line.

        The default has no phi, so its line is horizontal.
        """
        from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

        kinds = panels.by_panel(
            rows, lambda row: f"n {row['n']}, φ {row['phi']:g}, {plural(row['samples'], 'sample')}"
        )
        cool = (panels.BLACK, panels.SKY, panels.GREEN, panels.BLUE)
        colours = (*cool, panels.VERMILLION, panels.PURPLE, panels.ORANGE)
        styles = {
            name: (colour, marker, "-")
            for name, colour, marker in zip(kinds, colours, "osv^DPX", strict=False)
        }

        def fill(axes: "Axes", _: Sequence[Row]) -> None:
            for name, style in styles.items():
                points = [
                    row | {"x": float(row["quantizer"].removeprefix("phi "))}
                    for row in kinds[name]
                    if row["quantizer"].startswith("phi ")
                ]
                panels.curve(axes, points, "x", style, "beside_")
                (default,) = matching(kinds[name], {"quantizer": DEFAULT})
                axes.axhline(default["beside_mean"], color=style[0], linestyle="--", linewidth=1)
            axes.set_ylim(-0.1, 3.5)

        labels = ("phi of the quantizer", "mean distance to the center,\nminus exact sums'")
        legend = styles | {DEFAULT: (panels.GREY, "", "--")}
        figure = panels.grid({f"{CLIENTS} clients": rows}, 1, fill, legend, *labels)
        figure.suptitle(self.title)
        return figure


def draw(rows: Sequence[Row]) -> Any:
    """Draw the difference of the error from that of exact sums."""
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    real = "data" in rows[0]
    styles: dict[str, panels.Style] = {
        "exact": (panels.BLACK, "", "-"),
        "phi 0": (panels.BLUE, "o", "-"),
        "phi 0.3": (panels.SKY, "s", "-"),
        "phi 0.6": (panels.VERMILLION, "v", "-"),
        "phi 0.9": (panels.ORANGE, "D", "-"),
        DEFAULT: (panels.GREEN, "^", "--"),
        "by chance": (panels.PURPLE, "P", "--"),
    }

    def fill(axes: "Axes", rows: Sequence[Row]) -> None:
        for name, style in styles.items():
            points = matching(rows, {"quantizer": name})
            panels.curve(axes, points, "samples" if real else "phi", style, "beside_")
        # phi 0.9 is distant and on most data far worse. The axis leaves it out, so that the
        # others can be compared.
        near = [row["beside_mean"] for row in rows if row["quantizer"] != "phi 0.9"]
        room = 0.15 * (max(near) - min(near)) or 0.1
        axes.set_ylim(min(near) - room, max(near) + room)
        if real:
            panels.log_scale(axes)

    if real:
        cells = panels.by_panel(rows)
        labels = ("samples per client", "objective,\nminus that of exact sums")
    else:
        cells = panels.by_panel(
            rows, lambda row: f"{plural(row['n'], 'item')}, {plural(row['samples'], 'sample')}"
        )
        labels = ("φ of the data", "mean distance to the center,\nminus exact sums'")
    return panels.grid(cells, 3, fill, styles, *labels)


FIGURES: tuple[Figure, ...] = (
    Ablation(
        "borda-study",
        "Borda: how finely means are sent (10 clients)",
        200,
        [
            {"n": n, "samples": samples, "phi": phi}
            for n, samples, phi in product(
                (10, 20, 100, 978), (5, 20, 50), (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
            )
        ],
        mallows_trial,
        compare_borda,
        draw,
    ),
    BordaPhi(),
    Ablation(
        "borda-real",
        "Borda on real data: how finely means are sent",
        20,
        [
            {"data": data, "samples": samples}
            for data, sizes in (
                ("jester", (2, 5, 20, 80, 283)),
                ("luad", (2, 5, 15, 54)),
                ("maine", (2, 10, 50, 250, 1000, 2525)),
            )
            for samples in sizes
        ],
        real_trial,
        compare_borda,
        draw,
    ),
)
