"""The agent's configuration: whose rankings, where, and what may be done with them."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fedrank._validation import as_bool, whole
from fedrank.data import check_reading
from fedrank.exceptions import InputError
from fedrank.protocol.identity import Identity
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
        Digests of the studies that may be answered, beside those that the store allows.
    allow_unsigned : bool
        Whether studies without identities may be answered. In one, whoever drives the server can
        play all other clients, and read this one's message.
    min_clients : int
        Fewest clients that a study may have.
    min_threshold : int
        Lowest threshold that a study may have.
    min_survivors : int
        Fewest clients in a sum that this one helps to open.
    min_samples : int
        Fewest rankings that are enough to answer with.
    runs_per_day : int
        Most runs of each study in any 24 hours. A run counts once its masked input is made,
        unless it is the first one that opens the sum of a round.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study = Study(Borda(n=3, clients=4))
    >>> Policy((study.digest,), allow_unsigned=True).objection(study) is None
    True
    >>> Policy(("0" * 64,)).objection(study)
    'the study is not among those allowed'
    """

    studies: tuple[str, ...] = ()
    allow_unsigned: bool = False
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
        as_bool("allow_unsigned", self.allow_unsigned)
        for limit in ("min_clients", "min_threshold", "min_survivors", "min_samples"):
            whole(limit, getattr(self, limit))
        whole("runs_per_day", self.runs_per_day, least=0)

    def objection(self, study: Study, allowed: bool = False) -> str | None:
        """Say what in a study is not agreed to, if anything; ``allowed`` if the store allows it."""
        if not allowed and study.digest not in self.studies:
            return NOT_ALLOWED
        if not study.signed and not self.allow_unsigned:
            return (
                "the study names no identities, so its clients may all be one; such studies are "
                "refused unless allow_unsigned = true"
            )
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
        This client's name in rosters without identities.
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
    key : pathlib.Path, optional
        The private key of the identity that the rosters name. The folder is this identity's.
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
    key: Path | None = None
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

    @cached_property
    def identity(self) -> Identity | None:
        """The identity of the key, if one is named."""
        return None if self.key is None else Identity.load(self.key)

    @property
    def public(self) -> str | None:
        """The public line of the identity, if there is one."""
        return None if self.identity is None else self.identity.public

    def objection(self, study: Study, allowed: bool = False) -> str | None:
        """Say why a study is not answered, if it is not; ``allowed`` if the store allows it."""
        objection = self.policy.objection(study, allowed)
        if objection is None and self.me(study) is None:
            return self.absence(study)
        return objection

    def me(self, study: Study) -> int | None:
        """Find this client's number in a study: by its identity, by its name where there is none.

        Examples
        --------
        >>> from fedrank import Borda
        >>> config = Config("b", Path("votes.csv"), Path("state"), Path("agent.sock"), Policy())
        >>> config.me(Study(Borda(n=2, clients=3), roster=["a", "b", "c"]))
        1
        """
        if study.identities is None:
            return study.roster.index(self.name) if self.name in study.roster else None
        return study.identities.index(self.public) if self.public in study.identities else None

    def absence(self, study: Study) -> str:
        """Say that this client is not in a study."""
        if not study.signed:
            return f"{self.name} is not in the roster"
        if self.identity is None:
            return "the study names identities, and the configuration names no key"
        return f"the identity {self.identity.fingerprint} is not in the roster"


def read_config(path: Path) -> Config:
    r"""Read a configuration from TOML; paths in it are relative to it.

    Parameters
    ----------
    path : pathlib.Path
        The file. ``name`` and ``rankings`` must be in it, and the table ``[policy]``. If it names
        a ``key``, then ``folder`` is by default the one of its identity, wherever the file is.
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
                remedy='add it; the digests of allowed studies may be in it: studies = ["…"]',
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
        check_names("the table [policy]", policy, Policy, set())
        check_names("the file", found, Config, {"name", "rankings"})
        own_folder = "key" in found and "folder" not in found
        found = {"folder": "state", "socket": "agent.sock"} | found
        for name in ("rankings", "folder", "socket", "key"):
            if name not in found:
                continue
            if not isinstance(found[name], str):
                raise InputError(
                    f"must be a path, not {found[name]!r}", parameter=name, value=found[name]
                )
            found[name] = path.parent / Path(found[name]).expanduser()
        config = Config(policy=Policy(**policy), reading=reading, **found)
        if own_folder and config.identity is not None:
            return replace(config, folder=identity_folder(config.identity.fingerprint))
        return config
    except InputError as error:
        raise error.at(path) from None


def identity_folder(fingerprint: str) -> Path:
    """Return the folder of an identity's store: found by its key, from wherever it is used.

    Examples
    --------
    >>> identity_folder("3f2a-0000-0000-0000").parts[-2:]
    ('fedrank', '3f2a-0000-0000-0000')
    """
    named = Path(os.environ.get("XDG_STATE_HOME", ""))  # ignored unless absolute, by its standard
    state = named if named.is_absolute() else Path.home() / ".local" / "state"
    return state / "fedrank" / fingerprint


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
