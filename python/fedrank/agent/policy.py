"""The agent's configuration: whose rankings, where, and what may be done with them."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fedrank._validation import whole
from fedrank.data import check_reading
from fedrank.exceptions import InputError
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.protocol.study import Study

DIGEST = re.compile(r"[0-9a-f]{64}")
NOT_ALLOWED = "the study is not among those allowed"


@dataclass(frozen=True)
class Policy:
    """What a data holder agrees to.

    Parameters
    ----------
    studies : tuple of str
        Digests of the studies that may be answered.
    min_clients : int
        Fewest clients that a study may have.
    min_threshold : int
        Lowest threshold that a study may have.
    min_survivors : int
        Fewest clients in a sum that this one helps to open.
    min_samples : int
        Fewest rankings that are enough to answer with.
    runs_per_day : int
        Most runs, over all studies, in any 24 hours. A run counts once its masked input is
        made, even if it comes to nothing.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study = Study(Borda(n=3, clients=4))
    >>> Policy((study.digest,)).objection(study) is None
    True
    >>> Policy(("0" * 64,)).objection(study)
    'the study is not among those allowed'
    """

    studies: tuple[str, ...]
    min_clients: int = MIN_SURVIVORS
    min_threshold: int = 2
    min_survivors: int = MIN_SURVIVORS
    min_samples: int = 10
    runs_per_day: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.studies, list | tuple):
            raise InputError(
                f"must be a list of digests, not {self.studies!r}",
                parameter="studies",
                value=self.studies,
            )
        for digest in self.studies:
            if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
                raise InputError(
                    f"must be digests, 64 digits of 0-9 and a-f each, not {digest!r}",
                    parameter="studies",
                    value=digest,
                )
        object.__setattr__(self, "studies", tuple(self.studies))
        for limit in ("min_clients", "min_threshold", "min_survivors", "min_samples"):
            whole(limit, getattr(self, limit))
        whole("runs_per_day", self.runs_per_day, least=0)

    def objection(self, study: Study) -> str | None:
        """Say what in a study is not agreed to, if anything."""
        if study.digest not in self.studies:
            return NOT_ALLOWED
        clients = len(study.roster)
        if clients < self.min_clients:
            return f"{clients} clients are fewer than min_clients = {self.min_clients}"
        if study.threshold < self.min_threshold:
            return f"threshold {study.threshold} is below min_threshold = {self.min_threshold}"
        return None


@dataclass(frozen=True)
class Config:
    """Whose rankings an agent answers for, and where it keeps what.

    Parameters
    ----------
    name : str
        This client's name in the rosters.
    rankings : pathlib.Path
        The file of rankings, which `fedrank.data.read` reads.
    folder : pathlib.Path
        Where keys, messages, ledger and log are kept; for nobody else to read.
    socket : pathlib.Path
        Where the agent listens.
    policy : Policy
        What it answers.
    reading : dict of str to object
        Options of `fedrank.data.read`, where the file alone does not show how it is to be read.
    seed : int, optional
        Breaks local ties as `fedrank.federate` does with ``rng=seed``; by default they are
        broken at random, differently in every run. No secret comes from it.

    Examples
    --------
    >>> Config("north", Path("votes.csv"), Path("state"), Path("agent.sock"), Policy(())).name
    'north'
    """

    name: str
    rankings: Path
    folder: Path
    socket: Path
    policy: Policy = field(repr=False)
    seed: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_reading(self.reading)
        if not isinstance(self.name, str) or not self.name:
            raise InputError(
                f"must be this client's name in the roster, not {self.name!r}",
                parameter="name",
                value=self.name,
            )
        if self.seed is not None:
            whole("seed", self.seed, least=0)

    def objection(self, study: Study) -> str | None:
        """Say why a study is not answered, if it is not."""
        objection = self.policy.objection(study)
        if objection is None and self.me(study) is None:
            return f"{self.name} is not in the roster"
        return objection

    def me(self, study: Study) -> int | None:
        """Find this client's number in a study."""
        return study.roster.index(self.name) if self.name in study.roster else None


def read_config(path: Path) -> Config:
    r"""Read a configuration from TOML; paths in it are relative to it.

    Parameters
    ----------
    path : pathlib.Path
        The file. ``name`` and ``rankings`` must be in it, and ``studies`` under ``[policy]``.
        ``[reading]`` may have the options of `fedrank.data.read`.

    Raises
    ------
    fedrank.exceptions.InputError
        If a value is missing or invalid, or a key is unknown.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "agent.toml"
    >>> _ = file.write_text('name = "north"\nrankings = "votes.csv"\n[policy]\nstudies = []\n')
    >>> config = read_config(file)
    >>> config.rankings == file.parent / "votes.csv", config.policy.min_survivors
    (True, 3)
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is not valid TOML: {error}", file=path) from None
    try:
        policy = found.pop("policy", None)
        if not isinstance(policy, dict):
            raise InputError(
                "the table [policy] is missing",
                remedy='add it, with the digests of the allowed studies: studies = ["…"]',
            )
        reading = found.pop("reading", {})
        if not isinstance(reading, dict):
            raise InputError(
                f"must be a table of options, not {reading!r}",
                parameter="[reading]",
                value=reading,
            )
        if isinstance(reading.get("genes"), str):
            reading["genes"] = str(path.parent / Path(reading["genes"]).expanduser())
        check_names("the table [policy]", policy, Policy, {"studies"})
        check_names("the file", found, Config, {"name", "rankings"})
        found = {"folder": "state", "socket": "agent.sock"} | found
        for name in ("rankings", "folder", "socket"):
            if not isinstance(found[name], str):
                raise InputError(
                    f"must be a path, not {found[name]!r}", parameter=name, value=found[name]
                )
            found[name] = path.parent / Path(found[name]).expanduser()
        return Config(policy=Policy(**policy), reading=reading, **found)
    except InputError as error:
        raise error.at(path) from None


def check_names(what: str, given: dict[str, Any], kind: type, needed: set[str]) -> None:
    """Refuse unknown keys, and the lack of those that are needed."""
    known = [each.name for each in fields(kind) if each.name not in ("policy", "reading")]
    for name in given:
        if name not in known:
            raise InputError(
                f"{name!r} is not a key of {what}",
                value=name,
                remedy=f"its keys are {', '.join(known)}",
            )
    for name in sorted(needed - set(given)):
        raise InputError(f"{what} has no {name!r}, which it needs", value=name)


def quoted(text: str) -> str:
    r"""Write text as TOML has it.

    Examples
    --------
    >>> print(quoted('Ann "the\x7f cat"'))
    "Ann \"the\u007f cat\""
    """
    # JSON's escapes are TOML's, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_toml(options: Mapping[str, Any], separator: str = ", ") -> str:
    """Write options as TOML has them.

    Examples
    --------
    >>> print(as_toml({"layout": "scores", "id_columns": ["id"], "header": False}))
    layout = "scores", id_columns = ["id"], header = false
    """

    def spelled(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(spelled, value))}]"
        return quoted(str(value))

    return separator.join(f"{name} = {spelled(value)}" for name, value in options.items())
