"""Set-up shared by all tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # for `from helpers import …`

settings.register_profile("here", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Markers of tests that need more than this interpreter, and what each needs.
NEEDS = {
    "nodes": "starts the processes of a federation",
    "stores": "starts object stores",
    "browser": "starts a browser",
}


# Files whose tests take longest. They come first: a long file that begins last keeps one worker
# busy while the others have nothing left to do.
LONG_FILES = (
    "test_interrupt.py",
    "test_ablations.py",
    "test_plots.py",
    "test_federate.py",
    "test_methods.py",
    "test_saved.py",
    "test_docs.py",
)


def pytest_addoption(parser):
    group = parser.getgroup("fedrank")
    for marker, need in NEEDS.items():
        group.addoption(f"--{marker}", action="store_true", help=f"Run each test that {need}.")
    group.addoption(
        "--check",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="Run all of these tests, and fail if one is skipped (the default if CI is set).",
    )


def needs(item):
    """The markers of a test that say what it needs."""
    return [marker for marker in NEEDS if item.get_closest_marker(marker)]


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: not needs(item) and item.path.name not in LONG_FILES)
    if config.getoption("check"):
        return
    for item in items:
        for marker in needs(item):
            if not config.getoption(marker):
                reason = f"{NEEDS[marker]}: run `make check`, or pytest --{marker}"
                item.add_marker(pytest.mark.skip(reason=reason))


def fail_if_skipped(report, what):
    """Turn a skip into a failure that says so."""
    if report.skipped:
        *_, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{what} must not be skipped under --check. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if item.config.getoption("check") and needs(item):
        fail_if_skipped(report, f"A test marked {', '.join(needs(item))}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if collector.config.getoption("check"):  # what its tests are marked with is unknown
        fail_if_skipped(report, "A whole file")
    return report


@pytest.fixture
def python():
    """Run code in a fresh interpreter; returns the finished process."""

    def run(code, timeout=120, **environment):
        return subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )

    return run
