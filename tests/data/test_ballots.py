"""Ballots: cast vote records and profiles."""

from collections import Counter

import pytest

from fedrank import data
from fedrank.data import _blocks
from fedrank.exceptions import InputError
from helpers.paths import SAMPLES
from helpers.realdata import need
from helpers.samples import labelled


@pytest.mark.parametrize("name", ["cvr.csv", "cvr.xlsx"])
def test_records_keep_what_was_chosen(name):
    votes = data.read_ballots(SAMPLES / name, complete=True, rng=2)
    assert votes.items == ("Ann", "Bob", "Cy")  # trailing spaces and stray columns are gone
    orders = labelled(votes)
    assert orders[:2] == [["Ann", "Bob", "Cy"], ["Cy", "Ann", "Bob"]]
    assert [order[0] for order in orders[2:]] == ["Bob", "Cy"]


def test_records_options():
    path = SAMPLES / "cvr.csv"
    assert len(data.read_ballots(path, keep_blank=True, complete=True)) == 5
    assert len(data.read_ballots(path, overvote="stop")) == 3
    second = data.read_ballots(path, choices=["DEM Governor 2nd Choice "], complete=True)
    assert [order[0] for order in labelled(second)] == ["Bob", "Cy", "Bob", "Cy"]
    assert data.read_ballots(path, items=["Cy", "Bob", "Ann", "Di"]).n == 4
    with pytest.raises(ValueError, match="line 2: 'Ann' is not one of the items"):
        data.read_ballots(path, items=["Cy", "Bob"])
    with pytest.raises(ValueError, match="candidates must differ, but 'Bob' is given twice"):
        data.read_ballots(path, items=["Ann", "Bob", "Cy", "Bob"])
    with pytest.raises(ValueError, match="there is no column 'x'"):
        data.read_ballots(path, choices=["x"])
    with pytest.raises(ValueError, match="overvote must be"):
        data.read_ballots(path, overvote="count")


def test_records_without_choices_are_refused(write):
    with pytest.raises(ValueError, match=r"v\.csv, line 1: none of the columns .*choices="):
        data.read_ballots(write("v.csv", "a,b\nAnn,Bob\n"))
    with pytest.raises(ValueError, match="no ballot has a valid choice"):
        data.read_ballots(write("v.csv", "rank1,rank2\nskipped,overvote\n"))
    with pytest.raises(ValueError, match="line 3: the row has 1 columns, not at least 2"):
        data.read_ballots(write("v.csv", "rank1,rank2\nAnn,Bob\nAnn\n"))


def test_columns_that_are_no_choices_are_named_or_counted(write):
    few = write("v.csv", "id,precinct,rank1,rank2\n1,x,ann,bob\n")
    assert "(ballots, best first; columns id, precinct skipped)" in str(data.read(few).source)
    names = ",".join(f"c{i}" for i in range(9))
    many = write("v.csv", f"{names},rank1,rank2\n{names},ann,bob\n")
    assert "(ballots, best first; 9 other columns skipped)" in str(data.read(many).source)


def test_rows_without_any_cell_are_blank_ballots(write):
    path = write("v.csv", "choice1,choice2\nann,bob\n,\n\nbob,ann\n")
    assert "(ballots, best first; 1 blank ballot left out)" in str(data.read(path).source)
    assert len(data.read(path, keep_blank=True, complete=True)) == 3


def test_profile_counts_ties_and_blanks():
    votes = data.read_ballots(SAMPLES / "profile.csv", complete=True, rng=1)
    assert votes.items == ("Ann", 'Bob "B" Bee', "Cy, jr.")
    orders = votes.orders().tolist()
    assert orders[:3] == [[0, 2, 1]] * 3
    assert [order[0] for order in orders[3:5]] == [1, 1]
    assert orders[5] == [2, 1, 0]
    assert orders[6][0] == 1
    assert len(data.read_ballots(SAMPLES / "profile.csv", keep_blank=True, complete=True)) == 8


def test_what_is_dropped_from_ballots_is_counted():
    records = str(data.read_ballots(SAMPLES / "cvr.csv").source)
    assert records == (
        "cvr.csv: 4 rankings of 3 items (ballots, best first; 5 other columns skipped; "
        "1 blank ballot left out; "
        "2 overvotes dropped; 2 repeated choices dropped)"
    )
    profile = str(data.read_ballots(SAMPLES / "profile.csv", complete=True, rng=1).source)
    assert profile == (
        "profile.csv: 7 rankings of 3 items (ballots, best first; 1 blank ballot left out; "
        "ties and gaps of 3 rankings completed at random)"  # two of Bob alone, one of 1=3
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("3 1 3 0", "3 1 3", "line 2: '3 1 3' does not end with 0"),
        ("3 1 3 0", "3 1 4 0", r"line 2: candidate 4 is not one of 1\.\.3"),
        ("3 1 3 0", "3 1 x 0", "line 2: a candidate must be a whole number, not 'x'"),
        ("3 1 3 0", "3.5 1 3 0", "line 2: a count must be a whole number"),
        ("3 1 3 0", "-2", "line 2: '-2' withdraws"),
        ('\n0\n"Ann"\n', "\n", "cut short"),
        ('"Ann"\n', "", "announces 3 candidates, but 2 are named"),
        ('"Ann"\n', '"Cy, jr."\n', "two candidates are called 'Cy, jr.'"),
    ],
)
def test_profile_broken(write, old, new, problem):
    text = (SAMPLES / "profile.csv").read_text()
    assert old in text
    with pytest.raises(ValueError, match=rf"p\.blt.*{problem}"):
        data.read_ballots(write("p.blt", text.replace(old, new)))


def test_profile_ballots_of_a_line_are_completed_independently_and_evenly(monkeypatch, write):
    path = write("p.blt", '4 1\n6000 2 0\n0\n"a"\n"b"\n"c"\n"d"\n')
    for cells in (_blocks.BLOCK_CELLS, 40):  # also when blocks are ranked one after another
        monkeypatch.setattr(_blocks, "BLOCK_CELLS", cells)
        seen = Counter(map(tuple, data.read_ballots(path, complete=True, rng=5).ranks.tolist()))
        assert len(seen) == 6  # 3! orders of the unranked
        assert sum((k - 1000) ** 2 / 1000 for k in seen.values()) < 20.5  # 5 df, p = .001


def test_real_maine():
    path = need("maine", "Maine_06122018_DemocraticPrimaryforGovernor.csv")
    votes = data.read(path, complete=True, rng=1)
    assert votes.ranks.shape == (126_247, 8)
    assert votes.items[1] == "Mills, Janet T."
    lines = path.read_text().splitlines()
    body = [line.split() for line in lines[1 : lines.index("0")]]
    assert len(set(map(tuple, (line[1:] for line in body)))) == 10_113
    # Everybody's choices are kept, in their places, in file order.
    row = 0
    for votes_here, *choices, _ in body:
        row += int(votes_here)
        assert [item + 1 for item in votes[row - 1 : row].orders()[0, : len(choices)]] == [
            int(choice) for choice in choices
        ]
    assert row == 126_247


@pytest.mark.parametrize("word", ["NA", "N/A", "nan", "none", "NULL", "-", ""])
def test_a_cell_without_a_name_is_a_blank_choice(write, word):
    path = write("v.csv", f"rank1,rank2,rank3\nAnn,{word},Bob\nBob,Ann,\n")
    votes = data.read(path)
    assert labelled(votes) == [["Ann", "Bob"], ["Bob", "Ann"]]
    assert ("1 cell such as NA left blank" in str(votes.source)) is bool(word)


def test_a_declared_candidate_may_be_called_none(write):
    path = write("v.csv", "rank1,rank2\nnone,Bob\n")
    assert labelled(data.read(path, items=["Bob", "none"])) == [["none", "Bob"]]


@pytest.mark.parametrize("name", ["count", "n", "Weight", "votes", "times", "n_voters_count"])
def test_a_column_that_may_count_ballots_is_refused(write, name):
    path = write("v.csv", f"{name},rank1,rank2\n5,Ann,Bob\n3,Bob,Ann\n")
    with pytest.raises(InputError, match=f"column '{name}' may say how often.*BLT") as caught:
        data.read(path)
    ((_, options),) = caught.value.choices
    assert labelled(data.read(path, **options)) == [["Ann", "Bob"], ["Bob", "Ann"]]


def test_choices_that_are_not_in_order_are_said_to_be_reordered(write):
    votes = data.read(write("v.csv", "2nd choice,1st choice\nAnn,Bob\n"))
    assert labelled(votes) == [["Bob", "Ann"]]
    assert "columns reordered by the header" in str(votes.source)
