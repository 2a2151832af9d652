"""Whole runs of four clients, by every method, over the transport in process.

Every study is there twice: without identities, and with.
"""

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
