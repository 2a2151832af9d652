"""Tables of ranks, orders and scores."""

import pytest

from fedrank import data
from fedrank.data import _blocks
from helpers.paths import SAMPLES


def test_tables_of_each_kind():
    ranks = data.read_table(SAMPLES / "ranks.csv", base=1)
    assert (ranks.items, ranks.ranks.tolist()) == (("ann", "bob", "cy"), [[0, 1, 2], [2, 0, 1]])
    orders = data.read_table(SAMPLES / "orders.csv", kind="orders")
    assert orders.ranks.tolist() == [[1, 2, 0], [0, 1, 2]]
    scores = data.read_table(SAMPLES / "scores.tsv", kind="scores", ties="index")
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
        data.read_table(path, kind="scores")
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
        data.read_table(write("t.csv", text), kind=kind)


@pytest.mark.parametrize("text", [",,\n,,\n", "a,b\n,\n"])
def test_tables_of_blanks_are_refused(write, text):
    path = write("t.csv", text)
    for read in data.read, data.read_table, data.read_ballots, data.read_expression:
        with pytest.raises(ValueError, match=r"t\.csv"):
            read(path)
    with pytest.raises(ValueError, match=r"t\.csv: .* no gene|not in the table|as many"):
        data.read_expression(SAMPLES / "expression.tsv", genes=path)


@pytest.mark.parametrize(
    "text",
    ["It was a dark night.\nA shot rang out.\n", "ann\n0\n0\n", "height\n1.8\n", ",a\n0,0\n"],
)
def test_one_column_is_not_taken_for_a_table_unless_it_is_said_to_be(write, text):
    path = write("t.csv", text)
    with pytest.raises(ValueError, match=r"t\.csv: the table has one column.*read_table"):
        data.read(path)
    kind = "orders" if "dark" in text else "scores"
    assert data.read_table(path, kind=kind).n == 1


def test_rng_decides_in_every_block(monkeypatch, write):
    path = write("t.csv", "a,b,c\n" + "1,1,1\n" * 500)
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 30)
    first, second = (data.read_table(path, kind="scores", rng=4) for _ in range(2))
    assert first == second
    blocks = [first.ranks[i : i + 10].tolist() for i in range(0, 500, 10)]
    assert all(blocks.count(block) == 1 for block in blocks)  # each has randomness of its own
