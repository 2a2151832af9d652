"""Rows of cells: comments, the separator that a file declares, and the sheets of a workbook."""

import datetime
import random
import struct
import zipfile
from contextlib import suppress

import pytest

from fedrank import data
from fedrank.data import _cells, _sheets
from fedrank.exceptions import InputError
from helpers import workbooks

RANKS = [["a", "b"], [1, 2], [2, 1], [1, 2]]
FORMATS = ("xlsx", "xls")
ERROR_CELLS = [
    ("xlsx", {}),
    ("xls", {}),
    ("xls", {"formula": True}),
]


def write_book(folder, suffix, sheets, **options):
    return getattr(workbooks, suffix)(folder / f"v.{suffix}", sheets, **options)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_workbook_with_one_sheet_of_data_is_read(tmp_path, suffix):
    votes = data.read(write_book(tmp_path, suffix, {"votes": RANKS, "Sheet2": []}))
    assert votes.ranks.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    ("sheets", "problem"),
    [
        ({"north": RANKS, "south": RANKS}, "2 sheets contain data: north, south; save"),
        ({"cover": [], "votes": RANKS}, "first sheet, cover, is empty, but votes contains"),
    ],
)
def test_a_workbook_with_other_data_is_refused(tmp_path, suffix, sheets, problem):
    with pytest.raises(InputError, match=problem):
        data.read(write_book(tmp_path, suffix, sheets))


@pytest.mark.parametrize(
    ("sheets", "hidden", "problem"),
    [
        ({"north": RANKS, "south": RANKS}, ("south",), "2 sheets contain data: north, south"),
        ({"old": RANKS, "new": []}, ("old",), "the first sheet, old, is hidden"),
    ],
)
def test_a_workbook_that_hides_something_is_refused(tmp_path, sheets, hidden, problem):
    with pytest.raises(InputError, match=problem):
        data.read(write_book(tmp_path, "xlsx", sheets, hidden=hidden))


@pytest.mark.parametrize(("suffix", "options"), ERROR_CELLS)
@pytest.mark.parametrize("error", workbooks.CODES)
def test_an_error_cell_is_refused_with_its_place(tmp_path, suffix, options, error):
    rows = [["a", "b"], [1, 2], [2, error], [1, 2]]
    with pytest.raises(InputError, match="cell B3 of the sheet v contains the error") as caught:
        data.read(write_book(tmp_path, suffix, {"v": rows}, **options))
    assert caught.value.value == error


@pytest.mark.parametrize(("suffix", "options"), ERROR_CELLS)
def test_an_error_cell_of_another_sheet_is_refused(tmp_path, suffix, options):
    sheets = {"v": RANKS, "notes": [[None, None, "#N/A"]]}
    with pytest.raises(InputError, match="cell C1 of the sheet notes contains the error #N/A"):
        data.read(write_book(tmp_path, suffix, sheets, **options))


@pytest.mark.parametrize("suffix", [".xlsb", ".ods", ".ODS"])
def test_other_workbooks_are_refused_by_every_reader(write, suffix):
    path = write(f"v{suffix}", "PK\3\4\0")
    readers = data.read, data.read_table, data.read_ballots, data.read_expression, data.read_jester
    for reader in (*readers, data.read_preflib, data.read_sushi):
        with pytest.raises(InputError, match=r"are not read; save it as \.xlsx or \.csv"):
            reader(path)


def test_dates_and_truth_values_of_xls_are_no_numbers(tmp_path):
    fonts = workbooks.biff(0xE0, struct.pack("<HHH14x", 0, 14, 0))  # format 14 is a date
    date = workbooks.biff(0x203, struct.pack("<HHHd", 0, 0, 0, 43831))
    truth = workbooks.biff(0x205, struct.pack("<HHHBB", 0, 1, 0, 1, 0))
    path = workbooks.xls(tmp_path / "v.xls", {"v": date + truth}, extra=fonts)
    with _cells.open_sheet(path, path.read_bytes()) as rows:
        assert next(rows)[1] == [datetime.datetime(2020, 1, 1), True]


def test_the_first_sheet_of_xls_may_not_be_hidden(tmp_path):
    stream = workbooks.xls_stream({"old": RANKS}).replace(b"\0\0\3\0old", b"\1\0\3\0old")
    (tmp_path / "v.xls").write_bytes(workbooks.compound({"Workbook": stream}))
    with pytest.raises(InputError, match="the first sheet, old, is hidden"):
        data.read(tmp_path / "v.xls")


def test_a_broken_xls_workbook_is_refused_and_nothing_is_printed(tmp_path, capfd):
    whole = workbooks.compound({"Workbook": workbooks.xls_stream({"votes": RANKS})})
    draw = random.Random(0)
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(3):
            broken[draw.randrange(len(whole))] = draw.randrange(256)
        (tmp_path / "v.xls").write_bytes(broken)
        with suppress(InputError):
            data.read(tmp_path / "v.xls")
    assert capfd.readouterr() == ("", "")


def test_a_workbook_is_loaded_once(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(_sheets, "load_rows", lambda *_: loaded.append(1) or RANKS)
    assert len(data.read(workbooks.xlsx(tmp_path / "v.xlsx", {"v": RANKS}))) == 3
    assert loaded == [1]


def test_digits_in_groups_are_no_number(write):
    with pytest.raises(InputError, match="'1_000' is not a number") as caught:
        data.read_expression(write("t.csv", "gene,p,q\nx,1,2\ny,1_000,3\n"), genes_in="rows")
    assert caught.value.value == "1_000"


@pytest.mark.parametrize("times", [1, 100, 3000])  # small sectors, few sectors, many
def test_an_xls_workbook_is_read_whatever_its_sectors(tmp_path, times):
    rows = RANKS[:1] + RANKS[1:] * times
    votes = data.read(workbooks.xls(tmp_path / "v.xls", {"v": rows}))
    assert votes.ranks.tolist() == [[0, 1], [1, 0], [0, 1]] * times


def test_a_sheet_of_charts_is_no_sheet_of_data(tmp_path):
    path = write_book(tmp_path, "xlsx", {"v": RANKS, "chart": ""})
    chart = tmp_path / "chart.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(chart, "w") as changed:
        for name in book.namelist():
            content = book.read(name).replace(b"worksheets/sheet2", b"chartsheets/sheet2")
            target = name.replace("worksheets/sheet2", "chartsheets/sheet2")
            content = b"<chartsheet/>" if target != name else content
            changed.writestr(target, content)
    assert len(data.read(chart)) == 3


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_workbook_cut_anywhere_is_refused_or_read_the_same(tmp_path, suffix):
    whole = write_book(tmp_path, suffix, {"votes": RANKS}).read_bytes()
    cut = tmp_path / f"cut.{suffix}"
    for size in range(1, len(whole) - 64, len(whole) // 23):
        cut.write_bytes(whole[:size])
        try:
            votes = data.read(cut)
        except InputError as error:
            assert "not a readable spreadsheet" in str(error)  # noqa: PT017
        else:  # the end of a compound file may be unused
            assert suffix == "xls"
            assert votes.ranks.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("name", ["EncryptedPackage", "Workbook"])
def test_a_workbook_with_a_password_is_refused(tmp_path, name):
    stream = workbooks.xls_stream({"v": RANKS}, extra=workbooks.biff(0x2F, b"\1\0"))
    (tmp_path / "v.xlsx").write_bytes(workbooks.compound({name: stream}))
    with pytest.raises(InputError, match=r"protected by a password|is encrypted"):
        data.read(tmp_path / "v.xlsx")


@pytest.mark.parametrize("text", ["#3,1\n1,2\n2,1\n", "1,2\n#2,1\n1,2\n", "1,2\n2,1\n#1,2\n"])
def test_a_comment_that_may_be_a_row_is_refused(write, text):
    with pytest.raises(InputError, match=r"line [234]: the line begins with # and has as many"):
        data.read(write("t.csv", f"a,b\n{text}"))


def test_comments_of_other_widths_are_skipped_everywhere(write):
    text = "# x\na,b\n# one, two, three\n1,2\n# x\n2,1\n1,2\n# the end\n"
    assert data.read(write("t.csv", text)).ranks.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("rows", "blank"),
    [
        ("A\n\nB\n", "; 1 blank ballot left out"),
        ("A\n\n  \n\nB\n", "; 3 blank ballots left out"),
        ('A\n""\nB\n""\n', "; 2 blank ballots left out"),
        ("\nA\nB\n", "; 1 blank ballot left out"),
        ("A\nB\n\n\n", ""),  # empty lines at the end are no rows
    ],
)
def test_blank_ballots_of_one_column_are_counted(write, rows, blank):
    votes = data.read(write("t.csv", f"1st choice\n{rows}"))
    assert str(votes.source) == f"t.csv: 2 rankings of 2 items (ballots, best first{blank})"


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_declared_separator_is_used_and_is_no_row(write, line):
    votes = data.read(write("t.csv", f"{line}\na,1;b\n1;2\n2;1\n1;2\n"))
    assert (votes.items, votes.ranks.tolist()) == (("a,1", "b"), [[0, 1], [1, 0], [0, 1]])
