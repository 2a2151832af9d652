"""One consensus ranking from rankings that several parties hold and cannot share.

A ranking is a rank vector: ``r[i]`` is the position of item ``i``, 0 the best. Many rankings
are an ``(m, n)`` array of integers, or a `Rankings`, which is checked and labelled.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedrank import _core
from fedrank.consensus import Consensus, aggregate
from fedrank.distances import (
    footrule_distance,
    kemeny_score,
    kendall_distance,
    lehmer_decode,
    lehmer_encode,
    pairwise_counts,
)
from fedrank.mallows import Mallows
from fedrank.planning.plan import plan
from fedrank.protocol.driver import conduct
from fedrank.protocol.federate import federate
from fedrank.protocol.identity import Identity
from fedrank.protocol.methods import Kemeny
from fedrank.protocol.result import FederatedConsensus
from fedrank.protocol.study import Study
from fedrank.rankings import PartialRankings, Rankings
from fedrank.schemes import Borda, Lehmer

if TYPE_CHECKING:
    from fedrank import agent, data, planning, plots, schemes, transport
    from fedrank.coding import golomb, superposition
    from fedrank.planning import theory
    from fedrank.protocol import secagg

__version__ = _core.VERSION

_MODULES = {
    "agent": "fedrank.agent",
    "data": "fedrank.data",
    "golomb": "fedrank.coding.golomb",
    "planning": "fedrank.planning",
    "plots": "fedrank.plots",
    "schemes": "fedrank.schemes",
    "secagg": "fedrank.protocol.secagg",
    "superposition": "fedrank.coding.superposition",
    "theory": "fedrank.planning.theory",
    "transport": "fedrank.transport",
}
"""Modules that are attributes of this one, and are loaded when they are first used."""

__all__ = [
    "Borda",
    "Consensus",
    "FederatedConsensus",
    "Identity",
    "Kemeny",
    "Lehmer",
    "Mallows",
    "PartialRankings",
    "Rankings",
    "Study",
    "agent",
    "aggregate",
    "conduct",
    "data",
    "federate",
    "footrule_distance",
    "golomb",
    "kemeny_score",
    "kendall_distance",
    "lehmer_decode",
    "lehmer_encode",
    "pairwise_counts",
    "plan",
    "planning",
    "plots",
    "schemes",
    "secagg",
    "superposition",
    "theory",
    "transport",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'fedrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
