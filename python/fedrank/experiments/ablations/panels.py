"""Panels of ablations: a grid of axes under one legend, and the curves in them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from fedrank._validation import plural
from fedrank.experiments.figure import Row
from fedrank.plots._style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
)

__all__ = [
    "BLACK",
    "BLUE",
    "DISTANCE",
    "GREEN",
    "GREY",
    "OBJECTIVE",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "Style",
    "by_panel",
    "curve",
    "grid",
    "log_scale",
    "panel_of",
    "whole_numbers",
]

Style: TypeAlias = tuple[str, str, str]
"""Colour, marker and dash of a curve."""

DATA_NAMES = {"jester": "Jester", "luad": "TCGA LUAD", "maine": "Maine"}
DISTANCE = "mean Kendall distance to the center"
OBJECTIVE = "mean Kendall distance\nto all rankings, over n"


def grid(
    panels: Mapping[str, Sequence[Row]],
    columns: int,
    fill: Callable[[Axes, Sequence[Row]], None],
    styles: Mapping[str, Style],
    xlabel: str,
    ylabel: str,
) -> Any:
    """Draw one panel per set of rows, with its name above it and one legend below them all."""
    lines = -(-len(panels) // columns)
    width = {1: 7.5, 2: 8.4}.get(columns, 3.6 * columns)
    size = (width, (4 if len(panels) == 1 else 2.6 * lines) + 1.4)
    figure = Figure(figsize=size, layout="constrained")
    cells = figure.subplots(lines, columns, squeeze=False)
    for axes, (name, rows) in zip(cells.flat, panels.items(), strict=False):
        fill(axes, rows)
        axes.set_title(name, fontsize="medium")
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.grid(color="#DDDDDD", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in cells.flat[len(panels) :]:
        axes.remove()
    for axes in cells[:, 1:].flat:
        axes.set_ylabel("")  # once per line is enough
    for axes in cells[:-1].flat:
        axes.set_xlabel("")
    handles = [
        cells.flat[0].plot(
            [], [], color=colour, marker=marker, linestyle=dash or "none", markersize=5, label=name
        )[0]
        for name, (colour, marker, dash) in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns + 1, frameon=False)
    return figure


def curve(axes: Axes, rows: Sequence[Row], x: str, style: Style, prefix: str = "") -> None:
    """Draw one curve with a band of one standard error."""
    colour, marker, dash = style
    points = sorted((row[x], row[f"{prefix}mean"], row[f"{prefix}standard_error"]) for row in rows)
    xs, means, errors = (list(column) for column in zip(*points, strict=True))
    axes.plot(xs, means, dash, color=colour, marker=marker, markersize=4, linewidth=1.4)
    low = [mean - error for mean, error in zip(means, errors, strict=True)]
    high = [mean + error for mean, error in zip(means, errors, strict=True)]
    axes.fill_between(xs, low, high, color=colour, alpha=0.1, linewidth=0)


def log_scale(axes: Axes) -> None:
    """Make the x axis logarithmic, with short tick labels that do not overlap."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=8)


def whole_numbers(axes: Axes) -> None:
    """Put the ticks of the x axis at whole numbers."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def panel_of(row: Row) -> str:
    """Name the panel that a row belongs to."""
    if "data" in row:
        sizes = f"{plural(row['n'], 'item')}, {plural(row['clients'], 'client')}"
        return f"{DATA_NAMES[row['data']]}: {sizes}"
    said = {"identity": ", center e", "authors": ", the authors' center", "random": ", any center"}
    return f"{plural(row['n'], 'item')}{said[row['center']] if 'center' in row else ''}"


def by_panel(rows: Sequence[Row], name: Callable[[Row], str] = panel_of) -> dict[str, list[Row]]:
    """Group rows by the name of their panel.

    Examples
    --------
    >>> list(by_panel([{"n": 5, "center": "random"}, {"n": 7}]))
    ['5 items, any center', '7 items']
    """
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(name(row), []).append(row)
    return panels
