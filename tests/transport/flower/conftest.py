"""What the tests of fedrank on Flower share."""

import sys

# They look into /proc, and need Unix sockets.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]
