"""Set-up of the examples in these pages, which pytest runs."""

import pytest

collect_ignore = ["conf.py"]  # Sphinx's


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Let examples write their files where they harm nothing, and draw without a screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
