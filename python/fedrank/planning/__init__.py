"""How many samples each client needs: by simulation, and by the paper's theorems."""

from fedrank.planning.plan import Plan, Point, estimate, plan
from fedrank.planning.simulate import simulate

__all__ = ["Plan", "Point", "estimate", "plan", "simulate"]
