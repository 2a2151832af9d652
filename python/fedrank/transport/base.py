"""What every transport offers: one exchange at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Step:
    """One exchange: which run, which round, and one of `fedrank.secagg.STEPS`.

    Examples
    --------
    >>> Step(run=0, round=1, name="mask").name
    'mask'
    """

    run: int
    round: int
    name: str


@dataclass(frozen=True)
class Lost:
    """A client that gave no reply to a step, and why.

    Examples
    --------
    >>> Lost("refused").why
    'refused'
    """

    why: str


class Transport(Protocol):
    """What carries bytes between the server and the clients, and does nothing else."""

    def exchange(self, step: Step, requests: Mapping[int, bytes]) -> Mapping[int, bytes | Lost]:
        """Take requests to the clients, by roster index, and bring what became of them.

        A client that is missing in the reply gave none in time. The same step may be asked for
        again, with the same requests, after the driver was killed.
        """
        ...
