"""Commands read what is declared or certain, and list the choices otherwise."""

import json

import pytest

from fedrank.cli._reading import as_flags
from helpers.command import in_terminal, run, visible
from helpers.readings import CASES

IDS = [case.name for case in CASES]


@pytest.fixture(params=CASES, ids=IDS)
def case(request, tmp_path):
    """A case, its file, and the flags that declare it."""
    file = tmp_path / "votes.csv"
    file.write_text(request.param.text)
    flags = as_flags(request.param.options).split()
    return request.param, file, flags


def scores_of(orders):
    """Mean positions of the labels; tied ones share theirs."""
    totals = {}
    for order in orders:
        place = 0
        for each in order:
            tied = each if isinstance(each, list) else [each]
            for label in tied:
                totals[label] = totals.get(label, 0) + place + (len(tied) - 1) / 2
            place += len(tied)
    return {label: total / len(orders) for label, total in totals.items()}


def test_a_declared_file_gives_the_consensus_of_its_true_orders(case):
    one, file, flags = case
    done = run("aggregate", file, *flags, "--ties", "index", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    scores = {row["item"]: row["score"] for row in found["consensus"]}
    assert scores == pytest.approx(scores_of(one.orders))
    assert found["source"].startswith(f"votes.csv: {len(one.orders)} rankings of ")


def test_piped_the_command_refuses_or_says_what_it_read(case):
    one, file, flags = case
    done = run("aggregate", file)
    if one.certain:
        assert done.returncode == 0
        assert done.stdout.startswith(f"votes.csv: {len(one.orders)} rankings of ")
        return
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("fedrank: ")
    assert [line[:9] for line in lines[1:3]] == ["  line 1:", "  line 2:"]
    assert lines[3] in ("Pass this:", "Pass one of these:")
    offered = [line.strip().partition(": ")[0].split() for line in lines[4:]]
    assert all(words[0].startswith("--") for words in offered)
    for words in offered:  # as they stand, in a shell
        assert run("aggregate", file, *words).returncode == 0
    assert any(sorted(flags) == sorted(words) or set(flags) <= set(words) for words in offered)


@pytest.mark.parametrize("name", ["numeric-ids", "tied-ranks", "p-values", "text-ids"])
def test_in_a_terminal_the_command_refuses_or_says_what_it_read(tmp_path, name):
    (one,) = (case for case in CASES if case.name == name)
    file = tmp_path / "votes.csv"
    file.write_text(one.text)
    code, shown = in_terminal("aggregate", file, width=200)
    lines = visible(shown)
    if one.certain:
        assert (code, lines[0].split(": ")[0]) == (0, "votes.csv")
        return
    assert code == 2
    assert any(line.startswith("fedrank: ") for line in lines)
    assert "  line 1: " in "\n".join(lines)
    assert any(line.startswith("  --") for line in lines)


def test_the_source_is_folded_at_the_width_of_the_terminal(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("a patient with a long name,a,b,c\n" + "p,1,2,3\nq,2,1,3\n")
    code, shown = in_terminal("aggregate", file, width=40)
    lines = visible(shown)
    assert (code, max(map(len, lines)) <= 40) == (0, True)
    assert "skipped)" in " ".join(lines[:4])


def test_every_command_that_reads_has_the_same_options():
    shared = ["--layout", "--best", "--id", "--items-in", "--no-header", "--decimal", "--complete"]
    shared += ["--genes", "--genes-in", "--candidates", "--choices", "--overvote", "--keep-blank"]
    for command in (["aggregate"], ["federate"], ["agent", "new"]):
        text = run(*command, "--help", COLUMNS="200").stdout
        assert [flag for flag in shared if flag not in text] == []
