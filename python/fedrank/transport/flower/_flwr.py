"""The one door to Flower, which says how to get it where it is missing."""

from fedrank.exceptions import MissingExtraError

try:
    from flwr.app import ConfigRecord, ConfigRecordValues, Context, Message, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
except ImportError as error:
    raise MissingExtraError(
        f"Flower is not installed ({error}): pip install 'fedrank[flower]'"
    ) from None

__all__ = [
    "ClientApp",
    "ConfigRecord",
    "ConfigRecordValues",
    "Context",
    "Grid",
    "Message",
    "RecordDict",
    "ServerApp",
]

RECORD = "fedrank"  # the one record of a message, either way
BYTES = "bytes"
CODE = "code"
RUN = "run"  # number of the run in a request, as decimal text
ROUND = "round"  # number of the round, likewise
CLIENT = "client"  # number of a simulated node's client, in a reply to `WHICH`
WHICH = "which"  # the query that asks for it
