"""The clients of ``fedrank federate``: who they are, and their rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedrank._progress import Progress
from fedrank._validation import few
from fedrank.cli import _reading
from fedrank.data import read_sushi
from fedrank.protocol.secagg import STEPS
from fedrank.rankings.partial import AnyRankings


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
) -> list[Party]:
    """Read the clients' rankings, all with their items in one order."""
    asked = {"--by": by, "--clients": clients, "--users": users}
    given = [flag for flag, value in asked.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} both say who the clients are: give one")
    if not given:
        return read_parties(files, how, seed)
    if len(files) > 1:
        raise ValueError(f"{given[0]} splits one file, and {len(files)} are given")
    rng = _reading.stream(seed, 0, 0)
    if by is not None:
        found = how.read_groups(files[0], by, rng)
        return [Party(name, rankings) for name, rankings in found.items()]
    if users is not None:
        if how.layout not in (None, _reading.Layout.SUSHI):
            raise ValueError(f"--users goes with --layout sushi, not {how.layout}")
        if how.keeps_ties:
            raise ValueError("Sushi's rankings have no ties: leave out --keep-ties")
        _reading.check_file(files[0])
        _reading.check_file(users)
        regions = read_sushi(files[0], users)
        return [Party(f"region {region}", rankings) for region, rankings in regions.items()]
    parts: Sequence[AnyRankings] = how.read(files[0], rng).split(
        clients or 0, _reading.stream(seed, 1)
    )
    return [Party(str(client), part) for client, part in enumerate(parts)]


def read_parties(files: Sequence[Path], how: _reading.Reading, seed: int) -> list[Party]:
    """Read one file per client."""
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
            progress.label, progress.step = f"reading {file.name}", sizes[i]
            rankings = how.read(file, _reading.stream(seed, 0, i))
            first = parties[0] if parties else None
            parties.append(Party(name, aligned(file, rankings, first), file))
            progress.advance(sizes[i])
    return parties


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


def aligned(file: Path, rankings: AnyRankings, first: Party | None) -> AnyRankings:
    """Put the items into the order of the first client's."""
    if first is None or rankings.item_labels == first.rankings.item_labels:
        if first is not None and rankings.n != first.rankings.n:
            raise ValueError(
                f"{file} ranks {rankings.n} items, and {first.file} {first.rankings.n}: "
                "all clients must rank the same"
            )
        return rankings
    theirs, ours = (set(each.items) for each in (rankings, first.rankings))
    if theirs == ours:
        return rankings.align(first.rankings.items)
    lacks = [label for label in first.rankings.items if label not in theirs]
    more = [label for label in rankings.items if label not in ours]
    said = [f"{word} {few(some)}" for word, some in (("lacks", lacks), ("adds", more)) if some]
    raise ValueError(
        f"{file} {' and '.join(said)}, compared with {first.file}: "
        "all clients must rank the same items"
    )


def find_dropouts(parties: Sequence[Party], drop: Sequence[str]) -> dict[int, str]:
    """Clients that vanish, and at which step, from ``name`` or ``name:step``."""
    index: dict[str, int] = {}
    for client, party in enumerate(parties):
        if party.file is not None:
            index |= dict.fromkeys((party.file.name, str(party.file)), client)
    index |= {party.name: client for client, party in enumerate(parties)}
    lost: dict[int, str] = {}
    for asked in drop:
        name, colon, step = asked.rpartition(":")
        if asked in index or not colon:
            name, step = asked, "mask"
        if name not in index:
            known = few([party.name for party in parties])
            raise ValueError(f"--drop {asked}: there is no client {name!r}; they are {known}")
        if step not in STEPS[1:]:
            raise ValueError(f"--drop {asked}: {step!r} is not one of {', '.join(STEPS[1:])}")
        if index[name] in lost:
            raise ValueError(f"--drop {asked}: {name!r} is dropped twice")
        lost[index[name]] = step
    return lost


def together(parties: Sequence[Party]) -> AnyRankings:
    """All rankings of these clients."""
    first = parties[0].rankings
    ranks = np.concatenate([party.rankings.ranks for party in parties])
    return first._trusted(ranks, first.item_labels)
