"""Whole runs of four clients, by every method, over the transport in process."""

from fedrank import Borda, Kemeny, Lehmer, Mallows, Study
from fedrank._random import seed_bytes
from fedrank.transport import InProcess

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


def clients(study, seed=9, **options):
    """The four clients, in process."""
    return InProcess(study, CLIENTS, seed_bytes(seed), **options)
