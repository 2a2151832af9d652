"""Tables of ranks, scores and orders, and long tables, as they are declared."""

import pytest

from fedrank import PartialRankings, Rankings, data
from fedrank.exceptions import InputError
from helpers.paths import SAMPLES

LONGER = {"layout": "ranks", "items_in": "columns"}  # ranks in a longer list
ROWS = {"layout": "ranks", "items_in": "rows"}
LOW_ROWS = {"best": "low", "items_in": "rows"}
RANKED = {"id_columns": "n", "layout": "ranks"}


def read(write, text, **options):
    return data.read_table(write("t.csv", text), **options)


def test_tables_of_each_kind():
    ranks = data.read_table(SAMPLES / "ranks.csv")
    assert (ranks.items, ranks.ranks.tolist()) == (("ann", "bob", "cy"), [[0, 1, 2], [2, 0, 1]])
    orders = data.read_table(SAMPLES / "orders.csv")
    assert orders.ranks.tolist() == [[1, 2, 0], [0, 1, 2]]
    scores = data.read_table(SAMPLES / "scores.tsv", best="high")
    assert scores.ranks.tolist() == [[1, 0, 2], [1, 1, 0]]  # 7, 7, 8


# --- what was read, in words ---


@pytest.mark.parametrize(
    ("text", "options", "line"),
    [
        ("a,b,c\n1,2,3\n3,1,2\n", {}, "2 rankings of 3 items (ranks, 1 = best)"),
        ("a,b,c\n0,1,2\n", {"layout": "ranks", "items_in": "columns"}, "1 ranking of 3 items (ra"),
        ("who,a,b,c\nx,0,1,2\ny,2,1,0\n", {}, "(ranks, 0 = best; column who skipped)"),
        ("id,a,b,c\n1,1,1,3\n", {"layout": "ranks", "id_columns": "id"}, "lowest best; column id"),
        ("gene,rank\nA,2\nB,1\n", {}, "1 ranking of 2 items (ranks, 1 = best; items in rows)"),
        ("a,b\n1,0.5\n", {"best": "low"}, "1 ranking of 2 items (scores, lowest best)"),
        ("a,b\n1,NA\n2,1\n", {"best": "high"}, "; 1 empty cell: these items count as last)"),
        (
            "n,a,b\nx,,NA\ny,2,1\n",
            RANKED,
            "column n skipped; 1 empty ranking left out",
        ),
        ("1st,2nd\nx,y\ny,\n", {}, "2 rankings of 2 items (orders, best first)"),
        ("1st,2nd\nx,y\n,\n\ny,x\n", {}, "(orders, best first; 1 blank row left out)"),
        ("a,b,c\n1,2,3\n,,\n\n3,1,2\n,,\n", {}, "2 rankings of 3 items (ranks, 1 = best; 2 blank"),
        ("g,place\nA,2\n,\nB,1\n", {}, "1 = best; items in rows; 1 blank row left out)"),
        ("item,who,rank\na,x,1\n,,\nb,x,2\n", {"layout": "long"}, "; 1 blank row left out)"),
        (
            "a,b\n1,1\n2,1\n",
            {"best": "high", "complete": True},
            "gaps of 1 ranking completed at ran",
        ),
    ],
)
def test_the_source_says_what_was_read(write, text, options, line):
    assert line in str(read(write, text, **options).source)
    assert str(read(write, text, **options).source).startswith("t.csv: ")


# --- declared layouts ---


@pytest.mark.parametrize(
    ("text", "options", "kind", "levels"),
    [
        ("a,b,c\n1,1,3\n", {"layout": "ranks"}, PartialRankings, [[0, 0, 1]]),
        ("a,b,c\n1.5,1.5,3\n", {"layout": "ranks"}, PartialRankings, [[0, 0, 1]]),
        ("a,b,c\n1,,5\n", LONGER, PartialRankings, [[0, -1, 1]]),
        ("a,b,c\n10,5,1\n", LONGER, Rankings, [[2, 1, 0]]),
        ("a,b,c\n9,5,2\n", LONGER | {"best": "high"}, Rankings, [[0, 1, 2]]),
        ("a,b,c\n.3,.2,7\n", {"best": "high"}, Rankings, [[1, 2, 0]]),
        ("a,b,c\n.3,.2,7\n", {"best": "low"}, Rankings, [[1, 0, 2]]),
        ("a;b;c\n0,3;0,2;7\n", {"best": "low", "decimal": ","}, Rankings, [[1, 0, 2]]),
        ("g,x,y\nA,9,1\nB,5,2\n", {"best": "high", "items_in": "rows"}, Rankings, [[0, 1], [1, 0]]),
        ("3,1,2\n1,2,3\n", {"layout": "ranks", "header": False}, Rankings, [[2, 0, 1], [0, 1, 2]]),
        ("3,1,2\n1,2,3\n", {"layout": "orders", "header": False}, Rankings, [[1, 2, 0], [0, 1, 2]]),
        ("2,1,0\n", {"layout": "orders", "header": False}, Rankings, [[2, 1, 0]]),
        ("b,a\nc,b\n", {"layout": "orders", "header": False}, PartialRankings, None),
    ],
)
def test_a_declared_table_is_read_as_told(write, text, options, kind, levels):
    votes = read(write, text, **options)
    assert type(votes) is kind
    assert levels is None or votes.ranks.tolist() == levels


LONG = "voter,item,rank\nx,b,1\nx,a,2\ny,b,2\ny,a,3\ny,c,1\n"


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.replace("rank", "Place"),
        "rank,item,voter\n1,b,x\n2,a,x\n2,b,y\n3,a,y\n1,c,y\n",
        "position,voter,movie name\n1,x,b\n2,x,a\n2,y,b\n3,y,a\n1,y,c\n",
        "p,q,pos\nx,b,1\nx,a,2\ny,b,2\ny,a,3\ny,c,1\n",
    ],
)
def test_long_tables_have_their_columns_in_any_order_that_shows(write, text):
    votes = read(write, text, layout="long")
    assert (votes.items, votes.ranks.tolist()) == (("a", "b", "c"), [[1, 0, -1], [2, 1, 0]])
    assert votes.source.kind == "ranks"


@pytest.mark.parametrize(
    "text",
    [
        "user,movie,r\nx,b,1\nx,a,2\ny,b,2\ny,a,3\ny,c,1\n",
        *(
            LONG.replace("rank", name)
            for name in ("rating", "stars", "points", "p", "time", "value", "r", "rank score")
        ),
        "score,voter,gene\n1,x,b\n2,x,a\n2,y,b\n3,y,a\n1,y,c\n",
        "p,q,r\nx,b,1\nx,a,2\ny,b,2\ny,a,3\ny,c,1\n",
        "p,q,r\nx,1,b\nx,2,a\ny,2,b\ny,3,a\ny,1,c\n",
    ],
)
def test_long_tables_need_to_know_which_numbers_are_best_unless_a_name_says_ranks(write, text):
    with pytest.raises(InputError, match="may contain ranks or scores") as caught:
        read(write, text, layout="long")
    assert [chosen["best"] for _, chosen in caught.value.choices] == ["high", "low"]
    low = read(write, text, layout="long", best="low")
    assert (low.items, low.ranks.tolist()) == (("a", "b", "c"), [[1, 0, -1], [2, 1, 0]])
    high = read(write, text, layout="long", best="high")
    assert high.ranks.tolist() == [[0, 1, -1], [0, 1, 2]]


def test_long_tables_without_names_are_ranking_item_number(write):
    text = "1,1,2\n1,2,1\n2,1,1\n2,2,2\n"
    with pytest.raises(InputError, match="the third column may contain ranks or scores"):
        read(write, text, layout="long", header=False)
    votes = read(write, text, layout="long", header=False, best="low")
    assert (votes.items, votes.ranks.tolist()) == ((1, 2), [[1, 0], [0, 1]])
    assert "long table: ranking 1, item 2, number 3" in str(votes.source)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LONG.replace("3", "2.5"), "not a permutation"),
        (LONG + "x,a,3\n", "line 7: the ranking has item 'a' more than once"),
        (LONG + "x,d,best\n", "line 7: 'best' is not a number"),
        (LONG + "x,,3\n", "line 7: the row names no item"),
        ("a,b\n1,2\n", "a long table has three columns"),
    ],
)
def test_long_tables_that_are_broken(write, text, problem):
    with pytest.raises(InputError, match=problem):
        read(write, text, layout="long")


def test_long_scores_need_to_know_which_are_best(write):
    text = LONG.replace("3", "2.5")
    low = read(write, text, layout="long", best="low")
    assert low.ranks.tolist() == [[1, 0, -1], [2, 1, 0]]
    high = read(write, text, layout="long", best="high")
    assert high.ranks.tolist() == [[0, 1, -1], [0, 1, 2]]


# --- files ---


def test_an_unnamed_index_is_skipped_and_said(write):
    votes = read(write, ",a,b,c\n0,1,0,2\n1,0,1,2\n")
    assert votes.ranks.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert "column without a name skipped" in str(votes.source)


ENTREZ = "entrez,h1,h2\n7157,1,2\n672,2,1\n1956,3,3\n"


@pytest.mark.parametrize(
    ("text", "options", "items"),
    [
        (ENTREZ, {"id_columns": "entrez"}, ("7157", "672", "1956")),
        (
            ENTREZ.replace("1,2", "1.5,1"),
            {"id_columns": "entrez", "best": "low"},
            ("7157", "672", "1956"),
        ),
        ("no,x,rank\n1,A,2\n2,B,1\n", {"id_columns": "no"}, ("A", "B")),
        ("7,1,2\n3,2,1\n", {"id_columns": "1", "header": False, "layout": "ranks"}, ("7", "3")),
    ],
)
def test_items_in_rows_are_named_by_texts_or_else_by_the_first_id(write, text, options, items):
    votes = read(write, text, items_in="rows", **options)
    assert votes.items == items
    named = f"items in rows, named by column {options['id_columns']}" in str(votes.source)
    assert named == (items[0] != "A")


def test_an_id_of_items_does_not_say_where_the_items_are(write):
    with pytest.raises(InputError, match="column 'entrez' may name the items, or the rankings"):
        read(write, ENTREZ.replace("3", "2.5"), id_columns="entrez", best="low")


def test_a_header_of_r_lacks_the_name_of_the_first_column(write):
    votes = read(write, "a,b,c\nr1,1,0,2\nr2,0,1,2\n")
    assert (votes.items, votes.ranks.tolist()) == (("a", "b", "c"), [[1, 0, 2], [0, 1, 2]])


def test_parquet_of_each_kind(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "t.parquet"
    polars.DataFrame({"a": [0, 2], "b": [1, 0], "c": [2, 1]}).write_parquet(path)
    expected = [[0, 1, 2], [2, 0, 1]]
    assert data.read_table(path).ranks.tolist() == data.read(path).ranks.tolist() == expected
    polars.DataFrame({"1st": ["a", "b"], "2nd": ["b", "a"]}).write_parquet(path)
    assert data.read(path).ranks.tolist() == [[0, 1], [1, 0]]
    polars.DataFrame({"a": [0.5, 9.0], "b": [1.5, None]}).write_parquet(path)
    assert data.read_table(path, best="high").ranks.tolist() == [[1, 0], [0, -1]]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"t\.parquet: this is not a readable Parquet file"):
        data.read_table(path)


def test_comments_are_skipped_wherever_a_row_may_begin(write):
    text = '# made up\n#\n\na,b,c\n# the first day\n1,2,3\n"3",1,2\n# the end\n'
    assert read(write, text).ranks.tolist() == [[0, 1, 2], [2, 0, 1]]


@pytest.mark.parametrize("text", ["#a,b,c\n1,2,3\n3,1,2\n", "a,b,c\n1,2,3\n# 2,1,3\n3,1,2\n"])
def test_a_comment_that_may_be_a_row_is_refused(write, text):
    with pytest.raises(
        InputError, match=r"line [13]: the line begins with # and has as many cells"
    ):
        read(write, text)


def test_a_quoted_cell_may_begin_with_a_hash(write):
    votes = read(write, '1st,2nd\n"#1",b\nb,"#1"\n')
    assert votes.items == ("#1", "b")


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("a,b\n0,-1\n", {"layout": "ranks"}, "line 2: -1 is not a rank"),
        ("a,b\n0,0.3\n", {"layout": "ranks"}, "line 2: 0.3 is not a rank.*\n"),
        ("a,a\n0,1\n", {"layout": "ranks"}, "item labels must differ, but 'a' is given twice"),
        ("a,,c\n2,1,3\n", {"layout": "ranks"}, "column 2 has no name"),
        ("a,b\n0,1,2\n", {"layout": "ranks"}, "line 2: .*3 columns, but the first row has 2"),
        ("a,b\n", {"layout": "ranks"}, "no rows below the header"),
        ("a,b\n1,x\n", {"best": "low"}, "line 2: 'x' is not a number|contains texts"),
        ("1st,2nd\nb,a\na,a\n", {}, "line 3: the order names 'a' more than once"),
        ("1st,2nd\nb,a\na,NA\n", {}, "line 3: 'NA' may be an item, or an empty cell"),
        ("a,b\n1st,2nd\n2nd,1st\n", {}, "line 2: '1st' may be an item, or a rank"),
        ('a,b\n"0,1\n', {}, "not a valid table"),
        ("a,b\n0,1\n", {"layout": "votes"}, "layout must be one of"),
        ("a,b\n0,1\n", {"layout": "preflib"}, "layout must be one of"),
        ("a,b\n,NA\n", {"layout": "ranks"}, "no ranking has a number"),
        ("a,b\n1,2\n", {"id_columns": ["a", "b"]}, "no column of items is left"),
        ("x,h1,h2\n9,1,1\n4,1,2\n", ROWS, "line 2: 9 in column x: ranks of 2 items cannot"),
        ("x,h1\n4,2\n9,1\n11,3\n", LOW_ROWS, "column 'x' may number the rows"),
        ("entrez,h1\n4,2\n1,1\n2,3\n", ROWS, "column 'entrez' may not be an item"),
    ],
)
def test_table_broken(write, text, options, problem):
    with pytest.raises(InputError, match=problem):
        read(write, text, **options)


@pytest.mark.parametrize("text", [",,\n,,\n", "a,b\n,\n"])
def test_tables_of_blanks_are_refused(write, text):
    path = write("t.csv", text)
    for reader in data.read, data.read_table, data.read_ballots, data.read_expression:
        with pytest.raises(ValueError, match=r"t\.csv"):
            reader(path)
    with pytest.raises(ValueError, match=r"t\.csv: .* no gene|not in the table|as many"):
        data.read_expression(SAMPLES / "expression.tsv", genes=path)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("It was a dark night.\nA shot rang out.\n", {"layout": "orders", "header": True}),
        ("ann\n0\n0\n", {"layout": "ranks"}),
        ("height\n1.8\n", {"best": "high"}),
    ],
)
def test_one_column_is_not_taken_for_a_table_unless_it_is_said_to_be(write, text, options):
    path = write("t.csv", text)
    with pytest.raises(InputError, match=r"t\.csv: the (table has one column|first row may be)"):
        data.read(path)
    assert data.read_table(path, **options).n == 1


@pytest.mark.parametrize("text", ["a,b\n0,5\n", 'a,b\n"0,5","1,5"\n'])
def test_a_comma_is_not_both_the_decimal_sign_and_the_separator(write, text):
    with pytest.raises(InputError, match="decimal sign, and it separates the columns") as caught:
        read(write, text, best="high", decimal=",")
    assert caught.value.shown


def test_a_decimal_comma_is_offered_only_where_it_works(write):
    with pytest.raises(InputError, match="'1,5' is not a number with a decimal point") as caught:
        read(write, 'a,b\n"0,5","1,5"\n', best="high")
    assert caught.value.choices == []
    with pytest.raises(InputError, match="is not a number with a decimal point") as caught:
        read(write, "a;b\n0,5;1,5\n", best="high")
    assert [chosen["decimal"] for _, chosen in caught.value.choices] == [","]


def test_completing_is_said_and_is_the_rngs(write):
    text = "a,b,c\n" + "1,1,1\n" * 500
    first, second = (read(write, text, best="high", complete=True, rng=4) for _ in range(2))
    assert first == second
    assert len({tuple(row) for row in first.ranks.tolist()}) == 6
    assert first.source.completed == 500


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("50%", "'50%' is a percentage, not a number.*; remove the percent signs"),
        ("1:02:03", "'1:02:03' is a time, not a number.*; convert times to seconds"),
        ("True", "'True' is true or false, not a number.*; write 1 and 0"),
    ],
)
def test_a_cell_that_needs_converting_says_so(write, cell, problem):
    for text in f"a,b\n1,2\n{cell},1\n", f"a,b\n{cell},x\ny,{cell}\n":
        for options in {"best": "high"}, {"layout": "orders", "header": True}:
            if "best" in options and "x" in text:
                continue
            with pytest.raises(InputError, match=problem):
                read(write, text, **options)


def test_ties_in_braces_are_refused(write):
    with pytest.raises(InputError, match=r"'\{x,y\}' is part of a tie"):
        read(write, '1st,2nd\n"{x,y}",z\nz,x\n')


def test_a_thousands_separator_is_not_called_a_decimal_comma(write):
    with pytest.raises(InputError, match="'1,200' may separate thousands") as caught:
        read(write, "a;b\n1,200;900\n3;1,000,000\n", best="high")
    assert caught.value.choices == []
    with pytest.raises(InputError) as caught:
        read(write, "a;b\n0,125;900\n3;1,200\n", best="high")
    assert [options["decimal"] for _, options in caught.value.choices] == [","]


@pytest.mark.parametrize("header", ["score a,score b", "points_a,points_b", "stars_a,stars_b"])
def test_ranks_under_names_of_scores_are_refused(write, header):
    text = f"{header}\n1,2\n2,1\n1,2\n"
    with pytest.raises(
        InputError, match="the numbers may be scores, judging by the column name"
    ) as caught:
        read(write, text)
    layouts = [(options["layout"], options.get("best")) for _, options in caught.value.choices]
    assert layouts == [("scores", "high"), ("scores", "low"), ("ranks", None)]


@pytest.mark.parametrize(
    ("header", "options", "skipped"),
    [
        ("voter,item,rank,note", {}, [["note"]]),
        ("note,voter,item,rank", {}, [["note"]]),
        ("voter,item,score,when", {"best": "low"}, [["when"]]),
        ("voter,item,score,when", {}, [["when"]] * 2),  # the highest or the lowest is best
        ("a,b,c,d,e,f", {"best": "low"}, []),  # too many to list
    ],
)
def test_a_long_table_of_more_columns_lists_the_options_that_skip_them(
    write, header, options, skipped
):
    names = header.split(",")
    cells = {"voter": "xxyy", "item": "pqpq", "rank": "1221", "score": "1221"}
    rows = zip(*(cells.get(name, "5678") for name in names), strict=True)
    text = "\n".join([header, *map(",".join, rows)])
    with pytest.raises(InputError, match=rf"three columns .*, not {len(names)}") as caught:
        read(write, text, layout="long", **options)
    choices = [chosen for _, chosen in caught.value.choices]
    assert [chosen["id_columns"] for chosen in choices] == skipped
    assert (caught.value.remedy is None) == bool(skipped)
    for chosen in choices:
        assert read(write, text, **chosen).items == ("p", "q")


@pytest.mark.parametrize("options", [{"best": "high"}, {"layout": "ranks"}])
def test_orders_declared_as_numbers_are_refused_with_the_layout(write, options):
    text = "1st,2nd\nann,bob\nbob,ann\nann,bob\n"
    with pytest.raises(InputError, match=r"contain texts, such as '\w+', but") as caught:
        read(write, text, **options)
    assert [chosen for _, chosen in caught.value.choices] == [{"layout": "orders"}]


def test_the_side_of_the_items_is_refused_for_orders(write):
    with pytest.raises(InputError, match=r"t\.csv: the table contains orders: the items are"):
        read(write, "1st,2nd\nann,bob\nbob,ann\n", items_in="rows")


def test_a_lone_column_of_orders_contains_items_not_names_of_rows(write):
    path = write("votes.csv", "p,q,r\nann,,\nbob,,\n")
    votes = data.read(path, layout="orders", header=True)
    assert (votes.items, votes.ranks.tolist()) == (("ann", "bob"), [[0, -1], [-1, 0]])
