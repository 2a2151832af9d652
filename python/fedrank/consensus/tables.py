"""A consensus as rows, CSV and data frames; places are 1-based here, as everywhere people read."""

import os
from collections.abc import Callable, Hashable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedrank._files import write_whole
from fedrank._text import as_csv
from fedrank.exceptions import MissingExtraError

if TYPE_CHECKING:
    import polars

    from fedrank.consensus.result import Consensus


def places(consensus: "Consensus") -> list[dict[str, Any]]:
    """All places of a consensus, best first; place 1 is the best.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> places(aggregate([[1, 0]]))[0]
    {'place': 1, 'item': 1, 'score': 0.0, 'tied': None}
    """
    return [
        {"place": place, "item": label, "score": score, "tied": tied}
        for place, label, score, tied in zip(*columns(consensus), strict=True)
    ]


def columns(
    consensus: "Consensus",
) -> tuple[range, tuple[Hashable, ...], list[float] | list[None], list[int | None]]:
    """Return places, labels, scores and the number of each item's first tie, best first."""
    order = consensus.order
    scores = consensus.scores
    tied: dict[int, int] = {}
    for number, group in enumerate(consensus.tied_items or (), start=1):
        for item in group:
            tied.setdefault(item, number)
    return (
        range(1, len(consensus) + 1),
        consensus.labels,
        [None] * len(consensus) if scores is None else scores[order].tolist(),
        [tied.get(item) for item in order.tolist()],
    )


def columns_of(consensus: "Consensus") -> dict[str, list[Any]]:
    """Return the columns of a frame; mixed labels become text, since a column has one type."""
    place, labels, scores, tied = columns(consensus)
    one_type = len({type(label) for label in labels}) == 1
    found: dict[str, list[Any]] = {
        "place": list(place),
        "item": list(labels) if one_type else [str(label) for label in labels],
        "score": scores,
        "tied": tied,
    }
    if consensus.scores is None:
        del found["score"]
    return found


def csv_text(consensus: "Consensus") -> str:
    """Return the rows of a CSV file.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> print(csv_text(aggregate([[1, 0]], "lehmer")))
    place,item,tied
    1,1,
    2,0,
    """
    found = columns_of(consensus)
    return as_csv([found, *zip(*found.values(), strict=True)])


def to_csv(consensus: "Consensus", path: str | os.PathLike[str]) -> None:
    """Write a CSV file completely or not at all."""
    write_whole(path, csv_text(consensus).encode())


def library(name: str) -> Any:
    """Import a library of data frames."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"this needs {name}: pip install {name}") from None


def to_pandas(consensus: "Consensus") -> Any:
    """Make a pandas frame."""
    pandas = library("pandas")
    found = columns_of(consensus)
    return pandas.DataFrame(found | {"tied": pandas.array(found["tied"], dtype="Int64")})


def to_polars(consensus: "Consensus") -> "polars.DataFrame":
    """Make a polars frame."""
    module = library("polars")
    found = columns_of(consensus)
    frame: polars.DataFrame = module.DataFrame(found, schema_overrides={"tied": module.Int64})
    return frame


def to_pyarrow(consensus: "Consensus") -> Any:
    """Make a pyarrow table."""
    pyarrow = library("pyarrow")
    found = columns_of(consensus)
    return pyarrow.table(found | {"tied": pyarrow.array(found["tied"], type=pyarrow.int64())})


MAKERS: tuple[Callable[["Consensus"], Any], ...] = (to_polars, to_pyarrow, to_pandas)
"""What can export an Arrow stream, in the order in which they are tried."""


def arrow_stream(consensus: "Consensus", requested_schema: object | None) -> object:
    """Export the table by Arrow's PyCapsule interface, with whichever library is installed."""
    for make in MAKERS:
        try:
            frame = make(consensus)
        except MissingExtraError:
            continue
        return frame.__arrow_c_stream__(requested_schema)
    raise MissingExtraError("this needs polars, pyarrow or pandas: pip install polars")
