"""The header of orders says which column is the best: no order is read reversed."""

import pytest

from fedrank import data
from fedrank.exceptions import InputError
from helpers.samples import labelled


@pytest.mark.parametrize(
    "header",
    [
        "3rd,2nd,1st",
        "third,second,first",
        "Place 3,Place 2,Place 1",
        "3,2,1",
        "3.,2.,1.",
        '"#3",#2,#1',
        "pos_2,pos_1,pos_0",
        "Third choice,Second choice,Top choice",
    ],
)
@pytest.mark.parametrize("options", [{}, {"layout": "orders"}])
def test_columns_are_in_the_order_of_the_header(write, header, options):
    text = f"{header}\nx,y,z\ny,z,x\n"
    votes = data.read(write("t.csv", text), **options)
    assert labelled(votes) == [["z", "y", "x"], ["x", "z", "y"]]
    assert "columns reordered by the header" in str(votes.source)


def test_a_declared_header_of_other_words_with_numbers_orders_the_columns(write):
    text = "3rd pick,1st pick,2nd pick\nx,y,z\n"
    votes = data.read(write("t.csv", text), layout="orders", header=True)
    assert labelled(votes) == [["y", "z", "x"]]


def test_ten_columns_are_sorted_by_number_and_not_by_letter(write):
    names = ["1", "10", *map(str, range(2, 10))]
    cells = dict(zip(names, "ajbcdefghi", strict=True))
    votes = data.read(write("t.csv", f"{','.join(names)}\n{','.join(cells.values())}\n"))
    assert labelled(votes) == [list("abcdefghij")]


def test_columns_in_order_are_not_called_reordered(write):
    votes = data.read(write("t.csv", "1st,2nd\nx,y\n"))
    assert "reordered" not in str(votes.source)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("1st,1st,2nd", "position 1 is named twice"),
        ("place1,place1,place2", "position 1 is named twice"),
        ("1st,2nd,4th", "position 3 is missing"),
        ("2nd,3rd,4th", "position 1 is missing"),
        ("bottom,mid,top", "'bottom' is a position without a number"),
        ("Top choice,Second choice,Last choice", "'Last choice' is a position without a number"),
        ("worst,second,best", "'worst' is a position without a number"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"layout": "orders"}, {"header": True}])
def test_a_header_of_unclear_positions_is_refused(write, header, problem, options):
    with pytest.raises(InputError, match=problem) as caught:
        data.read(write("t.csv", f"{header}\nx,y,z\ny,z,x\n"), **options)
    assert caught.value.choices == []


@pytest.mark.parametrize("header", ["rank1,rank1,rank2", "1st choice,2nd choice,4th choice"])
def test_ballots_with_repeated_or_missing_choices_are_refused(write, header):
    with pytest.raises(InputError, match=r"position [13] is"):
        data.read(write("t.csv", f"{header}\nx,y,z\ny,z,x\n"))
