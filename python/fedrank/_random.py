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
