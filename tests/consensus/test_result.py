"""A consensus behaves like the list of its labels, and becomes frames, CSV, JSON and HTML."""

import csv
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import (
    Borda,
    Consensus,
    FederatedConsensus,
    Mallows,
    PartialRankings,
    Rankings,
    Study,
    aggregate,
    federate,
    kendall_distance,
)
from fedrank.consensus import tables
from fedrank.exceptions import InputError, MissingExtraError
from helpers.strategies import profiles

GENES = ["TP53", "BRCA1", "EGFR", "KRAS"]
VOTES = Rankings([[1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]], items=GENES)
NAMED = {"north": VOTES, "east": VOTES, "south": VOTES, "west": VOTES}


def results():
    """One result of each kind."""
    return [
        aggregate(VOTES),
        aggregate(VOTES, "kemeny"),
        aggregate(VOTES, "footrule"),
        aggregate(VOTES.ranks, "lehmer", rng=0),
        federate(NAMED, rng=0, dropouts=["west"]),
        federate([VOTES.ranks] * 4, rng=0),
        federate(NAMED, "kemeny", rng=0, rounds=3, fit_phi=True, dropouts={"east": (1, "mask")}),
        federate(NAMED, "kemeny", rng=0, secure=False, fit_phi=True, window=1),
        federate(NAMED, "lehmer", secure=False, rng=0),
    ]


RESULTS = results()


@pytest.mark.parametrize("found", RESULTS)
def test_it_is_the_list_of_its_labels(found):
    assert isinstance(found, Consensus)
    assert list(found) == list(found.labels) == [found.items[i] for i in found.order]
    assert len(found) == 4
    for position, label in enumerate(found):
        assert label in found
        assert found[label] == position
        assert type(found[label]) is int
    assert found.top(2) == found.labels[:2]
    assert kendall_distance(found, found.ranks) == 0
    assert np.asarray(found).tolist() == found.ranks.tolist()


def test_items_are_found_by_label_only():
    found = aggregate(VOTES)
    assert 0 not in found
    with pytest.raises(KeyError, match="0 is not one of the items: they are TP53, BRCA1"):
        found[0]
    with pytest.raises(KeyError, match=r"did you mean TP53\?"):
        found["TP35"]
    assert aggregate([[1, 0]])[0] == 1
    assert aggregate(Rankings([[0, 1]], items=[7, 5]))[5] == 1
    with pytest.raises(KeyError, match="1 is not"):
        aggregate(Rankings([[0, 1]], items=[7, 5]))[1]


# JSON


@pytest.mark.parametrize("found", RESULTS)
def test_json_is_read_back_to_an_equal_object(found):
    for kind in (Consensus, type(found)):
        again = kind.from_json(found.to_json())
        assert type(again) is type(found)
        assert again == found
        assert again.to_json() == found.to_json()
        assert repr(again) == repr(found)
    rows = json.loads(found.to_json())["places"]
    assert [row["place"] for row in rows] == [1, 2, 3, 4]
    assert [row["item"] for row in rows] == list(found)


def test_different_results_are_not_equal():
    one, other = aggregate(VOTES), aggregate(VOTES, "kemeny")
    assert one != other
    assert one != aggregate(VOTES.ranks)
    assert one == aggregate(VOTES)
    assert federate(NAMED, rng=0) != one


def test_a_central_result_is_no_federated_one():
    with pytest.raises(InputError, match="it is a 'consensus', not a 'federated consensus'"):
        FederatedConsensus.from_json(aggregate(VOTES).to_json())


def leaves(value, path=()):
    """All places in a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))


@pytest.mark.parametrize("number", [0, 4, 6])
def test_damaged_json_is_refused_or_harmless(number):
    """Whatever one place is replaced by, the result is an error or a valid consensus."""
    text = RESULTS[number].to_json()
    said = set()
    for path in leaves(json.loads(text)):
        for value in (None, -1, "x", [], {}, True, 10**30):
            fields = json.loads(text)
            inner = fields
            for key in path[:-1]:
                inner = inner[key]
            if path:
                inner[path[-1]] = value
            else:
                fields = value
            try:
                again = Consensus.from_json(json.dumps(fields))
            except InputError as error:
                said.add(str(error).partition(":")[0])
            else:
                assert sorted(again.ranks.tolist()) == [0, 1, 2, 3]
                assert repr(again)
    assert said == {"this is not a consensus that fedrank wrote"}


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": 1}', "[" * 100_000])
def test_foreign_json_is_refused(text):
    with pytest.raises(InputError, match="not a consensus that fedrank wrote"):
        Consensus.from_json(text)


def test_json_of_a_later_format_is_refused():
    text = RESULTS[0].to_json().replace('"format":1', '"format":2')
    with pytest.raises(InputError, match="it has format 2, and this version of fedrank reads"):
        Consensus.from_json(text)


def test_labels_that_json_cannot_tell_apart_are_refused():
    with pytest.raises(InputError, match=r"not \(1, 2\)"):
        aggregate(Rankings([[0, 1]], items=[(1, 2), "b"])).to_json()


@given(profiles(5), st.sampled_from(["borda", "kemeny", "lehmer", "pick", "pivot"]))
def test_any_consensus_survives_json(ranks, method):
    found = aggregate(ranks, method, rng=0)
    assert Consensus.from_json(found.to_json()) == found


def changed(found, path, value):
    """The JSON of a result with one place changed."""
    fields = json.loads(found.to_json())
    inner = fields
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(fields)


def test_an_unknown_tie_is_not_one_of_a_round_before():
    text = changed(aggregate(VOTES), ["tied_groups"], None)
    text = text.replace('"decided_by": "random"', '"decided_by": "order"')
    with pytest.raises(InputError, match="tied_groups must be a list if decided_by is 'order'"):
        Consensus.from_json(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, "1", None])
def test_a_time_that_is_none_is_refused(value):
    text = changed(federate(NAMED, rng=0), ["extra", "rounds", 0, "seconds", "mask"], value)
    with pytest.raises(InputError, match=r"is not a (number|time in seconds)"):
        Consensus.from_json(text)


@pytest.mark.parametrize("items", [None, GENES[::-1], [*GENES, "ALK"]])
def test_a_study_of_other_items_than_the_places_is_refused(items):
    found = federate(NAMED, rng=0)
    other = Study(Borda(len(items or GENES), 4), items, found.study.roster)
    text = changed(found, ["extra", "study"], json.loads(other.to_json()))
    with pytest.raises(InputError, match="items of the study are not those of the places"):
        Consensus.from_json(text)


@pytest.mark.parametrize(
    ("client", "round", "step", "problem"),
    [
        ("north", 0, "mask", "lost at mask of round 0, but is in the sum"),
        ("west", 0, "unmask", "lost at unmask of round 0, but is not in the sum"),
        ("north", 1, "mask", "client 'north' must be dropped once"),
    ],
)
def test_a_dropout_that_contradicts_the_sum_is_refused(client, round, step, problem):
    found = federate(NAMED, rng=0, dropouts=["west"])
    entry = {"client": client, "round": round, "step": step, "why": None}
    with pytest.raises(InputError, match=problem):
        Consensus.from_json(changed(found, ["extra", "dropped"], [entry]))


def test_texts_of_others_reach_no_repr_as_they_are():
    forged = "x\x1b[2J\n  all is well"
    labels = [forged, "b", "c", "d"]
    texts = [
        repr(Rankings([range(4)], items=labels)),
        repr(PartialRankings([[0, 0, 1, 2]], items=labels)),
        repr(aggregate(Rankings([range(4), range(4)[::-1]], items=labels))),
        repr(Consensus.from_json(changed(aggregate(VOTES), ["method"], forged))),
        repr(Consensus.from_json(changed(federate(NAMED, rng=0), ["extra", "note"], forged))),
    ]
    for text in texts:
        assert "all is well" in text
        assert "\x1b" not in text
        assert "\n  all" not in text


# CSV and frames


TIED = aggregate(Rankings([[0, 1, 2, 3], [1, 0, 2, 3]], items=GENES), ties="index")


def test_csv_has_one_based_places_and_the_ties(tmp_path):
    TIED.to_csv(tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text() == (
        "place,item,score,tied\n1,TP53,0.5,1\n2,BRCA1,0.5,1\n3,EGFR,2.0,\n4,KRAS,3.0,\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["c.csv"]
    aggregate(Rankings([[0, 1]], items=['a,"b"', "c"]), "lehmer").to_csv(tmp_path / "l.csv")
    with (tmp_path / "l.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["place", "item", "tied"],
            ["1", 'a,"b"', ""],
            ["2", "c", ""],
        ]


@pytest.mark.parametrize("found", [*RESULTS, TIED])
def test_frames_have_the_same_rows(found):
    rows = tables.places(found)
    if found.scores is None:
        rows = [{k: v for k, v in row.items() if k != "score"} for row in rows]
    frame = found.to_pandas()
    assert list(frame.columns) == list(rows[0])
    assert frame["place"].tolist() == [1, 2, 3, 4]
    assert frame["item"].tolist() == list(found)
    assert frame["tied"].isna().tolist() == [row["tied"] is None for row in rows]
    assert found.to_polars().to_dicts() == rows
    assert pa.table(found).to_pylist() == rows  # by the Arrow PyCapsule interface
    assert pl.DataFrame(found).to_dicts() == rows
    assert pd.DataFrame.from_arrow(found)["item"].tolist() == list(found)


@pytest.mark.parametrize("make", tables.MAKERS)
def test_any_library_exports_the_stream(make, monkeypatch):
    monkeypatch.setattr(tables, "MAKERS", (make,))
    assert pa.table(TIED).to_pylist() == tables.places(TIED)


def test_labels_of_several_types_become_text():
    found = aggregate(Rankings([[0, 1]], items=["a", 7]))
    assert found.to_polars()["item"].to_list() == ["a", "7"]
    assert found.to_pandas()["item"].tolist() == ["a", "7"]


def test_missing_libraries_are_named(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", absent)
    with pytest.raises(MissingExtraError, match="needs pandas: pip install pandas"):
        TIED.to_pandas()
    with pytest.raises(MissingExtraError, match="needs polars"):
        TIED.to_polars()
    with pytest.raises(MissingExtraError, match="polars, pyarrow or pandas"):
        TIED.__arrow_c_stream__()


# HTML


def test_html_is_escaped_and_compact():
    labels = [f"<b>&{i}" for i in range(50)]
    page = aggregate(Rankings([range(50)], items=labels))._repr_html_()
    assert "<b>&0" not in page
    assert "&lt;b&gt;&amp;0</td>" in page
    assert page.count("<tr>") == 1 + 20 + 1
    assert "30 more" in page
    assert "<td>1</td>" in page  # places are 1-based
    assert "<td>0</td><td>&lt;" not in page


def test_html_of_a_federation_names_clients_and_bytes():
    found = federate({"<north>": VOTES, "east": VOTES, "south": VOTES, "west": VOTES}, rng=0)
    page = found._repr_html_()
    assert "<td>&lt;north&gt;</td><td>yes</td>" in page
    assert f"<td>{int(found.bytes_up[0]):,}</td>" in page
    lost = federate(NAMED, rng=0, dropouts=["west"])._repr_html_()
    assert "<td>west</td><td>no</td>" in lost


# Frames in


class Stream:
    """A table that offers nothing but Arrow's stream, once."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        frame, self.frame = self.frame, None
        return frame.__arrow_c_stream__(requested_schema)


class Exchanged:
    """A table that offers nothing but the dataframe interchange protocol."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, **options):
        return self.frame.__dataframe__(**options)


COLUMNS = {"TP53": [1, 0], "BRCA1": [0, 2], "EGFR": [2, 1]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "stream": lambda columns: Stream(pa.table(columns)),
    "exchanged": lambda columns: Exchanged(pa.table(columns)),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_any_frame_is_rankings_with_its_columns_as_labels(make):
    expected = Rankings([[1, 0, 2], [0, 2, 1]], items=COLUMNS)
    assert Rankings(make(COLUMNS)) == expected
    assert PartialRankings(make(COLUMNS)).items == expected.items
    scores = {name: [-float(x) for x in column] for name, column in COLUMNS.items()}
    assert Rankings.from_scores(make(scores)) == expected
    assert PartialRankings.from_scores(make(scores)).ranks.tolist() == expected.ranks.tolist()
    assert aggregate(make(COLUMNS)).items == ("TP53", "BRCA1", "EGFR")
    one_based = {name: [x + 1 for x in column] for name, column in COLUMNS.items()}
    assert aggregate(make(one_based), base=1).labels == aggregate(expected).labels
    found = federate({"north": make(COLUMNS), "east": make(COLUMNS), "west": make(COLUMNS)}, rng=0)
    assert found.items == ("TP53", "BRCA1", "EGFR")
    assert found.survivors == ["north", "east", "west"]


def test_one_column_of_a_library_is_still_one_ranking():
    for column in (pd.Series([1, 0, 2]), pl.Series([1, 0, 2]), pa.array([1, 0, 2])):
        assert Rankings(column).ranks.tolist() == [[1, 0, 2]]


def test_errors_in_frames_name_the_column():
    frame = pd.DataFrame({"EGFR": ["p1", "p2"], "TP53": [0, 1]})
    with pytest.raises(InputError, match="row 0: 'p1' of item 'EGFR' is text, not a number"):
        Rankings(frame)
    with pytest.raises(InputError, match=r"0\.5 of item 'EGFR' .*use Rankings\.from_scores"):
        aggregate(pd.DataFrame({"TP53": [0, 1], "EGFR": [1, 0.5]}))


def test_central_frames_round_trip():
    found = aggregate(Mallows(0.9, n=30).sample(20, rng=0))
    frame = found.to_pandas()
    ranks = Rankings.from_orders([frame["item"].tolist()])
    assert ranks.ranks[0].tolist() == found.ranks.tolist()
    assert frame["score"].tolist() == found.scores[found.order].tolist()


# Bases


def test_one_based_arrays_are_accepted_where_they_are_declared():
    assert aggregate([[1, 2, 3], [2, 1, 3]], base=1, ties="index").order.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"look 1-based: pass base=1 to Rankings or aggregate"):
        aggregate([[1, 2, 3]])
    with pytest.raises(InputError, match="base is for arrays"):
        aggregate(VOTES, base=1)
    with pytest.raises(InputError, match="one Rankings, not a list of them; join"):
        aggregate([VOTES, VOTES])


@pytest.mark.parametrize("scores", [[[87, 45, 90]], [[0.3, 0.1, 0.2]], [[1e12, 0, 1]]])
def test_raw_scores_are_told_where_to_go(scores):
    with pytest.raises(InputError, match=r"use Rankings\.from_scores"):
        aggregate(scores)


def test_an_index_that_is_no_label_is_refused():
    found = aggregate(Rankings([[1, 0]], items=["a", "b"]))
    with pytest.raises(InputError, match=r"the label of one item, not \['a'\]; look up one label"):
        found[["a"]]
    assert ["a"] not in found
