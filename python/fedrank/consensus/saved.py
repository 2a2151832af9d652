"""A consensus as JSON: for people to read, and for `from_json` to read back."""

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedrank._json import canonical, read_json
from fedrank._validation import check_items, few, read_only
from fedrank.consensus.tables import places
from fedrank.consensus.ties import (
    BROKEN,
    SEARCHED,
    UNKNOWN,
    Searched,
    chance,
    runs_of,
    tie_count,
)
from fedrank.exceptions import InputError

if TYPE_CHECKING:
    from fedrank.consensus.result import Consensus

FORMAT = 1

Kind = TypeVar("Kind", bound="Consensus")

DAMAGE = (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""What reading a damaged document may raise."""

FACTS = ("method", "exact", "objective", "lower_bound", "decided_by", "searched", "converged")
OTHERS = {
    "format",
    "kind",
    "items",
    "places",
    "ties",  # number of tied groups
    "choices",  # `Consensus.ties`
    "tied_groups",
    "chance",
    "source",
    "extra",
}


def write(consensus: "Consensus") -> str:
    """Write a consensus and what its class adds."""
    labels = consensus.item_labels
    return canonical(
        {
            "format": FORMAT,
            "kind": consensus.kind,
            "items": None if labels is None else [as_label(label) for label in labels],
            "places": [row | {"item": as_label(row["item"])} for row in places(consensus)],
            "ties": tie_count(consensus),
            "choices": consensus.ties,
            "tied_groups": None
            if consensus.tied_groups is None
            else [[as_label(label) for label in group] for group in consensus.tied_groups],
            "chance": chance(consensus),
            "source": None if consensus.source is None else str(consensus.source),
            "extra": consensus._extra(),
        }
        | {name: getattr(consensus, name) for name in FACTS}
    )


def as_label(label: Hashable) -> str | int:
    """Check a label: JSON must be able to tell labels apart.

    Examples
    --------
    >>> as_label(np.int64(3))
    3
    """
    if isinstance(label, bool) or not isinstance(label, str | int | np.integer):
        raise InputError(
            f"JSON has labels that are text or whole numbers, not {label!r}",
            value=label,
            remedy="give the items other labels",
        )
    return label if isinstance(label, str) else int(label)


def read(text: str, wanted: type[Kind]) -> Kind:
    """Read a consensus of this class."""
    try:
        fields = read_json(text, "consensus")
        check_fields(fields, OTHERS | set(FACTS))
        if fields["format"] != FORMAT:
            raise InputError(
                f"it has format {fields['format']!r}, and this version of fedrank reads format "
                f"{FORMAT}"
            )
        made = wanted.kinds.get(str(fields["kind"]))
        if made is None or not issubclass(made, wanted):
            raise InputError(f"it is a {fields['kind']!r}, not a {wanted.kind!r}")
        facts = read_fields(fields)
        return made(**facts, **made._read_extra(fields["extra"], facts))
    except DAMAGE as error:
        raise damaged(str(error)) from None


def damaged(problem: str) -> InputError:
    """Make the error for JSON that is not a consensus."""
    return InputError(f"this is not a consensus that fedrank wrote: {problem}")


def read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Check and read what every consensus has."""
    rows = as_rows(fields["places"])
    n = len(rows)
    given = fields["items"]
    if given is not None and not isinstance(given, list):
        raise InputError("items must be a list or null")
    labels = None if given is None else check_items([as_label(label) for label in given], n)
    items = tuple(range(n)) if labels is None else labels
    index = {label: item for item, label in enumerate(items)}
    order = [index[as_label(row["item"])] for row in rows]
    if sorted(order) != list(range(n)):
        raise InputError("the places must name every item once")
    ranks = np.empty(n, dtype=np.int32)
    ranks[order] = np.arange(n)
    groups = fields["tied_groups"]
    runs = None
    if groups is not None:
        numbers = [[index[as_label(label)] for label in group] for group in groups]
        if any(len(set(group)) < max(2, len(group)) for group in numbers):
            raise InputError("a tie must name at least two different items, each once")
        runs = runs_of(numbers, ranks)
    facts = {name: fields[name] for name in FACTS}
    if not isinstance(facts["method"], str) or facts["decided_by"] not in BROKEN:
        raise InputError("method or decided_by is not valid")
    if runs is None and facts["decided_by"] not in UNKNOWN:
        raise InputError(f"tied_groups must be a list if decided_by is {facts['decided_by']!r}")
    if not is_count(fields["choices"]):
        raise InputError("choices is not valid")
    for name in ("exact", "converged"):
        if not isinstance(facts[name], bool | None):
            raise InputError(f"{name} must be true, false or null")
    if fields["ties"] != (None if groups is None else len(groups)):
        raise InputError("ties must be the number of tied groups")
    if not isinstance(fields["source"], str | None):
        raise InputError("source must be text or null")
    return facts | {
        "ranks": read_only(ranks),
        "item_labels": labels,
        "scores": read_scores(rows, ranks),
        "ties": fields["choices"],
        "searched": read_searched(facts["searched"], n),
        "objective": as_number(facts["objective"]),
        "lower_bound": as_number(facts["lower_bound"]),
        "source": fields["source"],
        "tied_runs": runs,
    }


def read_searched(given: Any, n: int) -> Searched | None:
    """Read which positions a random search decided."""
    if given is None:
        return None
    by, start, end = given
    if by not in SEARCHED or not is_count(start) or not is_count(end) or not start < end <= n:
        raise InputError("searched is not valid")
    return Searched(by, start, end)


def as_rows(rows: Any) -> list[dict[str, Any]]:
    """Check that the rows are the places 1, 2, … in turn."""
    if not isinstance(rows, list) or not rows:
        raise InputError("places must be a list of rows")
    for number, row in enumerate(rows, start=1):
        check_fields(row, {"place", "item", "score", "tied"})
        if row["place"] != number:
            raise InputError(f"place {number} is missing, or not in its turn")
    return rows


def read_scores(rows: list[dict[str, Any]], ranks: NDArray[np.int32]) -> NDArray[np.float64] | None:
    """Read the scores, by item number."""
    scores = [as_number(row["score"]) for row in rows]
    if all(score is None for score in scores):
        return None
    if any(score is None for score in scores):
        raise InputError("a score is missing")
    return np.array(scores, dtype=np.float64)[ranks]


def check_fields(fields: Any, wanted: set[str]) -> None:
    """Refuse an object that has other fields."""
    if not isinstance(fields, dict):
        raise InputError(f"it is {type(fields).__name__}, not an object")
    for name in sorted(wanted ^ set(fields)):
        raise InputError(f"the field {name!r} is {'missing' if name in wanted else 'unknown'}")


def as_number(value: Any) -> float | None:
    """Check a finite number or null."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{value!r} is not a number")
    return float(value)


def is_count(value: Any) -> bool:
    """Tell whether this is a whole number of at least 0."""
    return type(value) is int and value >= 0


def as_known(value: Any, known: tuple[Any, ...], what: str) -> Any:
    """Check a value that must be one of those known."""
    if value not in known or isinstance(value, bool):
        raise InputError(f"there is no {what} {value!r}: they are {few(known)}", value=value)
    return value
