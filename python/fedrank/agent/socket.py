"""The agent's socket: one request per connection, and one answer at a time.

`serve` answers on it; `ask` is all that code sent by others needs to know of an agent.
"""

import hashlib
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from traceback import extract_tb

from fedrank._text import printable
from fedrank.agent.agent import Agent
from fedrank.agent.connections import MAX_REQUEST_BYTES, Connections
from fedrank.exceptions import Code, InputError, RefusalError
from fedrank.transport.base import Step

ANSWERED = b"ok"
LOOK_SECONDS = 5.0  # to see whether an agent listens
RETRY_SECONDS = 0.05  # between attempts to connect where too many wait already
MAX_HEAD_BYTES = 1 << 22  # of the first line, which is parsed
LOGGED_DIGITS = 12  # of a study's digest
MAX_LOGGED_CHARS = 500  # of a detail, which the asking process may have written

log = logging.getLogger("fedrank.agent")


def ask(path: Path, study: str, step: Step, request: bytes, timeout: float = 600.0) -> bytes:
    """Ask the agent at a socket for one step.

    Parameters
    ----------
    path : pathlib.Path
        The agent's socket.
    study : str
        Canonical JSON of the study.
    step : Step
        Which run, round and step.
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
    ...     ask(Path("/nowhere/agent.sock"), "{}", Step(0, 0, "advertise"), b"")
    ... except RefusalError as refusal:
    ...     print(refusal.code.value)
    unavailable
    """
    fields = {"study": study, "run": step.run, "round": step.round, "step": step.name}
    head = json.dumps(fields).encode()
    asked = head + b"\n" + request
    if len(asked) > MAX_REQUEST_BYTES:  # it would be dropped, again and again
        problem = f"{path}: a request is longer than {MAX_REQUEST_BYTES} bytes"
        raise RefusalError(Code.UNAVAILABLE, problem)
    end = time.monotonic() + timeout
    while True:
        try:
            answered = ask_once(path, asked, end)
            break
        except (BrokenPipeError, ConnectionResetError) as error:
            # Others pushed it out. The same request gets the same bytes, so nothing is lost.
            if time.monotonic() + RETRY_SECONDS >= end:
                raise RefusalError(Code.UNAVAILABLE, f"{path}: {error}") from error
            time.sleep(RETRY_SECONDS)
        except OSError as error:
            raise RefusalError(Code.UNAVAILABLE, f"{path}: {error}") from error
    word, found, reply = answered.partition(b"\n")
    if not found:  # it was ended while it answered
        raise RefusalError(Code.UNAVAILABLE, f"{path}: the agent did not answer")
    if word != ANSWERED:
        raise RefusalError(Code(word.decode()))
    return reply


def ask_once(path: Path, asked: bytes, end: float) -> bytes:
    """Send a request over one connection, and read all of the reply."""
    parts = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as agent:
        agent.settimeout(left(end))
        connect(agent, path, end)
        agent.sendall(asked)
        agent.shutdown(socket.SHUT_WR)
        agent.settimeout(left(end))
        while part := agent.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def left(end: float) -> float:
    """Return how long it is until then; never zero, which would mean not to wait at all."""
    return max(0.001, end - time.monotonic())


def connect(agent: socket.socket, path: Path, end: float) -> None:
    """Connect, and wait while too many others do."""
    while True:
        try:
            return agent.connect(str(path))
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(RETRY_SECONDS)


def listens(path: Path) -> bool:
    """Tell whether anybody listens at a socket.

    Examples
    --------
    >>> listens(Path("/nowhere/agent.sock"))
    False
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as agent:
            agent.settimeout(LOOK_SECONDS)
            agent.connect(str(path))
    except (BlockingIOError, TimeoutError):  # too many are waiting already
        return True
    except OSError:
        return False
    return True


def serve(agent: Agent, ready: Callable[[], None] | None = None) -> None:
    """Answer on the configured socket until the process is told to stop.

    The socket is readable and writable for its owner only. A service manager may open it
    instead and hand it over (``LISTEN_FDS``): then its owner may be another user than the agent's.
    Details of what goes wrong are logged; who asked is told a `Code`.

    Parameters
    ----------
    agent : Agent
        Who answers.
    ready : callable, optional
        Called once the socket is open.
    """
    with listening(agent.config.socket) as server:
        log.info("listening on %s", printable(agent.config.socket))
        if ready is not None:
            ready()
        connections = Connections(server, partial(respond, agent))
        try:
            while True:
                connections.turn()
        finally:
            connections.close()


def respond(agent: Agent, asked: bytes) -> bytes:
    """Answer one request, whatever happens, and tell no more than a code."""
    about = ""
    try:
        study, step, request = read_request(asked)
        digest = hashlib.sha256(study.encode("utf-8", "surrogatepass")).hexdigest()
        about = f"study {digest[:LOGGED_DIGITS]}, "
        reply = agent.answer(study, step, request)
        text = "%srun %d, round %d, %s: answered with %d bytes"
        log.info(text, about, step.run, step.round, step.name, len(reply))
        return ANSWERED + b"\n" + reply
    except (KeyboardInterrupt, SystemExit):
        raise
    except RefusalError as refusal:
        log.warning("%s%s: %.*s", about, refusal.code, MAX_LOGGED_CHARS, refusal.logged)
        code = refusal.code
    except BaseException as error:  # a panic of the core is no Exception
        log.error("%sa fault: %s", about, fault(error))
        code = Code.ERROR
    return code.value.encode() + b"\n"


def read_request(asked: bytes) -> tuple[str, Step, bytes]:
    """Read the study, the step, and what the server sent.

    Raises
    ------
    RefusalError
        If the first line is not what `ask` writes.
    """
    head, _, request = asked.partition(b"\n")
    try:
        if len(head) > MAX_HEAD_BYTES:
            raise ValueError(f"the first line has {len(head)} bytes, more than {MAX_HEAD_BYTES}")
        fields = json.loads(head)
        study, run, round = str(fields["study"]), fields["run"], fields["round"]
        # One run and round, one spelling, one session.
        if type(run) is not int or not 0 <= run < 1 << 64:
            raise ValueError(f"run must be a whole number below 2**64, not {run!r}")
        if type(round) is not int or not 0 <= round < 1 << 32:
            raise ValueError(f"round must be a whole number below 2**32, not {round!r}")
        return study, Step(run, round, str(fields["step"])), request
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        problem = f"the request is malformed: {type(error).__name__}: {error}"
        raise RefusalError(Code.ERROR, problem) from error


def fault(error: BaseException) -> str:
    """Say where an error comes from; its text only if it is one of the operating system's.

    The text of another one may show values of the data.

    Examples
    --------
    >>> fault(OSError(28, "No space left on device"))
    'OSError: [Errno 28] No space left on device'
    """
    text = f": {error}" if isinstance(error, OSError) else ""
    frames = [
        f"{Path(each.filename).name}:{each.lineno}" for each in extract_tb(error.__traceback__)
    ]
    where = f" ({' > '.join(frames)})" if frames else ""
    return printable(f"{type(error).__name__}{text}{where}")


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen on a socket of our own, or on the one that we were handed."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        with socket.socket(fileno=3) as server:  # the first, by systemd's convention
            yield server
        return
    if path.is_socket():
        if listens(path):
            raise InputError(
                "another process listens on this socket", file=path, remedy="name another socket"
            )
        path.unlink()  # of an agent that was killed
    elif path.exists():
        raise InputError(
            "this is no socket, but another file or a folder",
            file=path,
            remedy="name another socket in the configuration, or move the file away",
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        before = os.umask(0o177)
        try:
            server.bind(str(path))
        except OSError as error:
            raise InputError(
                f"the socket cannot be made ({error})",
                file=path,
                remedy="name another socket in the configuration",
            ) from None
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
