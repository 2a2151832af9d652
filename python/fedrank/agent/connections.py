"""Connections to the agent's socket: none of them, idle or slow, keeps another one waiting."""

import logging
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

MAX_CONNECTIONS = 16  # at once
MAX_REQUEST_BYTES = 1 << 24
FIRST_BYTE_SECONDS = 2.0  # that a connected process may take to begin its request
LOG_SECONDS = 10.0  # between two lines about connections that were pushed out
REQUEST_SECONDS = 10.0  # that it may take for all of it, and again for the reply
PART_BYTES, PARTS = 1 << 16, 16  # that are read of one connection before the others' turn

log = logging.getLogger("fedrank.agent")


@dataclass(eq=False)
class Connection:
    """One connection: first its request is read, then the reply is written.

    Attributes
    ----------
    socket : socket.socket
        Which does not block.
    end : float
        When its time is over.
    used : float
        When it last sent or took something, or came.
    sent : int
        How many bytes it has sent.
    request : bytearray
        What was read so far.
    reply : memoryview or None
        What is left to be written, once the request was answered.
    """

    socket: socket.socket
    end: float
    used: float
    sent: int = 0
    request: bytearray = field(default_factory=bytearray)
    reply: memoryview | None = None


class Connections:
    """The connections of a listening socket; all work is done in `turn`.

    Requests are answered one at a time, in the order in which they are complete. Where there are
    too many connections, one goes that has sent nothing, or else the one that has sent least: what
    was read of a long request is lost last, and whoever holds connections pushes out its own.

    Parameters
    ----------
    server : socket.socket
        Which listens.
    respond : callable
        Makes the reply to a request.
    clock : callable
        Tells the time, in seconds.

    Examples
    --------
    >>> from fedrank.agent.connections import Connections
    >>> import tempfile
    >>> with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as asker:
    ...     place = tempfile.mkdtemp() + "/a.sock"
    ...     server.bind(place)
    ...     server.listen()
    ...     asker.connect(place)
    ...     asker.sendall(b"hello")
    ...     asker.shutdown(socket.SHUT_WR)
    ...     found = Connections(server, bytes.upper)
    ...     while found.turn(most=1.0) or found.open:
    ...         pass
    ...     asker.recv(10)
    b'HELLO'
    """

    def __init__(
        self,
        server: socket.socket,
        respond: Callable[[bytes], bytes],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server, self.respond, self.clock = server, respond, clock
        self.open: list[Connection] = []
        self._pushed, self._told = 0, -LOG_SECONDS  # out; when it was logged
        server.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(server, selectors.EVENT_READ)

    def close(self) -> None:
        """Let go of all connections; the listening socket is its owner's to close."""
        for connection in list(self.open):
            self.drop(connection)
        self._selector.close()

    def turn(self, most: float | None = None) -> bool:
        """Wait until something can be done, and do it; tell whether a connection came.

        Parameters
        ----------
        most : float, optional
            Seconds to wait at most; by default until something happens.
        """
        waits = [connection.end - self.clock() for connection in self.open]
        waits += [] if most is None else [most]
        ready = self._selector.select(max(0.0, min(waits)) if waits else None)
        for key, _ in ready:
            if key.data is not None and key.data in self.open:
                self.serve(key.data)
        for connection in list(self.open):
            if self.clock() >= connection.end:
                log.warning("a connection was idle for too long")
                self.drop(connection)
        # One at a time, after the others: a request that has come is read before many that have
        # not can push it out.
        return any(key.data is None for key, _ in ready) and self.accept()

    def accept(self) -> bool:
        """Take one connection."""
        try:
            accepted, _ = self.server.accept()
        except (BlockingIOError, ConnectionError):  # it has gone again
            return False
        if len(self.open) >= MAX_CONNECTIONS:
            self.push_out(min(self.open, key=lambda each: (each.sent, each.used)))
        accepted.setblocking(False)
        now = self.clock()
        connection = Connection(accepted, end=now + FIRST_BYTE_SECONDS, used=now)
        self.open.append(connection)
        self._selector.register(accepted, selectors.EVENT_READ, connection)
        return True

    def push_out(self, connection: Connection) -> None:
        """Close a connection for want of room; whoever makes many cannot fill the log."""
        self.drop(connection)
        self._pushed += 1
        if self.clock() >= self._told + LOG_SECONDS:
            text = "there are more than %d connections: %d were pushed out"
            log.warning(text, MAX_CONNECTIONS, self._pushed)
            self._pushed, self._told = 0, self.clock()

    def serve(self, connection: Connection) -> None:
        """Read or write as much as can be at once."""
        try:
            connection.used = self.clock()
            if connection.reply is None:
                self.read(connection)
            else:
                self.write(connection, connection.reply)
        except BlockingIOError:
            pass
        except OSError as error:  # the other side has gone
            log.warning("a connection was lost: %s", error)
            self.drop(connection)

    def read(self, connection: Connection) -> None:
        """Read a part of a request; answer it if it is complete."""
        for _ in range(PARTS):
            part = connection.socket.recv(PART_BYTES)
            if not part:
                break
            if not connection.request:
                connection.end = self.clock() + REQUEST_SECONDS
            connection.request += part
            connection.sent += len(part)
            if len(connection.request) > MAX_REQUEST_BYTES:
                raise OSError(f"a request is longer than {MAX_REQUEST_BYTES} bytes")
        else:
            return
        if not connection.request:  # some only look whether we are there
            self.drop(connection)
            return
        before = self.clock()
        reply = memoryview(self.respond(bytes(connection.request)))
        spent = self.clock() - before
        for each in self.open:  # which could not be served meanwhile
            each.end += spent
        connection.request.clear()
        connection.end = self.clock() + REQUEST_SECONDS
        self._selector.modify(connection.socket, selectors.EVENT_WRITE, connection)
        self.write(connection, reply)

    def write(self, connection: Connection, reply: memoryview) -> None:
        """Write a part of a reply."""
        connection.reply = reply
        connection.reply = reply[connection.socket.send(reply) :]
        if not connection.reply:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Close a connection."""
        self.open.remove(connection)
        self._selector.unregister(connection.socket)
        with suppress(OSError):
            connection.socket.close()
