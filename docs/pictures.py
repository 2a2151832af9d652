"""Draw the pictures of the theory, Golomb and superposition pages: `python docs/pictures.py`.

Every run draws the same pictures.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

import fedrank as fr
from fedrank import golomb, superposition, theory
from fedrank.planning import simulate
from fedrank.planning.search import find_least

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).parent
TRIALS = 400  # per number of samples
MAX_SAMPLES = 1 << 16
GOLDEN = (5**0.5 - 1) / 2
BORDA, LEHMER, GREY = "#1f5f8b", "#c8553d", "#777777"


def draw_theory(axes: Axes) -> None:
    """Plot the samples that the theorems ask for, and those that simulations need, against phi."""
    n, delta = 20, 0.05
    fine = np.linspace(0.02, 0.98, 200)
    axes.plot(fine, [theory.samples("borda", n, phi, delta).proved for phi in fine], color=BORDA)
    valid = [phi for phi in fine if phi + phi**2 < 1 + phi**n]
    lehmer = [theory.samples("lehmer", n, phi, delta).proved for phi in valid]
    axes.plot(valid, lehmer, color=LEHMER)
    coarse = np.arange(0.1, 0.95, 0.1)
    for method, color in (("borda", BORDA), ("lehmer", LEHMER)):
        phis = [phi for phi in coarse if method == "borda" or phi < 0.65]
        needed = [least_samples(method, n, phi, delta) for phi in phis]
        axes.plot(phis, needed, "o--", color=color, markersize=4)
    axes.text(0.3, 2e7, "Borda: Theorem 1", color=BORDA, ha="right")
    axes.text(0.33, 6e3, "Lehmer: Theorem 3", color=LEHMER, ha="right")
    axes.text(0.63, 1.2e4, "Lehmer: simulated", color=LEHMER)
    axes.text(0.55, 4, "Borda: simulated", color=BORDA)
    axes.axvline(GOLDEN, color=GREY, linewidth=0.8, linestyle=":")
    axes.text(GOLDEN + 0.01, 1e12, "no theorem for\nLehmer from here", color=GREY, va="top")
    axes.set(yscale="log", xlabel="phi", ylabel="rankings", xlim=(0, 1), ylim=(1, 3e12))
    axes.set_title(f"Rankings that recover the center, {n} items, delta {delta}", fontsize=10)


def least_samples(method: str, n: int, phi: float, delta: float) -> int:
    """Search the number of samples with which the center is found often enough."""

    def enough(samples: int) -> bool:
        sizes = {"clients": 1, "samples": samples, "repetitions": TRIALS}
        distances = simulate([method], phi=phi, n=n, rng=samples, **sizes)
        return bool((distances == 0).mean() >= 1 - delta)

    found = find_least(enough, 0, MAX_SAMPLES)
    assert found is not None, f"{method}, phi {phi}: more than {MAX_SAMPLES} samples"
    return found


def draw_golomb(axes: Axes) -> None:
    """Plot bits per digit, against phi."""
    n = 978
    phis = np.linspace(0.02, 0.995, 196)
    found = [golomb.length(n, phi) for phi in phis]
    axes.axhline(found[0].fixed / n, color=GREY, linestyle="--")
    axes.plot(phis, [each.expected / n for each in found], color=BORDA)
    axes.plot(phis, [each.entropy / n for each in found], color=LEHMER)
    coarse = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
    for phi in coarse:
        codes = fr.lehmer_encode(fr.Mallows(phi, n=n).sample(100, rng=0))
        bits = golomb.length(n, phi, codes=codes).measured
        axes.plot(phi, bits / n, "o", color=BORDA, markersize=4)
    axes.text(0.02, found[0].fixed / n - 0.15, "digits in fixed widths", color=GREY, va="top")
    axes.text(0.55, 3.4, "Golomb: expected, and\nwritten (dots)", color=BORDA, ha="right")
    axes.text(0.62, 1.1, "entropy", color=LEHMER)
    axes.set(xlabel="phi", ylabel="bits per digit", xlim=(0, 1), ylim=(0, 10))
    axes.set_title(f"Lehmer codes of {n} items around the identity", fontsize=10)


def draw_superposition(axes: Axes) -> None:
    """Plot the distance of the consensus from the center, against noise."""
    n, phi, rounds = 50, 0.5, 60
    strengths = np.geomspace(0.1, 100, 25)
    for m, color in ((10, LEHMER), (100, BORDA), (1000, "#3a7d44")):
        rows = []
        for seed in range(rounds):
            rng = np.random.default_rng(seed)
            center = rng.permutation(n)
            rankings = fr.Mallows(phi, center=center).sample(m, rng=rng)
            quiet = superposition.aggregate([rankings]).sums
            noise = rng.normal(size=len(quiet))
            heard = [superposition.receive(quiet + s * noise, rng=rng).ranks for s in strengths]
            rows.append(fr.kendall_distance(heard, center))
        mean = np.mean(rows, axis=0)
        low, high = np.percentile(rows, [10, 90], axis=0)
        axes.fill_between(strengths, low, high, color=color, alpha=0.15, linewidth=0)
        axes.plot(strengths, mean, color=color, label=f"{m:,} rankings")
    axes.axhline(n * (n - 1) / 4, color=GREY, linestyle=":")
    axes.text(0.12, n * (n - 1) / 4 + 10, "a random ranking", color=GREY)
    axes.set(xscale="log", xlabel="noise: standard deviation of a slot's sum, in rankings")
    axes.set(ylabel="wrong pairs", xlim=(0.1, 100), ylim=(0, 720))
    axes.legend(loc="center left", frameon=False)
    axes.set_title(f"Consensus over the air, {n} items, phi {phi}, random centers", fontsize=10)


def main() -> None:
    """Write one file beside each page."""
    for draw in (draw_theory, draw_golomb, draw_superposition):
        figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        name = draw.__name__.removeprefix("draw_")
        figure.savefig(HERE / f"{name}.png", dpi=120, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
