"""A round under way, as the driver sees it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank.exceptions import ProtocolError
from fedrank.protocol.plain import PlainServer
from fedrank.protocol.result import RoundResult
from fedrank.protocol.secagg import STEPS, Server
from fedrank.protocol.study import Round


@dataclass
class Running:
    """A round under way: its server, the step that comes next, and what it cost so far."""

    round: Round
    server: Server | PlainServer
    requests: dict[int, bytes]
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    step: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the round, in turn."""
        return self.round.steps if isinstance(self.server, Server) else STEPS

    @property
    def opening(self) -> str:
        """The step whose requests name the survivors: what clients agree to there is final."""
        return self.steps[self.steps.index("mask") + 1]

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time spent inside the block to `seconds`, under this name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def survivors(self) -> list[int]:
        """Return the clients that the present requests are about to open a sum over.

        Raises
        ------
        ProtocolError
            If the requests do not say so, each of them.
        """
        asked = sorted(self.requests)
        if isinstance(self.server, Server):
            for request in self.requests.values():
                if _core.survivors_of(request) != asked:
                    raise ProtocolError("the requests name other survivors than are asked", "list")
        return asked

    def result(self, survivors: list[int]) -> RoundResult:
        """Return what the round came to."""
        return RoundResult(
            self.round, survivors, self.up, self.down, self.seconds, self.server.faults
        )
