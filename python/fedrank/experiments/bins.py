"""Figure 2 of the paper: where quantized means go, and the expected positions they stand for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedrank.experiments.figure import Figure, Options, Row
from fedrank.mallows import Mallows

PHIS = (0.1, 0.3, 0.5, 0.7, 0.9)


class Bins(Figure):
    """Bins and centroids of the quantizer, by the closed form and by sampling as in the paper."""

    name = "bins"
    title = "Quantization bins (bars) and centroids (crosses)"
    repetitions = 100_000
    n = 10

    def parts(self, _: Options) -> Sequence[Row]:
        """Take one dispersion at a time."""
        return [{"phi": phi} for phi in PHIS]

    def steps_of(self, _: Options) -> int:
        """Do it at one go."""
        return 1

    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Find the bins, and average sampled positions to check them."""
        model = Mallows(part["phi"], n=self.n)
        centroids = model.expected_ranks()
        edges = np.concatenate([[0], (centroids[1:] + centroids[:-1]) / 2, [self.n - 1]])
        count = self.repeated(options)
        ranks = model.sample(count, self.rng(options, part["phi"])).ranks
        spread = ranks.std(axis=0, ddof=min(1, count - 1)) / np.sqrt(count)
        advance()
        return [
            {
                "figure": self.name,
                "n": self.n,
                "phi": part["phi"],
                "place": place,
                "left": float(edges[place]),
                "right": float(edges[place + 1]),
                "expected": float(centroids[place]),
                "mean": float(ranks[:, place].mean()),
                "standard_error": float(spread[place]),
                **self.stamp(options),
            }
            for place in range(self.n)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw a line of bins for each dispersion."""
        from fedrank import plots  # noqa: PLC0415  an extra

        axes = plots.bins(self.n, sorted({row["phi"] for row in rows}))
        axes.set_title(self.title)
        return axes.figure
