"""The clients of ``fedrank federate``: who they are, and their rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fedrank._progress import Progress
from fedrank._random import stream_rng
from fedrank._validation import few
from fedrank.cli import _reading
from fedrank.data import read_sushi
from fedrank.data.tables import completed
from fedrank.protocol.secagg import STEPS
from fedrank.rankings.partial import AnyRankings

SUSHI_OPTIONS = ("layout", "complete")
"""The options of the reader that go with a file of users."""


@dataclass(frozen=True)
class Party:
    """A client: its name, its rankings, and the file that they were read from."""

    name: str
    rankings: AnyRankings
    file: Path | None = None


def gather(
    files: Sequence[Path],
    by: str | None,
    clients: int | None,
    users: Path | None,
    how: _reading.Reading,
    seed: int,
    mixed: bool,
) -> list[Party]:
    """Read the clients' rankings, all with their items in one order."""
    asked = {"--by": by, "--clients": clients, "--users": users}
    given = [flag for flag, value in asked.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} both say who the clients are: give one")
    if given and mixed:
        raise ValueError(f"--mixed is for one file per client: it does not go with {given[0]}")
    if not given:
        parties = read_parties(files, how, seed, mixed)
        check_kinds(parties, mixed)
        return parties
    if len(files) > 1:
        raise ValueError(f"{given[0]} splits one file, but {len(files)} are given: give one")
    rng = stream_rng(seed, 0, 0)
    if by is not None:
        found = how.read_groups(files[0], by, rng)
        return [Party(name, rankings) for name, rankings in found.items()]
    if users is not None:
        if how.layout not in (None, "sushi"):
            raise ValueError(f"--users goes with --layout sushi, not {how.layout}")
        useless = {name: how.options[name] for name in how.options if name not in SUSHI_OPTIONS}
        if useless:
            raise ValueError(
                f"{_reading.as_flags(useless)} does not go with --users: the layout of Sushi files "
                "is fixed; leave it out"
            )
        _reading.check_file(files[0])
        _reading.check_file(users)
        regions = read_sushi(files[0], users)
        if how.options.get("complete"):
            regions = {
                region: completed(each, complete=True, rng=rng) for region, each in regions.items()
            }
        return [Party(f"region {region}", rankings) for region, rankings in regions.items()]
    parts: Sequence[AnyRankings] = how.read(files[0], rng).split(clients or 0, stream_rng(seed, 1))
    return [Party(str(client), part) for client, part in enumerate(parts)]


def read_parties(
    files: Sequence[Path], how: _reading.Reading, seed: int, mixed: bool
) -> list[Party]:
    """Read one file per client; if mixed, the options are for files that are not certain."""
    for i, file in enumerate(files):
        _reading.check_file(file)
        if file.resolve() in [other.resolve() for other in files[:i]]:
            raise ValueError(f"{file} is given twice")
    if len(files) == 1:
        raise ValueError(
            f"{files[0]} is one client: give more files, or split it with --by or --clients"
        )
    parties: list[Party] = []
    sizes = [max(1, file.stat().st_size) for file in files]
    with Progress("reading", sum(sizes)) as progress:
        for i, (name, file) in enumerate(zip(names_of(files), files, strict=True)):
            progress.label = f"reading {file.name}"
            progress.begin(sizes[i])
            rng = partial(stream_rng, seed, 0, i)
            rankings = how.read_mixed(file, rng) if mixed else how.read(file, rng())
            parties.append(Party(name, rankings, file))
            progress.advance(sizes[i])
    return parties


def check_kinds(parties: Sequence[Party], mixed: bool) -> None:
    """Refuse files that are read differently: one of ranks beside one of scores.

    Scores that look like ranks are not read beside other scores either. If mixed, files may differ,
    but numbers that look like ranks, and are not certain, must not be read as scores beside others.
    """
    first = parties[0]
    for party in parties[1:]:
        ours, theirs = first.rankings.source, party.rankings.source
        if ours is None or theirs is None:
            continue
        if ours.kind != theirs.kind and not mixed:
            raise ValueError(
                f"{first.file} was read as {ours.kind}, and {party.file} as {theirs.kind}: {MIXED}"
            )
        unlike = (ours.kind, ours.ranklike) != (theirs.kind, theirs.ranklike)
        for one, other in ((first, party), (party, first)):
            source = one.rankings.source
            if unlike and source is not None and source.kind == "scores" and source.ranklike:
                raise ValueError(
                    f"the scores of {one.file} look like ranks, and {other.file} contains "
                    f"{'other scores' if ours.kind == theirs.kind else 'no scores'}: "
                    f"{CONVERT if mixed else MIXED}"
                )


MIXED = (
    "pass --mixed to read each file that is certain without options as that, and the others as "
    "declared"
)
CONVERT = (
    "--mixed reads only complete ranks as ranks; convert the file, or read each file with its own "
    "options in Python (fedrank.data.read)"
)


def names_of(files: Sequence[Path]) -> list[str]:
    """Shortest names that tell the files apart: stem, name or path.

    Examples
    --------
    >>> names_of([Path("a/x.soc"), Path("a/y.csv.gz")])
    ['x', 'y']
    >>> names_of([Path("a/x.soc"), Path("a/x.csv")])
    ['x.soc', 'x.csv']
    """
    stems = [Path(file.name.removesuffix(".gz")).stem for file in files]
    names = [file.name for file in files]
    return next(
        (some for some in (stems, names) if len(set(some)) == len(files)), list(map(str, files))
    )


def find_dropouts(
    parties: Sequence[Party], drop: Sequence[str]
) -> dict[str, str | tuple[int, str]]:
    """Clients that vanish, and when: from ``name``, ``name:step`` or ``name:round:step``."""
    index: dict[str, str] = {}
    for party in parties:
        if party.file is not None:
            index |= dict.fromkeys((party.file.name, str(party.file)), party.name)
    index |= {party.name: party.name for party in parties}
    lost: dict[str, str | tuple[int, str]] = {}
    for asked in drop:
        name, colon, step = asked.rpartition(":")
        if asked in index or not colon:
            name, step = asked, "mask"
        front, _, number = name.rpartition(":")
        round = None
        if name not in index and number.isascii() and number.isdigit() and front:
            name, round = front, int(number)
        if name not in index:
            known = few([party.name for party in parties])
            raise ValueError(f"--drop {asked}: there is no client {name!r}; they are {known}")
        if step not in STEPS[1:]:
            raise ValueError(
                f"--drop {asked}: {step!r} is not a step; the steps are {', '.join(STEPS[1:])}"
            )
        if index[name] in lost:
            raise ValueError(f"--drop {asked}: {name!r} is dropped twice")
        lost[index[name]] = step if round is None else (round, step)
    return lost
