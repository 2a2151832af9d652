"""A progress bar that only shows itself when there is something to wait for."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

QUIET_SECONDS = 2.0  # before a bar is shown


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
        if (
            self.bar is None
            and time.monotonic() - self.start > QUIET_SECONDS
            and sys.stderr.isatty()
        ):
            # Loaded when there is something to draw: `import fedrank` stays light.
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import Progress as Bar  # noqa: PLC0415

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
