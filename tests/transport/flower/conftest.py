"""What the tests of fedrank on Flower share."""

import sys

import pytest

# They look into /proc, and need Unix sockets.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture
def task(monkeypatch):
    """Be a task of Flower's, which alone may make messages."""
    from flwr.supercore.task_identity import TaskIdentity  # noqa: PLC0415  an extra

    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 7)
