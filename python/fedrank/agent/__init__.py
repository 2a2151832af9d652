"""The local agent: alone on a data holder's machine it reads rankings, policy and keys.

What carries messages between machines runs code that others send. It gets a socket to the agent
instead of the data: bytes go in, and masked bytes or one of a few fixed codes come out. The agent
answers only what its policy allows, always from the same rankings, opens at most one sum per study
and round, counts runs, and writes every reply down before it gives it out.
"""

from fedrank.agent.agent import Agent
from fedrank.agent.folder import make_store
from fedrank.agent.overlap import Overlap, overlaps
from fedrank.agent.policy import Config, Policy, read_config
from fedrank.agent.preview import Preview, preview
from fedrank.agent.socket import ask, serve
from fedrank.exceptions import Code, RefusalError

__all__ = [
    "Agent",
    "Code",
    "Config",
    "Overlap",
    "Policy",
    "Preview",
    "RefusalError",
    "ask",
    "make_store",
    "overlaps",
    "preview",
    "read_config",
    "serve",
]
