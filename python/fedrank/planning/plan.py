"""How many samples each client needs, found by simulation."""

import inspect
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._progress import Progress
from fedrank._random import RNG
from fedrank._validation import as_phi, as_probability, whole
from fedrank.planning.simulate import SCHEMES, simulate
from fedrank.schemes import Borda, Lehmer, Scheme, from_json

LEAST, MOST = 64, 2048
"""Trials at the first look, and at the last one unless ``delta`` is small."""
FAILURES = 10  # that the last look should expect at the goal
SMALLEST = 1e-4  # delta: below it, trials would be counted in hundreds of thousands
DOUBT = 0.01  # of a wrong decision in one row of looks
FEW = 30  # errors among the trials, below which their mean is no normal matter
FINE = 64  # the search ends when its gap is this part of the answer: the noise is no less
LIMIT = 1 << 20  # samples a client beyond which none are tried
ENTRIES = 1 << 28  # positions of a trial, which is held in memory whole: a gibibyte
CALL = 1 << 25  # positions of one call to the core, so that the bar moves and Ctrl-C works
RANDOM_CENTERS = 3
CHECK = 4  # looks that centers get which are only checked
PLATEAU = 512  # samples from which on eight times as many should help
GUESSED, SMALL, UNDECIDED = 1 << 12, 30, 4  # what an estimate of the time goes by

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
    distance : float
        Mean Kendall distance of the consensus from the center.
    value, low, high : float
        What the goal bounds, share recovered or mean distance, with an interval that holds at
        all looks of one try together but for one time in a hundred.
    enough : bool
        Whether the goal is met.
    sure : bool
        Whether the interval says so, or only the estimate.
    """

    samples: int
    center: str
    trials: int
    recovered: int
    distance: float
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
        more); None if none up to ``limit`` does, or more samples do not help.
    at_least, at_most : int or None
        Bounds that the intervals support: fewer samples surely fail, so many surely suffice;
        None if that was not settled.
    limit : int
        Most samples that were to be tried: as asked for, or as fit into memory.
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
    limit: int = LIMIT,
    **options: Any,
) -> Plan:
    """Find the least number of samples that each client needs.

    Doubles the number of samples until the goal is met, then halves the gap. At each number,
    trials are simulated on the core, 64 at first and up to 2,048 (more if ``delta`` is below
    0.005), until an interval for the chance of recovery, or for the mean distance, leaves the
    goal to one side. For Lehmer coding, whose errors depend on the labels, the worst of five
    centers counts: the identity, its reverse and three random ones. For Borda the center does
    not matter. Beyond ``phi + phi**2 = 1 + phi**n`` Lehmer digits may settle on wrong values:
    the search ends where eight times as many samples do not help.

    Parameters
    ----------
    method : "borda", "lehmer" or a scheme of these kinds
        What is sent; a name stands for that scheme with ``options``.
    n, clients : int
        Items and clients.
    phi : float
        Dispersion that the rankings are thought to have; the quantizer's too, unless
        ``options`` say otherwise.
    delta : float
        Admitted chance of not recovering the center, at least 0.0001.
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
    make, declared = maker(method, n, clients, as_phi(phi), options)
    goal = goal_of(delta, distance)
    first = make(1)
    most = bounded(limit, first, declared)
    with Progress(f"{first.kind}: 1 sample a client", None) as progress:
        trials = Trials(make, float(phi), goal, progress, np.random.default_rng(rng))
        least, center = trials.search(most)
    points = trials.about(center)
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
        points=points,
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
    limit: int = LIMIT,
    **options: Any,
) -> float:
    """Guess how many seconds `plan` will take, from a few trials.

    The number of samples is guessed from few trials of fewer items, growing with the logarithm
    of the items, and the time of a trial is measured on a small one. It may be wrong by a
    factor of three, and by more where no number of samples is enough.

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
    make, declared = maker(method, n, clients, as_phi(phi), options)
    goal = goal_of(delta, distance)
    scheme = make(1)
    most = bounded(limit, scheme, declared)
    few = make if scheme.n <= SMALL else smaller(make)
    with Progress("how long will it take?", None) as progress:
        source = np.random.default_rng(0)
        rough = Trials(few, float(phi), goal, progress, source)
        samples, _ = rough.rough(min(most, GUESSED))(list(rough.centers)[-1])
        growth = log(scheme.n / delta) / log(min(scheme.n, SMALL) / delta)
        guess = min(most, ceil(samples * growth))
        trial = Trials(make, float(phi), goal, progress, source)
        tried = min(guess, 16)
        start = time.perf_counter()
        trial.try_out("identity", tried, (4,))
        each = (time.perf_counter() - start) / 4 * guess / tried
    looks = goal.looks
    return each * (UNDECIDED * looks[-1] + (len(trial.centers) - 1) * looks[CHECK - 1])


def smaller(make: Make) -> Make:
    """Return what makes the same scheme for few items."""

    def few(samples: int) -> Scheme:
        parts = json.loads(make(samples).to_json())
        return from_json(json.dumps(parts | {"n": SMALL}))

    return few


def bounded(limit: int, scheme: Scheme, declared: int | None) -> int:
    """Return the most samples that the caller, the scheme and the memory allow."""
    room = max(1, ENTRIES // (scheme.n * scheme.clients))
    asked = whole("limit", limit, most=LIMIT)
    return min(asked, declared or asked, room)


def maker(
    method: str | Scheme, n: int, clients: int, phi: float, options: dict[str, Any]
) -> tuple[Make, int | None]:
    """Return what makes the scheme for a number of samples, and the most it may be for."""
    n, clients = whole("n", n, most=2**24), whole("clients", clients, most=2**24)
    if isinstance(method, Scheme):
        if options:
            raise ValueError(f"the scheme is made already: leave out {', '.join(options)}")
        if method.kind not in SCHEMES:
            raise ValueError(f"plan for a Borda or a Lehmer scheme, not for {method!r}")
        if (method.n, method.clients) != (n, clients):
            raise ValueError(
                f"the scheme is for {method.n} items and {method.clients} clients, "
                f"not {n} and {clients}"
            )
        return lambda _: method, method.max_samples
    if method not in ("borda", "lehmer"):
        raise ValueError(f'method must be "borda", "lehmer" or a scheme, not {method!r}')
    make: Callable[..., Scheme] = Borda if method == "borda" else Lehmer
    unknown = set(options) - set(inspect.signature(make).parameters)
    if unknown:
        raise ValueError(f"{method} has no option {min(unknown)!r}")
    given = {"phi": phi, **options}
    return lambda samples: make(n, clients, **{"max_samples": samples, **given}), given.get(
        "max_samples"
    )


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
            if not self.try_out(center, least, self.goal.looks[:CHECK]).enough:
                least, worst = self.grow(center, least, limit), center
        if least is not None:
            self.look_again(worst, least)
        return least, worst

    def look_again(self, center: str, least: int) -> None:
        """Measure properly what was only looked at roughly, near the answer."""
        near = [s for name, s in self.points if name == center and least <= 2 * s <= 4 * least]
        for samples in near:
            if not self.points[center, samples].sure:
                self.try_out(center, samples, self.goal.looks)

    def about(self, center: str) -> tuple[Point, ...]:
        """Return what was found about a center, by number of samples."""
        found = {samples: point for (name, samples), point in self.points.items() if name == center}
        return tuple(found[samples] for samples in sorted(found))

    def rough(self, limit: int) -> Callable[[str], tuple[int, float]]:
        """Return what tells about how many samples a center takes, for sorting."""

        def about(center: str) -> tuple[int, float]:
            samples = 1
            while True:
                point = self.try_out(center, samples, self.goal.looks[:1])
                if point.enough or samples >= limit or self.hopeless(center, samples):
                    return samples, point.distance
                samples = min(2 * samples, limit)

        return about

    def grow(self, center: str, low: int, limit: int) -> int | None:
        """Return the least number above ``low`` that is enough for a center."""

        def enough(samples: int) -> bool | None:
            if self.try_out(center, samples, self.goal.looks).enough:
                return True
            return None if self.hopeless(center, samples) else False

        return search(enough, low, limit)

    def hopeless(self, center: str, samples: int) -> bool:
        """Tell whether eight times as many samples have not brought the consensus nearer."""
        fewer = self.points.get((center, samples // 8))
        if fewer is None or samples < PLATEAU:
            return False
        return self.points[center, samples].distance > 0.9 * fewer.distance

    def try_out(self, center: str, samples: int, looks: Sequence[int]) -> Point:
        """Run trials until the evidence is plain, or the last look."""
        scheme = self.make(samples)
        self.progress.label = f"{scheme.kind}: {samples} samples a client"
        distances = np.empty(0, dtype=np.int64)
        for look in looks:
            while len(distances) < look:
                found = self.simulate(scheme, center, samples, look - len(distances))
                distances = np.concatenate([distances, found])
                self.progress.advance()
            value, low, high = self.goal.measure(distances)
            sure = self.goal.enough(low) == self.goal.enough(high)
            if sure:
                break
        point = Point(
            samples=samples,
            center=center,
            trials=len(distances),
            recovered=int((distances == 0).sum()),
            distance=float(distances.mean()),
            value=value,
            low=low,
            high=high,
            enough=self.goal.enough(value),
            sure=sure,
        )
        known = self.points.get((center, samples))
        if known is None or known.trials < point.trials:
            self.points[center, samples] = point
        return point

    def simulate(self, scheme: Scheme, center: str, samples: int, trials: int) -> NDArray[np.int64]:
        """Return the distances of some trials, as many as one call should run."""
        most = max(1, CALL // (samples * scheme.clients * scheme.n))
        found = simulate(
            [scheme],
            self.phi,
            center=self.centers[center],
            clients=scheme.clients,
            samples=samples,
            repetitions=min(trials, most),
            rng=self.source,
        )
        return found[:, 0]


def search(enough: Callable[[int], bool | None], low: int, limit: int) -> int | None:
    """Return the least number above ``low`` that is enough; None if none up to the limit is.

    Among numbers up to the first power of two that is enough, more must not be worse. From 128 on
    the answer may be one part in 64 too large. ``enough`` may answer None: no number will be.

    Examples
    --------
    >>> search(lambda samples: samples >= 11, 0, 100), search(lambda samples: False, 0, 100)
    (11, None)
    """
    high = min(max(1, 2 * low), limit)
    while not (answer := enough(high)):
        if high == limit or answer is None:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > max(1, low // FINE):
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


class Recovery:
    """The goal that the consensus is the center, often enough."""

    def __init__(self, delta: float) -> None:
        self.target = 1 - delta
        self.looks = looks_until(max(MOST, ceil(FAILURES / delta)))

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Share recovered, and an interval for its chance: Chernoff's, for any number of trials."""
        share = float((distances == 0).mean())
        evidence = log(2 * len(self.looks) / DOUBT) / len(distances)
        return share, chance(share, evidence, 0.0), chance(share, evidence, 1.0)

    def enough(self, share: float) -> bool:
        """Tell whether so large a share is enough."""
        return share >= self.target


class Nearness:
    """The goal that the consensus is near the center, on average."""

    def __init__(self, distance: float) -> None:
        self.target = distance
        self.looks = looks_until(MOST)

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Mean distance, and an interval for it.

        The mean is the chance of an error times the mean size of errors. The first has
        Chernoff's interval; the second a normal one, and of few errors a wider one: at least 1,
        and up to as much again and 1.
        """
        doubt = 4 * len(self.looks) / DOUBT
        errors = distances[distances > 0]
        share = len(errors) / len(distances)
        evidence = log(doubt) / len(distances)
        size = float(errors.mean()) if len(errors) else 1.0
        spread = float(errors.std(ddof=1)) / sqrt(len(errors)) if len(errors) > 1 else 0.0
        reach = max(sqrt(2 * log(doubt)) * spread, 0 if len(errors) >= FEW else size + 1)
        low = chance(share, evidence, 0.0) * max(1.0, size - reach)
        return share * size, low, chance(share, evidence, 1.0) * (size + reach)

    def enough(self, mean: float) -> bool:
        """Tell whether so small a mean is enough."""
        return mean <= self.target


def goal_of(delta: float, distance: float | None) -> Recovery | Nearness:
    """Return the goal that is asked for."""
    if as_probability("delta", delta) < SMALLEST:
        raise ValueError(f"delta must be at least {SMALLEST} to be simulated, not {delta}")
    if distance is None:
        return Recovery(float(delta))
    if not isinstance(distance, int | float | np.integer | np.floating) or not (
        0 < distance < float("inf")
    ):
        raise ValueError(f"distance must be above 0, not {distance!r}")
    return Nearness(float(distance))


def looks_until(most: int) -> tuple[int, ...]:
    """Return the numbers of trials after which the evidence is weighed.

    Examples
    --------
    >>> looks_until(200)
    (64, 128, 256)
    """
    looks = [LEAST]
    while looks[-1] < most:
        looks.append(2 * looks[-1])
    return tuple(looks)


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
