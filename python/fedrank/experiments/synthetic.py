"""The synthetic panels: Algorithms 1 to 3 on Mallows samples, whose center is known."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank.experiments.algorithms import algorithm_2, algorithm_3
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.planning.simulate import simulate
from fedrank.schemes import Lehmer, Scheme

PHIS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SIZES = (10, 20)
CENTERS = ("identity", "authors", "random")
SWEEPS = ("samples", "clients")
STEPS = range(1, 51)
FIXED = 10  # clients where samples vary, samples per client where clients vary
SWAPS = {10: (2, 5), 20: (2, 5, 14, 18)}  # positions of e that the authors swap with the next one


def center_of(name: str, n: int) -> NDArray[np.int64] | None:
    """Return the center of this name; None means a new one in every repetition.

    Examples
    --------
    >>> center_of("authors", 10) + 1
    array([ 1,  2,  4,  3,  5,  7,  6,  8,  9, 10])
    """
    if name == "random":
        return None
    center = np.arange(n)
    for item in SWAPS[n] if name == "authors" else ():
        center[[item, item + 1]] = center[[item + 1, item]]
    return center


def rules_of(n: int, phi: float, clients: int, samples: int) -> dict[tuple[str, str], Scheme | str]:
    """Return what is compared, by the columns ``method`` and ``where`` of the table."""
    return {
        ("Borda", "federated"): algorithm_2(n, clients, phi),
        ("Lehmer", "federated"): algorithm_3(n, clients, phi, samples),
        ("Lehmer, nearest", "federated"): Lehmer(n, clients, phi=phi),
        ("Borda", "centralized"): "borda",
        ("Lehmer", "centralized"): "lehmer",
        ("Kemeny", "centralized"): "kemeny",
    }


class Synthetic(Figure):
    """Mean distance to the center per dispersion, against samples or against clients."""

    repetitions = 100

    def __init__(self, n: int, center: str, sweep: str) -> None:
        self.n, self.center, self.sweep = n, center, sweep
        self.name = f"synthetic-n{n}-{center}-{sweep}"
        said = {"identity": "= e", "authors": "≠ e (the authors')", "random": "random"}[center]
        fixed = f"L = {FIXED} clients" if sweep == "samples" else f"{FIXED} samples per client"
        self.title = f"Algorithms 1 to 3: {n} items, center {said}, {fixed}"

    def parts(self, _: Options) -> Sequence[Row]:
        """List one part per dispersion."""
        return [{"phi": phi} for phi in PHIS]

    def steps_of(self, _: Options) -> int:
        """Count one step per point."""
        return len(STEPS)

    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Simulate every point of one dispersion."""
        rows: list[Row] = []
        for step in STEPS:
            rows += self.point(part["phi"], step, options)
            advance()
        return rows

    def point(self, phi: float, step: int, options: Options) -> list[Row]:
        """Simulate all rules at one point, on the same samples."""
        sizes = {"clients": FIXED, "samples": FIXED, self.sweep: step}
        rules = rules_of(self.n, phi, **sizes)
        center = center_of(self.center, self.n)
        found = simulate(
            list(rules.values()),
            phi=phi,
            n=self.n if center is None else None,
            center=center,
            repetitions=self.repeated(options),
            rng=self.rng(options, phi, step),
            **sizes,
        )
        return [
            {
                "figure": self.name,
                "n": self.n,
                "phi": phi,
                "center": self.center,
                **sizes,
                "method": method,
                "where": where,
                **summary(distances),
                **self.stamp(options),
            }
            for (method, where), distances in zip(rules, found.T, strict=True)
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw one panel per dispersion."""
        from fedrank.experiments import pictures  # noqa: PLC0415  needs the extra plot

        label = "samples per client" if self.sweep == "samples" else "clients"
        panels = {
            f"φ = {phi}": [row for row in rows if row["phi"] == phi]
            for phi in sorted({row["phi"] for row in rows})
        }
        return pictures.panels(
            panels, self.title, self.sweep, label, "mean Kendall distance to the center"
        )


FIGURES: tuple[Figure, ...] = tuple(
    Synthetic(n, center, sweep) for n, center, sweep in product(SIZES, CENTERS, SWEEPS)
)
