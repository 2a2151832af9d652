"""The time left that long work shows is right within a factor of two."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import fedrank as fr
from fedrank import _core, _progress
from fedrank._progress import Following, Progress


def uniform(rows, n):
    return fr.Mallows(1, n=n).sample(rows, rng=0)


def estimates(call, monkeypatch):
    """Return (time, estimate) pairs of a call, and when it ended, in seconds from its start.

    The clock is the processor time of this process, so other load on the machine does not matter.
    """
    found = []
    clock = time.process_time
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=clock))
    old = Progress.tick

    def tick(progress):
        old(progress)
        if progress.outer is None:
            found.append((clock(), progress.seconds_left))

    monkeypatch.setattr(Progress, "tick", tick)
    progress = Following("call")
    _core.listen(progress.heard)
    start = clock()
    try:
        call()
    finally:
        _core.listen(None)
    return [(at - start, left) for at, left in found], clock() - start


def check_estimates(call, monkeypatch, parts=(0.25, 0.5)):
    """Near each of these parts of the time, the median estimate is within a factor of two."""
    found, end = estimates(call, monkeypatch)
    for part in parts:
        near = [(at, left) for at, left in found if abs(at / end - part) < 0.05]
        assert near, f"nothing was counted near {part * end:.1f} of {end:.1f} s"
        assert all(left is not None for _, left in near), f"no estimate at {part * end:.1f} s"
        ratio = float(np.median([left / (end - at) for at, left in near]))
        assert 0.5 < ratio < 2, f"{ratio:.2f} of the time left, at {part * end:.1f} of {end:.1f} s"


def test_the_estimate_of_a_short_call_is_within_a_factor_of_two(monkeypatch):
    check_estimates(lambda: fr.Mallows(1, n=1000).sample(30_000, rng=0), monkeypatch)


def timed_sample(seconds):
    """A number of rankings that takes so long to draw."""
    start = time.perf_counter()
    fr.Mallows(1, n=2000).sample(2000, rng=0)
    return int(2000 * seconds / (time.perf_counter() - start))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sample", "kemeny", "pivot", "pick", "pairs", "simulation"])
def test_the_estimate_at_a_quarter_and_a_half_is_within_a_factor_of_two(name, monkeypatch):
    many = fr.Rankings(np.tile(uniform(500, 1000).ranks, (24, 1)))
    votes = uniform(31, 2000)
    calls = {
        "sample": lambda: fr.Mallows(1, n=2000).sample(timed_sample(5), rng=0),
        "kemeny": lambda: fr.aggregate(votes, "kemeny", kicks=120, rng=0),
        "pivot": lambda: fr.aggregate(votes, "pivot", runs=1500, rng=0),
        "pick": lambda: fr.aggregate(many, "pick", rng=0),
        "pairs": lambda: fr.pairwise_counts(many, weights=np.full(len(many), 2)),
        "simulation": lambda: fr.planning.simulate(
            ["borda", "kemeny"], phi=0.99, n=100, clients=10, samples=20, repetitions=4000, rng=0
        ),
    }
    check_estimates(calls[name], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranks.csv", "scores.csv", "orders.soc"])
def test_the_estimate_of_reading_is_within_a_factor_of_two_from_a_fifth_on(
    kind, tmp_path, monkeypatch
):
    rows = uniform(8000, 500).ranks + 1
    file = tmp_path / kind
    head = ",".join(f"g{item}" for item in range(500)) + "\n"
    how = {}
    if kind == "scores.csv":
        how = {"best": "high"}
        rows = rows / 1000
    elif kind == "orders.soc":
        names = (f"# ALTERNATIVE NAME {i}: g{i}\n" for i in range(1, 501))
        head = "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 500\n# NUMBER VOTERS: 8000\n"
        head += "".join(names)
    start = "1: " if kind == "orders.soc" else ""
    lines = (start + ",".join(map(str, row)) + "\n" for row in rows.tolist())
    file.write_text(head + "".join(lines))
    parts = (0.2, 0.4, 0.6)
    check_estimates(lambda: fr.data.read(file, **how), monkeypatch, parts)
