"""Asking an agent: all that code sent by others needs to know of it."""

import json
import socket
from pathlib import Path

from fedrank.agent.codes import Code, RefusalError

ANSWERED = b"ok"
LOOK = 5.0  # seconds


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
