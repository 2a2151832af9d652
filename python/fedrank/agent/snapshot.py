"""The rankings that a study is answered from: read once, and kept.

All rounds of all runs of the study are answered from them. If the file were read again, then two
sums would differ by what changed in it meanwhile; with other ties they would tell what is tied.
"""

import hashlib
import json
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fedrank import data
from fedrank._random import round_rng, seed_bytes
from fedrank.agent.labels import check_labels
from fedrank.agent.ledger import NEW_STUDY, sha256
from fedrank.agent.policy import Config, as_toml
from fedrank.agent.store import Store
from fedrank.exceptions import Code, InputError, RefusalError
from fedrank.protocol.study import Round, Study
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings

SNAPSHOT_FORMAT = 4
NOT_READ = "the file cannot be read, or does not suit the study: a preview shows why"


@dataclass(frozen=True)
class Snapshot:
    """The rankings, and the seed of their local ties.

    Attributes
    ----------
    rankings : Rankings or PartialRankings
        With the items in the study's order.
    seed : bytes
        Breaks local ties, the same way in every run.
    source : str
        What was read, in one line.
    origin : str
        The file, and how it was read.
    file : str or None
        SHA-256 of the file; None if it is no regular file.
    """

    rankings: AnyRankings = field(repr=False)
    seed: bytes = field(repr=False)
    source: str
    origin: str
    file: str | None

    def to_bytes(self) -> bytes:
        """Write a line of JSON, and the positions."""
        m, n = self.rankings.ranks.shape
        head = {
            "format": SNAPSHOT_FORMAT,
            "rankings": m,
            "items": n,
            "partial": isinstance(self.rankings, PartialRankings),
            "seed": self.seed.hex(),
            "source": self.source,
            "origin": self.origin,
            "file": self.file,
        }
        positions = self.rankings.ranks.astype("<i4").tobytes()
        return json.dumps(head).encode() + b"\n" + positions

    @classmethod
    def from_bytes(cls, content: bytes) -> "Snapshot":
        """Read what `to_bytes` wrote."""
        line, _, positions = content.partition(b"\n")
        head = json.loads(line)
        if head["format"] != SNAPSHOT_FORMAT:
            raise ValueError("the rankings were kept by another version of fedrank")
        ranks = np.frombuffer(positions, dtype="<i4").reshape(head["rankings"], head["items"])
        kind = PartialRankings if head["partial"] else Rankings
        seed = bytes.fromhex(head["seed"])
        return cls(kind(ranks), seed, str(head["source"]), str(head["origin"]), head["file"])


def kept_snapshot(config: Config, store: Store, study: Study) -> tuple[Snapshot, str]:
    """Read the rankings the first time, and keep them; return them and their hash.

    Raises
    ------
    RefusalError
        If they do not suit the study, were read otherwise, or are not those of earlier messages.
    """
    kept, ledger = store.rankings(study.digest), store.ledger()
    if kept is None:
        if ledger.masked(study.digest):
            problem = "the rankings that it was answered from are gone"
            raise RefusalError(Code.REFUSED, f"study {study.digest}: {problem}; {NEW_STUDY}")
        read = new_snapshot(config, study)
        encode(config, study, study.round(0), read)  # what does not suit may be corrected
        store.keep_study(study.digest, study.to_json())
        kept = store.keep_rankings(study.digest, read.to_bytes())
    ledger.check_rankings(study.digest, sha256(kept))
    try:
        snapshot = Snapshot.from_bytes(kept)
    except (ValueError, KeyError, TypeError) as error:
        what = "the rankings kept for the study"
        problem = f"{what} are damaged ({type(error).__name__}: {error})"
        raise RefusalError(
            Code.DATA,
            f"{problem}; restore them from a backup, or {NEW_STUDY}",
            logged=f"{what} are damaged",
        ) from error
    check_origin(config, snapshot, ledger.masked(study.digest))
    check_samples(config, len(snapshot.rankings))
    return snapshot, sha256(kept)


def new_snapshot(config: Config, study: Study) -> Snapshot:
    """Read the rankings as they are now."""
    before = file_hash(config)
    rankings = read_rankings(config, study)
    check_samples(config, len(rankings))  # more may come, so nothing is kept yet
    seed = seed_bytes(config.seed)
    return Snapshot(rankings, seed, str(rankings.source), origin_of(config), before)


def file_hash(config: Config) -> str | None:
    """Hash the file of rankings, if it is a regular file that can be read."""
    try:
        if not config.rankings.is_file():
            return None
        with config.rankings.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def origin_of(config: Config) -> str:
    """Write the file of rankings and how it is read, as the configuration has them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fedrank.agent import Policy
    >>> places = Path("/data/votes.csv"), Path("s"), Path("a.sock")
    >>> print(origin_of(Config("east", *places, Policy(), reading={"layout": "ranks"})))
    rankings = "/data/votes.csv", [reading] layout = "ranks"
    """
    options = {name: config.reading[name] for name in sorted(config.reading)}
    file = as_toml({"rankings": str(config.rankings.absolute())})
    return f"{file}, [reading] {as_toml(options) or 'without options'}"


def check_origin(config: Config, snapshot: Snapshot, masked: bool) -> None:
    """Refuse to answer from rankings that were read with another configuration."""
    now = origin_of(config)
    if snapshot.origin == now:
        return
    remedy = NEW_STUDY if masked else "forget what was kept, so that the file is read again"
    raise RefusalError(
        Code.DATA,
        f"the rankings kept for the study were read with {snapshot.origin}, but the configuration "
        f"now says {now}; change it back, or {remedy}",
        logged="the rankings kept for the study were read with another configuration",
    )


def encode(config: Config, study: Study, round: Round, snapshot: Snapshot) -> NDArray[np.uint64]:
    """Encode the rankings for a round: the same message, however often it is asked for.

    With a seed, local ties are broken as the in-process transport does for this client.
    """
    me = config.me(study)
    if me is None:
        raise RefusalError(
            Code.REFUSED,
            f"{config.absence(study)}, so it has no message: every client rounds by its place "
            "there",
        )
    rng = round_rng(snapshot.seed, round.number, 0, me)
    try:
        return round.scheme.encode(snapshot.rankings, client=me, rng=rng)
    except ValueError as error:
        raise RefusalError(Code.DATA, str(error)) from error


def check_samples(config: Config, samples: int) -> None:
    """Refuse to answer with few rankings."""
    least = config.policy.min_samples
    if samples < least:
        what = "1 ranking is" if samples == 1 else f"{samples} rankings are"
        raise RefusalError(Code.REFUSED, f"{what} fewer than min_samples = {least}")


def read_rankings(config: Config, study: Study) -> AnyRankings:
    """Read the rankings, with the items in the study's order."""
    try:
        rankings: AnyRankings = data.read(config.rankings, rng=config.seed, **config.reading)
        check_complete(config, study, rankings)
        check_labels(rankings, study)
        return rankings if study.items is None else rankings.align(study.items)
    except InputError as error:
        error.at(config.rankings, error.line)
        first, *more = error.lines(error.remedy, as_toml)
        if error.choices:
            more.append("Write it under [reading] in the configuration.")
        raise RefusalError(Code.DATA, first, more, f"{error.place}: {NOT_READ}") from error
    except (ValueError, OSError) as error:
        logged = f"{config.rankings}: {NOT_READ}"
        raise RefusalError(Code.DATA, f"{config.rankings}: {error}", logged=logged) from error


def check_complete(config: Config, study: Study, rankings: AnyRankings) -> None:
    """Refuse ties and gaps for a study that takes complete rankings only."""
    takes_partial = getattr(study.method, "partial", False) and not study.fit_phi
    if isinstance(rankings, PartialRankings) and not takes_partial:
        raise InputError(
            "the rankings have ties or gaps, and the study takes complete rankings only",
            file=config.rankings,
            choices=[("order ties and gaps at random", {**config.reading, "complete": True})],
        )
