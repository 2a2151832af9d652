"""What the tests of the agent share."""

import sys

import pytest

from fedrank.agent import Agent
from helpers.agents import configured

# They need Unix sockets at short paths, and the modes of files.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture
def agent(tmp_path):
    made = Agent(configured(tmp_path))
    yield made
    made.close()
