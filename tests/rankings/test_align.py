"""`Rankings.align` puts items into the order of given labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Rankings


@given(st.permutations("abcdef"), st.permutations("abcdef"), st.lists(st.permutations(range(6))))
def test_align_puts_every_items_position_under_its_label(old, new, rows):
    rows = rows or [list(range(6))]
    aligned = Rankings(rows, items=old).align(new)
    assert aligned.items == tuple(new)
    for before, after in zip(rows, aligned.ranks.tolist(), strict=True):
        assert dict(zip(old, before, strict=True)) == dict(zip(new, after, strict=True))
    assert aligned.align(old) == Rankings(rows, items=old)


def test_align_names_the_missing_and_the_extra():
    votes = Rankings([[0, 1, 2]], items=["ann", "bob", "cy"])
    with pytest.raises(ValueError, match=r"missing: dee.*extra: bob"):
        votes.align(["ann", "dee", "cy"])
    with pytest.raises(ValueError, match="select and common_items"):
        votes.align(["ann", "bob"])
    with pytest.raises(ValueError, match="extra: cy") as refused:
        votes.align(["ann", "bob"])
    assert "missing" not in str(refused.value)
    with pytest.raises(ValueError, match="missing: eve") as refused:
        votes.align(["ann", "bob", "cy", "eve"])
    assert "extra" not in str(refused.value)


def test_align_refuses_labels_given_twice_and_rankings_without_labels():
    with pytest.raises(ValueError, match=r"twice|labels"):
        Rankings([[0, 1]], items="ab").align("aba")
    with pytest.raises(ValueError, match="no labels"):
        Rankings([[0, 1]]).align([0, 1])
