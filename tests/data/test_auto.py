"""`read` knows each layout, and refuses what no reader can take."""

import gzip
import re
import sys
import zipfile

import pytest

from fedrank import data
from helpers.paths import SAMPLES


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.soc", "a.order", "a.csv", "a.tsv", "a.blt"])
def test_empty_files_are_refused(write, name, content):
    with pytest.raises(ValueError, match=rf"{name}: the file is empty"):
        data.read(write(name, content))


def empty_sheet(path):
    """The sample workbook with nothing in its sheet."""
    with zipfile.ZipFile(SAMPLES / "cvr.xlsx") as full, zipfile.ZipFile(path, "w") as empty:
        for name in full.namelist():
            content = full.read(name)
            if name.startswith("xl/worksheets/"):
                content = re.sub(
                    rb"<sheetData>.*</sheetData>", b"<sheetData/>", content, flags=re.S
                )
            empty.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "reader",
    [
        data.read,
        data.read_table,
        data.read_ballots,
        data.read_expression,
        lambda path: data.read_groups(path, "who"),
    ],
)
def test_empty_tables_are_refused(tmp_path, write, reader):
    for path in empty_sheet(tmp_path / "a.xlsx"), write("a.csv", ",,\n,,\n"):
        with pytest.raises(ValueError, match=rf"{path.name}: the file is empty"):
            reader(path)


def test_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        data.read(tmp_path / "none.soc")


def test_binary_is_refused(write):
    with pytest.raises(ValueError, match="this is not a text file"):
        data.read(write("t.csv", b"a,b\0\n"))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("small.soc", (3, 3)),
        ("old.toc", (3, 3)),
        ("small.toi", (6, 4)),
        ("latin1.soi", (1, 2)),
        ("sushi.order", (5, 4)),
        ("jester.zip", (2, 3)),
        ("cvr.csv", (4, 3)),
        ("cvr.xlsx", (4, 3)),
        ("profile.csv", (7, 3)),
        ("expression.tsv", (2, 3)),
        ("expression_by_gene.csv.gz", (2, 3)),
        ("ranks.csv", (2, 3)),
        ("orders.csv", (2, 3)),
        ("scores.tsv", (2, 3)),
    ],
)
def test_read_knows_every_sample(name, shape):
    assert data.read(SAMPLES / name, rng=1).ranks.shape == shape
    assert data.read(str(SAMPLES / name), rng=1).ranks.shape == shape


def test_without_the_extra_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    for path in SAMPLES / "cvr.xlsx", SAMPLES / "jester.zip", tmp_path / "t.parquet":
        with pytest.raises(ValueError, match=r"pip install 'fedrank\[data\]'"):
            data.read(path)


def test_importing_loads_neither_polars_nor_calamine(python):
    code = "import sys, fedrank.data; print({'polars', 'python_calamine'} & set(sys.modules))"
    assert python(code).stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("u.udata", "the file is empty"),
        ("a.csv.gz", "the file is empty"),
        ("a.zip", "archive is broken"),
        ("a.xls", "not a readable spreadsheet"),
        ("a.xlsx", "not a readable spreadsheet"),
        ("a.parquet", "not a readable Parquet file"),
        ("genes.txt", "the file is empty"),
    ],
)
def test_empty_files_of_other_kinds_are_refused(write, name, problem):
    path = write(name, gzip.compress(b"") if name.endswith(".gz") else b"")
    readers = {
        "u.udata": lambda: data.read_sushi(SAMPLES / "sushi.order", path),
        "genes.txt": lambda: data.read_expression(SAMPLES / "expression.tsv", genes=path),
    }
    with pytest.raises(ValueError, match=problem):
        readers.get(name, lambda: data.read(path))()
