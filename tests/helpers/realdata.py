"""Where the real data are: where FEDRANK_DATA points, or beside the project, in ../shared/data."""

import os
from pathlib import Path

import pytest

from helpers.paths import TESTS

DATA = Path(os.environ.get("FEDRANK_DATA") or TESTS.parents[1] / "shared" / "data")


def need(*names):
    """Path of a file among the real data; without it the test is skipped."""
    path = DATA.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is absent: ../shared/data, or where FEDRANK_DATA points")
    return path
