"""Trials on simulated rankings: how far from the true center each rule ends."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_phi, whole
from fedrank.exceptions import InputError
from fedrank.rankings.complete import as_rankings
from fedrank.schemes import Scheme

METHODS = ("borda", "lehmer", "kemeny")
SCHEMES = ("borda", "lehmer")


def simulate(
    rules: Sequence[Scheme | str],
    *,
    phi: float,
    n: int | None = None,
    center: ArrayLike | None = None,
    clients: int,
    samples: int,
    repetitions: int,
    rng: RNG = None,
) -> NDArray[np.int64]:
    """Measure rules on Mallows samples whose center is known.

    Each repetition draws ``samples`` rankings per client and gives the same ones to every rule.
    Messages of schemes are summed without masks, which change no sum.

    Parameters
    ----------
    rules : sequence of Scheme or str
        Schemes that allow so many clients and samples, and names of central methods, which see
        all the rankings: "borda", "lehmer" or "kemeny".
    phi : float
        Dispersion of the rankings, in [0, 1].
    n : int, optional
        Number of items; each repetition then draws its own center, uniformly.
    center : array_like of int, shape (n,), optional
        The center of all repetitions. Exactly one of ``n`` and ``center`` is given.
    clients, samples : int
        Number of clients, and of rankings per client.
    repetitions : int
        Number of repetitions.
    rng : None, int or numpy.random.Generator
        Source of randomness for samples and ties.

    Returns
    -------
    distances : numpy.ndarray of int64, shape (repetitions, rules)
        Kendall distance between the center and the consensus.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a rule is unknown.

    Examples
    --------
    >>> from fedrank import Borda
    >>> rules = [Borda(n=10, clients=5, send="centroids"), "borda", "kemeny"]
    >>> found = simulate(rules, phi=0.5, n=10, clients=5, samples=4, repetitions=1000, rng=0)
    >>> found.shape
    (1000, 3)
    >>> found.mean(axis=0).round(1)
    array([1.1, 0.9, 0.6])
    """
    if (n is None) == (center is None):
        raise InputError("pass exactly one of n and center")
    middle = None if center is None else as_rankings(center)
    if middle is not None and len(middle) != 1:
        raise InputError(
            f"must be one ranking, not {len(middle)}", parameter="center", value=len(middle)
        )
    items = whole("n", n or 0, most=2**24) if middle is None else middle.shape[1]
    schemes = [(i, rule) for i, rule in enumerate(rules) if isinstance(rule, Scheme)]
    methods = [(i, rule) for i, rule in enumerate(rules) if isinstance(rule, str)]
    many = whole("clients", clients, most=2**24)
    for rule in rules:
        if isinstance(rule, Scheme):
            if rule.kind not in SCHEMES:
                raise InputError(
                    f"can be {' and '.join(SCHEMES)} schemes, not {rule.kind}",
                    parameter="rules",
                    value=rule,
                )
            if rule.clients < many:
                raise InputError(
                    f"must be at most {rule.clients}, for which {rule!r} is made, not {clients}",
                    parameter="clients",
                    value=clients,
                )
        elif rule not in METHODS:
            raise InputError(
                f"must be schemes or names, one of {', '.join(METHODS)}, not {rule!r}",
                parameter="rules",
                value=rule,
            )
    if not rules:
        raise InputError(
            "must not be empty", parameter="rules", remedy="pass at least one scheme or name"
        )
    found = _core.simulate(
        as_phi(phi),
        items,
        middle,
        many,
        whole("samples", samples, most=2**31),
        whole("repetitions", repetitions, most=2**31),
        [scheme._core_scheme for _, scheme in schemes],
        [method for _, method in methods],
        seed_bytes(rng),
    )
    columns = [i for i, _ in (*schemes, *methods)]
    return found[:, np.argsort(columns)]
