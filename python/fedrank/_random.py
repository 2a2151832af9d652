"""Random streams, from whatever the caller passes as ``rng`` or ``seed``."""

import os
from typing import TypeAlias

import numpy as np

from fedrank.exceptions import InputError

RNG: TypeAlias = int | np.random.Generator | None
"""What ``rng=`` takes: None for fresh randomness, a seed, or a generator to draw from."""


def seed_bytes(rng: RNG) -> bytes:
    """Draw the 32 bytes that seed all random streams of one call."""
    if rng is None:
        return os.urandom(32)  # as random as a new generator's bytes, and cheaper
    return as_rng(rng).bytes(32)


def as_rng(rng: RNG) -> np.random.Generator:
    """Return the generator that the caller means.

    Examples
    --------
    >>> as_rng(1).integers(99) == as_rng(1).integers(99)
    np.True_
    >>> as_rng(-1)
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: rng must be None, a whole number of at least 0 or a
    numpy.random.Generator, not -1
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InputError(
            f"must be None, a whole number of at least 0 or a numpy.random.Generator, not {rng!r}",
            parameter="rng",
            value=rng,
        ) from None


def stream_rng(seed: int | bytes, *key: int) -> np.random.Generator:
    """Make the generator of one stream, which depends on the seed and the key only.

    Parameters
    ----------
    seed : int or bytes
        A seed of at least 0, or the bytes of `seed_bytes`.
    *key : int
        Which of the seed's independent streams.

    Examples
    --------
    >>> stream_rng(1, 0).integers(99) == stream_rng(1, 0).integers(99)
    np.True_
    >>> stream_rng(1, 0).integers(99) == stream_rng(1, 1).integers(99)
    np.False_
    """
    number = int.from_bytes(seed, "little") if isinstance(seed, bytes) else seed
    return np.random.default_rng(np.random.SeedSequence(number, spawn_key=key))


def round_rng(seed: bytes, number: int, *key: int) -> np.random.Generator:
    """Make the generator of one party in one round: key 1 is the server's, (0, l) is client l's.

    Examples
    --------
    >>> round_rng(bytes(32), 0, 1).integers(9) == stream_rng(bytes(32), 1).integers(9)
    np.True_
    """
    return stream_rng(seed, *key, *((number,) if number else ()))
