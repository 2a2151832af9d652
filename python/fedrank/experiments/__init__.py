"""The paper's figures, reproduced: numbers in tidy tables, and pictures of them.

The figures name the paper's own algorithms by their numbers: Algorithm 1 (Borda, centralized),
Algorithm 2 (Borda, quantized) and Algorithm 3 (Lehmer). Other central methods and our own are drawn
beside them. The group "beyond" holds ablations, which are not in the paper.

Every figure is a list of parts with separate random streams. A part that is already in the
figure's table is not computed again.
"""

from fedrank.experiments.figure import Figure, Options
from fedrank.experiments.reproduce import FIGURES, GROUPS, Made, find, reproduce

__all__ = ["FIGURES", "GROUPS", "Figure", "Made", "Options", "find", "reproduce"]
