"""Beyond the paper: the choices that it leaves open, measured on the same clients.

What a client sends for Lehmer coding and how the server reads it (M8), how finely Borda's means
are quantized (M6), what a bit buys with each scheme (M14), and when unequal clients want weights.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from math import ceil, exp
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedrank.consensus import aggregate
from fedrank.distances import kemeny_score, kendall_distance, lehmer_decode, lehmer_encode
from fedrank.experiments import real
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.experiments.real import PHI
from fedrank.experiments.synthetic import center_of
from fedrank.mallows import Mallows
from fedrank.planning.simulate import simulate
from fedrank.protocol.federate import federate
from fedrank.rankings.complete import Rankings
from fedrank.schemes import Borda, ConsensusScheme, Lehmer

Ranking = NDArray[np.int32]
Clients = Sequence[Ranking]
Error = Callable[[Ranking], float]

CLIENTS = 10  # of made-up data
DECODES = ("nearest", "paper")
SENDS = ("plurality", "median")
QUANTIZERS = (0.0, 0.3, 0.6, 0.9)  # phi of Borda's places
FINER = 4  # parts of a place
WINDOWS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 15


class Found(NamedTuple):
    """A consensus, the columns that say how it was found, and the bits that a client sent."""

    labels: Row
    ranks: Ranking
    bits: int


Compare = Callable[[Clients, np.random.Generator], Iterator[Found]]
Trial = Callable[[Row, int, Options, np.random.Generator], tuple[Clients, Error]]


class Compared(Figure):
    """Ways to a consensus, compared on the same clients in every repetition.

    The columns ``beside_`` are of the differences to the first way, repetition by repetition: they
    vary much less than the errors do.

    Parameters
    ----------
    name, title : str
        As of every figure.
    repetitions : int
        How many by default.
    points : sequence of Row
        The parts: columns that say what the clients hold.
    trial : callable
        Makes the clients of one repetition, and what measures a consensus of theirs.
    compare : callable
        Finds a consensus of the clients in every way that is compared.
    picture : str
        Name of the function that draws the rows.
    """

    def __init__(
        self,
        name: str,
        title: str,
        repetitions: int,
        points: Sequence[Row],
        trial: Trial,
        compare: Compare,
        picture: str,
    ) -> None:
        self.name, self.title, self.repetitions = name, title, repetitions
        self.points, self.trial, self.compare, self.picture = points, trial, compare, picture

    def parts(self, _: Options) -> Sequence[Row]:
        """Take one kind of clients at a time."""
        return self.points

    def stamp(self, options: Options) -> Row:
        """Tell rows that were made of other files apart, too."""
        names = {point["data"] for point in self.points if "data" in point}
        used = [each for each in real.FIGURES if each.name in names]
        files = "+".join(each.stamp(options)["data"] for each in used)
        return super().stamp(options) | ({"files": files} if files else {})

    def steps_of(self, options: Options) -> int:
        """One a repetition."""
        return self.repeated(options)

    def run(self, part: Row, options: Options, advance: Callable[[], object] = int) -> list[Row]:
        """Measure every way on the same clients, again and again."""
        labels: dict[str, Row] = {}
        errors: dict[str, list[float]] = {}
        bits: dict[str, list[int]] = {}
        parts: Clients = ()
        for repetition in range(self.repeated(options)):
            rng = self.rng(options, *part.values(), repetition)
            parts, error = self.trial(part, repetition, options, rng)
            for found in self.compare(parts, rng):
                key = repr(found.labels)
                labels[key] = found.labels
                errors.setdefault(key, []).append(error(found.ranks))
                bits.setdefault(key, []).append(found.bits)
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
                **summary(np.array(errors[key])),
                **{f"beside_{k}": v for k, v in summary(np.array(errors[key]) - first).items()},
                **self.stamp(options),
            }
            for key in labels
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw the picture, under the title."""
        from fedrank.experiments import study_pictures  # noqa: PLC0415  an extra

        figure = getattr(study_pictures, self.picture)(rows)
        figure.suptitle(self.title)
        return figure


# --- clients ---


def mallows_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw clients' rankings about one center; the error is the distance to it."""
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
    assert isinstance(figure, real.Real)  # all of them are
    held = figure.load(options)
    assert isinstance(held, Rankings)  # dealt out, so read as one
    shares = figure.subsets(part.get("samples", len(held)), repetition, options)
    return [each.ranks for each in shares], lambda ranks: kemeny_score(ranks, held)


# --- Lehmer: what is sent, how it is read ---


def total_of(
    scheme: ConsensusScheme, parts: Clients, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Sum the clients' messages, in the clear."""
    messages = np.array([scheme.encode(part, rng) for part in parts])
    total: NDArray[np.uint64] = messages.sum(axis=0, dtype=np.uint64)
    return total


def summed(scheme: ConsensusScheme, parts: Clients, rng: np.random.Generator) -> Ranking:
    """Find the consensus in the sum of the clients' messages."""
    return scheme.decode(total_of(scheme, parts, rng), len(parts), rng).ranks


@cache
def lehmer(n: int, clients: int, low_bits: int, decode: str) -> Lehmer:
    """Make a scheme once."""
    return Lehmer(n, clients, PHI, low_bits=low_bits, decode=decode)


def median_ranking(rankings: Ranking, rng: np.random.Generator) -> Ranking:
    """Return the ranking whose digits are the medians of a client's; the middle two by lot.

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


def compare_lehmer(parts: Clients, rng: np.random.Generator) -> Iterator[Found]:
    """Try every number of low bits, both decodings, both digits to send, centred or not.

    Centred, the items are numbered by a Borda consensus that was announced before, so that the
    digits of rankings like it are small.
    """
    n, clients = parts[0].shape[1], len(parts)
    borda = Borda(n, clients, PHI)
    announced = summed(borda, parts, rng)
    yield Found(
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
        # A client's digits are those of one ranking, whose message is theirs.
        own = [ranks[np.newaxis] for ranks in own]
        for low_bits in range((n - 1).bit_length() + 1):
            total = total_of(lehmer(n, clients, low_bits, DECODES[0]), own, rng)
            for decode in DECODES:
                scheme = lehmer(n, clients, low_bits, decode)
                ranks = np.empty(n, dtype=np.int32)
                ranks[order] = scheme.decode(total, clients, rng).ranks
                yield Found(
                    {"send": send, "decode": decode, "centred": centred, "low_bits": low_bits},
                    ranks,
                    scheme.message_bits + (borda.message_bits if centred == "yes" else 0),
                )


# --- Borda: how means are quantized ---


def ranked(sums: NDArray[Any], rng: np.random.Generator) -> Ranking:
    """Rank by sums, least first, equal ones by lot."""
    order = np.lexsort((rng.random(len(sums)), sums))
    return np.argsort(order).astype(np.int32)


def rounded(
    parts: Clients, levels: int, chance: bool, rng: np.random.Generator
) -> tuple[Ranking, int]:
    """Rank by means rounded to ``1/levels`` of a position; the bits of a client beside it.

    To the nearest, midpoints by lot; or up or down by a chance that makes up for the rest, so
    that the clients' errors cancel in the sum.
    """
    means = np.array([part.mean(axis=0) for part in parts]) * levels
    below = np.floor(means)
    rest = means - below
    lot = rng.random(means.shape)
    up = lot < rest if chance else (rest > 0.5) | ((rest == 0.5) & (lot < 0.5))
    n = parts[0].shape[1]
    bits = n * (len(parts) * levels * (n - 1)).bit_length()
    return ranked((below + up).sum(axis=0), rng), bits


def compare_borda(parts: Clients, rng: np.random.Generator) -> Iterator[Found]:
    """Try places of several dispersions, finer ones, rounding by chance, and exact sums."""
    n, clients = parts[0].shape[1], len(parts)
    exact = Borda(n, clients, quantize=False, max_samples=max(map(len, parts)))
    yield Found({"quantizer": "exact"}, summed(exact, parts, rng), exact.message_bits)
    for phi in QUANTIZERS:
        scheme = Borda(n, clients, phi)
        yield Found({"quantizer": f"phi {phi:g}"}, summed(scheme, parts, rng), scheme.message_bits)
    yield Found({"quantizer": f"1/{FINER} place"}, *rounded(parts, FINER, False, rng))
    yield Found({"quantizer": "by chance"}, *rounded(parts, 1, True, rng))


class BordaPhi(Figure):
    """Places of many dispersions where there are few items, beside exact sums."""

    name = "borda-phi"
    title = "Borda's phi, where there are few items"
    repetitions = 1000
    phis = (0.0, 0.1, 0.2, 0.3, 0.39, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

    def parts(self, _: Options) -> Sequence[Row]:
        """Take one kind of clients at a time, from agreement to disagreement."""
        kinds = ((10, 0.0, 5), (10, 0.3, 5), (10, 0.5, 20), (10, 0.7, 20), (10, 0.9, 50))
        return [
            {"n": n, "phi": phi, "samples": samples}
            for n, phi, samples in (*kinds, (8, 0.9, 500), (20, 0.9, 50))
        ]

    def steps_of(self, _: Options) -> int:
        """One: the core does all at once."""
        return 1

    def run(self, part: Row, options: Options, advance: Callable[[], object] = int) -> list[Row]:
        """Simulate all quantizers on the same rankings."""
        n, samples = part["n"], part["samples"]
        schemes = {f"phi {phi:g}": Borda(n, CLIENTS, phi) for phi in self.phis}
        found = simulate(
            ["borda", *schemes.values()],
            part["phi"],
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
        """Draw a curve for each kind of clients."""
        from fedrank.experiments import study_pictures  # noqa: PLC0415  an extra

        figure = study_pictures.draw_phi(rows)
        figure.suptitle(self.title)
        return figure


# --- bits against error ---


def compare_all(parts: Clients, rng: np.random.Generator) -> Iterator[Found]:
    """Try every scheme, from few bits to many."""
    n, clients, most = parts[0].shape[1], len(parts), max(map(len, parts))
    schemes: list[tuple[str, str, ConsensusScheme]] = [
        ("Borda", f"phi {phi:g}", Borda(n, clients, phi)) for phi in QUANTIZERS
    ]
    exact = Borda(n, clients, quantize=False, max_samples=most)
    schemes.append(("Borda, exact", "exact", exact))
    schemes += [
        ("Lehmer", f"I {low_bits}", lehmer(n, clients, low_bits, "nearest"))
        for low_bits in range((n - 1).bit_length() + 1)
    ]
    for method, setting, scheme in schemes:
        yield Found(
            {"method": method, "setting": setting}, summed(scheme, parts, rng), scheme.message_bits
        )
    ways: dict[str, Row] = {
        "Refine": {"max_samples": most},
        "Refine, rounds": {"max_samples": most, "rounds": ROUNDS},
        "Refine, majority": {"majority": True},
        "Refine, majority, rounds": {"majority": True, "rounds": ROUNDS},
    }
    for (method, options), window in product(ways.items(), WINDOWS):
        if window >= n:
            continue
        found = federate(parts, "kemeny", secure=False, rng=rng, phi=PHI, window=window, **options)
        bits = sum(each.study.scheme.message_bits for each in found.rounds)
        yield Found({"method": method, "setting": f"w {window}"}, found.consensus.ranks, bits)


# --- unequal clients ---

# Ten regions as unequal as Sushi's: 4,981 rankings, from 87 to 2,397.
REGIONS = (2397, 700, 500, 350, 300, 220, 180, 140, 107, 87)
# Fifty precincts, log-normal: from 4 to 978 rankings, the median 60.
PRECINCTS = tuple(
    round(60 * exp(1.2 * NormalDist().inv_cdf((i + 0.5) / 50))) for i in reversed(range(50))
)
PROFILES = {"regions": REGIONS, "precincts": PRECINCTS}
SPREAD = 0.8  # phi of their rankings
ITEMS = 10


def moved(n: int, distance: int, rng: np.random.Generator) -> Ranking:
    """Return a ranking so far from the identity, by random swaps of neighbours.

    Examples
    --------
    >>> kendall_distance(moved(10, 12, np.random.default_rng(0)), range(10))
    12
    """
    ranks = np.arange(n, dtype=np.int32)
    for _ in range(distance):
        place = rng.choice(np.flatnonzero(ranks[:-1] < ranks[1:]))
        ranks[[place, place + 1]] = ranks[[place + 1, place]]
    return ranks


def unequal_trial(
    part: Row, _: int, __: Options, rng: np.random.Generator
) -> tuple[Clients, Error]:
    """Draw rankings of clients as unequal as the part says.

    Alike, all have one center, and the error is the distance to it. Otherwise six clients in ten
    have another center, the smallest ones or any, and the error is how much further from all
    the rankings the consensus is than the best one.
    """
    sizes = [max(1, ceil(size * part["share"])) for size in PROFILES[part["profile"]]]
    other = moved(ITEMS, part["distance"], rng)
    minority = len(sizes) * 6 // 10
    clients = (
        np.arange(len(sizes))[::-1] if part["differ"] == "size" else rng.permutation(len(sizes))
    )
    apart = set(clients[:minority].tolist())
    parts = [
        Mallows(SPREAD, center=other if client in apart else np.arange(ITEMS))
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


def compare_weights(parts: Clients, rng: np.random.Generator) -> Iterator[Found]:
    """Count every client once, by places or by exact means, or every ranking once."""
    places = Borda(ITEMS, len(parts), PHI)
    yield Found({"weight": "client, places"}, summed(places, parts, rng), places.message_bits)
    means = np.array([part.mean(axis=0) for part in parts]).sum(axis=0)
    # Not a message: what places of no width would give.
    yield Found({"weight": "client, means"}, ranked(means.round(9), rng), 0)
    sums = Borda(ITEMS, len(parts), quantize=False, max_samples=max(map(len, parts)))
    yield Found({"weight": "ranking"}, summed(sums, parts, rng), sums.message_bits)


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


FIGURES: tuple[Figure, ...] = (
    Compared(
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
        "draw_lehmer",
    ),
    Compared(
        "lehmer-real",
        "Lehmer coding on real data: what is sent, how it is read",
        20,
        [{"data": "jester"}, {"data": "luad"}],
        real_trial,
        compare_lehmer,
        "draw_lehmer",
    ),
    Compared(
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
        "draw_borda",
    ),
    BordaPhi(),
    Compared(
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
        "draw_borda",
    ),
    Compared(
        "pareto",
        "What a bit buys: real data",
        20,
        [{"data": "jester"}, {"data": "luad"}],
        real_trial,
        compare_all,
        "draw_pareto",
    ),
    Compared(
        "pareto-mallows",
        "What a bit buys: 50 items, φ = 0.6, any center, 10 clients",
        200,
        [{"n": 50, "center": "random", "phi": 0.6, "samples": samples} for samples in (5, 20)],
        mallows_trial,
        compare_all,
        "draw_pareto",
    ),
    Compared(
        "weights",
        "Count every client once, or every ranking?",
        200,
        unequal_points(),
        unequal_trial,
        compare_weights,
        "draw_weights",
    ),
)
