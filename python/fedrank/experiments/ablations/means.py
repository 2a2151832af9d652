"""Staggered means (M16) beside the paper's quantizer, exact sums and means that are not rounded."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank._validation import plural
from fedrank.consensus import aggregate
from fedrank.distances import kendall_distance
from fedrank.experiments.ablations.base import (
    CLIENTS,
    Ablation,
    Clients,
    Error,
    Variant,
    mallows_trial,
    ranked,
    real_trial,
    summed,
)
from fedrank.experiments.figure import Figure, Options, Row
from fedrank.experiments.real import PHI
from fedrank.mallows import Mallows
from fedrank.protocol.federate import least_bound
from fedrank.schemes import Borda

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (1, 2, 4, 8)  # steps per place of means
WEIGHTED_LEVELS = 8
CANDIDATES = 4
LEAD = 0.15  # places between the two leading candidates of a close primary
LOYAL = 0.7  # share of voters who have the two in front; the others vote anyhow


def compare_means(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Try means that are not rounded, the paper's centroids, staggered means and exact sums."""
    n, clients = parts[0].shape[1], len(parts)
    means = np.array([part.mean(axis=0) for part in parts]).sum(axis=0)
    # This is not a message: it is what infinitely many levels would give.
    yield Variant({"send": "client means"}, ranked(means.round(9), rng), 0)
    bound = least_bound(parts)
    schemes = {"centroids": Borda(n, clients, send="centroids", phi=PHI)}
    schemes |= {f"means, {levels}": Borda(n, clients, levels=levels) for levels in LEVELS}
    schemes[f"weighted, {WEIGHTED_LEVELS}"] = Borda(
        n, clients, send="weighted", levels=WEIGHTED_LEVELS, max_samples=bound
    )
    schemes["sums"] = Borda(n, clients, send="sums", max_samples=bound)
    for name, scheme in schemes.items():
        yield Variant({"send": name}, summed(scheme, parts, rng), scheme.message_bits)


def primary_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw ballots of a close primary; the error is 1 if the winner is not that of exact sums."""
    ahead = (1 + LEAD / LOYAL) / 2  # chance that a loyal voter has the first leader in front
    parts = []
    for size in rng.integers(2000, 5000, size=(part["clients"],)).tolist():
        anyhow = rng.permuted(np.tile(np.arange(CANDIDATES), (size, 1)), axis=1)
        first = np.where(rng.random((size, 1)) < ahead, [0, 1], [1, 0])
        second = np.where(rng.random((size, 1)) < 0.5, [2, 3], [3, 2])
        loyal = rng.random((size, 1)) < LOYAL
        ballots = np.where(loyal, np.hstack([first, second]), anyhow)
        parts.append(np.ascontiguousarray(ballots, dtype=np.int32))
    winner = int(aggregate(np.concatenate(parts), "borda", rng=rng).order[0])
    return parts, lambda ranks: float(ranks[winner] != 0)


def log_normal_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw clients of log-normal sizes about one center; the error is the distance to it."""
    n = part["n"]
    drawn = rng.lognormal(np.log(part["median"]), part["spread"], CLIENTS)
    sizes = np.maximum(1, np.rint(drawn)).astype(int).tolist()
    center = rng.permutation(n)
    model = Mallows(part["phi"], center=center)
    parts = [model.sample(size, rng).ranks for size in sizes]
    return parts, lambda ranks: kendall_distance(ranks, center)


def panel(row: Row) -> str:
    """Name the panel that a row belongs to.

    Examples
    --------
    >>> panel({"n": 10, "phi": 0.3, "samples": 50, "clients": 10})
    'n 10, φ 0.3, 50 rankings per client'
    """
    if "data" in row:
        return f"{row['data']}: {plural(row['n'], 'item')}, {plural(row['clients'], 'client')}"
    if "median" in row:
        return f"n {row['n']}, φ {row['phi']:g}, median {row['median']} rankings"
    if "phi" in row:
        return f"n {row['n']}, φ {row['phi']:g}, {plural(row['samples'], 'ranking')} per client"
    return plural(row["clients"], "client")


def draw(rows: Sequence[Row]) -> Any:
    """Draw the error of each way to send, with a bar of one standard error on both sides."""
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    def fill(axes: "Axes", rows: Sequence[Row]) -> None:
        names = [row["send"] for row in rows]
        axes.errorbar(
            range(len(rows)),
            [row["mean"] for row in rows],
            [row["standard_error"] for row in rows],
            color=panels.BLUE,
            marker="o",
            linestyle="",
            capsize=3,
        )
        axes.set_xticks(range(len(rows)), names, rotation=60, ha="right", fontsize=8)

    style = {"mean and standard error": (panels.BLUE, "o", "")}
    cells = panels.by_panel(rows, panel)
    ylabel = {"data": "objective", "phi": "distance to the center"}
    said = next((text for column, text in ylabel.items() if column in rows[0]), "wrong winners")
    return panels.grid(cells, min(2, len(cells)), fill, style, "what a client sends", said)


FIGURES: tuple[Figure, ...] = (
    Ablation(
        "means",
        "Borda: staggered means (10 clients, any center)",
        400,
        [
            {"n": n, "center": "random", "phi": phi, "samples": samples}
            for n, phi, samples in (
                (10, 0.0, 5),
                (100, 0.0, 5),
                (10, 0.3, 50),
                (10, 0.9, 500),
                (20, 0.6, 5),
                (30, 0.95, 200),
                (100, 0.6, 5),
                (978, 0.6, 20),
            )
        ],
        mallows_trial,
        compare_means,
        draw,
    ),
    Ablation(
        "means-real",
        "Borda: staggered means of real data",
        20,
        [{"data": data} for data in ("jester", "luad", "lusc", "maine")],
        real_trial,
        compare_means,
        draw,
    ),
    Ablation(
        "means-primary",
        "Borda: wrong winners of a close primary (4 candidates)",
        200,
        [{"clients": clients} for clients in (3, 5, 10, 20)],
        primary_trial,
        compare_means,
        draw,
    ),
    Ablation(
        "means-weights",
        "Borda: clients of log-normal sizes (10 clients)",
        400,
        [{"n": 10, "phi": 0.8, "median": 10, "spread": 1.2}],
        log_normal_trial,
        compare_means,
        draw,
    ),
)
