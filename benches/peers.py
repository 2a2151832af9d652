"""Measure fedrank beside its peers, and write what is found to benches/README.md.

    python benches/peers.py [--quick] [--only NAME]

Ours and the peer take turns in one process and the best turn of each counts, so what else
the machine does falls on both. ``--quick`` takes few turns and skips the largest inputs;
with it, or with ``--only``, README.md is left as it is.
"""

import argparse
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import combinations, pairwise
from math import ceil, log, log2
from pathlib import Path
from time import perf_counter
from typing import ClassVar

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.stats
from rich.console import Console
from rich.table import Table

import fedrank as fr

HERE = Path(__file__).parent
N, M = 978, 501
CENTER = fr.Rankings(np.arange(N))
CONSOLE = Console()
QUICK = False
STEPS = ("advertise", "share", "mask", "unmask")


@dataclass
class Row:
    """One line of the results: the ratio is the peer's cost over ours."""

    columns: ClassVar = ["ours · peer or limit", "ours", "peer", "ratio", "target", "met"]
    name: str
    ours: str
    peer: str
    ratio: float
    target: float | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.ratio >= self.target

    def cells(self) -> list[str]:
        digits = 0 if self.ratio >= 100 else 1 if self.ratio >= 10 else 2
        target = "" if self.target is None else f"≥ {self.target:g}"
        met = {None: "", True: "yes", False: "**no**"}[self.met]
        return [self.name, self.ours, self.peer, f"{self.ratio:,.{digits}f}", target, met]


@dataclass
class Stages:
    """A whole federated round: seconds by stage, no peer."""

    columns: ClassVar = [
        *("federate", "whole", "encode", "advertise", "share", "mask", "unmask"),
        *("server", "decode", "rest"),
    ]
    name: str
    whole: float
    seconds: dict[str, float]
    met: ClassVar = None

    def cells(self) -> list[str]:
        clients = [self.seconds[each] for each in ("encode", *STEPS)]
        server = sum(self.seconds["server " + each] for each in STEPS)
        decode = self.seconds["decode"]
        rest = self.whole - sum(clients) - server - decode
        return [self.name, *map(spell, (self.whole, *clients, server, decode, rest))]


@dataclass
class Size:
    """Bytes that a client sends, beside the paper's formulas and the rankings themselves."""

    columns: ClassVar = [
        *("message", "entries", "masked input", "all four", "paper: algorithm"),
        *("paper: theorem", "raw rankings", "raw / all four"),
    ]
    name: str
    entries: int
    masked: int
    sent: int
    algorithm: float
    theorem: float | None
    raw: float
    met: ClassVar = None

    def cells(self) -> list[str]:
        bits = [self.algorithm, self.theorem, self.raw]
        formulas = ["" if each is None else f"{ceil(each / 8):,}" for each in bits]
        sizes = [f"{each:,}" for each in (self.entries, self.masked, self.sent)]
        return [self.name, *sizes, *formulas, f"{self.raw / 8 / self.sent:.2f}"]


def race(
    ours: Callable[[], object], peer: Callable[[], object], turns: int = 7
) -> tuple[float, float]:
    """Best time of each, in seconds; they take turns of equal length."""
    ours_best, peer_best = relay([ours, peer], turns)
    return ours_best, peer_best


def relay(calls: list[Callable[[], object]], turns: int = 7) -> list[float]:
    """Do as `race` does, with any number of calls."""
    best = [np.inf] * len(calls)
    for _ in range(2 if QUICK else turns):
        for side, call in enumerate(calls):
            end = perf_counter() + (0.02 if QUICK else 0.15)
            while True:
                start = perf_counter()
                call()
                best[side] = min(best[side], perf_counter() - start)
                if perf_counter() > end:
                    break
    return best


def against(name: str, ours: float, peer: float, target: float | None = None) -> Row:
    return Row(name, spell(ours), spell(peer), peer / ours, target)


def spell(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def sampled(phi: float, m: int = M, n: int = N) -> fr.Rankings:
    return fr.Mallows(phi, n=n).sample(m, rng=1)


# Kernels


def kendall() -> Iterator[Row]:
    rankings = sampled(0.9)
    ranks, center = rankings.ranks, CENTER.ranks[0]

    def by_loop() -> list[float]:
        tau = scipy.stats.kendalltau
        return [tau(row, center, method="asymptotic").statistic for row in ranks]

    def by_axis() -> np.ndarray:
        tau = scipy.stats.kendalltau
        return tau(ranks, center[None], axis=1, method="asymptotic").statistic

    pairs = N * (N - 1) / 2
    distances = fr.kendall_distance(rankings, CENTER)[:, 0]
    peers = {"by loop": by_loop}
    if np.shape(by_axis()) == (M,):  # older versions ravel
        peers["by axis"] = by_axis
    for peer in peers.values():
        assert np.allclose((1 - np.array(peer())) / 2 * pairs, distances)
    times = {k: race(lambda: fr.kendall_distance(rankings, CENTER), f) for k, f in peers.items()}
    name = min(times, key=lambda each: times[each][1])
    ours = min(ours for ours, _ in times.values())
    yield against(f"Kendall, many to one · scipy kendalltau {name}", ours, times[name][1], 80)
    yield to_copy("Kendall, many to one", lambda: fr.kendall_distance(rankings, CENTER))


def to_copy(name: str, ours: Callable[[], object]) -> Row:
    ranks = sampled(0.9).ranks
    target = np.empty_like(ranks)
    return against(
        f"{name} · limit: copying the array", *race(ours, lambda: np.copyto(target, ranks))
    )


def lehmer() -> Iterator[Row]:
    rankings = sampled(0.9)
    peers = {"as one writes it": encode_plainly, "the best we could write": encode_by_bytes}
    codes = fr.lehmer_encode(rankings)
    for name, peer in peers.items():
        assert np.array_equal(peer(rankings.ranks), codes)
        times = race(lambda: fr.lehmer_encode(rankings), lambda peer=peer: peer(rankings.ranks))
        yield against(f"Lehmer encode · numpy, {name}", *times, 100)
    yield to_copy("Lehmer encode", lambda: fr.lehmer_encode(rankings))


def encode_plainly(ranks: np.ndarray) -> np.ndarray:
    codes = np.zeros_like(ranks)
    for i in range(1, ranks.shape[1]):
        codes[:, i] = (ranks[:, :i] > ranks[:, i : i + 1]).sum(axis=1)
    return codes


def encode_by_bytes(ranks: np.ndarray) -> np.ndarray:
    """An item a row, so that vectors run over rankings; counts in bytes, 255 at a time."""
    items = np.ascontiguousarray(ranks.T, dtype=np.int16)
    codes = np.zeros(items.shape, dtype=np.int16)
    greater = np.empty(items.shape, dtype=bool)
    for i in range(1, len(items)):
        np.greater(items[:i], items[i], out=greater[:i])
        for start in range(0, i, 255):
            part = greater[start : min(i, start + 255)].view(np.uint8)
            codes[i] += np.add.reduce(part, axis=0, dtype=np.uint8)
    return codes.T


def golomb() -> Iterator[Row]:
    for phi in (0.6, 0.9):
        yield from golomb_of(phi)


def golomb_of(phi: float) -> Iterator[Row]:
    codes, k = fr.lehmer_encode(sampled(phi)), fr.golomb.parameter(phi)
    written = fr.golomb.encode(codes, k)
    assert golomb_by_bits(codes, k) == written
    ours = {
        "encode": lambda: fr.golomb.encode(codes, k),
        "decode": lambda: fr.golomb.decode(written, codes.shape, k),
    }
    peers = {"encode": lambda: golomb_by_bits(codes, k)}
    if k == 1:  # only unary codes can be read without a loop
        assert np.array_equal(unary_by_bits(written, codes.size), codes.ravel())
        peers["decode"] = lambda: unary_by_bits(written, codes.size)
    for name, call in ours.items():
        title = f"Golomb {name}, phi {phi}"
        at_200_mb_per_second = codes.nbytes / 200e6
        yield against(f"{title} · 200 MB/s of digits", relay([call])[0], at_200_mb_per_second, 1)
        if name in peers:
            times = race(call, peers[name])
            yield against(f"{title} · numpy, the best we could write", *times)
        yield to_copy(title, call)


def golomb_by_bits(codes: np.ndarray, k: int) -> bytes:
    """A byte a bit, then packed: the ones that end the unary parts, then remainders bit by bit."""
    q, r = np.divmod(codes.ravel(), k)
    width = (k - 1).bit_length()
    long = r >= 2**width - k
    r += long * (2**width - k)
    widths = width - 1 + long
    ends = np.cumsum(q + 1 + widths, dtype=np.int64)
    bits = np.zeros(ends[-1], dtype=np.uint8)
    bits[ends - widths - 1] = 1
    for bit in range(width):
        at = widths > bit
        bits[ends[at] - 1 - bit] = r[at] >> bit & 1
    return np.packbits(bits).tobytes()


def unary_by_bits(written: bytes, digits: int) -> np.ndarray:
    ones = np.flatnonzero(np.unpackbits(np.frombuffer(written, dtype=np.uint8)))
    return np.diff(ones[:digits], prepend=-1).astype(np.int32) - 1


# The model


def sampling() -> Iterator[Row]:
    generator = np.random.default_rng(1)
    for phi in (0.3, 0.6, 0.9, 0.99):
        model = fr.Mallows(phi, n=N)

        def ours(model: fr.Mallows = model) -> fr.Rankings:
            return model.sample(M, rng=generator)

        best = {}
        for decode in (decode_by_ranks, decode_by_window):

            def peer(phi: float = phi, decode: Callable = decode) -> np.ndarray:
                return decode(draw_digits(phi, N, M, generator))

            many = np.concatenate([peer() for _ in range(4)])
            distance = np.mean(fr.kendall_distance(many, CENTER))
            assert abs(distance / model.expected_distance() - 1) < 0.02
            best[decode] = race(ours, peer)
        mine = min(ours for ours, _ in best.values())
        fastest = min(best, key=lambda decode: best[decode][1])
        name = {decode_by_ranks: "ranks", decode_by_window: "window"}[fastest]
        times = best[fastest]
        yield against(f"Mallows, phi {phi} · numpy, best ({name})", *times, 20)
        if fastest is not decode_by_ranks:
            yield against(f"Mallows, phi {phi} · numpy, plain (ranks)", *best[decode_by_ranks])
        yield against(f"Mallows, phi {phi} · prefsampling, scaled", mine, prefsampling(phi), 3000)
        bits = race(ours, lambda: generator.bytes(2 * N * M))
        yield against(f"Mallows, phi {phi} · limit: numpy's 16 random bits a digit", *bits)


def prefsampling(phi: float) -> float:
    """Seconds for all rankings, from what one and eight take: the difference is seven."""
    from prefsampling.ordinal import mallows  # noqa: PLC0415 - slow to import

    one, eight = race(lambda: mallows(1, N, phi, seed=1), lambda: mallows(8, N, phi, seed=1), 2)
    return one + (eight - one) / 7 * (M - 1)


def draw_digits(phi: float, n: int, m: int, generator: np.random.Generator) -> np.ndarray:
    """Lehmer digits, an item a row: the whole part of an exponential is geometric.

    Taken modulo i + 1 it is geometric on 0..i, as digit i must be.
    """
    draws = generator.standard_exponential((n, m), dtype=np.float32)
    draws *= np.float32(-1 / np.log(phi))
    digits = draws.astype(np.int16)
    sizes = np.arange(1, n + 1, dtype=np.int16)
    high = np.flatnonzero(digits.max(axis=1) >= sizes)
    digits[high] %= sizes[high, None]
    return digits


def decode_by_ranks(digits: np.ndarray) -> np.ndarray:
    """Insert item by item: those at the new one's place and behind move back by one."""
    n, _ = digits.shape
    places = np.arange(n, dtype=np.int16)[:, None] - digits
    ranks = np.empty_like(digits)
    for i in range(n):
        earlier = ranks[:i]
        earlier += earlier >= places[i]
        ranks[i] = places[i]
    return ranks.T


def decode_by_window(digits: np.ndarray) -> np.ndarray:
    """From the last item to the first, take a free place; the free ones behind move up.

    Only as many as the column's largest digit can. Free places are sorted, so a maximum
    moves the right ones: a place behind the one taken is greater than its neighbour.
    """
    n, m = digits.shape
    widths = digits.max(axis=1).tolist()
    free = np.repeat(np.arange(n, dtype=np.int16)[:, None], m, axis=1)
    taken = (np.arange(n)[:, None] - digits) * m + np.arange(m)
    ranks, spare = np.empty_like(digits), np.empty_like(digits)
    flat = free.ravel()
    for i in range(n - 1, -1, -1):
        rank = flat.take(taken[i], out=ranks[i], mode="clip")
        start = i - widths[i]
        if start < i:
            here, behind = free[start:i], free[start + 1 : i + 1]
            moved = np.multiply(behind, behind > rank, out=spare[: i - start])
            np.maximum(here, moved, out=here)
    return ranks.T


# Consensus


def borda() -> Iterator[Row]:
    rankings = sampled(0.9)
    ranks = rankings.ranks
    assert np.allclose(fr.aggregate(rankings).scores, ranks.mean(axis=0))
    times = race(lambda: fr.aggregate(rankings, "borda"), lambda: ranks.mean(axis=0))
    yield against("Borda · numpy mean", *times, 1)
    yield to_copy("Borda", lambda: fr.aggregate(rankings, "borda"))


def footrule() -> Iterator[Row]:
    for name, phi in (("phi 0.9", 0.9), ("phi 0.99", 0.99), ("uniform", 1.0)):
        rankings = sampled(phi)

        def ours(rankings: fr.Rankings = rankings) -> np.ndarray:
            return fr.aggregate(rankings, "footrule", rng=1).ranks

        def peer(ranks: np.ndarray = rankings.ranks) -> np.ndarray:
            return scipy.optimize.linear_sum_assignment(footrule_costs(ranks))[1]

        costs = footrule_costs(rankings.ranks)
        assert costs[3, 5] == np.abs(rankings.ranks[:, 3] - 5).sum()
        items = np.arange(N)
        assert costs[items, ours()].sum() == costs[items, peer()].sum()
        yield against(f"footrule, {name} · scipy linear_sum_assignment", *race(ours, peer), 1)


def footrule_costs(ranks: np.ndarray) -> np.ndarray:
    """Cost of every place for every item, from counts: O(m n + n²)."""
    m, n = ranks.shape
    counts = np.bincount((ranks + np.arange(n) * n).ravel(), minlength=n * n).reshape(n, n)
    costs = np.empty((n, n), dtype=np.int64)
    costs[:, 0] = counts @ np.arange(n)
    # One place on, rankings up to here move away and the others come nearer.
    costs[:, 1:] = 2 * counts.cumsum(axis=1)[:, :-1] - m
    return costs.cumsum(axis=1)


def kemeny() -> Iterator[Row]:
    for n in (10, 15) if QUICK else (10, 15, 20):
        rankings = sampled(1.0, m=9, n=n)
        found = fr.aggregate(rankings, "kemeny")
        assert found.exact
        objective = round(found.objective * 9 * n)
        for name, peer in (("corankco", kemeny_by_corankco), ("scipy milp", kemeny_by_milp)):
            theirs = peer(rankings.ranks)
            assert theirs == objective, (name, n, theirs, objective)

            def ours(rankings: fr.Rankings = rankings) -> fr.Consensus:
                return fr.aggregate(rankings, "kemeny")

            def other(ranks: np.ndarray = rankings.ranks, peer: Callable = peer) -> int:
                return peer(ranks)

            times = race(ours, other, turns=3)
            yield against(f"exact Kemeny, n = {n} · {name}", *times)


def kemeny_by_corankco(ranks: np.ndarray) -> int:
    from corankco.algorithms.exact.exactalgorithmpulp import (  # noqa: PLC0415 - slow to import
        ExactAlgorithmPulp,
    )
    from corankco.dataset import Dataset  # noqa: PLC0415
    from corankco.scoringscheme import ScoringScheme  # noqa: PLC0415

    orders = np.argsort(ranks, axis=1).tolist()
    dataset = Dataset.from_raw_list([[{item} for item in order] for order in orders])
    scheme = ScoringScheme.get_unifying_scoring_scheme()  # a tie costs as much as an inversion
    found = ExactAlgorithmPulp().compute_consensus_rankings(dataset, scheme, True)
    return round(found.kemeny_score)


def kemeny_by_milp(ranks: np.ndarray) -> int:
    """Linear ordering: x[i, j] = 1 if i precedes j, and no cycle of three."""
    n = ranks.shape[1]
    pairs = list(combinations(range(n), 2))
    number = {pair: k for k, pair in enumerate(pairs)}
    before = np.array([(ranks[:, i] < ranks[:, j]).sum() for i, j in pairs])
    after = len(ranks) - before
    triples = list(combinations(range(n), 3))
    columns = [(number[i, j], number[j, k], number[i, k]) for i, j, k in triples]
    rows = np.repeat(np.arange(len(triples)), 3)
    signs = np.tile([1, 1, -1], len(triples))
    matrix = scipy.sparse.csr_array((signs, (rows, np.ravel(columns))))
    found = scipy.optimize.milp(
        after - before,
        integrality=np.ones(len(pairs)),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, 0, 1),
    )
    return round(found.fun + before.sum())


# The federated protocol


def scheme() -> Iterator[Row]:
    """A client's message, Lehmer codes included, beside numpy on codes that are there."""
    lehmer = fr.Lehmer(N, 10)
    center = np.random.default_rng(1).permutation(N)
    mallows = fr.Mallows(0.6, center=center).sample(M, rng=1)
    for name, rankings in (("phi 0.6", mallows), ("uniform", sampled(1.0))):
        codes = fr.lehmer_encode(rankings)
        columns = np.ascontiguousarray(codes.T, dtype=np.intp)
        generator = np.random.default_rng(1)

        def ours(rankings: fr.Rankings = rankings) -> np.ndarray:
            return lehmer.encode(rankings, rng=1)

        def kernel(rankings: fr.Rankings = rankings) -> np.ndarray:
            return fr.lehmer_encode(rankings)

        def at_random(columns: np.ndarray = codes.T, g: np.random.Generator = generator) -> list:
            return plurality(columns, g)

        def copied(columns: np.ndarray = columns, g: np.random.Generator = generator) -> list:
            return plurality(columns, g)

        def least(columns: np.ndarray = codes.T) -> list:
            return [np.bincount(column).argmax() for column in columns]

        for call in (ours, at_random, copied, least):
            # The first digit is always 0, and not sent.
            for column, digit in zip(codes.T[1:], call()[-N + 1 :], strict=True):
                counts = np.bincount(column)
                assert counts[int(digit)] == counts.max()
        best, *theirs = relay([ours, kernel, at_random, copied, least], turns=14)
        label, peer = f"Lehmer message, {name}", "numpy on ready codes, bincount by column"
        yield against(f"{label} · limit: lehmer_encode", best, theirs[0], 0.333)
        yield against(f"{label} · {peer}, ties at random", best, theirs[1], 20)
        yield against(f"{label} · {peer}, ties at random, columns copied before", best, theirs[2])
        yield against(f"{label} · {peer}, least of the tied", best, theirs[3])


def plurality(columns: np.ndarray, generator: np.random.Generator) -> list[int]:
    """The commonest digit of each column, one of them at random."""
    digits = []
    for column in columns:
        counts = np.bincount(column)
        best = np.flatnonzero(counts == counts.max())
        digits.append(best[0] if len(best) == 1 else best[generator.integers(len(best))])
    return digits


def mask() -> Iterator[Row]:
    """Expanding and adding a mask beside its keystream, by the Rust program mask.rs."""
    times: dict[tuple[int, int], dict[str, float]] = {}
    for kernel, entries, bits, nanoseconds in example("mask", *(["3"] if QUICK else [])):
        times.setdefault((int(entries), int(bits)), {})[kernel] = float(nanoseconds) / 1e9
    for (entries, bits), best in times.items():
        name = f"adding a mask, {entries:,} entries of {bits} bits · limit: its keystream"
        yield against(name, best["add"], best["keystream"], 0.667)


def secagg() -> Iterator[Row]:
    """One client's whole work in a session: keys, shares, mask, unmask."""
    if find_spec("flwr") is None:
        CONSOLE.print("flwr is not installed: skipped")
        return
    os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
    import flower  # noqa: PLC0415 - needs flwr

    generator = np.random.default_rng(1)
    for clients, turns in ((10, 7), (50, 3), (100, 3)):
        if QUICK and clients > 10:
            break
        study = fr.Study(fr.Borda(N, clients))
        bits = study.scheme.segments[0].bits
        messages = generator.integers(N, size=(clients, N)).astype(np.uint64)
        keys = flower.public_keys(clients)
        vector = messages[0].astype(np.int64)
        flower.check(bits)
        ours, theirs = np.full(4, np.inf), np.full(4, np.inf)
        whole = [np.inf, np.inf]
        for _ in range(2 if QUICK else turns):
            # Every client of ours does the same; the one in the middle stands for them.
            seconds = session(study, messages)[1]
            ours = np.minimum(ours, np.median(seconds, axis=0))
            whole[0] = min(whole[0], float(np.median(seconds.sum(axis=1))))
            other = flower.steps(vector, bits, keys, study.threshold)
            theirs = np.minimum(theirs, other)
            whole[1] = min(whole[1], sum(other))
        yield against(
            f"one client of {clients}, {bits} bits an entry · flwr secaggplus", *whole, 20
        )
        for step, *pair in zip(STEPS, ours, theirs, strict=True):
            yield against(f"one client of {clients}, {step} · flwr secaggplus", *pair)


def session(study: fr.Study, messages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Run a session, one client after another: bytes and seconds of each one's four steps."""
    server = fr.secagg.Server(study)
    clients: dict[int, fr.secagg.Client] = {}
    requests = dict.fromkeys(range(len(messages)), b"")
    sent, seconds = np.zeros((len(messages), 4), dtype=np.int64), np.zeros((len(messages), 4))
    for step, name in enumerate(STEPS):
        for me, request in requests.items():
            start = perf_counter()
            if name == "advertise":
                clients[me] = fr.secagg.Client(study, me)
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


def federate() -> Iterator[Stages]:
    """Run a whole round in process, all cores, 50 rankings a client."""
    for clients in (10,) if QUICK else (10, 50, 100):
        data = sampled(0.6, m=50 * clients).split(clients, rng=1)
        for name in ("borda", "lehmer"):
            whole, stages = np.inf, {}
            for _ in range(2 if QUICK else 7):
                start = perf_counter()
                result = fr.federate(data, name, rng=1)
                seconds = perf_counter() - start
                if seconds < whole:
                    whole, stages = seconds, result.seconds
            yield Stages(f"{name}, {clients} clients", whole, stages)


def messages() -> Iterator[Size]:
    """Bytes really sent. The paper's formulas are without signs of who sends and of what."""
    most = 50  # rankings a client
    for n, clients in ((N, 10), (10, 50), (100, 50)):
        data = sampled(0.6, m=most * clients, n=n).split(clients, rng=1)
        raw = most * n * ceil(log2(n))
        schemes = {
            "Borda": fr.Borda(n, clients),
            "Borda, exact": fr.Borda(n, clients, quantize=False, max_samples=most),
            **{f"Lehmer, I = {low}": fr.Lehmer(n, clients, low_bits=low) for low in (0, 2, 4)},
        }
        by_formula = fr.Lehmer(n, clients, low_bits="paper", max_samples=most)
        schemes[f"Lehmer, paper's I = {by_formula.low_bits}"] = by_formula
        for name, each in schemes.items():
            encoded = np.array([each.encode(rankings, rng=1) for rankings in data])
            sent = session(fr.Study(each), encoded)[0]
            assert (sent == sent[0]).all()  # no length depends on the data
            yield Size(
                f"n = {n}, L = {clients}: {name}",
                encoded.shape[1],
                int(sent[0, 2]),
                int(sent[0].sum()),
                *(paper_borda(each) if isinstance(each, fr.Borda) else paper_lehmer(each)),
                raw,
            )


def paper_borda(scheme: fr.Borda) -> tuple[float, float | None]:
    """Bits of Algorithm 2, with a modulus that the sum of positions 1..N needs; of Theorem 2."""
    n, clients = scheme.n, scheme.clients
    if scheme.quantize:
        return n * ceil(log2(clients * n + 1)), n * log2(n)
    return n * ceil(log2(clients * scheme.max_samples * n + 1)), None


def paper_lehmer(scheme: fr.Lehmer) -> tuple[float, float]:
    """Bits of Algorithm 3 as printed, and of Theorem 4 for one client."""
    n, clients, low_bits = scheme.n, scheme.clients, scheme.low_bits
    high = sum(max(ceil(log2(i)) - low_bits, 0) for i in range(1, n + 1))
    slots = 2.0**low_bits
    algorithm = high + n * slots * ceil(log2(clients + 1))
    if scheme.max_samples is not None:  # the theorem's own slots, a number that is not whole
        powers = scheme.phi ** np.arange(n + 1)
        p = powers[1:n].sum() / (1 + powers[3:].sum())
        total = clients * scheme.max_samples
        slots = 2 * log(total * n**2 / scheme.epsilon) / log(1 / p) + 1
        assert ceil(log2(slots)) == low_bits
    return algorithm, n * (log2(n) - log2(slots) + slots * log2(clients))


# Growth and memory


def growth() -> Iterator[Row]:
    """Time per n log2 n of one ranking, by the Rust program growth.rs."""
    times: dict[str, dict[int, float]] = {}
    for kernel, n, nanoseconds in example("growth", *(["100000", "3"] if QUICK else [])):
        times.setdefault(kernel, {})[int(n)] = float(nanoseconds)
    unit = {k: {n: t / (n * log2(n)) for n, t in ts.items()} for k, ts in times.items()}

    flat = {n: t for n, t in unit["merge"].items() if 10**4 <= n <= 10**6}
    least, most = min(flat, key=flat.__getitem__), max(flat, key=flat.__getitem__)
    yield jump("merging, 10⁴ to 10⁶: least · most", flat, most, least)
    for n, nanoseconds in times["kendall"].items():
        pair = nanoseconds / 1e9, times["merge"][n] / 1e9
        yield against(f"kendall, one pair of {n:,} items · merging alone", *pair, 1)
    for kernel in ("kendall", "lehmer"):
        for a, b in pairwise(sorted(unit[kernel])):
            if b - a == 1:
                yield jump(f"{kernel}, taking over: {b:,} · {a:,} items", unit[kernel], b, a)


def example(name: str, *arguments: str) -> list[list[str]]:
    """Words of the lines that a Rust program prints."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "fedrank-benches"]
    output = subprocess.run(
        [*command, "--example", name, "--", *arguments],
        cwd=HERE.parent,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [printed.split() for printed in output.splitlines()]


def jump(name: str, unit: dict[int, float], ours: int, peer: int) -> Row:
    cells = [f"{unit[n]:.3g} ns" for n in (ours, peer)]
    return Row(f"{name}, per n log2 n", *cells, unit[peer] / unit[ours], 0.5)


KERNELS = {
    "kendall_distance(rankings, center)": "fr.kendall_distance(r, c)",
    "footrule_distance(rankings, center)": "fr.footrule_distance(r, c)",
    "pairwise_counts(rankings)": "fr.pairwise_counts(r)",
    "lehmer_encode(rankings)": "fr.lehmer_encode(r)",
    "lehmer_decode(codes)": "fr.lehmer_decode(x)",
    "kemeny_score(center, rankings)": "fr.kemeny_score(c, r)",
    "Mallows(0.6).sample(m)": "fr.Mallows(0.6, center=c).sample(len(r), rng=1).ranks",
    "aggregate(rankings)": "fr.aggregate(r).ranks",
    "Rankings(array)": "fr.Rankings(x).ranks",
    "kendall_distance(array, center)": "fr.kendall_distance(x, c)",
    "lehmer_encode(array)": "fr.lehmer_encode(x)",
}
PROBE = """
import numpy as np, fedrank as fr
def status(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024
def call(r, c, x):
    return {call}
c = fr.Rankings(np.arange({n}))
few = fr.Rankings(np.tile(np.arange({n}, dtype=np.int32), (100, 1)))
call(few, c, np.zeros((100, {n}), dtype=np.int32) if {codes} else few.ranks)  # starts the threads
r = fr.Mallows(1.0, n={n}).sample({m}, rng=1)
x = np.array(fr.lehmer_encode(r) if {codes} else r.ranks)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = status("VmRSS")
result = call(r, c, x)
print(status("VmHWM") - before, getattr(result, "nbytes", 8))
"""


def memory() -> Iterator[Row]:
    """Peak beyond the input, in a process of its own, against output and O(n) a thread."""
    if not Path("/proc/self/clear_refs").exists():
        return
    n, m = (1000, 2000) if QUICK else (1000, 20_000)
    threads = os.cpu_count() or 1
    # Sixteen words an item and thread, and a megabyte that Python and malloc may take.
    allowance = 128 * n * threads + (1 << 20)
    for name, call in KERNELS.items():
        code = PROBE.format(call=call, n=n, m=m, codes="codes" in name)
        probe = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"},  # freed memory is given back
            check=True,
            capture_output=True,
            text=True,
        )
        extra, output = map(int, probe.stdout.split())
        allowed = output + allowance
        cells = [f"{size / 2**20:.1f} MiB" for size in (extra, allowed)]
        label = f"memory of {name}, {m:,} × {n:,} · output + O(n)"
        yield Row(label, *cells, allowed / max(extra, 4096), 1)


BENCHMARKS = {
    each.__name__: each
    for each in (
        *(kendall, sampling, lehmer, golomb, borda, footrule, kemeny),
        *(scheme, mask, secagg, federate, messages),
        *(growth, memory),
    )
}


def main() -> None:
    global QUICK  # noqa: PLW0603 - read by every benchmark
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few turns, no large inputs")
    parser.add_argument("--only", choices=BENCHMARKS, help="one benchmark")
    options = parser.parse_args()
    QUICK = options.quick
    warnings.simplefilter("ignore")  # the peers' own
    names = [options.only] if options.only else list(BENCHMARKS)
    results = {}
    for count, name in enumerate(names, 1):
        CONSOLE.print(f"[{count}/{len(names)}] {name} …", markup=False)
        results[name] = list(BENCHMARKS[name]())
        show(name, results[name])
    missed = [row.name for rows in results.values() for row in rows if row.met is False]
    CONSOLE.print(f"Missed: {len(missed)}", *(f"  {name}" for name in missed), sep="\n")
    if not (options.quick or options.only):
        write(results)


def show(title: str, rows: list[Row | Stages | Size]) -> None:
    table = Table(*(rows[0].columns if rows else ["not run"]), title=title)
    for row in rows:
        style = "bold red" if row.met is False else None
        table.add_row(*(cell.strip("*") for cell in row.cells()), style=style)
    CONSOLE.print(table)


def write(results: dict[str, list[Row | Stages | Size]]) -> None:
    """Put the results between the markers of README.md."""
    names = ["fedrank", "numpy", "scipy", "prefsampling", "corankco"]
    if results["secagg"]:
        names.append("flwr")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    lines = [
        f"Python {platform.python_version()}, {versions}; {platform.machine()}, "
        f"{os.cpu_count()} cores; n = {N}, m = {M} unless it says otherwise.",
    ]
    for title, rows in results.items():
        lines += section(title, rows)
    readme = HERE / "README.md"
    start, end = "<!-- results -->", "<!-- end of results -->"
    head, _, rest = readme.read_text().partition(start)
    tail = rest.partition(end)[2]
    readme.write_text("\n".join([f"{head}{start}", "", *lines, "", f"{end}{tail}"]))


def section(title: str, rows: list[Row | Stages | Size]) -> list[str]:
    if not rows:
        return ["", f"### {title}", "", "Not run: what it needs is missing here."]
    columns = rows[0].columns
    head = [line(columns), line([":--"] + ["--:"] * (len(columns) - 1))]
    return ["", f"### {title}", "", *head, *(line(row.cells()) for row in rows)]


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
