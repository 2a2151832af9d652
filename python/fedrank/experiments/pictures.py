"""Pictures of experiments: panels of error curves under one legend."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from fedrank import plots
from fedrank.experiments.figure import Row

COLUMNS = 3


def panels(
    curves: Mapping[str, Sequence[Row]],
    title: str | None,
    x: str,
    xlabel: str,
    ylabel: str,
    close: bool = False,
) -> Any:
    """Draw a panel for each set of rows, named above it; the legend stands below them all.

    ``close`` looks at the curves from near, where 0 is far away, and over sizes that span
    powers of ten.

    Examples
    --------
    >>> row = {"samples": 1, "method": "Borda", "where": "federated", "mean": 2.0}
    >>> row["standard_error"] = 0.1
    >>> figure = panels({"a": [row], "b": [row]}, "two", "samples", "samples", "distance")
    >>> [axes.get_title() for axes in figure.axes]
    ['a', 'b']
    """
    columns = min(COLUMNS, len(curves))
    lines = -(-len(curves) // columns)
    single = len(curves) == 1
    size = (7.2, 5.2) if single else (4.2 * columns, 3.1 * lines + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    legend = None
    for axes, (name, rows) in zip(grid.flat, curves.items(), strict=False):
        plots.error_curves(rows, x=x, se="standard_error", ax=axes)
        axes.set(title=name, xlabel=xlabel, ylabel=ylabel)
        if close:
            look_close(axes, rows, max(row[x] for row in rows) > 20)
        legend = axes.get_legend()
        handles, texts = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
    for axes in grid.flat[len(curves) :]:
        axes.remove()
    for axes in grid[:, 1:].flat:
        axes.set_ylabel("")  # said once a line; every panel has a scale of its own
    if legend is not None:
        figure.legend(handles, texts, loc="outside lower center", ncols=4, frameon=False)
    if title:
        figure.suptitle(title)
    return figure


def look_close(axes: Axes, rows: Sequence[Row], log: bool) -> None:
    """Fit the scales to the curves and their bands."""
    low = min(row["mean"] - row["standard_error"] for row in rows)
    high = max(row["mean"] + row["standard_error"] for row in rows)
    room = 0.06 * (high - low) or 1.0
    axes.set_ylim(low - room, high + room)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
