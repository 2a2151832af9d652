"""Envelopes: what carries the messages of a signed study from machine to machine.

An envelope is signed by its sender, then sealed for its recipient. Whoever carries it can delay or
delete it, but neither read it nor speak for anybody. ``docs/protocol.md`` says what is in it.
"""

from collections.abc import Sequence

from fedrank import _core
from fedrank._core import EnvelopeHeader
from fedrank._validation import whole
from fedrank.exceptions import InputError, ProtocolError
from fedrank.protocol.identity import Identity, public_identity
from fedrank.protocol.study import Study

__all__ = [
    "COORDINATOR",
    "OVERHEAD",
    "EnvelopeHeader",
    "Envelopes",
    "check_session",
    "envelopes",
    "header",
]

COORDINATOR: int = _core.COORDINATOR
"""The coordinator, where a header names a client."""

OVERHEAD: int = _core.ENVELOPE_OVERHEAD
"""Bytes of an envelope beside its body."""

STEPS: tuple[str, ...] = _core.SIGNED_STEPS

TO_CLIENT, TO_SERVER = 0, 1  # the directions


class Envelopes:
    """The envelopes that one party of a signed study sends and opens.

    The coordinator exchanges envelopes with the clients, and each client with the coordinator.
    The same body for the same step is sealed to the same bytes, so nothing need be kept in order
    to send an envelope again. `open` accepts an envelope only for the step, the session and the
    round that the caller waits for. The caller must use the first one that it accepts from each
    sender for each step, and no other.

    Parameters
    ----------
    identity : Identity
        This party's private keys.
    me : int or None
        This client's index in the roster; None for the coordinator.
    identities : sequence of str
        The public lines of the clients, in the order of the roster.
    coordinator : str
        The public line of the coordinator.

    Raises
    ------
    ProtocolError
        If the study names another identity for this party; all methods raise it with the code
        ``"envelope"``.

    Examples
    --------
    >>> from fedrank.protocol.identity import Identity
    >>> driver, north, south = (Identity.generate() for _ in range(3))
    >>> study = [north.public, south.public], driver.public
    >>> at_driver, at_south = Envelopes(driver, None, *study), Envelopes(south, 1, *study)
    >>> round_digest, session = bytes(32), bytes(range(32))
    >>> keys = at_driver.seal(b"the keys", "share", round_digest, session, client=1)
    >>> at_south.open(keys, "share", round_digest, session)
    b'the keys'
    >>> at_south.open(keys, "mask", round_digest, session)
    Traceback (most recent call last):
        ...
    fedrank.exceptions.ProtocolError: an envelope from the coordinator is refused: it is for \
step 'share', not for step 'mask'
    """

    __slots__ = ("_identity", "coordinator", "identities", "me")

    def __init__(
        self, identity: Identity, me: int | None, identities: Sequence[str], coordinator: str
    ) -> None:
        self.identities = tuple(identities)
        self.coordinator = coordinator
        self.me = None if me is None else whole("me", me, 0, len(self.identities) - 1)
        self._identity = identity._core
        named = coordinator if self.me is None else self.identities[self.me]
        if identity.public != named:
            raise ProtocolError(
                f"the study names another identity for {party(self._id)}; this one has the "
                f"fingerprint {identity.fingerprint}",
                "envelope",
            )

    def seal(
        self, body: bytes, step: str, round_digest: bytes, session: bytes, client: int | None = None
    ) -> bytes:
        """Sign a message and seal it: for the coordinator, or as the coordinator for a client.

        Parameters
        ----------
        body : bytes
            The message.
        step : str
            The step that it is sent in.
        round_digest, session : bytes
            The digest of the round, and the session.
        client : int, optional
            The client that it is for. The coordinator gives it; a client does not.

        Examples
        --------
        >>> from fedrank.protocol.identity import Identity
        >>> driver, north = Identity.generate(), Identity.generate()
        >>> at_north = Envelopes(north, 0, [north.public], driver.public)
        >>> seal = lambda: at_north.seal(b"my keys", "advertise", bytes(32), bytes(32))
        >>> seal() == seal(), len(seal()) - len(b"my keys") == OVERHEAD
        (True, True)
        """
        other, line = self._other(client)
        direction = TO_CLIENT if self.me is None else TO_SERVER
        place = (direction, round_digest, session, index_of(step), self._id, other)
        return _core.envelope_seal(self._identity, line, *place, body)

    def open(
        self, blob: bytes, step: str, round_digest: bytes, session: bytes, client: int | None = None
    ) -> bytes:
        """Return the message in an envelope that was sealed for this party, here and now.

        Parameters
        ----------
        blob : bytes
            The envelope.
        step : str
            The step that is open.
        round_digest, session : bytes
            The digest of the round, and the session.
        client : int, optional
            The client that it must come from. The coordinator gives it; a client does not.

        Raises
        ------
        ProtocolError
            If it is of another direction, round, session or step, from or for somebody else, was
            changed, or is not signed by its sender.

        Examples
        --------
        >>> from fedrank.protocol.identity import Identity
        >>> driver, north = Identity.generate(), Identity.generate()
        >>> study = [north.public], driver.public
        >>> blob = Envelopes(north, 0, *study).seal(b"my keys", "advertise", bytes(32), bytes(32))
        >>> at_driver = Envelopes(driver, None, *study)
        >>> at_driver.open(blob, "advertise", bytes(32), bytes(32), client=header(blob).sender)
        b'my keys'
        """
        other, line = self._other(client)
        header = self._check(blob, step, other)
        check_session(header, round_digest, session)
        return self._open(blob, other, line)

    def open_begin(self, blob: bytes) -> tuple[EnvelopeHeader, bytes]:
        """Return the header of the envelope that begins a session, and the message in it.

        A client learns the session from this message. It must compare the header with what the
        message says, by `check_session`, before it uses either.

        Raises
        ------
        ProtocolError
            As `open`, except that the round and the session are not compared.

        Examples
        --------
        >>> from fedrank.protocol.identity import Identity
        >>> driver, north = Identity.generate(), Identity.generate()
        >>> study = [north.public], driver.public
        >>> at_driver, at_north = Envelopes(driver, None, *study), Envelopes(north, 0, *study)
        >>> blob = at_driver.seal(b"begin", "advertise", bytes(32), bytes(range(32)), client=0)
        >>> header, begin = at_north.open_begin(blob)
        >>> begin, header.session == bytes(range(32))
        (b'begin', True)
        """
        if self.me is None:
            raise ProtocolError("only a client opens the message that begins a session", "envelope")
        header = self._check(blob, STEPS[0], COORDINATOR)
        return header, self._open(blob, COORDINATOR, self.coordinator)

    def _other(self, client: int | None) -> tuple[int, str]:
        """Id and public line of the other party."""
        if self.me is not None:
            if client is not None:
                raise ProtocolError("a client has envelopes with the coordinator only", "envelope")
            return COORDINATOR, self.coordinator
        if client is None or not 0 <= client < len(self.identities):
            raise ProtocolError(f"client {client} is not on the roster", "envelope")
        return client, self.identities[client]

    def _check(self, blob: bytes, step: str, sender: int) -> EnvelopeHeader:
        """Compare what an envelope says outside with what is waited for."""
        found = header(blob)
        if found.direction != (TO_SERVER if self.me is None else TO_CLIENT):
            raise refused(found.sender, "it goes in the other direction")
        if found.recipient != self._id:
            raise refused(found.sender, f"it is for {party(found.recipient)}")
        if found.sender != sender:
            raise refused(found.sender, f"one from {party(sender)} was expected")
        if found.step != index_of(step):
            problem = f"it is for step {STEPS[found.step]!r}, not for step {step!r}"
            raise refused(found.sender, problem)
        return found

    def _open(self, blob: bytes, sender: int, line: str) -> bytes:
        try:
            return _core.envelope_open(self._identity, line, blob)[1]
        except ProtocolError as error:
            problem = error.problem.removeprefix(PREFIX)
            raise refused(sender, problem) from None

    @property
    def _id(self) -> int:
        return COORDINATOR if self.me is None else self.me

    def __repr__(self) -> str:
        return f"Envelopes of {party(self._id)}"  # never the keys


def envelopes(study: Study, me: int | None, identity: Identity | None) -> Envelopes | None:
    """Return the envelopes of one party of a study, or None if the study names no identities.

    Parameters
    ----------
    study : Study
        What the parties agree on.
    me : int or None
        This client's index in the roster; None for the coordinator.
    identity : Identity or None
        This party's private keys.

    Raises
    ------
    InputError
        If the study names identities and this is not the party's, or it names none.

    Examples
    --------
    >>> from fedrank import Borda
    >>> envelopes(Study(Borda(n=3, clients=3)), 0, None) is None
    True
    """
    if study.identities is None or study.coordinator is None:
        if identity is None:
            return None
        raise InputError(
            "is for studies with identities, and this study names none",
            parameter="identity",
            remedy="leave it out, or make the study with the parties' public lines",
        )
    named = study.coordinator if me is None else study.identities[me]
    who = "coordinator" if me is None else study.roster[me]
    if identity is None:
        raise InputError(
            f"is missing: the study names identities; pass that of {who}", parameter="identity"
        )
    if identity.public != named:
        raise InputError(
            f"has the fingerprint {identity.fingerprint}, but in the study {who} has "
            f"{public_identity(named).fingerprint}",
            parameter="identity",
        )
    return Envelopes(identity, me, study.identities, study.coordinator)


PREFIX = "this envelope is refused: "  # as the core begins


def header(blob: bytes) -> EnvelopeHeader:
    """Return what is written on an envelope, to find out whose it is and where it belongs.

    Nothing proves it until the envelope is opened.

    Raises
    ------
    ProtocolError
        If it is not an envelope.

    Examples
    --------
    >>> header(b"a letter")
    Traceback (most recent call last):
        ...
    fedrank.exceptions.ProtocolError: this envelope is refused: it is too short
    """
    return _core.envelope_header(blob)


def check_session(header: EnvelopeHeader, round_digest: bytes, session: bytes) -> None:
    """Refuse an envelope of another round or session.

    Raises
    ------
    ProtocolError
        If the header names another round or session.

    Examples
    --------
    >>> from fedrank.protocol.identity import Identity
    >>> driver, north = Identity.generate(), Identity.generate()
    >>> at_north = Envelopes(north, 0, [north.public], driver.public)
    >>> blob = at_north.seal(b"my keys", "advertise", bytes(32), bytes(32))
    >>> check_session(header(blob), bytes(32), bytes(range(32)))
    Traceback (most recent call last):
        ...
    fedrank.exceptions.ProtocolError: an envelope from client 0 is refused: it is of another session
    """
    if header.round_digest != round_digest:
        raise refused(header.sender, "it is of another study or round")
    if header.session != session:
        raise refused(header.sender, "it is of another session")


def index_of(step: str) -> int:
    """Return the number of a step, as it is written in a header.

    Examples
    --------
    >>> index_of("confirm")
    3
    """
    if step not in STEPS:
        raise ProtocolError(f"there is no step {step!r}", "envelope")
    return STEPS.index(step)


def party(number: int) -> str:
    """Return the name of a party.

    Examples
    --------
    >>> party(COORDINATOR), party(2)
    ('the coordinator', 'client 2')
    """
    return "the coordinator" if number == COORDINATOR else f"client {number}"


def refused(sender: int, problem: str) -> ProtocolError:
    """Return the error for an envelope that says it comes from a sender.

    Examples
    --------
    >>> print(refused(2, "it goes in the other direction"))
    an envelope from client 2 is refused: it goes in the other direction
    """
    return ProtocolError(f"an envelope from {party(sender)} is refused: {problem}", "envelope")
