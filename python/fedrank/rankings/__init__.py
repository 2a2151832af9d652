"""Rankings of labelled items, complete or partial: how data enters."""

from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import PartialRankings
from fedrank.rankings.source import Note, Source

__all__ = ["Note", "PartialRankings", "Rankings", "Source"]
