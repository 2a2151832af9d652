"""JSON with one spelling only, and JSON that may come from a stranger."""

import json
from typing import Any

from fedrank.exceptions import InputError


def read_json(text: str, what: str) -> Any:
    """Parse JSON that may come from a stranger; a field that is given twice is refused.

    Examples
    --------
    >>> read_json('{"threshold":3}', "study")
    {'threshold': 3}
    """
    try:
        return json.loads(text, object_pairs_hook=without_repeats)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the {what} is not valid JSON: {error}") from None


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the dict of a JSON object: a reader may see the first of two values, and we the last."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field is given twice, so people and programs may read different values")
    return fields


def canonical(value: object) -> str:
    """Write JSON with one spelling only: sorted keys, no spaces.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2]})
    '{"a":[2],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def wrong_fields(fields: object, wanted: set[str]) -> str:
    """Say which fields of a JSON object are missing or unknown.

    Examples
    --------
    >>> wrong_fields({"name": "x"}, {"items"})
    "the field 'items' is missing; the field 'name' is unknown"
    """
    if not isinstance(fields, dict):
        return f"it must be an object, not {type(fields).__name__}"
    lists = (("missing", wanted - set(fields)), ("unknown", set(fields) - wanted))
    return "; ".join(f"the field {min(some)!r} is {word}" for word, some in lists if some)
