"""Every attack does what its row says: under version 1's rules, today, and without its check."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from attacks import table
from attacks.outcome import NOT_PLAYED
from attacks.table import ATTACKS

RUST = Path(__file__).parents[2] / "rust" / "core"


def each_of(attacks):
    names = [f"{attack.name} ({attack.who})" for attack in attacks]
    return pytest.mark.parametrize("attack", attacks, ids=names)


@each_of([attack for attack in ATTACKS if attack.before != NOT_PLAYED])
def test_what_comes_of_it_under_the_rules_of_version_1(attack):
    assert attack.outcome(version1=True) == attack.before


@each_of(ATTACKS)
def test_what_comes_of_it_today(attack):
    assert attack.outcome(version1=False) == attack.today


@each_of([attack for attack in ATTACKS if attack.without is not None])
def test_it_succeeds_today_without_the_check(attack):
    assert attack.outcome_without_check() == attack.won


def test_what_is_refused_names_its_check():
    """Only attacks that succeed today, since nothing can prevent them, have none."""
    unchecked = [attack for attack in ATTACKS if attack.without is None and not attack.rust]
    assert [attack.today for attack in unchecked] == [attack.won for attack in unchecked]


def test_rust_tests_that_are_named_are_there():
    source = "".join(file.read_text(encoding="utf-8") for file in RUST.rglob("*.rs"))
    found = {*re.findall(r"fn (\w+)\(", source)}
    assert {attack.rust for attack in ATTACKS if attack.rust} <= found


def test_the_table_has_all_rows_and_tells_what_was_not_expected(monkeypatch, capsys):
    right = ATTACKS[0]
    monkeypatch.setattr(table, "ATTACKS", (right,))
    assert table.main() == 0
    head, row = capsys.readouterr().out.splitlines()
    assert [re.split("  +", line) for line in (head, row)] == [
        ["attack", "who attacks", "version 1's rules", "today"],
        [right.name, right.who, right.before, right.today],
    ]
    monkeypatch.setattr(table, "ATTACKS", (replace(right, today="reads the input"), right))
    assert table.main() == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        "play all other clients (server): expected 'reads the input', then 'reads the input'"
    )
