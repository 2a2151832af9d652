"""A consensus ranking: what it is, how it is shown and kept, and how one place computes it."""

from fedrank.consensus.central import TAKE_PARTIAL, aggregate
from fedrank.consensus.result import Consensus
from fedrank.consensus.tables import places
from fedrank.consensus.ties import chance

__all__ = ["TAKE_PARTIAL", "Consensus", "aggregate", "chance", "places"]
