"""What an agent answers, and what it refuses."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from fedrank import data
from fedrank._random import seed_bytes
from fedrank.agent.policy import NOT_ALLOWED, Config
from fedrank.agent.store import Store
from fedrank.exceptions import Code, RefusalError
from fedrank.protocol.federate import STEPS, stream_rng
from fedrank.protocol.secagg import Client, ProtocolError
from fedrank.protocol.study import Study
from fedrank.rankings.complete import Rankings

FRAME = 40  # bytes of a message beside its body (docs/protocol.md)
ID = 2  # bytes of a client's number in a list of survivors
COUNT = 8  # bytes, before a kept message, of the number of rankings in it
BEGUN = 16  # sessions without a masked input that are kept, beside runs_a_day


class Agent:
    r"""Answers for one data holder; holds its store for as long as it lives.

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
    >>> keys = agent.answer(study.to_json(), 7, "advertise", b"")
    >>> len(keys), agent.answer(study.to_json(), 7, "advertise", b"") == keys
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

    def answer(self, study: str, run: int, step: str, request: bytes) -> bytes:
        """Answer one step of one run.

        The reply is on the disk before this returns. The same request again gets the same
        bytes; a different one for a step already answered is refused.

        Parameters
        ----------
        study : str
            Canonical JSON of the study, as `Study.to_json` writes it.
        run : int
            Number of the run: each is a session with keys of its own.
        step : {"advertise", "share", "mask", "unmask"}
            Which step.
        request : bytes
            What the server sent; empty at the first step.

        Raises
        ------
        RefusalError
            With a code that may leave, and a detail that may not.
        """
        self.store.prune()
        agreed = self.check(study)
        if step not in STEPS:
            raise RefusalError(Code.PROTOCOL, f"there is no step {step!r}")
        try:
            return self.take_step(agreed, run, step, request)
        except ProtocolError as error:
            raise RefusalError(Code.PROTOCOL, str(error)) from error

    def check(self, text: str) -> Study:
        """Read a study, and refuse what the policy does not allow.

        The text is hashed before it is parsed: what nobody agreed to is not worth the memory.
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

    def take_step(self, study: Study, run: int, step: str, request: bytes) -> bytes:
        """Go on from the saved state, and save the new one before the reply is known."""
        session = session_name(study, run)
        client = self.resume(study, session, step)
        if step == "advertise":
            reply = client.advertise()
        elif step == "share":
            reply = client.share(request)
        elif step == "mask":
            self.check_runs(session)
            _, message = open_message(study, kept_message(self.config, self.store, study))
            reply = client.mask(request, message)
            self.store.enter(session, study.digest, run)
        else:
            self.check_survivors(request)
            reply = client.unmask(request)
        self.store.save_state(session, client.state())
        return reply

    def resume(self, study: Study, session: str, step: str) -> Client:
        """Make the client of a session: anew at the first step only."""
        saved = self.store.state(session)
        if saved is not None:
            return Client.resume(saved)
        # Keys made anew would give a second masked input, which no ledger counts.
        if self.store.entered(session):
            raise RefusalError(Code.PROTOCOL, f"session {session}: this run is over")
        if step != "advertise":
            raise RefusalError(Code.PROTOCOL, f"session {session} has not begun, or was long ago")
        # What the masked step will need is checked here, before anything is given.
        self.check_runs(session)
        kept_message(self.config, self.store, study)
        self.store.make_room(BEGUN + self.config.policy.runs_a_day)
        me = self.config.me(study)
        assert me is not None  # checked with the study
        return Client(study, me)

    def check_runs(self, session: str) -> None:
        """Refuse more runs than agreed to; a run does not count against itself."""
        most = self.config.policy.runs_a_day
        if self.store.runs_today(but=session) >= most:
            raise RefusalError(Code.REFUSED, f"there were runs_a_day = {most} runs in 24 hours")

    def check_survivors(self, request: bytes) -> None:
        """Refuse to open a sum over few.

        The list carries no count: its length tells. The core refuses one that is not of
        whole, rising numbers, so nobody can make a short list look long.
        """
        least = self.config.policy.least_survivors
        survivors = (len(request) - FRAME) // ID
        if survivors < least:
            raise RefusalError(
                Code.REFUSED, f"{survivors} survivors are fewer than least_survivors = {least}"
            )


def session_name(study: Study, run: int) -> str:
    """Name a session, in letters that a file's name may have."""
    return hashlib.sha256(f"{study.digest} {run}".encode()).hexdigest()


def kept_message(config: Config, store: Store, study: Study) -> bytes:
    """Give one study one message: encode it the first time, and keep it.

    The same statistic under other local ties, or over data that changed meanwhile, would tell
    more with every run.
    """
    kept = store.message(study.digest)
    if kept is None:
        kept = store.keep_message(study.digest, make_message(config, study))
    check_samples(config, open_message(study, kept)[0])
    return kept


def make_message(config: Config, study: Study) -> bytes:
    """Encode the rankings, with their number before the message."""
    rankings = read_rankings(config, study)
    check_samples(config, len(rankings))  # more may come, so nothing is kept yet
    try:
        message = study.scheme.encode(rankings, rng=tie_rng(config, study))
    except ValueError as error:
        raise RefusalError(Code.DATA, str(error)) from error
    return len(rankings).to_bytes(COUNT, "little") + study.scheme.pack(message)


def open_message(study: Study, kept: bytes) -> tuple[int, NDArray[np.uint64]]:
    """Read the number of rankings, and their message."""
    return int.from_bytes(kept[:COUNT], "little"), study.scheme.unpack(kept[COUNT:])


def check_samples(config: Config, samples: int) -> None:
    """Refuse to answer with few rankings."""
    least = config.policy.least_samples
    if samples < least:
        raise RefusalError(
            Code.REFUSED, f"{samples} rankings are fewer than least_samples = {least}"
        )


def tie_rng(config: Config, study: Study) -> np.random.Generator | None:
    """Draw as the in-process engine does for this client, if a seed is given."""
    me = config.me(study)
    if config.seed is None or me is None:
        return None
    return stream_rng(seed_bytes(config.seed), 0, me)


def read_rankings(config: Config, study: Study) -> Rankings:
    """Read the rankings, with the items in the study's order."""
    try:
        rankings = data.read(config.rankings, rng=config.seed)
        if study.items is not None:
            return rankings.align(study.items)
        if [str(label) for label in rankings.items] != [str(i) for i in range(rankings.n)]:
            raise ValueError("these have labels and the study has none: agree on their order")
        return rankings
    except (ValueError, OSError) as error:
        raise RefusalError(Code.DATA, f"{config.rankings}: {error}") from error
