"""What all schemes have in common: layout, packing, refusals, JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Lehmer, Mallows, Study
from fedrank.schemes import from_json as scheme_from_json
from helpers import reference

SCHEMES = [
    Borda(n=6, clients=4),
    Borda(n=6, clients=4, send="sums", max_samples=9),
    Borda(n=6, clients=4, send="weighted", max_samples=9),
    Borda(n=6, clients=4, send="centroids"),
    Lehmer(n=6, clients=4),
    Lehmer(n=6, clients=4, low_bits=2, decode="paper"),
    Lehmer(n=6, clients=4, phi=0.3, low_bits="paper", max_samples=9),
]


def widths(scheme):
    return [bits for _, entries, bits in scheme.segments for _ in range(entries)]


# Layout


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 100, 257])
@pytest.mark.parametrize("clients", [1, 2, 3, 4, 7, 8, 50, 1000])
def test_widths_are_the_fewest_bits_that_hold_the_sums(n, clients):
    cases = [(Borda(n, clients, send="centroids"), reference.borda_widths(n, clients))]
    for levels in (1, 4, 7):
        # Entries are 0 to levels (n - 1), as of so many rankings.
        expected = reference.borda_widths(n, clients, levels)
        cases.append((Borda(n, clients, levels=levels), expected))
        weighted = Borda(n, clients, send="weighted", levels=levels, max_samples=99)
        cases.append((weighted, expected))
    for most in (1, 5, 1024):
        exact = Borda(n, clients, send="sums", max_samples=most)
        cases.append((exact, reference.borda_widths(n, clients, most)))
    for low_bits in (0, 1, 2, 3, 5, 9, 31):
        lehmer = Lehmer(n, clients, low_bits=low_bits)
        cases.append((lehmer, reference.lehmer_widths(n, clients, low_bits)))
    for scheme, expected in cases:
        assert widths(scheme) == expected
        assert scheme.message_bits == sum(expected)


def test_sizes_by_hand():
    assert Borda(n=978, clients=10).message_bits == 978 * 16  # 4 * 9770 < 2^16
    assert Borda(n=978, clients=10, send="centroids").message_bits == 978 * 14  # 9770 < 2^14
    assert Borda(n=978, clients=50, send="centroids").message_bits == 978 * 16  # 48850 < 2^16
    # Digits 1..4 sum to 5, 10, 15, 20 at most.
    assert Lehmer(n=5, clients=5).message_bits == 3 + 4 + 4 + 5
    # I = 1: highs of items 2, 3 (1 each) and 4 (2); one slot of 3 bits for items 1..4.
    assert Lehmer(n=5, clients=5, low_bits=1).message_bits == 3 + 3 + 4 + 4 * 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_largest_sums_just_fit(scheme):
    total = np.array([2**bits - 1 for bits in widths(scheme)], dtype=np.uint64)
    assert (scheme.unpack(scheme.pack(total)) == total).all()
    total[-1] += np.uint64(1)
    with pytest.raises(ValueError, match=f"entry {len(total) - 1}"):
        scheme.pack(total)


# Both ways


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_packing_is_a_bijection(scheme, data):
    message = [data.draw(st.integers(0, 2**bits - 1)) for bits in widths(scheme)]
    packed = scheme.pack(np.array(message, dtype=np.uint64))
    assert len(packed) == -(-scheme.message_bits // 8)
    whole = sum(
        value << sum(widths(scheme)[:place]) for place, value in enumerate(message)
    )  # least significant first, no gaps
    assert int.from_bytes(packed, "little") == whole
    assert scheme.unpack(packed).tolist() == message


@pytest.mark.parametrize("scheme", SCHEMES)
def test_wrong_bytes_are_refused(scheme):
    packed = scheme.pack(np.zeros(len(widths(scheme)), dtype=np.uint64))
    for wrong in (packed[:-1], packed + b"\0"):
        with pytest.raises(ValueError, match=f"{len(wrong)} packed bytes"):
            scheme.unpack(wrong)
    if scheme.message_bits % 8:
        with pytest.raises(ValueError, match="padding"):
            scheme.unpack(packed[:-1] + b"\x80")


@pytest.mark.parametrize(
    "scheme", [*SCHEMES[:3], Borda(n=6, clients=4, send="centroids", phi=0.05), *SCHEMES[4:]]
)
def test_unanimous_clients_get_what_they_said(scheme):
    for seed in range(20):
        ranking = np.random.default_rng(seed).permutation(6)
        total = sum(
            scheme.encode([ranking] * m, client=c, rng=seed) for c, m in enumerate((1, 2, 3, 9))
        )
        assert scheme.decode(total, 4, rng=seed).ranks.tolist() == ranking.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_rng_gives_the_same_bytes(scheme):
    tied = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]]
    first = [scheme.encode(tied, client=0, rng=s).tobytes() for s in range(30)]
    assert first == [scheme.encode(tied, client=0, rng=s).tobytes() for s in range(30)]
    total = sum(scheme.encode(tied, client=c, rng=s) for c, s in enumerate((1, 2)))
    ranks = [scheme.decode(total, 2, rng=s).ranks.tobytes() for s in range(30)]
    assert ranks == [scheme.decode(total, 2, rng=s).ranks.tobytes() for s in range(30)]
    generator = np.random.default_rng(0)
    once, twice = (
        scheme.encode(tied, client=0, rng=generator),
        scheme.encode(tied, client=0, rng=generator),
    )
    assert once.dtype == twice.dtype == np.uint64
    assert scheme.encode(tied, client=0, rng=0).tobytes() == once.tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_number_of_samples_never_changes_the_length(scheme):
    votes = Mallows(0.8, n=6).sample(9, rng=0)
    packed = {len(scheme.pack(scheme.encode(votes[:m], client=0))) for m in range(1, 10)}
    assert packed == {-(-scheme.message_bits // 8)}


@pytest.mark.parametrize(
    "scheme",
    [
        Borda(1, 3),
        Borda(1, 3, send="sums", max_samples=2),
        Borda(1, 3, send="weighted", max_samples=2),
        Borda(1, 3, send="centroids"),
        Lehmer(1, 3),
        Lehmer(1, 3, low_bits=2),
        Lehmer(1, 3, low_bits="paper", max_samples=2),
        Lehmer(1, 3, decode="paper"),
    ],
)
def test_one_item_needs_no_message(scheme):
    assert scheme.segments == ()
    assert scheme.message_bits == 0
    assert scheme.encode([[0], [0]], client=0).tolist() == []
    assert scheme.pack([]) == b""
    assert scheme.unpack(b"").tolist() == []
    assert scheme.decode([], 3).ranks.tolist() == [0]


# What is refused


@pytest.mark.parametrize("kind", [Borda, Lehmer])
@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"n": 0}, "n must"),
        ({"n": 2.5}, "n must"),
        ({"clients": 0}, "clients must"),
        ({"clients": "3"}, "clients must"),
        ({"phi": -0.1}, "phi must"),
        ({"phi": 1.1}, "phi must"),
        ({"phi": float("nan")}, "phi must"),
        ({"max_samples": 0}, "max_samples must"),
        ({"max_samples": True}, "max_samples must"),
        ({"clients": 2**62}, "clients must be 1 to 16777216"),
    ],
)
def test_bad_parameters_are_named(kind, wrong, named):
    sent = {"send": "centroids"} if kind is Borda and "phi" in wrong else {}
    with pytest.raises(ValueError, match=named):
        kind(**({"n": 9, "clients": 3} | sent | wrong))


@pytest.mark.parametrize("low_bits", [-1, 32, 1.5, "all", None, True, 2**40])
def test_bad_low_bits_are_named(low_bits):
    with pytest.raises(ValueError, match="low_bits"):
        Lehmer(9, clients=3, low_bits=low_bits)


@pytest.mark.parametrize("epsilon", [0, -1, 5, float("nan")])
def test_a_bad_epsilon_is_named_even_if_unused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        Lehmer(9, clients=3, epsilon=epsilon)


def test_a_bad_decode_rule_is_named():
    with pytest.raises(ValueError, match=r'"nearest" or "paper", not .mean'):
        Lehmer(9, clients=3, decode="mean")


def test_exact_sums_need_a_bound_on_the_samples():
    with pytest.raises(ValueError, match="max_samples"):
        Borda(9, clients=3, send="sums")


def test_a_width_above_64_bits_names_its_parameter():
    with pytest.raises(ValueError, match=r"max_samples is too large.* 76 bits"):
        Borda(978, clients=10, send="sums", max_samples=2**62)
    exactly = Borda(2, clients=1, send="sums", max_samples=2**63 - 1)
    assert exactly.message_bits == 2 * 63
    assert Borda(3, clients=1, send="sums", max_samples=2**63 - 1).message_bits == 3 * 64


@pytest.mark.parametrize("total", [[2**62] * 3, [0, 2**62, 2**63]])
def test_scores_of_the_widest_sums_are_right(total):
    scheme = Borda(3, clients=1, send="sums", max_samples=2**63 - 1)
    found = scheme.decode(np.array(total, dtype=np.uint64), 1)  # of 2^62 rankings
    assert found.scores.tolist() == [entry / 2**62 for entry in total]


@pytest.mark.parametrize("n", ["2**40", "2**62"])
@pytest.mark.parametrize("kind", ["Borda", "Lehmer"])
def test_too_many_items_are_refused_without_an_abort(python, kind, n):
    done = python(
        f"import fedrank as fr\n"
        f"try: fr.{kind}({n}, 2)\n"
        f"except (ValueError, MemoryError) as error: print('refused', error)\n"
    )
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith("refused")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_wrong_rankings_are_refused(scheme):
    with pytest.raises(ValueError, match=r"6 items, but these rankings have 5"):
        scheme.encode([[0, 1, 2, 3, 4]], client=0)
    with pytest.raises(ValueError, match="row 1"):
        scheme.encode([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]], client=0)
    with pytest.raises(ValueError, match="1-based"):
        scheme.encode([[1, 2, 3, 4, 5, 6]], client=0)
    with pytest.raises(ValueError, match=r"empty|no rankings|at least one"):
        scheme.encode(np.empty((0, 6), dtype=np.int32), client=0)


@pytest.mark.parametrize(
    "scheme", [Borda(3, 2, max_samples=2), Lehmer(3, 2, max_samples=2), *SCHEMES[1:3], SCHEMES[-1]]
)
def test_too_many_samples_are_refused_by_both_numbers(scheme):
    most = scheme.max_samples
    with pytest.raises(ValueError, match=rf"\b{most + 1}\b.*\b{most}\b"):
        scheme.encode([list(range(scheme.n))] * (most + 1), client=0)
    scheme.encode([list(range(scheme.n))] * most, client=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("survivors", [0, 5, -1, 1.5, True])
def test_impossible_numbers_of_survivors_are_refused(scheme, survivors):
    total = scheme.encode([[0, 1, 2, 3, 4, 5]], client=0)
    with pytest.raises(ValueError, match="survivors"):
        scheme.decode(total, survivors)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_totals_of_the_wrong_kind_are_refused(scheme):
    total = scheme.encode([[0, 1, 2, 3, 4, 5]], client=0).astype(np.int64)
    for wrong in (total[:-1], np.append(total, 0)):
        sizes = f"has {len(wrong)} entries; the scheme's messages have {len(total)}"
        with pytest.raises(ValueError, match=sizes):
            scheme.decode(wrong, 1)
    with pytest.raises(ValueError, match="negative"):
        scheme.decode(total - 9, 1)
    with pytest.raises(ValueError, match="whole number"):
        scheme.decode(total + 0.5, 1)
    with pytest.raises(ValueError, match="whole number"):
        scheme.decode(np.full(len(total), np.nan), 1)
    with pytest.raises(ValueError, match="dimension"):
        scheme.decode([total], 1)
    with pytest.raises(ValueError, match="ties"):
        scheme.decode(total, 1, ties="first")
    as_floats = scheme.decode(total.astype(float), 1, rng=0)
    assert (as_floats.ranks == scheme.decode(total, 1, rng=0).ranks).all()


@pytest.mark.parametrize(
    ("scheme", "total", "survivors"),
    [
        (Borda(3, 4, send="centroids"), [0, 1, 5], 2),  # above S (n - 1)
        (Borda(3, 4, send="centroids"), [0, 1, 2**63], 2),
        (Borda(3, 4), [0, 8, 17], 2),  # above 4 S (n - 1)
        (Borda(3, 4), [0, 8, 2**63], 2),
        (Borda(3, 4), [0, 6, 12], 2),  # 6 below the sum of two clients, which is 24 ± 5
        (Borda(3, 4), [2, 12, 16], 2),  # and 6 above
        (Borda(3, 4, send="weighted", max_samples=9), [0, 8, 17], 2),  # above 4 S (n - 1)
        (Borda(3, 4, send="sums", max_samples=5), [0, 4, 21], 2),  # above S m (n - 1)
        (Borda(3, 4, send="sums", max_samples=5), [0, 3, 4], 2),  # not whole rankings
        (Borda(3, 4, send="sums", max_samples=5), [0, 0, 0], 2),  # no ranking
        (Borda(3, 4, send="sums", max_samples=5), [1, 1, 1], 2),  # fewer than clients
        (Borda(3, 4, send="sums", max_samples=5), [11, 11, 11], 2),  # more than S m
        (Borda(3, 4, send="sums", max_samples=5), [0, 0, 6], 2),  # 2 rankings, 4 at most
        (Lehmer(3, 4), [3, 0], 2),  # digit 1 is 1 at most
        (Lehmer(3, 4), [0, 5], 2),  # digit 2 is 2 at most
        (Lehmer(6, 4, low_bits=1), [3, 0, 0, 0] + [0] * 5, 2),  # high of item 2
        (Lehmer(6, 4, low_bits=1), [0, 0, 0, 0, 3, 0, 0, 0, 0], 2),  # a slot above S
        (Lehmer(3, 4, low_bits=2), [0, 2, 1], 2),  # slots that sum to more than S
        (Lehmer(3, 4, low_bits=2), [0, 2**63, 2**63], 2),  # and wrap
    ],
)
def test_impossible_totals_are_refused(scheme, total, survivors):
    with pytest.raises(ValueError, match="impossible"):
        scheme.decode(np.array(total, dtype=np.uint64), survivors)


# JSON


@pytest.mark.parametrize("scheme", SCHEMES)
def test_json_goes_both_ways_and_has_one_spelling(scheme):
    text = scheme.to_json()
    again = scheme_from_json(text)
    assert again == scheme
    assert hash(again) == hash(scheme)
    assert again.to_json() == text
    assert again.segments == scheme.segments
    fields = json.loads(text)
    assert text == json.dumps(fields, sort_keys=True, separators=(",", ":"))
    backwards = json.dumps(dict(reversed(fields.items())), indent=3)
    assert scheme_from_json(backwards).to_json() == text


def test_numbers_of_any_type_make_the_same_json():
    scheme = Borda(n=5, clients=3, send="centroids", phi=0.5)
    assert (
        Borda(np.int32(5), 3.0, send="centroids", phi=np.float32(0.5)).to_json() == scheme.to_json()
    )
    assert (
        Borda(5, 3, send="centroids", phi=0).to_json()
        == Borda(5, 3, send="centroids", phi=0.0).to_json()
    )
    assert (
        Borda(5, 3, send="centroids", phi=-0.0).to_json()
        == Borda(5, 3, send="centroids", phi=0.0).to_json()
    )


def test_every_parameter_is_in_the_json():
    schemes = [
        Borda(5, 3),
        Borda(6, 3),
        Borda(5, 4),
        Borda(5, 3, levels=8),
        Borda(5, 3, send="weighted", max_samples=9),
        Borda(5, 3, send="centroids"),
        Borda(5, 3, send="centroids", phi=0.5),
        Borda(5, 3, max_samples=9),
        Borda(5, 3, send="sums", max_samples=9),
        Lehmer(5, 3),
        Lehmer(5, 3, low_bits=1),
        Lehmer(5, 3, phi=0.5),
        Lehmer(5, 3, max_samples=9),
        Lehmer(5, 3, epsilon=0.1),
        Lehmer(5, 3, decode="paper"),
    ]
    assert len({scheme.to_json() for scheme in schemes}) == len(set(schemes)) == len(schemes)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "scheme"),
        ("null", "scheme"),
        ("{}", "scheme"),
        ('{"scheme":"kemeny"}', "borda, lehmer"),
        ('{"scheme":["borda"]}', "borda, lehmer"),
        ('{"scheme":"borda"}', "the scheme borda has a field that is unknown, missing"),
        ('{"scheme":"borda","n":3,"clients":2,"colour":1}', "colour"),
        ('{"scheme":"borda","n":"3","clients":2}', "n must"),
        ('{"scheme":"borda","n":3,"clients":2,"send":"centroids","phi":NaN}', "phi"),
        ('{"scheme":"borda","n":3,"clients":2,"phi":0.6}', "phi does not apply"),
        ('{"scheme":"borda","n":3,"clients":2,"levels":0}', "levels must"),
        ('{"scheme":"borda","n":3,"clients":2,"send":"all"}', "send must"),
        ('{"scheme":"borda","n":3,"clients":2,"quantize":false}', "quantize"),
        ('{"scheme":"lehmer","n":3,"clients":2,"decode":[]}', "decode"),
    ],
)
def test_bad_json_is_refused_clearly(text, named):
    with pytest.raises(ValueError, match=named):
        scheme_from_json(text)


def test_wide_entries_may_come_in_a_list():
    scheme = Borda(3, 2, send="sums", max_samples=2**61)
    assert scheme.decode([0, 2**61, 2**62], 1).ranks.tolist() == [0, 1, 2]


def test_a_scheme_and_a_study_cannot_be_changed():
    scheme = Borda(3, 2)
    for thing, name in ((scheme, "phi"), (Study(scheme), "threshold")):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(thing, name, 0.5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["scheme", "n", "clients", "send", "levels", "phi", "max_samples", "low_bits"]
        ),
        JSON | st.sampled_from(["borda", "lehmer", "centroids", 3, 2, 0.5, True]),
    )
    | JSON,
)
def test_any_json_gives_a_scheme_or_a_value_error(fields):
    for text in (json.dumps(fields), str(fields)):
        for read in (scheme_from_json, Study.from_json):
            try:
                read(text)
            except ValueError:
                continue
