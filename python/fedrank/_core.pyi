"""Signatures of the Rust extension; documentation is in the functions that call it."""

from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "KEMENY_EXACT_MOST",
    "KEMENY_EXACT_UPTO",
    "KEMENY_KICKS",
    "VERSION",
    "Scheme",
    "SecaggClient",
    "SecaggServer",
    "aggregate",
    "decay",
    "find_fault",
    "footrule_distance",
    "from_scores",
    "golomb_decode",
    "golomb_encode",
    "golomb_entropy_bits",
    "golomb_expected_bits",
    "golomb_fit",
    "golomb_fit_items",
    "golomb_parameter",
    "invert",
    "kendall_distance",
    "kendall_total",
    "lehmer_decode",
    "lehmer_encode",
    "levels",
    "mallows_expected_distance",
    "mallows_expected_ranks",
    "mallows_log_partition",
    "mallows_log_prob",
    "mallows_phi",
    "mallows_sample",
    "pairwise_counts",
    "paper_low_bits",
    "simulate",
    "superposition_receive",
    "superposition_transmit",
    "twins",
]

VERSION: str
KEMENY_EXACT_UPTO: int
KEMENY_EXACT_MOST: int
KEMENY_KICKS: int

_Found: TypeAlias = tuple[
    NDArray[np.int32], int, NDArray[np.int64] | None, int | None, int | None, bool | None
]

def find_fault(ranks: NDArray[np.int32]) -> tuple[int, int] | None: ...
def from_scores(scores: NDArray[np.float64], ties: str, seed: bytes) -> NDArray[np.int32]: ...
def levels(scores: NDArray[np.float64]) -> NDArray[np.int32]: ...
def twins(levels: NDArray[np.int32]) -> NDArray[np.int32]: ...
def invert(ranks: NDArray[np.int32]) -> NDArray[np.int32]: ...
def kendall_distance(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int64]: ...
def kendall_total(
    ranks: NDArray[np.int32], weights: NDArray[np.uint32] | None, consensus: NDArray[np.int32]
) -> tuple[int, int]: ...
def footrule_distance(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int64]: ...
def pairwise_counts(
    ranks: NDArray[np.int32], weights: NDArray[np.uint32] | None
) -> NDArray[np.int64]: ...
def lehmer_encode(ranks: NDArray[np.int32]) -> NDArray[np.int32]: ...
def lehmer_decode(codes: NDArray[np.int32]) -> NDArray[np.int32]: ...
def mallows_sample(
    phi: float, center: NDArray[np.int32], size: int, seed: bytes
) -> NDArray[np.int32]: ...
def mallows_log_prob(
    phi: float, center: NDArray[np.int32], ranks: NDArray[np.int32]
) -> NDArray[np.float64]: ...
def mallows_log_partition(phi: float, n: int) -> float: ...
def mallows_expected_ranks(phi: float, n: int) -> NDArray[np.float64]: ...
def mallows_expected_distance(phi: float, n: int) -> float: ...
def mallows_phi(distance: float, n: int) -> float: ...
def golomb_parameter(phi: float) -> int: ...
def golomb_encode(codes: NDArray[np.int32], parameters: NDArray[np.uint32]) -> bytes: ...
def golomb_decode(
    data: bytes, rows: int, n: int, parameters: NDArray[np.uint32]
) -> NDArray[np.int32]: ...
def golomb_fit(codes: NDArray[np.int32]) -> int: ...
def golomb_fit_items(codes: NDArray[np.int32]) -> NDArray[np.int32]: ...
def golomb_expected_bits(phi: float, parameter: int, n: int) -> float: ...
def golomb_entropy_bits(phi: float, n: int) -> float: ...
def superposition_transmit(ranks: NDArray[np.int32]) -> NDArray[np.uint32]: ...
def superposition_receive(sums: NDArray[np.float64], n: int, ties: str, seed: bytes) -> _Found: ...
def aggregate(
    ranks: NDArray[np.int32],
    weights: NDArray[np.uint32] | None,
    method: str,
    ties: str,
    seed: bytes,
    runs: int,
    exact_upto: int,
) -> _Found: ...

@final
class Scheme:
    @staticmethod
    def borda(
        n: int,
        clients: int,
        phi: float,
        quantize: bool,
        max_samples: int | None,
        partial: bool,
    ) -> Scheme: ...
    @staticmethod
    def lehmer(
        n: int, clients: int, low_bits: int, decode: str, max_samples: int | None
    ) -> Scheme: ...
    def encode(self, ranks: NDArray[np.int32], seed: bytes) -> NDArray[np.uint64]: ...
    @staticmethod
    def refine(
        announced: NDArray[np.int32],
        clients: int,
        max_samples: int | None,
        window: int,
        vote: str,
        partial: bool,
    ) -> Scheme: ...
    @staticmethod
    def dispersion(announced: NDArray[np.int32], clients: int, max_samples: int) -> Scheme: ...
    def decode(
        self, totals: list[NDArray[np.uint64]], survivors: int, ties: str, seed: bytes
    ) -> _Found: ...
    def fit(self, total: NDArray[np.uint64], survivors: int) -> tuple[float, float, int, int]: ...
    def pack(self, message: NDArray[np.uint64]) -> bytes: ...
    def unpack(self, packed: bytes) -> NDArray[np.uint64]: ...
    @property
    def segments(self) -> list[tuple[str, int, int]]: ...
    @property
    def message_bits(self) -> int: ...

def simulate(
    phi: float,
    n: int,
    center: NDArray[np.int32] | None,
    clients: int,
    samples: int,
    trials: int,
    schemes: list[Scheme],
    methods: list[str],
    seed: bytes,
) -> NDArray[np.int64]: ...
def decay(phi: float, n: int) -> float: ...
def paper_low_bits(phi: float, n: int, total: float, epsilon: float) -> int: ...

@final
class SecaggClient:
    def __new__(
        cls, digest: bytes, clients: int, threshold: int, round: int, scheme: Scheme, me: int
    ) -> SecaggClient: ...
    @staticmethod
    def resume(
        digest: bytes, clients: int, threshold: int, round: int, scheme: Scheme, state: bytes
    ) -> SecaggClient: ...
    def state(self) -> bytes: ...
    def advertise(self) -> bytes: ...
    def share(self, request: bytes) -> bytes: ...
    def mask(self, request: bytes, input: NDArray[np.uint64]) -> bytes: ...
    def unmask(self, request: bytes) -> bytes: ...

@final
class SecaggServer:
    def __new__(
        cls, digest: bytes, clients: int, threshold: int, round: int, scheme: Scheme
    ) -> SecaggServer: ...
    def receive(self, sender: int, message: bytes) -> None: ...
    def close_step(self) -> dict[int, bytes]: ...
    def result(self) -> tuple[NDArray[np.uint64], list[int]]: ...
    def faults(self) -> list[tuple[int, str]]: ...
