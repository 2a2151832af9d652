"""A study is one text with one digest."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Lehmer, Study

SCHEME = Borda(n=3, clients=4)
NAMES = ["ann", "bob", "cy", "dee"]


def study(scheme=SCHEME, items=("a", "b", "c"), roster=NAMES, threshold=3):
    return Study(scheme, items, roster, threshold)


def test_the_json_does_not_depend_on_how_the_study_was_built():
    texts = {
        study().to_json(),
        study(items=["a", "b", "c"], roster=tuple(NAMES)).to_json(),
        study(items="abc", roster=iter(NAMES), threshold=np.int64(3)).to_json(),
        study(Borda(clients=4.0, n=np.int8(3), phi=np.float64(0.6))).to_json(),
        Study(threshold=3.0, roster=NAMES, items=(c for c in "abc"), scheme=SCHEME).to_json(),
        Study.from_json(study().to_json()).to_json(),
        Study.from_json(json.dumps(json.loads(study().to_json()), indent=2)).to_json(),
    }
    assert len(texts) == 1


def test_the_json_has_sorted_keys_no_spaces_and_every_field():
    text = study(items=["β", "b", 3]).to_json()
    fields = json.loads(text)
    assert list(fields) == ["format", "items", "roster", "scheme", "threshold"]
    assert fields["items"] == ["β", "b", 3]
    assert fields["roster"] == NAMES
    assert fields["threshold"] == 3
    assert fields["format"] == 1
    assert fields["scheme"] == json.loads(SCHEME.to_json())
    dumped = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == dumped


@pytest.mark.parametrize("items", [None, "abc", ["β", '"', "\n"], [7, 5, "5"]])
def test_the_digest_is_the_sha256_of_the_json(items):
    agreed = study(items=items)
    assert agreed.digest == hashlib.sha256(agreed.to_json().encode("utf-8")).hexdigest()


def test_the_digest_changes_with_every_field():
    studies = [
        study(),
        study(items=("a", "c", "b")),
        study(items=None),
        study(items=(1, 2, 3)),
        study(items=("1", "2", "3")),
        study(roster=None),
        study(roster=NAMES[::-1]),
        study(threshold=4),
        study(Borda(3, 4, phi=0.5)),
        study(Borda(3, 4, max_samples=9)),
        study(Borda(3, 4, quantize=False, max_samples=9)),
        study(Lehmer(3, 4)),
        study(Lehmer(3, 4, low_bits=1)),
        study(Lehmer(3, 4, decode="paper")),
        study(Lehmer(3, 4, epsilon=0.5)),
    ]
    assert len({each.digest for each in studies}) == len(set(studies)) == len(studies)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.text(st.characters(exclude_categories=["Cs"])) | st.integers(),
            min_size=n,
            max_size=n,
            unique=True,
        )
    ),
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=5, unique=True
    ),
    st.booleans(),
)
def test_json_goes_both_ways(items, roster, lehmer):
    scheme = (Lehmer if lehmer else Borda)(len(items), len(roster))
    agreed = Study(scheme, items, roster)
    again = Study.from_json(agreed.to_json())
    assert again == agreed
    assert hash(again) == hash(agreed)
    assert again.digest == agreed.digest
    assert (again.items, again.roster) == (tuple(items), tuple(roster))
    assert again.scheme == scheme
    assert again.threshold == 2 * len(roster) // 3 + 1


@pytest.mark.parametrize(
    ("clients", "threshold"), [(1, 1), (2, 2), (3, 3), (4, 3), (10, 7), (50, 34)]
)
def test_the_threshold_is_two_thirds_and_one_by_default(clients, threshold):
    assert Study(Borda(3, clients)).threshold == threshold


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"roster": NAMES[:3]}, r"3 clients.* 4"),
        ({"roster": [*NAMES, "eve"]}, r"5 clients.* 4"),
        ({"roster": ["ann", "bob", "cy", "ann"]}, "once"),
        ({"roster": [0, 1, 2, 3]}, "text"),
        ({"threshold": 2}, r"more than half of the 4 .*not 2"),
        ({"threshold": 1}, "more than half"),
        ({"threshold": 5}, "at most all, not 5"),
        ({"threshold": 0}, "threshold"),
        ({"threshold": 3.5}, "threshold"),
        ({"threshold": "3"}, "threshold"),
        ({"items": ["a", "b"]}, "2 labels"),
        ({"items": ["a", "b", "a"]}, "'a' is given twice"),
        ({"items": ["a", "b", 1.5]}, "1.5"),
        ({"items": ["a", "b", None]}, "None"),
        ({"items": ["a", "b", True]}, "True"),
        ({"items": ["a", "b", ("c",)]}, r"\('c',\)"),
    ],
)
def test_parts_that_do_not_fit_are_refused(wrong, named):
    with pytest.raises(ValueError, match=named):
        study(**wrong)


def test_half_of_an_odd_roster_is_not_more_than_half():
    assert Study(Borda(3, 5), threshold=3).threshold == 3
    with pytest.raises(ValueError, match="more than half"):
        Study(Borda(3, 5), threshold=2)


def test_numpy_integers_are_labels_like_others():
    assert study(items=np.arange(3)).to_json() == study(items=[0, 1, 2]).to_json()


def changed(**fields):
    return json.dumps(json.loads(study().to_json()) | fields)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "fields"),
        ("{}", "fields"),
        (changed(colour=1), "fields"),
        (changed(format=2), "format 2"),
        (changed(format="1"), "format"),
        (changed(format=None), "format"),
        (changed(scheme={"scheme": "kemeny"}), "borda, lehmer"),
        (changed(scheme="borda"), "scheme"),
        (changed(threshold=1), "threshold"),
        (changed(roster=["x"]), "roster"),
        (changed(roster=5), "roster"),
        (changed(roster=[["x"], ["y"], ["z"], ["w"]]), "roster"),
        (changed(items=5), "label|items"),
        (changed(items=[["a"], ["b"], ["c"]]), "label"),
        (changed(items=["a", "b", "a"]), "twice"),
    ],
)
def test_bad_json_is_refused_clearly(text, named):
    with pytest.raises(ValueError, match=named):
        Study.from_json(text)


def test_the_repr_shows_what_parties_compare():
    assert study().digest[:12] in repr(study())
