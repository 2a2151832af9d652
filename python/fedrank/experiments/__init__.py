"""The paper's figures, made again: numbers in tidy tables, and pictures of them.

Every figure is a list of parts, each with random streams of its own; a part that is already
in the figure's table is not computed again.
"""

from fedrank.experiments.figure import Figure, Options
from fedrank.experiments.reproduce import FIGURES, Made, find, reproduce

__all__ = ["FIGURES", "Figure", "Made", "Options", "find", "reproduce"]
