"""One line on the terminal that shows how far long work is, from two seconds on.

Nothing is drawn unless someone asked for it: the commands do for all that they call (`show`),
callers of the Python functions by ``progress=True``. The line goes to standard error if that is a
terminal or a notebook, and is wiped when the work ends. It is plain text, written by the thread
that works: no thread and no terminal mode is left behind, whenever the work is stopped.
"""

import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import sqrt
from types import TracebackType
from typing import Self

from fedrank import _core
from fedrank._text import printable, width_of

QUIET_SECONDS = 2.0  # before the line is shown
REDRAW_SECONDS = 0.1
ESTIMATE_FROM = 0.05  # part of the work that must be done before a time is estimated
BAR_CELLS = 24
SPARE_CELLS = 4  # at the right, for the ^C that a terminal echoes
SPINNER = "|/-\\"

_shown_since: ContextVar[float | None] = ContextVar("shown_since", default=None)
_innermost: ContextVar["Progress | None"] = ContextVar("innermost", default=None)


@contextmanager
def show(wanted: bool = True) -> Iterator[None]:
    """Draw the progress of the work inside the block, if ``wanted`` or asked for further out.

    The two seconds without a line begin here, so the second stage of long work is shown at once.
    """
    since = _shown_since.get()
    token = _shown_since.set(time.monotonic() if wanted and since is None else since)
    try:
        yield
    finally:
        _shown_since.reset(token)


class Progress:
    """Counts units of work, and draws how far it is once two seconds have passed.

    Of several that are nested, only the outermost is drawn; each one moves the one around it by
    the part of its ``step`` that is done. Units should take about the same time:
    the time left is estimated from the units done in the time spent, see `seconds_left`.

    Parameters
    ----------
    label : str
        What is being done.
    total : float, optional
        All units. Without it, the time spent is shown instead of an estimate.

    Examples
    --------
    >>> with Progress("reading", 2) as progress:
    ...     progress.advance()
    >>> progress.done / progress.total
    0.5
    """

    def __init__(self, label: str, total: float | None = None) -> None:
        self.label = label
        self.total = total
        self.done: float = 0
        self.step: float = 0  # units of the step under way, of which a nested count may show parts
        self.part = 0.0  # of that step
        self.start = self.drawn = self.seen = time.monotonic()
        self.stage = ""
        self.spent: dict[str, float] = {}  # seconds by stage
        self.past: deque[tuple[float, float]] = deque()  # seconds and units of the later half
        self.cells = 0  # of the line on the screen
        self.drawing = False
        self.watched = False  # this line is drawn, or that of the work around it
        self.leads = False  # it is this one
        self.quiet_until = self.start + QUIET_SECONDS
        self.outer: Progress | None = None

    def begin(self, units: float) -> None:
        """Begin a step of so many units; counts inside it show how far it is."""
        self.step, self.part = units, 0.0

    def advance(self, units: float = 1) -> None:
        """Count units as done."""
        self.done += units
        self.part = 0.0
        self.pass_on()

    def pass_on(self) -> None:
        """Move the work of which this is a part, and draw the line anew if it is time."""
        if self.outer is not None:
            self.outer.part = max(self.outer.part, self.fraction or 0.0)
            self.outer.pass_on()
        self.tick()

    def heard(self, stage: str, done: int, total: int) -> None:  # noqa: ARG002  see `Following`
        """Take the counts of a long call, which is a part of this work: only the clock moves."""
        self.tick()

    def tick(self) -> None:
        """Draw the line anew, if it is time."""
        now = time.monotonic()
        self.count(now - self.seen)
        self.seen = now
        if self.drawing and now >= self.quiet_until and now - self.drawn > REDRAW_SECONDS:
            self.drawn = now
            self.write(self.line(shutil.get_terminal_size().columns - SPARE_CELLS))

    def count(self, seconds: float) -> None:
        """Add to the time spent, and remember how far the work is now."""
        spent = self.spent[self.stage] = self.spent.get(self.stage, 0.0) + seconds
        if not self.past or spent - self.past[-1][0] >= REDRAW_SECONDS:
            self.past.append((spent, self.done + self.step * self.part))
        while len(self.past) > 1 and self.past[1][0] <= spent / 2:
            self.past.popleft()

    @property
    def fraction(self) -> float | None:
        """The part of the work that is done, from 0 to 1; None if nobody knows."""
        if not self.total:
            return None
        return min(1.0, (self.done + self.step * self.part) / self.total)

    @property
    def seconds_left(self) -> float | None:
        """The estimated time to the end of the stage; None before there is one.

        The first units often take longer than the others or less, and the last ones alone are few.
        So the estimate is the geometric mean of those by all units and by the units of the later
        half of the time spent.
        """
        part, spent = self.fraction, self.spent.get(self.stage, 0.0)
        if part is None or part < ESTIMATE_FROM:
            return None
        seconds = spent / part
        if self.past and self.total:
            before, units = self.past[0]
            since = part - units / self.total
            if since > 0 and spent > before:
                seconds = sqrt(seconds * (spent - before) / since)
        return seconds * (1 - part)

    def line(self, cells: int) -> str:
        """Return the line, at most so many cells wide.

        Examples
        --------
        >>> progress = Progress("reading votes.csv", 100)
        >>> progress.done, progress.spent = 25, {"": 10.0}
        >>> progress.line(80).replace("━", "#").replace("─", "-")
        'reading votes.csv ######------------------  25 %  0:30 left'
        >>> Progress("searching").line(80)
        'searching | 0:00'
        """
        done, left = self.fraction, self.seconds_left
        if done is None:
            turn = int(self.seen / REDRAW_SECONDS) % len(SPINNER) if self.drawing else 0
            tail = f" {SPINNER[turn]} {clock(self.seen - self.start)}"
        else:
            full = int(done * BAR_CELLS)
            on, off = "━─" if encodes("━─") else "#-"
            tail = f" {on * full}{off * (BAR_CELLS - full)} {done:4.0%}".replace("%", " %")
            tail += "" if left is None else f"  {clock(left)} left"
        label = f"{self.label}: {self.stage}" if self.stage else self.label
        return shortened(printable(label), max(0, cells - len(tail))) + tail

    def write(self, line: str) -> None:
        """Replace the line on the screen."""
        width = width_of(line)
        self.cells = max(width, self.cells)  # first: Ctrl-C may come while the line is written
        try:
            sys.stderr.write("\r" + line + " " * (self.cells - width))
            sys.stderr.flush()
        except OSError:  # the terminal is gone, the work goes on
            self.drawing = False
        self.cells = width

    def __enter__(self) -> Self:
        since, self.outer = _shown_since.get(), _innermost.get()
        _innermost.set(self)
        inside = self.outer is not None and self.outer.watched
        self.watched = inside or (since is not None and can_draw())
        if since is not None and self.watched and not inside:
            self.leads = self.drawing = True
            self.quiet_until = since + QUIET_SECONDS
            _core.listen(self.heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if _innermost.get() is self:
            _innermost.set(self.outer)
        if self.leads:
            _core.listen(None)
        if self.drawing and self.cells:
            self.write(" " * (self.cells + SPARE_CELLS) + "\r")  # over an echoed ^C, too
        self.drawing = False


class Following(Progress):
    """Shows the counts of the long calls of the core that are made inside it.

    Examples
    --------
    >>> with Following("kemeny") as progress:
    ...     progress.heard("counting pairs", 5, 10)
    >>> progress.stage, progress.fraction
    ('counting pairs', 0.5)
    """

    def heard(self, stage: str, done: int, total: int) -> None:
        """Take the counts of a long call."""
        self.tick()  # the time until now belongs to the stage before
        if stage != self.stage or done < self.done:
            self.past.clear()
        if done < self.done and stage == self.stage:  # another call
            self.spent.clear()
        self.stage, self.done, self.total = stage, done, total or None


def can_draw() -> bool:
    """Whether standard error is a terminal or a notebook."""
    stream = sys.stderr
    if stream is None or stream.closed:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


def encodes(text: str) -> bool:
    """Whether standard error can show a text."""
    try:
        text.encode(getattr(sys.stderr, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, or with hours.

    Examples
    --------
    >>> clock(75), clock(3605)
    ('1:15', '1:00:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def shortened(text: str, cells: int) -> str:
    """Return as much of a text as fits.

    Examples
    --------
    >>> shortened("precinct", 5), shortened("ward", 5)
    ('prec…', 'ward')
    """
    if width_of(text) <= cells:
        return text
    while text and width_of(text) >= cells:
        text = text[:-1]
    return text + "…" if cells else ""
