"""The data holder's side of Flower: a relay that knows nothing."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from fedrank.agent.socket import ask
from fedrank.exceptions import Code, RefusalError
from fedrank.protocol.secagg import SIGNED_STEPS
from fedrank.transport.base import Step
from fedrank.transport.flower._flwr import (
    BYTES,
    CLIENT,
    CODE,
    RECORD,
    ROUND,
    RUN,
    WHICH,
    ClientApp,
    ConfigRecord,
    ConfigRecordValues,
    Context,
    Message,
    RecordDict,
)

SOCKET = "agent"  # in the node's configuration
SOCKET_VARIABLE = "FEDRANK_AGENT"  # for a simulation, whose nodes cannot be configured
PARTITION = "partition-id"  # what a simulation calls a node's number

log = logging.getLogger("fedrank.flower")  # stays with the node: Flower sends a ServerApp's only


def client_app(study: Path) -> ClientApp:
    """Make the ClientApp of a study.

    Flower tells the server the text of an exception, and pushes a reply before it saves what
    the app knows. So this app knows nothing, catches everything, and says one of a few codes.
    It has no key either: what it carries for a signed study are envelopes that the agent seals.
    The agent's socket is in the node's configuration, which the data holder writes:
    ``--node-config 'agent="/run/fedrank/agent.sock"'``.

    Parameters
    ----------
    study : pathlib.Path
        The study's JSON, in the app's folder.

    Returns
    -------
    app : flwr.clientapp.ClientApp

    Examples
    --------
    >>> type(client_app(Path("study.json"))).__name__
    'ClientApp'
    """
    app = ClientApp()
    for name in SIGNED_STEPS:
        app.query(name)(relay(study, name))
    app.query(WHICH)(which)
    return app


def which(message: Message, context: Context) -> Message:
    """Say which client a simulated node plays; nodes of a real federation have registered names."""
    number = context.node_config.get(PARTITION)
    told: dict[str, ConfigRecordValues] = {CODE: Code.UNAVAILABLE.value}
    if isinstance(number, int) and not isinstance(number, bool):
        told = {CLIENT: number}
    return Message(RecordDict({RECORD: ConfigRecord(told)}), reply_to=message)


def relay(study: Path, name: str) -> Callable[[Message, Context], Message]:
    """Make the function that passes one step on."""

    def answer(message: Message, context: Context) -> Message:
        reply: dict[str, ConfigRecordValues]
        try:
            record = message.content.config_records[RECORD]
            request = record[BYTES]
            if not isinstance(request, bytes):
                raise TypeError("a request must be bytes")
            step = Step(int(str(record[RUN])), int(str(record[ROUND])), name)
            text = study.read_text(encoding="utf-8")
            reply = {BYTES: ask(socket_of(context), text, step, request)}
        except (KeyboardInterrupt, SystemExit):  # Flower ends the process
            raise
        except RefusalError as refusal:
            log.warning("%s: %s", name, refusal)
            reply = {CODE: refusal.code.value}
        except BaseException:
            log.exception("%s: the agent was not reached", name)
            reply = {CODE: Code.ERROR.value}
        return Message(RecordDict({RECORD: ConfigRecord(reply)}), reply_to=message)

    return answer


def socket_of(context: Context) -> Path:
    """Find the agent of a node."""
    given = context.node_config.get(SOCKET)
    if given is None and SOCKET_VARIABLE in os.environ:
        given = os.environ[SOCKET_VARIABLE].replace("{}", str(context.node_config.get(PARTITION)))
    if given is None:
        raise RefusalError(Code.UNAVAILABLE, f"the node's configuration has no {SOCKET!r}")
    return Path(str(given))
