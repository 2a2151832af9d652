"""Beyond the paper: the choices that it leaves open, measured on the same clients.

What a client sends for Lehmer coding and how the server decodes it (M8), how finely Borda's means
are quantized (M6) or rounded (M16), how much a bit buys with each scheme (M14), and when unequal
clients need weights.
"""

from fedrank.experiments.ablations import borda, lehmer, means, pareto, weights
from fedrank.experiments.figure import Figure

__all__ = ["FIGURES"]

FIGURES: tuple[Figure, ...] = (
    *lehmer.FIGURES,
    *borda.FIGURES,
    *means.FIGURES,
    *pareto.FIGURES,
    *weights.FIGURES,
)
"""Every ablation. Their names are keys of random streams: a new name changes the numbers."""
