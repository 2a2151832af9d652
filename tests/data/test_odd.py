"""What a hostile file contains: zeros, comments, thousands, titles, units, archives."""

import zipfile

import pytest

from fedrank import PartialRankings, data
from fedrank.exceptions import InputError
from helpers.command import refused, run


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("a,b,c,d\n1,2,3,4\n1,2,0,0\n", {}, r"line 3: 0 and 4 both occur among ranks of 4 items"),
        ("a,b,c\n0,5,2\n", {"items_in": "columns"}, "line 2: 0 and 5 both occur among ranks of 3"),
        ("i,v,w\na,1,2\nb,2,1\nc,0,3\n", {"items_in": "rows"}, "line 4: 0 and 3 both occur"),
        ("a,b,c,d\n1,2,,\n1,0,0,0\n", {}, "line 3: 0 occurs 3 times in a ranking, and the other"),
        ("a,b,c,d,e\n1,2,0,0,0\n", {}, "line 2: 0 occurs 3 times in a ranking"),
        (
            "voter,item,rank\n1,a,1\n1,b,2\n1,c,0\n2,b,1\n2,a,2\n2,c,3\n",
            {"layout": "long", "best": "low"},
            "line 4: 0 and 3 both occur",
        ),
    ],
)
def test_a_zero_among_ranks_that_may_mean_not_ranked_is_refused(write, text, options, problem):
    path = write("votes.csv", text)
    with pytest.raises(InputError, match=problem) as caught:
        data.read(path, **{"layout": "ranks", **options})
    assert "leave the cells of unranked items empty" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "ranks"),
    [
        ("0,0,2,3", [0, 0, 1, 2]),  # competition ranks
        ("0,0,2.5,2.5", [0, 0, 1, 1]),  # mid-ranks behind a tie
        ("0,1,1,3", [0, 1, 1, 2]),
        ("0,0,,2", [0, 0, -1, 1]),
    ],
)
def test_a_zero_that_is_the_best_rank_is_read(write, row, ranks):
    votes = data.read(write("votes.csv", f"a,b,c,d\n{row}\n"), layout="ranks")
    assert votes.ranks.tolist() == [ranks]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("t.csv", "# one\na,b,c\n1,2,3\n# two\n3,1,2\n", {}),
        ("t.csv", "# one\n1st,2nd\nx,y\n# two\ny,x\n", {}),
        ("t.csv", "# one\n1st choice,2nd choice\nx,y\n# two\ny,x\n", {}),
        ("t.csv", "# one\ngene,s1\nA,2\n# two\nB,1\n", {"layout": "expression"}),
        ("t.csv", "# one\n2,1,3\n# two\n2,3,1\n", {"layout": "jester"}),
    ],
)
def test_comment_lines_are_counted(write, name, text, options):
    assert "2 comment lines skipped" in str(data.read(write(name, text), **options).source)


def test_comment_lines_of_the_table_of_several_parties_are_counted_once(write):
    path = write("t.csv", "# one\nsite,a,b,c\nx,1,2,3\n# two\ny,3,1,2\n")
    assert str(data.read_groups(path, "site")["x"].source).count("2 comment lines skipped") == 1


@pytest.mark.parametrize("header", ["1st,2nd,3rd", "1st choice,2nd choice,3rd choice"])
def test_a_comment_that_may_be_a_ballot_is_refused(write, header):
    path = write("t.csv", f"{header}\nann,bob,#1 fan\n#1 fan,bob\nbob,ann,#1 fan\n")
    with pytest.raises(InputError, match="line 3: the line begins with #: it may be a comment, or"):
        data.read(path)
    by = write("by.csv", f"{header},site\nann,bob,cy,x\n#1 fan,bob\nbob,ann,cy,y\n")
    with pytest.raises(InputError, match="line 3: the line begins with #"):
        data.read_groups(by, "site")


def test_points_that_may_separate_thousands_are_refused_unless_the_sign_is_declared(write):
    path = write("t.csv", "a;b;c\n1.234;900;1.100\n12;13;14\n")
    with pytest.raises(InputError, match=r"the point in '1\.234' may separate thousands") as caught:
        data.read(path, best="high")
    assert caught.value.choices == [
        (
            "the point is the decimal sign",
            {"layout": "scores", "best": "high", "decimal": "."},
        )
    ]
    declared = data.read(path, best="high", decimal=".")
    assert declared.ranks.tolist() == [[1, 0, 2], [2, 1, 0]]


@pytest.mark.parametrize(
    "text", ["a;b\n1.234;900\n0.5;3\n", "a;b\n0.123;0.456\n", "a,b\n1.234,900\n"]
)
def test_other_points_are_decimal_signs(write, text):
    assert data.read(write("t.csv", text), best="high").items == ("a", "b")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("12 pts,10 pts,8 pts\nann,bob,cy\ncy,ann,bob\n", "does not say where the best item is"),
        (
            "least preferred,middle,most preferred\nbob,cy,ann\ncy,ann,bob\n",
            "'least preferred' is a position without a number",
        ),
        ("My survey\na,b,c\n1,2,3\n3,1,2\n", "line 1: 'My survey' looks like a title"),
        ("My survey,,\na,b,c\n1,2,3\n3,1,2\n", "line 1: 'My survey' looks like a title"),
        ("a,b,c\npct,pct,pct\n1,2,3\n3,2,1\n", "line 2: 'pct' is not a number: between the head"),
        ("Rank 1 (worst),Rank 2 (best)\nann,bob\n", r"'Rank 1 \(worst\)' contradicts its number"),
    ],
)
def test_a_header_that_no_option_mends_is_refused_without_choices(write, text, problem):
    with pytest.raises(InputError, match=problem) as caught:
        data.read(write("t.csv", text))
    assert caught.value.choices == []


def test_a_header_that_shares_no_cell_with_the_orders_is_not_offered_as_an_order(write):
    with pytest.raises(InputError, match="put a header such as 1st, 2nd, … above it") as caught:
        data.read(write("t.csv", "p,q\nann,bob\nbob,ann\n"))
    assert [options for _, options in caught.value.choices] == [{"header": True}]


def test_positions_may_say_in_brackets_which_is_best(write):
    votes = data.read(write("t.csv", "Rank 1 (best),Rank 2,Rank 3 (worst)\nbob,cy,ann\n"))
    assert PartialRankings.from_orders(
        [["bob", "cy", "ann"]], items=votes.items
    ).ranks.tolist() == (votes.ranks.tolist())


def test_a_second_byte_order_mark_is_no_part_of_a_label(write):
    assert data.read(write("t.csv", "\ufeff\ufeffa,b,c\n1,2,3\n3,1,2\n")).items == ("a", "b", "c")


def test_a_zipped_table_is_not_taken_for_jester(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", "2,1,2\n2,2,1\n")
    with pytest.raises(InputError, match=r"the archive contains t\.csv, .*; unpack it first"):
        data.read(path)
    assert data.read(path, layout="jester").ranks.tolist() == [[1, 0], [0, 1]]


def test_the_command_names_the_file_whose_orders_have_no_side(write):
    path = write("t.csv", "1st,2nd\nann,bob\nbob,ann\n")
    assert "t.csv: the table contains orders" in refused(
        run("aggregate", path, "--items-in", "rows")
    )


def test_the_command_offers_the_decimal_point(write):
    path = write("t.csv", "a;b;c\n1.234;900;1.100\n12;13;14\n")
    assert "--decimal . --layout scores --best high" in run("aggregate", path).stderr
