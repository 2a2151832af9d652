"""`read_groups`: one file, of which a column says whose each row is."""

import tracemalloc

import numpy as np
import polars
import pytest

from fedrank import Rankings, data
from fedrank.exceptions import InputError
from helpers.paths import SAMPLES

HIGH = {"layout": "scores", "best": "high"}


def sizes(parties):
    return {party: len(rankings) for party, rankings in parties.items()}


@pytest.mark.parametrize("name", ["cvr.csv", "cvr.xlsx"])
def test_precincts_together_are_the_whole_sheet(name):
    parties = data.read_groups(SAMPLES / name, "Precinct", complete=True, rng=5)
    assert sizes(parties) == {"Orono": 2, "Bangor": 2}  # the blank ballot is nobody's
    whole = data.read_ballots(SAMPLES / name, complete=True, rng=5)
    assert np.concatenate([p.ranks for p in parties.values()]).tolist() == whole.ranks.tolist()
    assert {party.items for party in parties.values()} == {whole.items}


def test_ballot_options_decide_whose_ballots_count():
    kept = {"keep_blank": True, "complete": True, "rng": 5}
    parties = data.read_groups(SAMPLES / "cvr.csv", "Precinct", **kept)
    assert sizes(parties) == {"Orono": 2, "Bangor": 3}
    stopped = data.read_groups(SAMPLES / "cvr.csv", "Precinct", overvote="stop")
    assert sizes(stopped) == {"Orono": 1, "Bangor": 2}  # ballot 2 begins with an overvote
    one = data.read_groups(SAMPLES / "cvr.csv", "Precinct", choices=["DEM Governor 2nd Choice"])
    assert sizes(one) == {"Orono": 2, "Bangor": 2}


@pytest.mark.parametrize(
    ("content", "options", "ranks"),
    [
        ("ann,who,bob\n1,x,2\n2,y,1\n1,x,2\n", {}, {"x": [[0, 1], [0, 1]], "y": [[1, 0]]}),
        ("who,ann,bob\nx,0,1\ny,1,0\n", {}, {"x": [[0, 1]], "y": [[1, 0]]}),
        ("ann,bob,who\n0.5,2,7\n3,1,8\n", {"best": "high"}, {"7": [[1, 0]], "8": [[0, 1]]}),
        ("1st,2nd,who\nbob,ann,x\nann,bob,y\n", {}, {"x": [[1, 0]], "y": [[0, 1]]}),
        (",who,ann,bob\nr1,x,0,1\nr2,y,1,0\n", {}, {"x": [[0, 1]], "y": [[1, 0]]}),
        ("sample,who,ann,bob\ns1,x,9,1\ns2,y,1,9\n", HIGH, {"x": [[0, 1]], "y": [[1, 0]]}),
    ],
)
def test_the_rest_of_a_table_is_read_by_the_same_rules(write, content, options, ranks):
    parties = data.read_groups(write("table.csv", content), " who ", **options)
    assert {party: mine.ranks.tolist() for party, mine in parties.items()} == ranks
    assert all(mine.items == ("ann", "bob") for mine in parties.values())


@pytest.mark.parametrize(
    "content",
    [
        "ann,bob,who\n0.5,2,7\n3,1,8\n",
        "sample,who,ann,bob\ns1,x,9,1\ns2,y,1,9\n",
        "id,who,ann,bob\n1,x,1,2\n2,y,2,1\n",
        "ann,bob,who\n0,1,x\n1,1,y\n",
    ],
)
def test_the_rest_of_a_table_is_not_guessed_either(write, content):
    file = write("table.csv", content)
    with pytest.raises(InputError) as caught:
        data.read_groups(file, "who")
    assert caught.value.choices
    for _, options in caught.value.choices:
        data.read_groups(file, "who", **options)


def test_parties_without_a_ranking_and_blank_ballots_are_counted(write):
    text = "rank1,rank2,who\nann,bob,x\nundervote,,y\nbob,ann,z\n,,x\n"
    parties = data.read_groups(write("table.csv", text), "who")
    assert sizes(parties) == {"x": 1, "z": 1}
    line = (
        "table.csv: 2 rankings of 2 items (ballots, best first; column who names the clients; "
        "2 blank ballots left out; 1 client without a ranking left out{})"
    )
    assert str(parties["x"].source) == line.format("; 1 of its 2 rankings used")
    assert str(Rankings.concat(parties.values()).source) == line.format("")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ann,bob,who\n1,2,x\n,,\n2,1,y\n,,x\n,,z\n", "3 blank rows left out; 1 client without a"),
        ("rank1,rank2,who\nann,bob,x\n,,\nbob,ann,y\n", "1 blank ballot left out"),
        ("sample,A,B,who\ns,1,2,x\n,,,\nt,2,1,y\n", "1 blank row left out"),
    ],
)
def test_blank_rows_belong_to_nobody_and_are_counted(write, text, told):
    layout = "expression" if "sample" in text else None
    parties = data.read_groups(write("table.csv", text), "who", layout=layout)
    assert sizes(parties) == {"x": 1, "y": 1}
    assert [each.ranks.tolist() for each in parties.values()] in (
        [[[0, 1]], [[1, 0]]],
        [[[1, 0]], [[0, 1]]],  # of expression the highest is best
    )
    assert told in str(parties["x"].source)


def test_parquet_has_columns_too(tmp_path):
    frame = polars.DataFrame({"ann": [0, 1, 0], "who": ["x", "y", "x"], "bob": [1, 0, 1]})
    frame.write_parquet(tmp_path / "votes.parquet")
    parties = data.read_groups(tmp_path / "votes.parquet", "who")
    assert {party: mine.ranks.tolist() for party, mine in parties.items()} == {
        "x": [[0, 1], [0, 1]],
        "y": [[1, 0]],
    }


def test_parquet_may_hold_ballots(tmp_path):
    columns = {"who": ["x", "x", "y"], "rank1": ["ann", None, "bob"], "rank2": ["bob", None, "ann"]}
    polars.DataFrame(columns).write_parquet(tmp_path / "votes.parquet")
    parties = data.read_groups(tmp_path / "votes.parquet", "who")
    assert {party: mine.ranks.tolist() for party, mine in parties.items()} == {
        "x": [[0, 1]],  # the empty ballot is nobody's
        "y": [[1, 0]],
    }


def test_a_header_without_a_corner_is_that_of_the_columns_after_the_names(write):
    text = "ann,who,bob\ns1,9,7,1\ns2,1,8,9\n"
    parties = data.read_groups(write("table.csv", text), "who", best="high")
    assert {party: mine.ranks.tolist() for party, mine in parties.items()} == {
        "7": [[0, 1]],
        "8": [[1, 0]],
    }


@pytest.mark.parametrize(
    ("layout", "options", "problem"),
    [
        ("ballots", {"overvote": "drop"}, "overvote must be"),
        ("expression", {"genes_in": "cells"}, "genes_in must be"),
        ("expression", {"ties": "flip"}, "ties must be"),
        ("scores", {"ties": "index"}, "ties is for the layout expression"),
        ("ranks", {"items_in": "rows"}, "items_in must be one of columns"),
        ("ranks", {"header": False}, "header must not be False"),
    ],
)
def test_bad_options_are_refused(write, layout, options, problem):
    file = write("table.csv", "sample,who,ann,bob\ns1,x,9,1\n")
    with pytest.raises(ValueError, match=problem):
        data.read_groups(file, "who", layout=layout, **options)


def test_a_declared_layout_is_read_as_told(write):
    file = write("table.csv", "ann,bob,who\n1,2,x\n")
    high = data.read_groups(file, "who", layout="scores", best="high")
    assert high["x"].ranks.tolist() == [[1, 0]]
    assert data.read_groups(file, "who", layout="ranks")["x"].ranks.tolist() == [[0, 1]]
    with pytest.raises(InputError, match="not declared which scores are best"):
        data.read_groups(file, "who", layout="scores")


def test_genes_may_be_chosen(write):
    file = write("table.csv", "sample,who,TP53,EGFR,MYC\ns1,x,9,1,5\n")
    parties = data.read_groups(file, "who", layout="expression", genes=["MYC", "TP53"])
    assert parties["x"].items == ("MYC", "TP53")
    assert parties["x"].ranks.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("content", "by", "problem"),
    [
        ("ann,bob,who\n0,1,x\n", "whom", r"no column 'whom'; the columns are ann, bob, who"),
        ("ann,bob,who\n", "who", r"no rows below the header"),
        ("who\nx\n", "who", r"no other column"),
        ("ann,bob,who\n0,1,x\n1,0,\n", "who", r"line 3: the cell in column 'who' is empty"),
        ("ann,bob,who\n0,1,x\n1,0,y,3\n", "who", r"line 3: .*3 columns, but the first row has 2"),
    ],
)
def test_bad_tables_are_refused_with_their_place(write, content, by, problem):
    with pytest.raises(ValueError, match=rf"table\.csv.*{problem}"):
        data.read_groups(write("table.csv", content), by)


def test_memory_does_not_grow_with_a_file_of_expression(write):
    rng = np.random.default_rng(0)
    head = ",".join(["sample", "who", *(f"g{i}" for i in range(1000))])
    rows = [
        ",".join([f"s{i}", f"p{i % 2}", *map(repr, rng.random(1000).tolist())]) for i in range(500)
    ]
    file = write("table.csv", "\n".join([head, *rows]))
    del rows
    assert file.stat().st_size > 9e6
    data.read_groups(SAMPLES / "cvr.csv", "Precinct")  # what is loaded once
    tracemalloc.start()
    try:
        parties = data.read_groups(file, "who", layout="expression", genes_in="columns")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sizes(parties) == {"p0": 250, "p1": 250}
    # The rankings of all, and of each.
    assert peak - 2 * sum(mine.ranks.nbytes for mine in parties.values()) < 5e6


def test_a_layout_without_columns_is_refused():
    with pytest.raises(ValueError, match="layout must be one of ballots, expression, ranks"):
        data.read_groups(SAMPLES / "cvr.csv", "Precinct", layout="preflib")


def test_ties_and_gaps_are_kept():
    parties = data.read_groups(SAMPLES / "cvr.csv", "Precinct")
    levels = {party: rankings.ranks.tolist() for party, rankings in parties.items()}
    assert levels == {"Orono": [[0, 1, -1], [1, -1, 0]], "Bangor": [[-1, 0, -1], [-1, -1, 0]]}
    with pytest.raises(ValueError, match="a blank ballot cannot be kept"):
        data.read_groups(SAMPLES / "cvr.csv", "Precinct", keep_blank=True)


def test_genes_in_rows_have_no_parties(write):
    file = write("table.csv", "gene,chromosome,s1\nTP53,17,1\n")
    with pytest.raises(ValueError, match="the genes are in the rows"):
        data.read_groups(file, "chromosome", layout="expression")


def test_options_of_tables_are_refused_for_ballots(write):
    path = write("cvr.csv", "voter,town,1st choice,2nd choice\n1,N,ann,bob\n2,S,bob,ann\n")
    assert list(data.read_groups(path, by="town")) == ["N", "S"]
    with pytest.raises(InputError, match="but options of tables are given"):
        data.read_groups(path, by="town", id_columns=["voter"])
