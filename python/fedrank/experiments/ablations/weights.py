"""Weights: whether every client counts once, or every ranking, when clients are unequal."""

from collections.abc import Iterator, Sequence
from math import ceil, exp
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank.consensus import aggregate
from fedrank.distances import kemeny_score, kendall_distance
from fedrank.experiments.ablations.base import (
    Ablation,
    Clients,
    Error,
    Ranking,
    Variant,
    ranked,
    summed,
)
from fedrank.experiments.ablations.means import WEIGHTED_LEVELS
from fedrank.experiments.figure import Figure, Options, Row
from fedrank.experiments.real import PHI
from fedrank.experiments.table import matching
from fedrank.mallows import Mallows
from fedrank.protocol.federate import least_bound
from fedrank.schemes import Borda

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Ten regions as unequal as Sushi's: 4,981 rankings, from 87 to 2,397 per region.
REGIONS = (2397, 700, 500, 350, 300, 220, 180, 140, 107, 87)
# Fifty precincts with log-normal sizes: from 4 to 978 rankings, median 60.
PRECINCTS = tuple(
    round(60 * exp(1.2 * NormalDist().inv_cdf((i + 0.5) / 50))) for i in reversed(range(50))
)
PROFILES = {"regions": REGIONS, "precincts": PRECINCTS}
DATA_PHI = 0.8  # dispersion of the clients' rankings
ITEMS = 10


def moved(n: int, distance: int, rng: np.random.Generator) -> Ranking:
    """Return a ranking at this Kendall distance from the identity, by random adjacent swaps.

    Examples
    --------
    >>> kendall_distance(moved(10, 12, np.random.default_rng(0)), range(10))
    12
    """
    ranks = np.arange(n, dtype=np.int32)
    for _ in range(distance):
        item = rng.choice(np.flatnonzero(ranks[:-1] < ranks[1:]))
        ranks[[item, item + 1]] = ranks[[item + 1, item]]
    return ranks


def unequal_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw rankings of clients as unequal as the part says.

    Clients that are alike have one center, and the error is the distance to it. Otherwise six
    clients in ten, the smallest ones or any, have another center, and the error is how much
    further from all rankings the consensus is than the best one.
    """
    sizes = [max(1, ceil(size * part["share"])) for size in PROFILES[part["profile"]]]
    other = moved(ITEMS, part["distance"], rng)
    minority = len(sizes) * 6 // 10
    clients = (
        np.arange(len(sizes))[::-1] if part["differ"] == "size" else rng.permutation(len(sizes))
    )
    apart = set(clients[:minority].tolist())
    parts = [
        Mallows(DATA_PHI, center=other if client in apart else np.arange(ITEMS))
        .sample(size, rng)
        .ranks
        for client, size in enumerate(sizes)
    ]
    if part["differ"] == "alike":
        return parts, lambda ranks: kendall_distance(ranks, np.arange(ITEMS))
    everyone = np.concatenate(parts)
    best = aggregate(everyone, "kemeny", rng=rng).ranks
    least = kemeny_score(best, everyone) * ITEMS
    return parts, lambda ranks: kemeny_score(ranks, everyone) * ITEMS - least


def compare_weights(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Count every client once, by places or means, or every ranking; rounded and not."""
    levels = Borda(ITEMS, len(parts), send="centroids", phi=PHI)
    yield Variant({"weight": "client, places"}, summed(levels, parts, rng), levels.message_bits)
    means = np.array([part.mean(axis=0) for part in parts]).sum(axis=0)
    # This is not a message: it is what infinitely many levels would give.
    yield Variant({"weight": "client, means"}, ranked(means.round(9), rng), 0)
    bound = least_bound(parts)
    sums = Borda(ITEMS, len(parts), send="sums", max_samples=bound)
    yield Variant({"weight": "ranking"}, summed(sums, parts, rng), sums.message_bits)
    rounded = Borda(ITEMS, len(parts))
    yield Variant({"weight": "client, 1/4"}, summed(rounded, parts, rng), rounded.message_bits)
    weighted = Borda(ITEMS, len(parts), send="weighted", levels=WEIGHTED_LEVELS, max_samples=bound)
    yield Variant({"weight": "ranking, 1/8"}, summed(weighted, parts, rng), weighted.message_bits)


def unequal_points() -> list[Row]:
    """List the kinds of clients."""
    points: list[Row] = []
    for profile in PROFILES:
        points += [
            {"profile": profile, "differ": "alike", "share": 2.0**-k, "distance": 0}
            for k in range(8)
        ]
        points += [
            {"profile": profile, "differ": differ, "share": 1.0, "distance": distance}
            for differ in ("size", "lot")
            for distance in (0, 1, 2, 4, 8, 15, 25, 45)
        ]
    return points


def draw(rows: Sequence[Row]) -> Any:
    """Draw clients that are alike against their sizes, and others against their difference."""
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    styles: dict[str, panels.Style] = {
        "client, places": (panels.VERMILLION, "v", "-"),
        "client, means": (panels.ORANGE, "s", "--"),
        "ranking": (panels.BLUE, "o", "-"),
        "client, 1/4": (panels.GREEN, "^", "-"),
        "ranking, 1/8": (panels.SKY, "P", "--"),
    }
    titles = {
        "alike": "clients alike: distance to the center",
        "size": "small clients differ: excess",
        "lot": "any clients differ: excess",
    }

    def fill(axes: "Axes", rows: Sequence[Row]) -> None:
        alike = rows[0]["differ"] == "alike"
        for name, style in styles.items():
            x = "used" if alike else "distance"
            panels.curve(axes, matching(rows, {"weight": name}), x, style)
        if alike:
            panels.log_scale(axes)

    figure = panels.grid(
        panels.by_panel(rows, lambda row: f"{row['profile']}; {titles[row['differ']]}"),
        3,
        fill,
        {f"every {name}": style for name, style in styles.items()},
        "",
        "Kendall distance",
    )
    for number, axes in enumerate(figure.axes):
        axes.set_xlabel("distance between the two centers" if number % 3 else "rankings in all")
    return figure


FIGURES: tuple[Figure, ...] = (
    Ablation(
        "weights",
        "Count every client once, or every ranking?",
        200,
        unequal_points(),
        unequal_trial,
        compare_weights,
        draw,
    ),
)
