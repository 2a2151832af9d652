"""The agent's socket: one request per connection, one connection at a time.

`serve` answers on it; `ask` is all that code sent by others needs to know of an agent.
"""

import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fedrank.agent.agent import Agent
from fedrank.exceptions import Code, RefusalError

ANSWERED = b"ok"
LOOK = 5.0  # seconds
MOST = 1 << 26  # bytes of a request
HEAD = 1 << 22  # bytes of its first line, which is parsed
TOLD = 500  # characters of a detail that are logged: whoever asks may have written it
PATIENCE = 10.0  # seconds that whoever connects may take to ask, and again to listen

log = logging.getLogger("fedrank.agent")


def ask(
    path: Path, study: str, run: int, step: str, request: bytes, timeout: float = 600.0
) -> bytes:
    """Ask the agent at a socket for one step of one run.

    Parameters
    ----------
    path : pathlib.Path
        The agent's socket.
    study : str
        Canonical JSON of the study.
    run : int
        Number of the run.
    step : {"advertise", "share", "mask", "unmask"}
        Which step.
    request : bytes
        What the server sent.
    timeout : float
        Seconds to wait for the agent, which may have large files to read at the first step.

    Returns
    -------
    reply : bytes
        What to send to the server.

    Raises
    ------
    RefusalError
        With the agent's code; `Code.UNAVAILABLE` if there is no agent.

    Examples
    --------
    >>> try:
    ...     ask(Path("/nowhere/agent.sock"), "{}", 0, "advertise", b"")
    ... except RefusalError as refusal:
    ...     print(refusal.code.value)
    unavailable
    """
    head = json.dumps({"study": study, "run": run, "step": step}).encode()
    parts = []
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as agent:
            agent.settimeout(timeout)
            agent.connect(str(path))
            agent.sendall(head + b"\n" + request)
            agent.shutdown(socket.SHUT_WR)
            while part := agent.recv(1 << 16):
                parts.append(part)
    except OSError as error:
        raise RefusalError(Code.UNAVAILABLE, f"{path}: {error}") from error
    word, found, reply = b"".join(parts).partition(b"\n")
    if not found:  # it was ended while it answered
        raise RefusalError(Code.UNAVAILABLE, f"{path}: the agent did not answer")
    if word != ANSWERED:
        raise RefusalError(Code(word.decode()))
    return reply


def listens(path: Path) -> bool:
    """Tell whether anybody listens at a socket.

    Examples
    --------
    >>> listens(Path("/nowhere/agent.sock"))
    False
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as agent:
            agent.settimeout(LOOK)
            agent.connect(str(path))
    except (BlockingIOError, TimeoutError):  # too many are waiting already
        return True
    except OSError:
        return False
    return True


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
                    asked = receive(connection)
                    if asked:  # some only look whether we are there
                        connection.settimeout(PATIENCE)
                        connection.sendall(respond(agent, asked))
                except OSError as error:  # whoever asked has gone
                    log.warning("a connection was lost: %s", error)


def respond(agent: Agent, asked: bytes) -> bytes:
    """Answer one request, whatever happens, and tell no more than a code."""
    try:
        head, _, request = asked.partition(b"\n")
        if len(head) > HEAD:
            raise ValueError(f"the first line has {len(head)} bytes, more than {HEAD}")
        fields = json.loads(head)
        study, run, step = str(fields["study"]), fields["run"], str(fields["step"])
        if type(run) is not int or not 0 <= run < 1 << 64:  # one run, one spelling, one session
            raise ValueError("a run's number is a whole one of 64 bits")
        reply = agent.answer(study, run, step, request)
        log.info("run %d, %s: answered with %d bytes", run, step, len(reply))
        return ANSWERED + b"\n" + reply
    except (KeyboardInterrupt, SystemExit):
        raise
    except RefusalError as refusal:
        log.warning("%s: %.*s", refusal.code, TOLD, refusal)
        code = refusal.code
    except BaseException:  # a panic of the core is no Exception
        log.exception("a request that cannot be read, or a fault")
        code = Code.ERROR
    return code.value.encode() + b"\n"


def receive(connection: socket.socket) -> bytes:
    """Read until the other side has said all, in one time for the whole."""
    parts: list[bytes] = []
    size = 0
    end = time.monotonic() + PATIENCE
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        part = connection.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > MOST:
            raise OSError("a request is too long")
    raise OSError(f"a request took longer than {PATIENCE} seconds")


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen on a socket of our own, or on the one that we were handed."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        with socket.socket(fileno=3) as server:  # the first, by systemd's convention
            yield server
        return
    if path.is_socket():
        if listens(path):
            raise ValueError(f"{path}: another process listens there: name another socket")
        path.unlink()  # of an agent that was killed
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        before = os.umask(0o177)
        try:
            server.bind(str(path))
        except OSError as error:
            raise ValueError(f"{path}: {error}") from None
        finally:
            os.umask(before)
        server.listen()
        ours = path.stat().st_ino
        try:
            yield server
        finally:
            with suppress(FileNotFoundError):
                if path.stat().st_ino == ours:  # not that of an agent that came after us
                    path.unlink()
