"""Expanding and adding a mask, beside its keystream alone; the Rust program mask.rs."""

from collections.abc import Iterator

from .harness import Clock, Row, against, rust_example


def run(clock: Clock) -> Iterator[Row]:
    times: dict[tuple[int, int], dict[str, float]] = {}
    for kernel, entries, bits, nanoseconds in rust_example("mask", *(["3"] if clock.quick else [])):
        times.setdefault((int(entries), int(bits)), {})[kernel] = float(nanoseconds) / 1e9
    for (entries, bits), best in times.items():
        name = f"adding a mask, {entries:,} entries of {bits} bits · limit: its keystream"
        yield against(name, best["add"], best["keystream"], 0.667)
