"""The real-data panels: the Kemeny objective as clients hold more of their samples."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import data
from fedrank.consensus import aggregate
from fedrank.distances import kemeny_score
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.protocol.federate import federate
from fedrank.rankings.complete import Rankings
from fedrank.schemes import Borda, Lehmer

PHI = 0.6  # of the quantizers, as in the paper


def federated_footrule(parts: Sequence[ArrayLike], rng: np.random.Generator) -> NDArray[np.int32]:
    """Footrule consensus of the clients' footrule consensuses, unmasked, as in the paper."""
    found = [aggregate(part, "footrule", rng=rng).ranks for part in parts]
    return aggregate(np.array(found), "footrule", rng=rng).ranks


def federated_kemeny(parts: Sequence[ArrayLike], rng: np.random.Generator) -> NDArray[np.int32]:
    """Borda, refined by the margins of items near to each other; not of the paper (M14)."""
    found = federate(parts, "kemeny", secure=False, rng=rng, phi=PHI, window=8, rounds=4)
    return found.consensus.ranks


Rule = Callable[[Sequence[Rankings], np.random.Generator], NDArray[np.int32]]


def by_scheme(make: Callable[[int, int, int], Borda | Lehmer]) -> Rule:
    """Rule of a scheme made for (items, clients, samples); in the clear, masks change nothing."""

    def rule(parts: Sequence[Rankings], rng: np.random.Generator) -> NDArray[np.int32]:
        scheme = make(parts[0].n, len(parts), max(map(len, parts)))
        return federate(parts, scheme, secure=False, rng=rng).consensus.ranks

    return rule


def by_method(method: str) -> Rule:
    """Rule of a method that sees all the rankings."""

    def rule(parts: Sequence[Rankings], rng: np.random.Generator) -> NDArray[np.int32]:
        return aggregate(np.concatenate([part.ranks for part in parts]), method, rng=rng).ranks

    return rule


def paper_lehmer(n: int, clients: int, samples: int) -> Lehmer:
    """Lehmer coding as printed: its number of low bits, its decoding."""
    return Lehmer(n, clients, PHI, low_bits="paper", max_samples=samples, decode="paper")


RULES: dict[tuple[str, str], Rule] = {
    ("Borda", "federated"): by_scheme(lambda n, clients, _: Borda(n, clients, PHI)),
    ("Lehmer", "federated"): by_scheme(paper_lehmer),
    ("Lehmer, nearest", "federated"): by_scheme(lambda n, clients, _: Lehmer(n, clients, PHI)),
    ("Footrule", "federated"): federated_footrule,
    ("Kemeny", "federated"): federated_kemeny,
    ("Borda", "centralized"): by_method("borda"),
    ("Lehmer", "centralized"): by_method("lehmer"),
    ("Footrule", "centralized"): by_method("footrule"),
    ("Kemeny", "centralized"): by_method("kemeny"),
}


class Real(Figure):
    """Kemeny objective over all the data, against the samples of the smallest client.

    Parameters
    ----------
    name, title : str
        As of every figure.
    files : sequence of str
        Names of the files it is made of.
    read : callable
        Makes rankings of the files' paths, or a list of them: one for each client.
    clients : int
        How many.
    dealt : bool
        Whether the rankings are dealt out to the clients at random, anew in each repetition.
        If not, repetitions only break ties anew.
    steps : int
        How many growing subsets.
    repetitions : int
        How many by default.
    """

    def __init__(
        self,
        name: str,
        title: str,
        files: Sequence[str],
        read: Callable[[list[Path]], Rankings | list[Rankings]],
        clients: int,
        dealt: bool,
        steps: int,
        repetitions: int,
    ) -> None:
        self.name, self.title, self.files, self.read = name, title, files, read
        self.clients, self.dealt = clients, dealt
        self.steps, self.repetitions = steps, repetitions

    def parts(self, options: Options) -> Sequence[Row]:
        """Take one size of the subsets at a time."""
        held = self.load(options)
        if isinstance(held, list):  # the paper's way for clients of unequal size
            return [{"step": step} for step in range(1, self.steps + 1)]
        most = -(-len(held) // self.clients)
        sizes = np.unique(np.geomspace(1, most, self.steps).round().astype(int))
        return [{"step": int(size)} for size in sizes]

    def load(self, options: Options) -> Rankings | list[Rankings]:
        """Read the data, once."""
        paths = locate(self.name, self.files, options.data)
        return cached(self.read, paths, digest(paths))

    def stamp(self, options: Options) -> Row:
        """Tell rows that were made of other files apart, too."""
        return super().stamp(options) | {
            "data": digest(locate(self.name, self.files, options.data))
        }

    def subsets(self, step: int, repetition: int, options: Options) -> list[Rankings]:
        """Cut out what the clients hold: the beginning of what is theirs."""
        held = self.load(options)
        if isinstance(held, list):
            return [part[: -(-len(part) * step // self.steps)] for part in held]
        # Dealt out in random order: a file may be sorted.
        dealt = self.rng(options, "split", repetition).permutation(len(held))
        return [held[share[:step]] for share in np.array_split(dealt, self.clients)]

    def steps_of(self, options: Options) -> int:
        """Go rule by rule, in every repetition."""
        return self.repeated(options) * len(RULES)

    def run(self, part: Row, options: Options, advance: Callable[[], None]) -> list[Row]:
        """Evaluate all rules on one size of subsets."""
        held = self.load(options)
        everything = held if isinstance(held, Rankings) else np.concatenate([p.ranks for p in held])
        scores: dict[tuple[str, str], list[float]] = {rule: [] for rule in RULES}
        parts: list[Rankings] = []
        for repetition in range(self.repeated(options)):
            parts = self.subsets(part["step"], repetition, options)
            rng = self.rng(options, part["step"], repetition)
            for which, rule in RULES.items():
                scores[which].append(kemeny_score(rule(parts, rng), everything))
                advance()
        stamp = self.stamp(options)
        return [
            {
                "figure": self.name,
                "step": part["step"],
                "n": int(np.shape(everything)[1]),
                "clients": self.clients,
                "total": len(everything),
                "samples": min(map(len, parts)),
                "used": sum(map(len, parts)),
                "method": method,
                "where": where,
                **summary(np.array(values)),
                **stamp,
            }
            for (method, where), values in scores.items()
        ]

    def draw(self, rows: Sequence[Row]) -> Any:
        """Draw one panel."""
        from fedrank.experiments import pictures  # noqa: PLC0415  an extra

        first, last = rows[0], rows[-1]
        if self.dealt:
            places = {row["step"]: row["used"] / self.clients for row in rows}
        else:  # several subsets may have as many samples at the smallest client
            places = {row["step"]: row["step"] * last["samples"] / self.steps for row in rows}
        title = f"{self.title}: {first['n']} items, {first['total']:,} rankings"
        return pictures.panels(
            {
                f"{title}, {self.clients} clients": [
                    row | {"x": places[row["step"]]} for row in rows
                ]
            },
            None,
            "x",
            "samples a client" if self.dealt else "samples of the smallest client",
            "mean Kendall distance to all rankings, over n",
            close=True,
        )


def locate(name: str, files: Sequence[str], folder: Path | None) -> tuple[Path, ...]:
    """Find the files of a data set, or say how to get them."""
    place = (folder or data.data_folder()) / data.CATALOGUE[name].folder
    into = "" if folder is None else f", into the data folder {folder}"
    for file in files:
        if not (place / file).is_file():
            raise FileNotFoundError(
                f"{file} is not in {place}: get it with 'fedrank data fetch {name}'{into}"
            )
    return tuple(place / file for file in files)


def digest(paths: Sequence[Path]) -> str:
    """Name the files' content: the beginning of a SHA-256 over theirs.

    The mark before it keeps a table from taking it for a number.

    Examples
    --------
    >>> digest([Path("tests/samples/sushi.order")])
    'sha256:aa816f715ce8'
    """
    found = [(path, path.stat()) for path in paths]
    parts = [content_hash(path, now.st_size, now.st_mtime_ns) for path, now in found]
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()[:12]


@cache
def content_hash(path: Path, _size: int, _changed: int) -> bytes:
    """Hash a file once, as long as it looks the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def cached(
    read: Callable[[list[Path]], Rankings | list[Rankings]], paths: tuple[Path, ...], _content: str
) -> Rankings | list[Rankings]:
    """Read once what every part needs, and again if the files hold something else."""
    return read(list(paths))


def regions(paths: list[Path]) -> list[Rankings]:
    """Read Sushi: a client a region, samples in file order."""
    return list(data.read_sushi(paths[0], paths[1]).values())


FIGURES: tuple[Figure, ...] = (
    Real(
        "sushi",
        "Sushi",
        ("sushi3a.5000.10.order", "sushi3.udata"),
        regions,
        clients=10,
        dealt=False,
        steps=200,
        repetitions=10,
    ),
    Real(
        "jester",
        "Jester",
        ("jester_dataset_1_1.zip", "jester_dataset_1_2.zip"),
        data.read_jester,
        clients=50,
        dealt=True,
        steps=24,
        repetitions=20,
    ),
    Real(
        "luad",
        "TCGA LUAD",
        ("LUAD_fpkm_landmark978.tsv.gz",),
        lambda paths: data.read_expression(paths[0]),
        clients=10,
        dealt=True,
        steps=10,
        repetitions=5,
    ),
    Real(
        "lusc",
        "TCGA LUSC (a small stand-in)",
        ("LUSC_rsem_landmark926_35tumours.tsv.gz",),
        lambda paths: data.read_expression(paths[0]),
        clients=10,
        dealt=True,
        steps=3,
        repetitions=10,
    ),
    Real(
        "maine",
        "Maine 2018, governor's primary",
        ("Maine_06122018_DemocraticPrimaryforGovernor.csv",),
        lambda paths: data.read_ballots(paths[0], rng=0),
        clients=50,
        dealt=True,
        steps=24,
        repetitions=20,
    ),
)
