"""Rankings and tables that tests draw pictures of."""

import numpy as np

import fedrank as fr
from helpers import reference


def parties(n, clients, samples, phi=0.8, items=None, seed=0):
    """Made-up rankings of each client."""
    rng = np.random.default_rng(seed)
    center = fr.Rankings(rng.permutation(n), items)
    data = fr.Mallows(phi, center=center).sample(clients * samples, rng)
    return [data[start : start + samples] for start in range(0, len(data), samples)]


def own_places(clients):
    """Places in each client's Borda consensus, from 1; tied items share the mean of theirs."""
    return [mid_places(reference.position_sums(each.ranks.tolist())) for each in clients]


def mid_places(sums):
    """Places by sums, the lowest best."""
    return [sum(other < each for other in sums) + (sums.count(each) + 1) / 2 for each in sums]


def rows(**columns):
    """Rows of a table, from its columns."""
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def curve(method, where, means, se=0.0):
    """Rows of an error curve over 1, 2, … samples."""
    count = len(means)
    return rows(
        method=[method] * count,
        where=[where] * count,
        samples=range(1, count + 1),
        mean=means,
        se=[se] * count,
    )


TWO = curve("Borda", "federated", [3.0, 1.0, 0.5], 0.1) + curve(
    "Lehmer", "centralized", [4.0, 2.0, 1.0], 0.2
)
