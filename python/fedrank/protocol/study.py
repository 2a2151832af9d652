"""A study: what all parties agree on, and nothing else."""

import hashlib
import json
from collections.abc import Hashable, Iterable

import numpy as np

from fedrank._json import canonical, read_json
from fedrank._validation import as_list, check_items, whole
from fedrank.schemes import KINDS, AnyScheme, from_json

FORMAT = 1
MOST_CLIENTS = 65_535  # what the protocol can number


class Study:
    """The public agreement of all parties: scheme, labels, roster and threshold.

    Its digest enters every key derivation and every authenticated text of the protocol, so
    parties that were told different things cannot take part in each other's sessions.

    Parameters
    ----------
    scheme : Borda, Lehmer, Refine or Dispersion
        How rankings become messages.
    items : sequence of str or int, optional
        Labels of the items, in the order that positions have; ``0..n-1`` by default.
    roster : sequence of str, optional
        Names of the clients, as many as the scheme is made for; ``"0"``, ``"1"``, … by
        default. A client's id is its index here.
    threshold : int, optional
        How many clients must stay to the end; ``2L//3 + 1`` by default, and always more
        than half.

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
    >>> study.digest[:16]
    '38c5c62cea586d44'
    >>> Study.from_json(study.to_json()) == study
    True
    """

    def __init__(
        self,
        scheme: AnyScheme,
        items: Iterable[Hashable] | None = None,
        roster: Iterable[str] | None = None,
        threshold: int | None = None,
    ) -> None:
        self.scheme = scheme
        if not isinstance(scheme, tuple(KINDS.values())):
            raise ValueError(f"scheme must be a scheme, not {scheme!r}")
        labels = None if items is None else check_items(items, scheme.n)
        if labels is not None:
            labels = tuple(int(x) if isinstance(x, np.integer) else x for x in labels)
        self.items = labels
        clients = scheme.clients
        for label in self.items or ():
            if isinstance(label, bool) or not isinstance(label, str | int):
                raise ValueError(f"a study's labels must be text or whole numbers, not {label!r}")
        if clients > MOST_CLIENTS:
            raise ValueError(f"a study has at most {MOST_CLIENTS} clients, not {clients}")
        if isinstance(roster, str):
            raise ValueError("the roster must be a list of names, not one name")
        if roster is None:
            roster = map(str, range(clients))
        self.roster = tuple(as_list(roster, "roster"))
        if len(self.roster) != clients:
            raise ValueError(
                f"the roster has {len(self.roster)} clients but the scheme is made for {clients}"
            )
        if not all(isinstance(x, str) for x in self.roster) or len(set(self.roster)) != clients:
            raise ValueError("the roster must name every client once, as text")
        self.threshold = (
            2 * clients // 3 + 1 if threshold is None else whole("threshold", threshold)
        )
        if not clients // 2 < self.threshold <= clients:
            raise ValueError(
                f"threshold must be more than half of the {clients} clients and at most all, "
                f"not {self.threshold}"
            )
        try:
            text = self.to_json().encode()
        except UnicodeEncodeError:
            raise ValueError("a label or a name is not text that can be written") from None
        self._digest = hashlib.sha256(text).hexdigest()

    def __setattr__(self, name: str, value: object) -> None:
        if "_digest" in self.__dict__:  # set last
            raise AttributeError("a study cannot be changed: make another one")
        super().__setattr__(name, value)

    def to_json(self) -> str:
        """Write the study as canonical JSON: one spelling, so one digest.

        Examples
        --------
        >>> from fedrank import Borda
        >>> print(Study(Borda(n=2, clients=2)).to_json()[:40])
        {"format":1,"items":null,"roster":["0","
        """
        return canonical(
            {
                "format": FORMAT,
                "scheme": json.loads(self.scheme.to_json()),
                "items": self.items,
                "roster": self.roster,
                "threshold": self.threshold,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Study":
        """Read a study that `to_json` wrote.

        Raises
        ------
        ValueError
            If it is not the JSON of a study.

        Examples
        --------
        >>> from fedrank import Borda
        >>> Study.from_json(Study(Borda(n=2, clients=2)).to_json()).scheme.n
        2
        """
        fields = read_json(text, "study")
        wanted = {"format", "items", "roster", "scheme", "threshold"}
        if not isinstance(fields, dict) or set(fields) != wanted:
            raise ValueError(f"the JSON of a study has the fields {', '.join(sorted(wanted))}")
        for name in ("items", "roster"):
            if not isinstance(fields[name], list | None):
                raise ValueError(f"{name} of the study must be a list or null")
        if fields["format"] != FORMAT:
            raise ValueError(f"format {fields['format']!r} of the study is not {FORMAT}")
        scheme = from_json(json.dumps(fields["scheme"]))
        return cls(scheme, fields["items"], fields["roster"], fields["threshold"])

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: what parties compare."""
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return (
            f"Study({self.scheme!r}, clients={len(self.roster)}, threshold={self.threshold}, "
            f"digest={self.digest[:12]}…)"
        )
