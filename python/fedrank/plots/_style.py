"""What all pictures share: colours, markers, axes and labels.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart. Every
curve also has a second mark: a shape, a dash or a label.
"""

from math import ceil
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#888888"

METHODS: dict[str, tuple[str, str]] = {
    "borda": (BLUE, "o"),
    "lehmer": (VERMILLION, "s"),
    "footrule": (GREEN, "^"),
    "kemeny": (PURPLE, "D"),
    "lehmernearest": (ORANGE, "v"),
    "refined": (BLACK, "X"),
    "pivot": (SKY, "P"),
    "pick": (GREY, "*"),
}
"""Colour and marker of each method, the same in every figure. A key is the letters of the name."""

MAX_LABEL_CHARS = 28
CHAR_WIDTH, LINE_HEIGHT = 0.09, 0.17  # of tick labels, in inches


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or the axes of a new figure that pyplot does not know."""
    if ax is None:
        return Figure(figsize=(width, height), layout="constrained").subplots()
    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be one matplotlib Axes, not {type(ax).__name__}")
    return ax


def name_ticks(ax: Axes, texts: list[str], first: str | None = None) -> None:
    """Write names along the x axis; where there is little room, slant them or skip some.

    ``first`` names a column to the left of them, on its own line unless the names are slanted.
    """
    columns = len(texts) + (first is not None)
    bounds = ax.get_window_extent().width / cast(Figure, ax.figure).dpi
    room = 0.7 * bounds / columns  # inches per column; labels at the sides take the rest
    step = ceil(LINE_HEIGHT / room)
    slanted = CHAR_WIDTH * max(map(len, texts)) > room * step
    shown = list(range(0, len(texts), step))
    names = [texts[column] for column in shown]
    if first is not None:
        shown = [0, *(column + 1 for column in shown)]
        names = [first if slanted else f"\n{first}", *names]
    ax.set_xticks(
        shown,
        names,
        rotation=45 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
        parse_math=False,
    )


def short(label: object) -> str:
    """Write a label on one line, without the middle of a long one.

    Examples
    --------
    >>> short("the hospital with the longest name, ward 12")
    'the hospital wi…ame, ward 12'
    """
    text = " ".join(str(label).split())
    return text if len(text) <= MAX_LABEL_CHARS else f"{text[:15]}…{text[-12:]}"
