"""Data frames of any library, on their way in."""

from importlib import import_module
from typing import Any

from fedrank.exceptions import MissingExtraError

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
