"""Results of before stay, to the last byte: see helpers/pinned.py."""

import json

import pytest

from helpers import pinned

EXPECTED = json.loads(pinned.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("section", pinned.SECTIONS, ids=lambda section: section.__name__)
def test_results_are_what_they_were(section):
    found = json.loads(json.dumps(section()))
    expected = EXPECTED[section.__name__]
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value == expected[name], name
