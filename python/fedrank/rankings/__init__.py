"""Rankings of labelled items, complete or partial: how data enters."""

from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import PartialRankings

__all__ = ["PartialRankings", "Rankings"]
