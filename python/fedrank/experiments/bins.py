"""Figure 2 of the paper: the bins and centroids with which Algorithm 2 quantizes means."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedrank.experiments.figure import Figure, Options, Row
from fedrank.mallows import Mallows

PHIS = (0.1, 0.3, 0.5, 0.7, 0.9)


class Bins(Figure):
    """Bins and centroids of Algorithm 2, by the closed form and by sampling as in the paper."""

    name = "bins"
    title = "Algorithm 2: quantization bins (bars) and centroids (crosses)"
    repetitions = 100_000
    n = 10

    def parts(self, _: Options) -> Sequence[Row]:
        """List one part per dispersion."""
        return [{"phi": phi} for phi in PHIS]

    def steps_of(self, _: Options) -> int:
        """Count one step per part."""
        return 1

    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Compute the bins, and average sampled positions to check them."""
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
                "place": level,
                "left": float(edges[level]),
                "right": float(edges[level + 1]),
                "expected": float(centroids[level]),
                "mean": float(ranks[:, level].mean()),
                "standard_error": float(spread[level]),
                **self.stamp(options),
            }
            for level in range(self.n)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw one line of bins per dispersion."""
        from fedrank import plots  # noqa: PLC0415  needs the extra plot

        axes = plots.bins(self.n, sorted({row["phi"] for row in rows}))
        axes.set_title(self.title)
        return axes.figure
