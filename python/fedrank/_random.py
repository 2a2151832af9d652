"""Seeds for the core, from whatever the caller calls randomness."""

import os
from typing import TypeAlias

import numpy as np

RNG: TypeAlias = int | np.random.Generator | None
"""What ``rng=`` takes: None for fresh randomness, a seed, or a generator to draw from."""


def seed_bytes(rng: RNG) -> bytes:
    """Draw the 32 bytes that all of a call's random streams grow from."""
    if rng is None:
        return os.urandom(32)  # as fresh, and without the cost of a generator
    return np.random.default_rng(rng).bytes(32)


def stream_rng(seed: bytes, *key: int) -> np.random.Generator:
    """Make a generator that depends on the seed and the key alone.

    Examples
    --------
    >>> stream_rng(bytes(32), 1).integers(9) == stream_rng(bytes(32), 1).integers(9)
    np.True_
    """
    return np.random.default_rng(
        np.random.SeedSequence(int.from_bytes(seed, "little"), spawn_key=key)
    )


def round_rng(seed: bytes, number: int, *key: int) -> np.random.Generator:
    """Make the generator of one party in one round: key 1 is the server's, (0, l) is client l's.

    Examples
    --------
    >>> round_rng(bytes(32), 0, 1).integers(9) == stream_rng(bytes(32), 1).integers(9)
    np.True_
    """
    return stream_rng(seed, *key, *((number,) if number else ()))
