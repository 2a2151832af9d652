"""One consensus ranking from rankings that many parties hold and may not show.

A ranking is a rank vector: ``r[i]`` is the position of item ``i``, 0 the best. Many rankings
are an ``(m, n)`` array of integers, or a `Rankings`, which is one checked and labelled.
"""

from fedrank import _core, golomb, overair, secagg, theory
from fedrank.consensus import Consensus, aggregate
from fedrank.engine import FederatedConsensus, federate
from fedrank.kernels import (
    footrule_distance,
    kemeny_score,
    kendall_distance,
    lehmer_decode,
    lehmer_encode,
    pairwise_counts,
)
from fedrank.mallows import Mallows
from fedrank.partial import PartialRankings
from fedrank.planning import Plan, plan
from fedrank.rankings import Rankings
from fedrank.schemes import Borda, Dispersion, Lehmer, Refine, scheme_from_json
from fedrank.simulation import simulate
from fedrank.study import Study

__version__ = _core.VERSION

__all__ = [
    "Borda",
    "Consensus",
    "Dispersion",
    "FederatedConsensus",
    "Lehmer",
    "Mallows",
    "PartialRankings",
    "Plan",
    "Rankings",
    "Refine",
    "Study",
    "__version__",
    "aggregate",
    "federate",
    "footrule_distance",
    "golomb",
    "kemeny_score",
    "kendall_distance",
    "lehmer_decode",
    "lehmer_encode",
    "overair",
    "pairwise_counts",
    "plan",
    "scheme_from_json",
    "secagg",
    "simulate",
    "theory",
]
