"""Small files cannot ask for much memory."""

import struct
import subprocess
import sys
import zipfile

import pytest

from fedrank import data
from fedrank.data import _cells, _grid, _orders, _sheets
from fedrank.data._sheets import archive, extent
from fedrank.exceptions import InputError
from helpers import workbooks
from helpers.paths import SAMPLES

RANKS = [["a", "b"], [1, 2], [2, 1], [1, 2]]
MAX_GROWTH = 100  # MiB that a small hostile workbook may take


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


def with_row(folder, row):
    """A workbook of ranks with one more row in its sheet."""
    return workbooks.xlsx(folder / "v.xlsx", {"v": workbooks.xlsx_rows(RANKS) + row})


@pytest.mark.parametrize("cell", ['<c r="ALL3000">', '<c  a=">" r="ALL3000">'])
def test_a_sheet_with_a_cell_far_away_is_refused(tmp_path, monkeypatch, cell):
    far = f'<row r="3000">{cell}<v>2</v></c></row>'  # column 1000
    path = with_row(tmp_path, far)
    monkeypatch.setattr(extent, "MAX_SPARSE_CELLS", 3_000_000 - 1)
    for reader in data.read, data.read_table, data.read_ballots:
        with pytest.raises(InputError, match="row 3000 and column 1000"):
            reader(path)
    monkeypatch.setattr(extent, "MAX_SPARSE_CELLS", 3_000_000)
    sheet = _sheets.survey(path, path.read_bytes())[0].sheets[0]
    assert (sheet.rows, sheet.columns) == (3000, 1000)


def test_an_empty_cell_far_away_does_not_matter(tmp_path):
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert len(data.read(with_row(tmp_path, far))) == 3


def test_empty_rows_and_columns_of_ods_do_not_matter(tmp_path):
    row = "<table:table-row>{}<table:table-cell {}/></table:table-row>"
    wide = 'table:number-columns-repeated="16382"'
    rows = "".join(row.format("".join(map(workbooks.ods_cell, cells)), wide) for cells in RANKS)
    rows += (
        '<table:table-row table:number-rows-repeated="1048572">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    assert len(data.read(workbooks.ods(tmp_path / "v.ods", {"v": rows}))) == 3


def test_a_cell_that_two_blocks_share_is_found(tmp_path, monkeypatch):
    path = with_row(tmp_path, '<row r="77"><c r="ZZ77"><v>2</v></c></row>')
    whole = _sheets.survey(path, path.read_bytes())[0].sheets
    for size in range(100, 140):
        monkeypatch.setattr(archive, "BLOCK_BYTES", size)
        assert _sheets.survey(path, path.read_bytes())[0].sheets == whole
    assert (whole[0].rows, whole[0].columns) == (77, 702)


@pytest.mark.parametrize("suffix", ["xlsx", "xlsb", "xls", "ods"])
def test_a_survey_counts_rows_columns_and_cells(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(archive, "BLOCK_BYTES", 10)
    sheets = {"v": [["a", None, "b"], [None] * 3, [1, None, None]], "w": [[None, 7]]}
    path = getattr(workbooks, suffix)(tmp_path / f"v.{suffix}", sheets)
    found = _sheets.survey(path, path.read_bytes())[0].sheets
    assert found == [extent.Sheet("v", 3, 3, 3), extent.Sheet("w", 1, 2, 1)]


def test_cells_without_a_place_follow_each_other(tmp_path):
    rows = "<row><c><v>1</v></c></row><row r='9'><c/><c><v>1</v></c><c><v>2</v></c></row>"
    path = workbooks.xlsx(tmp_path / "v.xlsx", {"v": rows})
    found = _sheets.survey(path, path.read_bytes())[0].sheets
    assert found == [extent.Sheet("v", 9, 3, 3)]


# One text of one-byte characters, cut in two; one of two-byte characters with a run of a font.
LATIN = "x" * 30
GREEK = "\N{GREEK SMALL LETTER ALPHA}" * 20
XLS_TEXTS = workbooks.xls_texts(
    [
        struct.pack("<HB", 30, 0) + b"x" * 10,
        b"\0" + b"x" * 20 + struct.pack("<HBH", 20, 9, 1) + GREEK.encode("utf-16-le") + bytes(2),
        bytes(2) + struct.pack("<HB", 1, 0) + b"y",
    ],
    3,
)


def shared_book(folder, suffix):
    """A workbook of one row of texts that its cells share: LATIN twice, GREEK and y."""
    places = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 2)]
    texts, path = [LATIN, GREEK, "y"], folder / f"v.{suffix}"
    if suffix == "xlsx":
        cells = "".join(f'<c r="{"ABCD"[c]}{r + 1}" t="s"><v>{i}</v></c>' for r, c, i in places)
        return workbooks.xlsx(path, {"v": f"<row>{cells}</row>"}, strings=texts)
    if suffix == "xlsb":
        row = workbooks.record(0, bytes(13))
        cells = b"".join(workbooks.record(7, struct.pack("<III", c, 0, i)) for _, c, i in places)
        return workbooks.xlsb(path, {"v": row + cells}, strings=texts)
    cells = b"".join(workbooks.xls_shared(*each) for each in places)
    return workbooks.xls(path, {"v": cells}, extra=XLS_TEXTS)


@pytest.mark.parametrize("suffix", ["xlsx", "xlsb", "xls"])
def test_a_text_counts_for_each_cell_that_shares_it(tmp_path, suffix, monkeypatch):
    path = shared_book(tmp_path, suffix)
    assert _sheets.survey(path, path.read_bytes())[0].chars == 30 + 30 + 20 + 1
    with _cells.open_sheet(path, path.read_bytes()) as rows:
        assert next(rows)[1] == [LATIN, LATIN, GREEK, "y"]
    monkeypatch.setattr(extent, "MAX_TEXT_CHARS", 80)
    with pytest.raises(InputError, match="repeat long texts, 81 characters in all"):
        data.read(path)


def write_hostile(folder):
    """Small workbooks that would take gigabytes, or end the process, if they were just read."""
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    placeless = '<row r="1048576">' + "<c><v>1</v></c>" * 16384 + "</row>"
    start = "<row><c r='A1'><v>1</v></c></row>"
    workbooks.xlsx(folder / "second.xlsx", {"v": RANKS, "w": start + far})
    workbooks.xlsx(folder / "placeless.xlsx", {"v": start + placeless})
    spaced = far.replace("<c r", "<c  r")
    workbooks.xlsx(folder / "quoted.xlsx", {"v": start + spaced.replace("<c ", '<c a=">"')})
    cell = '<c t="s"><v>0</v></c>'
    repeated = {"v": f"<row>{cell * 1000}</row>" * 100}
    workbooks.xlsx(folder / "texts.xlsx", repeated, strings=["x" * 32767])
    workbooks.xlsx(folder / "bomb.xlsx", {"v": start + " " * 2**27})
    workbooks.xlsx(folder / "tag.xlsx", {"v": start + "<c a='" + "x" * 2**25 + "'/>"})
    understated(workbooks.xlsx(folder / "lie.xlsx", {"v": start + " " * 2**27}))
    one = workbooks.ods_cell(1)
    many = one.replace("<table:table-cell", '<table:table-cell table:number-columns-repeated="{}"')
    rows = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    workbooks.ods(folder / "both.ods", {"v": rows.format(2**20, many.format(2**14))})
    gap = '<table:table-cell table:number-columns-repeated="4000000000"/>'
    workbooks.ods(folder / "gap.ods", {"v": RANKS, "w": rows.format(1, gap + one)})
    text = many.replace("<text:p>1", f"<text:p>{'x' * 30000}").replace("float", "string")
    text = text.replace(' office:value="1"', "").format(1000)
    workbooks.ods(folder / "text.ods", {"v": rows.format(1000, text)})
    cells = workbooks.xlsb_cell(0, 0, 1)
    workbooks.xlsb(folder / "far.xlsb", {"v": RANKS, "w": cells + workbooks.xlsb_cell(9, 2**31, 1)})
    far_row = workbooks.xlsb_cell(2**20 - 1, 2**14 - 1, 1)
    workbooks.xlsb(folder / "corner.xlsb", {"v": cells + far_row})
    cells = workbooks.biff_cell(0, 0, 1)
    workbooks.xls(
        folder / "far.xls", {"v": RANKS, "w": cells + workbooks.biff_cell(65535, 65535, 1)}
    )
    size = workbooks.biff(0x200, struct.pack("<IIHHH", 0, 2**32 - 1, 0, 2**16 - 1, 0))
    workbooks.xls(folder / "size.xls", {"v": size + cells})
    shared = b"".join(workbooks.xls_shared(r, 0, 0) for r in range(20000))
    long = workbooks.xls_texts(
        [struct.pack("<HB", 65535, 0) + b"x" * 8000, *[b"\0" + b"x" * 8000] * 8], 1
    )
    workbooks.xls(folder / "texts.xls", {"v": shared}, extra=long)
    good = workbooks.compound({"Workbook": workbooks.xls_stream({"v": RANKS * 300})})
    for name, at, value in (
        ("endless table.xls", 68, 0),  # the first sector lists itself as the next
        ("directory.xls", 48, 2**31),
        ("table.xls", 76, 2**31),
    ):
        changed = bytearray(good)
        changed[at : at + 4] = struct.pack("<I", value)
        changed[512 + 508 : 512 + 512] = bytes(4)
        (folder / name).write_bytes(changed)
    table = len(good) - 512 * struct.unpack_from("<I", good, 44)[0]
    cycle = bytearray(good)
    cycle[table : table + 4] = bytes(4)  # sector 0 follows sector 0
    (folder / "cycle.xls").write_bytes(cycle)


def understated(path):
    """Let an archive state a small size for its largest member."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as book:
        size = struct.pack("<I", max(info.file_size for info in book.infolist()))
    assert content.count(size) == 2  # before the member, and in the list at the end
    path.write_bytes(content.replace(size, struct.pack("<I", 1000)))


READ_ALL = """
import re, sys
from pathlib import Path
from fedrank import data
def peak():  # MiB; that of getrusage is at least what the process that started this one had
    status = Path("/proc/self/status").read_text()
    return int(re.search("VmHWM: *\\t* *([0-9]+) kB", status)[1]) // 1024
data.read(sys.argv[2])
before = peak()
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        data.read(path)
        print(path.name, "was read")
    except ValueError as error:
        print(path.name, peak() - before, error, sep="|")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_hostile_workbooks_are_refused_in_little_memory(tmp_path):
    write_hostile(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(tmp_path), str(SAMPLES / "cvr.xlsx")],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split("|") for line in run.stdout.splitlines()]
    assert len(lines) == len(list(tmp_path.iterdir()))
    assert all(len(line) == 3 for line in lines), lines
    assert all(path.stat().st_size < 2**20 for path in tmp_path.iterdir())
    assert max(int(grown) for _, grown, _ in lines) < MAX_GROWTH, lines


def test_the_limit_of_what_is_unpacked_is_stated(tmp_path, monkeypatch):
    path = workbooks.xlsx(tmp_path / "v.xlsx", {"v": RANKS})
    with zipfile.ZipFile(path) as book:
        total = sum(info.file_size for info in book.infolist())
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", total)
    assert len(data.read(path)) == 3
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", total - 1)
    with pytest.raises(InputError, match=f"unpacks to {total} bytes; at most {total - 1} are read"):
        data.read(path)


def test_the_largest_sheet_of_the_format_is_beyond_the_limit():
    assert extent.column_number("XFD") == extent.MAX_COLUMNS
    assert extent.MAX_COLUMNS * extent.MAX_ROWS > extent.MAX_SHEET_CELLS
