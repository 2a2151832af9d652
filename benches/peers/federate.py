"""A whole federated round in process, on all cores: seconds by stage, no peer."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

import fedrank as fr

from .harness import Clock, sampled, spell
from .secagg import STEPS

SAMPLES = 50  # rankings per client


@dataclass
class Stages:
    """One line of the table: seconds by stage, of all clients together; "mask" encodes too."""

    columns: ClassVar = [
        *("federate", "whole", *STEPS),
        *("server", "decode", "rest"),
    ]
    name: str
    whole: float
    seconds: dict[str, float]
    met: ClassVar = None

    def cells(self) -> list[str]:
        clients = [self.seconds[each] for each in STEPS]
        server = sum(self.seconds["server " + each] for each in STEPS)
        decode = self.seconds["decode"]
        rest = self.whole - sum(clients) - server - decode
        return [self.name, *map(spell, (self.whole, *clients, server, decode, rest))]


def run(clock: Clock) -> Iterator[Stages]:
    for clients in (10,) if clock.quick else (10, 50, 100):
        data = sampled(0.6, m=SAMPLES * clients).split(clients, rng=1)
        for name in ("borda", "lehmer"):
            whole, stages = np.inf, {}
            for _ in range(clock.turns()):
                start = perf_counter()
                result = fr.federate(data, name, rng=1)
                seconds = perf_counter() - start
                if seconds < whole:
                    whole, stages = seconds, result.seconds
            yield Stages(f"{name}, {clients} clients", whole, stages)
