"""fedrank on Flower: real machines, TLS, and nodes that prove who they are.

Flower carries opaque bytes and nothing else: no metrics, no counts. `server_app` runs the driver
over Flower's grid; `client_app` passes each request to the data holder's agent (see
`fedrank.agent`), and the agent's reply, or one of its few fixed codes, back. ``write_app`` makes an
app of the two. Needs the extra: ``pip install 'fedrank[flower]'``.
"""

from fedrank.transport.flower.client import client_app
from fedrank.transport.flower.server import server_app

__all__ = ["client_app", "server_app"]
