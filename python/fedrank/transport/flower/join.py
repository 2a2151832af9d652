"""A data holder's two processes: the agent, and Flower's SuperNode."""

import os
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from fedrank.agent.policy import quoted
from fedrank.agent.socket import listens

QUIET_ENVIRONMENT = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""Flower calls nobody but the SuperLink."""

POLL_SECONDS = 0.2  # between looks whether both processes live
STOP_SECONDS = 10.0  # that they have to stop


def join(
    superlink: str,
    root_certificates: Path,
    key: Path,
    agent_socket: Path,
    agent_command: Sequence[str] | None,
    home: Path,
) -> int:
    """Run a SuperNode, and an agent unless one runs already, until either ends.

    Parameters
    ----------
    superlink : str
        Address of the SuperLink, ``host:port``.
    root_certificates : pathlib.Path
        Certificate of the authority that signed the SuperLink's.
    key : pathlib.Path
        This node's private key.
    agent_socket : pathlib.Path
        The agent's socket.
    agent_command : sequence of str, optional
        The command that runs the agent; without it no agent is started.
    home : pathlib.Path
        Flower's folder.

    Returns
    -------
    code : int
        Exit code of the process that ended first.
    """
    signal.signal(signal.SIGTERM, stop)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        if agent_command is not None:
            processes.append(subprocess.Popen(agent_command))
            # A node without an agent would be lost to a run that waits for it.
            while not listens(agent_socket):
                if (code := ended(processes)) is not None:
                    return code
                time.sleep(POLL_SECONDS)
        command = node_command(superlink, root_certificates, key, agent_socket)
        processes.append(subprocess.Popen(command, env=environment(home)))
        while (code := ended(processes)) is None:
            time.sleep(POLL_SECONDS)
        return code
    finally:
        end(processes)


def ended(processes: Sequence[subprocess.Popen[bytes]]) -> int | None:
    """Exit code of a process that has ended, if one has."""
    codes = [process.poll() for process in processes]
    return next((code for code in codes if code is not None), None)


def stop(_signal: int, _frame: FrameType | None) -> None:
    """Turn a request to end into an exception, so that both processes are ended."""
    raise KeyboardInterrupt


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End processes, the last one first: by a request, then by force."""
    for process in reversed(processes):
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def node_command(
    superlink: str, root_certificates: Path, key: Path, agent_socket: Path
) -> list[str]:
    """Spell out the SuperNode's settings.

    Examples
    --------
    >>> command = node_command("host:9092", Path("ca.crt"), Path("n.key"), Path("a.sock"))
    >>> command[1:5]
    ['--superlink', 'host:9092', '--root-certificates', 'ca.crt']
    """
    return [
        str(Path(sysconfig.get_path("scripts")) / "flower-supernode"),
        *("--superlink", superlink),
        *("--root-certificates", str(root_certificates)),
        *("--auth-supernode-private-key", str(key)),
        *("--node-config", f"agent={quoted(str(agent_socket.resolve()))}"),
        *("--host", "127.0.0.1"),  # where the app's process finds its node
        *("--port", str(free_port())),
    ]


def environment(home: Path) -> dict[str, str]:
    """Make Flower quiet, and let it find the programs that were installed with it."""
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])
    return os.environ | QUIET_ENVIRONMENT | {"FLWR_HOME": str(home.resolve()), "PATH": path}


def free_port() -> int:
    """Find a port of this machine that nobody listens on.

    Examples
    --------
    >>> 1024 <= free_port() < 65536
    True
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
