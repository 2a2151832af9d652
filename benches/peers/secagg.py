"""All that one client computes in a session, beside flwr's secaggplus."""

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from time import perf_counter

import numpy as np

import fedrank as fr
from fedrank.protocol.study import Round

from .harness import Clock, N, Row, against

STEPS = fr.secagg.STEPS
SIGNED_TARGET = 0.66  # with identities a client takes at most 1.5 times as long


def run(clock: Clock) -> Iterator[Row]:
    if find_spec("flwr") is None:
        return
    os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
    from . import flwr_client  # noqa: PLC0415 - needs flwr

    generator = np.random.default_rng(1)
    for clients, turns in ((10, 7), (50, 3), (100, 3)):
        if clock.quick and clients > 10:
            break
        round = fr.Study(fr.Borda(N, clients)).round(0)
        identities = [fr.Identity.generate() for _ in range(clients + 1)]
        names = map(str, range(clients))
        signed = fr.Study(
            fr.Borda(N, clients),
            roster=dict(zip(names, identities, strict=False)),
            coordinator=identities[-1].public,
        ).round(0)
        bits = round.scheme.segments[0].bits
        messages = generator.integers(N, size=(clients, N)).astype(np.uint64)
        keys = flwr_client.public_keys(clients)
        vector = messages[0].astype(np.int64)
        flwr_client.check(bits)
        ours, theirs = np.full(4, np.inf), np.full(4, np.inf)
        whole, vouched = [np.inf, np.inf], np.inf
        for _ in range(clock.turns(turns)):
            # Every client of ours does the same work; the median stands for them.
            seconds = session(round, messages)[1]
            ours = np.minimum(ours, np.median(seconds, axis=0))
            whole[0] = min(whole[0], float(np.median(seconds.sum(axis=1))))
            seconds = session(signed, messages, identities)[1]
            vouched = min(vouched, float(np.median(seconds.sum(axis=1))))
            other = flwr_client.steps(vector, bits, keys, round.threshold)
            theirs = np.minimum(theirs, other)
            whole[1] = min(whole[1], sum(other))
        yield against(
            f"one client of {clients}, {bits} bits per entry · flwr secaggplus", *whole, 20
        )
        name = f"one client of {clients} with identities · without"
        yield against(name, vouched, whole[0], SIGNED_TARGET if clients == 100 else None)
        for step, *pair in zip(STEPS, ours, theirs, strict=True):
            yield against(f"one client of {clients}, {step} · flwr secaggplus", *pair)


def session(
    round: Round, messages: np.ndarray, identities: Sequence[fr.Identity] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Run a session, one client after another: bytes and seconds of every client's steps."""
    server = fr.secagg.Server(round)
    clients: dict[int, fr.secagg.Client] = {}
    requests = dict.fromkeys(range(len(messages)), b"")
    sent = np.zeros((len(messages), len(round.steps)), dtype=np.int64)
    seconds = np.zeros(sent.shape)
    for step, name in enumerate(round.steps):
        for me, request in requests.items():
            start = perf_counter()
            if name == "advertise":
                identity = identities[me] if identities else None
                clients[me] = fr.secagg.Client(round, me, server.session, identity)
                reply = clients[me].advertise()
            elif name == "mask":
                reply = clients[me].mask(request, messages[me])
            else:
                reply = getattr(clients[me], name)(request)
            seconds[me, step] = perf_counter() - start
            sent[me, step] = len(reply)
            server.receive(me, reply)
        requests = server.close_step()
    assert np.array_equal(server.result()[0], messages.sum(axis=0, dtype=np.uint64))
    return sent, seconds
