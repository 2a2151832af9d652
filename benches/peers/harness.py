"""What all comparisons share: inputs, a clock, and rows of results."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Protocol

import numpy as np

import fedrank as fr

ROOT = Path(__file__).parents[2]
N, M = 978, 501  # items and rankings, unless a row says otherwise
CENTER = fr.Rankings(np.arange(N))
TURN_SECONDS, QUICK_TURN_SECONDS = 0.15, 0.02  # length of a turn
QUICK_TURNS = 2


class Result(Protocol):
    """One line of a table. ``met`` is None if there is no target."""

    name: str
    columns: ClassVar[list[str]]

    @property
    def met(self) -> bool | None: ...

    def cells(self) -> list[str]: ...


@dataclass
class Row:
    """One line of a comparison: the ratio is the peer's cost over ours."""

    columns: ClassVar = ["ours · peer or limit", "ours", "peer", "ratio", "target", "met"]
    name: str
    ours: str
    peer: str
    ratio: float
    target: float | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.ratio >= self.target

    def cells(self) -> list[str]:
        digits = 0 if self.ratio >= 100 else 1 if self.ratio >= 10 else 2
        target = "" if self.target is None else f"≥ {self.target:g}"
        met = {None: "", True: "yes", False: "**no**"}[self.met]
        return [self.name, self.ours, self.peer, f"{self.ratio:,.{digits}f}", target, met]


@dataclass(frozen=True)
class Clock:
    """Times calls in turn. If ``quick``, it takes few turns, and comparisons skip large inputs."""

    quick: bool = False

    def turns(self, usual: int = 7) -> int:
        return QUICK_TURNS if self.quick else usual

    def race(
        self, ours: Callable[[], object], peer: Callable[[], object], turns: int = 7
    ) -> tuple[float, float]:
        """Best time of each, in seconds."""
        ours_best, peer_best = self.best([ours, peer], turns)
        return ours_best, peer_best

    def best(self, calls: list[Callable[[], object]], turns: int = 7) -> list[float]:
        """Best time of every call, in seconds. The calls take turns of equal length."""
        best = [np.inf] * len(calls)
        for _ in range(self.turns(turns)):
            for side, call in enumerate(calls):
                end = perf_counter() + (QUICK_TURN_SECONDS if self.quick else TURN_SECONDS)
                while True:
                    start = perf_counter()
                    call()
                    best[side] = min(best[side], perf_counter() - start)
                    if perf_counter() > end:
                        break
        return best


def against(name: str, ours: float, peer: float, target: float | None = None) -> Row:
    """Compare two times, in seconds."""
    return Row(name, spell(ours), spell(peer), peer / ours, target)


def against_copy(clock: Clock, name: str, ours: Callable[[], object]) -> Row:
    """Compare with copying the array of rankings: no kernel that reads it can be faster."""
    ranks = sampled(0.9).ranks
    target = np.empty_like(ranks)
    times = clock.race(ours, lambda: np.copyto(target, ranks))
    return against(f"{name} · limit: copying the array", *times)


def spell(seconds: float) -> str:
    """Write a time with a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def sampled(phi: float, m: int = M, n: int = N) -> fr.Rankings:
    """Draw the rankings that a comparison runs on."""
    return fr.Mallows(phi, n=n).sample(m, rng=1)


def rust_example(name: str, *arguments: str) -> list[list[str]]:
    """Run a Rust program of this folder; return the words of the lines that it prints."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "fedrank-benches"]
    output = subprocess.run(
        [*command, "--example", name, "--", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [printed.split() for printed in output.splitlines()]
