"""`read` knows each layout, and refuses what no reader can take."""

import gzip
import re
import sys
import zipfile

import pytest

from fedrank import data
from fedrank.exceptions import InputError
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
        ("ranks.csv", (2, 3)),
        ("orders.csv", (2, 3)),
    ],
)
def test_read_knows_every_sample_that_is_certain(name, shape):
    assert data.read(SAMPLES / name).ranks.shape == shape
    assert data.read(str(SAMPLES / name), complete=True, rng=1).ranks.shape == shape


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("gene,s1,s2\nA,0.5,2\nB,7,2.5\n", [{}]),
        ("sample,A,B\ns1,0.5,2\ns2,7,2.5\n", [{}]),
        ("x,A,B\ns1,0.5,2\ns2,7,2.5\n", [{"genes_in": "rows"}, {"genes_in": "columns"}]),
        ("gene,s1,s2\nA,1,1\nB,1,2\n", []),  # tied ranks
        ("a,b\n0.5,2\n", []),
        ("gene,s1,s2\nA,0.5,\nB,7,2.5\n", []),  # an empty cell is no expression
    ],
)
def test_expression_is_offered_for_scores_beside_names(write, text, offered):
    path = write("t.csv", text)
    with pytest.raises(InputError) as caught:
        data.read(path)
    chosen = [options for _, options in caught.value.choices]
    found = [options for options in chosen if options.get("layout") == "expression"]
    assert found == [{"layout": "expression"} | options for options in offered]
    for options in found:
        data.read(path, **options)


@pytest.mark.parametrize("name", ["expression.tsv", "expression_by_gene.csv.gz", "scores.tsv"])
def test_read_guesses_no_scores(name):
    with pytest.raises(InputError, match="not certainly ranks") as caught:
        data.read(SAMPLES / name)
    options = [chosen for _, chosen in caught.value.choices]
    assert {chosen.get("best") for chosen in options} >= {"low", "high"}
    for chosen in options:  # what is offered is what works
        data.read(SAMPLES / name, **chosen)


def test_a_sheet_of_numbers_without_a_header_is_not_taken_for_jester(tmp_path):
    with zipfile.ZipFile(SAMPLES / "jester.zip") as archive:
        path = tmp_path / "votes.xlsx"
        path.write_bytes(archive.read("jester-data-1.xlsx"))
    with pytest.raises(InputError, match="the first row contains numbers"):
        data.read(path)
    assert data.read(path, layout="jester") == data.read(SAMPLES / "jester.zip")


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("small.soc", {"best": "low", "layout": "preflib"}, "best is for the layouts ranks"),
        ("small.soc", {"header": True}, "layout preflib, but options of tables are given"),
        ("small.soc", {"genes_in": "rows", "layout": "ranks"}, "genes_in is for the layout expr"),
        ("ranks.csv", {"colour": "red"}, "there is no option 'colour'"),
        ("ranks.csv", {"layout": "votes"}, "layout must be one of ranks"),
        ("ranks.csv", {"best": "highest"}, "best must be one of low, high"),
        ("ranks.csv", {"items_in": "cells"}, "items_in must be one of rows, columns"),
        ("ranks.csv", {"header": "yes"}, "header must be True or False"),
        ("ranks.csv", {"decimal": ";"}, "decimal must be"),
        ("ranks.csv", {"id_columns": 7}, "id_columns must be names"),
        ("ranks.csv", {"id_columns": "id"}, "no column 'id'; the columns are ann, bob, cy"),
    ],
)
def test_options_that_do_not_fit_are_refused(name, options, named):
    with pytest.raises(InputError, match=named):
        data.read(SAMPLES / name, **options)


def test_without_the_extra_it_says_how_to_get_it(monkeypatch, tmp_path):
    for library in "python_calamine", "polars", "xlrd":
        monkeypatch.setitem(sys.modules, library, None)
    (tmp_path / "t.xls").touch()
    for path in (
        tmp_path / "t.xls",
        SAMPLES / "cvr.xlsx",
        SAMPLES / "jester.zip",
        tmp_path / "t.parquet",
    ):
        with pytest.raises(ValueError, match=r"pip install 'fedrank\[data\]'"):
            data.read(path)


def test_importing_loads_no_library_of_the_extra(python):
    code = (
        "import sys, fedrank.data; print({'polars', 'python_calamine', 'xlrd'} & set(sys.modules))"
    )
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
