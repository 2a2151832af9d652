"""The roster of a study: who takes part, by which keys, and how many must stay to the end."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from fedrank import _core
from fedrank._validation import as_list, plural, whole
from fedrank.exceptions import InputError, Remedy
from fedrank.protocol.identity import Identity, public_identity, refuse_private

MAX_CLIENTS = 65_535  # the protocol numbers clients in 16 bits
MAX_SIGNED = 65_534  # in envelopes the last number is the coordinator's

STEPS: tuple[str, ...] = _core.STEPS
"""The steps of a round without identities, in turn."""

SIGNED_STEPS: tuple[str, ...] = _core.SIGNED_STEPS
"""The steps of a round with identities, in turn."""

Roster: TypeAlias = Iterable[str] | Mapping[str, "str | Identity"]
"""What a study is given: names, or each name with its public line or its `Identity`."""


def as_roster(
    roster: Roster | None, clients: int
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Check the names of the clients, and their public lines if they have any.

    Examples
    --------
    >>> as_roster(None, 2)
    (('0', '1'), None)
    """
    if isinstance(roster, str):
        refuse_private(roster)
        raise InputError(
            f"the roster must be a list of names, not the text {roster!r}", value=roster
        )
    names = as_names(roster, clients)
    if not isinstance(roster, Mapping):
        return names, None
    if clients > MAX_SIGNED:
        raise InputError(
            f"must be at most {MAX_SIGNED} in a study with identities, not {clients}",
            parameter="clients",
            value=clients,
        )
    lines = tuple(
        public_line(identity, f"client {name!r}")
        for name, identity in zip(names, roster.values(), strict=True)
    )
    return names, lines


def as_names(names: Iterable[str] | None, clients: int) -> tuple[str, ...]:
    """Check the names of the clients.

    Examples
    --------
    >>> as_names(["north", "east"], 2)
    ('north', 'east')
    """
    if clients > MAX_CLIENTS:
        raise InputError(
            f"must be at most {MAX_CLIENTS} in a study, not {clients}",
            parameter="clients",
            value=clients,
        )
    given = tuple(map(str, range(clients)) if names is None else as_list(names, "roster"))
    if len(given) != clients:
        raise InputError(
            f"the roster has {plural(len(given), 'client')}, but the method is made for {clients}",
            value=len(given),
            remedy="give the method and the roster the same number of clients",
        )
    for client, name in enumerate(given):
        if not isinstance(name, str) or not name.strip():
            raise InputError(
                f"client {client} of the roster must have a name, as text, not {name!r}", value=name
            )
        refuse_private(name)
    twice = next((name for name, count in Counter(given).items() if count > 1), None)
    if twice is not None:
        raise InputError(
            f"the roster names {twice!r} twice",
            value=twice,
            remedy="give every client its own name",
        )
    return given


def public_line(identity: object, whose: str) -> str:
    """Return the public line of an identity or a line of text, in its one spelling.

    Examples
    --------
    >>> north = Identity.generate()
    >>> public_line(north, "client 'north'") == public_line(f"{north.public} ", "client 'north'")
    True
    """
    if isinstance(identity, Identity):
        return identity.public
    if not isinstance(identity, str):
        kind = type(identity).__name__
        raise InputError(
            f"the identity of {whose} must be a public line or an Identity, not {kind}",
            remedy="give an identity to every client, or a list of names for none",
        )
    try:
        return public_identity(identity).line()
    except InputError as error:
        problem = f"the identity of {whose}: {error.problem}"
        raise InputError(problem, remedy=error.remedy) from None


def as_coordinator(coordinator: "str | Identity | None", signed: bool) -> str | None:
    """Check that a study names its coordinator exactly if its clients have identities.

    Examples
    --------
    >>> as_coordinator(None, signed=False) is None
    True
    """
    if signed and coordinator is None:
        raise InputError(
            "is required where the clients have identities: it is the identity that sends requests",
            parameter="coordinator",
        )
    if coordinator is not None and not signed:
        raise InputError(
            "has an identity, but the clients have none",
            parameter="coordinator",
            remedy=Remedy.IDENTITIES,
        )
    return None if coordinator is None else public_line(coordinator, "the coordinator")


def check_different(names: Sequence[str], lines: Sequence[str], coordinator: str) -> None:
    """Refuse a signing or a sealing key that two parties have: one could speak for the other.

    Examples
    --------
    >>> north, me = Identity.generate().public, Identity.generate().public
    >>> check_different(["north"], [north], me)
    >>> try:
    ...     check_different(["north"], [north], north)
    ... except InputError as error:
    ...     print(error)
    client 'north' and the coordinator have the same keys; make an identity for each party
    """
    parties = [*(f"client {name!r}" for name in names), "the coordinator"]
    owners: dict[tuple[int, bytes], str] = {}
    for party, line in zip(parties, [*lines, coordinator], strict=True):
        keys = list(enumerate(public_identity(line).keys))
        shared = [key for key in keys if key in owners]
        if shared:
            one = ("signing key", "sealing key")[shared[0][0]]
            which = "keys" if len(shared) == len(keys) else one
            raise InputError(
                f"{owners[shared[0]]} and {party} have the same {which}",
                value=line,
                remedy=Remedy.OWN_IDENTITY,
            )
        owners |= dict.fromkeys(keys, party)


def as_threshold(threshold: int | None, clients: int) -> int:
    """Check the threshold: more than half, so that two halves cannot each open a sum.

    Examples
    --------
    >>> as_threshold(None, 10)
    7
    """
    if threshold is None:
        return _core.default_threshold(clients)
    if not clients // 2 < whole("threshold", threshold) <= clients:
        raise InputError(
            f"must be more than half of the {clients} clients, so from {clients // 2 + 1} to "
            f"{clients}, not {threshold}",
            parameter="threshold",
            value=threshold,
        )
    return int(threshold)


def roster_from_json(entries: object, clients: int) -> list[str] | dict[str, str]:
    """Read the roster: the names, with the public lines if the clients have them."""
    if not isinstance(entries, list):
        raise InputError(
            f"of the study must be a list, not {entries!r}", parameter="roster", value=entries
        )
    for entry in entries:
        if not isinstance(entry, dict) or set(entry) != {"identity", "name"}:
            raise InputError(
                "an entry of the study's roster must have the fields identity and name, not "
                f"{entry!r}",
                value=entry,
            )
    names, lines = [entry["name"] for entry in entries], [entry["identity"] for entry in entries]
    if all(line is None for line in lines):
        return names
    return dict(zip(as_names(names, clients), lines, strict=True))
