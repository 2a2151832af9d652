"""Start of the ``fedrank`` command, outside the package, whose modules take a while to load.

Ctrl-C while they load must not show where in them the program was.
"""

import sys


def main() -> None:
    """Load the command and run it."""
    try:
        from fedrank.cli import main as run  # noqa: PLC0415  slow to load
    except KeyboardInterrupt:
        print("fedrank: stopped", file=sys.stderr)
        sys.exit(130)
    run()
