"""How many samples each client needs, found by simulation."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._input import as_phi, whole
from fedrank._progress import Progress
from fedrank._random import RNG
from fedrank.schemes import Borda, Lehmer, Scheme
from fedrank.simulation import simulate

LOOKS = tuple(64 * 2**k for k in range(6))
"""Trials after which the evidence is weighed."""
ROUGH = LOOKS[:1]
CHECK = LOOKS[:4]
DOUBT = 0.01  # of a wrong decision at one number of samples, over all looks
FINE = 64  # the search ends when its gap is this part of the answer: the noise is no less
MOST = 1 << 20  # samples a client beyond which none are tried
RANDOM_CENTERS = 3
SMALL, MOST_GUESSED, UNDECIDED = 30, 1 << 12, 4  # what an estimate of the time goes by

Make: TypeAlias = Callable[[int], Scheme]
"""Makes the scheme for a number of samples."""


@dataclass(frozen=True)
class Point:
    """What was measured at one number of samples, about one center.

    Attributes
    ----------
    samples : int
        Rankings at each client.
    center : str
        The center.
    trials, recovered : int
        How often it was tried, and how often the consensus was the center.
    value, low, high : float
        What the goal bounds, share recovered or mean Kendall distance, with an interval that
        holds at all looks together but for one time in a hundred.
    enough : bool
        Whether the goal is met.
    sure : bool
        Whether the interval says so, or only the estimate.
    """

    samples: int
    center: str
    trials: int
    recovered: int
    value: float
    low: float
    high: float
    enough: bool
    sure: bool


@dataclass(frozen=True)
class Plan:
    """The least number of samples for a goal, and what it rests on.

    Attributes
    ----------
    method : str
        The scheme.
    n, clients : int
        Items and clients.
    phi : float
        Dispersion of the rankings.
    delta : float
        Chance of not recovering the center that is admitted; unused if ``distance`` is given.
    distance : float or None
        Mean Kendall distance that is admitted.
    samples : int or None
        Least number of samples a client that meets the goal (from 128 on, up to one part in 64
        more); None if none up to ``limit`` does.
    at_least, at_most : int or None
        Bounds that the intervals support: fewer samples surely fail, so many surely suffice;
        None if that was not settled.
    limit : int
        Where the search would have stopped.
    center : str
        The center that needs the most samples, of those tried.
    points : tuple of Point
        What was measured about that center, by number of samples.
    message_bits : int or None
        Bits of a client's message for so many samples.
    seconds : float
        Time that the search took.

    Examples
    --------
    >>> found = plan("borda", n=10, phi=0.5, clients=10, rng=0)
    >>> found.at_least <= found.samples, found.points[0].samples
    (True, 1)
    """

    method: str
    n: int
    phi: float
    clients: int
    delta: float
    distance: float | None
    samples: int | None
    at_least: int
    at_most: int | None
    limit: int
    center: str
    points: tuple[Point, ...]
    message_bits: int | None
    seconds: float = field(compare=False)


def plan(
    method: str | Scheme,
    n: int,
    phi: float,
    clients: int,
    delta: float = 0.05,
    rng: RNG = None,
    *,
    distance: float | None = None,
    limit: int = MOST,
    **options: Any,
) -> Plan:
    """Find the least number of samples that each client needs.

    Doubles the number of samples until the goal is met, then halves the gap. At each number,
    trials are simulated on the core, 64 at first and up to 2,048, until an interval for the
    chance of recovery (or for the mean distance) leaves the goal to one side. For Lehmer
    coding, whose errors depend on the labels, the worst of five centers counts: the identity,
    its reverse and three random ones. For Borda the center does not matter.

    Parameters
    ----------
    method : "borda", "lehmer" or a scheme
        What is sent; a name stands for that scheme with ``options``.
    n, clients : int
        Items and clients.
    phi : float
        Dispersion that the rankings are thought to have; the quantizer's too, unless
        ``options`` say otherwise.
    delta : float
        Admitted chance of not recovering the center.
    rng : None, int or numpy.random.Generator
        Where the trials come from.
    distance : float, optional
        Plan for a mean Kendall distance of at most this instead.
    limit : int
        Most samples to try.
    **options
        Parameters of the scheme, if it is given by name.

    Returns
    -------
    plan : Plan

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> plan("borda", n=20, phi=0.5, clients=10, distance=1.0, rng=0).samples
    4
    >>> plan("lehmer", n=5, phi=0.9, clients=3, rng=0, limit=4).samples is None
    True
    """
    start = time.perf_counter()
    make = maker(method, n, clients, as_phi(phi), options)
    goal = Recovery(delta) if distance is None else Nearness(distance)
    most = whole("limit", limit, most=MOST)
    first = make(1)
    with Progress(f"{first.kind}: samples a client", None) as progress:
        trials = Trials(make, float(phi), goal, progress, np.random.default_rng(rng))
        least, center = trials.search(most)
    points = sorted(
        (point for (name, _), point in trials.points.items() if name == center),
        key=lambda point: point.samples,
    )
    return Plan(
        method=first.kind,
        n=first.n,
        phi=float(phi),
        clients=first.clients,
        delta=float(delta),
        distance=None if distance is None else float(distance),
        samples=least,
        at_least=1 + max((p.samples for p in points if p.sure and not p.enough), default=0),
        at_most=min((p.samples for p in points if p.sure and p.enough), default=None),
        limit=most,
        center=center,
        points=tuple(points),
        message_bits=None if least is None else make(least).message_bits,
        seconds=time.perf_counter() - start,
    )


def estimate(
    method: str | Scheme,
    n: int,
    phi: float,
    clients: int,
    delta: float = 0.05,
    *,
    distance: float | None = None,
    limit: int = MOST,
    **options: Any,
) -> float:
    """Guess how many seconds `plan` will take, in a second or so.

    The number of samples is guessed from few trials of fewer items, growing with the logarithm
    of the items, and the time of a trial is measured on a small one. It may be wrong by a
    factor of three.

    Parameters
    ----------
    method, n, phi, clients, delta, distance, limit, **options
        As of `plan`.

    Returns
    -------
    seconds : float

    Examples
    --------
    >>> 0 < estimate("borda", n=10, phi=0.5, clients=10) < 100
    True
    """
    make = maker(method, n, clients, as_phi(phi), options)
    scheme = make(1)
    few = make if n <= SMALL else maker(scheme.kind, SMALL, clients, phi, options)
    goal = Recovery(delta) if distance is None else Nearness(distance)
    with Progress("estimate", None) as progress:
        source = np.random.default_rng(0)
        rough = Trials(few, float(phi), goal, progress, source)
        samples, _ = rough.rough(min(limit, MOST_GUESSED))("identity")
        guess = min(limit, ceil(samples * log(n / delta) / log(min(n, SMALL) / delta)))
        trial = Trials(make, float(phi), goal, progress, source)
        tried = min(guess, 32)
        start = time.perf_counter()
        trial.try_out("identity", tried, (4,))
        each = (time.perf_counter() - start) / 4 * guess / tried
    return float(each * (UNDECIDED * LOOKS[-1] + (len(trial.centers) - 1) * CHECK[-1]))


def maker(method: str | Scheme, n: int, clients: int, phi: float, options: dict[str, Any]) -> Make:
    """Return what makes the scheme for a number of samples."""
    n, clients = whole("n", n, most=2**24), whole("clients", clients, most=2**24)
    if isinstance(method, Scheme):
        if options:
            raise ValueError(f"the scheme is made already: leave out {', '.join(options)}")
        if (method.n, method.clients) != (n, clients):
            raise ValueError(
                f"the scheme is for {method.n} items and {method.clients} clients, "
                f"not {n} and {clients}"
            )
        return lambda _: method
    kinds: dict[str, Callable[..., Scheme]] = {"borda": Borda, "lehmer": Lehmer}
    if method not in kinds:
        raise ValueError(f'method must be "borda", "lehmer" or a scheme, not {method!r}')
    given = {"phi": phi, **options}
    return lambda samples: kinds[method](n, clients, **{"max_samples": samples, **given})


class Trials:
    """Measures numbers of samples about several centers, and remembers what it found."""

    def __init__(
        self,
        make: Make,
        phi: float,
        goal: "Recovery | Nearness",
        progress: Progress,
        source: np.random.Generator,
    ) -> None:
        self.make, self.phi, self.goal = make, phi, goal
        self.progress, self.source = progress, source
        self.points: dict[tuple[str, int], Point] = {}
        identity = np.arange(make(1).n)
        self.centers = {"identity": identity}
        if make(1).kind != "borda":
            drawn = [source.permutation(identity) for _ in range(RANDOM_CENTERS)]
            self.centers |= {"reverse": identity[::-1]}
            self.centers |= {f"random {i}": center for i, center in enumerate(drawn, 1)}

    def search(self, limit: int) -> tuple[int | None, str]:
        """Return the least number that is enough for all centers, and the one it takes so many for.

        The center that seems the worst goes first; of the others it is then only checked that
        so many are enough for them too.
        """
        order = list(self.centers)
        if len(order) > 1:
            order.sort(key=self.rough(limit), reverse=True)
        least, worst = self.grow(order[0], 0, limit), order[0]
        for center in order[1:]:
            if least is None:
                break
            if not self.try_out(center, least, CHECK).enough:
                least, worst = self.grow(center, least, limit), center
        return least, worst

    def rough(self, limit: int) -> Callable[[str], tuple[int, float]]:
        """Return what tells about how many samples a center takes, for sorting."""

        def about(center: str) -> tuple[int, float]:
            samples = 1
            while not (point := self.try_out(center, samples, ROUGH)).enough and samples < limit:
                samples = min(2 * samples, limit)
            return samples, point.value * (1 if isinstance(self.goal, Nearness) else -1)

        return about

    def grow(self, center: str, low: int, limit: int) -> int | None:
        """Return the least number above ``low`` that is enough for a center."""
        return search(lambda samples: self.try_out(center, samples, LOOKS).enough, low, limit)

    def try_out(self, center: str, samples: int, looks: Sequence[int]) -> Point:
        """Run trials until the evidence is plain, or the last look."""
        scheme = self.make(samples)
        distances = np.empty(0, dtype=np.int64)
        for look in looks:
            found = simulate(
                [scheme],
                self.phi,
                center=self.centers[center],
                clients=scheme.clients,
                samples=samples,
                repetitions=look - len(distances),
                rng=self.source,
            )
            distances = np.concatenate([distances, found[:, 0]])
            value, low, high = self.goal.measure(distances)
            enough = self.goal.enough(value)
            sure = self.goal.enough(low) == self.goal.enough(high)
            self.progress.advance()
            if sure:
                break
        recovered = int((distances == 0).sum())
        point = Point(samples, center, look, recovered, value, low, high, enough, sure)
        known = self.points.get((center, samples))
        if known is None or known.trials < point.trials:
            self.points[center, samples] = point
        return point


def search(enough: Callable[[int], bool], low: int, limit: int) -> int | None:
    """Return the least number above ``low`` that is enough; None if none up to the limit is.

    More must never be worse. From 128 on the answer may be one part in 64 too large.

    Examples
    --------
    >>> search(lambda samples: samples >= 11, 0, 100), search(lambda samples: False, 0, 100)
    (11, None)
    """
    high = min(max(1, 2 * low), limit)
    while not enough(high):
        if high == limit:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > max(1, high // FINE):
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


class Recovery:
    """The goal that the consensus is the center, often enough."""

    def __init__(self, delta: float) -> None:
        if not 0 < delta < 1:
            raise ValueError(f"delta must be above 0 and below 1, not {delta}")
        self.target = 1 - delta

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Share recovered, and an interval for its chance: Chernoff's, for any number of trials."""
        share = float((distances == 0).mean())
        evidence = log(2 * len(LOOKS) / DOUBT) / len(distances)
        return share, chance(share, evidence, 0.0), chance(share, evidence, 1.0)

    def enough(self, share: float) -> bool:
        """Tell whether so large a share is enough."""
        return share >= self.target


class Nearness:
    """The goal that the consensus is near the center, on average."""

    def __init__(self, distance: float) -> None:
        if not 0 < distance < float("inf"):
            raise ValueError(f"distance must be above 0, not {distance}")
        self.target = distance

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Mean distance, and an interval for it: means of 64 and more are near to normal."""
        mean = float(distances.mean())
        error = float(distances.std(ddof=1)) / sqrt(len(distances))
        reach = sqrt(2 * log(2 * len(LOOKS) / DOUBT)) * error
        return mean, max(0.0, mean - reach), mean + reach

    def enough(self, mean: float) -> bool:
        """Tell whether so small a mean is enough."""
        return mean <= self.target


def chance(share: float, evidence: float, end: float) -> float:
    """Return the chance furthest towards ``end`` that a share is no evidence against.

    That is, from which the share's divergence is at most ``evidence`` (Chernoff's bound).

    Examples
    --------
    >>> round(chance(0.0, 0.1, 1.0), 4), chance(0.0, 0.1, 0.0)
    (0.0952, 0.0)
    """

    def divergence(other: float) -> float:
        parts = ((share, other), (1 - share, 1 - other))
        return sum(p * log(p / q) if q else float("inf") for p, q in parts if p)

    inside, outside = share, end
    for _ in range(60):
        middle = (inside + outside) / 2
        if divergence(middle) <= evidence:
            inside = middle
        else:
            outside = middle
    return inside
