"""``fedrank aggregate``, and what all commands have in common."""

import json
import os
import random
import signal
import subprocess
from itertools import permutations
from pathlib import Path

import pytest

from helpers import reference
from helpers.command import (
    COMMAND,
    cells,
    in_terminal,
    kemeny_score,
    ranks_of,
    refused,
    run,
    run_process,
    visible,
    write_ranks,
)
from helpers.paths import SAMPLES

LABELS = ("ann", "bob", "cy", "dee", "eve")
RANKINGS = [reference.sample(0.7, (3, 1, 4, 0, 2), random.Random(i)) for i in range(7)]
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links, pipes and signals")
METHODS = ("borda", "lehmer", "footrule", "pivot", "pick", "kemeny")


@pytest.fixture
def votes(tmp_path):
    return write_ranks(tmp_path / "votes.csv", LABELS, RANKINGS)


@pytest.mark.parametrize("method", METHODS)
def test_the_consensus_and_its_score_are_those_of_the_definition(votes, method):
    done = run("aggregate", votes, "--method", method, "--ties", "index", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    consensus = ranks_of(found, LABELS)
    assert found["kemeny_score"] == pytest.approx(kemeny_score(consensus, RANKINGS), abs=1e-12)
    assert (found["method"], found["rankings"], found["items"]) == (method, 7, 5)
    least, best = reference.kemeny(RANKINGS)
    assert {
        "borda": lambda: consensus == reference.borda(RANKINGS),
        "lehmer": lambda: all(
            digit in tied
            for digit, tied in zip(
                reference.encode(consensus), reference.lehmer_digits(RANKINGS), strict=True
            )
        ),
        "footrule": lambda: consensus in reference.footrule_consensus(RANKINGS)[1],
        "pivot": lambda: found["kemeny_score"] >= least / 35 - 1e-12,
        "pick": lambda: consensus in RANKINGS,
        "kemeny": lambda: consensus in best and found["exact"],
    }[method]()
    if method == "borda":
        means = [total / 7 for total in reference.position_sums(RANKINGS)]
        scores = {row["item"]: row["score"] for row in found["consensus"]}
        assert [scores[label] for label in LABELS] == pytest.approx(means, abs=1e-12)


# tests/samples/small.toi: three of 4,{1,2},3, two of 3, and one of {2,3},1.
BALLOTS = [(1, 1, 2, 0)] * 3 + [(-1, -1, 0, -1)] * 2 + [(1, 0, 0, -1)]


@pytest.mark.parametrize("method", ["borda", "kemeny"])
@pytest.mark.parametrize("layout", [(), ("--layout", "preflib")])
def test_ties_and_gaps_are_kept_and_count_one_half(method, layout):
    done = run("aggregate", SAMPLES / "small.toi", "--method", method, "--json", *layout)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    labels = ("Ann", "Bob", "Cy", "Dée")
    distances = {
        r: sum(reference.half_distance(r, ballot) for ballot in BALLOTS)
        for r in permutations(range(4))
    }
    distance = distances[ranks_of(found, labels)]
    assert found["kemeny_score"] == pytest.approx(float(distance / 24), abs=1e-12)
    if method == "kemeny":
        assert (distance, found["exact"]) == (min(distances.values()), True)
    else:
        scores = {row["item"]: row["score"] for row in found["consensus"]}
        places = zip(*map(reference.mid_ranks, BALLOTS), strict=True)
        means = [float(sum(of) / 6) for of in places]
        assert [scores[label] for label in labels] == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (
            ["small.toi", "--method", "lehmer"],
            "these have ties or gaps; pass --complete, or use --method borda",
        ),
        (["cvr.csv", "--keep-blank"], "leave out --keep-blank, or pass --complete"),
    ],
)
def test_ties_and_gaps_that_cannot_be_kept_need_to_be_completed(arguments, named):
    file, *options = arguments
    assert named in refused(run("aggregate", SAMPLES / file, *options))
    assert run("aggregate", SAMPLES / file, *options, "--complete").returncode == 0


def test_piped_tables_show_all_labels_and_the_score(votes):
    done = run("aggregate", votes, "--method", "kemeny")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    rows = cells(done.stdout.splitlines())
    least, best = reference.kemeny(RANKINGS)
    orders = {tuple(LABELS[i] for i in reference.inverse(ranks)) for ranks in best}
    assert [row[0] for row in rows[:5]] == ["1", "2", "3", "4", "5"]
    assert tuple(row[1] for row in rows[:5]) in orders
    assert ["Kemeny score", f"{least / 35:.8g}"] in rows


def test_a_poor_encoding_costs_letters_of_tables_and_nothing_of_json():
    plain = {"PYTHONIOENCODING": "ascii"}
    shown = run_process("aggregate", SAMPLES / "small.toi", **plain)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "D?e" in shown.stdout
    found = json.loads(run_process("aggregate", SAMPLES / "small.toi", "--json", **plain).stdout)
    assert {row["item"] for row in found["consensus"]} == {"Ann", "Bob", "Cy", "Dée"}


def test_a_pipe_gets_every_row_in_one_line(tmp_path):
    long = "a name " * 30 + "of more than two hundred letters"
    file = write_ranks(tmp_path / "votes.csv", (long, "bob"), [(0, 1)])
    lines = run("aggregate", file).stdout.splitlines()
    assert [line for line in lines if long in line]
    assert max(map(len, run("aggregate", file, COLUMNS="60").stdout.splitlines())) <= 60


@pytest.mark.parametrize(
    ("name", "rankings", "items"),
    [
        ("small.soc", 3, 3),
        ("old.toc", 3, 3),
        ("small.toi", 6, 4),
        ("cvr.csv", 4, 3),
        ("cvr.xlsx", 4, 3),
        ("profile.csv", 7, 3),
        ("sushi.order", 5, 4),
        ("jester.zip", 2, 3),
        ("ranks.csv", 2, 3),
        ("orders.csv", 2, 3),
    ],
)
def test_every_certain_layout_is_told_by_its_file(name, rankings, items):
    found = json.loads(run("aggregate", SAMPLES / name, "--json").stdout)
    assert (found["rankings"], found["items"]) == (rankings, items)


def test_a_declared_layout_is_read_as_told():
    # Ranks 1,2,3 and 3,1,2: bob has the least sum of ranks, and as scores the least too.
    ranks = json.loads(run("aggregate", SAMPLES / "ranks.csv", "--json").stdout)
    assert [row["item"] for row in ranks["consensus"]] == ["bob", "ann", "cy"]
    forced = run("aggregate", SAMPLES / "ranks.csv", "--best", "high", "--json")
    assert [row["item"] for row in json.loads(forced.stdout)["consensus"]] == ["cy", "ann", "bob"]


def test_ballots_take_their_options(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("Ann\nBob\nCy\nZed\n")
    options = ["--candidates", names, "--overvote", "stop", "--keep-blank", "--complete"]
    found = json.loads(run("aggregate", SAMPLES / "cvr.csv", *options, "--json").stdout)
    assert (found["rankings"], found["items"]) == (5, 4)


def test_top_shows_so_many_places_and_says_how_many_are_left(votes):
    rows = cells(run("aggregate", votes, "--top", "2").stdout.splitlines())
    assert [row[:2] for row in rows[2:3]] == [["…", "3 more"]]
    assert [row[0] for row in rows[:2]] == ["1", "2"]


def test_the_same_seed_gives_the_same_bytes():
    def found(seed):
        options = ["--complete", "--seed", seed, "--json"]
        return run("aggregate", SAMPLES / "small.toi", *options).stdout

    assert found(4) == found(4)
    orders = {str(json.loads(found(seed))["consensus"]) for seed in range(4)}
    assert len(orders) > 1  # the ties and gaps are filled anew


# --- files written ---


def test_out_holds_every_place_and_replaces_what_was_there(votes, tmp_path):
    out = tmp_path / "consensus.csv"
    out.write_text("old and much longer\n" * 1000)
    done = run("aggregate", votes, "--ties", "index", "--top", "1", "--out", out)
    assert done.returncode == 0, done.stderr
    assert str(out) in done.stdout
    sums = reference.position_sums(RANKINGS)
    order = reference.inverse(reference.borda(RANKINGS))
    lines = out.read_text().splitlines()
    assert lines[0] == "place,item,score,tied"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        [str(place), LABELS[item]] for place, item in enumerate(order, start=1)
    ]
    scores = [float(line.split(",")[2]) for line in lines[1:]]
    assert scores == pytest.approx([sums[item] / 7 for item in order], abs=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["consensus.csv", "votes.csv"]


def test_out_as_json_is_the_document_that_is_printed(votes, tmp_path):
    out = tmp_path / "consensus.json"
    done = run("aggregate", votes, "--method", "pick", "--json", "--out", out)
    assert json.loads(done.stdout) == json.loads(out.read_text())
    assert json.loads(done.stdout)["consensus"][0]["score"] is None


@POSIX
def test_a_link_to_the_file_stays_a_link(votes, tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("")
    link.symlink_to(real)
    assert run("aggregate", votes, "--out", link).returncode == 0
    assert link.is_symlink()
    assert real.read_text().startswith("place,item,score,tied")


def test_columns_of_ballots_may_be_named_best_first(tmp_path):
    file = tmp_path / "ballots.csv"
    file.write_text("then,town,favourite\nAnn,Orono,Bob\nAnn,Bangor,Cy\nAnn,Orono,Bob\n")
    options = ["--choices", "favourite", "--choices", "then", "--json"]
    found = json.loads(run("aggregate", file, *options).stdout)
    orders = {"Bob": [0, 2, 0], "Ann": [1, 1, 1], "Cy": [2, 0, 2]}  # the rest is no choice
    assert {row["item"]: row["score"] for row in found["consensus"]} == {
        name: pytest.approx(sum(places) / 3) for name, places in orders.items()
    }


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["absent.soc"], "absent.soc: there is no such file"),
        (["folder"], "folder is a folder"),
        (["votes.csv", "--method", "best"], "'best'"),
        (["votes.csv", "--ties", "coin"], "'coin'"),
        (["votes.csv", "--layout", "ballots"], "name the columns with --choices"),
        (["votes.csv", "--choices", "who"], "there is no column 'who'"),
        (["odd.csv", "--layout", "expression"], "pass --genes-in rows or"),
        (["votes.csv", "--best", "lowest"], "'lowest'"),
        (
            ["votes.csv", "--best", "low", "--layout", "ballots"],
            "--best is for the layouts ranks, sc",
        ),
        (
            ["votes.csv", "--items-in", "rows", "--layout", "orders"],
            "--items-in is for the layouts ran",
        ),
        (["votes.csv", "--keep-blank", "--layout", "ranks"], "--keep-blank is for the layout bal"),
        (
            ["votes.csv", "--candidates", "n.txt", "--layout", "ranks"],
            "--candidates is for the layout",
        ),
        (["votes.csv", "--id", "who"], "there is no column 'who'"),
        (["votes.csv", "--layout", "preflib"], "votes.csv"),
        (["votes.csv", "--candidates", "absent.txt"], "absent.txt"),
        (["votes.csv", "--seed", "-1"], "--seed"),
        (["votes.csv", "--out", "consensus.txt"], "must end in .csv or .json"),
        (["votes.csv", "--out", "./votes.csv"], "votes.csv is also an input file"),
        (["votes.csv", "--out", "folder.csv"], "folder.csv is a folder"),
        (["votes.csv", "--out", "absent/consensus.csv"], "there is no folder absent"),
        (["votes.csv", "--out", "votes.csv/consensus.csv"], "there is no folder votes.csv"),
        (["broken.csv", "--out", "consensus.csv"], "line 3"),
        ([], "FILE"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(
    votes, tmp_path, monkeypatch, arguments, named
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "broken.csv").write_text("a,b\n0,1\n0,x\n")
    (tmp_path / "n.txt").write_text("ann\n")
    (tmp_path / "odd.csv").write_text("id,A,B\ns,1,2\n")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    assert named in refused(run("aggregate", *arguments))
    assert sorted(tmp_path.rglob("*")) == before
    assert votes.exists()


def test_a_failing_write_names_the_file_and_leaves_no_part(votes):
    if not os.path.isdir("/proc/self"):  # noqa: PTH112
        pytest.skip("there is no /proc, a folder in which nobody can write")
    assert "--out /proc/self/c.csv" in refused(run("aggregate", votes, "--out", "/proc/self/c.csv"))


@POSIX
def test_a_failing_write_keeps_the_file_that_was_there(votes, tmp_path):
    out = tmp_path / "consensus.csv"
    out.write_text("old\n")
    limited = 'ulimit -f 0; trap "" XFSZ; exec "$@"'  # no byte may be written to a file
    done = subprocess.run(
        ["/bin/sh", "-c", limited, "sh", COMMAND, "aggregate", votes, "--json", "--out", out],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert "consensus.csv" in refused(done)
    assert out.read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["consensus.csv", "votes.csv"]


# --- terminals, pipes, signals ---


@POSIX
@pytest.mark.parametrize("name", ["/dev/stdin", "-", "/dev/fd/0"])
def test_standard_input_is_read(votes, name):
    done = subprocess.run(
        ["/bin/sh", "-c", f'cat "$1" | "$2" aggregate {name} --json', "sh", votes, COMMAND],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found, expected = json.loads(done.stdout), json.loads(run("aggregate", votes, "--json").stdout)
    assert found.pop("file") == name
    assert expected.pop("file") == str(votes)
    assert expected.pop("source").removeprefix("votes.csv") == found.pop("source").removeprefix(
        Path(name).name if name != "-" else "stdin"
    )
    assert found == expected


@pytest.mark.parametrize("width", [80, 40])
def test_tables_fit_the_terminal_and_lose_no_letter(tmp_path, width):
    long = "a name of sixty letters that no narrow screen can show in one"
    labels = (long, "[bold]bob[/bold]", ":cat:")
    file = write_ranks(tmp_path / "votes.csv", labels, [(0, 1, 2)] * 3 + [(1, 2, 0)])
    code, shown = in_terminal("aggregate", file, width=width)
    assert code == 0, shown
    lines = visible(shown)
    assert max(map(len, lines)) <= width
    rows = cells(lines)
    labels = [row[1].replace(" ", "") for row in rows[:3]]
    assert labels == [long.replace(" ", ""), "[bold]bob[/bold]", ":cat:"]


def test_colours_are_for_terminals_that_want_them(votes):
    _, shown = in_terminal("aggregate", votes)
    assert "\x1b[1m" in shown  # the header is bold
    _, plain = in_terminal("aggregate", votes, NO_COLOR="1")
    assert not [code for code in plain.split("\x1b[")[1:] if code[:2] in ("31", "32", "33", "34")]
    assert "\x1b" not in run("aggregate", votes, TERM="xterm-256color").stdout


def test_a_label_cannot_send_codes_to_the_terminal(tmp_path):
    file = write_ranks(tmp_path / "votes.csv", ("\x1b[31mred", "bob"), [(0, 1)])
    _, shown = in_terminal("aggregate", file)
    assert "\x1b[31m" not in shown
    assert "�[31mred" in shown
    twice = write_ranks(tmp_path / "twice.csv", ("\x1b[31mred",) * 2, [(0, 1)])
    assert "\x1b" not in refused(run("aggregate", twice))


def first_line(*arguments):
    """First line of a command whose reader then goes away, its errors and exit code."""
    with subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        line = process.stdout.readline()
        process.stdout.close()
        return line, process.stderr.read(), process.wait(timeout=120)


@POSIX
def test_a_reader_that_goes_away_is_no_error_to_speak_of():
    line, errors, code = first_line("sample", "--items", "50", "--size", "50000")
    assert line.startswith(b"item-00,item-01")
    assert errors == b""
    assert code == 1


@POSIX
def test_interrupting_gives_130_and_one_line(tmp_path):
    pipe = tmp_path / "votes.soc"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [COMMAND, "aggregate", pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
        pipe.open("wb"),
    ):  # opens when the command does, which then waits for bytes
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    assert (process.returncode, out, errors) == (130, b"", b"fedrank: stopped\n")


# --- help and completion ---


@pytest.mark.parametrize("command", ["aggregate", "federate", "sample"])
def test_help_teaches_by_an_example(command):
    done = run(command, "--help", COLUMNS="100")
    assert done.returncode == 0
    assert f"Example: fedrank {command}" in done.stdout
    for option in ("--seed", "--json", "--out"):
        assert option in done.stdout


def test_help_of_federate_says_that_one_process_sees_all():
    assert "this one process reads all files" in run("federate", "--help", COLUMNS="100").stdout


def test_completion_is_there_for_the_shell():
    # Which shell it is run from is not to be seen everywhere: say so.
    done = run_process(
        "--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    assert done.returncode == 0, done.stderr
    assert "_FEDRANK_COMPLETE=complete_bash" in done.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("fedrank ag", {"agent", "aggregate"}),
        ("fedrank aggregate --method p", {"pivot", "pick"}),
        ("fedrank federate --unq", {"--unquantized"}),
    ],
)
def test_completion_offers_commands_options_and_values(words, offered):
    count = str(len(words.split()) - 1)
    asked = {"_FEDRANK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    assert set(run_process(**asked).stdout.split()) == offered
