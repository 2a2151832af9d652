"""Lehmer codes, both ways (M2)."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import kendall_distance, lehmer_decode, lehmer_encode
from helpers import reference

codes = st.integers(1, 60).flatmap(lambda n: st.tuples(*[st.integers(0, i) for i in range(n)]))
rankings = st.integers(1, 60).flatmap(lambda n: st.permutations(range(n)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_codes_of_all_rankings_follow_the_definition(n):
    everyone = list(permutations(range(n)))
    encoded = lehmer_encode(everyone)
    assert encoded.dtype == np.int32
    assert encoded.tolist() == [list(reference.encode(r)) for r in everyone]
    np.testing.assert_array_equal(lehmer_decode(encoded), everyone)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_all_codes_decode_by_insertion(n):
    everyone = list(product(*[range(i + 1) for i in range(n)]))
    decoded = lehmer_decode(everyone)
    assert decoded.tolist() == [list(reference.decode(c)) for c in everyone]
    np.testing.assert_array_equal(lehmer_encode(decoded), everyone)


@given(rankings)
def test_decoding_undoes_encoding(ranking):
    assert lehmer_decode(lehmer_encode([ranking])).tolist() == [ranking]


@given(codes)
def test_encoding_undoes_decoding(code):
    assert lehmer_encode(lehmer_decode([code])).tolist() == [list(code)]


@given(rankings)
def test_digits_sum_to_kendall_distance_from_the_identity(ranking):
    identity = range(len(ranking))
    assert lehmer_encode([ranking]).sum() == reference.kendall(ranking, identity)


@given(rankings)
def test_digits_follow_the_definition(ranking):
    assert lehmer_encode(ranking).tolist() == [list(reference.encode(ranking))]


@given(st.integers(1, 12), st.integers(1, 6), st.randoms())
def test_rows_do_not_depend_on_each_other(n, m, random):
    votes = [random.sample(range(n), n) for _ in range(m)]
    encoded = lehmer_encode(votes)
    assert encoded.tolist() == [lehmer_encode(r)[0].tolist() for r in votes]
    assert lehmer_decode(encoded).tolist() == [lehmer_decode(c)[0].tolist() for c in encoded]


# Both sides of word, block and algorithm boundaries.
@pytest.mark.parametrize("n", [63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 978, 1025])
def test_middling_sizes_follow_the_definition(n):
    rng = np.random.default_rng(n)
    for ranking in (rng.permutation(n), np.arange(n)[::-1], np.roll(np.arange(n), n // 3)):
        later = np.array([(ranking[:i] > ranking[i]).sum() for i in range(n)])
        np.testing.assert_array_equal(lehmer_encode(ranking)[0], later)
        np.testing.assert_array_equal(lehmer_decode(later)[0], ranking)


@pytest.mark.parametrize("n", [4095, 4096, 4097, 16_384, 65_535, 65_536, 65_537, 10**6])
def test_large_sizes_go_round(n):
    ranking = np.random.default_rng(n).permutation(n).astype(np.int32)
    encoded = lehmer_encode(ranking)
    assert (encoded[0] <= np.arange(n)).all()
    assert encoded.sum(dtype=np.int64) == kendall_distance(ranking, np.arange(n))
    np.testing.assert_array_equal(lehmer_decode(encoded)[0], ranking)


def test_reversal_of_a_million_items_has_the_largest_digits():
    ranking = np.arange(10**6, dtype=np.int32)[::-1]
    np.testing.assert_array_equal(lehmer_encode(ranking)[0], np.arange(10**6))
    np.testing.assert_array_equal(lehmer_decode(np.arange(10**6))[0], ranking)


@pytest.mark.parametrize("digit", [3, -1, 2**31 - 1])
def test_a_digit_out_of_range_is_refused_and_named(digit):
    with pytest.raises(ValueError, match=rf"row 1: not a Lehmer code: digit {digit} of item 2"):
        lehmer_decode([[0, 1, 2], [0, 1, digit], [5, 5, 5]])


def test_digits_are_whole_numbers():
    with pytest.raises(ValueError, match=r"0\.5 of item 1 is not a whole number"):
        lehmer_decode([[0, 0.5]])
    assert lehmer_decode([[0.0, 1.0]]).tolist() == [[1, 0]]


def test_codes_of_any_memory_order_are_decoded():
    everyone = np.array([reference.encode(r) for r in permutations(range(4))])
    expected = list(map(list, permutations(range(4))))
    assert lehmer_decode(np.asfortranarray(everyone)).tolist() == expected
    assert lehmer_decode(np.repeat(everyone, 2, axis=0)[::2].astype(np.uint8)).tolist() == expected
    assert lehmer_decode(everyone[::-1]).tolist() == expected[::-1]
