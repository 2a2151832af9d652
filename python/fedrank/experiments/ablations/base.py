"""What all ablations share: variants compared on the same clients, simulated or real."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank.distances import kemeny_score, kendall_distance
from fedrank.experiments import real
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.experiments.synthetic import center_of
from fedrank.mallows import Mallows
from fedrank.rankings.complete import Rankings
from fedrank.schemes import ConsensusScheme

Ranking: TypeAlias = NDArray[np.int32]
Clients: TypeAlias = Sequence[Ranking]
"""The rankings of each client, as an array with one ranking per row."""
Error: TypeAlias = Callable[[Ranking], float]
"""Measures a consensus; smaller is better."""

CLIENTS = 10  # of simulated data


class Variant(NamedTuple):
    """A consensus, the columns that tell how it was found, and what a client sent in which rounds.

    Attributes
    ----------
    labels : Row
        The columns.
    ranks : numpy.ndarray of int32
        The consensus.
    bits : int
        Bits that a client sent, in all rounds.
    rounds : int
        Number of rounds.
    """

    labels: Row
    ranks: Ranking
    bits: int
    rounds: int = 1


Compare: TypeAlias = Callable[[Clients, np.random.Generator], Iterator[Variant]]
Trial: TypeAlias = Callable[[Row, int, Options, np.random.Generator], tuple[Clients, Error]]
Draw: TypeAlias = Callable[[Sequence[Row]], Any]


class Ablation(Figure):
    """Variants of a method, compared on the same clients in every repetition.

    The columns ``beside_…`` hold the differences from the first variant, repetition by
    repetition: they vary much less than the errors themselves.

    Parameters
    ----------
    name, title : str
        As for every figure.
    repetitions : int
        Number of repetitions, by default.
    points : sequence of Row
        The parts: columns that tell what the clients hold.
    trial : callable
        Makes the clients of one repetition, and the function that measures a consensus.
    compare : callable
        Finds a consensus of the clients with every variant.
    picture : callable
        Draws the rows; returns a matplotlib figure.
    """

    def __init__(
        self,
        name: str,
        title: str,
        repetitions: int,
        points: Sequence[Row],
        trial: Trial,
        compare: Compare,
        picture: Draw,
    ) -> None:
        self.name, self.title, self.repetitions = name, title, repetitions
        self.points, self.trial, self.compare, self.picture = points, trial, compare, picture

    def parts(self, _: Options) -> Sequence[Row]:
        """List one part per kind of clients."""
        return self.points

    def stamp(self, options: Options) -> Row:
        """Return the common columns; with real data, also a digest of the files."""
        names = {point["data"] for point in self.points if "data" in point}
        used = [each for each in real.FIGURES if each.name in names]
        files = "+".join(each.stamp(options)["data"] for each in used)
        return super().stamp(options) | ({"files": files} if files else {})

    def steps_of(self, options: Options) -> int:
        """Count one step per repetition."""
        return self.repeated(options)

    def run(self, part: Row, options: Options, advance: Callable[[], object] = int) -> list[Row]:
        """Measure every variant on the same clients, in every repetition."""
        labels: dict[str, Row] = {}
        errors: dict[str, list[float]] = {}
        bits: dict[str, list[int]] = {}
        rounds: dict[str, list[int]] = {}
        parts: Clients = ()
        for repetition in range(self.repeated(options)):
            rng = self.rng(options, *part.values(), repetition)
            parts, error = self.trial(part, repetition, options, rng)
            for variant in self.compare(parts, rng):
                key = repr(variant.labels)
                labels[key] = variant.labels
                errors.setdefault(key, []).append(error(variant.ranks))
                bits.setdefault(key, []).append(variant.bits)
                rounds.setdefault(key, []).append(variant.rounds)
            advance()
        held = {"n": parts[0].shape[1], "clients": len(parts), "used": sum(map(len, parts))}
        first = np.array(errors[next(iter(labels))])
        return [
            {
                "figure": self.name,
                **part,
                **{name: value for name, value in held.items() if name not in part},
                **labels[key],
                "bits": float(np.mean(bits[key])),
                "rounds": float(np.mean(rounds[key])),
                **summary(np.array(errors[key])),
                **{f"beside_{k}": v for k, v in summary(np.array(errors[key]) - first).items()},
                **self.stamp(options),
            }
            for key in labels
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw the picture, under the title."""
        figure = self.picture(rows)
        figure.suptitle(self.title)
        return figure


def mallows_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw the clients' rankings about one center; the error is the distance to it."""
    n, samples = part["n"], part["samples"]
    center = center_of(part.get("center", "identity"), n)
    truth = rng.permutation(n) if center is None else center
    drawn = Mallows(part["phi"], center=truth).sample(CLIENTS * samples, rng).ranks
    parts = list(drawn.reshape(CLIENTS, samples, n))
    return parts, lambda ranks: kendall_distance(ranks, truth)


def real_trial(
    part: Row, repetition: int, options: Options, _: np.random.Generator
) -> tuple[Clients, Error]:
    """Deal real rankings out to clients; the error is the Kemeny objective over all of them."""
    figure = next(each for each in real.FIGURES if each.name == part["data"])
    held = figure.load(options)
    assert isinstance(held, Rankings), f"{figure.name} is not dealt out"
    shares = figure.subsets(part.get("samples", len(held)), repetition, options)
    return [each.ranks for each in shares], lambda ranks: kemeny_score(ranks, held)


def total_of(
    scheme: ConsensusScheme, parts: Clients, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Sum the clients' messages, without masks."""
    messages = np.array([scheme.encode(part, client=i, rng=rng) for i, part in enumerate(parts)])
    total: NDArray[np.uint64] = messages.sum(axis=0, dtype=np.uint64)
    return total


def summed(scheme: ConsensusScheme, parts: Clients, rng: np.random.Generator) -> Ranking:
    """Decode the consensus from the sum of the clients' messages."""
    return scheme.decode(total_of(scheme, parts, rng), len(parts), rng).ranks


def ranked(sums: NDArray[Any], rng: np.random.Generator) -> Ranking:
    """Rank items by their sums, smallest first, ties broken at random."""
    order = np.lexsort((rng.random(len(sums)), sums))
    return np.argsort(order).astype(np.int32)
