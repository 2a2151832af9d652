"""Secure aggregation: the exact sum of the survivors' messages, and nothing else (M9, M10).

Two state machines, bytes in and bytes out, that know nothing of rankings or networks. The
steps: every client calls `advertise`, `share`, `mask`, `unmask` in turn, each time on what
the server's `close_step` made for it. ``docs/protocol.md`` says what is in the messages and
who learns what. All secrets come from the operating system.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._validation import whole
from fedrank.exceptions import ProtocolError
from fedrank.protocol.study import Study
from fedrank.schemes.base import as_message

__all__ = ["Client", "ProtocolError", "Server"]

STATE = b"fedrank client state 1\n"


class Client:
    """One client in one session.

    Steps run in order. The same request again gives the same bytes; a different one is
    refused, and a refused call changes nothing.

    Parameters
    ----------
    study : Study
        What all parties agree on.
    me : int
        This client's index in the roster.
    round : int
        Which round of the study this is; clients of different rounds refuse each other.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> study = Study(Borda(n=2, clients=2))
    >>> clients, server = [Client(study, 0), Client(study, 1)], Server(study)
    >>> for me, client in enumerate(clients):
    ...     server.receive(me, client.advertise())
    >>> for me, keys in server.close_step().items():
    ...     server.receive(me, clients[me].share(keys))
    >>> for me, shares in server.close_step().items():
    ...     server.receive(me, clients[me].mask(shares, [1, 0]))
    >>> for me, survivors in server.close_step().items():
    ...     server.receive(me, clients[me].unmask(survivors))
    >>> server.close_step()
    {}
    >>> server.result()
    (array([2, 0], dtype=uint64), [0, 1])
    """

    __slots__ = ("_client", "round", "study")

    def __init__(self, study: Study, me: int, round: int = 0) -> None:
        self.study = study
        self.round = whole("round", round, least=0, most=2**32 - 1)
        self._client = _core.SecaggClient(*parameters(study, self.round), whole("me", me, least=0))

    def advertise(self) -> bytes:
        """Step 1: this client's public keys."""
        return self._client.advertise()

    def share(self, keys: bytes) -> bytes:
        """Step 2: shares of this client's secrets, for everybody whose keys are given."""
        return self._client.share(keys)

    def mask(self, shares: bytes, message: ArrayLike) -> bytes:
        """Step 3: the message, masked."""
        return self._client.mask(shares, as_message(message))

    def unmask(self, survivors: bytes) -> bytes:
        """Step 4: one share for everybody, of one of its two secrets."""
        return self._client.unmask(survivors)

    def state(self) -> bytes:
        """Everything to go on with in another process.

        It holds secrets: keep it as such. Use it once: two processes that go on from one state can
        be made to give both secrets of a client. Save the new state before the reply leaves, then
        delete the old one.

        Examples
        --------
        >>> from fedrank import Borda, Study
        >>> client = Client(Study(Borda(n=2, clients=2)), me=0)
        >>> state = client.state()
        >>> Client.resume(state).advertise() == client.advertise()
        True
        """
        study = self.study.to_json().encode()
        head = self.round.to_bytes(4, "little") + len(study).to_bytes(4, "little")
        return STATE + head + study + self._client.state()

    @classmethod
    def resume(cls, state: bytes) -> "Client":
        """Go on from a `state`.

        Raises
        ------
        ValueError
            If it is not a state of this version, or damaged.
        """
        if not state.startswith(STATE) or len(state) < len(STATE) + 8:
            raise ValueError("this is not the state of a client, or of another version")
        head = state[len(STATE) : len(STATE) + 8]
        study_bytes = int.from_bytes(head[4:], "little")
        rest = state[len(STATE) + 8 :]
        try:
            study = Study.from_json(rest[:study_bytes].decode())
        except UnicodeDecodeError:
            raise ValueError("the state of the client is damaged") from None
        client = cls.__new__(cls)
        client.study = study
        client.round = int.from_bytes(head[:4], "little")
        client._client = _core.SecaggClient.resume(
            *parameters(study, client.round), rest[study_bytes:]
        )
        return client

    def __repr__(self) -> str:
        return f"Client of {self.study!r}"


class Server:
    """The server in one session: collects, relays, and learns the sum.

    Parameters
    ----------
    study : Study
        What all parties agree on.
    round : int
        Which round of the study this is.

    Examples
    --------
    See `Client`, which shows a whole session.
    """

    __slots__ = ("_server", "round", "study")

    def __init__(self, study: Study, round: int = 0) -> None:
        self.study = study
        self.round = whole("round", round, least=0, most=2**32 - 1)
        self._server = _core.SecaggServer(*parameters(study, self.round))

    def receive(self, sender: int, message: bytes) -> None:
        """Take a message; the sender is known from the transport.

        Raises
        ------
        ProtocolError
            If it is malformed, foreign, late or out of order; it then harms nobody else.
            Identical duplicates are ignored.
        """
        self._server.receive(whole("sender", sender, least=0), message)

    def close_step(self) -> dict[int, bytes]:
        """End the step; whoever has not been heard has dropped out.

        Returns
        -------
        messages : dict of int to bytes
            What to send to whom next; empty after the last step.

        Raises
        ------
        ProtocolError
            If fewer than the threshold are left.
        """
        return self._server.close_step()

    def result(self) -> tuple[NDArray[np.uint64], list[int]]:
        """Tell the sum and whose messages are in it, after the last step."""
        return self._server.result()

    @property
    def faults(self) -> list[tuple[int, str]]:
        """Clients that sent something wrong, each with a fixed code."""
        return self._server.faults()

    def __repr__(self) -> str:
        return f"Server of {self.study!r}"


def parameters(study: Study, round: int) -> tuple[bytes, int, int, int, _core.Scheme]:
    """Reduce a study to what the core must know of it."""
    if not isinstance(study, Study):
        raise ValueError(f"study must be a Study, not {study!r}")
    return (
        bytes.fromhex(study.digest),
        len(study.roster),
        study.threshold,
        round,
        study.scheme._core_scheme,
    )
