"""Data frames of any library, on their way in: their rows and the names of their columns."""

from collections.abc import Callable, Hashable, Mapping
from importlib import import_module
from typing import Any, cast

import numpy as np

from fedrank._positions import positions_of
from fedrank._validation import as_list
from fedrank._words import is_id, is_number_id
from fedrank.exceptions import InputError, MissingExtraError

OWN_METHODS = ("__array__", "item_labels")
"""What has one of these needs no conversion: numpy can read it, or it is fedrank's own."""

EXCHANGE_METHODS = ("__arrow_c_stream__", "__dataframe__")
"""What frames of other libraries offer: Arrow's PyCapsule interface, or the older protocol."""


def as_frame(values: Any) -> Any:
    """Return a table of any library as one that numpy can read; anything else unchanged.

    Pandas, polars and pyarrow tables are returned unchanged too. Others are read once, since the
    stream of some can be read only once, by whichever of these libraries is installed.

    Examples
    --------
    >>> as_frame([[0, 1]])
    [[0, 1]]
    """
    if any(hasattr(values, name) for name in OWN_METHODS):
        return values
    if not any(hasattr(values, name) for name in EXCHANGE_METHODS):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        readers = (
            ("polars", "DataFrame"),
            ("pyarrow", "table"),
            ("pandas", "DataFrame.from_arrow"),
        )
    else:
        readers = (
            ("pyarrow.interchange", "from_dataframe"),
            ("pandas.api.interchange", "from_dataframe"),
            ("polars", "from_dataframe"),
        )
    for module, name in readers:
        try:
            read: Any = import_module(module)
            for part in name.split("."):
                read = getattr(read, part)
        except (ImportError, AttributeError):  # not installed, or too old
            continue
        return read(values)
    raise MissingExtraError(
        f"to read a {type(values).__name__} needs polars, pyarrow or pandas: pip install polars"
    )


def labels_of(values: object) -> tuple[Hashable, ...] | None:
    """Return the labels of fedrank's own objects and of data frames; else None."""
    if hasattr(values, "item_labels"):
        return cast("tuple[Hashable, ...] | None", values.item_labels)
    # A pyarrow table's columns are the data, not the names.
    columns = getattr(values, "column_names", getattr(values, "columns", None))
    if columns is None or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(columns)


def refuse_id_columns(values: object, names_rows: Callable[[str], bool] = is_number_id) -> None:
    """Refuse a data frame with a column whose name says that it numbers or names the rows.

    The rules are those of files: `is_number_id` for columns of numbers, `is_id` for orders.
    """
    if hasattr(values, "item_labels"):  # fedrank's own, whose items were declared
        return
    for name in labels_of(values) or ():
        if isinstance(name, str) and names_rows(name):
            raise InputError(
                f"column {name!r} of the data frame may not be an item, judging by its name",
                value=name,
                remedy=f"leave it out, with .drop(columns={name!r}) in pandas or .drop({name!r}) "
                "in polars; if it is an item, rename it",
            )


def order_rows(values: Any, what: str) -> list[list[Any]]:
    """Return orders or ballots as lists; the rows of a data frame, without its empty cells.

    The columns of a frame that are called by positions, such as "2nd" and "1st", are put in their
    order.

    Examples
    --------
    >>> order_rows(["ba", "ab"], "order")
    [['b', 'a'], ['a', 'b']]
    """
    if isinstance(values, Mapping):
        raise InputError(
            f"{what}s must be a list of rows, not a {type(values).__name__} of columns",
            remedy="pass a list of lists, or a data frame",
        )
    frame = as_frame(values)
    if hasattr(frame, "item_labels") or not hasattr(frame, "columns"):
        given = as_list(frame, f"{what}s")
        return [as_list(each, f"{what} {row}") for row, each in enumerate(given)]
    refuse_id_columns(frame, is_id)
    return [[cell for cell in row if not is_empty(cell)] for row in frame_rows(frame)]


def frame_rows(frame: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a data frame, with the columns in the order of their positions."""
    if hasattr(frame, "itertuples"):  # pandas
        rows = list(frame.itertuples(index=False, name=None))
    elif hasattr(frame, "iter_rows"):  # polars
        rows = list(frame.iter_rows())
    else:  # pyarrow, whose columns are the data
        rows = list(zip(*(column.to_pylist() for column in frame.columns), strict=True))
    places = positions_of([str(name) for name in labels_of(frame) or ()])
    if isinstance(places, str):
        raise InputError(
            f"the columns do not say where the best item is: {places}",
            remedy="name the columns of an order 1st, 2nd, 3rd, …, each position once",
        )
    if not places:
        return rows
    columns = sorted(range(len(places)), key=places.__getitem__)
    return [tuple(row[column] for column in columns) for row in rows]


def is_empty(cell: object) -> bool:
    """Return whether a cell of a data frame has no value.

    Examples
    --------
    >>> is_empty(None), is_empty(float("nan")), is_empty("a")
    (True, True, False)
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(np.isnan(cell))
