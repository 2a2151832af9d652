"""Awkward inputs: the legal ones are taken, the others refused by name."""

import numpy as np
import pytest

import fedrank as fr
from fedrank import (
    Mallows,
    Rankings,
    aggregate,
    footrule_distance,
    kemeny_score,
    kendall_distance,
    lehmer_decode,
    lehmer_encode,
    pairwise_counts,
)
from fedrank.exceptions import InputError
from helpers import reference

VOTES = np.array([[2, 0, 1, 3], [0, 1, 2, 3], [3, 1, 0, 2]])
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64, np.longdouble]

# Every public function that takes rankings.
DOORS = [
    Rankings,
    aggregate,
    lehmer_encode,
    pairwise_counts,
    Mallows.fit,
    lambda r: kendall_distance(r, range(np.shape(r)[-1])),
    lambda r: kendall_distance(range(np.shape(r)[-1]), r),
    lambda r: footrule_distance(r, r),
    lambda r: kemeny_score(range(np.shape(r)[-1]), r),
    lambda r: Mallows(0.5, n=max(1, np.shape(r)[-1])).log_prob(r),
]


def layouts(array):
    """The same matrix in other clothes."""
    frozen = array.copy()
    frozen.flags.writeable = False
    wide = np.full((array.shape[0] * 2, array.shape[1] * 3), 77, dtype=array.dtype)
    wide[::2, ::3] = array
    return {
        "fortran": np.asfortranarray(array),
        "read-only": frozen,
        "strided": wide[::2, ::3],
        "reversed": array[::-1, ::-1].copy()[::-1, ::-1],
        "big-endian": array.astype(array.dtype.newbyteorder(">")),
        "transposed": array.T.copy().T,
        "list": array.tolist(),
        "list of arrays": list(array),
    }


# --- Taken ---


@pytest.mark.parametrize("name", layouts(VOTES))
def test_memory_layout_changes_nothing(name):
    votes = layouts(VOTES)[name]
    assert Rankings(votes).ranks.tolist() == VOTES.tolist()
    assert lehmer_encode(votes).tolist() == [list(reference.encode(r)) for r in VOTES.tolist()]
    assert pairwise_counts(votes).tolist() == reference.pairwise(VOTES.tolist())
    expected = [[reference.kendall(a, b) for b in VOTES] for a in VOTES]
    assert kendall_distance(votes, votes).tolist() == expected


@pytest.mark.parametrize("name", layouts(VOTES))
def test_memory_layout_of_int32_changes_nothing(name):
    votes = layouts(VOTES.astype(np.int32))[name]
    assert Rankings(votes).ranks.tolist() == VOTES.tolist()
    assert aggregate(votes, ties="index").ranks.tolist() == list(reference.borda(VOTES.tolist()))


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_number_type_changes_nothing(dtype, base):
    votes = Rankings((VOTES + base).astype(dtype), base=base)
    assert votes.ranks.tolist() == VOTES.tolist()
    assert votes.ranks.dtype == np.int32


@pytest.mark.parametrize("door", DOORS)
def test_one_item_is_legal(door):
    door([[0]])
    door([[0], [0]])


@pytest.mark.parametrize("method", ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"])
def test_one_item_and_one_ranking_aggregate(method):
    assert aggregate([[0]], method).ranks.tolist() == [0]
    assert aggregate([[0]] * 3, method).ranks.tolist() == [0]
    assert aggregate([[2, 0, 1]], method).ranks.tolist() == [2, 0, 1]
    assert aggregate([2, 0, 1], method).ranks.tolist() == [2, 0, 1]


def test_one_item_has_a_trivial_model():
    model = Mallows(0.5, n=1)
    assert model.sample(3, rng=0).ranks.tolist() == [[0]] * 3
    assert model.log_partition == 0
    assert model.expected_distance() == 0
    assert model.expected_ranks().tolist() == [0]
    assert model.log_prob([[0]]).tolist() == [0]


# --- Refused ---


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([[]], "at least one item, but the rows are empty"),
        (np.empty((3, 0), dtype=int), "at least one item, but the rows are empty"),
        ([[0, 1], [0.5, 1]], r"row 1: 0\.5 of item 0 is not a whole number"),
        ([[0, 1], [0, np.nan]], "row 1: nan of item 1 is not a whole number"),
        ([[0, 1], [np.inf, 1]], "row 1: inf of item 0 is not a whole number"),
        ([[0, 1], [0, 2**31]], "row 1: 2147483648 of item 1 is too large"),
        ([[0, 1], [0, 2**32 + 1]], "row 1: 4294967297 of item 1 is too large"),
        ([[0, 1], [0, -(2**40)]], "row 1: -1099511627776 of item 1 is too large"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), "18446744073709551615 of item 1 is too"),
        ([[0, 1], [0, 1e30]], r"row 1: 1e\+30 of item 1 is too large"),
        ([[0, 1], [0, 0]], r"row 1: not a ranking: positions must be 0\.\.1, but 0 is used"),
        ([[0, 1], [2, 0]], r"row 1: not a ranking: .* be 0\.\.1, but 2 of item 0 is out"),
        ([[0, 1], [-1, 0]], r"row 1: not a ranking: .* be 0\.\.1, but -1 of item 0 is out"),
        ([[1, 2, 3], [2, 1, 3]], r"positions must be 0\.\.2, .* look 1-based: pass base=1"),
        ([["a", "b"]], r"row 0: .a. of item 0 is text, .*Rankings\.from_orders"),
        ([["0", "1"]], r"row 0: .0. of item 0 is text, not a number; convert"),
        ([[True, False]], "positions must be whole numbers, not bool"),
        ([[0, None]], "row 0: None of item 1 is not a number"),
        ([[0j, 1]], "positions must be whole numbers, not complex"),
        (np.zeros((1, 2, 2), dtype=int), "one row or a matrix of rows, not 3-dimensional"),
    ],
)  # fmt: skip
def test_what_is_not_a_ranking_is_refused_everywhere(door, ranks, message):
    with pytest.raises(ValueError, match=message):
        door(ranks)


@pytest.mark.parametrize("door", [Rankings, aggregate, lehmer_encode, pairwise_counts, Mallows.fit])
@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([], "at least one item, but the rows are empty"),
        (3, "one row or a matrix of rows, not "),
        (
            [[0, 1], [0, 1, 2]],
            "row 1: the row has 3 entries, but row 0 has 2; all rows must have",
        ),
        ([[0, 1, 2], [0, 1, 2], [0]], "row 2: the row has 1 entry, but row 0 has 3"),
        ([[0, 1], 3], "row 1: the row has 1 entry, but row 0 has 2"),
        ([[0, 1], []], "row 1: the row has 0 entries, but row 0 has 2"),
    ],
)
def test_what_has_no_shape_is_refused(door, ranks, message):
    with pytest.raises(ValueError, match=message):
        door(ranks)


def test_integers_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match=r"too large|whole numbers"):
        Rankings([[0, 2**70]])


def test_a_0_based_row_with_base_1_is_told_so():
    with pytest.raises(ValueError, match=r"must be 1\.\.3, .* look 0-based: pass base=0"):
        Rankings([[0, 1, 2]], base=1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_0_based_row_of_any_type_with_base_1_is_told_so(dtype):
    with pytest.raises(ValueError, match="0 of item 0 is out of range; the positions look 0-based"):
        Rankings(np.array([[0, 1, 2]], dtype=dtype), base=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_base_1_does_not_wrap_small_integers_into_a_ranking(dtype):
    # The least value minus one wraps to the greatest, and would complete a permutation.
    info = np.iinfo(dtype)
    row = np.append(np.arange(1, info.max + 1), info.min).astype(dtype)
    with pytest.raises(ValueError, match=f"but {info.min} of item .* is out of range"):
        Rankings(row[np.newaxis], base=1)


def test_the_value_at_fault_is_named_as_given():
    least = -(2**31)
    with pytest.raises(ValueError, match=f"{least}"):
        Rankings(np.array([[least, 1, 2]], dtype=np.int32), base=1)
    with pytest.raises(ValueError, match=f"{least}"):
        Rankings(np.array([[least, 1, 2]], dtype=np.int32))


@pytest.mark.parametrize("base", [2, -1, 0.5, "0", None])
def test_other_bases_are_refused(base):
    with pytest.raises(ValueError, match="base must be 0 or 1, not"):
        Rankings([[0, 1]], base=base)


@pytest.mark.parametrize("trial", range(20))
def test_the_first_bad_row_of_many_is_named(trial):
    rng = np.random.default_rng(trial)
    votes = np.tile(np.arange(8), (50_000, 1))
    bad = np.sort(rng.choice(50_000, 40, replace=False))
    votes[bad, 0] = 5
    with pytest.raises(ValueError, match=rf"^row {bad[0]}: not a ranking: .* 5 is used twice"):
        Rankings(votes)


@pytest.mark.parametrize("trial", range(10))
def test_the_first_bad_code_of_many_is_named(trial):
    rng = np.random.default_rng(trial)
    codes = np.zeros((50_000, 8), dtype=int)
    bad = np.sort(rng.choice(50_000, 40, replace=False))
    codes[bad, 3] = 4
    with pytest.raises(ValueError, match=rf"row {bad[0]}: not a Lehmer code: digit 4 of item 3"):
        lehmer_decode(codes)


def test_the_first_missing_score_of_many_is_named():
    scores = np.random.default_rng(0).normal(size=(50_000, 6))
    scores[[20_123, 30_000, 49_999], 2] = np.nan
    with pytest.raises(ValueError, match="row 20123: the score of item 2 is NaN"):
        Rankings.from_scores(scores)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("aa", "item labels must differ, but 'a' is given twice"),
        ("a", "1 labels? (was|were) given for 2 items"),
        ("abc", "3 labels were given for 2 items"),
        ([], "0 labels were given for 2 items"),
    ],
)
def test_bad_labels_are_refused(items, message):
    with pytest.raises(ValueError, match=message):
        Rankings([[0, 1]], items=items)
    with pytest.raises(ValueError, match=message):
        Rankings.from_scores([[0.0, 1.0]], items=items)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "row 1: weight -1 is not a whole number"),
        ([1], "there are 2 rankings, but 1 weight"),
        ([1, 1, 1], "there are 2 rankings, but 3 weights"),
        ([[1, 1]], "one count per ranking"),
        ([], "weights must be"),
        (3, "weights must be"),
        ([0, 0], "no rankings: at least one row with a weight above 0"),
        ([1, 0.5], r"row 1: weight 0\.5 is not a whole number"),
        ([1, np.nan], "row 1: weight nan is not a whole number"),
        ([1, 2**40], "row 1: weight 1099511627776 is not"),
        ([2**31 - 1] * 2, "weights sum to 4294967294; at most 2147483647"),
        (["a", "b"], "weights must be whole numbers, not .a."),
        ([True, False], "weights must be whole numbers, not True"),
    ],
)
@pytest.mark.parametrize("method", ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"])
def test_bad_weights_are_refused(method, weights, message):
    with pytest.raises(ValueError, match=message):
        aggregate([[0, 1], [1, 0]], method, weights=weights)


def test_integral_float_weights_are_taken():
    assert pairwise_counts([[0, 1]], weights=[2.0]).tolist() == [[0, 2], [0, 0]]


@pytest.mark.parametrize("method", ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"])
def test_no_rankings_are_refused(method):
    with pytest.raises(ValueError, match="no rankings: at least one row"):
        aggregate(np.empty((0, 3), dtype=int), method)
    with pytest.raises(ValueError, match="no rankings: at least one row"):
        aggregate(Rankings([[0, 1, 2]])[:0], method)


def test_unknown_methods_are_refused_with_the_known():
    with pytest.raises(ValueError, match=r"method must be one of borda, .*kemeny, not 'plurality'"):
        aggregate([[0, 1]], "plurality")


@pytest.mark.parametrize("ties", ["first", "error", None, True])
def test_unknown_tie_rules_are_refused(ties):
    with pytest.raises(ValueError, match='ties must be "random" or "index", not'):
        aggregate([[0, 1]], ties=ties)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("borda", {"runs": 3}, "'borda' has no option 'runs'; it takes no options"),
        ("kemeny", {"runs": 3}, "'kemeny' has no option 'runs'; its options are exact_upto, kicks"),
        (
            "pivot",
            {"kicks": 3},
            "'pivot' has no option 'kicks'; its options are runs",
        ),
        ("pivot", {"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ("pivot", {"runs": 1.5}, r"runs must be a whole number of at least 1, not 1\.5"),
        ("kemeny", {"kicks": -1}, "kicks must be a whole number of at least 0, not -1"),
        ("kemeny", {"exact_upto": -1}, "exact_upto must be a whole number of at least 0, not -1"),
        ("kemeny", {"exact_upto": 25}, "exact_upto must be at most 24, not 25"),
        ("kemeny", {"kicks": "many"}, "kicks must be a whole number .* not 'many'"),
    ],
)
def test_bad_options_are_refused(method, options, message):
    with pytest.raises(ValueError, match=message):
        aggregate([[0, 1]], method, **options)


LIMITED = """
import resource, numpy as np, fedrank as fr
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
try:
    {call}
except (MemoryError, ValueError) as error:
    print("refused", error)
"""


@pytest.mark.parametrize(
    "call",
    [
        "fr.Mallows(.5, n=1000).sample(10**12)",
        "fr.Mallows(.5, n=1000).sample(10**18)",
        "fr.pairwise_counts(np.arange(10**6))",
        "fr.aggregate(np.arange(10**6), 'kemeny')",
        "fr.aggregate(np.arange(10**6), 'footrule')",
    ],
)
def test_what_does_not_fit_memory_is_refused_and_kills_nothing(python, call):
    pytest.importorskip("resource", reason="no limits on memory here")
    done = python(LIMITED.format(call=call))
    assert "panicked" not in done.stderr
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith("refused")


@pytest.mark.parametrize("rng", [-1, 1.5, "x"])
def test_a_wrong_rng_is_refused_in_our_words(rng):
    votes = fr.Rankings([[0, 1, 2], [1, 0, 2]])
    calls = [
        lambda: fr.aggregate(votes, rng=rng),
        lambda: fr.federate([votes] * 3, rng=rng),
        lambda: fr.Mallows(0.5, n=3).sample(2, rng=rng),
        lambda: votes.split(2, rng=rng),
        lambda: fr.plan("borda", n=3, phi=0.5, clients=3, rng=rng),
        lambda: fr.Borda(3, 2).encode(votes, client=0, rng=rng),
        lambda: fr.Rankings.from_ballots([["a"]], ["a", "b"], rng=rng),
    ]
    for call in calls:
        with pytest.raises(InputError, match="rng must be None, a whole number of at least") as e:
            call()
        assert (e.value.parameter, e.value.value) == ("rng", rng)
