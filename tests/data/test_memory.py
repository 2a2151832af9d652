"""Small files cannot ask for much memory."""

import zipfile

import pytest

from fedrank import data
from fedrank.data import _grid, _orders, _sheets
from fedrank.exceptions import InputError
from helpers.paths import SAMPLES


def test_one_wide_row_and_many_short_ones_are_refused_with_the_line(write, monkeypatch):
    monkeypatch.setattr(_grid, "MAX_PADDING", 100)
    rows = [",".join(map(str, range(60))), *["1,2"] * 9]
    with pytest.raises(InputError, match="longest row so far has 60") as caught:
        data.read_table(write("t.csv", "\n".join(rows)), layout="orders")
    assert caught.value.line == 3  # two rows of two cells lack 116
    with pytest.raises(InputError, match="longest row so far has 60") as caught:
        data.read_table(write("t.csv", "\n".join(rows[::-1])), layout="orders")
    assert caught.value.line == 10


def test_rows_of_equal_width_have_no_such_limit(write, monkeypatch):
    monkeypatch.setattr(_grid, "MAX_PADDING", 0)
    assert len(data.read_table(write("t.csv", "a,b\n" + "1,2\n" * 500))) == 500


def test_orders_of_too_many_different_labels_are_refused(write, monkeypatch):
    monkeypatch.setattr(_orders, "MAX_CELLS", 24)
    text = "1st,2nd\na,b\nc,d\ne,f\ng,a\n"  # 4 orders of 7 items
    with pytest.raises(InputError, match="4 orders of 7 items are too many"):
        data.read_table(write("t.csv", text))
    monkeypatch.setattr(_orders, "MAX_CELLS", 28)
    assert data.read_table(write("t.csv", text)).n == 7


def with_cell(path, cell):
    """The sample workbook with one more cell in its first sheet."""
    with zipfile.ZipFile(SAMPLES / "cvr.xlsx") as full, zipfile.ZipFile(path, "w") as changed:
        for name in full.namelist():
            content = full.read(name)
            if name == "xl/worksheets/sheet1.xml":
                assert content.count(b"</sheetData>") == 1
                content = content.replace(b"</sheetData>", cell.encode() + b"</sheetData>")
            changed.writestr(name, content)
    return path


def test_a_sheet_with_a_cell_far_away_is_refused(tmp_path, monkeypatch):
    far = '<row r="3000"><c r="ALL3000"><v>2</v></c></row>'  # column 1000
    path = with_cell(tmp_path / "a.xlsx", far)
    monkeypatch.setattr(_sheets, "MAX_SHEET_CELLS", 3_000_000 - 1)
    for reader in data.read, data.read_table, data.read_ballots:
        with pytest.raises(InputError, match="row 3000 and column 1000"):
            reader(path)


def test_an_empty_cell_far_away_does_not_matter(tmp_path):
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    path = with_cell(tmp_path / "a.xlsx", far)
    assert data.read(path) == data.read(SAMPLES / "cvr.xlsx")


def test_a_tag_that_two_blocks_share_is_found(tmp_path, monkeypatch):
    path = with_cell(tmp_path / "a.xlsx", '<row r="77"><c r="ZZ77"><v>2</v></c></row>')
    monkeypatch.setattr(_sheets, "MAX_TAG_BYTES", 64)
    with zipfile.ZipFile(path) as archive:
        for size in range(100, 140):
            monkeypatch.setattr(_sheets, "BLOCK_BYTES", size)
            name = _sheets.first_sheet(archive)
            assert name is not None
            assert _sheets.extent(archive, name) == (702, 77)


def test_the_largest_sheet_of_the_format_is_beyond_the_limit():
    assert _sheets.column_number(b"XFD") * 1_048_576 > _sheets.MAX_SHEET_CELLS
