"""Signatures of the Rust extension; documentation is in the functions that call it."""

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COORDINATOR",
    "ENVELOPE_OVERHEAD",
    "KEMENY_EXACT_MOST",
    "KEMENY_EXACT_UPTO",
    "KEMENY_KICKS",
    "MIN_SURVIVORS",
    "SIGNED_STEPS",
    "STEPS",
    "VERSION",
    "Consensus",
    "EnvelopeHeader",
    "Fault",
    "Fit",
    "Identity",
    "KendallTotal",
    "MessageSizes",
    "PublicIdentity",
    "Roster",
    "Scheme",
    "SecaggBegin",
    "SecaggClient",
    "SecaggServer",
    "Segment",
    "aggregate",
    "decay",
    "default_threshold",
    "envelope_header",
    "envelope_open",
    "envelope_seal",
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
    "interrupt_all",
    "invert",
    "kendall_distance",
    "kendall_total",
    "lehmer_decode",
    "lehmer_encode",
    "levels",
    "listen",
    "mallows_expected_distance",
    "mallows_expected_ranks",
    "mallows_log_partition",
    "mallows_log_prob",
    "mallows_phi",
    "mallows_sample",
    "message_sizes",
    "pairwise_counts",
    "paper_low_bits",
    "round_digest",
    "sender_of",
    "simulate",
    "superposition_receive",
    "superposition_transmit",
    "survivors_of",
    "twins",
]

VERSION: str
KEMENY_EXACT_UPTO: int
KEMENY_EXACT_MOST: int
KEMENY_KICKS: int

MIN_SURVIVORS: int
STEPS: tuple[str, str, str, str]
SIGNED_STEPS: tuple[str, str, str, str, str]
COORDINATOR: int
ENVELOPE_OVERHEAD: int

@final
class Fault:
    @property
    def row(self) -> int: ...
    @property
    def rank(self) -> int: ...

def find_fault(ranks: NDArray[np.int32]) -> Fault | None: ...
def from_scores(scores: NDArray[np.float64], ties: str, seed: bytes) -> NDArray[np.int32]: ...
def levels(scores: NDArray[np.float64]) -> NDArray[np.int32]: ...
def twins(levels: NDArray[np.int32]) -> NDArray[np.int32]: ...
def interrupt_all() -> None: ...
def listen(listener: Callable[[str, int, int], object] | None) -> None: ...
def invert(ranks: NDArray[np.int32]) -> NDArray[np.int32]: ...
def kendall_distance(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int64]: ...

@final
class KendallTotal:
    @property
    def distance(self) -> int: ...
    @property
    def rankings(self) -> int: ...

def kendall_total(
    ranks: NDArray[np.int32], weights: NDArray[np.uint32] | None, consensus: NDArray[np.int32]
) -> KendallTotal: ...
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

@final
class Consensus:
    @property
    def ranks(self) -> NDArray[np.int32]: ...
    @property
    def ties(self) -> int: ...
    @property
    def tied(self) -> NDArray[np.int32] | None: ...
    @property
    def searched(self) -> tuple[int, int] | None: ...
    @property
    def kept(self) -> bool: ...
    @property
    def sums(self) -> NDArray[np.uint64] | None: ...
    @property
    def distance(self) -> int | None: ...
    @property
    def lower_bound(self) -> int | None: ...
    @property
    def exact(self) -> bool | None: ...

def superposition_transmit(ranks: NDArray[np.int32]) -> NDArray[np.uint32]: ...
def superposition_receive(
    sums: NDArray[np.float64], n: int, ties: str, seed: bytes
) -> Consensus: ...
def aggregate(
    ranks: NDArray[np.int32],
    weights: NDArray[np.uint32] | None,
    method: str,
    ties: str,
    seed: bytes,
    runs: int,
    exact_upto: int,
) -> Consensus: ...

@final
class Segment:
    @property
    def name(self) -> str: ...
    @property
    def entries(self) -> int: ...
    @property
    def bits(self) -> int: ...

@final
class Fit:
    @property
    def phi(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    @property
    def distance(self) -> int: ...
    @property
    def samples(self) -> int: ...

@final
class Scheme:
    @staticmethod
    def borda(
        n: int,
        clients: int,
        send: str,
        levels: int,
        phi: float,
        max_samples: int | None,
        partial: bool,
    ) -> Scheme: ...
    @staticmethod
    def lehmer(
        n: int, clients: int, low_bits: int, decode: str, max_samples: int | None
    ) -> Scheme: ...
    def encode(
        self, ranks: NDArray[np.int32], client: int, seed: bytes
    ) -> tuple[NDArray[np.uint64], int]: ...
    @staticmethod
    def refine(
        announced: NDArray[np.int32],
        clients: int,
        max_samples: int | None,
        window: int | None,
        vote: str,
        partial: bool,
    ) -> Scheme: ...
    @staticmethod
    def dispersion(announced: NDArray[np.int32], clients: int, max_samples: int) -> Scheme: ...
    def decode(
        self, totals: list[NDArray[np.uint64]], survivors: int, ties: str, seed: bytes
    ) -> Consensus: ...
    def open_runs(
        self,
        totals: list[NDArray[np.uint64]],
        survivors: int,
        ranks: NDArray[np.int32],
        most: int,
    ) -> list[tuple[int, int]]: ...
    def fit(self, total: NDArray[np.uint64], survivors: int) -> Fit: ...
    def pack(self, message: NDArray[np.uint64]) -> bytes: ...
    def unpack(self, packed: bytes) -> NDArray[np.uint64]: ...
    @property
    def segments(self) -> list[Segment]: ...
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
class MessageSizes:
    @property
    def advertise(self) -> int: ...
    @property
    def share(self) -> int: ...
    @property
    def mask(self) -> int: ...
    @property
    def confirm(self) -> int: ...
    @property
    def unmask(self) -> int: ...

def message_sizes(clients: int, message_bits: int, signed: bool) -> MessageSizes: ...
def sender_of(message: bytes) -> int: ...
def survivors_of(message: bytes) -> list[int]: ...
def default_threshold(clients: int) -> int: ...
def round_digest(
    study: bytes,
    round: int,
    stage: str,
    order: Sequence[int],
    previous: bytes,
    survivors: Sequence[int],
) -> bytes: ...

@final
class Identity:
    @staticmethod
    def generate() -> Identity: ...
    @staticmethod
    def from_line(line: str) -> Identity: ...
    def line(self) -> str: ...
    @property
    def public(self) -> PublicIdentity: ...

@final
class PublicIdentity:
    @staticmethod
    def from_line(line: str) -> PublicIdentity: ...
    def line(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def keys(self) -> tuple[bytes, bytes]: ...

@final
class Roster:
    def __new__(cls, lines: Sequence[str]) -> Roster: ...

@final
class SecaggBegin:
    def __new__(
        cls,
        study: bytes,
        run: int,
        round: int,
        nonce: bytes,
        stage: str,
        order: Sequence[int],
        previous: bytes,
        survivors: Sequence[int],
        confirmations: Sequence[tuple[int, bytes]],
    ) -> SecaggBegin: ...
    @staticmethod
    def open(message: bytes, recipient: int) -> SecaggBegin: ...
    def to_bytes(self, recipient: int) -> bytes: ...
    def session(self) -> bytes: ...
    def round_digest(self) -> bytes: ...
    @property
    def study(self) -> bytes: ...
    @property
    def run(self) -> int: ...
    @property
    def round(self) -> int: ...
    @property
    def nonce(self) -> bytes: ...
    @property
    def stage(self) -> str: ...
    @property
    def order(self) -> list[int]: ...
    @property
    def previous(self) -> bytes: ...
    @property
    def survivors(self) -> list[int]: ...
    @property
    def confirmations(self) -> list[tuple[int, bytes]]: ...

@final
class EnvelopeHeader:
    @property
    def direction(self) -> int: ...
    @property
    def round_digest(self) -> bytes: ...
    @property
    def session(self) -> bytes: ...
    @property
    def step(self) -> int: ...
    @property
    def sender(self) -> int: ...
    @property
    def recipient(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

def envelope_seal(
    identity: Identity,
    recipient_line: str,
    direction: int,
    round_digest: bytes,
    session: bytes,
    step: int,
    sender: int,
    recipient: int,
    body: bytes,
) -> bytes: ...
def envelope_open(
    identity: Identity, sender_line: str, blob: bytes
) -> tuple[EnvelopeHeader, bytes]: ...
def envelope_header(blob: bytes) -> EnvelopeHeader: ...

@final
class SecaggClient:
    def __new__(
        cls,
        digest: bytes,
        clients: int,
        threshold: int,
        round: int,
        scheme: Scheme,
        roster: Roster,
        me: int,
        session: bytes,
    ) -> SecaggClient: ...
    @staticmethod
    def resume(
        digest: bytes,
        clients: int,
        threshold: int,
        round: int,
        scheme: Scheme,
        roster: Roster,
        state: bytes,
    ) -> SecaggClient: ...
    def session(self) -> bytes: ...
    def state(self) -> bytes: ...
    def advertise(self) -> bytes: ...
    def share(self, request: bytes, signer: Identity | None = None) -> bytes: ...
    def mask(self, request: bytes, input: NDArray[np.uint64]) -> bytes: ...
    def confirm(self, request: bytes, signer: Identity) -> bytes: ...
    def check_confirmed(
        self, survivors: Sequence[int], confirmations: Sequence[tuple[int, bytes]]
    ) -> None: ...
    def unmask(self, request: bytes) -> bytes: ...

@final
class SecaggServer:
    def __new__(
        cls,
        digest: bytes,
        clients: int,
        threshold: int,
        round: int,
        scheme: Scheme,
        roster: Roster,
        run: int,
    ) -> SecaggServer: ...
    @staticmethod
    def resume(
        digest: bytes,
        clients: int,
        threshold: int,
        round: int,
        scheme: Scheme,
        roster: Roster,
        state: bytes,
    ) -> SecaggServer: ...
    def run(self) -> int: ...
    def nonce(self) -> bytes: ...
    def session(self) -> bytes: ...
    def confirmations(self) -> list[tuple[int, bytes]]: ...
    def state(self) -> bytes: ...
    def receive(self, sender: int, message: bytes) -> None: ...
    def close_step(self) -> dict[int, bytes]: ...
    def result(self) -> tuple[NDArray[np.uint64], list[int]]: ...
    def faults(self) -> list[tuple[int, str]]: ...
