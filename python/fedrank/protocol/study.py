"""A study: what all parties agree on, and what follows from it for each round."""

import hashlib
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass

from fedrank import _core
from fedrank._frozen import Frozen
from fedrank._json import canonical, read_json, wrong_fields
from fedrank._validation import as_bool, whole
from fedrank.exceptions import InputError, Remedy
from fedrank.protocol.bip39 import digest_words
from fedrank.protocol.identity import PRIVATE_START, Identity, public_identity
from fedrank.protocol.labels import as_labels, is_writable
from fedrank.protocol.methods import (
    Method,
    bound_of,
    check_method,
    method_from_json,
    method_json,
    next_stage,
    scheme_of,
)
from fedrank.protocol.roster import (
    SIGNED_STEPS,
    STEPS,
    Roster,
    as_coordinator,
    as_names,
    as_roster,
    as_threshold,
    check_different,
    roster_from_json,
)
from fedrank.protocol.summary import summary
from fedrank.schemes import AnyScheme

FORMAT = 4
"""Of the JSON. It is raised whenever a field or the meaning of a message changes."""
RESERVED = ("confidence", "graph", "privacy")
"""Fields that have no values yet: null."""


@dataclass(frozen=True)
class Round:
    """One secure sum of a study: what is asked for, and the digest that binds it.

    Attributes
    ----------
    number : int
        Which round of the study, the first being 0.
    stage : {"start", "refine", "dispersion"}
        Which part of the method.
    scheme : Scheme
        How rankings become messages in this round.
    digest : str
        Hash of the study, the rounds up to this one, what was announced and who survived, in
        hexadecimal. It enters every key derivation of the round.
    clients, threshold : int
        Size of the roster, and how many clients must stay to the end.
    identities : tuple of str
        Public lines of the clients, by which their signatures are verified; empty if they have
        no identities.
    previous : str
        Digest of the round before, in hexadecimal; zeros in the first.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> study = Study(Borda(n=2, clients=3, max_samples=50), fit_phi=True)
    >>> study.round(1, orders=[[1, 0]]).stage
    'dispersion'
    """

    number: int
    stage: str
    scheme: AnyScheme
    digest: str
    clients: int
    threshold: int
    identities: tuple[str, ...] = ()
    previous: str = bytes(32).hex()

    @property
    def signed(self) -> bool:
        """Whether the clients sign what they send."""
        return bool(self.identities)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the round, in turn."""
        return SIGNED_STEPS if self.signed else STEPS


class Study(Frozen):
    """The public agreement of all parties: method, items, roster with identities, threshold.

    Its digest enters every key derivation and every authenticated text of the protocol, so
    parties that were told different things cannot take part in each other's sessions.

    Parameters
    ----------
    method : Borda, Lehmer, Kemeny or schemes.Refine
        Which rounds follow each other, and how rankings become messages.
    items : sequence of str or int, optional
        Labels of the items, in the order of the positions; ``0..n-1`` by default.
    roster : sequence of str or dict of str to (str or Identity), optional
        Names of the clients, as many as the method is made for; ``"0"``, ``"1"``, … by
        default. A client's number is its index here. A dict gives each name its identity, as
        `Identity.public` or as an `Identity`: then clients sign what they send, and know the
        others' keys. Without identities, whoever runs the server can read every input.
    threshold : int, optional
        How many clients must stay to the end; ``2L//3 + 1`` by default, and always more
        than half.
    coordinator : str or Identity, optional
        The identity of the party that runs the server: required if the clients have identities,
        and refused otherwise. A coordinator that also holds rankings uses two identities.
    fit_phi : bool
        Whether one more round measures how widely the rankings scatter (M15).

    Raises
    ------
    ValueError
        If the parts do not fit together.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study = Study(Borda(n=2, clients=3), items=["a", "b"], roster=["x", "y", "z"])
    >>> study.threshold
    3
    >>> Study.from_json(study.to_json()) == study
    True
    """

    def __init__(
        self,
        method: Method,
        items: Iterable[Hashable] | None = None,
        roster: Roster | None = None,
        threshold: int | None = None,
        coordinator: str | Identity | None = None,
        *,
        fit_phi: bool = False,
    ) -> None:
        self.method = check_method(method)
        if isinstance(items, Set):
            raise InputError(
                f"must be a list of labels in the order of the positions, not {items!r}",
                parameter="items",
                value=items,
                remedy="pass a list",
            )
        self.items = None if items is None else as_labels(items, method.n)
        self.roster, self.identities = as_roster(roster, method.clients)
        # Otherwise results call clients by number; with identities the roster must have some names.
        default = self.signed and self.roster == as_names(None, method.clients)
        self.named = roster is not None and not default
        self.threshold = as_threshold(threshold, method.clients)
        self.coordinator = as_coordinator(coordinator, self.signed)
        if self.identities is not None and self.coordinator is not None:
            check_different(self.roster, self.identities, self.coordinator)
        self.fit_phi = as_bool("fit_phi", fit_phi)
        if self.fit_phi and method.partial:
            raise InputError(
                "needs complete rankings, since the Mallows model has no ties",
                parameter="fit_phi",
                value=True,
                remedy="leave it out, or make the method without partial=True",
            )
        bound_of(method, self.fit_phi)
        try:
            text = self.to_json().encode()
        except UnicodeEncodeError:
            texts = [*(self.items or ()), *self.roster]
            wrong = next(each for each in texts if not is_writable(each))
            raise InputError(
                f"the label or name {wrong!r} contains a character that UTF-8 cannot write",
                value=wrong,
                remedy="replace the character",
            ) from None
        self._digest = hashlib.sha256(text).hexdigest()
        self._freeze()

    def round(
        self,
        number: int,
        orders: Sequence[Sequence[int]] = (),
        survivors: Sequence[int] = (),
        stage: str | None = None,
    ) -> Round:
        """Tell what round ``number`` asks for, as the server and every client do for themselves.

        Parameters
        ----------
        number : int
            Which round, the first being 0.
        orders : sequence of sequences of int
            The announced orders (item numbers, best first), one for each round after the first,
            in turn; the last one is this round's.
        survivors : sequence of int
            The clients whose messages are in the sums of the rounds before.
        stage : {"start", "refine", "dispersion"}, optional
            Which part of the method; by default refinement as long as the method has rounds
            of it.

        Raises
        ------
        ValueError
            If the study has no such round, or an order is not one of its items.

        Examples
        --------
        >>> from fedrank import Borda
        >>> study = Study(Borda(n=2, clients=3))
        >>> study.round(0).scheme == study.method
        True
        """
        if len(orders) != whole("number", number, least=0, most=2**32 - 1):
            raise InputError(
                f"must have one order per round after the first: {number} for round {number}, "
                f"not {len(orders)}",
                parameter="orders",
                value=len(orders),
            )
        for order in orders:
            if len(order) != self.method.n:
                raise InputError(
                    f"must rank the {self.method.n} items of the study, not {len(order)}",
                    parameter="orders",
                    value=len(order),
                )
        if list(survivors) != sorted({*survivors} & {*range(len(self.roster))}):
            raise InputError(
                f"must be rising client numbers below {len(self.roster)}, not {survivors}",
                parameter="survivors",
                value=survivors,
            )
        if number == 0 and survivors:
            raise InputError(
                f"must be empty for the first round, not {survivors}",
                parameter="survivors",
                value=survivors,
            )
        asked = next_stage(self.method, number) if stage is None else stage
        scheme = scheme_of(self.method, self.fit_phi, asked, orders)
        digest = previous = bytes(32)
        for before in range(number + 1):  # the rounds between the first and this one refine
            last, previous = before == number, digest
            digest = _core.round_digest(
                bytes.fromhex(self._digest),
                before,
                asked if last else next_stage(self.method, before),
                list(orders[before - 1]) if before else [],
                digest,
                list(survivors) if before else [],
            )
        return Round(
            number=number,
            stage=asked,
            scheme=scheme,
            digest=digest.hex(),
            clients=len(self.roster),
            threshold=self.threshold,
            identities=self.identities or (),
            previous=previous.hex(),
        )

    @property
    def signed(self) -> bool:
        """Whether the clients have identities, and sign what they send."""
        return self.identities is not None

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of a round, in turn."""
        return SIGNED_STEPS if self.signed else STEPS

    @property
    def fingerprints(self) -> tuple[str, ...] | None:
        """The fingerprint of each client's identity, in the order of the roster; None without.

        Examples
        --------
        >>> from fedrank import Borda
        >>> Study(Borda(n=2, clients=2)).fingerprints is None
        True
        """
        if self.identities is None:
            return None
        return tuple(public_identity(line).fingerprint for line in self.identities)

    def to_json(self) -> str:
        """Write the study as canonical JSON: one spelling, so one digest.

        Examples
        --------
        >>> from fedrank import Borda
        >>> print(Study(Borda(n=2, clients=2)).to_json()[:40])
        {"confidence":null,"coordinator":null,"f
        """
        lines = self.identities or [None] * len(self.roster)
        return canonical(
            {
                "format": FORMAT,
                "method": method_json(self.method),
                "items": self.items,
                "roster": [
                    {"name": name, "identity": line}
                    for name, line in zip(self.roster, lines, strict=True)
                ],
                "threshold": self.threshold,
                "coordinator": self.coordinator,
                "fit_phi": self.fit_phi,
            }
            | dict.fromkeys(RESERVED)
        )

    @classmethod
    def from_json(cls, text: str) -> "Study":
        """Read a study that `to_json` wrote, and no other text.

        A second spelling, such as a field that is given twice, can show a person one threshold and
        a program another. So spaces, another order of the fields, another spelling of a number or
        a line break at the end are refused.

        Raises
        ------
        ValueError
            If it is not the JSON of a study of this format, in its one spelling.

        Examples
        --------
        >>> from fedrank import Borda
        >>> Study.from_json(Study(Borda(n=2, clients=2)).to_json()).method.n
        2
        """
        if isinstance(text, str) and text.lstrip().startswith(PRIVATE_START):
            raise InputError("this is a private key, not a study", remedy="name the study's file")
        fields = read_json(text, "study")
        if isinstance(fields, dict) and fields.get("format", FORMAT) != FORMAT:
            raise InputError(
                f"the study has format {fields['format']!r}, and this version of fedrank reads "
                f"format {FORMAT}",
                value=fields["format"],
                remedy="make the study again",
            )
        named = {"coordinator", "fit_phi", "format", "items", "method", "roster", "threshold"}
        wanted = named | {*RESERVED}
        if not isinstance(fields, dict) or set(fields) != wanted:
            raise InputError(f"this is not the JSON of a study: {wrong_fields(fields, wanted)}")
        for name in RESERVED:
            if fields[name] is not None:
                raise InputError(
                    f"of the study must be null in this version of fedrank, not {fields[name]!r}",
                    parameter=name,
                    value=fields[name],
                )
        if not isinstance(fields["items"], list | None):
            raise InputError(
                f"of the study must be a list or null, not {fields['items']!r}",
                parameter="items",
                value=fields["items"],
            )
        method = method_from_json(fields["method"])
        roster = roster_from_json(fields["roster"], method.clients)
        unnamed = isinstance(roster, list) and tuple(roster) == as_names(None, method.clients)
        study = cls(
            method,
            fields["items"],
            None if unnamed else roster,
            fields["threshold"],
            fields["coordinator"],
            fit_phi=fields["fit_phi"],
        )
        if study.to_json() != text:
            raise InputError(
                "this text of a study may read differently to people and to programs: its spaces, "
                "order of fields, spelling of numbers and letters, or end are not those of a study",
                remedy=Remedy.STUDY_TEXT,
            )
        return study

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: what parties compare."""
        return self._digest

    @property
    def words(self) -> tuple[str, ...]:
        """The digest as 24 English words, to read out by telephone (BIP-39).

        Examples
        --------
        >>> from fedrank import Borda
        >>> len(Study(Borda(n=2, clients=2)).words)
        24
        """
        return digest_words(bytes.fromhex(self._digest))

    def summary(self) -> str:
        """Say in words what the study is: what a person reads before agreeing to it.

        Examples
        --------
        >>> from fedrank import Borda
        >>> print(Study(Borda(n=2, clients=3), ["a", "b"]).summary().splitlines()[0])
        method       Borda, 1 round
        """
        return summary(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        more = ", fit_phi=True" if self.fit_phi else ""
        more += ", signed" if self.signed else ""
        return (
            f"Study({self.method!r}, clients={len(self.roster)}, threshold={self.threshold}{more}, "
            f"digest={self.digest[:12]}…)"
        )
