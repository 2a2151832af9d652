"""Agents need Unix sockets and the modes of files."""

import sys

collect_ignore_glob = [] if sys.platform == "linux" else ["*.py"]
