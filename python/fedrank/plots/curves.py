"""Curves: errors of methods, and what a planner measured."""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import StrMethodFormatter

from fedrank._validation import as_list
from fedrank.exceptions import InputError
from fedrank.planning.plan import Plan
from fedrank.plots._style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    METHODS,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    axes,
    legend,
    short,
    use_fonts,
)

MAX_MARKERS = 12  # markers on one curve


def error_curves(
    table: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    x: str,
    *,
    y: str = "mean",
    by: str = "method",
    se: str | None = None,
    dashed: str | None = "where",
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw curves of means, federated methods solid and centralized ones dashed.

    A method's name decides its colour and marker, which are the same in every figure. Every line
    has its method, and federated or centralized, as its label.

    Parameters
    ----------
    table : iterable of mappings, or path to a CSV file with a header
        The points, one per row.
    x, y : str
        Columns of the coordinates.
    by : str
        Column of the method's name.
    se : str, optional
        Column of the standard error, drawn as a band of one standard error on either side. A
        point without a value (empty or NaN) has no band.
    dashed : str or None
        Column that says ``federated`` (solid) or ``centralized`` (dashed); None draws all solid.
    log : bool
        Whether to draw ``y`` on a logarithmic axis. Below the smallest positive decade the axis
        is linear, so that zeros show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a column is missing, a value is not a number, or two rows are the same point.

    Examples
    --------
    >>> rows = [
    ...     {"method": "Borda", "where": "federated", "samples": 1, "mean": 3.0, "se": 0.2},
    ...     {"method": "Borda", "where": "federated", "samples": 5, "mean": 0.5, "se": 0.1},
    ... ]
    >>> ax = error_curves(rows, x="samples", se="se")
    >>> ax.lines[0].get_ydata()
    array([3. , 0.5])
    """
    curves = read_curves(table, x, y, by, se, dashed)
    own = ax is None
    ax = axes(ax, 8, 4.2)
    styles = method_styles({method for method, _ in curves})
    values = [mean for points in curves.values() for _, mean, _ in points]
    lowest = min(0.0, *values)
    for (method, central), points in curves.items():
        xs, means, errors = np.array(points).T
        colour, marker = styles[method]
        ax.plot(
            xs,
            means,
            color=colour,
            linestyle="--" if central else "-",
            linewidth=1.6,
            marker=marker,
            markersize=5,
            markerfacecolor="white" if central else colour,
            markevery=ceil(len(xs) / MAX_MARKERS),
            label=f"{method}, {'centralized' if central else 'federated'}" if dashed else method,
        )
        if se is not None:
            # Counts of errors are never negative, so the band stops at 0.
            bottom = np.maximum(means - errors, lowest)
            ax.fill_between(xs, bottom, means + errors, color=colour, alpha=0.18, linewidth=0)
    least = 10.0 ** floor(log10(min((value for value in values if value > 0), default=1.0)))
    if log and max(values) > 0:
        ax.set_yscale("symlog", linthresh=least, linscale=0.5)
    if lowest == 0:
        top = ax.get_ylim()[1] if max(values) > 0 else 1.0
        ax.set_ylim(-0.02 * top if ax.get_yscale() == "linear" else -0.2 * least, top)
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    error = "" if se is None else " ± standard error"
    ax.set(xlabel=x.replace("_", " "), ylabel=y.replace("_", " ") + error)
    curve_legend(ax, styles, {central for _, central in curves} if dashed else set(), own)
    use_fonts(ax)
    return ax


def read_curves(
    table: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    x: str,
    y: str,
    by: str,
    se: str | None,
    dashed: str | None,
) -> dict[tuple[str, bool], list[tuple[float, float, float]]]:
    """Read the points (x, mean, standard error) of each curve, from left to right.

    A curve's key is its method and whether the method is centralized.

    Examples
    --------
    >>> read_curves([{"method": "Borda", "m": "2", "mean": 0}], "m", "mean", "method", None, None)
    {('Borda', False): [(2.0, 0.0, 0.0)]}
    """
    if isinstance(table, str | os.PathLike):
        with Path(table).open(encoding="utf-8-sig", newline="") as file:
            rows: list[Any] = list(csv.DictReader(file))
    else:
        rows = as_list(table, "table")
    if not rows:
        raise InputError("must have at least one row to draw", parameter="table")
    curves: dict[tuple[str, bool], dict[float, tuple[float, float, float]]] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(
                f"a row must be a mapping of columns to values, not {row!r}", row=number, value=row
            )
        for column in filter(None, (x, y, by, se, dashed)):
            if row.get(column) is None:
                has = ", ".join(map(str, row))
                raise InputError(
                    f"there is no column {column!r}",
                    row=number,
                    value=column,
                    remedy=f"the columns are {has}",
                )
        where = str(row[dashed]).lower() if dashed else "federated"
        if where not in ("federated", "centralized"):
            raise InputError(
                f"{dashed} must be federated or centralized, not {row[dashed]!r}",
                row=number,
                value=row[dashed],
            )
        point = as_number(row, x, number)
        error = as_number(row, se, number, unknown=True) if se else 0.0
        if error < 0:
            raise InputError(f"{se} must be at least 0, not {error}", row=number, value=error)
        curve = curves.setdefault((str(row[by]), where == "centralized"), {})
        if point in curve:
            raise InputError(
                f"this is a second row for {row[by]}, {where}, {x} = {point:g}",
                row=number,
                value=point,
                remedy="pass only the rows of one panel",
            )
        curve[point] = (point, as_number(row, y, number), error)
    return {key: [curve[point] for point in sorted(curve)] for key, curve in curves.items()}


def as_number(row: Mapping[str, Any], column: str, number: int, unknown: bool = False) -> float:
    """Read a finite number from a row; NaN is allowed if ``unknown``.

    Examples
    --------
    >>> as_number({"mean": "0.5"}, "mean", 0)
    0.5
    """
    if unknown and str(row[column]).strip().lower() in ("", "nan"):
        return float("nan")
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = float("nan")
    if not isfinite(value):
        raise InputError(
            f"{column} must be a number, not {row[column]!r}", row=number, value=row[column]
        )
    return value


def method_styles(methods: set[str]) -> dict[str, tuple[str, str]]:
    """Choose a colour and a marker per method: by its name, or a free one of this figure.

    Examples
    --------
    >>> method_styles({"Borda", "ours"})
    {'Borda': ('#0072B2', 'o'), 'ours': ('#888888', '*')}
    """
    if len(methods) > len(METHODS):
        raise InputError(
            f"one figure can show at most {len(METHODS)} methods, not {len(methods)}",
            value=len(methods),
            remedy="draw several figures",
        )
    keys = {name: "".join(filter(str.isalpha, name.lower())) for name in sorted(methods)}
    known = {key: name for name, key in keys.items() if key in METHODS}
    others = [name for name in keys if name not in known.values()]
    free = [key for key in METHODS if key not in known]
    chosen = {known[key]: METHODS[key] for key in METHODS if key in known}
    return chosen | {name: METHODS[free.pop()] for name in others}


def curve_legend(
    ax: Axes, styles: Mapping[str, tuple[str, str]], central: set[bool], own: bool
) -> None:
    """Explain colours and dashes separately; beside the axes if we made the figure."""
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=5, label=short(method))
        for method, (colour, marker) in styles.items()
    ]
    for dash, label in ((False, "federated"), (True, "centralized")):
        if dash in central:
            line = Line2D([], [], color="#444444", linestyle="--" if dash else "-", label=label)
            handles.append(line)
    legend(ax, own, handles, handlelength=3)


def success(plans: Plan | Iterable[Plan], *, ax: Axes | None = None) -> Axes:
    """Draw what a planner measured against the number of samples, with its interval and its goal.

    The legend names every curve, with the number of samples that it needs, and explains the other
    lines: the goal, the samples needed (dotted) and the intervals (bands).

    Parameters
    ----------
    plans : Plan or iterable of Plan
        Plans for the same goal; each one is a curve.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If no plan is given, or the goals differ.

    Examples
    --------
    >>> from fedrank import plan
    >>> ax = success(plan("borda", n=8, phi=0.5, clients=5, rng=0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('samples per client', 'share of trials that recover the center')
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['borda, phi = 0.5: needs ...', 'goal: 0.95', 'samples needed', 'interval of a point']
    """
    listed = [plans] if isinstance(plans, Plan) else as_list(plans, "plans")
    if not listed:
        raise InputError("must not be empty", parameter="plans", remedy="pass at least one plan")
    goals = {(plan.distance is None, plan.distance or 1 - (plan.delta or 0)) for plan in listed}
    if len(goals) > 1:
        raise InputError(
            "must have one goal, and these have several",
            parameter="plans",
            remedy="draw one picture per goal",
        )
    recovery, goal = goals.pop()
    made = ax is None
    ax = axes(ax, 8.5, max(4.0, 1.2 + 0.22 * len(listed)))
    colours = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY]
    handles: list[Artist] = []
    for number, (plan, label) in enumerate(zip(listed, plan_labels(listed), strict=True)):
        colour = colours[number % len(colours)]
        dash, marker = ["-", "--", "-."][number // len(colours) % 3], "os^"[number % 3]
        points = plan.points
        xs = [point.samples for point in points]
        values = [point.value for point in points]
        handles += ax.plot(xs, values, dash, color=colour, marker=marker, markersize=4, label=label)
        low, high = ([getattr(point, side) for point in points] for side in ("low", "high"))
        ax.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        if plan.samples is not None:
            ax.axvline(plan.samples, color=colour, linewidth=1, linestyle=":")
    grey = "#444444"
    handles.append(ax.axhline(goal, color=grey, linewidth=0.8, label=f"goal: {goal:g}"))
    if any(plan.samples is not None for plan in listed):
        handles.append(Line2D([], [], color=grey, linewidth=1, linestyle=":"))
        handles[-1].set_label("samples needed")
    handles.append(Patch(color=grey, alpha=0.18, linewidth=0, label="interval of a point"))
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    share = "share of trials that recover the center"
    ax.set(xlabel="samples per client", ylabel=share if recovery else "mean Kendall distance")
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, made, handles)
    return ax


def plan_labels(plans: Sequence[Plan]) -> list[str]:
    """Name each plan by its method, its phi, what else differs, and the samples that it needs.

    Examples
    --------
    >>> from fedrank import plan
    >>> plan_labels([plan("borda", n=n, phi=0.5, clients=5, rng=0) for n in (1, 8)])
    ['borda, phi = 0.5, n = 1: needs 1', 'borda, phi = 0.5, n = 8: needs ...']
    """
    labels = []
    for plan in plans:
        words = [plan.method, f"phi = {plan.phi:g}"]
        words += [
            f"{name} = {getattr(plan, name)}"
            for name in ("n", "clients")
            if len({getattr(each, name) for each in plans}) > 1
        ]
        needs = "none is enough" if plan.samples is None else f"needs {plan.samples:,}"
        labels.append(f"{', '.join(words)}: {needs}")
    return labels
