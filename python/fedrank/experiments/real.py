"""The real-data panels: the Kemeny objective of Algorithms 1 to 3 as clients hold more samples."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import data
from fedrank._text import noun
from fedrank._validation import plural
from fedrank.consensus import aggregate
from fedrank.data.download import find
from fedrank.distances import kemeny_score
from fedrank.experiments.algorithms import algorithm_2, algorithm_3
from fedrank.experiments.figure import Figure, Options, Row, summary
from fedrank.protocol.federate import federate
from fedrank.rankings.complete import Rankings
from fedrank.schemes import Borda, Lehmer

PHI = 0.6  # of the quantizers, as in the paper


def federated_footrule(parts: Sequence[ArrayLike], rng: np.random.Generator) -> NDArray[np.int32]:
    """Compute the footrule consensus of the clients' own ones, without masks, as in the paper."""
    found = [aggregate(part, "footrule", rng=rng).ranks for part in parts]
    return aggregate(np.array(found), "footrule", rng=rng).ranks


def federated_kemeny(parts: Sequence[ArrayLike], rng: np.random.Generator) -> NDArray[np.int32]:
    """Refine Borda by the margins of items near to each other; not in the paper (M14)."""
    options: dict[str, Any] = {"send": "centroids", "phi": PHI, "window": 8, "rounds": 4}
    found = federate(parts, "kemeny", secure=False, rng=rng, **options)
    return found.ranks


Rule = Callable[[Sequence[Rankings], np.random.Generator], NDArray[np.int32]]


def by_scheme(make: Callable[[int, int, int], Borda | Lehmer]) -> Rule:
    """Return the rule of a scheme for (items, clients, samples); masks would change nothing."""

    def rule(parts: Sequence[Rankings], rng: np.random.Generator) -> NDArray[np.int32]:
        scheme = make(parts[0].n, len(parts), max(map(len, parts)))
        return federate(parts, scheme, secure=False, rng=rng).ranks

    return rule


def by_method(method: str) -> Rule:
    """Return the rule of a method that sees all the rankings."""

    def rule(parts: Sequence[Rankings], rng: np.random.Generator) -> NDArray[np.int32]:
        return aggregate(np.concatenate([part.ranks for part in parts]), method, rng=rng).ranks

    return rule


RULES: dict[tuple[str, str], Rule] = {
    ("Borda", "federated"): by_scheme(lambda n, clients, _: algorithm_2(n, clients, PHI)),
    ("Lehmer", "federated"): by_scheme(
        lambda n, clients, samples: algorithm_3(n, clients, PHI, samples)
    ),
    ("Lehmer, nearest", "federated"): by_scheme(lambda n, clients, _: Lehmer(n, clients, phi=PHI)),
    ("Footrule", "federated"): federated_footrule,
    ("Kemeny", "federated"): federated_kemeny,
    ("Borda", "centralized"): by_method("borda"),
    ("Lehmer", "centralized"): by_method("lehmer"),
    ("Footrule", "centralized"): by_method("footrule"),
    ("Kemeny", "centralized"): by_method("kemeny"),
}
"""What is compared, by the columns ``method`` and ``where`` of the table."""


class Real(Figure):
    """Kemeny objective over all the data, against the samples of the smallest client.

    Parameters
    ----------
    name, title : str
        As for every figure.
    files : sequence of str
        Names of the data files.
    read : callable
        Reads the files: all rankings, or a list of the rankings of each client.
    clients : int
        Number of clients.
    dealt : bool
        Whether every repetition deals the rankings out to the clients at random. If not,
        repetitions differ only in how ties are broken.
    steps : int
        Number of growing subsets.
    repetitions : int
        Number of repetitions, by default.
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
        """List one part per size of the subsets."""
        held = self.load(options)
        if isinstance(held, list):  # clients of unequal size, as in the paper
            return [{"step": step} for step in range(1, self.steps + 1)]
        most = -(-len(held) // self.clients)
        sizes = np.unique(np.geomspace(1, most, self.steps).round().astype(int))
        return [{"step": int(size)} for size in sizes]

    def load(self, options: Options) -> Rankings | list[Rankings]:
        """Read the data, once."""
        paths = locate(self.name, self.files, options.data)
        return cached(self.read, paths, digest(paths))

    def stamp(self, options: Options) -> Row:
        """Return the common columns, and a digest of the files."""
        return super().stamp(options) | {
            "data": digest(locate(self.name, self.files, options.data))
        }

    def subsets(self, step: int, repetition: int, options: Options) -> list[Rankings]:
        """Return what the clients hold at one step: the first of their rankings."""
        held = self.load(options)
        if isinstance(held, list):
            return [part[: -(-len(part) * step // self.steps)] for part in held]
        # In random order, since a file may be sorted.
        dealt = self.rng(options, "split", repetition).permutation(len(held))
        return [held[share[:step]] for share in np.array_split(dealt, self.clients)]

    def steps_of(self, options: Options) -> int:
        """Count one step per rule and repetition."""
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
        from fedrank.experiments import pictures  # noqa: PLC0415  needs the extra plot

        first, last = rows[0], rows[-1]
        if self.dealt:
            x = {row["step"]: row["used"] / self.clients for row in rows}
        else:  # several subsets may give the smallest client the same number of samples
            x = {row["step"]: row["step"] * last["samples"] / self.steps for row in rows}
        sizes = (
            f"{plural(first['n'], 'item')}, {first['total']:,} {noun(first['total'], 'ranking')}, "
            f"{plural(self.clients, 'client')}"
        )
        return pictures.panels(
            {sizes: [row | {"x": x[row["step"]]} for row in rows]},
            self.title,
            "x",
            "samples per client" if self.dealt else "samples of the smallest client",
            "mean Kendall distance to all rankings, over n",
            close=True,
        )


def locate(name: str, files: Sequence[str], folder: Path | None) -> tuple[Path, ...]:
    """Find the files of a data set, or explain how to get them."""
    place = (folder or data.data_folder()) / data.CATALOGUE[name].folder
    into = "" if folder is None else f" into {folder}"
    paths = tuple(find(place, file) for file in files)
    for file, path in zip(files, paths, strict=True):
        if not path.is_file():
            raise FileNotFoundError(
                f"{file} is not in {place}: get it{into} with 'fedrank data fetch {name}', or name "
                "the data folder that holds it"
            )
    return paths


def digest(paths: Sequence[Path]) -> str:
    """Return the beginning of a SHA-256 over the files' contents.

    The prefix keeps a table from reading it as a number.

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
    """Hash a file once, as long as its size and modification time stay the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def cached(
    read: Callable[[list[Path]], Rankings | list[Rankings]], paths: tuple[Path, ...], _content: str
) -> Rankings | list[Rankings]:
    """Read once what every part needs, and again if the contents change."""
    return read(list(paths))


def regions(paths: list[Path]) -> list[Rankings]:
    """Read Sushi: one client per region, samples in file order."""
    return [Rankings(each) for each in data.read_sushi(paths[0], paths[1]).values()]


FIGURES: tuple[Real, ...] = (
    Real(
        "sushi",
        "Algorithms 1 to 3 on Sushi",
        ("sushi3a.5000.10.order", "sushi3.udata"),
        regions,
        clients=10,
        dealt=False,
        steps=200,
        repetitions=10,
    ),
    Real(
        "jester",
        "Algorithms 1 to 3 on Jester",
        ("jester_dataset_1_1.zip", "jester_dataset_1_2.zip"),
        data.read_jester,
        clients=50,
        dealt=True,
        steps=24,
        repetitions=20,
    ),
    Real(
        "luad",
        "Algorithms 1 to 3 on TCGA LUAD",
        ("LUAD_fpkm_landmark978.tsv.gz",),
        lambda paths: data.read_expression(paths[0]),
        clients=10,
        dealt=True,
        steps=10,
        repetitions=5,
    ),
    Real(
        "lusc",
        "Algorithms 1 to 3 on TCGA LUSC (a small substitute)",
        ("LUSC_rsem_landmark926_35tumours.tsv.gz",),
        lambda paths: data.read_expression(paths[0]),
        clients=10,
        dealt=True,
        steps=3,
        repetitions=10,
    ),
    Real(
        "maine",
        "Algorithms 1 to 3 on Maine 2018, governor's primary",
        ("Maine_06122018_DemocraticPrimaryforGovernor.csv",),
        lambda paths: data.read_ballots(paths[0], complete=True, rng=0),
        clients=50,
        dealt=True,
        steps=24,
        repetitions=20,
    ),
)
