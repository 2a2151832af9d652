"""What a plan may ask for, and how trials decide whether it is reached.

Trials are weighed several times, after 64, 128, 256, … of them. The intervals are wide enough to
hold at all of these looks together, so that stopping early does not make them wrong.
"""

from math import ceil, inf, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank._validation import as_probability
from fedrank.exceptions import InputError

MIN_TRIALS = 64  # trials at the first look
MAX_TRIALS = 2048  # trials at the last look, unless delta is small
EXPECTED_FAILURES = 10  # that the last look should see if the chance of failure is delta
DEFAULT_DELTA = 0.05  # allowed chance of not recovering the center
MIN_DELTA = 1e-4  # a smaller delta would need hundreds of thousands of trials
ERROR_RATE = 0.01  # chance that one of the intervals of a sequence of looks is wrong
MIN_ERRORS_FOR_NORMAL = 30  # fewer errors are too few for a normal approximation
BISECTIONS = 60  # of an interval's end: more than a float has bits


class Recovery:
    """The goal that the consensus is the center in a share of at least ``1 - delta`` of trials."""

    def __init__(self, delta: float) -> None:
        self.target = 1 - delta
        self.looks = looks_until(max(MAX_TRIALS, ceil(EXPECTED_FAILURES / delta)))

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Return the share of trials without error, and Chernoff's interval for its expectation."""
        share = float((distances == 0).mean())
        evidence = log(2 * len(self.looks) / ERROR_RATE) / len(distances)
        return share, chance(share, evidence, 0.0), chance(share, evidence, 1.0)

    def enough(self, share: float) -> bool:
        """Tell whether a share meets the goal."""
        return share >= self.target


class Nearness:
    """The goal that the mean Kendall distance of the consensus is at most ``distance``."""

    def __init__(self, distance: float) -> None:
        self.target = distance
        self.looks = looks_until(MAX_TRIALS)

    def measure(self, distances: NDArray[np.int64]) -> tuple[float, float, float]:
        """Return the mean distance, and an interval for its expectation.

        The mean is the chance of an error times the mean size of errors. The chance has
        Chernoff's interval. The size has a normal interval; with too few errors for a normal
        approximation, the interval reaches from 1 to at least twice the size plus 1.
        """
        doubt = 4 * len(self.looks) / ERROR_RATE
        errors = distances[distances > 0]
        share = len(errors) / len(distances)
        evidence = log(doubt) / len(distances)
        size = float(errors.mean()) if len(errors) else 1.0
        spread = float(errors.std(ddof=1)) / sqrt(len(errors)) if len(errors) > 1 else 0.0
        few = len(errors) < MIN_ERRORS_FOR_NORMAL
        reach = max(sqrt(2 * log(doubt)) * spread, size + 1 if few else 0)
        low = chance(share, evidence, 0.0) * max(1.0, size - reach)
        return share * size, low, chance(share, evidence, 1.0) * (size + reach)

    def enough(self, mean: float) -> bool:
        """Tell whether a mean distance meets the goal."""
        return mean <= self.target


Goal: TypeAlias = Recovery | Nearness


def goal_of(delta: float | None, distance: float | None) -> Goal:
    """Check what a caller asks for, and return it as a goal.

    Examples
    --------
    >>> goal_of(0.05, None).target, goal_of(None, 2).target
    (0.95, 2.0)
    """
    if delta is not None and distance is not None:
        raise InputError(
            "does not apply to a mean distance",
            parameter="delta",
            value=delta,
            remedy="leave out one of the two",
        )
    delta = DEFAULT_DELTA if delta is None else delta
    if as_probability("delta", delta) < MIN_DELTA:
        raise InputError(
            f"must be at least {MIN_DELTA} to be simulated, not {delta}",
            parameter="delta",
            value=delta,
        )
    if distance is None:
        return Recovery(float(delta))
    if not isinstance(distance, int | float | np.integer | np.floating) or not 0 < distance < inf:
        raise InputError(
            f"must be a number above 0, not {distance!r}", parameter="distance", value=distance
        )
    return Nearness(float(distance))


def looks_until(trials: int) -> tuple[int, ...]:
    """Return the numbers of trials after which the evidence is weighed.

    Examples
    --------
    >>> looks_until(200)
    (64, 128, 256)
    """
    looks = [MIN_TRIALS]
    while looks[-1] < trials:
        looks.append(2 * looks[-1])
    return tuple(looks)


def chance(share: float, evidence: float, end: float) -> float:
    """Return the chance nearest to ``end`` that an observed share does not contradict.

    That is the chance from which the share's divergence is ``evidence`` (Chernoff's bound), or
    ``end`` itself if no divergence is so large.

    Examples
    --------
    >>> round(chance(0.0, 0.1, 1.0), 4), chance(0.0, 0.1, 0.0)
    (0.0952, 0.0)
    """

    def divergence(other: float) -> float:
        parts = ((share, other), (1 - share, 1 - other))
        return sum(p * log(p / q) if q else inf for p, q in parts if p)

    inside, outside = share, end
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        if divergence(middle) <= evidence:
            inside = middle
        else:
            outside = middle
    return inside
