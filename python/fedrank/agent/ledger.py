"""The ledger: what an agent gave that it cannot take back, over all runs and for ever.

A line is on the disk before the reply that it describes leaves, and no line is ever changed. It
says which masked inputs were given and of which rankings, and for each round of each study the one
list of survivors over which this agent helps to open a sum. Every line holds the hash of the line
before it, so the hash of one line stands for all lines up to it: who has kept one notices a ledger
that is older, or was changed.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from fedrank._json import canonical
from fedrank._validation import few
from fedrank.exceptions import Code, InputError, RefusalError

DAY = 24 * 60 * 60.0  # seconds
PRIVATE = 0o600  # permissions
MASK, CONFIRM, UNMASK = "mask", "confirm", "unmask"  # steps that are entered
CONFIRMED = "confirmed"  # others' signatures over the list were seen
CLOSED = "closed"
OPENING = (CONFIRM, CONFIRMED, UNMASK)
"""Entries that say over which survivors a round may be opened."""
WAITING_SESSIONS = 16  # that are kept in each study: those that confirmed and were not unmasked
SESSION = {"time", "study", "step", "run", "round", "requests"}
FIELDS = {
    MASK: SESSION | {"rankings"},
    **dict.fromkeys(OPENING, SESSION | {"digest", "survivors"}),
    CLOSED: {"time", "study", "step"},
}
"""What a line holds, by its step."""
NEW_STUDY = "agree on a new study to answer from other rankings"
GIVE_UP = (
    "a backup of it would be older, and nothing else knows what was sent; give up all studies that "
    "this store has answered: take them out of the configuration, and name a new folder"
)


@dataclass(frozen=True)
class Entry:
    """A line of the ledger.

    Attributes
    ----------
    time : float
        When it was written, in seconds since 1970, as the clock was then.
    study : str
        Digest of the study.
    step : {"mask", "confirm", "confirmed", "unmask", "closed"}
        The step that was answered; "confirmed" if this client did not confirm the survivors
        itself, but saw that enough others did; "closed" if the study's owner ended it.
    run, round : int
        Which session.
    requests : dict of str to str
        SHA-256 of the requests of this step, and of the steps before that have no line.
    rankings : str
        SHA-256 of the kept rankings that a masked input is of.
    digest : str
        Of the round that was opened: it binds the order that was announced.
    survivors : tuple of int
        Over whom it was opened.
    """

    time: float
    study: str
    step: str
    run: int = -1
    round: int = -1
    requests: Mapping[str, str] = field(default_factory=dict)
    rankings: str = ""
    digest: str = ""
    survivors: tuple[int, ...] = ()

    @property
    def session(self) -> tuple[str, int, int]:
        """The session, by study, run and round."""
        return self.study, self.run, self.round

    def to_fields(self) -> dict[str, Any]:
        """Reduce it to what its line holds."""
        return {name: getattr(self, name) for name in FIELDS[self.step]}

    @classmethod
    def from_fields(cls, fields: Any) -> "Entry":
        """Read what `to_fields` gave; anything else raises an error."""
        if set(fields) != FIELDS[fields["step"]]:
            raise ValueError("these are not the fields of an entry")
        found = cls(**fields)
        kinds = {"time": float | int, "study": str, "run": int, "round": int, "requests": dict}
        for name, kind in (kinds | {"rankings": str, "digest": str, "survivors": list}).items():
            if name in fields and not isinstance(fields[name], kind):
                raise TypeError(f"{name} is not of its kind")
        if not all(type(client) is int for client in found.survivors):
            raise TypeError("survivors are not client numbers")
        object.__setattr__(found, "survivors", tuple(found.survivors))
        return found


class Head(NamedTuple):
    """What a ledger was at some time.

    Attributes
    ----------
    lines : int
        How many there were.
    hash : str
        SHA-256 of the last one; of nothing if there was none.
    """

    lines: int
    hash: str

    def to_bytes(self) -> bytes:
        """Write both on one line.

        Examples
        --------
        >>> Head.from_bytes(Head(7, "ab").to_bytes())
        Head(lines=7, hash='ab')
        """
        return f"{self.lines} {self.hash}\n".encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read what `to_bytes` wrote; anything else raises a ValueError."""
        lines, hash = content.decode().split()
        return cls(int(lines), hash)


class Ledger:
    """The lines of a ledger, oldest first.

    Parameters
    ----------
    file : pathlib.Path
        Where they are. A store is made with an empty one.

    Raises
    ------
    InputError
        If it is not there, or a line is damaged.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ledger.jsonl"
    >>> file.touch()
    >>> ledger = Ledger(file)
    >>> ledger.enter("abc", "mask", run=1, round=0, requests={}, rankings="")
    >>> ledger.masked("abc"), ledger.runs_today("abc"), ledger.runs_today("abc", but=1)
    (True, 1, 0)
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.entries: list[Entry] = []
        self.hashes = [sha256(b"")]  # of the line before the first, and of all lines
        self._of: dict[str, list[Entry]] = {}  # the entries of each study
        try:
            with file.open("rb") as opened:
                content = opened.read()
                self._seen = state_of(os.fstat(opened.fileno()))
        except FileNotFoundError:
            raise missing(file) from None
        # What follows the last line feed was being written when a process was killed: its reply
        # was never given.
        *lines, rest = content.split(b"\n")
        self._end = len(content) - len(rest)
        for number, line in enumerate(lines, start=1):
            self.add(self.read(line, number), line)

    def read(self, line: bytes, number: int) -> Entry:
        """Read one line."""
        try:
            fields = json.loads(line.decode())
            before = fields.pop("before")
            entry = Entry.from_fields(fields)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise self.damaged(
                "this is not a line of the ledger, which shows what was sent", number
            ) from None
        if before != self.hashes[-1]:
            raise self.damaged("this line does not follow the one before", number)
        return entry

    def damaged(self, problem: str, number: int) -> InputError:
        """Say what is wrong with a line, and what to do."""
        return InputError(problem, file=self.file, line=number, remedy=GIVE_UP)

    def add(self, entry: Entry, line: bytes) -> None:
        """Know of a line that is on the disk."""
        self.entries.append(entry)
        self.hashes.append(sha256(line))
        self._of.setdefault(entry.study, []).append(entry)

    def enter(self, study: str, step: str, **fields: Any) -> None:
        """Add an entry, once for each step of a session; it is on the disk when this returns."""
        new = Entry(time.time(), study, step, **fields)
        if any((entry.session, entry.step) == (new.session, step) for entry in self.of(study)):
            return
        line = canonical(new.to_fields() | {"before": self.hashes[-1]}).encode()
        with self.file.open("r+b") as file:
            if state_of(os.fstat(file.fileno())) != self._seen:
                raise RefusalError(Code.REFUSED, f"{self.file} was changed meanwhile")
            file.truncate(self._end)
            file.seek(self._end)
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._seen, self._end = state_of(os.fstat(file.fileno())), file.tell()
        self.add(new, line)

    # What it is

    @property
    def head(self) -> Head:
        """What it is now."""
        return Head(len(self.entries), self.hashes[-1])

    def is_current(self) -> bool:
        """Tell whether the file is still the one that was read or written."""
        try:
            return state_of(self.file.stat()) == self._seen
        except FileNotFoundError:
            return False

    def check_extends(self, head: Head) -> None:
        """Refuse a ledger that does not begin with what it was before.

        Raises
        ------
        RefusalError
        """
        if self.hashes[head.lines : head.lines + 1] != [head.hash]:
            raise RefusalError(
                Code.REFUSED,
                f"{self.file} does not begin with the {head.lines} lines that it had before: was "
                f"an older file put back? {GIVE_UP}",
            )

    # What it tells

    def of(self, study: str, *steps: str) -> list[Entry]:
        """List the entries of a study, for some steps only if they are named."""
        found = self._of.get(study, [])
        return [entry for entry in found if not steps or entry.step in steps]

    def masked(self, study: str) -> bool:
        """Tell whether a study was ever given a masked input."""
        return bool(self.of(study, MASK))

    def closed(self, study: str) -> bool:
        """Tell whether the owner has ended a study."""
        return bool(self.of(study, CLOSED))

    def entered(self, study: str, run: int, round: int) -> bool:
        """Tell whether a session was ever given a masked input."""
        return any(entry.session == (study, run, round) for entry in self.of(study, MASK))

    def opened(self, study: str, round: int) -> Entry | None:
        """Return what fixed the list of a round, if anything did."""
        return next((each for each in self.of(study, *OPENING) if each.round == round), None)

    def runs_today(self, study: str, but: int | None = None) -> int:
        """Count a study's runs of the last 24 hours, without one, and those that opened a round.

        Of several runs that opened the same round only the first one is left out: an honest
        coordinator needs no other, and without a limit they would fill the ledger. A run from
        when the clock was ahead counts until the clock gets there; those after it do not.
        """
        since = time.time() - DAY
        recent = {entry.run for entry in self.of(study, MASK) if entry.time > since}
        first: dict[int, int] = {}  # the run that opened each round
        for entry in self.of(study, *OPENING):
            first.setdefault(entry.round, entry.run)
        return len(recent - {*first.values()} - {but})

    def waiting(self, study: str) -> set[tuple[int, int]]:
        """List the confirmed sessions, by run and round, of rounds that were never unmasked.

        Only they can still open these rounds, so their keys are needed.
        """
        done = {entry.round for entry in self.of(study, UNMASK)}
        found = [(each.run, each.round) for each in self.of(study, CONFIRM)]
        return set([each for each in found if each[1] not in done][-WAITING_SESSIONS:])

    # What it forbids

    def check_request(self, study: str, run: int, round: int, step: str, request: bytes) -> None:
        """Refuse a step that was answered to another request, or lies before one that was.

        The state of a session may be older than the ledger after a crash between the two, and then
        the same request gets the same bytes. It may also have been put back.

        Raises
        ------
        RefusalError
            If this is not the request that was answered.
        """
        answered: dict[str, str] = {}
        for entry in self.of(study):
            if entry.session == (study, run, round):
                answered |= entry.requests
        if answered.get(step, sha256(request)) != sha256(request):
            raise RefusalError(
                Code.REFUSED,
                f"run {run}, round {round}: the saved session is older than the ledger, which says "
                f"that {step} was answered to another request: was an older file put back?",
            )

    def check_session(self, study: str, run: int, round: int, answered: Collection[str]) -> None:
        """Refuse a session that answered steps of which the ledger does not know.

        Raises
        ------
        RefusalError
            If an older ledger lies beside it.
        """
        entries = self.of(study)
        known = {entry.step for entry in entries if entry.session == (study, run, round)}
        for step in (MASK, CONFIRM, UNMASK):
            if step in answered and step not in known:
                raise RefusalError(
                    Code.REFUSED,
                    f"run {run}, round {round}: the ledger is older than the saved session, which "
                    f"answered {step}: was an older file put back?",
                )

    def check_digest(self, study: str, round: int, digest: str) -> None:
        """Refuse a round that was opened with another announced order, in whatever run.

        Raises
        ------
        RefusalError
        """
        before = self.opened(study, round)
        if before is not None and before.digest != digest:
            raise RefusalError(
                Code.REFUSED,
                f"round {round} was opened in run {before.run} after another announcement; no "
                "second one is answered, since two sums show more than one",
            )

    def check_opening(
        self, study: str, round: int, digest: str, survivors: tuple[int, ...]
    ) -> None:
        """Refuse to open a round a second time, over others or after another announcement.

        Raises
        ------
        RefusalError
        """
        self.check_digest(study, round, digest)
        before = self.opened(study, round)
        if before is not None and before.survivors != survivors:
            parts = [
                f"{word} {few(sorted(some))}"
                for word, some in (
                    ("without", {*before.survivors} - {*survivors}),
                    ("with", {*survivors} - {*before.survivors}),
                )
                if some
            ]
            raise RefusalError(
                Code.REFUSED,
                f"round {round} was opened in run {before.run}, and is asked for "
                f"{' and '.join(parts)} (by number in the roster): the difference of the two sums "
                "could show one client's message",
            )

    def check_rankings(self, study: str, rankings: str) -> None:
        """Refuse kept rankings that are not those of the masked inputs given so far.

        Raises
        ------
        RefusalError
        """
        if any(entry.rankings != rankings for entry in self.of(study, MASK)):
            problem = "the kept rankings are not those that it was answered from"
            raise RefusalError(Code.REFUSED, f"study {study}: {problem}; {NEW_STUDY}")


def missing(file: Path) -> InputError:
    """Say that there is no ledger, and what to do."""
    return InputError("the ledger, which shows what was sent, is gone", file=file, remedy=GIVE_UP)


def state_of(found: os.stat_result) -> tuple[int, int, int, int]:
    """Return what is another one if a file was changed or replaced."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def sha256(content: bytes) -> str:
    """Hash what was sent or kept.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()
