"""``fedrank sample``: Mallows rankings as a table."""

import csv
import json

import pytest

from helpers.command import refused, run


def table(text):
    return list(csv.reader(text.splitlines()))


def test_phi_0_repeats_the_center_as_ranks():
    done = run("sample", "--items", "3", "--phi", "0", "--size", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "item-0,item-1,item-2\n0,1,2\n0,1,2\n"


def test_phi_0_repeats_the_center_as_orders():
    done = run("sample", "--center", "cy, ann,bob", "--phi", "0", "--size", "2", "--as", "orders")
    assert table(done.stdout)[1:] == [["cy", "ann", "bob"]] * 2


def test_every_row_is_a_ranking_and_the_same_seed_gives_the_same():
    first = run("sample", "--items", "12", "--phi", "0.9", "--size", "1500", "--seed", "5")
    rows = table(first.stdout)
    assert rows[0] == [f"item-{item:02}" for item in range(12)]
    assert len(rows) == 1501
    assert all(sorted(map(int, row)) == list(range(12)) for row in rows[1:])
    fewer = run("sample", "--items", "12", "--phi", "0.9", "--size", "3", "--seed", "5")
    assert table(fewer.stdout) == rows[:4]
    other = run("sample", "--items", "12", "--phi", "0.9", "--size", "3", "--seed", "6")
    assert table(other.stdout) != rows[:4]


def test_ranks_and_orders_say_the_same():
    options = ["--center", "d,b,a,c", "--phi", "0.8", "--size", "20"]
    ranks = table(run("sample", *options).stdout)
    orders = table(run("sample", *options, "--as", "orders").stdout)
    assert ranks[0] == ["d", "b", "a", "c"]
    for positions, order in zip(ranks[1:], orders[1:], strict=True):
        assert [ranks[0][positions.index(str(place))] for place in range(4)] == order


@pytest.mark.parametrize("form", ["ranks", "orders"])
def test_aggregate_reads_back_the_center(tmp_path, form):
    names = tmp_path / "names.txt"
    names.write_text("Zoë\nAnn, jr.\n\nBob\nCy\n", encoding="utf-8")
    out = tmp_path / "votes.csv"
    options = ["--labels", names, "--phi", "0.1", "--size", "200", "--as", form, "--out", out]
    done = run("sample", *options)
    assert (done.returncode, done.stdout) == (0, f"rankings: {out}\n")
    found = json.loads(run("aggregate", out, "--json").stdout)
    assert [row["item"] for row in found["consensus"]] == ["Zoë", "Ann, jr.", "Bob", "Cy"]
    assert (found["rankings"], found["items"]) == (200, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["names.txt", "votes.csv"]


@pytest.mark.parametrize("form", ["ranks", "orders"])
def test_one_item_is_read_back_too(tmp_path, form):
    out = tmp_path / "votes.csv"
    run("sample", "--items", "1", "--size", "2", "--as", form, "--out", out)
    declared = ["--layout", form, "--header"]
    found = json.loads(run("aggregate", out, *declared, "--json").stdout)
    assert (found["rankings"], found["items"], found["kemeny_score"]) == (2, 1, 0)


def test_json_says_what_was_drawn(tmp_path):
    out = tmp_path / "votes.json"
    options = ["--center", "b,a", "--phi", "0", "--size", "2", "--seed", "3", "--as", "orders"]
    found = json.loads(run("sample", *options, "--json", "--out", out).stdout)
    assert {"phi": 0, "seed": 3, "items": ["b", "a"], "orders": [["b", "a"]] * 2}.items() <= (
        found.items()
    )
    assert json.loads(out.read_text()) == found


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "pass exactly one of --items"),
        (["--items", "3", "--center", "a,b"], "pass exactly one of --items"),
        (["--items", "0"], "--items"),
        (["--items", "999999999999"], "999999999999 is not in the range"),
        (["--items", "16777216"], "--size 100 is too large: at most 64 rankings"),
        (["--items", "3", "--size", "999999999999"], "too large: at most 357913941"),
        (["--center", "a,b", "--size", "600000000"], "rankings of 2 items fit into memory"),
        (["--items", "3", "--phi", "2"], "--phi"),
        (["--items", "3", "--phi", "nan"], "--phi must be in [0, 1], not nan"),
        (["--items", "3", "--size", "0"], "--size"),
        (["--items", "3", "--as", "scores"], "'scores'"),
        (["--center", "a,,b"], "must not be empty (label 2 of 3)"),
        (["--center", "a,b,a"], "'a' is given twice"),
        (["--center", "a,7"], "'7'"),
        (["--center", "#a,b"], "'#a'"),
        (["--center", "1st choice,b"], "'1st choice'"),
        (["--center", "id,b"], "'id'"),
        (["--labels", "absent.txt"], "absent.txt"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(tmp_path, arguments, named):
    out = tmp_path / "votes.csv"
    assert named in refused(run("sample", *arguments, "--out", out))
    assert not list(tmp_path.iterdir())
