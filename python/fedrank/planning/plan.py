"""How many samples each client needs, found by simulation."""

import inspect
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log
from typing import Any

from fedrank._progress import Progress, show
from fedrank._random import RNG, as_rng
from fedrank._validation import as_bool, as_phi, whole
from fedrank.exceptions import InputError
from fedrank.planning.goals import DEFAULT_DELTA, goal_of
from fedrank.planning.search import Make, Point, Trials, expected_trials, halvings
from fedrank.planning.simulate import SCHEMES
from fedrank.schemes import Borda, Lehmer, Scheme, from_json

LIMIT = 1 << 20  # most samples per client that are tried
MAX_TRIAL_ENTRIES = 1 << 28  # positions per trial, which is held in memory whole: 1 GiB

# For an estimate of the time.
ROUGH_LIMIT = 1 << 12  # most samples per client of a rough guess
ROUGH_ITEMS = 30  # most items of a rough guess
TIMED_SAMPLES = 16  # most samples per client of a small run that is timed
ESTIMATE_FACTOR = 3  # the time taken may be so many times shorter or longer
TIMED_SECONDS = 0.2  # least time of that run


@dataclass(frozen=True)
class Plan:
    """The least number of samples that meets a goal, and the measurements behind it.

    Attributes
    ----------
    method : str
        The kind of the scheme.
    n, clients : int
        Number of items, and of clients.
    phi : float
        Dispersion of the rankings.
    delta : float or None
        Allowed chance of not recovering the center; None if ``distance`` is given.
    distance : float or None
        Allowed mean Kendall distance.
    samples : int or None
        Least number of samples per client that meets the goal (from 128 on, up to 1/64 more). None
        if no number up to ``limit`` meets it, or more samples do not help.
    at_least, at_most : int or None
        Bounds that the intervals support: fewer samples than ``at_least`` surely fail,
        ``at_most`` samples surely suffice. None if the trials did not settle it.
    limit : int
        Most samples that were allowed: the number asked for, or what fits into memory.
    center : str
        The center that needs the most samples, among those tried.
    points : tuple of Point
        What was measured about that center, by number of samples.
    message_bits : int or None
        Size of a client's message for ``samples`` samples, in bits.
    seconds : float
        Time that the search took, in seconds.

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
    delta: float | None
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
    *,
    delta: float | None = None,
    rng: RNG = None,
    distance: float | None = None,
    limit: int = LIMIT,
    progress: bool = False,
    **options: Any,
) -> Plan:
    """Find the least number of samples that each client needs.

    Doubles the number of samples until the goal is met, then halves the gap. At each number it
    simulates trials, 64 at first and up to 2,048 (more if ``delta`` is below 0.005), until an
    interval for the chance of recovery, or for the mean distance, leaves the goal to one side.
    Errors of Lehmer coding depend on the numbering of the items, so there the worst of five
    centers counts: the identity, its reverse and three random ones. For Borda the center does
    not matter. Beyond ``phi + phi**2 = 1 + phi**n`` Lehmer digits may settle on wrong values, and
    rounded means may stay tied: the search ends where eight times as many samples do not help,
    unless Borda's expected means tell all items apart.

    Parameters
    ----------
    method : "borda", "lehmer" or a scheme of these kinds
        What clients send; a name stands for that scheme with ``options``.
    n, clients : int
        Number of items, and of clients.
    phi : float
        Expected dispersion of the rankings; also that of the paper's quantizers (Lehmer, and
        Borda with ``send="centroids"``), unless ``options`` has one.
    delta : float, optional
        Allowed chance of not recovering the center, at least 0.0001; 0.05 by default.
    rng : None, int or numpy.random.Generator
        Source of randomness for the trials.
    distance : float, optional
        Plan for a mean Kendall distance of at most this, instead of ``delta``.
    limit : int
        Most samples per client to try.
    progress : bool
        Whether to draw a progress bar on standard error, from two seconds on.
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
    with show(as_bool("progress", progress)), Progress(f"{first.kind}: 1 sample per client") as bar:
        trials = Trials(make, float(phi), goal, bar, as_rng(rng))
        least, center = trials.search(most)
    points = trials.about(center)
    return Plan(
        method=first.kind,
        n=first.n,
        phi=float(phi),
        clients=first.clients,
        delta=None if distance is not None else float(DEFAULT_DELTA if delta is None else delta),
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
    *,
    delta: float | None = None,
    distance: float | None = None,
    limit: int = LIMIT,
    **options: Any,
) -> float | None:
    """Estimate how many seconds `plan` will take, from a few trials.

    Guesses the number of samples from a few trials with fewer items, as if it grew with the
    logarithm of the number of items, and measures the time of a small run. The estimate is mostly
    within a factor of two, and should be within `ESTIMATE_FACTOR`. It is 0 if one or two samples
    seem to be enough. There is none where it could be wrong by more: for Lehmer, where several
    centers may have to be searched; for a mean distance; and where no number of samples seems to
    be enough.

    Parameters
    ----------
    method, n, phi, clients, delta, distance, limit, **options
        The arguments of `plan`.

    Returns
    -------
    seconds : float or None

    Examples
    --------
    >>> 0 < estimate("borda", n=10, phi=0.5, clients=10) < 100
    True
    >>> estimate("lehmer", n=10, phi=0.5, clients=10) is None
    True
    """
    make, declared = maker(method, n, clients, as_phi(phi), options)
    goal = goal_of(delta, distance)
    scheme = make(1)
    most = bounded(limit, scheme, declared)
    if scheme.kind != "borda" or distance is not None:
        return None
    few = make if scheme.n <= ROUGH_ITEMS else smaller(make)
    with Progress("estimating the time") as progress:
        source = as_rng(0)
        rough = Trials(few, float(phi), goal, progress, source)
        samples, _ = rough.rough("identity", min(most, ROUGH_LIMIT))
        if not rough.points["identity", samples].enough:
            return None
        missed = DEFAULT_DELTA if delta is None else delta
        growth = log(scheme.n / missed) / log(min(scheme.n, ROUGH_ITEMS) / missed)
        guess = min(most, ceil(samples * growth))
        trial = Trials(make, float(phi), goal, progress, source)
        tried = min(guess, TIMED_SAMPLES)
        trials, took = 2, 0.0
        while took < TIMED_SECONDS and trials < goal.looks[-1]:
            trials *= 2
            start = time.perf_counter()
            trial.try_out("identity", tried, (trials,))
            took = time.perf_counter() - start
        each = took / trials * guess / tried
    gap = halvings(guess // 2, guess)
    return each * expected_trials(goal, gap)


def smaller(make: Make) -> Make:
    """Return a maker of the same scheme for few items."""

    def for_few_items(samples: int) -> Scheme:
        parts = json.loads(make(samples).to_json())
        return from_json(json.dumps(parts | {"n": ROUGH_ITEMS}))

    return for_few_items


def bounded(limit: int, scheme: Scheme, declared: int | None) -> int:
    """Return the most samples per client that the caller, the scheme and memory allow."""
    room = max(1, MAX_TRIAL_ENTRIES // (scheme.n * scheme.clients))
    asked = whole("limit", limit, most=LIMIT)
    return min(asked, declared or asked, room)


def maker(
    method: str | Scheme, n: int, clients: int, phi: float, options: dict[str, Any]
) -> tuple[Make, int | None]:
    """Return a maker of the scheme for a number of samples, and the most samples it allows."""
    n, clients = whole("n", n, most=2**24), whole("clients", clients, most=2**24)
    if isinstance(method, Scheme):
        if options:
            raise InputError(
                f"the option {min(options)!r} is for a method given by name, not for a scheme",
                value=min(options),
                remedy="set it when you make the scheme",
            )
        if method.kind not in SCHEMES:
            raise InputError(
                f"must be a Borda or a Lehmer scheme, not {method!r}",
                parameter="method",
                value=method,
            )
        if (method.n, method.clients) != (n, clients):
            raise InputError(
                f"the scheme is for {method.n} items and {method.clients} clients, "
                f"not {n} and {clients}",
                value=method,
                remedy="make it with the same n and clients",
            )
        return lambda _: method, method.max_samples
    if method not in ("borda", "lehmer"):
        raise InputError(
            f'must be "borda", "lehmer" or a scheme, not {method!r}',
            parameter="method",
            value=method,
        )
    make: Callable[..., Scheme] = Borda if method == "borda" else Lehmer
    known = [name for name in inspect.signature(make).parameters if name not in ("n", "clients")]
    unknown = set(options) - set(known)
    if unknown:
        raise InputError(
            f"neither plan nor the method {method!r} has an option {min(unknown)!r}",
            value=min(unknown),
            remedy=f"its options are {', '.join(known)}",
        )
    centroids = method == "lehmer" or options.get("send") == "centroids"
    given = {"phi": phi, **options} if centroids else options
    return lambda samples: make(n, clients, **{"max_samples": samples, **given}), given.get(
        "max_samples"
    )
