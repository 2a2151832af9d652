"""JSON of which there is only one spelling, and JSON that may come from a stranger."""

import json
from typing import Any


def read_json(text: str, what: str) -> Any:
    """Parse JSON that may come from a stranger."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not the JSON of a {what}: {error}") from None


def canonical(value: object) -> str:
    """JSON of which there is only one spelling."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
