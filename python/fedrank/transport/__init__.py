"""What carries bytes between server and clients: no mathematics, no policy.

`fedrank.transport.flower` needs the extra ``flower``, and is loaded when it is first used.
"""

from fedrank.transport.base import Lost, Step, Transport
from fedrank.transport.inprocess import InProcess

__all__ = ["InProcess", "Lost", "Step", "Transport"]
