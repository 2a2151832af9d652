"""What is read is declared or certain: no file is read reversed, or with an id as an item."""

from itertools import product

import pytest

from fedrank import PartialRankings, data
from fedrank.data import tables
from fedrank.data._matrix import from_matrix
from fedrank.exceptions import InputError
from fedrank.rankings.partial import as_partial
from helpers.readings import BY_ROW, CASES

IDS = [case.name for case in CASES]


def same_orders(votes, orders):
    """Return whether rankings are those of the orders, whose ties are lists."""
    expected = PartialRankings.from_orders(orders, items=votes.items)
    return as_partial(votes).ranks.tolist() == expected.ranks.tolist()


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_file_is_read_as_declared(write, case):
    votes = data.read(write("votes.csv", case.text), **case.options)
    assert same_orders(votes, case.orders)
    assert len(votes) == len(case.orders)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_file_is_refused_unless_it_is_certain(write, case):
    path = write("votes.csv", case.text)
    if case.certain:
        assert same_orders(data.read(path), case.orders)
        return
    with pytest.raises(InputError) as caught:
        data.read(path)
    error = caught.value
    lines = case.text.splitlines()
    assert [line.partition(": ")[0] for line in error.shown] == ["line 1", "line 2"]
    assert lines[0].replace(",", ", ").replace(";", ", ") in str(error)
    # Every choice works, none makes an id an item without a word, and one of them is right.
    read = [data.read(path, **options) for _, options in error.choices]
    for votes, (meaning, _) in zip(read, error.choices, strict=True):
        said = meaning.endswith("it is an item like the others")
        assert said or not ids_of(case) & set(map(str, votes.items))
    assert any(
        same_orders(votes, case.orders) for votes in read if set(votes.items) == labels_of(case)
    )


@pytest.mark.parametrize("case", BY_ROW, ids=[case.name for case in BY_ROW])
def test_a_file_of_several_clients_is_read_as_declared_or_refused(write, case):
    path = write("votes.csv", case.by_region)

    def whole(**options):
        parties = data.read_groups(path, "region", **options)
        assert list(parties) == ["N", "S"]
        return all(
            same_orders(votes, case.orders[start::2])
            for start, votes in enumerate(parties.values())
        )

    assert whole(**case.options)
    if case.certain:
        assert whole()
        return
    with pytest.raises(InputError) as caught:
        data.read_groups(path, "region")
    assert [line.partition(": ")[0] for line in caught.value.shown] == ["line 1", "line 2"]
    assert caught.value.choices
    for _, options in caught.value.choices:
        data.read_groups(path, "region", **options)


NUMBERED = [
    "gene,rank1,rank2,rank3\nTP53,1,2,1\nBRCA,2,1,DNF\nKRAS,3,3,2\n",
    "gene,rank1,rank2,rank3\nTP53,1,=2,1\nBRCA,3,=2,3\nKRAS,2,1,2\n",
    "choice_1,choice_2,choice_3\nann,bob,2nd\nbob,ann,cy\n",
    "rank1,rank2\nann,bob\nbob,7\n",
    "gene,1st choice,2nd choice\nA,1,2\nB,2,1\nC,3,3\n",
    "1st choice,2nd choice\n1,2\n2,1\n",
    "gene,rank_1,score\nTP53,1,9\nBRCA,2,5\nKRAS,3,3\n",
    "count,rank1,rank2\n3,1,2\n4,2,1\n",
    "place1,place2\n1,DNF\nDNF,1\n",
    "gene,place 1,place 2\nA,1,2\nB,2,1\nC,3,3\n",
    "top,mid,bottom\n1,2,3\n3,1,2\n",
    "favourite,second,third\n1,2,3\n3,1,2\n",
    "winner,runner-up\n1,2\n1,2\n1,2\n",
    "top1,top2,top3\n1,2,3\n3,1,2\n",
]


@pytest.mark.parametrize("text", NUMBERED)
def test_a_number_below_positions_is_refused_with_choices_that_work(write, text):
    path = write("votes.csv", text)
    with pytest.raises(InputError, match="the header names positions") as caught:
        data.read(path)
    assert [line.partition(": ")[0] for line in caught.value.shown] == ["line 1", "line 2"]
    assert caught.value.choices
    for _, options in caught.value.choices:
        data.read(path, **options)


def test_a_column_of_counts_is_refused_with_the_first_rows(write):
    with pytest.raises(InputError, match="how often each ballot counts") as caught:
        data.read(write("votes.csv", "n,rank1,rank2\n5,Ann,Bob\n3,Bob,Ann\n"))
    assert caught.value.shown == ("line 1: n, rank1, rank2", "line 2: 5, Ann, Bob")


def test_choices_are_tried_on_the_first_rankings_only(write, monkeypatch):
    sizes = []

    def counted(grid, matrix):
        sizes.append(len(matrix.values))
        return from_matrix(grid, matrix)

    monkeypatch.setattr(tables, "from_matrix", counted)
    path = write("votes.csv", "a,b,c\n" + "1,1,3\n1,2,3\n" * 500)
    with pytest.raises(InputError) as caught:
        data.read(path)
    assert len(caught.value.choices) == len(sizes) == 3
    assert set(sizes) == {tables.MAX_TRIED_ROWS}
    assert len(data.read(path, layout="ranks")) == 1000


def test_a_file_whose_first_rankings_are_all_empty_is_refused_and_not_read(write):
    path = write("votes.csv", "who,a,b,c\n" + "x,,,\n" * 400 + "y,1,2,3\n")
    with pytest.raises(InputError, match="cells are empty") as caught:
        data.read(path)
    assert caught.value.choices
    for _, options in caught.value.choices:
        assert len(data.read(path, **options)) > 0


def labels_of(case):
    return {
        label
        for order in case.orders
        for each in order
        for label in (each if isinstance(each, list) else [each])
    }


def ids_of(case):
    """Return the columns that are certainly no items."""
    return set(case.options.get("id_columns", ())) | {"patient", "gene", "runner", "voter"}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_no_option_alone_makes_an_id_an_item(write, case):
    path = write("votes.csv", case.text)
    layouts = (None, "ranks", "scores", "orders", "long")
    for layout, best, header in product(layouts, (None, "low", "high"), (None, True)):
        try:
            votes = data.read(path, layout=layout, best=best, header=header)
        except InputError:
            continue
        assert not ids_of(case) & set(map(str, votes.items))


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("a,b\n1,2\n2,1\n", {}, "both the rows and the columns are complete rankings"),
        ("a,b,c\n1,1,1\n2,2,2\n", {}, "the columns are complete rankings, and the rows are not"),
        ("a,b,c\n1,1,1\n2,2,2\n", {"layout": "ranks"}, "the columns are complete rankings"),
        ("1,2,3\n3,1,2\n", {}, "the first row contains numbers"),
        ("1,2,3\n3,1,2\n", {"header": False}, "there is no header of item names"),
        ("gene,1,2\nA,1,2\nB,2,1\n", {}, "the first row contains numbers"),
        ("a,b\nb,a\na,b\n", {}, "the first row may be a header, or an order"),
        ("ann,bob\ncy,dan\ndan,cy\n", {}, "the first row may be a header, or an order"),
        ("Ann,Bob,Cy\nbob,ann,cy\ncy,ann,bob\n", {}, "the first row may be a header, or an order"),
        ("p,q\nann,bob\nbob,ann\n", {}, "the first row may be a header, or an order"),
        ("rank1,rank2,rank3\n1,2,3\n3,1,2\n", {}, "the header names positions"),
        ("place 1,place 2\n1,2\n1,2\n", {}, "the header names positions"),
        ("x,a,b\n3,1,2\n", {}, "column 'x' may number the rows"),
        ("x,a,b\n0,1,2\n", {}, "column 'x' may number the rows"),
        ("a,b,c\n1,2,3\n1,,2\n", {}, "cells are empty"),
        ("a,b,c\n1,2,3\n0,1,2\n", {}, "not every row is a permutation"),
        ("a,b,c\n1,2,3\n2,3,1\n", {"layout": "scores"}, "not declared which scores are best"),
        ("s,a,b\nx,5,9\ny,7,2\n", {"best": "low"}, "column 's' may name the items, or the rank"),
        (
            "id,a,b\n1,5,9\n",
            {"best": "low", "items_in": "columns"},
            "column 'id' may not be an item",
        ),
        ("PatientID,a,b\n7,1,2\n", {}, "column 'PatientID' may not be an item"),
        ("entrez,h1,h2\n7,1,2\n6,2,1\n9,3,3\n", {}, "column 'entrez' may not be an item"),
        (
            "mrn,a,b,c\n4711,1,1,3\n17,1,2,3\n",
            {"layout": "ranks"},
            "4711 in column mrn: ranks of 4",
        ),
        (
            "x,a,b,c\n4711,1,1,3\n17,1,2,3\n",
            {"layout": "ranks"},
            "ranks of 4 items cannot exceed 4",
        ),
        ("a,b,c\n9,5,2\n", {"layout": "ranks"}, "9 in column a: ranks of 3 items cannot exceed 3"),
        ("patient,a,b\np,1,2\nq,2,1\n", {}, "both the rows and the columns are complete"),
        ("count,1st,2nd\n5,ann,bob\n6,bob,ann\n", {}, "some columns contain texts, and others"),
        ("id,a,b\nx1,1,2\n7,1,2\n", {}, "column 'id' contains numbers and texts, such as 'x1'"),
        ("ann\nbob\nann\n", {}, "the table has one column"),
        ("time\n61.5\n59\n", {}, "the table has one column"),
        ("ann bob\n1 2\n2 1\n", {}, "separate columns, and spaces do not"),
        ("#,a,b\n7,1,2\n", {"layout": "ranks"}, "begins with #"),
        ("year,a,b\n2001,1,2\n2005,2,1\n", {}, "column 'year' may not be an item"),
        ("x,a,b\n1,7,2\n5,2,7\n6,1,7\n", {"best": "low"}, "column 'x' may number the rows"),
        ("who,item,rank\nx,a,1\nx,b,2\n", {}, "some columns contain texts, and others numbers"),
        ("n,t,a,b\n1,x,1,2\n2,y,2,1\n", {}, "column 't' contains texts"),
        ("x,y,z\nv1,ann,bob\nv2,bob,cy\n", {"header": True}, "column 'x' may name the rows"),
        ("team,votes\na,3\nb,2\nc,1\n", {}, "column 'votes' may contain ranks or scores"),
        ("team,votes\na,3\nb,2\n", {"items_in": "rows"}, "the numbers are not certainly ranks"),
        ("a,3\nb,2\nc,1\n", {"header": False}, "the column of numbers may contain ranks or scores"),
        ("ann,bob,bib\n6,5,1\n5,6,2\n4,9,3\n", {"best": "high"}, "'bib' may number the rows"),
        ("ann,bib,bob\n6,7,5\n5,8,6\n4,9,1\n", {"best": "low"}, "'bib' may number the rows"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_with_choices_that_work(
    write, text, options, problem
):
    path = write("votes.csv", text)
    with pytest.raises(InputError, match=problem) as caught:
        data.read(path, **options)
    if "begins with" not in problem:
        assert caught.value.choices
        shown = [line.partition(": ")[0] for line in caught.value.shown]
        assert shown == ["line 1", "line 2"]
        for meaning, chosen in caught.value.choices:
            assert ("per row" in meaning) <= (chosen.get("items_in") != "rows")
            assert options.items() <= chosen.items() or "id_columns" in chosen
            data.read(path, **chosen)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("site,a,b,c\n0,1,2,3\n0,2,3,1\n", {}),
        ("site,a,b,c\n4,1,2,3\n4,2,3,1\n", {}),
        ("entry,a,b\n3,1,1\n1,2,1\n2,1,2\n", {"layout": "ranks"}),
        ("entry,a,b\n17,5,5\n3,4,5\n12,5,4\n", {"best": "high"}),
    ],
)
def test_a_first_column_that_may_number_the_rows_is_refused(write, text, options):
    path = write("votes.csv", text)
    with pytest.raises(InputError, match="may number the rows") as caught:
        data.read(path, **options)
    name = text.partition(",")[0]
    offered = [data.read(path, **chosen) for _, chosen in caught.value.choices]
    assert [name in votes.items for votes in offered] == [False, True]
    # What is declared is read.
    declared = {"layout": "ranks", **options, "items_in": "columns"}
    if "best" in options:
        declared["layout"] = "scores"
    assert name in data.read(path, **declared).items


@pytest.mark.parametrize("text", ["id,count\n1,2\n2,1\n", "Name,Name\nann,y\nann,w\n"])
def test_a_table_of_ids_alone_is_refused(write, text):
    with pytest.raises(InputError):
        data.read(write("votes.csv", text))


def test_ballots_are_no_choice_beside_a_comment_that_may_be_one(write):
    path = write("votes.csv", "rank1,rank2\n1,2\n#note\n2,1\n")
    with pytest.raises(InputError, match="the header names positions") as caught:
        data.read(path)
    assert {options["layout"] for _, options in caught.value.choices} == {"ranks", "scores"}
    with pytest.raises(InputError, match="it may be a comment, or a ballot"):
        data.read(path, layout="ballots")


def test_a_single_column_beside_names_is_of_ranks_if_its_name_says_so(write):
    path = write("votes.csv", "team,Final\na,3\nb,2\nc,1\n")
    with pytest.raises(InputError, match="may contain ranks or scores"):
        data.read(path)
    path = write("votes.csv", "team,rank1\na,3\nb,2\nc,1\n")
    with pytest.raises(InputError, match="the header names positions"):
        data.read(path)
