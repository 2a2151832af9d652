"""Pictures of the studies beyond the paper."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

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

Style = tuple[str, str, str]
"""Colour, marker and dash of a curve."""

NAMES = {"jester": "Jester", "luad": "TCGA LUAD", "maine": "Maine"}
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
    """Draw a panel for each set of rows, named above it; the legend stands below them all."""
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
        axes.set_ylabel("")  # said once a line
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
    """Set a logarithmic axis, with numbers that are read at a glance and do not run together."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=8)


def panel_of(row: Row) -> str:
    """Name the panel that a row belongs to."""
    if "data" in row:
        return f"{NAMES[row['data']]}: {row['n']} items, {row['clients']} clients"
    said = {"identity": ", center e", "authors": ", the authors' center", "random": ", any center"}
    return f"{row['n']} items{said[row['center']] if 'center' in row else ''}"


def by_panel(rows: Sequence[Row], name: Callable[[Row], str] = panel_of) -> dict[str, list[Row]]:
    """Sort rows into panels.

    Examples
    --------
    >>> list(by_panel([{"n": 5, "center": "random"}, {"n": 7}]))
    ['5 items, any center', '7 items']
    """
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(name(row), []).append(row)
    return panels


def only(rows: Sequence[Row], **columns: object) -> list[Row]:
    """Return the rows that have these values in these columns."""
    return [row for row in rows if all(row[name] == value for name, value in columns.items())]


# --- Lehmer ---

LEHMER: dict[str, Style] = {
    f"{send}, {decode}{', centred' if centred == 'yes' else ''}": (colour, marker, dash)
    for (send, decode), (colour, marker) in {
        ("plurality", "nearest"): (ORANGE, "v"),
        ("plurality", "paper"): (VERMILLION, "s"),
        ("median", "nearest"): (SKY, "^"),
        ("median", "paper"): (GREEN, "D"),
    }.items()
    for centred, dash in (("no", "-"), ("yes", "--"))
}


def draw_lehmer(rows: Sequence[Row]) -> Any:
    """Draw the error against the number of low bits."""
    real = "data" in rows[0]
    shown = rows if real else only(rows, phi=0.6, samples=20)

    def fill(axes: Axes, rows: Sequence[Row]) -> None:
        for name, style in LEHMER.items():
            send, decode, *centred = name.split(", ")
            curve(
                axes,
                only(rows, send=send, decode=decode, centred="yes" if centred else "no"),
                "low_bits",
                style,
            )
        (borda,) = only(rows, send="places")
        axes.axhline(borda["mean"], color=BLUE, linestyle=":", linewidth=1.4)
        if real:  # a curve may be far away: the others are what is compared
            least = borda["mean"]
            axes.set_ylim(0.995 * least, (1.06 if rows[0]["n"] < 500 else 1.28) * least)
        else:
            axes.set_yscale("symlog", linthresh=0.1, linscale=0.4)
            axes.set_ylim(0, 1.5 * max(row["mean"] for row in rows))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    return grid(
        by_panel(shown),
        2 if real else 3,
        fill,
        LEHMER | {"Borda": (BLUE, "", ":")},
        "I, bits sent one-hot",
        OBJECTIVE if real else DISTANCE,
    )


# --- Borda ---

BORDA: dict[str, Style] = {
    "exact": (BLACK, "", "-"),
    "phi 0": (BLUE, "o", "-"),
    "phi 0.3": (SKY, "s", "-"),
    "phi 0.6": (VERMILLION, "v", "-"),
    "phi 0.9": (ORANGE, "D", "-"),
    "1/4 place": (GREEN, "^", "--"),
    "by chance": (PURPLE, "P", "--"),
}


def draw_borda(rows: Sequence[Row]) -> Any:
    """Draw the error beside that of exact sums."""
    real = "data" in rows[0]
    x = "samples" if real else "phi"

    def fill(axes: Axes, rows: Sequence[Row]) -> None:
        for name, style in BORDA.items():
            curve(axes, only(rows, quantizer=name), x, style, "beside_")
        # phi 0.9 is far away, and on most data far worse: the others are what is compared.
        near = [row["beside_mean"] for row in rows if row["quantizer"] != "phi 0.9"]
        room = 0.15 * (max(near) - min(near)) or 0.1
        axes.set_ylim(min(near) - room, max(near) + room)
        if real:
            log_scale(axes)

    if real:
        panels, columns = by_panel(rows), 3
        labels = ("samples a client", "objective,\nminus that of exact sums")
    else:
        panels = by_panel(rows, lambda row: f"{row['n']} items, {row['samples']} samples")
        columns, labels = 3, ("φ of the data", "mean distance to the center,\nminus exact sums'")
    return grid(panels, columns, fill, BORDA, *labels)


def draw_phi(rows: Sequence[Row]) -> Any:
    """Draw the error beside that of exact sums, against the quantizer's phi."""
    kinds = by_panel(rows, lambda row: f"n {row['n']}, φ {row['phi']:g}, {row['samples']} samples")
    colours = (BLACK, SKY, GREEN, BLUE, VERMILLION, PURPLE, ORANGE)
    styles = {
        name: (colour, marker, "-")
        for name, colour, marker in zip(kinds, colours, "osv^DPX", strict=False)
    }

    def fill(axes: Axes, _: Sequence[Row]) -> None:
        for name, style in styles.items():
            points = [
                row | {"x": float(row["quantizer"].removeprefix("phi "))}
                for row in kinds[name]
                if row["quantizer"] != "exact"
            ]
            curve(axes, points, "x", style, "beside_")
        axes.set_ylim(-0.1, 3.5)

    labels = ("phi of the quantizer", "mean distance to the center,\nminus exact sums'")
    return grid({"10 clients": rows}, 1, fill, styles, *labels)


# --- bits against error ---

PARETO: dict[str, Style] = {
    "Borda": (BLUE, "o", ""),
    "Borda, exact": (BLUE, "*", ""),
    "Lehmer": (ORANGE, "v", ""),
    "Refine": (PURPLE, "D", ""),
    "Refine, rounds": (BLACK, "X", ""),
    "Refine, majority": (GREEN, "^", ""),
    "Refine, majority, rounds": (SKY, "P", ""),
}


def frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no other beats in both bits and error, from few bits to many.

    Examples
    --------
    >>> points = [(1, 5), (2, 6), (3, 2)]
    >>> [row["bits"] for row in frontier([{"bits": b, "mean": m} for b, m in points])]
    [1, 3]
    """
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["bits"], row["mean"])):
        if not best or row["mean"] < best[-1]["mean"]:
            best.append(row)
    return best


def draw_pareto(rows: Sequence[Row]) -> Any:
    """Draw the error against bits, with the settings that nothing beats.

    Objectives are drawn from the best one found, since they differ in late digits.
    """
    real = "data" in rows[0]

    def fill(axes: Axes, rows: Sequence[Row]) -> None:
        least = min(row["mean"] for row in rows) if real else 0.0
        best = frontier(rows)
        axes.step(
            [row["bits"] for row in best],
            [row["mean"] - least for row in best],
            color=GREY,
            where="post",
            linewidth=1,
            zorder=1,
        )
        for name, (colour, marker, _) in PARETO.items():
            points = only(rows, method=name)
            axes.plot(
                [row["bits"] for row in points],
                [row["mean"] - least for row in points],
                linestyle="",
                color=colour,
                marker=marker,
                markersize=6,
            )
        for place, row in enumerate(best):  # beside and below by turns, so that they stay apart
            axes.annotate(
                row["setting"],
                (row["bits"], row["mean"] - least),
                (4, 4) if place % 2 or row["mean"] < least + 1e-4 else (-5, -11),
                textcoords="offset points",
                fontsize=7,
            )
        log_scale(axes)
        axes.set_yscale("symlog", linthresh=1e-4 if real else 1e-2, linscale=0.4)
        axes.set_ylim(0, 2 * (max(row["mean"] for row in rows) - least))

    name = panel_of if real else lambda row: f"{row['samples']} samples a client"
    return grid(
        by_panel(rows, name),
        2,
        fill,
        PARETO,
        "bits a client sends, all rounds",
        "objective, above the best found" if real else DISTANCE,
    )


# --- weights ---

WEIGHTS: dict[str, Style] = {
    "client, places": (VERMILLION, "v", "-"),
    "client, means": (ORANGE, "s", "--"),
    "ranking": (BLUE, "o", "-"),
}


def draw_weights(rows: Sequence[Row]) -> Any:
    """Draw clients that are alike against their sizes, and others against how they differ."""
    said = {
        "alike": "clients alike: distance to the center",
        "size": "small clients differ: excess",
        "lot": "any clients differ: excess",
    }

    def fill(axes: Axes, rows: Sequence[Row]) -> None:
        alike = rows[0]["differ"] == "alike"
        for name, style in WEIGHTS.items():
            curve(axes, only(rows, weight=name), "used" if alike else "distance", style)
        if alike:
            log_scale(axes)

    figure = grid(
        by_panel(rows, lambda row: f"{row['profile']}; {said[row['differ']]}"),
        3,
        fill,
        {f"every {name}": style for name, style in WEIGHTS.items()},
        "",
        "Kendall distance",
    )
    for place, axes in enumerate(figure.axes):
        axes.set_xlabel("distance between the two centers" if place % 3 else "rankings in all")
    return figure
