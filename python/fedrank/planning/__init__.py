"""How many samples each client needs: by simulation, and by the paper's theorems."""

from fedrank.planning.plan import Plan, estimate, plan
from fedrank.planning.search import Point
from fedrank.planning.simulate import simulate

__all__ = ["Plan", "Point", "estimate", "plan", "simulate"]
