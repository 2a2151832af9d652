"""Sushi files."""

import pytest

from fedrank import PartialRankings, data
from helpers.paths import SAMPLES


def test_sushi_orders_and_regions():
    votes = data.read_sushi(SAMPLES / "sushi.order")
    assert votes.ranks[0].tolist() == [1, 2, 0, 3]
    parts = data.read_sushi(SAMPLES / "sushi.order", SAMPLES / "sushi.udata")
    assert list(parts) == [0, 3, 9]  # 10 is dropped
    assert parts[3].ranks.tolist() == votes.ranks[[0, 2]].tolist()
    line = (
        "orders, best first; 1 ranking of users without a region left out; 2 of its 4 rankings used"
    )
    assert str(parts[3].source) == f"sushi.order: 4 rankings of 4 items ({line})"


def test_orders_of_some_of_the_items_are_partial(write):
    # As in sushi3b.5000.10.order: ten of 100 items.
    rows = [[(7 * i + j * 11) % 100 for j in range(10)] for i in range(20)]
    text = "100 1\n" + "".join(f"0 10 {' '.join(map(str, row))}\n" for row in rows)
    votes = data.read(write("b.order", text))
    assert isinstance(votes, PartialRankings)
    assert votes.ranks.shape == (20, 100)
    for row, levels in zip(rows, votes.ranks.tolist(), strict=True):
        assert [levels[item] for item in row] == list(range(10))
        assert levels.count(-1) == 90


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("0 4 2 0 1 3", "0 4 2 0 1", "line 2: .* must be '0', the number of items"),
        ("0 4 2 0 1 3", "7", "line 2: '7' must be"),
        ("0 4 2 0 1 3", "0 4 2 0 1 1", "line 2: an item is named twice"),
        ("0 4 2 0 1 3", "0 4 2 0 1 4", r"line 2: item 4 is not one of 0\.\.3"),
        ("0 4 2 0 1 3", "0 4 2 0 1 x", "line 2: an item must be a whole number, not 'x'"),
        ("4 1\n", "0 1\n", "line 1: there must be from 1 to 1048576 items, not 0"),
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
