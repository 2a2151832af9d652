"""Bytes that a client sends, beside the paper's formulas and the rankings themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log, log2
from typing import ClassVar

import numpy as np

import fedrank as fr

from .harness import Clock, N, sampled
from .secagg import session

SAMPLES = 50  # rankings per client


@dataclass
class Size:
    """One line of the table. The paper's formulas are without headers, keys and shares."""

    columns: ClassVar = [
        *("message", "entries", "masked input", "all four", "paper: algorithm"),
        *("paper: theorem", "raw rankings", "raw / all four"),
    ]
    name: str
    entries: int
    masked: int
    sent: int
    algorithm: float
    theorem: float | None
    raw: float
    met: ClassVar = None

    def cells(self) -> list[str]:
        bits = [self.algorithm, self.theorem, self.raw]
        formulas = ["" if each is None else f"{ceil(each / 8):,}" for each in bits]
        sizes = [f"{each:,}" for each in (self.entries, self.masked, self.sent)]
        return [self.name, *sizes, *formulas, f"{self.raw / 8 / self.sent:.2f}"]


def run(_: Clock) -> Iterator[Size]:
    for n, clients in ((N, 10), (10, 50), (100, 50)):
        data = sampled(0.6, m=SAMPLES * clients, n=n).split(clients, rng=1)
        raw = SAMPLES * n * ceil(log2(n))
        schemes = {
            "Borda": fr.Borda(n, clients),
            "Borda of the paper": fr.Borda(n, clients, send="centroids"),
            "Borda, exact": fr.Borda(n, clients, send="sums", max_samples=SAMPLES),
            **{f"Lehmer, I = {low}": fr.Lehmer(n, clients, low_bits=low) for low in (0, 2, 4)},
        }
        by_formula = fr.Lehmer(n, clients, low_bits="paper", max_samples=SAMPLES)
        schemes[f"Lehmer, paper's I = {by_formula.low_bits}"] = by_formula
        for name, each in schemes.items():
            encoded = np.array([each.encode(part, client=c, rng=1) for c, part in enumerate(data)])
            sent = session(fr.Study(each).round(0), encoded)[0]
            assert (sent == sent[0]).all()  # no length depends on the data
            yield Size(
                f"n = {n}, L = {clients}: {name}",
                encoded.shape[1],
                int(sent[0, 2]),
                int(sent[0].sum()),
                *(paper_borda(each) if isinstance(each, fr.Borda) else paper_lehmer(each)),
                raw,
            )


def paper_borda(scheme: fr.Borda) -> tuple[float, float | None]:
    """Bits of Algorithm 2, with the modulus that the sum of places 1..N needs; of Theorem 2.

    Exact sums and means have more values per place: rankings, or levels.
    """
    n, clients = scheme.n, scheme.clients
    if scheme.send == "centroids":
        return n * ceil(log2(clients * n + 1)), n * log2(n)
    return n * ceil(log2(clients * (scheme.levels or scheme.max_samples) * n + 1)), None


def paper_lehmer(scheme: fr.Lehmer) -> tuple[float, float]:
    """Bits of Algorithm 3 as printed, and of Theorem 4 for one client."""
    n, clients, low_bits = scheme.n, scheme.clients, scheme.low_bits
    high = sum(max(ceil(log2(i)) - low_bits, 0) for i in range(1, n + 1))
    slots = 2.0**low_bits
    algorithm = high + n * slots * ceil(log2(clients + 1))
    if scheme.max_samples is not None:  # the theorem's number of slots, which is not whole
        powers = scheme.phi ** np.arange(n + 1)
        p = powers[1:n].sum() / (1 + powers[3:].sum())
        total = clients * scheme.max_samples
        slots = 2 * log(total * n**2 / scheme.epsilon) / log(1 / p) + 1
        assert ceil(log2(slots)) == low_bits
    return algorithm, n * (log2(n) - log2(slots) + slots * log2(clients))
