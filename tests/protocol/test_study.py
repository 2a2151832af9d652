"""A study is one text with one digest."""

import hashlib
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Kemeny, Lehmer, Study
from fedrank._json import canonical
from fedrank.schemes import Dispersion, Refine
from helpers import wire

SCHEME = Borda(n=3, clients=4)
NAMES = ["ann", "bob", "cy", "dee"]


def study(scheme=SCHEME, items=("a", "b", "c"), roster=NAMES, threshold=3):
    return Study(scheme, items, roster, threshold)


def test_the_json_does_not_depend_on_how_the_study_was_built():
    texts = {
        study().to_json(),
        study(items=["a", "b", "c"], roster=tuple(NAMES)).to_json(),
        study(items="abc", roster=iter(NAMES), threshold=np.int64(3)).to_json(),
        study(Borda(clients=4.0, n=np.int8(3), levels=np.int64(4))).to_json(),
        Study(threshold=3.0, roster=NAMES, items=(c for c in "abc"), method=SCHEME).to_json(),
        Study.from_json(study().to_json()).to_json(),
    }
    assert len(texts) == 1


def test_the_json_has_sorted_keys_no_spaces_and_every_field():
    text = study(items=["β", "b", 3]).to_json()
    fields = json.loads(text)
    reserved = {"confidence", "graph", "privacy"}
    named = {"coordinator", "fit_phi", "format", "items", "method", "roster", "threshold"}
    assert list(fields) == sorted(named | reserved)
    assert all(fields[name] is None for name in reserved)
    assert fields["items"] == ["β", "b", 3]
    assert fields["roster"] == [{"identity": None, "name": name} for name in NAMES]
    assert fields["threshold"] == 3
    assert fields["coordinator"] is None
    assert fields["format"] == 4
    assert fields["fit_phi"] is False
    scheme = json.loads(SCHEME.to_json())
    assert fields["method"] == {"method": scheme.pop("scheme")} | scheme
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
        study(Borda(3, 4, send="centroids", phi=0.5)),
        study(Borda(3, 4, levels=8)),
        study(Borda(3, 4, send="centroids")),
        study(Borda(3, 4, send="weighted", max_samples=9)),
        study(Borda(3, 4, max_samples=9)),
        study(Borda(3, 4, send="sums", max_samples=9)),
        study(Lehmer(3, 4)),
        study(Lehmer(3, 4, low_bits=1)),
        study(Lehmer(3, 4, decode="paper")),
        study(Lehmer(3, 4, epsilon=0.5)),
        study(Kemeny(3, 4, max_samples=99)),
        study(Kemeny(3, 4, window=2, max_samples=99)),
        study(Kemeny(3, 4, rounds=2, max_samples=99)),
        study(Kemeny(3, 4, start=Borda(3, 4, send="centroids", phi=0.5), max_samples=99)),
        study(Kemeny(3, 4, counts=True, max_samples=99)),
        study(Kemeny(3, 4, max_samples=9)),
        Study(Borda(3, 4, max_samples=9), "abc", NAMES, 3, fit_phi=True),
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
        st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip),
        min_size=2,
        max_size=5,
        unique=True,
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
    assert again.method == scheme
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
        ({"roster": ["ann", "bob", "cy", "ann"]}, "'ann' twice"),
        ({"roster": [0, 1, 2, 3]}, "client 0 .* text, not 0"),
        ({"roster": ["ann", "bob", " ", "cy"]}, "client 2 .* must have a name"),
        ({"threshold": 2}, r"more than half of the 4 .*not 2"),
        ({"threshold": 1}, "more than half"),
        ({"threshold": 5}, "from 3 to 4, not 5"),
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
    return canonical(json.loads(study().to_json()) | fields)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "must be an object, not list"),
        (study().to_json()[:-1] + ',"threshold":4}', "given twice"),
        ("{}", "the field .confidence. is missing"),
        (changed(colour=1), "the field .colour. is unknown"),
        (changed(format=1), "format 1, and this version of fedrank reads format 4"),
        (changed(format="2"), "format"),
        (changed(format=None), "format"),
        (changed(method={"method": "median"}), "borda, lehmer"),
        (changed(method={"method": "kemeny", "n": 3, "clients": 4, "start": {}}), "start"),
        (
            changed(method={"method": "borda", "n": 3}),
            "the method borda has a field that is .*clients",
        ),
        (changed(method="borda"), "method"),
        (changed(method=None), "method"),
        (changed(fit_phi=0), "fit_phi"),
        *[(changed(**{name: 1}), name) for name in ("confidence", "graph", "privacy")],
        (changed(format=3), "format 3, and this version of fedrank reads format 4; make the study"),
        (changed(threshold=1), "threshold"),
        (changed(roster=[{"name": "x", "identity": None}]), "roster"),
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


SPELT = Study(Borda(3, 4, send="centroids", phi=0.5), ["é", "b", 10], NAMES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{", " {"),
        (",", ", "),
        (":", ": "),
        ("}", "}\n"),
        ("}", "}\r\n"),
        ('"é"', r'"\u00e9"'),
        ('"b"', r'"\u0062"'),
        ("0.5", "0.50"),
        ("0.5", "5e-1"),
        ('"clients":4', '"clients":4.0'),
        ('"fit_phi":false,"format":4', '"format":4,"fit_phi":false'),
        ('"threshold":3', '"threshold":3.0'),
        ('"identity":null,"name":"ann"', '"name":"ann","identity":null'),
    ],
)
def test_a_study_has_one_spelling(old, new):
    text = SPELT.to_json()
    spelt = new.join(text.rsplit(old, 1))
    assert spelt != text
    assert json.loads(spelt) == json.loads(text)
    with pytest.raises(ValueError, match=r"differently to people and to programs: .*to_json"):
        Study.from_json(spelt)


@pytest.mark.parametrize("text", [b"%s", "\ufeff%s", None])
def test_only_text_without_a_byte_order_mark_is_a_study(text):
    given = SPELT.to_json()
    if text is not None:
        given = text % (given.encode() if isinstance(text, bytes) else given)
    else:
        given = bytearray(given.encode())
    with pytest.raises(ValueError, match=r"JSON|differently"):
        Study.from_json(given)


def test_a_threshold_that_is_given_twice_is_refused():
    text = SPELT.to_json()
    for twice in (text[:-1] + ',"threshold":3}', '{"threshold":4,' + text[1:]):
        with pytest.raises(ValueError, match="given twice, so people and programs may read"):
            Study.from_json(twice)


def test_kemeny_goes_both_ways():
    for method in (
        Kemeny(3, 4, max_samples=99),
        Kemeny(
            3, 4, start=Borda(3, 4, send="centroids", phi=0.3), window=2, rounds=5, majority=True
        ),
    ):
        again = Study.from_json(study(method).to_json())
        assert again.method == method
        assert hash(again.method) == hash(method)
        assert again.digest == study(method).digest
    with pytest.raises(AttributeError, match="cannot be changed"):
        Kemeny(3, 4, max_samples=99).window = 3


@pytest.mark.parametrize(
    ("method", "named"),
    [
        (Dispersion([0, 1, 2], 4, max_samples=99), "Kemeny"),
        (Refine([0, 1, 2], 4, 1, earlier=[[2, 1, 0]], max_samples=99), "use Kemeny"),
        ("borda", "'borda'"),
    ],
)
def test_what_finds_no_consensus_by_itself_is_no_method(method, named):
    with pytest.raises(ValueError, match=named):
        study(method)


# Rounds

ORDER, OTHER = [2, 0, 1], [0, 2, 1]


def test_a_round_is_derived_from_the_method_and_what_was_announced():
    agreed = Study(Kemeny(3, 4, window=1, rounds=2, max_samples=99), fit_phi=True)
    assert agreed.round(0).scheme == agreed.method.start
    second = agreed.round(2, [ORDER, OTHER], [0, 1, 2])
    assert (second.stage, second.scheme.ranks.tolist()) == ("refine", [0, 2, 1])
    assert second.scheme.earlier.tolist() == [[1, 2, 0]]
    third = agreed.round(3, [ORDER, OTHER, ORDER], [0, 1, 2])
    assert third.stage == third.scheme.kind == "dispersion"
    early = agreed.round(1, [ORDER], [0, 1, 2], stage="dispersion")
    assert early.scheme == third.scheme


def test_every_part_of_a_run_changes_the_digest_of_a_round():
    agreed = Study(Kemeny(3, 4, window=1, rounds=3, max_samples=99), fit_phi=True)
    rounds = [
        agreed.round(0),
        agreed.round(1, [ORDER], [0, 1, 2]),
        agreed.round(1, [OTHER], [0, 1, 2]),
        agreed.round(1, [ORDER], [0, 1, 3]),
        agreed.round(1, [ORDER], [0, 1, 2], stage="dispersion"),
        agreed.round(2, [ORDER, OTHER], [0, 1, 2]),
        agreed.round(2, [OTHER, OTHER], [0, 1, 2]),
        Study(Kemeny(3, 4, window=2, rounds=3, max_samples=99), fit_phi=True).round(
            1, [ORDER], [0, 1, 2]
        ),
    ]
    assert len({each.digest for each in rounds}) == len(rounds)
    assert agreed.round(1, [ORDER], [0, 1, 2]) == rounds[1]


def test_the_digest_of_a_round_is_the_tagged_hash_of_its_parts():
    agreed = Study(Kemeny(3, 4, window=1, rounds=2, max_samples=99))
    own = bytes.fromhex(agreed.digest)
    first = wire.round_digest(own, 0, "start", [], bytes(32), [])
    assert agreed.round(0).digest == first.hex()
    assert agreed.round(0).previous == bytes(32).hex()
    second = wire.round_digest(own, 1, "refine", ORDER, first, [0, 2, 3])
    assert agreed.round(1, [ORDER], [0, 2, 3]).previous == first.hex()
    assert agreed.round(1, [ORDER], [0, 2, 3]).digest == second.hex()


@pytest.mark.parametrize(
    ("number", "orders", "stage", "named"),
    [
        (1, [], None, "one order per round after the first: 1 for round 1, not 0"),
        (0, [ORDER], None, "0 for round 0, not 1"),
        (1, [[0, 1]], None, "3 items"),
        (1, [[0, 1, 1]], None, "every item number once"),
        (1, [[0, 1, 3]], None, "every item number once"),
        (2, [ORDER, OTHER], "refine", "no round 2 of stage 'refine'"),
        (2, [ORDER, OTHER], None, "no round 2 of stage 'dispersion'"),
        (1, [ORDER], "start", "no round 1"),
        (0, [], "refine", "no round 0"),
        (1, [ORDER], "margins", "no round 1"),
        (-1, [], None, "number"),
    ],
)
def test_rounds_that_a_study_does_not_have_are_refused(number, orders, stage, named):
    survivors = [0, 1, 2] if number > 0 else []
    with pytest.raises(ValueError, match=named):
        Study(Kemeny(3, 4, rounds=1, max_samples=99)).round(number, orders, survivors, stage)


@pytest.mark.parametrize("survivors", [[0, 1, 1], [0, 7], [2, 1], [-1, 0], ["0"]])
def test_survivors_are_rising_client_numbers(survivors):
    with pytest.raises((ValueError, TypeError), match="survivors"):
        Study(Kemeny(3, 4, max_samples=99)).round(1, [ORDER], survivors)


def test_the_first_round_has_no_survivors():
    with pytest.raises(ValueError, match="first round"):
        Study(Kemeny(3, 4, max_samples=99)).round(0, survivors=[0, 1])


def test_the_repr_shows_what_parties_compare():
    assert study().digest[:12] in repr(study())


def test_a_name_that_is_given_twice_is_found_in_linear_time():
    """Comparing each of 65,535 names with all others took a minute."""
    names = [f"client {number}" for number in range(65_535)]
    begun = time.perf_counter()
    with pytest.raises(ValueError, match="'client 65533' twice"):
        Study(Borda(2, 65_535), roster=[*names[:-1], names[-2]])
    assert time.perf_counter() - begun < 5
