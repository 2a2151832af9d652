"""Secure aggregation: the exact sum of the survivors' messages, and nothing else (M9, M10).

Two state machines, bytes in and bytes out, that know nothing of rankings or networks. In every
round, each client calls `Client.advertise`, `Client.share`, `Client.mask` and `Client.unmask` in
turn, each on what the server's `Server.close_step` made for it. If the clients have identities,
`Client.confirm` comes before `Client.unmask`. ``docs/protocol.md`` says what is in the messages
and who learns what. All secrets come from the operating system.

The driver (`fedrank.conduct`) opens each round over one set of survivors only, and over at least
`MIN_SURVIVORS` of them; the agent checks the same again. If you use these classes without the
driver and without an agent, then your code must check both.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._validation import whole
from fedrank.exceptions import InputError, ProtocolError
from fedrank.protocol.identity import Identity
from fedrank.protocol.study import Round
from fedrank.schemes.base import as_message

__all__ = [
    "MIN_SURVIVORS",
    "SIGNED_STEPS",
    "STEPS",
    "Begin",
    "Client",
    "ProtocolError",
    "Server",
]

STEPS: tuple[str, ...] = _core.STEPS
"""The steps of a round without identities, in turn."""

SIGNED_STEPS: tuple[str, ...] = _core.SIGNED_STEPS
"""The steps of a round with identities, in turn."""

MIN_SURVIVORS: int = _core.MIN_SURVIVORS
"""Fewest clients whose sum may be opened: a sum over two shows each the other's message."""

Begin = _core.SecaggBegin
"""What a server opens a round with. ``Begin.open(message, me)`` reads it, and refuses with a
`ProtocolError` what it does not describe truly; ``begin.session()`` is the session of a client."""


class Client:
    """One client in one round.

    Steps run in order. The same request again gives the same bytes; a different one is
    refused, and a refused call changes nothing.

    Parameters
    ----------
    round : Round
        What is asked for: ``study.round(0)``, or a later round.
    me : int
        This client's index in the roster.
    session : bytes
        The session, from what the server opened the round with; see `Begin`.
    identity : Identity, optional
        This client's identity, if the clients of the round have one.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> round = Study(Borda(n=2, clients=2)).round(0)
    >>> server = Server(round)
    >>> clients = [Client(round, me, server.session) for me in range(2)]
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

    __slots__ = ("_client", "_signer", "round")

    def __init__(
        self, round: Round, me: int, session: bytes, identity: Identity | None = None
    ) -> None:
        self.round = round
        self._signer = signer(identity)
        self._client = _core.SecaggClient(*parameters(round), whole("me", me, least=0), session)

    @property
    def session(self) -> bytes:
        """The session: a hash of the round, the server's nonce and the run."""
        return self._client.session()

    def advertise(self) -> bytes:
        """Step 1: this client's public keys."""
        return self._client.advertise()

    def share(self, keys: bytes) -> bytes:
        """Step 2: shares of this client's secrets, for every client whose keys are given."""
        return self._client.share(keys, self._signer)

    def mask(self, shares: bytes, message: ArrayLike) -> bytes:
        """Step 3: the message, masked."""
        return self._client.mask(shares, as_message(message))

    def confirm(self, survivors: bytes) -> bytes:
        """Step 4 with identities: a signature over who shared and who survived.

        One list of survivors is confirmed; another is refused.
        """
        if self._signer is None:
            raise ProtocolError("this client cannot sign: it has no identity", "signer")
        return self._client.confirm(survivors, self._signer)

    def unmask(self, request: bytes) -> bytes:
        """Last step: one share for every client, of one of its two secrets.

        With identities the request is what clients confirmed; otherwise, the survivors.
        """
        return self._client.unmask(request)

    def check_confirmed(
        self, survivors: Sequence[int], confirmations: Sequence[tuple[int, bytes]]
    ) -> None:
        """Check that clients confirmed the survivors of this round; for those that missed it.

        A survivor that was not asked to `confirm` may take part in the next round if this
        succeeds. It changes nothing.

        Raises
        ------
        ProtocolError
            Unless as many survivors as the threshold signed what this client saw, too.
        """
        self._client.check_confirmed(list(survivors), list(confirmations))

    def state(self) -> bytes:
        """Everything that another process needs to go on.

        It holds secrets: keep it private. Use it once: two processes that go on from one state can
        be made to give both secrets of a client. Save the new state before the reply leaves, then
        delete the old one.

        Examples
        --------
        >>> from fedrank import Borda, Study
        >>> round = Study(Borda(n=2, clients=2)).round(0)
        >>> client = Client(round, 0, Server(round).session)
        >>> Client.resume(round, client.state()).advertise() == client.advertise()
        True
        """
        return self._client.state()

    @classmethod
    def resume(cls, round: Round, state: bytes, identity: Identity | None = None) -> "Client":
        """Go on from a `state`, which does not hold the identity.

        Raises
        ------
        ProtocolError
            If it is damaged, or of another version, study or round.
        """
        client = cls.__new__(cls)
        client.round = round
        client._signer = signer(identity)
        client._client = _core.SecaggClient.resume(*parameters(round), state)
        return client

    def __repr__(self) -> str:
        return f"Client in {self.round!r}"


class Server:
    """The server in one round: collects, relays, and learns the sum.

    Parameters
    ----------
    round : Round
        What is asked for.
    run : int
        Number of the run. Each round of each run is a session of its own.

    Examples
    --------
    See `Client`, which shows a whole round.
    """

    __slots__ = ("_server", "round")

    def __init__(self, round: Round, run: int = 0) -> None:
        self.round = round
        run = whole("run", run, least=0, most=2**64 - 1)
        self._server = _core.SecaggServer(*parameters(round), run)

    @property
    def run(self) -> int:
        """Number of the run."""
        return self._server.run()

    @property
    def nonce(self) -> bytes:
        """32 random bytes that make the session unlike any other."""
        return self._server.nonce()

    @property
    def session(self) -> bytes:
        """The session: a hash of the round, the nonce and the run."""
        return self._server.session()

    @property
    def confirmations(self) -> list[tuple[int, bytes]]:
        """Clients that confirmed the survivors, with their signatures, for the next round.

        As many as the threshold, after the step ``confirm``; none before it, or without
        identities.
        """
        return self._server.confirmations()

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
        """End the step; every client that has not been heard has dropped out.

        Returns
        -------
        messages : dict of int to bytes
            What to send to which client next; empty after the last step.

        Raises
        ------
        ProtocolError
            If fewer clients than the threshold are left.
        """
        return self._server.close_step()

    def result(self) -> tuple[NDArray[np.uint64], list[int]]:
        """Return the sum, and the clients whose messages are in it, after the last step."""
        return self._server.result()

    @property
    def faults(self) -> list[tuple[int, str]]:
        """Clients that sent something wrong, each with a fixed code."""
        return self._server.faults()

    def state(self) -> bytes:
        """Everything that another process needs to go on; it then sends the same bytes.

        It holds shares of the clients' masks, though no client's message: keep it private.

        Examples
        --------
        >>> from fedrank import Borda, Study
        >>> round = Study(Borda(n=2, clients=2)).round(0)
        >>> server = Server(round)
        >>> for me in range(2):
        ...     server.receive(me, Client(round, me, server.session).advertise())
        >>> Server.resume(round, server.state()).close_step() == server.close_step()
        True
        """
        return self._server.state()

    @classmethod
    def resume(cls, round: Round, state: bytes) -> "Server":
        """Go on from a `state`.

        Raises
        ------
        ProtocolError
            If it is damaged, or of another version, study or round.
        """
        server = cls.__new__(cls)
        server.round = round
        server._server = _core.SecaggServer.resume(*parameters(round), state)
        return server

    def __repr__(self) -> str:
        return f"Server in {self.round!r}"


def signer(identity: Identity | None) -> _core.Identity | None:
    """Reduce an identity to the keys that sign."""
    return None if identity is None else identity._core


@lru_cache(maxsize=16)
def roster_of(identities: tuple[str, ...]) -> _core.Roster:
    """Read the public lines of a study's clients, once."""
    return _core.Roster(identities)


def parameters(round: Round) -> tuple[bytes, int, int, int, _core.Scheme, _core.Roster]:
    """Reduce a round to what the core must know of it."""
    if not isinstance(round, Round):
        kind = type(round).__name__  # not its value: swapped arguments may be secrets
        raise InputError(
            f"must be a Round, which study.round gives, not {kind}", parameter="round", value=round
        )
    return (
        bytes.fromhex(round.digest),
        round.clients,
        round.threshold,
        round.number,
        round.scheme._core_scheme,
        roster_of(round.identities),
    )
