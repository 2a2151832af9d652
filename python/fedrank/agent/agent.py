"""What an agent answers, and what it refuses."""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fedrank import _core
from fedrank._core import SecaggBegin
from fedrank.agent.ledger import CONFIRM, CONFIRMED, MASK, UNMASK, Ledger, sha256
from fedrank.agent.policy import NOT_ALLOWED, Config
from fedrank.agent.snapshot import encode, kept_snapshot
from fedrank.agent.store import Session, Store
from fedrank.exceptions import Code, InputError, ProtocolError, RefusalError
from fedrank.protocol.envelope import Envelopes, check_session, envelopes
from fedrank.protocol.identity import Identity
from fedrank.protocol.record import Begin, Record, opening
from fedrank.protocol.secagg import Client
from fedrank.protocol.study import Study
from fedrank.transport.base import Step

PRUNE_SECONDS = 60.0  # between two looks for old sessions
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
    >>> import fedrank as fr
    >>> from fedrank import Borda
    >>> from fedrank.agent import Policy
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "votes.csv").write_text("ann,bob\n" + "0,1\n" * 12)
    >>> study = Study(Borda(n=2, clients=3), ["ann", "bob"], ["north", "east", "west"])
    >>> policy = Policy((study.digest,), allow_unsigned=True)
    >>> config = Config("east", folder / "votes.csv", folder / "s", folder / "a.sock", policy)
    >>> agent = Agent(config)
    >>> class Others:
    ...     def exchange(self, step, requests):
    ...         keys = agent.answer(study.to_json(), step, requests[1])
    ...         print(len(keys), agent.answer(study.to_json(), step, requests[1]) == keys)
    ...         return {1: keys}
    >>> try:
    ...     fr.conduct(study, Others())
    ... except ProtocolError:
    ...     print("alone")
    104 True
    alone
    >>> agent.close()
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.store = Store(config.folder, config.public)
        self.store.take()
        self.store.prune()
        self.pruned = time.monotonic()
        # Two answers at once could go on from one state, and enter two lists for one round.
        self._lock = threading.Lock()

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
            What the server sent, in an envelope if the study names identities; so is the reply.

        Raises
        ------
        RefusalError
            With a code that may leave, and a detail that may not.
        """
        self.store.check_process()  # before the lock, which another thread may hold for ever
        with self._lock:
            return self.answer_one(study, step, request)

    def answer_one(self, study: str, step: Step, request: bytes) -> bytes:
        """Answer, while nobody else is answered."""
        self.store.check_place()
        try:
            self.store.ledger()
        except InputError as error:  # it is gone or damaged
            raise RefusalError(Code.ERROR, str(error)) from error
        agreed = self.check(study)
        if time.monotonic() >= self.pruned + PRUNE_SECONDS:
            self.store.prune()
            self.pruned = time.monotonic()
        if step.name not in agreed.steps:
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
        problem = objection(self.config, self.store, study)
        if problem is not None:
            raise RefusalError(Code.REFUSED, f"study {study.digest}: {problem}")
        return study

    def take_step(self, study: Study, step: Step, request: bytes) -> bytes:
        """Go on from what is saved, and save what is new before the reply is known."""
        me = self.config.me(study)
        assert me is not None  # checked with the study
        identity = self.config.identity if study.signed else None
        asked = Asked(
            study=study,
            step=step,
            request=request,
            me=me,
            identity=identity,
            envelopes=envelopes(study, me, identity),
            ledger=self.store.ledger(),
            session=self.store.session(study.digest, step.run, step.round) or Session(),
            record=self.store.record(study.digest, step.run) or begun(study),
        )
        client = self.begin(asked) if step.name == "advertise" else self.go_on(asked)
        if step.name == "advertise":
            reply = client.advertise()
        elif step.name == "share":
            reply = client.share(asked.request)
        elif step.name == "mask":
            reply = self.mask(client, asked)
        elif step.name == CONFIRM:
            reply = self.open(client, asked, client.confirm)
        elif study.signed:
            reply = self.unmask(client, asked)
        else:
            reply = self.open(client, asked, client.unmask)
        # Only runs that are in the ledger leave a record: others could fill the disk.
        if step.round > 0 or step.name in (MASK, CONFIRM, UNMASK):
            self.store.save_record(study.digest, step.run, asked.record)
        asked.session.requests.setdefault(step.name, sha256(asked.request))
        asked.session.state = client.state()
        self.store.save_session(study.digest, step.run, step.round, asked.session)
        if asked.envelopes is None:
            return reply
        digest = bytes.fromhex(client.round.digest)
        return asked.envelopes.seal(reply, step.name, digest, client.session)

    def begin(self, asked: "Asked") -> Client:
        """Make the client of a session, with new keys unless it has begun."""
        study, step = asked.study, asked.step
        header = None
        if asked.envelopes is not None:
            header, asked.request = asked.envelopes.open_begin(asked.request)
        begin = opening(asked.request, asked.me, step.run, step.round)
        if header is not None:
            check_session(header, begin.round_digest(), begin.session())
        if asked.record.missed(begin):
            self.catch_up(asked, begin)
        round = asked.record.take(study, begin)
        asked.ledger.check_digest(study.digest, step.round, round.digest)
        asked.check_request()
        if asked.session.state:
            client = Client.resume(round, asked.session.state, asked.identity)
            if client.session != begin.session():
                raise ProtocolError(f"{asked.where} has begun as another session", "conflict")
            return client
        asked.check_not_over()
        # What the step of the masked input will need is checked here, before anything is given.
        self.check_runs(asked)
        snapshot, _ = kept_snapshot(self.config, self.store, study)
        encode(self.config, study, round, snapshot)
        self.store.make_room(study.digest, step.run, asked.ledger)
        return Client(round, asked.me, begin.session(), asked.identity)

    def catch_up(self, asked: "Asked", begin: SecaggBegin) -> None:
        """Enter that the round before was opened, as the other survivors' signatures show."""
        number = asked.step.round - 1
        before = self.store.session(asked.study.digest, asked.step.run, number)
        if before is None:
            raise ProtocolError(f"{asked.where} follows one that this client has not", "order")
        round = asked.record.round(asked.study, number)
        asked.record.catch_up(begin, Client.resume(round, before.state, asked.identity))
        self.check_survivors(begin.survivors)
        survivors = tuple(begin.survivors)
        asked.ledger.check_opening(asked.study.digest, number, round.digest, survivors)
        asked.enter(CONFIRMED, round=number, digest=round.digest, survivors=survivors)

    def go_on(self, asked: "Asked") -> Client:
        """Take up the client of a session that has begun."""
        round = asked.record.round(asked.study, asked.step.round)
        if not asked.session.state:
            asked.check_not_over()
            raise RefusalError(
                Code.PROTOCOL, f"{asked.where} has not begun here, or its keys were deleted"
            )
        client = Client.resume(round, asked.session.state, asked.identity)
        if asked.envelopes is not None:
            place = asked.step.name, bytes.fromhex(round.digest), client.session
            asked.request = asked.envelopes.open(asked.request, *place)
        asked.check_request()
        return client

    def mask(self, client: Client, asked: "Asked") -> bytes:
        """Give the masked input, once it is in the ledger."""
        self.check_runs(asked)
        snapshot, rankings = kept_snapshot(self.config, self.store, asked.study)
        message = encode(self.config, asked.study, client.round, snapshot)
        reply = client.mask(asked.request, message)
        requests = asked.session.requests | {MASK: sha256(asked.request)}
        asked.enter(MASK, requests=requests, rankings=rankings)
        return reply

    def open(self, client: Client, asked: "Asked", give: Callable[[bytes], bytes]) -> bytes:
        """Help to open a sum, once it is in the ledger: one list per study and round, for ever."""
        survivors = _core.survivors_of(asked.request)
        self.check_survivors(survivors)
        self.check_list(asked, client, tuple(survivors))
        asked.record.open(asked.step.round, survivors)
        reply = give(asked.request)
        self.enter_list(asked, client, tuple(survivors))
        return reply

    def unmask(self, client: Client, asked: "Asked") -> bytes:
        """Give shares of masks for the list that this client and others have confirmed."""
        survivors = asked.record.survivors or ()
        self.check_list(asked, client, survivors)
        reply = client.unmask(asked.request)
        self.enter_list(asked, client, survivors)
        return reply

    def check_list(self, asked: "Asked", client: Client, survivors: tuple[int, ...]) -> None:
        """Refuse a second list of survivors for a round, over all runs."""
        digest, round = asked.study.digest, client.round
        asked.ledger.check_opening(digest, round.number, round.digest, survivors)

    def enter_list(self, asked: "Asked", client: Client, survivors: tuple[int, ...]) -> None:
        """Enter the list of survivors of a round."""
        requests = {asked.step.name: sha256(asked.request)}
        digest = client.round.digest
        asked.enter(asked.step.name, requests=requests, digest=digest, survivors=survivors)

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


@dataclass
class Asked:
    """What is asked in one step, and what is known about it.

    The request is what the server sent; once it is out of its envelope, the message in it.
    """

    study: Study
    step: Step
    request: bytes = field(repr=False)
    me: int
    identity: Identity | None
    envelopes: Envelopes | None
    ledger: Ledger
    session: Session = field(repr=False)
    record: Record

    @property
    def where(self) -> str:
        """The session, in words."""
        return f"round {self.step.round} of run {self.step.run}"

    def check_request(self) -> None:
        """Refuse to go on where session and ledger do not tell of the same answers."""
        where = self.study.digest, self.step.run, self.step.round
        self.ledger.check_session(*where, self.session.requests)
        if self.step.name not in self.session.requests:
            self.ledger.check_request(*where, self.step.name, self.request)

    def check_not_over(self) -> None:
        """Refuse a session whose keys were deleted after its masked input was given.

        New keys would give a second masked input, which no ledger counts.
        """
        if self.ledger.entered(self.study.digest, self.step.run, self.step.round):
            raise RefusalError(Code.PROTOCOL, f"{self.where} is over")

    def enter(self, step: str, **fields: Any) -> None:
        """Enter what is about to be given into the ledger."""
        where = {"run": self.step.run, "round": self.step.round}
        self.ledger.enter(self.study.digest, step, **(where | fields))


def objection(config: Config, store: Store, study: Study, *, allowed: bool = False) -> str | None:
    """Say why a study is not answered, if it is not, or why not if it were ``allowed``.

    Raises
    ------
    RefusalError
        If the ledger is not what the study knows of it.
    """
    store.check_head(study.digest)
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
