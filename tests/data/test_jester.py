"""Jester archives."""

import zipfile

import pytest

from fedrank import data
from helpers.paths import SAMPLES


def test_jester_takes_complete_raters_and_breaks_ties_by_number():
    votes = data.read_jester(SAMPLES / "jester.zip")
    assert votes.items == (1, 2, 3)
    assert votes.ranks.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert len(data.read_jester([SAMPLES / "jester.zip"] * 2)) == 4


def test_jester_csv_flavour(write):
    path = write("j.csv", "2,1,-3\n1,99,4\n")
    assert data.read_jester(path).ranks.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2,1,99\n", "line 1: the first column says that 2 jokes are rated, but 1 are"),
        ("2,1,2\n2,1\n", "line 2: the row has 2 columns, not 3"),
        ("2,1,11\n", r"line 1: rating 11\.0 is not in -10\.\.10"),
        ("2,1,x\n", "line 1: 'x' is not a number"),
        ("1,1,99\n", "no person in the file rated every joke"),
    ],
)
def test_jester_broken(write, text, problem):
    with pytest.raises(ValueError, match=rf"j\.csv.*{problem}"):
        data.read_jester(write("j.csv", text))


def test_jester_broken_archives(write, tmp_path):
    whole = (SAMPLES / "jester.zip").read_bytes()
    with pytest.raises(ValueError, match=r"cut\.zip: the archive is broken"):
        data.read_jester(write("cut.zip", whole[:900]))
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("readme.txt", "no")
    with pytest.raises(ValueError, match=r"contains no \.xls file"):
        data.read_jester(tmp_path / "none.zip")
    with pytest.raises(ValueError, match=r"bad\.xls: this is not a readable spreadsheet"):
        data.read_jester(write("bad.xls", b"nonsense"))
