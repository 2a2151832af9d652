"""What an agent answers, and what it refuses."""

import hashlib
from dataclasses import dataclass
from typing import Any

from fedrank import _core
from fedrank.agent.ledger import MASK, UNMASK, Ledger, sha256
from fedrank.agent.policy import NOT_ALLOWED, Config
from fedrank.agent.snapshot import encode, kept_snapshot
from fedrank.agent.store import Session, Store
from fedrank.exceptions import Code, ProtocolError, RefusalError
from fedrank.protocol.record import Begin, Record
from fedrank.protocol.secagg import STEPS, Client
from fedrank.protocol.study import Round, Study
from fedrank.transport.base import Step

NOT_YET = "studies with identities are not answered yet, since replies are not signed"
IS_CLOSED = "its owner has closed the study for ever"


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
        If there is no store, it is another identity's, or another agent holds it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fedrank import Borda
    >>> from fedrank.agent import Policy
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "votes.csv").write_text("ann,bob\n" + "0,1\n" * 12)
    >>> study = Study(Borda(n=2, clients=3), ["ann", "bob"], ["north", "east", "west"])
    >>> policy = Policy((study.digest,), allow_unsigned=True)
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
        self.store = Store(config.folder, config.public)
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
        self.store.check_place()
        self.store.prune()
        agreed = self.check(study)
        if step.name not in STEPS:
            raise RefusalError(Code.PROTOCOL, f"there is no step {step.name!r}")
        try:
            reply = self.take_step(agreed, step, request)
        except ProtocolError as error:
            raise RefusalError(Code.PROTOCOL, str(error)) from error
        self.store.check_place()  # what was saved must be where the next answer looks
        return reply

    def check(self, text: str) -> Study:
        """Read a study, and refuse what is not allowed.

        The text is hashed before it is parsed, so that a study that is not allowed costs nothing.
        """
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in self.config.policy.studies and not self.store.allows(digest):
            raise RefusalError(Code.REFUSED, f"study {digest}: {NOT_ALLOWED}")
        try:
            study = Study.from_json(text)
        except ValueError as error:
            raise RefusalError(Code.REFUSED, str(error)) from error
        problem = objection(self.config, self.store, study) or (NOT_YET if study.signed else None)
        if problem is not None:
            raise RefusalError(Code.REFUSED, f"study {study.digest}: {problem}")
        return study

    def take_step(self, study: Study, step: Step, request: bytes) -> bytes:
        """Go on from what is saved, and save what is new before the reply is known."""
        key = study.digest, step.run, step.round
        ledger, session = self.store.ledger(), self.store.session(*key) or Session()
        record = self.store.record(study.digest, step.run) or begun(study)
        if step.name == "advertise":
            round = record.begin(study, step.round, Begin.from_bytes(request, study.method.n))
            ledger.check_digest(study.digest, step.round, round.digest)
        else:
            round = record.round(study, step.round)
        if step.name not in session.requests:
            ledger.check_request(*key, step.name, request)
        asked = Asked(study, step, request, round, ledger, session, record)
        client = self.resume(asked)
        if step.name == "advertise":
            reply = client.advertise()
        elif step.name == "share":
            reply = client.share(request)
        elif step.name == "mask":
            reply = self.mask(client, asked)
        else:
            reply = self.open(client, asked)
        # Only runs that are in the ledger leave a record: others could fill the disk.
        if step.round > 0 or step.name in ("mask", "unmask"):
            self.store.save_record(study.digest, step.run, record)
        session.requests.setdefault(step.name, sha256(request))
        session.state = client.state()
        self.store.save_session(*key, session)
        return reply

    def resume(self, asked: "Asked") -> Client:
        """Make the client of a session: with new keys at the first step only."""
        study, step = asked.study, asked.step
        if asked.session.state:
            return Client.resume(asked.round, asked.session.state)
        where = f"run {step.run}, round {step.round}"
        # New keys would give a second masked input, which no ledger counts.
        if asked.ledger.entered(study.digest, step.run, step.round):
            raise RefusalError(Code.PROTOCOL, f"{where}: this session is over")
        if step.name != "advertise":
            raise RefusalError(
                Code.PROTOCOL, f"{where}: the session has not begun, or its state was deleted"
            )
        # What the step of the masked input will need is checked here, before anything is given.
        self.check_runs(asked)
        snapshot, _ = kept_snapshot(self.config, self.store, study)
        encode(self.config, study, asked.round, snapshot)
        self.store.make_room(study.digest, asked.ledger)
        me = self.config.me(study)
        assert me is not None  # checked with the study
        return Client(asked.round, me)

    def mask(self, client: Client, asked: "Asked") -> bytes:
        """Give the masked input, once it is in the ledger."""
        self.check_runs(asked)
        snapshot, rankings = kept_snapshot(self.config, self.store, asked.study)
        message = encode(self.config, asked.study, asked.round, snapshot)
        reply = client.mask(asked.request, message)
        requests = asked.session.requests | {"mask": sha256(asked.request)}
        asked.enter(MASK, requests=requests, rankings=rankings)
        return reply

    def open(self, client: Client, asked: "Asked") -> bytes:
        """Help to open a sum, once it is in the ledger: one list per study and round, for ever."""
        survivors, digest = _core.survivors_of(asked.request), asked.round.digest
        self.check_survivors(survivors)
        found = tuple(survivors)
        asked.ledger.check_opening(asked.study.digest, asked.step.round, digest, found)
        asked.record.open(asked.step.round, survivors)
        reply = client.unmask(asked.request)
        requests = {"unmask": sha256(asked.request)}
        asked.enter(UNMASK, requests=requests, digest=digest, survivors=found)
        return reply

    def check_runs(self, asked: "Asked") -> None:
        """Refuse more runs than agreed to; a run does not count against itself."""
        most = self.config.policy.runs_per_day
        if asked.ledger.runs_today(asked.study.digest, but=asked.step.run) >= most:
            raise RefusalError(Code.REFUSED, too_many(most))

    def check_survivors(self, survivors: list[int]) -> None:
        """Refuse to open a sum over few clients."""
        least = self.config.policy.min_survivors
        if len(survivors) < least:
            raise RefusalError(
                Code.REFUSED, f"{len(survivors)} survivors are fewer than min_survivors = {least}"
            )


@dataclass(frozen=True)
class Asked:
    """What is asked in one step, and what is known about it."""

    study: Study
    step: Step
    request: bytes
    round: Round
    ledger: Ledger
    session: Session
    record: Record

    def enter(self, step: str, **fields: Any) -> None:
        """Enter what is about to be given into the ledger."""
        where = {"run": self.step.run, "round": self.step.round}
        self.ledger.enter(self.study.digest, step, **where, **fields)


def objection(config: Config, store: Store, study: Study, *, allowed: bool = False) -> str | None:
    """Say why a study is not answered, if it is not, or why not if it were ``allowed``."""
    if store.ledger().closed(study.digest):
        return IS_CLOSED
    return config.objection(study, allowed or store.allows(study.digest))


def too_many(runs: int) -> str:
    """Say that the policy allows no further run."""
    return f"there were runs_per_day = {runs} runs of the study in 24 hours"


def begun(study: Study) -> Record:
    """Return the record of a run of which nothing is kept: its first round may have begun."""
    record = Record()
    record.begin(study, 0, Begin())
    return record
