"""A progress bar that only shows itself when there is something to wait for."""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import Progress as Bar

PATIENCE = 2.0  # seconds without a bar


class Progress:
    """Counts steps; draws a bar on a terminal once two seconds have passed."""

    def __init__(self, label: str, total: int | None) -> None:
        self.label = label
        self.total = total
        self.done = 0
        self.start = time.monotonic()
        self.bar: Bar | None = None

    def advance(self, steps: int = 1) -> None:
        """Count steps."""
        self.done += steps
        if self.bar is None and time.monotonic() - self.start > PATIENCE and sys.stderr.isatty():
            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task(self.label, total=self.total)
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done, description=self.label)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
