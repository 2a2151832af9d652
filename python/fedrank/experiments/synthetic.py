"""The synthetic panels: how far from the center the consensus of Mallows samples is."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.planning.simulate import simulate
from fedrank.schemes import Borda, Lehmer, Scheme

PHIS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SIZES = (10, 20)
CENTERS = ("identity", "authors", "random")
SWEEPS = ("samples", "clients")
STEPS = range(1, 51)
FIXED = 10  # clients where samples vary, samples where clients do
SWAPS = {10: (2, 5), 20: (2, 5, 14, 18)}  # the authors swap these places of e with the next


def center_of(name: str, n: int) -> NDArray[np.int64] | None:
    """Return the center that a name stands for; None for a new one in every repetition.

    Examples
    --------
    >>> center_of("authors", 10) + 1
    array([ 1,  2,  4,  3,  5,  7,  6,  8,  9, 10])
    """
    if name == "random":
        return None
    center = np.arange(n)
    for place in SWAPS[n] if name == "authors" else ():
        center[[place, place + 1]] = center[[place + 1, place]]
    return center


def rules_of(n: int, phi: float, clients: int, samples: int) -> dict[tuple[str, str], Scheme | str]:
    """Return what is compared, by method and by whether the rankings stay where they are."""
    paper = Lehmer(n, clients, phi, low_bits="paper", max_samples=samples, decode="paper")
    return {
        ("Borda", "federated"): Borda(n, clients, phi),
        ("Lehmer", "federated"): paper,
        ("Lehmer, nearest", "federated"): Lehmer(n, clients, phi),
        ("Borda", "centralized"): "borda",
        ("Lehmer", "centralized"): "lehmer",
        ("Kemeny", "centralized"): "kemeny",
    }


class Synthetic(Figure):
    """Mean distance to the center for each dispersion, against samples or against clients."""

    repetitions = 100

    def __init__(self, n: int, center: str, sweep: str) -> None:
        self.n, self.center, self.sweep = n, center, sweep
        self.name = f"synthetic-n{n}-{center}-{sweep}"
        said = {"identity": "= e", "authors": "≠ e (the authors')", "random": "random"}[center]
        fixed = f"L = {FIXED} clients" if sweep == "samples" else f"{FIXED} samples a client"
        self.title = f"{n} items, center {said}, {fixed}"

    def parts(self, _: Options) -> Sequence[Row]:
        """Take one dispersion at a time."""
        return [{"phi": phi} for phi in PHIS]

    def steps_of(self, _: Options) -> int:
        """Go point by point."""
        return len(STEPS)

    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Simulate every point of one dispersion."""
        rows: list[Row] = []
        for step in STEPS:
            rows += self.point(part["phi"], step, options)
            advance()
        return rows

    def point(self, phi: float, step: int, options: Options) -> list[Row]:
        """Simulate all rules at one point, with samples of its own."""
        sizes = {"clients": FIXED, "samples": FIXED, self.sweep: step}
        rules = rules_of(self.n, phi, **sizes)
        center = center_of(self.center, self.n)
        found = simulate(
            list(rules.values()),
            phi,
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
        """Draw a panel for each dispersion."""
        from fedrank.experiments import pictures  # noqa: PLC0415  an extra

        label = "samples a client" if self.sweep == "samples" else "clients"
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
