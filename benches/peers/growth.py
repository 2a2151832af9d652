"""Time per n log2 n of one ranking, as n grows; the Rust program growth.rs."""

from collections.abc import Iterator
from itertools import pairwise
from math import log2

from .harness import Clock, Row, against, rust_example


def run(clock: Clock) -> Iterator[Row]:
    times: dict[str, dict[int, float]] = {}
    for kernel, n, nanoseconds in rust_example("growth", *(["100000", "3"] if clock.quick else [])):
        times.setdefault(kernel, {})[int(n)] = float(nanoseconds)
    unit = {k: {n: t / (n * log2(n)) for n, t in ts.items()} for k, ts in times.items()}

    flat = {n: t for n, t in unit["merge"].items() if 10**4 <= n <= 10**6}
    least, most = min(flat, key=flat.__getitem__), max(flat, key=flat.__getitem__)
    yield jump("merging, 10⁴ to 10⁶: least · most", flat, most, least)
    for n, nanoseconds in times["kendall"].items():
        pair = nanoseconds / 1e9, times["merge"][n] / 1e9
        yield against(f"kendall, one pair of {n:,} items · merging alone", *pair, 1)
    for kernel in ("kendall", "lehmer"):
        for a, b in pairwise(sorted(unit[kernel])):
            if b - a == 1:
                yield jump(f"{kernel}, taking over: {b:,} · {a:,} items", unit[kernel], b, a)


def jump(name: str, unit: dict[int, float], ours: int, peer: int) -> Row:
    cells = [f"{unit[n]:.3g} ns" for n in (ours, peer)]
    return Row(f"{name}, per n log2 n", *cells, unit[peer] / unit[ours], 0.5)
