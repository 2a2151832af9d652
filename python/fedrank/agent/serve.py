"""The agent's socket: one request a connection, one connection at a time."""

import json
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fedrank.agent.answer import Agent
from fedrank.agent.call import ANSWERED
from fedrank.agent.codes import Code, RefusalError

MOST = 1 << 26  # bytes of a request
PATIENCE = 10.0  # seconds that whoever connects may take to ask

log = logging.getLogger("fedrank.agent")


def serve(agent: Agent) -> None:
    """Answer on the configured socket until the process is told to stop.

    The socket is readable and writable for its owner only. A service manager may open it
    instead and hand it over (``LISTEN_FDS``): then its owner may be another user than the agent's.
    Details of what goes wrong are logged; who asked is told a `Code`.

    Parameters
    ----------
    agent : Agent
        Who answers.
    """
    with listening(agent.config.socket) as server:
        log.info("listening on %s", agent.config.socket)
        while True:
            connection, _ = server.accept()
            with connection:
                try:
                    connection.settimeout(PATIENCE)
                    asked = receive(connection)
                    if asked:  # some only look whether we are there
                        connection.sendall(respond(agent, asked))
                except OSError as error:  # whoever asked has gone
                    log.warning("a connection was lost: %s", error)


def respond(agent: Agent, asked: bytes) -> bytes:
    """Answer one request, whatever happens, and tell no more than a code."""
    try:
        head, _, request = asked.partition(b"\n")
        fields = json.loads(head)
        study, run, step = str(fields["study"]), int(fields["run"]), str(fields["step"])
        reply = agent.answer(study, run, step, request)
        log.info("run %d, %s: answered with %d bytes", run, step, len(reply))
        return ANSWERED + b"\n" + reply
    except (KeyboardInterrupt, SystemExit):
        raise
    except RefusalError as refusal:
        log.warning("%s: %s", refusal.code, refusal)
        code = refusal.code
    except BaseException:  # a panic of the core is no Exception
        log.exception("a request that cannot be read, or a fault")
        code = Code.ERROR
    return code.value.encode() + b"\n"


def receive(connection: socket.socket) -> bytes:
    """Read until the other side has said all."""
    parts, size = [], 0
    while part := connection.recv(1 << 16):
        parts.append(part)
        size += len(part)
        if size > MOST:
            raise OSError("a request is too long")
    return b"".join(parts)


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen on a socket of our own, or on the one that we were handed."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        with socket.socket(fileno=3) as server:  # the first, by systemd's convention
            yield server
        return
    if path.is_socket():
        path.unlink()  # of an agent that was killed; the store's lock says that none runs
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        before = os.umask(0o177)
        try:
            server.bind(str(path))
        except OSError as error:
            raise ValueError(f"{path}: {error}") from None
        finally:
            os.umask(before)
        server.listen()
        try:
            yield server
        finally:
            with suppress(FileNotFoundError):
                path.unlink()
