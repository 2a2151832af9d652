"""Borda consensus, beside numpy's mean."""

from collections.abc import Iterator

import numpy as np

import fedrank as fr

from .harness import Clock, Row, against, against_copy, sampled


def run(clock: Clock) -> Iterator[Row]:
    rankings = sampled(0.9)
    ranks = rankings.ranks
    assert np.allclose(fr.aggregate(rankings).scores, ranks.mean(axis=0))
    times = clock.race(lambda: fr.aggregate(rankings, "borda"), lambda: ranks.mean(axis=0))
    yield against("Borda · numpy mean", *times, 1)
    yield against_copy(clock, "Borda", lambda: fr.aggregate(rankings, "borda"))
