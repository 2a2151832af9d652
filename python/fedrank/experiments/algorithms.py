"""The paper's algorithms by their numbers, and the names of the curves in its figures.

Algorithms 2 and 3 are as printed, but for the corrections that M6 and M8 list.
"""

from fedrank.schemes import Borda, Lehmer

CURVES = {
    ("Borda", "federated"): "Algorithm 2 (Borda, quantized)",
    ("Lehmer", "federated"): "Algorithm 3 (Lehmer)",
    ("Lehmer, nearest", "federated"): "Lehmer, nearest (ours)",
    ("Footrule", "federated"): "Footrule, federated",
    ("Kemeny", "federated"): "Kemeny by refinement (ours)",
    ("Borda", "centralized"): "Algorithm 1 (Borda, centralized)",
    ("Lehmer", "centralized"): "Lehmer, centralized",
    ("Footrule", "centralized"): "Footrule, centralized",
    ("Kemeny", "centralized"): "Kemeny, centralized",
}
"""What a legend calls the rows of a table, by their columns ``method`` and ``where``."""


def algorithm_2(n: int, clients: int, phi: float) -> Borda:
    """Make the scheme of Algorithm 2: mean positions, quantized to expected ones (M6).

    Examples
    --------
    >>> algorithm_2(10, 5, 0.6).send
    'centroids'
    """
    return Borda(n, clients, send="centroids", phi=phi)


def algorithm_3(n: int, clients: int, phi: float, max_samples: int) -> Lehmer:
    """Make the scheme of Algorithm 3: plurality digits, the paper's low bits and decoding (M8).

    Examples
    --------
    >>> algorithm_3(978, 10, 0.6, max_samples=50).low_bits
    11
    """
    return Lehmer(n, clients, phi=phi, low_bits="paper", max_samples=max_samples, decode="paper")
