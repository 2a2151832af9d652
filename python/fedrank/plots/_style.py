"""What all pictures share: colours, markers, axes and labels.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart. Every
curve also has a second mark: a shape, a dash or a label.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from typing import Any, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from fedrank._text import width_of
from fedrank.exceptions import InputError

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
SLANT = 0.7  # height of slanted text over its length

FALLBACK_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "WenQuanYi Zen Hei"),
    *("Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo", "Arial Unicode MS"),
    *("Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Nirmala UI", "Leelawadee UI"),
    *("Noto Sans", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil"),
    *("Noto Sans Thai", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Ethiopic"),
)
"""Fonts of Linux, macOS and Windows with letters that matplotlib's own font lacks."""

_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """Draw figures that pyplot does not know, for programs that only write files.

    Such a figure needs no display and no backend, never opens a window, is not shown by a
    notebook, and takes no memory once it is unreachable: there is nothing to close. Use it to
    write many pictures in a loop, or to draw in a thread.

    Examples
    --------
    >>> from matplotlib import pyplot as plt
    >>> from fedrank.plots import bins
    >>> before = plt.get_fignums()
    >>> with off_screen():
    ...     ax = bins(10, [0.1, 0.5, 0.9])
    >>> plt.get_fignums() == before
    True
    """
    token = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(token)


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure: pyplot's, unless drawn off screen."""
    if ax is None and _off_screen.get():
        return Figure(figsize=(width, height), layout="constrained").subplots()
    if ax is None:
        from matplotlib import pyplot  # noqa: PLC0415  chooses a backend when it is loaded

        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return check_axes(ax)


def check_axes(ax: Axes) -> Axes:
    """Refuse an array of axes, such as ``plt.subplots(2)`` gives."""
    if not isinstance(ax, Axes):
        raise InputError(
            f"must be one matplotlib Axes, not {type(ax).__name__}", parameter="ax", value=ax
        )
    return ax


def name_ticks(
    ax: Axes, texts: list[str], own: bool, first: str | None = None, start: int = 0
) -> None:
    """Write names along the x axis; where there is little room, slant them or skip some.

    The first name stands at ``start``. ``first`` names a column to the left of them, on its own
    line unless the names are slanted. A figure of our ``own`` grows by what slanted names need.
    """
    columns = len(texts) + (first is not None)
    bounds = ax.get_window_extent().width / cast(Figure, ax.figure).dpi
    room = 0.7 * bounds / columns  # inches per column; labels at the sides take the rest
    step = ceil(LINE_HEIGHT / room)
    longest = CHAR_WIDTH * max(map(width_of, texts))
    slanted = longest > room * step
    if slanted and own:
        figure = cast(Figure, ax.figure)
        figure.set_figheight(figure.get_figheight() + SLANT * longest)
    numbers = range(0, len(texts), step)
    shown = [start + number for number in numbers]
    names = [texts[number] for number in numbers]
    if first is not None:
        shown = [start - 1, *shown]
        names = [first if slanted else f"\n{first}", *names]
    ax.set_xticks(
        shown,
        names,
        rotation=45 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
        parse_math=False,
    )


def place_ticks(axis: Axis, last: float) -> None:
    """Put ticks at whole places from 1 to ``last``; there is no place 0.

    Examples
    --------
    >>> ax = Figure().subplots()
    >>> place_ticks(ax.xaxis, 20)
    >>> ax.get_xticks().tolist()
    [1.0, 5.0, 10.0, 15.0, 20.0]
    """
    locator = MaxNLocator(nbins=12, steps=[1, 5, 10], integer=True, min_n_ticks=1)
    ticks = locator.tick_values(1, max(2.0, last))
    gap = (ticks[1] - ticks[0]) / 2
    axis.set_ticks([1.0, *(tick for tick in ticks if 1 + gap < tick <= last)])


def legend(
    ax: Axes, own: bool, handles: Sequence[Artist] | None = None, handlelength: float = 2.0
) -> None:
    """Explain the marks: beside the axes if we made the figure, in the axes if we did not."""
    location: dict[str, Any] = {"loc": "best"}
    if own:
        location = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    if handles is not None:
        location["handles"] = handles
    made = ax.legend(frameon=not own, handlelength=handlelength, **location)
    for text in made.get_texts():
        text.set_parse_math(False)


def use_fonts(ax: Axes) -> None:
    """Let labels with letters outside ASCII use further fonts, as far as they are installed.

    A letter that no font has is drawn as a box, and matplotlib warns of it.
    """
    installed = {font.name for font in fontManager.ttflist}
    fonts = [*mpl.rcParams["font.family"], *(name for name in FALLBACK_FONTS if name in installed)]
    for text in ax.findobj(Text):
        if not text.get_text().isascii():
            text.set_fontfamily(fonts)


def short_names(labels: Iterable[object]) -> list[str]:
    """Write labels on one line each; a number tells apart those that look alike.

    Examples
    --------
    >>> short_names(["ann", "a" * 20 + "b" + "a" * 20, "a" * 20 + "c" + "a" * 20])
    ['ann', 'aaaaaaaaaaaaaaa…aaaaaaaaaaaa #1', 'aaaaaaaaaaaaaaa…aaaaaaaaaaaa #2']
    """
    texts = [short(label) for label in labels]
    seen = Counter(texts)
    return [text if seen[text] == 1 else f"{text} #{number}" for number, text in enumerate(texts)]


def short(label: object) -> str:
    """Write a label on one line, without the middle of a long one.

    Examples
    --------
    >>> short("the hospital with the longest name, ward 12")
    'the hospital wi…ame, ward 12'
    """
    text = " ".join(str(label).split())
    if width_of(text) <= MAX_LABEL_CHARS:
        return text
    kept = MAX_LABEL_CHARS * len(text) // width_of(text)  # fewer if letters are wide
    head = kept // 2 + 1
    return f"{text[:head]}…{text[head + 1 - kept :]}"
