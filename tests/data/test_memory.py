"""Small files cannot ask for much memory."""

import struct
import subprocess
import sys
import zipfile

import pytest

from fedrank import data
from fedrank._progress import Progress
from fedrank.data import _cells, _grid, _orders, _survey
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


def surveyed(path):
    """The survey of a workbook."""
    found = _survey.Survey(path, path.stat().st_size)
    found.copy(path.read_bytes(), Progress("reading", 1))
    return found


@pytest.mark.parametrize("cell", ['<c r="ALL3000">', '<c  a=">" r="ALL3000">', "<x:c r='ALL3000'>"])
def test_a_sheet_with_a_cell_far_away_is_refused(tmp_path, monkeypatch, cell):
    end = "</x:c>" if "x:" in cell else "</c>"
    far = f'<row r="3000" xmlns:x="{workbooks.MAIN}">{cell}<v>2</v>{end}</row>'  # column 1000
    path = with_row(tmp_path, far)
    monkeypatch.setattr(_survey, "MAX_BYTES", 40 * 3_000_000)
    for reader in data.read, data.read_table, data.read_ballots:
        with pytest.raises(InputError, match="sheet v reaches to row 3000 and column 1000; delete"):
            reader(path)


def test_an_empty_cell_far_away_does_not_matter(tmp_path):
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert len(data.read(with_row(tmp_path, far))) == 3


def test_a_cell_that_two_blocks_share_is_found(tmp_path, monkeypatch):
    path = with_row(tmp_path, '<row r="77"><c r="ZZ77"><v>2</v></c></row>')
    for size in range(100, 140):
        monkeypatch.setattr(_survey, "BLOCK_BYTES", size)
        assert list(surveyed(path).extents.values()) == [(77, 702)]


def test_the_memory_of_a_workbook_is_that_of_its_xml_cells_and_shared_texts(tmp_path):
    shared = '<row r="2"><c r="C2" t="s"><v>1</v></c><c r="D2" t="s"><v>1</v></c></row>'
    sheets = {"v": shared, "w": [["a", None, "b"], [None] * 3, [1, None, None]]}
    path = workbooks.xlsx(tmp_path / "v.xlsx", sheets, strings=["x" * 500, "y" * 30])
    with zipfile.ZipFile(path) as book:
        xml = sum(info.file_size for info in book.infolist())
    assert surveyed(path).spent == 4 * xml + 40 * (2 * 4 + 3 * 3) + 2 * 30


def test_cells_without_a_place_follow_each_other(tmp_path):
    rows = "<row><c><v>1</v></c></row><row r='9'><c/><c><v>1</v></c><c><v>2</v></c></row>"
    path = workbooks.xlsx(tmp_path / "v.xlsx", {"v": rows})
    assert list(surveyed(path).extents.values()) == [(9, 3)]


@pytest.mark.parametrize("number", ["1<!-- -->2", "<![CDATA[1]]>", "1&#50;", "1<?x?>2", "-1", "x"])
def test_the_number_of_a_shared_text_must_be_written_plainly(tmp_path, number):
    cell = f'<row r="1"><c r="A1" t="s"><v>{number}</v></c></row>'
    path = workbooks.xlsx(tmp_path / "v.xlsx", {"v": cell}, strings=["x"] * 20)
    with pytest.raises(
        InputError, match=r"not a readable spreadsheet .*save it as \.xlsx or \.csv"
    ):
        data.read(path)


# One text of one-byte characters, cut in two; one of two-byte characters with a run of a font.
LATIN = "x" * 30
GREEK = "\N{GREEK SMALL LETTER ALPHA}" * 20
XLS_TEXTS = workbooks.xls_texts(
    [
        struct.pack("<HB", 30, 0) + b"x" * 10,
        b"\0" + b"x" * 20 + struct.pack("<HBH", 20, 9, 1) + GREEK.encode("utf-16-le"),
        bytes(4) + struct.pack("<HB", 1, 0) + b"y",
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
    cells = b"".join(workbooks.xls_shared(*each) for each in places)
    return workbooks.xls(path, {"v": cells}, extra=XLS_TEXTS)


@pytest.mark.parametrize("suffix", ["xlsx", "xls"])
def test_cells_may_share_texts(tmp_path, suffix):
    path = shared_book(tmp_path, suffix)
    with _cells.open_sheet(path, path.read_bytes()) as rows:
        assert next(rows)[1] == [LATIN, LATIN, GREEK, "y"]


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
    workbooks.xlsx(folder / "counts.xlsx", {"v": start}, strings=[""] * 2**21)
    cells = workbooks.biff_cell(0, 0, 1)
    workbooks.xls(
        folder / "far.xls", {"v": RANKS, "w": cells + workbooks.biff_cell(65535, 65535, 1)}
    )
    good = workbooks.compound(
        {"Workbook": workbooks.xls_stream({"v": RANKS[:1] + RANKS[1:] * 300})}
    )
    for name, at, value in (
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
from fedrank._progress import Progress
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


def test_a_workbook_may_take_as_much_memory_as_the_rule_says(tmp_path, monkeypatch):
    path = workbooks.xlsx(tmp_path / "v.xlsx", {"v": RANKS})
    size, spent = path.stat().st_size, surveyed(path).spent
    monkeypatch.setattr(_survey, "MAX_RATIO", 1)
    monkeypatch.setattr(_survey, "FREE_BYTES", spent - size)
    assert len(data.read(path)) == 3
    monkeypatch.setattr(_survey, "FREE_BYTES", spent - size - 1)
    with pytest.raises(InputError, match="would take 0 MiB of memory or more; a file of its size"):
        data.read(path)
