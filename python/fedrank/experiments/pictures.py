"""Pictures of the paper's figures: panels of error curves under one legend."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from fedrank import plots
from fedrank.experiments.algorithms import CURVES
from fedrank.experiments.figure import Row

MAX_COLUMNS = 3


def panels(
    curves: Mapping[str, Sequence[Row]],
    title: str | None,
    x: str,
    xlabel: str,
    ylabel: str,
    close: bool = False,
) -> Any:
    """Draw one panel per set of rows, with its name above it and one legend below them all.

    The legend gives every curve its own line, by the paper's number where it has one. ``close``
    fits the axes to the curves, where 0 is far from them or sizes span powers of ten.

    Examples
    --------
    >>> row = {"samples": 1, "method": "Borda", "where": "federated", "mean": 2.0}
    >>> row["standard_error"] = 0.1
    >>> figure = panels({"a": [row], "b": [row]}, "two", "samples", "samples", "distance")
    >>> [axes.get_title() for axes in figure.axes]
    ['a', 'b']
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['Algorithm 2 (Borda, quantized)']
    """
    columns = min(MAX_COLUMNS, len(curves))
    lines = -(-len(curves) // columns)
    single = len(curves) == 1
    size = (7.2, 5.8) if single else (4.2 * columns, 3.1 * lines + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    handles: dict[str, Artist] = {}
    for axes, (name, rows) in zip(grid.flat, curves.items(), strict=False):
        plots.error_curves(rows, x=x, se="standard_error", ax=axes)
        axes.set(title=name, xlabel=xlabel, ylabel=ylabel)
        if close:
            look_close(axes, rows, max(row[x] for row in rows) > 20)
        handles |= {str(line.get_label()): line for line in axes.lines}
        axes.get_legend().remove()
    for axes in grid.flat[len(curves) :]:
        axes.remove()
    for axes in grid[:, 1:].flat:
        axes.set_ylabel("")  # once per line is enough; every panel has its own scale
    names = {f"{method}, {where}": name for (method, where), name in CURVES.items()}
    figure.legend(
        list(handles.values()),
        [names[label] for label in handles],
        loc="outside lower center",
        ncols=2 if single else 3,
        frameon=False,
        handlelength=3,
    )
    if title:
        figure.suptitle(title)
    return figure


def look_close(axes: Axes, rows: Sequence[Row], log: bool) -> None:
    """Fit the axes to the curves and their bands."""
    low = min(row["mean"] - row["standard_error"] for row in rows)
    high = max(row["mean"] + row["standard_error"] for row in rows)
    room = 0.06 * (high - low) or 1.0
    axes.set_ylim(low - room, high + room)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
