"""What an agent answers, and what it refuses."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedrank import _core, data
from fedrank._random import round_rng, seed_bytes
from fedrank.agent.policy import NOT_ALLOWED, Config, as_toml
from fedrank.agent.store import NEW_STUDY, Store
from fedrank.exceptions import Code, InputError, ProtocolError, RefusalError
from fedrank.protocol.record import Begin, Record
from fedrank.protocol.secagg import STEPS, Client
from fedrank.protocol.study import Round, Study
from fedrank.rankings.complete import Rankings
from fedrank.rankings.partial import AnyRankings, PartialRankings
from fedrank.transport.base import Step

SNAPSHOT_FORMAT = 3
NOT_READ = "the file cannot be read, or does not suit the study: a preview shows why"
BEGUN_SESSIONS = 16  # sessions without a masked input that are kept, beside runs_per_day


class Agent:
    r"""Answers for one data holder; holds its store for as long as it lives.

    It does not trust the server: from the study and its own record of the run it derives what every
    round may ask for, and refuses anything else.

    Parameters
    ----------
    config : Config
        Whose rankings, where, and what may be done with them.

    Raises
    ------
    ValueError
        If another agent holds the store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fedrank import Borda
    >>> from fedrank.agent import Policy
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "votes.csv").write_text("ann,bob\n" + "0,1\n" * 12)
    >>> study = Study(Borda(n=2, clients=3), ["ann", "bob"], ["north", "east", "west"])
    >>> policy = Policy((study.digest,))
    >>> config = Config("east", folder / "votes.csv", folder / "s", folder / "a.sock", policy)
    >>> agent = Agent(config)
    >>> first = Step(run=7, round=0, name="advertise")
    >>> keys = agent.answer(study.to_json(), first, b"")
    >>> len(keys), agent.answer(study.to_json(), first, b"") == keys
    (104, True)
    >>> agent.close()
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.store = Store(config.folder)
        self.store.take()
        self.store.prune()

    def close(self) -> None:
        """Let go of the store."""
        self.store.release()

    def answer(self, study: str, step: Step, request: bytes) -> bytes:
        """Answer one step of one round.

        The reply is on the disk before this returns. The same request again gets the same
        bytes; a different one for a step already answered is refused.

        Parameters
        ----------
        study : str
            Canonical JSON of the study, as `Study.to_json` writes it.
        step : Step
            Which run, round and step. Each round of a run is a session with keys of its own.
        request : bytes
            What the server sent: at the first step of a later round the announced order.

        Raises
        ------
        RefusalError
            With a code that may leave, and a detail that may not.
        """
        self.store.prune()
        agreed = self.check(study)
        if step.name not in STEPS:
            raise RefusalError(Code.PROTOCOL, f"there is no step {step.name!r}")
        try:
            return self.take_step(agreed, step, request)
        except ProtocolError as error:
            raise RefusalError(Code.PROTOCOL, str(error)) from error

    def check(self, text: str) -> Study:
        """Read a study, and refuse what the policy does not allow.

        The text is hashed before it is parsed, so that a study that is not allowed costs nothing.
        """
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in self.config.policy.studies:
            raise RefusalError(Code.REFUSED, f"study {digest}: {NOT_ALLOWED}")
        try:
            study = Study.from_json(text)
        except ValueError as error:
            raise RefusalError(Code.REFUSED, str(error)) from error
        objection = self.config.objection(study)
        if objection is not None:
            raise RefusalError(Code.REFUSED, f"study {study.digest}: {objection}")
        return study

    def take_step(self, study: Study, step: Step, request: bytes) -> bytes:
        """Go on from what is saved, and save what is new before the reply is known."""
        run, session = run_name(study, step.run), session_name(study, step)
        record = self.store.record(run) or begun(study)
        if step.name == "advertise":
            begin = Begin.from_bytes(request, study.method.n)
            round = record.begin(study, step.round, begin)
        else:
            round = record.round(study, step.round)
        client = self.resume(study, round, run, session, step)
        if step.name == "advertise":
            reply = client.advertise()
        elif step.name == "share":
            reply = client.share(request)
        elif step.name == "mask":
            self.check_runs(run)
            message = encode(
                self.config, study, round, kept_snapshot(self.config, self.store, study)
            )
            reply = client.mask(request, message)
            self.store.enter(run, session, study.digest, step.run, step.round)
        else:
            survivors = _core.survivors_of(request)
            self.check_survivors(survivors)
            record.open(step.round, survivors)
            reply = client.unmask(request)
        # Only runs that are in the ledger leave a record: others could fill the disk.
        if step.round > 0 or step.name in ("mask", "unmask"):
            self.store.save_record(run, record)
        self.store.save_state(session, client.state())
        return reply

    def resume(self, study: Study, round: Round, run: str, session: str, step: Step) -> Client:
        """Make the client of a session: with new keys at the first step only."""
        saved = self.store.state(session)
        if saved is not None:
            return Client.resume(round, saved)
        # New keys would give a second masked input, which no ledger counts.
        if self.store.entered(session):
            raise RefusalError(Code.PROTOCOL, f"session {session}: this run is over")
        if step.name != "advertise":
            raise RefusalError(
                Code.PROTOCOL, f"session {session} has not begun, or its state was deleted"
            )
        # What the step of the masked input will need is checked here, before anything is given.
        self.check_runs(run)
        encode(self.config, study, round, kept_snapshot(self.config, self.store, study))
        self.store.make_room(BEGUN_SESSIONS + self.config.policy.runs_per_day)
        me = self.config.me(study)
        assert me is not None  # checked with the study
        return Client(round, me)

    def check_runs(self, run: str) -> None:
        """Refuse more runs than agreed to; a run does not count against itself."""
        most = self.config.policy.runs_per_day
        if self.store.runs_today(but=run) >= most:
            raise RefusalError(Code.REFUSED, f"there were runs_per_day = {most} runs in 24 hours")

    def check_survivors(self, survivors: list[int]) -> None:
        """Refuse to open a sum over few clients."""
        least = self.config.policy.min_survivors
        if len(survivors) < least:
            raise RefusalError(
                Code.REFUSED, f"{len(survivors)} survivors are fewer than min_survivors = {least}"
            )


def run_name(study: Study, run: int) -> str:
    """Name a run, in letters that a file's name may have."""
    return hashlib.sha256(f"{study.digest} {run}".encode()).hexdigest()


def session_name(study: Study, step: Step) -> str:
    """Name a session: one round of one run."""
    return hashlib.sha256(f"{study.digest} {step.run} {step.round}".encode()).hexdigest()


def begun(study: Study) -> Record:
    """Return the record of a run of which nothing is kept: its first round may have begun."""
    record = Record()
    record.begin(study, 0, Begin())
    return record


@dataclass(frozen=True)
class Snapshot:
    """What a study was first answered from: the rankings, and the seed of their local ties.

    All rounds of all runs of the study are answered from it. If the file were read again, then two
    sums would differ by what changed in it meanwhile; with other ties they would tell what is tied.
    """

    rankings: AnyRankings
    seed: bytes
    source: str  # what was read, in one line
    origin: str | None  # the file, and how it was read; None if that was not kept

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
        }
        positions = self.rankings.ranks.astype("<i4").tobytes()
        return json.dumps(head).encode() + b"\n" + positions

    @classmethod
    def from_bytes(cls, content: bytes) -> "Snapshot":
        """Read what `to_bytes` wrote; the first format has complete rankings only."""
        line, _, positions = content.partition(b"\n")
        head = json.loads(line)
        if head["format"] == 1:
            added = {"partial": False, "source": "source not kept", "origin": None}
            head |= {"format": SNAPSHOT_FORMAT} | added
        if head["format"] != SNAPSHOT_FORMAT:
            raise ValueError("the rankings were kept by another version of fedrank")
        ranks = np.frombuffer(positions, dtype="<i4").reshape(head["rankings"], head["items"])
        kind = PartialRankings if head["partial"] else Rankings
        seed = bytes.fromhex(head["seed"])
        return cls(kind(ranks), seed, str(head["source"]), head["origin"])


def kept_snapshot(config: Config, store: Store, study: Study) -> Snapshot:
    """Read the rankings the first time, and keep them for the study."""
    kept = store.snapshot(study.digest)
    if kept is None:
        if store.masked(study.digest):
            problem = "the rankings that it was answered from are gone"
            raise RefusalError(Code.REFUSED, f"study {study.digest}: {problem}; {NEW_STUDY}")
        read = new_snapshot(config, study)
        encode(config, study, study.round(0), read)  # what does not suit may be corrected
        kept = store.keep_snapshot(study.digest, read.to_bytes())
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
    check_origin(config, store, study, snapshot)
    check_samples(config, len(snapshot.rankings))
    return snapshot


def new_snapshot(config: Config, study: Study) -> Snapshot:
    """Read the rankings as they are now."""
    rankings = read_rankings(config, study)
    check_samples(config, len(rankings))  # more may come, so nothing is kept yet
    seed = seed_bytes(config.seed)
    return Snapshot(rankings, seed, str(rankings.source), origin_of(config))


def origin_of(config: Config) -> str:
    """Write the file of rankings and how it is read, as the configuration has them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fedrank.agent import Policy
    >>> places = Path("/data/votes.csv"), Path("s"), Path("a.sock")
    >>> print(origin_of(Config("east", *places, Policy(()), reading={"layout": "ranks"})))
    rankings = "/data/votes.csv", [reading] layout = "ranks"
    """
    options = {name: config.reading[name] for name in sorted(config.reading)}
    file = as_toml({"rankings": str(config.rankings.absolute())})
    return f"{file}, [reading] {as_toml(options) or 'without options'}"


def check_origin(config: Config, store: Store, study: Study, snapshot: Snapshot) -> None:
    """Refuse to answer from rankings that were read with another configuration."""
    now = origin_of(config)
    if snapshot.origin in (None, now):  # the first format does not say
        return
    remedy = "forget what was kept, so that the file is read again"
    if store.masked(study.digest):
        remedy = NEW_STUDY
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
            f"{config.name} is not in the roster, so it has no message: every client rounds by its "
            "place there",
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
        raise RefusalError(Code.REFUSED, f"{samples} rankings are fewer than min_samples = {least}")


def read_rankings(config: Config, study: Study) -> AnyRankings:
    """Read the rankings, with the items in the study's order."""
    try:
        rankings: AnyRankings = data.read(config.rankings, rng=config.seed, **config.reading)
        check_complete(config, study, rankings)
        if study.items is not None:
            return rankings.align(study.items)
        if [str(label) for label in rankings.items] != [str(i) for i in range(rankings.n)]:
            raise InputError(
                "the rankings have labels, but the study has none",
                remedy="agree on a study with the labels of all items",
            )
        return rankings
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
