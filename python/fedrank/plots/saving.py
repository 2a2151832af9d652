"""Write pictures to files: whole, and the same bytes for the same picture."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedrank._files import write_whole
from fedrank.exceptions import InputError

OMITTED_METADATA: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Suffixes of pictures, with the metadata to leave out: a date would change the bytes."""

DOTS_PER_INCH = 150  # of a PNG file
MAX_LAYOUT_PASSES = 10  # two or three are enough


def save(picture: Axes | Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture as PNG, SVG or PDF; the same picture gives the same bytes.

    The file appears whole or not at all. Its folder must exist. The figure stays open: a program
    that writes many pictures draws them in `off_screen`, or closes each with ``plt.close(figure)``.

    Parameters
    ----------
    picture : matplotlib.axes.Axes or matplotlib.figure.Figure
        What to write: for Axes, the whole figure they are in.
    path : path
        The file, with the suffix ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    ValueError
        If the suffix is a different one, or the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from fedrank.plots import bins
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(bins(10, [0.1, 0.5, 0.9]), Path(folder) / "bins.png")
    ...     (Path(folder) / "bins.png").read_bytes()[1:4]
    b'PNG'
    """
    # Axes may be in a part of a figure; the figure of a part is the whole one.
    figure = picture.figure.figure if isinstance(picture, Axes) else picture
    if not isinstance(figure, Figure):
        raise InputError(
            f"must be Axes or a Figure, not {type(picture).__name__}",
            parameter="picture",
            value=picture,
        )
    target = check_path(path)
    suffix = target.suffix.lower()
    omitted = OMITTED_METADATA[suffix]
    memory = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fedrank"}), settled(figure):
        figure.savefig(memory, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=omitted)
    write_whole(target, memory.getvalue())


@contextmanager
def settled(figure: Figure) -> Iterator[None]:
    """Lay a figure out until nothing moves, and keep that layout while it is written.

    Each pass of the layout engine starts where the last one ended and moves the axes a little, so
    that a second file would differ from the first. Rounding the sides makes the passes converge.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    laid_out = [ax for ax in figure.axes if ax.get_in_layout()]
    boxes: list[tuple[float, ...]] = []
    for _ in range(MAX_LAYOUT_PASSES):
        engine.execute(figure)
        before = boxes
        bounds = [ax.get_position(original=True).bounds for ax in laid_out]
        boxes = [tuple(round(float(side), 6) for side in box) for box in bounds]
        if boxes == before:
            break
    for ax, (x, y, width, height) in zip(laid_out, boxes, strict=True):
        ax.set_position((x, y, width, height))
        ax.set_in_layout(True)  # set_position took the axes out of the layout
    figure.set_layout_engine("none")
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def check_path(path: str | os.PathLike[str]) -> Path:
    """Check that `save` can write a picture of this name, and return its path.

    Examples
    --------
    >>> check_path("bins.gif")
    Traceback (most recent call last):
    fedrank.exceptions.InputError: bins.gif: the name of a picture must end in one of .png, .svg,
    .pdf
    """
    target = Path(path)
    if target.suffix.lower() not in OMITTED_METADATA:
        raise InputError(
            f"the name of a picture must end in one of {', '.join(OMITTED_METADATA)}",
            file=target,
            value=target.suffix,
        )
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}", file=target, value=target.parent)
    return target
