"""Readers: each on samples of its format, broken ones too, and on the real data if present."""

import gzip
import io
import os
import re
import sys
import threading
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import fedrank as fr
from fedrank import _progress, data
from fedrank.data import _blocks, _text
from realdata import need

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def labelled(rankings):
    return [[rankings.items[i] for i in order] for order in rankings.orders()]


# --- PrefLib ---


def test_preflib_layouts_give_the_same_rankings():
    today, before = (data.read_preflib(SAMPLES / name) for name in ("small.soc", "old.soc"))
    assert today.items == before.items == ("Ann", "Bob: the second", "Cy/Cyril")
    assert today.ranks.tolist() == before.ranks.tolist() == [[1, 2, 0]] * 2 + [[0, 1, 2]]


def test_preflib_names_may_hold_commas_in_the_old_layout():
    assert data.read_preflib(SAMPLES / "old.toc").items == ("Ann", "Bob, jr.", "Cy")


def test_preflib_ties_and_gaps_stay_in_their_places():
    votes = data.read_preflib(SAMPLES / "small.toi", rng=3)
    orders = labelled(votes)
    assert votes.ranks.shape == (6, 4)  # the line that counts 0 adds none
    for order in orders[:3]:
        assert (order[0], set(order[1:3]), order[3]) == ("Dée", {"Ann", "Bob"}, "Cy")
    assert [order[0] for order in orders[3:5]] == ["Cy", "Cy"]
    assert (set(orders[5][:2]), orders[5][2:]) == ({"Bob", "Cy"}, ["Ann", "Dée"])


def test_preflib_ballots_of_a_line_are_completed_independently_and_evenly(write):
    text = (SAMPLES / "latin1.soi").read_bytes().replace(b"VOTERS: 1", b"VOTERS: 6000")
    text = text.replace(b"ALTERNATIVES: 2", b"ALTERNATIVES: 4").replace(
        b"\n1: 2", b"\n# ALTERNATIVE NAME 3: c\n# ALTERNATIVE NAME 4: d\n6000: 2"
    )
    votes = data.read_preflib(write("many.soi", text), rng=5)
    seen = Counter(map(tuple, votes.ranks.tolist()))
    assert len(seen) == 6  # 3! orders of the unranked
    assert sum((k - 1000) ** 2 / 1000 for k in seen.values()) < 20.5  # chi square, 5 df, p = .001


def test_preflib_rng_decides():
    a, b = (data.read_preflib(SAMPLES / "small.toi", rng=7).ranks for _ in range(2))
    assert (a == b).all()


def test_preflib_falls_back_to_latin_1():
    assert data.read_preflib(SAMPLES / "latin1.soi").items == ("Zoë", "E\x85lf")


def test_preflib_reads_windows_lines_and_gzip(write):
    text = (SAMPLES / "small.soc").read_bytes()
    for name, content in ("a.soc", text.replace(b"\n", b"\r\n")), ("a.soc.gz", gzip.compress(text)):
        assert len(data.read(write(name, content))) == 3
    old = gzip.compress((SAMPLES / "old.soc").read_bytes())
    assert len(data.read_preflib(write("old.soc.gz", old))) == 3


def test_preflib_refuses_categories_with_a_reason():
    with pytest.raises(ValueError, match=r"small\.cat: categorical .* do not rank"):
        data.read_preflib(SAMPLES / "small.cat")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("3,1,2", "3,1,1", "line 9: alternative 1 is named twice"),
        ("3,1,2", "3,1,4", r"line 9: alternative 4 is not one of 1\.\.3"),
        ("3,1,2", "3,1,0", r"line 9: alternative 0 is not"),
        ("3,1,2", "3,1", "line 9: alternative 2 is missing.*cut short"),
        ("3,1,2", "3,{1,2}", r"line 9: \{1,2\} is a tie"),
        ("3,1,2", "3,{1,2", "line 9: .* is not an order"),
        ("3,1,2", "3,{},1,2", "line 9: .* an empty set"),
        ("3,1,2", "", "line 9: '' is not an order"),
        ("3,1,2", "Ann,Bob", "line 9: 'Ann,Bob' is not an order"),
        ("2: 3,1,2", "3,1,2", "line 9: '3,1,2' is not of the form"),
        ("2: 3", "-2: 3", "line 9: a count must be a whole number, not '-2'"),
        ("2: 3", "2.5: 3", "not '2.5'"),
        ("2: 3", "5: 3", "announces 3 voters, but the counts sum to 6"),
        ("1: 1,2,3\n", "", "announces 2 different orders, but the file has 1"),
        ("VOTERS: 3", "VOTERS: many", "line 4: NUMBER VOTERS must be a whole number"),
        ("# NUMBER VOTERS: 3\n", "", "lacks '# NUMBER VOTERS:'"),
        ("# ALTERNATIVE NAME 2: Bob: the second\n", "", "does not name alternative 2 of 3"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: 2", "more alternatives than the 2"),
        ("Cy/Cyril", "Ann", "two alternatives are called 'Ann'"),
        ("TYPE: soc", "TYPE: wmd", "the data type is 'wmd'"),
    ],
)
def test_preflib_broken_today(write, old, new, problem):
    text = (SAMPLES / "small.soc").read_text()
    assert old in text
    with pytest.raises(ValueError, match=rf"broken\.soc.*{problem}"):
        data.read_preflib(write("broken.soc", text.replace(old, new)))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("b.soc", "3,3,2\n", "", "line 5: a total|must be three totals|announces"),
        ("b.soc", "2,Bob", "7,Bob", "line 3: '7,Bob: the second' must be '2,'"),
        ("b.soc", "3\n1,", "x\n1,", "line 1: the number of alternatives .* not 'x'"),
        ("b.soc", "3\n1,", "9\n1,", "line 7: the file ends before 9"),
        ("b.soc", "1,1,2,3", "1,1,2", "line 7: alternative 3 is missing"),
        ("b.soc", "3,3,2\n", "3,4,2\n", "announces 4 voters, but the counts sum to 3"),
        ("b.txt", "3", "3", "the data type is 'txt'"),
    ],
)
def test_preflib_broken_before_2022(write, name, old, new, problem):
    text = (SAMPLES / "old.soc").read_text().replace(old, new)
    with pytest.raises(ValueError, match=rf"{name}.*({problem})"):
        data.read_preflib(write(name, text))


def counted(*lines):
    """A PrefLib file of two alternatives, from counts and orders."""
    voters = sum(count for count, _ in lines)
    head = ["# DATA TYPE: toc", "# NUMBER ALTERNATIVES: 2", f"# NUMBER VOTERS: {voters}"]
    names = ["# ALTERNATIVE NAME 1: a", "# ALTERNATIVE NAME 2: b"]
    return "\n".join([*head, *names, *(f"{count}: {order}" for count, order in lines)])


def test_counts_beyond_memory_are_refused_before_any_ballot_is_written_out(write):
    with pytest.raises(ValueError, match=r"900000000 ballots .* at most 134217728 fit .*divide"):
        data.read_preflib(write("six.toc", counted((900_000_000, "1,2"))))


def test_counted_lines_are_written_out_a_block_at_a_time_and_move_a_bar(write, monkeypatch):
    moves = []

    class Bar(_progress.Progress):
        def advance(self, steps=1):
            if self.label == "expanding ballots":
                moves.append(steps)

    monkeypatch.setattr(_blocks, "Progress", Bar)
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 2000)
    votes = data.read_preflib(write("many.toc", counted((1500, "1,2"), (700, "2,1"))))
    assert moves == [1000, 500, 500, 200]
    assert votes.ranks.tolist() == [[0, 1]] * 1500 + [[1, 0]] * 700


def test_a_count_draws_what_as_many_lines_draw(write, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 30)
    together = write("a.toc", counted((50, "{1,2}"), (3, "2,1"), (40, "{1,2}")))
    apart = [(1, "{1,2}")] * 50 + [(1, "2,1")] * 3 + [(1, "{1,2}")] * 40
    found = data.read_preflib(together, rng=4)
    assert 20 < found.ranks[:, 0].sum() < 73
    assert found == data.read_preflib(write("b.toc", counted(*apart)), rng=4)


def test_preflib_refuses_what_would_not_fit(write):
    text = (SAMPLES / "small.soc").read_text().replace("2: 3", f"{10**12}: 3")
    text = text.replace("VOTERS: 3", f"VOTERS: {10**12 + 1}")
    with pytest.raises(ValueError, match="are too many: at most"):
        data.read_preflib(write("huge.soc", text))


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


# --- Sushi ---


def test_sushi_orders_and_regions():
    votes = data.read_sushi(SAMPLES / "sushi.order")
    assert votes.ranks[0].tolist() == [1, 2, 0, 3]
    parts = data.read_sushi(SAMPLES / "sushi.order", SAMPLES / "sushi.udata")
    assert list(parts) == [0, 3, 9]  # 10 is dropped
    assert parts[3].ranks.tolist() == votes.ranks[[0, 2]].tolist()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("0 4 2 0 1 3", "0 4 2 0 1", "line 2: .* must be '0 4' and 4 item numbers"),
        ("0 4 2 0 1 3", "7", "line 2: '7' must be"),
        ("0 4 2 0 1 3", "0 4 2 0 1 1", "line 2: an item is named twice"),
        ("0 4 2 0 1 3", "0 4 2 0 1 4", r"line 2: item 4 is not one of 0\.\.3"),
        ("0 4 2 0 1 3", "0 4 2 0 1 x", "line 2: an item must be a whole number, not 'x'"),
        ("4 1\n", "0 1\n", "line 1: there must be at least one item"),
        ("4 1\n", "x 1\n", "line 1: the number of items"),
    ],
)
def test_sushi_broken_orders(write, old, new, problem):
    text = (SAMPLES / "sushi.order").read_text().replace(old, new)
    with pytest.raises(ValueError, match=rf"b\.order.*{problem}"):
        data.read_sushi(write("b.order", text))


def test_sushi_without_orders_is_refused(write):
    with pytest.raises(ValueError, match="contains no order"):
        data.read_sushi(write("b.order", "10 1\n"))


def test_sushi_broken_users(write):
    lines = (SAMPLES / "sushi.udata").read_text().splitlines()
    for text, problem in [
        ("\n".join(lines[:3]), "3 people, but 5 orders"),
        ("1\t2\n", "line 1: the line has 2 columns"),
        ("\n".join(lines).replace("\t9\t", "\t44\t"), "line 5: region 44"),
    ]:
        with pytest.raises(ValueError, match=rf"u\.udata.*{problem}"):
            data.read_sushi(SAMPLES / "sushi.order", write("u.udata", text))


# --- Jester ---


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


# --- ballots ---


@pytest.mark.parametrize("name", ["cvr.csv", "cvr.xlsx"])
def test_records_keep_what_was_chosen(name):
    votes = data.read_ballots(SAMPLES / name, rng=2)
    assert votes.items == ("Ann", "Bob", "Cy")  # trailing spaces and stray columns are gone
    orders = labelled(votes)
    assert orders[:2] == [["Ann", "Bob", "Cy"], ["Cy", "Ann", "Bob"]]
    assert [order[0] for order in orders[2:]] == ["Bob", "Cy"]


def test_records_options():
    path = SAMPLES / "cvr.csv"
    assert len(data.read_ballots(path, keep_blank=True)) == 5
    assert len(data.read_ballots(path, overvote="stop")) == 3
    second = data.read_ballots(path, choices=["DEM Governor 2nd Choice "])
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


def test_profile_counts_ties_and_blanks():
    votes = data.read_ballots(SAMPLES / "profile.csv", rng=1)
    assert votes.items == ("Ann", 'Bob "B" Bee', "Cy, jr.")
    orders = votes.orders().tolist()
    assert orders[:3] == [[0, 2, 1]] * 3
    assert [order[0] for order in orders[3:5]] == [1, 1]
    assert orders[5] == [2, 1, 0]
    assert orders[6][0] == 1
    assert len(data.read_ballots(SAMPLES / "profile.csv", keep_blank=True)) == 8


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


# --- expression ---


def test_expression_either_way():
    by_sample = data.read_expression(SAMPLES / "expression.tsv")
    by_gene = data.read_expression(SAMPLES / "expression_by_gene.csv.gz")
    assert by_sample.items == by_gene.items == ("TP53", "EGFR", "MYC")
    assert by_sample.ranks.tolist() == by_gene.ranks.tolist() == [[0, 2, 1], [1, 0, 2]]


def test_expression_gene_list_from_a_file(write):
    genes = write("genes.txt", "Entrez\tSymbol\n1\tMYC\n2\tTP53\n")
    plain = write("plain.txt", "MYC\nTP53\n")
    for name in "expression.tsv", "expression_by_gene.csv.gz":
        for listed in genes, plain, ["MYC", "TP53"]:
            votes = data.read_expression(SAMPLES / name, genes=listed)
            assert (votes.items, votes.ranks.tolist()) == (("MYC", "TP53"), [[1, 0], [1, 0]])


def test_expression_as_r_writes_it(write):
    path = write("r.csv", '"s1","s2"\n"A",1,2\n"B",3,1\n')
    assert data.read_expression(path, genes_in="rows").ranks.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("id,A,B\ns,1,2\n", {}, "pass genes_in="),
        ("sample,A,B\ns,1,NA\n", {}, "line 2: 'NA' is not a number"),
        ("sample,A,B\ns,1,\n", {}, "line 2: an empty cell is not a number"),
        ("sample,A,B\ns,1,inf\n", {}, "line 2: 'inf' is not a number"),
        ("sample,A,B\ns,1,2\nt,1\n", {}, "line 3: the row has 2 columns, not 3"),
        ("sample,A,A\ns,1,2\n", {}, "gene 'A' occurs twice"),
        ("sample,A,B\ns,1,2\n", {"genes": ["A", "C"]}, "1 of 2 genes are not .* 'C' first"),
        ("sample,A,B\ns,1,2\n", {"genes": ["C"]}, "0 of the genes"),
        ("sample,A,B\n", {}, "a column of names, and values"),
        ("sample,A,B\ns,1,1\n", {"ties": "error"}, r"e\.csv, row 0: .*tie"),
    ],
)
def test_expression_broken(write, text, options, problem):
    with pytest.raises(ValueError, match=problem):
        data.read_expression(write("e.csv", text), **options)


def test_truncated_gzip_is_refused(write):
    whole = (SAMPLES / "expression_by_gene.csv.gz").read_bytes()
    with pytest.raises(ValueError, match=r"e\.csv\.gz: the gzip stream is broken"):
        data.read_expression(write("e.csv.gz", whole[:-12]))


# --- tables ---


def test_tables_of_each_kind():
    ranks = data.read_table(SAMPLES / "ranks.csv", base=1)
    assert (ranks.items, ranks.ranks.tolist()) == (("ann", "bob", "cy"), [[0, 1, 2], [2, 0, 1]])
    orders = data.read_table(SAMPLES / "orders.csv", "orders")
    assert orders.ranks.tolist() == [[1, 2, 0], [0, 1, 2]]
    scores = data.read_table(SAMPLES / "scores.tsv", "scores", ties="index")
    assert scores.ranks.tolist() == [[1, 0, 2], [1, 2, 0]]


def test_table_skips_an_unnamed_index(write):
    path = write("i.csv", ",a,b\n0,1,0\n1,0,1\n")
    assert data.read_table(path).ranks.tolist() == [[1, 0], [0, 1]]


def test_parquet_of_each_kind(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "t.parquet"
    polars.DataFrame({"a": [0, 1], "b": [1, 0]}).write_parquet(path)
    assert (
        data.read_table(path).ranks.tolist() == data.read(path).ranks.tolist() == [[0, 1], [1, 0]]
    )
    polars.DataFrame({"1st": ["a", "b"], "2nd": ["b", "a"]}).write_parquet(path)
    assert data.read(path).ranks.tolist() == [[0, 1], [1, 0]]
    polars.DataFrame({"a": [0.5, 9.0], "b": [1.5, None]}).write_parquet(path)
    with pytest.raises(ValueError, match=r"t\.parquet"):
        data.read_table(path, "scores")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"t\.parquet: this is not a readable Parquet file"):
        data.read_table(path)


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("a,b\n1,2\n", "ranks", "line 2: not a ranking.*pass base=1"),
        ("a,b\n0,1\n\n0,0\n", "ranks", "line 4: not a ranking.*0 is used twice"),
        ("a,b\n0,0.5\n", "ranks", "line 2: 0.5 of item 1 is not a whole number"),
        ("a,a\n0,1\n", "ranks", "line 1: item labels must differ, but 'a' is given twice"),
        ("1,0\n0,1\n", "ranks", "line 1: the first line contains numbers"),
        ("a,b\n0,1,2\n", "ranks", "line 2: .*3 columns, but the header has 2"),
        ("a,b\n", "ranks", "no rows below the header"),
        ("a,b\n1,x\n", "scores", "line 2: 'x' is not a number"),
        ("a,b\nb,a\n", "orders", "line 1: the first line looks like an order"),
        ("x,y\nb,a\na,a\n", "orders", "line 3: the order leaves out 'b'"),
        ('a,b\n"0,1\n', "ranks", "not a valid table"),
        ("a,b\n0,1\n", "votes", "kind must be one of"),
    ],
)
def test_table_broken(write, text, kind, problem):
    with pytest.raises(ValueError, match=problem):
        data.read_table(write("t.csv", text), kind)


def test_binary_is_refused(write):
    with pytest.raises(ValueError, match="this is not a text file"):
        data.read(write("t.csv", b"a,b\0\n"))


def test_utf_16_with_its_mark_is_read(write):
    path = write("t.csv", "zoë\tbob\n0\t1\n".encode("utf-16"))
    assert data.read(path).items == ("zoë", "bob")


# --- any file ---


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


# --- what may befall any of them ---

TEXTS = [
    "small.soc",
    "old.soc",
    "old.toc",
    "small.toi",
    "latin1.soi",
    "sushi.order",
    "cvr.csv",
    "profile.csv",
    "expression.tsv",
    "expression_by_gene.csv.gz",
    "ranks.csv",
    "orders.csv",
    "scores.tsv",
]


def sample(name):
    content = (SAMPLES / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


@pytest.mark.parametrize("name", TEXTS)
def test_text_may_be_gzipped_or_have_other_line_ends_or_a_mark(write, name):
    whole = data.read(SAMPLES / name, rng=1)
    plain = sample(name)
    name = name.removesuffix(".gz")
    variants = {
        name: plain.replace(b"\n", b"\r\n"),
        f"r.{name}": plain.replace(b"\n", b"\r"),
        f"{name}.gz": gzip.compress(plain[:50]) + gzip.compress(plain[50:]),  # two members
    }
    if name != "latin1.soi":
        variants[f"mark.{name}"] = b"\xef\xbb\xbf" + plain
        variants[f"wide.{name}"] = plain.decode().encode("utf-16")
    for variant, content in variants.items():
        assert data.read(write(variant, content), rng=1) == whole


@pytest.mark.parametrize("name", TEXTS)
def test_bad_encodings(write, name):
    plain = sample(name)
    name = name.removesuffix(".gz")
    with pytest.raises(ValueError, match=f"{name}: this is not a text file"):
        data.read(write(name, plain + b"\0"))
    with pytest.raises(ValueError, match=f"{name}: this is not a text file"):
        data.read(write(name, "a\0b".encode("utf-16")))
    with pytest.raises(ValueError, match=name):
        data.read(write(name, plain.decode("latin-1").encode("utf-16-le")))  # without its mark


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("small.soc", b"Ann", b"Zo\xeb"),
        ("cvr.csv", b"Ann", b"Zo\xeb"),
        ("profile.csv", b"Ann", b"Zo\xeb"),
        ("expression.tsv", b"EGFR", b"Zo\xeb"),
        ("ranks.csv", b"ann", b"Zo\xeb"),
        ("orders.csv", b"ann", b"Zo\xeb"),
        ("scores.tsv", b"ann", b"Zo\xeb"),
    ],
)
def test_names_that_are_not_utf_8_are_latin_1(write, name, old, new):
    assert "Zoë" in data.read(write(name, sample(name).replace(old, new)), rng=1).items


def test_the_last_byte_may_decide_the_encoding(write):
    filler = "".join(f"# NOTE {i}: é\n" for i in range(60_000)).encode()
    text = sample("small.soc").replace(b"# NUMBER VOTERS", filler + b"# NUMBER VOTERS")
    name = b"# ALTERNATIVE NAME 1: Ann"
    assert data.read_preflib(write("a.soc", text.replace(name, name + "é".encode()))).items[0] == (
        "Anné"
    )
    # One byte that is not UTF-8, at the end: all of it is Latin-1.
    mixed = text.replace(name, name + "é".encode()).replace(b"Cy/Cyril", b"Cy\xe9")
    assert data.read_preflib(write("b.soc", mixed)).items == ("AnnÃ©", "Bob: the second", "Cyé")


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("name", TEXTS)
def test_blocks_of_any_size_give_the_same(monkeypatch, write, name, size):
    whole = data.read(SAMPLES / name, rng=1)
    wide = None if name == "latin1.soi" else sample(name).decode().encode("utf-16")
    monkeypatch.setattr(_text, "BLOCK_BYTES", size)
    assert data.read(SAMPLES / name, rng=1) == whole
    if wide is not None:
        assert data.read(write(name.removesuffix(".gz"), wide), rng=1) == whole


@pytest.mark.parametrize("name", ["small.soc", "old.soc", "old.toc"])
def test_a_complete_order_cut_anywhere_is_refused(write, name):
    whole, text = data.read(SAMPLES / name, rng=1), sample(name)
    for end in range(len(text.rstrip())):
        with pytest.raises(ValueError, match=name):
            data.read(write(name, text[:end]))
    assert data.read(write(name, text.rstrip()), rng=1).ranks.shape == whole.ranks.shape


def test_a_gzip_cut_anywhere_is_refused(write):
    whole = gzip.compress(sample("small.soc"))
    for end in range(2, len(whole)):
        with pytest.raises(ValueError, match="gzip stream is broken or cut short"):
            data.read(write("a.soc.gz", whole[:end]))


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


@pytest.mark.parametrize("text", [",,\n,,\n", "a,b\n,\n"])
def test_tables_of_blanks_are_refused(write, text):
    path = write("t.csv", text)
    for read in data.read, data.read_table, data.read_ballots, data.read_expression:
        with pytest.raises(ValueError, match=r"t\.csv"):
            read(path)
    with pytest.raises(ValueError, match=r"t\.csv: .* no gene|not in the table|as many"):
        data.read_expression(SAMPLES / "expression.tsv", genes=path)


def test_profile_ballots_of_a_line_are_completed_independently_and_evenly(monkeypatch, write):
    path = write("p.blt", '4 1\n6000 2 0\n0\n"a"\n"b"\n"c"\n"d"\n')
    for cells in (_blocks.BLOCK_CELLS, 40):  # also when blocks are ranked one after another
        monkeypatch.setattr(_blocks, "BLOCK_CELLS", cells)
        seen = Counter(map(tuple, data.read_ballots(path, rng=5).ranks.tolist()))
        assert len(seen) == 6  # 3! orders of the unranked
        assert sum((k - 1000) ** 2 / 1000 for k in seen.values()) < 20.5  # 5 df, p = .001


def test_rows_are_named_by_their_lines_in_every_block(monkeypatch, write):
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 4)
    good = "a,b\n" + "0,1\n" * 9
    with pytest.raises(ValueError, match="line 11: not a ranking"):
        data.read_table(write("t.csv", good + "1,1\n"))
    with pytest.raises(ValueError, match="line 11: "):
        data.read_table(write("t.csv", good + "1,1\n"), "scores", ties="error")
    with pytest.raises(ValueError, match="line 11: 'c'"):
        data.read_table(write("t.csv", "x,y\n" + "a,b\n" * 9 + "a,c\n"), "orders")
    text = "sample,A,B\n" + "s,1,2\n" * 9 + "s,1,1\n"
    with pytest.raises(ValueError, match=r"e\.csv, row 9"):
        data.read_expression(write("e.csv", text), ties="error")


@pytest.mark.parametrize(
    "text",
    ["It was a dark night.\nA shot rang out.\n", "ann\n0\n0\n", "height\n1.8\n", ",a\n0,0\n"],
)
def test_one_column_is_not_taken_for_a_table_unless_it_is_said_to_be(write, text):
    path = write("t.csv", text)
    with pytest.raises(ValueError, match=r"t\.csv: the table has one column.*read_table"):
        data.read(path)
    kind = "orders" if "dark" in text else "scores"
    assert data.read_table(path, kind).n == 1


def test_rng_decides_in_every_block(monkeypatch, write):
    path = write("t.csv", "a,b,c\n" + "1,1,1\n" * 500)
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 30)
    first, second = (data.read_table(path, "scores", rng=4) for _ in range(2))
    assert first == second
    blocks = [first.ranks[i : i + 10].tolist() for i in range(0, 500, 10)]
    assert all(blocks.count(block) == 1 for block in blocks)  # each has randomness of its own


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["ranks.csv", "expression_by_gene.csv.gz", "cvr.xlsx", "old.toc"])
def test_a_pipe_of_any_layout_is_read_whole(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(sample(name),))
    writer.start()
    assert data.read(path, rng=1) == data.read(SAMPLES / name, rng=1)
    writer.join()
    assert path.is_fifo()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_called_by_its_own_name(tmp_path):
    path = tmp_path / "votes.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("a,b\n0,1\n0,x\n",))
    writer.start()
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}, line 3: 'x' is not a number"):
        data.read(path)
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe.soc"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(sample("small.soc"),))
    writer.start()
    votes = data.read_preflib(path)
    writer.join()
    assert votes == data.read_preflib(SAMPLES / "small.soc")


def test_a_long_read_shows_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(_progress, "PATIENCE", -1.0)
    monkeypatch.setattr(_progress.sys, "stderr", shown)
    monkeypatch.setattr(
        _progress, "Console", lambda **_: Console(file=shown, force_terminal=True, width=60)
    )
    data.read_preflib(SAMPLES / "small.soc")
    assert "small.soc" in shown.getvalue()
    assert "100%" in shown.getvalue()


def scores_text(rows, columns):
    rng = np.random.default_rng(0)
    head = "sample\t" + "\t".join(f"g{i}" for i in range(columns)) + "\n"
    body = ("\t".join(map(repr, rng.random(columns).tolist())) for _ in range(rows))
    return head + "".join(f"s{i}\t{row}\n" for i, row in enumerate(body))


@pytest.mark.parametrize("rows", [500, pytest.param(1600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["e.tsv", "e.tsv.gz"])
def test_memory_does_not_grow_with_the_file(write, name, rows):
    text = scores_text(rows, 1000).encode()
    size = len(text)
    path = write(name, gzip.compress(text, 1) if name.endswith(".gz") else text)
    del text
    data.read_expression(SAMPLES / "expression.tsv")  # what is loaded once
    tracemalloc.start()
    try:
        votes = data.read_expression(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert votes.ranks.shape == (rows, 1000)
    assert peak - votes.ranks.nbytes < 5e6
    assert size > 19_000 * rows  # 9 MB, or 30 MB


# --- the real files ---


@pytest.mark.parametrize(
    ("name", "voters", "n"),
    [
        ("00002-00000006.soi", 436, 5),
        ("00002-00000006.toc", 436, 5),
        ("00004-00000158.soc", 355, 4),
        ("00012-00000001.soc", 30, 11),
        ("00016-00000002.toi", 2527, 5),
        ("old_format_00012-00000001.soc", 30, 11),
    ],
)
def test_real_preflib_agrees_with_its_header(name, voters, n):
    assert data.read_preflib(need("preflib", name), rng=1).ranks.shape == (voters, n)


def test_real_categories_are_refused():
    with pytest.raises(ValueError, match="categorical"):
        data.read(need("preflib", "00059-00000002.cat"))


def test_real_jester():
    parts = [need("jester", f"jester_dataset_1_{i}.zip") for i in (1, 2)]
    first, second = map(data.read_jester, parts)
    assert (len(first), len(second)) == (7200, 6916)
    votes = fr.Rankings(np.vstack([first.ranks, second.ranks]), first.items)
    assert votes.n == 100
    score = fr.kemeny_score(fr.aggregate(votes, rng=0), votes)
    assert score == pytest.approx(19.228750, abs=5e-7)


def test_real_maine():
    path = need("maine", "Maine_06122018_DemocraticPrimaryforGovernor.csv")
    votes = data.read(path, rng=1)
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


@pytest.mark.parametrize("listed", [False, True])
def test_real_luad(listed):
    genes = need("tcga", "landmark_genes.txt") if listed else None
    votes = data.read_expression(need("tcga", "LUAD_fpkm_landmark978.tsv.gz"), genes=genes)
    assert votes.ranks.shape == (533, 978)
    score = fr.kemeny_score(fr.aggregate(votes, rng=0), votes)
    assert score == pytest.approx(69.1667, abs=1e-4 if listed else 5e-5)  # ties go by gene order


def test_real_lusc():
    votes = data.read(need("tcga", "LUSC_rsem_landmark926_35tumours.tsv.gz"))
    assert votes.ranks.shape == (35, 926)
    assert np.unique(votes.ranks[0]).size == 926
