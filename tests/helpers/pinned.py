"""Results that a restructuring must not change, to the last byte.

``python -m helpers.pinned``, in the folder tests, writes vectors/pinned.json; test_pinned.py
compares.
These values come from our own output: they notice change, and prove nothing else.
"""

import hashlib
import json
import tempfile
from itertools import product

import numpy as np

import fedrank as fr
import fedrank.data
from fedrank import experiments, golomb, superposition
from fedrank.schemes import Dispersion, Refine
from helpers.paths import SAMPLES, VECTORS

FILE = VECTORS / "pinned.json"
N, CLIENTS = 12, 6


def digest(*parts):
    """Hash arrays, bytes and text; arrays with their type and shape."""
    hashed = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            hashed.update(f"{part.dtype}{part.shape}".encode())
            hashed.update(np.ascontiguousarray(part).tobytes())
        else:
            hashed.update(part.encode() if isinstance(part, str) else part)
    return hashed.hexdigest()[:32]


def data(phi=0.7, n=N, samples=40, clients=CLIENTS):
    return fr.Mallows(phi, n=n).sample(samples, rng=3).split(clients, rng=4)


def partial_data():
    ranks = [each.ranks.copy() for each in data()]
    for client, rows in enumerate(ranks):
        rows[:, (client + 1) % N] = -1
        rows[::2][rows[::2] > 8] = 8
    return [fr.PartialRankings(rows) for rows in ranks]


def schemes():
    center = np.roll(np.arange(N), 3)
    return {
        "borda": fr.Borda(N, CLIENTS, send="centroids"),
        "borda phi .3": fr.Borda(N, CLIENTS, send="centroids", phi=0.3),
        "borda exact": fr.Borda(N, CLIENTS, send="sums", max_samples=9),
        "lehmer": fr.Lehmer(N, CLIENTS),
        "lehmer 2": fr.Lehmer(N, CLIENTS, low_bits=2),
        "lehmer paper": fr.Lehmer(N, CLIENTS, low_bits="paper", max_samples=9, decode="paper"),
        "refine": Refine(center, CLIENTS, 3, max_samples=9),
        "refine counts": Refine(center, CLIENTS, 4, counts=True, max_samples=9),
        "refine all": Refine(center, CLIENTS, N, counts=True, max_samples=9),
        "refine majority": Refine(center, CLIENTS, 2, majority=True),
        "dispersion": Dispersion(center, CLIENTS, max_samples=9),
    }


def messages():
    found = {}
    for name, scheme in schemes().items():
        sent = [scheme.encode(each, client=c, rng=c) for c, each in enumerate(data())]
        total = np.sum(sent, axis=0, dtype=np.uint64)
        packed = b"".join(scheme.pack(message) for message in sent)
        found[name] = {
            "bits": scheme.message_bits,
            "packed": digest(packed),
            "total": digest(total),
        }
        if name == "dispersion":
            fit = scheme.decode(total, CLIENTS)
            found[name]["fit"] = [fit.phi, fit.standard_error, fit.mean_distance, fit.samples]
        else:
            found[name] |= shown(scheme.decode(total, CLIENTS, rng=7), scheme, CLIENTS)
    return found


def levels(scores, phi, survivors):
    """Mean levels of quantized Borda, which were pinned before scores became positions."""
    expected = fr.Mallows(phi, n=len(scores)).expected_ranks()
    sums = np.interp(scores, expected, np.arange(len(scores))) * survivors
    assert np.allclose(sums, np.rint(sums), atol=1e-6)
    return (np.rint(sums) / survivors).tolist()


def shown(consensus, scheme=None, survivors=0):
    if isinstance(scheme, fr.Borda) and scheme.send == "centroids":
        return shown(consensus) | {"scores": levels(consensus.scores, scheme.phi, survivors)}
    return {
        "ranks": consensus.ranks.tolist(),
        "ties": consensus.ties,
        "exact": consensus.exact,
        "objective": consensus.objective,
        "lower_bound": consensus.lower_bound,
        "scores": None if consensus.scores is None else consensus.scores.tolist(),
    }


def central():
    votes = fr.Mallows(0.9, n=30).sample(50, rng=5)
    found = {}
    for method, ties in product(
        ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"], ["random", "index"]
    ):
        found[f"{method} {ties}"] = shown(fr.aggregate(votes, method, ties=ties, rng=6))
    found["kemeny partial"] = shown(fr.aggregate(partial_data()[0], "kemeny", rng=6))
    wild = fr.Mallows(1.0, n=60).sample(9, rng=8)
    found["kemeny searched"] = shown(fr.aggregate(wild, "kemeny", rng=6))
    return found


def federated():
    paper = {"send": "centroids"}
    runs = {
        "borda": ("borda", paper),
        "borda lost": ("borda", {**paper, "dropouts": [2]}),
        "borda lost at each step": (
            "borda",
            {**paper, "dropouts": {0: "share", 3: "unmask"}, "threshold": 4},
        ),
        "borda exact": ("borda", {"send": "sums", "max_samples": 9}),
        "lehmer": ("lehmer", {"low_bits": 2}),
        "kemeny": ("kemeny", {**paper, "window": 2, "rounds": 1, "max_samples": 9}),
        "kemeny rounds": ("kemeny", {**paper, "window": 1, "rounds": 4, "max_samples": 9}),
        "kemeny counts": (
            "kemeny",
            {**paper, "window": 4, "rounds": 3, "counts": True, "max_samples": 9},
        ),
        "kemeny majority": ("kemeny", {**paper, "window": 3, "rounds": 1, "majority": True}),
        "kemeny lost later": (
            "kemeny",
            {
                **paper,
                "window": 1,
                "rounds": 4,
                "max_samples": 9,
                "dropouts": {4: (1, "mask")},
            },
        ),
        "phi": ("borda", {**paper, "fit_phi": True, "max_samples": 65_535}),
        "kemeny phi": (
            "kemeny",
            {**paper, "window": 2, "rounds": 2, "max_samples": 9, "fit_phi": True},
        ),
    }
    found = {}
    for name, (method, options) in runs.items():
        for secure, seed in product([True, False], [0, 11]):
            result = fr.federate(data(0.8), method, secure=secure, rng=seed, **options)
            found[f"{name}, {'secure' if secure else 'plain'}, {seed}"] = federation(result)
    result = fr.federate(
        partial_data(), "kemeny", rng=1, window=3, rounds=1, max_samples=9, **paper
    )
    found["partial kemeny"] = federation(result)
    genes = fr.Mallows(0.6, n=978).sample(500, rng=0).split(10, rng=0)
    found["genes"] = federation(fr.federate(genes, "borda", dropouts=[2, 7], rng=0, **paper))
    return found


def federation(result):
    fit = result.fit
    return {
        "survivors": result.survivors,
        "dropped": {str(client): when for client, when in result.dropped.items()},
        "bytes_up": result.bytes_up.tolist(),
        "rounds": [len(each.survivors) for each in result.rounds],
        "unopened": result.note is not None,
        "fit": fit and [fit.phi, fit.standard_error, fit.mean_distance, fit.samples],
        **shown(result, result.scheme, len(result.survivors)),
    }


def codes():
    lehmer = fr.lehmer_encode(fr.Mallows(0.8, n=20).sample(30, rng=2))
    parameter = golomb.fit(lehmer)
    by_item = golomb.fit_items(lehmer)
    return {
        "lehmer": digest(lehmer),
        "golomb parameter": int(parameter),
        "golomb": digest(golomb.encode(lehmer, parameter)),
        "golomb by item": digest(golomb.encode(lehmer, by_item)),
        "superposition": shown(superposition.aggregate(data(), rng=0).consensus),
    }


def model():
    votes = fr.Mallows(0.6, center=np.roll(np.arange(15), 4)).sample(100, rng=1)
    rules = [fr.Borda(10, 5, send="centroids"), fr.Lehmer(10, 5), "borda", "lehmer", "kemeny"]
    trials = fr.planning.simulate(rules, phi=0.5, n=10, clients=5, samples=4, repetitions=50, rng=0)
    planned = fr.plan("borda", n=10, phi=0.5, clients=10, rng=0, send="centroids")
    return {
        "sample": digest(votes.ranks),
        "counts": digest(fr.pairwise_counts(votes)),
        "simulate": trials.tolist(),
        "plan": [planned.samples, planned.at_least, planned.at_most, planned.message_bits],
    }


def tables():
    """Rows of `reproduce`: the paper's panels, few repetitions."""
    options = experiments.Options(seed=2, repetitions=3)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bins", "synthetic-n10-authors-samples", "synthetic-n10-random-clients"):
            (made,) = experiments.reproduce([name], folder, options, formats=())
            found[name] = digest(made.table.read_bytes())
    return found


def files():
    names = ("small.soc", "small.toi", "cvr.csv", "profile.csv", "ranks.csv", "orders.csv")
    read = {name: fr.data.read(SAMPLES / name, complete=True, rng=0) for name in names}
    return {name: digest(votes.ranks, str(votes.items)) for name, votes in read.items()}


SECTIONS = (messages, central, federated, codes, model, tables, files)


def compute():
    """Everything, as JSON has it."""
    return json.loads(json.dumps({section.__name__: section() for section in SECTIONS}))


if __name__ == "__main__":
    FILE.write_text(json.dumps(compute(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
