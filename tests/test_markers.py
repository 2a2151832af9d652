"""Marked tests run on request only; under --check, which CI implies, a skip of one is a failure."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from helpers.paths import TESTS

FILES = {
    "pytest.ini": "[pytest]\nmarkers =\n    nodes: x\n",
    "test_marked.py": """
import pytest

@pytest.mark.nodes
def test_that_runs():
    pass

@pytest.mark.nodes
def test_that_skips_itself():
    pytest.skip("no federation here")

def test_that_may_skip_itself():
    pytest.skip("no data here")
""",
    "test_whole.py": 'import pytest\npytest.skip("no browser here", allow_module_level=True)\n',
}


@pytest.fixture
def outcomes(tmp_path):
    """Run pytest with our conftest.py; returns how many tests ended how, and what it shows."""
    shutil.copy(TESTS / "conftest.py", tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(*options, **environment):
        kept = {k: v for k, v in os.environ.items() if k != "CI"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", "--continue-on-collection-errors", *options],
            env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
        )
        *_, summary = done.stdout.splitlines()
        counts = re.findall(r"(\d+) (passed|failed|skipped|error)", summary)
        return {kind: int(count) for count, kind in counts}, done.stdout

    return run


def test_a_marked_test_is_skipped_and_says_how_to_run_it(outcomes):
    counts, shown = outcomes()
    assert counts == {"skipped": 4}
    assert "starts the processes of a federation: run `make check`, or pytest --nodes" in shown


def test_a_marked_test_runs_on_request(outcomes):
    assert outcomes("--nodes")[0] == {"passed": 1, "skipped": 3}


def test_in_ci_a_marked_test_that_is_skipped_fails(outcomes):
    counts, shown = outcomes(CI="true")
    assert counts == {"passed": 1, "failed": 1, "skipped": 1, "error": 1}
    assert "A test marked nodes must not be skipped under --check. Skipped: no federation" in shown
    assert "A whole file must not be skipped under --check. Skipped: no browser here" in shown
