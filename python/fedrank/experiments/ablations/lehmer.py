"""Lehmer coding: which digits a client sends, and how the server decodes their sum (M8)."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fedrank.consensus import aggregate
from fedrank.distances import lehmer_decode, lehmer_encode
from fedrank.experiments.ablations.base import (
    Ablation,
    Clients,
    Ranking,
    Variant,
    mallows_trial,
    real_trial,
    summed,
    total_of,
)
from fedrank.experiments.figure import Figure, Row
from fedrank.experiments.real import PHI
from fedrank.experiments.table import matching
from fedrank.schemes import Borda, Lehmer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SENDS = ("plurality", "median")
DECODES = ("nearest", "paper")


@cache
def lehmer_scheme(n: int, clients: int, low_bits: int, decode: str = "nearest") -> Lehmer:
    """Make a scheme once."""
    return Lehmer(n, clients, phi=PHI, low_bits=low_bits, decode=decode)


def median_ranking(rankings: Ranking, rng: np.random.Generator) -> Ranking:
    """Return the ranking whose digits are the medians of a client's digits.

    Of two middle digits one is chosen at random.

    Examples
    --------
    >>> rankings = np.array([[0, 1, 2], [2, 1, 0], [2, 0, 1]])
    >>> lehmer_encode(rankings).tolist()
    [[0, 0, 0], [0, 1, 2], [0, 1, 1]]
    >>> median_ranking(rankings, np.random.default_rng(0)).tolist()
    [2, 0, 1]
    """
    digits = np.sort(lehmer_encode(rankings), axis=0)
    count, n = digits.shape
    middle = (count - 1 + rng.integers(0, 2, size=n)) // 2
    found: Ranking = lehmer_decode(digits[middle, np.arange(n)][np.newaxis])[0]
    return found


def compare_lehmer(parts: Clients, rng: np.random.Generator) -> Iterator[Variant]:
    """Try every number of low bits, both decodings, both digits to send, centred or not.

    Centred, the items are numbered by a Borda consensus that was announced before, so that
    rankings similar to it have small digits. The first variant is that Borda consensus.
    """
    n, clients = parts[0].shape[1], len(parts)
    borda = Borda(n, clients, send="centroids", phi=PHI)
    announced = summed(borda, parts, rng)
    yield Variant(
        {"send": "places", "decode": "ranked", "centred": "no", "low_bits": 0},
        announced,
        borda.message_bits,
    )
    for centred, send in product(("no", "yes"), SENDS):
        order = np.argsort(announced) if centred == "yes" else np.arange(n)
        held = [np.ascontiguousarray(part[:, order]) for part in parts]
        if send == "median":
            own = [median_ranking(part, rng) for part in held]
        else:
            own = [aggregate(part, "lehmer", rng=rng).ranks for part in held]
        # The digits that a client sends are those of one ranking, so it encodes that ranking.
        own = [ranks[np.newaxis] for ranks in own]
        for low_bits in range((n - 1).bit_length() + 1):
            total = total_of(lehmer_scheme(n, clients, low_bits, DECODES[0]), own, rng)
            for decode in DECODES:
                scheme = lehmer_scheme(n, clients, low_bits, decode)
                ranks = np.empty(n, dtype=np.int32)
                ranks[order] = scheme.decode(total, clients, rng).ranks
                yield Variant(
                    {"send": send, "decode": decode, "centred": centred, "low_bits": low_bits},
                    ranks,
                    scheme.message_bits + (borda.message_bits if centred == "yes" else 0),
                )


def draw(rows: Sequence[Row]) -> Any:
    """Draw the error against the number of low bits."""
    from fedrank.experiments.ablations import panels  # noqa: PLC0415  needs the extra plot

    real = "data" in rows[0]
    shown = rows if real else matching(rows, {"phi": 0.6, "samples": 20})
    looks = {
        ("plurality", "nearest"): (panels.ORANGE, "v"),
        ("plurality", "paper"): (panels.VERMILLION, "s"),
        ("median", "nearest"): (panels.SKY, "^"),
        ("median", "paper"): (panels.GREEN, "D"),
    }
    curves = {
        f"{send}, {decode}{', centred' if centred == 'yes' else ''}": (
            {"send": send, "decode": decode, "centred": centred},
            (colour, marker, dash),
        )
        for (send, decode), (colour, marker) in looks.items()
        for centred, dash in (("no", "-"), ("yes", "--"))
    }

    def fill(axes: "Axes", rows: Sequence[Row]) -> None:
        for columns, style in curves.values():
            panels.curve(axes, matching(rows, columns), "low_bits", style)
        (borda,) = matching(rows, {"send": "places"})
        axes.axhline(borda["mean"], color=panels.BLUE, linestyle=":", linewidth=1.4)
        if real:  # the axis leaves out distant curves, so that the others can be compared
            least = borda["mean"]
            axes.set_ylim(0.995 * least, (1.06 if rows[0]["n"] < 500 else 1.28) * least)
        else:
            axes.set_yscale("symlog", linthresh=0.1, linscale=0.4)
            axes.set_ylim(0, 1.5 * max(row["mean"] for row in rows))
        panels.whole_numbers(axes)

    styles = {name: style for name, (_, style) in curves.items()}
    return panels.grid(
        panels.by_panel(shown),
        2 if real else 3,
        fill,
        styles | {"Borda": (panels.BLUE, "", ":")},
        "I, bits sent one-hot",
        panels.OBJECTIVE if real else panels.DISTANCE,
    )


FIGURES: tuple[Figure, ...] = (
    Ablation(
        "lehmer-study",
        "Lehmer coding: what is sent, how it is read (10 clients of 20 samples, φ = 0.6)",
        100,
        [
            {"n": n, "center": center, "phi": phi, "samples": samples}
            for n, center, phi, samples in product(
                (10, 20, 100), ("identity", "authors", "random"), (0.3, 0.6, 0.9), (5, 20)
            )
            if (n, center) != (100, "authors")
        ],
        mallows_trial,
        compare_lehmer,
        draw,
    ),
    Ablation(
        "lehmer-real",
        "Lehmer coding on real data: what is sent, how it is read",
        20,
        [{"data": "jester"}, {"data": "luad"}],
        real_trial,
        compare_lehmer,
        draw,
    ),
)
