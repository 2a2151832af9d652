"""The package's own exceptions; other errors are built-in ones, mostly ValueError."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

from fedrank._text import printable

__all__ = [
    "Code",
    "InputError",
    "MissingExtraError",
    "ProtocolError",
    "RefusalError",
    "Remedy",
    "RunFailedError",
]


class ProtocolError(ValueError):
    """A message or a call that secure aggregation refuses.

    Attributes
    ----------
    code : str
        A fixed word for the kind of error: all that need leave a machine.
    problem : str
        What is wrong, without the remedy: the message adds it.
    remedy : str or None
        What to do about it; a `Remedy` where an option of the call would correct it.

    Examples
    --------
    >>> error = ProtocolError("only 2 clients are left", "few", Remedy.MIN_SURVIVORS)
    >>> error.code
    'few'
    >>> print(error)
    only 2 clients are left; add clients, or pass a lower min_survivors
    """

    def __init__(self, problem: str, code: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.code = code
        self.remedy = remedy

    def message(self, remedy: str | None) -> str:
        """Return the problem and the given remedy."""
        return f"{self.problem}; {remedy}" if remedy else self.problem

    def __str__(self) -> str:
        return self.message(self.remedy)

    def __reduce__(self) -> tuple[type["ProtocolError"], tuple[str, str, str | None]]:
        return type(self), (self.problem, self.code, self.remedy)


class RunFailedError(ProtocolError):
    """A run that came to nothing; the message says why, and who was lost at which step.

    Examples
    --------
    >>> issubclass(RunFailedError, ProtocolError)
    True
    """


class MissingExtraError(ImportError, ValueError):
    """A library of an optional extra is not installed; the message says how to get it.

    It is an ImportError for callers that import, and a ValueError for the command line, which
    prints its message.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class Code(StrEnum):
    """Why a request was not answered, in one of a few fixed words.

    Examples
    --------
    >>> Code("refused") is Code.REFUSED
    True
    """

    UNAVAILABLE = "unavailable"
    """The agent does not run, or does not answer."""
    REFUSED = "refused"
    """The policy does not allow it."""
    DATA = "data"
    """The rankings cannot be read, or do not suit the study."""
    PROTOCOL = "protocol"
    """Secure aggregation refuses the message: malformed, foreign, or a second, different one."""
    ERROR = "error"
    """Anything else."""


class RefusalError(Exception):
    """A request that is not answered.

    Parameters
    ----------
    code : Code
        All that may leave the machine.
    detail : str
        What is wrong, in one line, for people on this machine only.
    more : sequence of str
        Further lines, for them only: rows of the file, and the choices.
    logged : str, optional
        What the log says instead, where the detail may show values of the data.

    Examples
    --------
    >>> RefusalError(Code.REFUSED, "2 rankings are fewer than min_samples").code.value
    'refused'
    """

    def __init__(
        self, code: Code, detail: str = "", more: Sequence[str] = (), logged: str | None = None
    ) -> None:
        self.code = code
        self.detail = printable(detail or code.value)
        self.more = tuple(more)
        self.logged = self.detail if logged is None else printable(logged)
        super().__init__("\n".join([self.detail, *self.more]))


class Remedy(StrEnum):
    """What to do about an input error, as advice for callers of the Python functions.

    A program that calls these options otherwise, such as the command line, looks a member up in
    a table of its own words. Advice that holds everywhere is a plain string.

    Examples
    --------
    >>> print(Remedy.BASE_1)
    the positions look 1-based: pass base=1 to Rankings or aggregate
    """

    BASE_0 = "the positions look 0-based: pass base=0 to Rankings or aggregate"
    BASE_1 = "the positions look 1-based: pass base=1 to Rankings or aggregate"
    NAME_CHOICES = "name the columns in choices=[…]"
    OMIT_ITEMS = "leave out items and choices"
    OMIT_KEEP_BLANK = "leave out keep_blank=True, or pass complete=True"
    GENES_IN = 'pass genes_in="rows" or genes_in="columns"'
    COMPLETE = (
        "complete them with PartialRankings.complete(rng=…) or complete=True of the readers, "
        "or use the methods borda, pivot or kemeny"
    )
    COMPLETE_CLIENTS = (
        "complete them with PartialRankings.complete(rng=…) or complete=True of the readers, "
        "or use the methods borda or kemeny"
    )
    COMPLETE_ONLY = (
        "complete them with PartialRankings.complete(rng=…) or complete=True of the readers"
    )
    TIES = 'pass ties="random" or ties="index"'
    REPLACE = "move it away, or pass replace=True"
    MAX_SAMPLES = "pass a larger max_samples"
    STATE_MAX_SAMPLES = "pass max_samples=…, for example the least 2^k - 1 that is enough"
    LEVELS = 'leave out levels, or pass send="means" or send="weighted"'
    SUMS = 'send="sums"'
    PHI = 'leave out phi, or pass send="centroids"'
    INSECURE = "add clients, or pass secure=False"
    MIN_SURVIVORS = "add clients, or pass a lower min_survivors"
    THRESHOLD = "keep more clients to the end, or choose a lower threshold"
    STUDY_TEXT = "write it with Study.to_json, and do not change the text"
    IDENTITIES = "give an identity to every client too, or to nobody"
    OWN_IDENTITY = "make an identity for each party"
    FIGURES = "fedrank.experiments.FIGURES and GROUPS list all names"
    NEW_STORE = (
        "if its folder was moved, move it back, but never restore a backup; if it was lost, make a "
        "new identity, and agree on new studies; if no agent ever used the key, use "
        "fedrank.agent.make_store"
    )
    COMMON_ITEMS = "keep the items that all have, with select and common_items"


class InputError(ValueError):
    """An input that is not valid: what is wrong, the value, where, and what to do.

    Parameters
    ----------
    problem : str
        What is wrong, without the place, the parameter and the remedy: the message adds these.
    parameter : str, optional
        The parameter whose value is at fault: the subject of the problem, as in "phi must be …".
        A program that names its parameters otherwise, such as the command line, writes its own
        name instead.
    row : int, optional
        Row of the input, from 0.
    item : int, optional
        Item of that row, from 0.
    value : object, optional
        The value at fault.
    remedy : str, optional
        What to do about it; a `Remedy` where an option of the call would correct it.
    file : str or path, optional
        The file that was read.
    line : int, optional
        Line of that file, from 1.
    client : int or str, optional
        The client whose input it is: its number, from 0, or its name.
    choices : sequence of (str, dict of str to object), optional
        Where the input can be read in several ways: what each way means, and the options of the
        call that choose it.
    shown : sequence of str, optional
        The first rows of the input, beside the choices.

    Examples
    --------
    >>> error = InputError("the score of item 2 is NaN", row=4, item=2, remedy="drop the row")
    >>> print(error)
    row 4: the score of item 2 is NaN; drop the row
    >>> print(error.at("scores.csv", line=6))
    scores.csv, line 6: the score of item 2 is NaN; drop the row
    >>> print(InputError("must be above 0, not -1", parameter="distance", value=-1))
    distance must be above 0, not -1
    >>> print(InputError("the best is unclear", choices=[("the highest", {"best": "high"})]))
    the best is unclear
    Pass this:
      best="high": the highest
    """

    def __init__(
        self,
        problem: str,
        *,
        parameter: str | None = None,
        row: int | None = None,
        item: int | None = None,
        value: object = None,
        remedy: str | None = None,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        client: int | str | None = None,
        choices: Sequence[tuple[str, dict[str, Any]]] = (),
        shown: Sequence[str] = (),
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parameter = parameter
        self.row = row
        self.item = item
        self.value = value
        self.remedy = remedy
        self.file = None if file is None else os.fspath(file)
        self.line = line
        self.client = client
        self.choices = list(choices)
        self.shown = tuple(shown)

    def at(self, file: str | os.PathLike[str], line: int | None = None) -> Self:
        """Add the file, and the line if there is one, and return this error."""
        self.file = os.fspath(file)
        self.line = line
        return self

    @property
    def place(self) -> str:
        """Where the fault is, in words: client, file, and line or else row; empty if unknown."""
        parts = [] if self.client is None else [f"client {self.client!r}"]
        if self.file is not None:
            parts.append(self.file)
        if self.line is not None:
            parts.append(f"line {self.line}")
        elif self.row is not None:
            parts.append(f"row {self.row}")
        return ", ".join(parts)

    def message(
        self,
        remedy: str | None,
        spell: "Callable[[Mapping[str, Any]], str] | None" = None,
        name: "Callable[[str], str]" = str,
    ) -> str:
        """Return the place, the problem and the given remedy, in one line; then the choices.

        Texts that come from data, such as labels and names of files, cannot add lines to it.
        ``spell`` writes the options of a choice; by default as arguments of a Python function.
        ``name`` writes the name of the parameter; by default that of the Python function.
        """
        return "\n".join(self.lines(remedy, spell, name))

    def lines(
        self,
        remedy: str | None,
        spell: "Callable[[Mapping[str, Any]], str] | None" = None,
        name: "Callable[[str], str]" = str,
    ) -> list[str]:
        """Return the lines of `message`."""
        start = f"{self.place}: " if self.place else ""
        if self.parameter is not None:
            start += f"{name(self.parameter)} "
        end = f"; {remedy}" if remedy else ""
        lines = [printable(f"{start}{self.problem}{end}")]
        lines += [f"  {printable(row)}" for row in self.shown]
        if self.choices:
            spell = spell or as_arguments
            lines.append("Pass one of these:" if len(self.choices) > 1 else "Pass this:")
            ways = [f"{spell(options)}: {meaning}" for meaning, options in self.choices]
            lines += [f"  {printable(way)}" for way in ways]
        return lines

    def __str__(self) -> str:
        return self.message(self.remedy)


def as_arguments(options: Mapping[str, Any]) -> str:
    """Write options as the arguments of a Python function.

    Examples
    --------
    >>> as_arguments({"layout": "scores", "id_columns": ["id"], "header": False})
    'layout="scores", id_columns=["id"], header=False'
    """
    return ", ".join(
        f"{name}={value if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)}"
        for name, value in options.items()
    )
