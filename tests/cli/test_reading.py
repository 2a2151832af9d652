"""Commands read what is declared or certain, and list the choices otherwise."""

import json

import pytest

from fedrank.cli._reading import as_flags
from helpers.command import in_one_terminal, in_terminal, refused, run, visible, write_ranks
from helpers.paths import SAMPLES
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
    assert found["source"].startswith(f"votes.csv: {len(one.orders)} ranking")


def test_piped_the_command_refuses_or_says_what_it_read(case):
    one, file, flags = case
    done = run("aggregate", file)
    if one.certain:
        assert done.returncode == 0
        assert done.stdout.startswith(f"votes.csv: {len(one.orders)} ranking")
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


def test_in_a_terminal_the_command_refuses_or_says_what_it_read(tmp_path):
    files = [tmp_path / one.name / "votes.csv" for one in CASES]
    for one, file in zip(CASES, files, strict=True):
        file.parent.mkdir()
        file.write_text(one.text)
    shown = in_one_terminal(*(["aggregate", file] for file in files), width=200)
    for one, (code, text) in zip(CASES, shown, strict=True):
        lines = visible(text)
        if one.certain:
            assert (code, lines[0].split(": ")[0]) == (0, "votes.csv"), one.name
            continue
        assert code == 2, one.name
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


# --- several files ---


def federate(*arguments):
    done = run("federate", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_what_was_read_is_said_in_one_line_and_by_client(tmp_path):
    for i, name in enumerate("abc"):
        head = "id,x,y,z\n" + "".join(f"{10 * k},1,3,2\n" for k in range(i + 2))
        (tmp_path / f"{name}.csv").write_text(head)
    files = sorted(tmp_path.glob("*.csv"))
    line = "3 files: 9 rankings of 3 items (ranks, 1 = best; column id skipped)"
    found = federate(*files, "--id", "id")
    assert found["source"] == line
    assert [client["source"] for client in found["clients"]] == [
        f"{name}.csv: {m} rankings of 3 items (ranks, 1 = best; column id skipped)"
        for name, m in (("a", 2), ("b", 3), ("c", 4))
    ]
    assert run("federate", *files, "--id", "id").stdout.splitlines()[0] == line


def test_a_split_file_is_said_once():
    found = federate(SAMPLES / "sushi.order", "--users", SAMPLES / "sushi.udata")
    assert found["source"] == (
        "sushi.order: 4 rankings of 4 items (orders, best first; "
        "1 ranking of users without a region left out)"
    )
    found = federate(SAMPLES / "cvr.csv", "--by", "Precinct", "--min-survivors", "1")
    assert "column Precinct names the clients; columns Cast Vote Record, " in found["source"]
    assert "Three skipped; 1 blank ballot left out; " in found["source"]


@pytest.mark.parametrize(
    ("texts", "options", "named"),
    [
        (["a,b,c\n1,3,2\n1,3,2\n"] * 2 + ["1st,2nd,3rd\na,b,c\n"], [], "was read as ranks, and"),
        (
            ["a,b,c\n1,3,2\n1,3,2\n"] * 2 + ["a,b,c\n5,7,0.5\n1,2,9\n"],
            ["--best", "high"],
            "a.csv look like ranks, and",
        ),
    ],
)
def test_mixed_readings_need_to_be_allowed(tmp_path, texts, options, named):
    for name, text in zip("abc", texts, strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    files = sorted(tmp_path.glob("*.csv"))
    told = refused(run("federate", *files, *options))
    assert named in told
    assert "pass --mixed" in told
    assert federate(*files, *options, "--mixed")["items"] == 3


RANKS = "a,b,c\n1,2,3\n1,2,3\n1,3,2\n"  # a is best, then b
SCORES = "a,b,c\n0.5,0.4,0\n9,5,1\n"  # the same, if the highest is best


def test_mixed_options_are_for_the_files_that_are_not_certain(tmp_path):
    for name, text in zip("abc", (RANKS, SCORES, RANKS), strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    found = federate(*sorted(tmp_path.glob("*.csv")), "--best", "high", "--mixed")
    assert [row["item"] for row in found["consensus"]] == ["a", "b", "c"]
    assert [client["source"].partition(" (")[2] for client in found["clients"]] == [
        "ranks, 1 = best)",
        "scores, highest best)",
        "ranks, 1 = best)",
    ]


@pytest.mark.parametrize(
    "ranks",
    [
        "a,b,c\n1,1,3\n1,2,3\n",  # tied
        "a,b,c\n1,1,2\n1,2,3\n",  # dense
        "a,b,c\n1.5,1.5,3\n1,2,3\n",  # mid-ranks
        "a,b,c\n0,0,2\n0,1,2\n",
        "a,b,c\n1,2,3\n2,3,1\n3,1,2\n",  # the rows and the columns are permutations
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_ranks_that_are_not_certain_are_not_read_as_scores_beside_others(tmp_path, ranks, first):
    texts = [ranks, RANKS, SCORES] if first else [SCORES, ranks, RANKS]
    for name, text in zip("abc", texts, strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    files = sorted(tmp_path.glob("*.csv"))
    assert "pass --mixed to read each file" in refused(run("federate", *files, "--best", "high"))
    told = refused(run("federate", *files, "--best", "high", "--mixed"))
    assert "look like ranks" in told
    assert "convert the file, or read each file with its own options in Python" in told


def test_mixed_ballots_keep_their_options(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("rank1,rank2\nann,bob\novervote,ann\n")
    (tmp_path / "c.csv").write_text("1st,2nd\nann,bob\nbob,ann\n")
    files = sorted(tmp_path.glob("*.csv"))
    found = federate(*files, "--overvote", "stop", "--mixed")
    assert [client["source"].partition(":")[2][1:11] for client in found["clients"]] == [
        "1 ranking ",
        "1 ranking ",
        "2 rankings",
    ]


def test_ranks_from_0_and_from_1_go_together_and_both_are_said(tmp_path):
    for name, base in zip("abc", (0, 1, 0), strict=True):
        rows = [[rank + base for rank in row] for row in ((0, 1, 2), (2, 0, 1))]
        write_ranks(tmp_path / f"{name}.csv", ("x", "y", "z"), rows)
    found = federate(*sorted(tmp_path.glob("*.csv")))
    assert "(ranks, 0 = best or ranks, 1 = best)" in found["source"]
