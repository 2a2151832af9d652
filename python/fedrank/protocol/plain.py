"""The steps of a round without masks, for experiments: the same sum, and nothing hidden."""

import numpy as np
from numpy.typing import NDArray

from fedrank.exceptions import ProtocolError
from fedrank.protocol.secagg import STEPS
from fedrank.protocol.study import Round


class PlainServer:
    """Sums messages in the clear, step by step as `fedrank.secagg.Server` sums masked ones.

    Only the step "mask" carries anything: the packed message. There is no threshold.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> round = Study(Borda(n=2, clients=2)).round(0)
    >>> server = PlainServer(round)
    >>> for step in STEPS:
    ...     for client in range(2):
    ...         server.receive(client, round.scheme.pack([0, 1]) if step == "mask" else b"")
    ...     _ = server.close_step()
    >>> server.result()
    (array([0, 2], dtype=uint64), [0, 1])
    """

    def __init__(self, round: Round) -> None:
        self.round = round
        self.nonce = self.session = bytes(32)  # there are no keys that they could separate
        self.confirmations: list[tuple[int, bytes]] = []
        self.faults: list[tuple[int, str]] = []
        self._step = 0
        self._heard: set[int] = set()
        self._survivors: list[int] = []
        entries = sum(segment.entries for segment in round.scheme.segments)
        self._total = np.zeros(entries, dtype=np.uint64)

    def receive(self, sender: int, message: bytes) -> None:
        """Take a message.

        Raises
        ------
        ProtocolError
            If it does not have the length of the scheme's messages.
        """
        if STEPS[self._step] == "mask":
            try:
                self._total += self.round.scheme.unpack(message)
            except ValueError as error:
                self.faults.append((sender, "malformed"))
                raise ProtocolError(f"client {sender}: {error}", "malformed") from None
        self._heard.add(sender)

    def close_step(self) -> dict[int, bytes]:
        """End the step; every client that has not been heard has dropped out.

        Raises
        ------
        ProtocolError
            If every client has dropped out before its message came.
        """
        if STEPS[self._step] == "mask":
            self._survivors = sorted(self._heard)
            if not self._survivors:
                raise ProtocolError("every client dropped out: there is nothing to sum", "few")
        requests = dict.fromkeys(sorted(self._heard), b"")
        self._heard = set()
        self._step += 1
        return requests if self._step < len(STEPS) else {}

    def result(self) -> tuple[NDArray[np.uint64], list[int]]:
        """Return the sum, and the clients whose messages are in it."""
        return self._total, self._survivors
