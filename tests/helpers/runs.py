"""Whole runs of four clients, by every method, over the transport in process.

Every study is there twice: without identities, and with.
"""

import numpy as np

from fedrank import Borda, Kemeny, Lehmer, Mallows, Study
from fedrank._core import SecaggBegin
from fedrank._random import seed_bytes
from fedrank.transport import InProcess
from helpers.identities import PARTIES, with_identities

ROSTER = ["north", "east", "south", "west"]
CLIENTS = Mallows(0.9, n=12).sample(40, rng=2).split(4, rng=2)
STUDY = Study(Borda(12, 4), roster=ROSTER)
METHODS = {
    "borda": STUDY,
    "lehmer": Study(Lehmer(12, 4, low_bits=1), roster=ROSTER),
    "kemeny": Study(Kemeny(12, 4, window=1, rounds=3, max_samples=10), roster=ROSTER),
    "kemeny, phi": Study(
        Kemeny(12, 4, window=1, rounds=2, max_samples=10), roster=ROSTER, fit_phi=True
    ),
}


*IDENTITIES, STRANGER, COORDINATOR = PARTIES


SCHEMES = {
    "borda": Borda,
    "borda weighted": lambda n, clients: Borda(n, clients, send="weighted", max_samples=9),
    "borda centroids": lambda n, clients: Borda(n, clients, send="centroids"),
    "borda exact": lambda n, clients: Borda(n, clients, send="sums", max_samples=9),
    "lehmer 0": Lehmer,
    "lehmer 0, paper's decode": lambda n, clients: Lehmer(n, clients, decode="paper"),
    "lehmer 2": lambda n, clients: Lehmer(n, clients, low_bits=2),
    "lehmer 2, paper's decode": lambda n, clients: Lehmer(n, clients, low_bits=2, decode="paper"),
    "lehmer paper": lambda n, clients: Lehmer(n, clients, low_bits="paper", max_samples=9),
    "lehmer paper, paper's decode": lambda n, clients: Lehmer(
        n, clients, low_bits="paper", max_samples=9, decode="paper"
    ),
}
"""Methods of one round, by items and clients."""


def signed(study):
    """Return the same study with identities."""
    roster = with_identities(study.roster, IDENTITIES)
    more = study.threshold, COORDINATOR
    return Study(study.method, study.items, roster, *more, fit_phi=study.fit_phi)


SIGNED = signed(STUDY)
SIGNED_METHODS = {name: signed(study) for name, study in METHODS.items()}
BOTH = {"unsigned": STUDY, "signed": SIGNED}


def keys(study):
    """What `conduct` is given of the coordinator."""
    return {"identity": COORDINATOR} if study.signed else {}


def clients(study, seed=9, kind=InProcess, **options):
    """The four clients, in process."""
    identities = IDENTITIES if study.signed else None
    return kind(study, CLIENTS, seed_bytes(seed), identities=identities, **options)


def begin_of(study, /, run=0, nonce=bytes(32), **changes):
    """What opens the first round, or another."""
    fields = {
        "study": bytes.fromhex(study.digest),
        "run": run,
        "round": 0,
        "nonce": nonce,
        "stage": "start",
        "order": [],
        "previous": bytes(32),
        "survivors": [],
        "confirmations": [],
    }
    return SecaggBegin(**fields | changes)


def begins(study, /, who=range(4), **fields):
    """What opens a round, for every client."""
    begin = begin_of(study, **fields)
    return {client: begin.to_bytes(client) for client in who}


def parties(n, clients, phi=0.95, seed=0, samples=9):
    """Clients with 1 to so many rankings each: ties in plenty."""
    rng = np.random.default_rng(seed)
    model = Mallows(phi, n=n)
    return [model.sample(int(rng.integers(1, samples + 1)), rng) for _ in range(clients)]
