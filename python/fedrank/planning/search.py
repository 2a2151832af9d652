"""The least number of samples that is enough: a sequential search over simulated trials."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank._progress import Progress
from fedrank.planning.goals import Goal
from fedrank.planning.simulate import simulate
from fedrank.schemes import Borda, Scheme

RELATIVE_GAP = 64  # the search ends when its gap is 1/64 of the answer, which is about the noise
MAX_CALL_ENTRIES = 1 << 25  # positions per call to the core: the bar moves and Ctrl-C works
RANDOM_CENTERS = 3  # beside the identity and its reverse
CHECK_LOOKS = 4  # looks at a center that does not seem to be the worst
PLATEAU_SAMPLES = 512  # from here on, eight times as many samples must help
PLATEAU_RATIO = 0.9  # … to at most this part of the mean distance
SLACK_PLACES = 1e-3  # about the standard error of a mean position of 2^20 samples
FULL_LOOKS = 2  # numbers of samples near the answer that are expected to take all trials

Make: TypeAlias = Callable[[int], Scheme]
"""Makes the scheme for a number of samples per client."""


@dataclass(frozen=True)
class Point:
    """What was measured at one number of samples, about one center.

    Attributes
    ----------
    samples : int
        Rankings at each client.
    center : str
        The name of the center.
    trials, recovered : int
        Number of trials, and of trials in which the consensus was the center.
    distance : float
        Mean Kendall distance between the consensus and the center.
    value, low, high : float
        The quantity that the goal bounds, share recovered or mean distance, and its interval. In
        99 of 100 sequences of looks all intervals hold.
    enough : bool
        Whether the value meets the goal.
    sure : bool
        Whether the whole interval lies on the same side of the goal as the value.
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


class Trials:
    """Measures numbers of samples about several centers, and keeps what it measured."""

    def __init__(
        self, make: Make, phi: float, goal: Goal, progress: Progress, source: np.random.Generator
    ) -> None:
        self.unchecked = 0  # centers that come after the one under way
        self.make, self.phi, self.goal = make, phi, goal
        self.progress, self.source = progress, source
        self.points: dict[tuple[str, int], Point] = {}
        self.separates = separates(make(1), phi)
        identity = np.arange(make(1).n)
        self.centers = {"identity": identity}
        if make(1).kind != "borda":
            drawn = [source.permutation(identity) for _ in range(RANDOM_CENTERS)]
            self.centers |= {"reverse": identity[::-1]}
            self.centers |= {f"random {i}": center for i, center in enumerate(drawn, 1)}

    def search(self, limit: int) -> tuple[int | None, str]:
        """Return the least number that is enough for all centers, and the center that needs it.

        The center that seems the worst is searched first. For the others it is enough to check
        that the same number suffices.
        """
        order = list(self.centers)
        if len(order) > 1:
            order.sort(key=lambda center: self.rough(center, limit), reverse=True)
        self.unchecked = len(order) - 1
        least, worst = self.grow(order[0], 0, limit), order[0]
        for center in order[1:]:
            self.unchecked -= 1
            if least is None:
                break
            if not self.try_out(center, least, self.goal.looks[:CHECK_LOOKS]).enough:
                least, worst = self.grow(center, least, limit), center
        if least is not None:
            self.look_again(worst, least)
        return least, worst

    def look_again(self, center: str, least: int) -> None:
        """Measure in full the numbers near the answer that had only a rough look."""
        near = [s for name, s in self.points if name == center and least <= 2 * s <= 4 * least]
        found = [self.points[center, samples] for samples in near]
        rough = [p.samples for p in found if not p.sure and p.trials < self.goal.looks[-1]]
        self.progress.total = self.progress.done + self.goal.looks[-1] * sum(rough)
        for samples in rough:
            self.try_out(center, samples, self.goal.looks)

    def about(self, center: str) -> tuple[Point, ...]:
        """Return what was measured about a center, by number of samples."""
        found = {samples: point for (name, samples), point in self.points.items() if name == center}
        return tuple(found[samples] for samples in sorted(found))

    def rough(self, center: str, limit: int) -> tuple[int, float]:
        """Return roughly how many samples a center needs, and the mean distance there."""
        samples = 1
        while True:
            point = self.try_out(center, samples, self.goal.looks[:1])
            if point.enough or samples >= limit or self.hopeless(center, samples):
                return samples, point.distance
            samples = min(2 * samples, limit)

    def grow(self, center: str, low: int, limit: int) -> int | None:
        """Return the least number above ``low`` that is enough for a center."""

        def enough(samples: int) -> bool | None:
            if self.try_out(center, samples, self.goal.looks).enough:
                return True
            return None if self.hopeless(center, samples) else False

        return find_least(enough, low, limit, self.expect)

    def expect(self, low: int, high: int) -> None:
        """Tell the bar how many simulated rankings per client are still expected.

        The answer is assumed to lie in the middle of the gap. While other centers are left,
        nobody knows: one of them may need more samples, and a search of its own.
        """
        trials = expected_trials(self.goal, halvings(low, high))
        left = None if self.unchecked else trials * (low + high) / 2
        self.progress.total = left and self.progress.done + left

    def hopeless(self, center: str, samples: int) -> bool:
        """Tell whether eight times as many samples did not bring the consensus nearer.

        Nothing is hopeless where the expected means tell the items apart: then some number of
        samples does, however slowly the consensus comes nearer before.
        """
        fewer = self.points.get((center, samples // 8))
        if fewer is None or samples < PLATEAU_SAMPLES or self.separates:
            return False
        return self.points[center, samples].distance > PLATEAU_RATIO * fewer.distance

    def try_out(self, center: str, samples: int, looks: Sequence[int]) -> Point:
        """Run trials until the interval leaves the goal to one side, or until the last look."""
        scheme = self.make(samples)
        self.progress.label = f"{scheme.kind}: {samples} samples per client"
        distances = np.empty(0, dtype=np.int64)
        for look in looks:
            while len(distances) < look:
                found = self.simulate(scheme, center, samples, look - len(distances))
                distances = np.concatenate([distances, found])
                self.progress.advance(len(found) * samples)
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
        most = max(1, MAX_CALL_ENTRIES // (samples * scheme.clients * scheme.n))
        found = simulate(
            [scheme],
            phi=self.phi,
            center=self.centers[center],
            clients=scheme.clients,
            samples=samples,
            repetitions=min(trials, most),
            rng=self.source,
        )
        return found[:, 0]


def separates(scheme: Scheme, phi: float) -> bool:
    """Tell whether Borda's sums order all items if every client's means are the expected ones.

    They must do so even if the means are off by `SLACK_PLACES`. Always False for other schemes.

    Examples
    --------
    >>> separates(Borda(2, 1), 0.5), separates(Borda(2, 1), 0.9)
    (True, False)
    """
    if not isinstance(scheme, Borda):
        return False
    expected = _core.mallows_expected_ranks(phi, scheme.n)
    high, low = expected[:-1] + SLACK_PLACES, expected[1:] - SLACK_PLACES
    if scheme.send == "centroids":
        places = _core.mallows_expected_ranks(scheme.phi or 0.0, scheme.n)
        middle = (places[1:] + places[:-1]) / 2
        return bool((np.searchsorted(middle, high) < np.searchsorted(middle, low)).all())
    if scheme.levels is not None:
        # What clients with the same mean x send sums to ⌊levels · clients · x + 1/2⌋ (M16).
        steps = scheme.levels * scheme.clients
        return bool((np.floor(steps * high + 0.5) < np.floor(steps * low + 0.5)).all())
    return bool((high < low).all())


def expected_trials(goal: Goal, halvings: int) -> int:
    """Return how many trials a search will run, when so many halvings are left.

    All trials are assumed at the last `FULL_LOOKS` numbers, half as many at each number before.

    Examples
    --------
    >>> from fedrank.planning.goals import goal_of
    >>> goal_of(0.05, None).looks
    (64, 128, 256, 512, 1024, 2048)
    >>> expected_trials(goal_of(0.05, None), 3)
    5120
    """
    last = len(goal.looks) - 1
    far = [max(0, left - FULL_LOOKS + 1) for left in range(halvings)]
    return sum(goal.looks[max(0, last - steps)] for steps in far)


def halvings(low: int, high: int) -> int:
    """Return how often a gap is halved before it is small enough.

    Examples
    --------
    >>> halvings(8, 16), halvings(512, 1024), halvings(3, 4)
    (3, 6, 0)
    """
    gap, count = high - low, 0
    while gap > max(1, low // RELATIVE_GAP):
        gap, count = -(-gap // 2), count + 1
    return count


def find_least(
    enough: Callable[[int], bool | None],
    low: int,
    limit: int,
    expect: Callable[[int, int], object] = lambda low, high: None,  # noqa: ARG005
) -> int | None:
    """Return the least number above ``low`` that is enough, or None if none up to ``limit`` is.

    Doubles the number until it is enough, then halves the gap. Among the numbers up to the first
    power of two that is enough, a larger one must not be worse. From 128 on, the answer may be
    1/64 too large. ``enough`` may return None to end the search: no number will be enough.
    ``expect`` is told the gap before each halving.

    Examples
    --------
    >>> find_least(lambda samples: samples >= 11, 0, 100)
    11
    >>> find_least(lambda samples: False, 0, 100) is None
    True
    """
    high = min(max(1, 2 * low), limit)
    while not (answer := enough(high)):
        if high == limit or answer is None:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > max(1, low // RELATIVE_GAP):
        expect(low, high)
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
