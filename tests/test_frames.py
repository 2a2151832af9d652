"""Data frames on their way in: rows are orders, and ids are no items."""

import pandas as pd
import polars as pl
import pytest

from fedrank import PartialRankings, Rankings, aggregate, data
from fedrank.exceptions import InputError
from helpers.samples import labelled

ORDERS = [["z", "y", "x"], ["x", "z", "y"]]
LIBRARIES = [
    pd.DataFrame,
    pl.DataFrame,
    lambda columns: pl.DataFrame(columns).to_arrow(),
]
frames = pytest.mark.parametrize("frame", LIBRARIES, ids=["pandas", "polars", "pyarrow"])


@frames
@pytest.mark.parametrize("kind", [Rankings, PartialRankings])
def test_the_rows_of_a_frame_are_orders(frame, kind):
    votes = kind.from_orders(frame({"a": ["z", "x"], "b": ["y", "z"], "c": ["x", "y"]}))
    assert votes.items == ("x", "y", "z")
    assert votes.ranks.tolist() == [[2, 1, 0], [0, 2, 1]]


@frames
def test_the_rows_of_a_frame_are_ballots(frame):
    columns = {"a": ["z", "x"], "b": ["y", "z"], "c": ["x", None]}
    votes = Rankings.from_ballots(frame(columns), items="xyz")
    assert labelled(votes) == ORDERS


@frames
def test_columns_called_by_positions_are_put_in_order(frame):
    columns = {"3rd": ["x", "y"], "2nd": ["y", "z"], "1st": ["z", "x"]}
    assert labelled(Rankings.from_orders(frame(columns))) == ORDERS
    assert labelled(Rankings.from_ballots(frame(columns), items="xyz")) == ORDERS
    with pytest.raises(InputError, match="position 1 is missing"):
        Rankings.from_orders(frame({"2nd": ["x"], "3rd": ["y"]}))


@frames
def test_empty_cells_of_a_frame_rank_nothing(frame):
    votes = PartialRankings.from_orders(frame({"a": ["z", "x"], "b": ["y", None]}))
    assert votes.ranks.tolist() == [[-1, 1, 0], [0, -1, -1]]


@frames
def test_an_id_column_of_a_frame_is_refused(frame):
    numbers, names = {"voter_id": [2, 1], "b": [1, 2]}, {"id": ["p", "q"], "b": ["x", "y"]}
    calls = [
        lambda: Rankings(frame(numbers), base=1),
        lambda: Rankings.from_scores(frame(numbers)),
        lambda: PartialRankings(frame(numbers)),
        lambda: PartialRankings.from_scores(frame(numbers)),
        lambda: aggregate(frame(numbers), base=1),
        lambda: Rankings.from_orders(frame(names)),
        lambda: PartialRankings.from_orders(frame(names)),
        lambda: Rankings.from_ballots(frame(names), items="xy"),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"column '(voter_)?id' of the data frame .*drop"):
            call()


def test_a_dictionary_of_columns_is_no_list_of_orders():
    for kind in (Rankings, PartialRankings):
        with pytest.raises(InputError, match="a list of rows, not a dict of columns"):
            kind.from_orders({"ab": [1], "ba": [2]})


@pytest.mark.parametrize("name", ["mrn", "year", "gene", "id"])
@pytest.mark.parametrize("frames", [pd, pl])
def test_columns_of_numbers_are_ids_by_the_rule_of_files(frames, name, tmp_path):
    frame = frames.DataFrame({name: [0, 1], "b": [1, 0]})
    file = tmp_path / "table.csv"
    file.write_text(f"{name},b\n0,1\n1,0\n")
    for make in (lambda: Rankings(frame), lambda: data.read(file)):
        with pytest.raises(InputError, match=f"column '{name}'.* may not be an item"):
            make()
    orders = frames.DataFrame({"gene": ["x", "y"], "b": ["y", "x"]})
    assert len(Rankings.from_orders(orders)) == 2  # texts in such a column can be items
