"""fedrank on Flower: real machines, TLS, and nodes that prove who they are.

Flower carries opaque bytes and nothing else: no metrics, no counts. `server_app` conducts the
steps of secure aggregation; `client_app` passes each request to the data holder's agent (see
`fedrank.agent`), and the agent's reply, or one of its few fixed codes, back. ``fedrank flower new``
writes an app of the two. Needs the extra: ``pip install 'fedrank[flower]'``.
"""

from fedrank.transport.flower.client import client_app
from fedrank.transport.flower.conduct import Lost, RunFailedError, conduct
from fedrank.transport.flower.server import server_app

__all__ = ["Lost", "RunFailedError", "client_app", "conduct", "server_app"]
