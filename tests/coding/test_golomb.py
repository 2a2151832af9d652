"""Golomb codes of Lehmer digits (M13)."""

from fractions import Fraction
from math import ceil, log2, nextafter

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedrank import Mallows, golomb, lehmer_encode
from helpers import reference

MOST = 2**31 - 1


def matrices(n):
    row = st.tuples(*[st.integers(0, i) for i in range(n)])
    return st.lists(row, min_size=1, max_size=6)


codes = st.integers(1, 40).flatmap(matrices)
parameters = st.integers(1, 70) | st.sampled_from([2**20, 2**30, 2**30 + 1, MOST])


@given(codes, parameters)
def test_bytes_follow_the_definition_and_decode_again(rows, k):
    n = len(rows[0])
    written = golomb.encode(rows, k)
    assert written == reference.golomb(rows, [k] * n)
    read = golomb.decode(written, (len(rows), n), k)
    assert read.dtype == np.int32
    assert read.tolist() == [list(row) for row in rows]


@given(codes, st.data())
def test_each_item_may_have_its_own_parameter(rows, data):
    n = len(rows[0])
    each = data.draw(st.lists(parameters, min_size=n, max_size=n))
    written = golomb.encode(rows, each)
    assert written == reference.golomb(rows, each)
    assert golomb.decode(written, (len(rows), n), each).tolist() == [list(row) for row in rows]


# Worked by hand. K = 3: b = 2, one short remainder: 0 is 1 0, 1 is 1 10, 2 is 1 11, 3 is 01 0.
@pytest.mark.parametrize(
    ("rows", "k", "bits"),
    [
        ([[0]], 1, "1"),
        ([[0, 1, 2, 3]], 1, "1 01 001 0001"),
        ([[0, 1, 2, 3]], 2, "10 11 010 011"),
        ([[0, 1, 2, 3]], 3, "10 110 111 010"),
        ([[0, 1, 2, 3]], 4, "100 101 110 111"),
        # K = 5: b = 3, three short remainders: 00, 01, 10, then 3 + 3 = 110 and 4 + 3 = 111.
        ([[0, 1, 2, 3, 4, 5]], 5, "100 101 110 1110 1111 0100"),
        ([[0, 1], [0, 0]], 1, "1 01 1 1"),
        ([[0, 1, 2]], [1, 2, 3], "1 11 111"),
        ([[0, 1, 2]], MOST, "1" + 30 * "0" + "1" + 29 * "0" + "10" + "1" + 29 * "0" + "11"),
    ],
)
def test_bytes_of_small_cases(rows, k, bits):
    text = bits.replace(" ", "")
    text += "0" * (-len(text) % 8)
    assert golomb.encode(rows, k) == int(text, 2).to_bytes(len(text) // 8)


@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9, 0.99])
def test_many_rankings_go_round(phi):
    drawn = lehmer_encode(Mallows(phi, n=978).sample(50, rng=1))
    for k in (golomb.parameter(phi), golomb.fit(drawn), golomb.fit_items(drawn)):
        assert (golomb.decode(golomb.encode(drawn, k), drawn.shape, k) == drawn).all()


def test_integral_floats_are_taken():
    assert golomb.encode([[0.0, 1.0]], 2.0) == golomb.encode([[0, 1]], [2.0, 2.0]) == b"\xb0"


def test_long_runs_of_zeros_go_round():
    row = np.zeros(100_000, dtype=np.int32)
    row[[9, 57, 58, 59, 60, 1000, 99_999]] = [9, 55, 56, 57, 58, 1000, 99_999]
    written = golomb.encode([row], 1)
    assert len(written) == ceil((row.sum() + len(row)) / 8)
    assert (golomb.decode(written, (1, len(row)), 1) == row).all()


def is_parameter(phi, k):
    phi = Fraction(phi)
    return phi**k + phi ** (k + 1) <= 1 < phi ** (k - 1) + phi**k


@given(st.floats(0, 0.97, exclude_min=True))
@example(nextafter(0, 1))
@example(0.5)
@example((5**0.5 - 1) / 2)
def test_the_parameter_satisfies_its_inequalities_exactly(phi):
    assert is_parameter(phi, golomb.parameter(phi))


# The floats on both sides of where one parameter takes over from the next.
@pytest.mark.parametrize("k", [1, 2, 3, 7, 10, 50, 150])
def test_the_parameter_is_exact_at_its_boundaries(k):
    low, high = 0.0, 1.0
    while nextafter(low, 1) < high:
        middle = (low + high) / 2
        phi = Fraction(middle)
        low, high = (middle, high) if phi**k + phi ** (k + 1) <= 1 else (low, middle)
    assert golomb.parameter(low) == k
    assert golomb.parameter(high) == k + 1
    assert is_parameter(low, k)
    assert is_parameter(high, k + 1)


@pytest.mark.parametrize("k", [1000, 12_345, 10**6, 10**8 + 7, 10**9, MOST - 1])
def test_the_parameter_is_right_near_one(k):
    with mpmath.workdps(60):
        # About where phi^k (1 + phi) = 1; then its neighbours, at sixty digits.
        phi = float(mpmath.findroot(lambda x: k * mpmath.log(x) + mpmath.log1p(x), 0.5 ** (1 / k)))
        for _ in range(4):
            phi = nextafter(phi, 0)
        for _ in range(8):
            exact = mpmath.mpf(phi)
            want = int(mpmath.ceil(mpmath.log1p(exact) / -mpmath.log(exact)))
            if want <= MOST:
                assert golomb.parameter(phi) == want
            phi = nextafter(phi, 1)


@pytest.mark.parametrize("phi", [0, 1, 0.0, 1.0, nextafter(1, 0), -0.1, 1.1, float("nan"), "0.5"])
def test_the_ends_have_no_parameter(phi):
    with pytest.raises(ValueError, match="phi"):
        golomb.parameter(phi)
    with pytest.raises(ValueError, match="phi"):
        golomb.length(10, phi)


def bits_of(digits, k):
    return sum(len(reference.golomb_word(int(digit), k)) for digit in digits)


@given(codes)
def test_the_fitted_parameter_is_the_best_of_all(rows):
    digits = np.array(rows)
    candidates = range(1, 90)
    assert golomb.fit(rows) == min(candidates, key=lambda k: bits_of(digits.ravel(), k))
    best = [min(candidates, key=lambda k: bits_of(column, k)) for column in digits.T]
    assert golomb.fit_items(rows).tolist() == best


def test_items_of_their_own_are_shorter_around_other_centers():
    center = np.random.default_rng(0).permutation(200)
    drawn = lehmer_encode(Mallows(0.8, center=center).sample(200, rng=0))
    one, each = golomb.fit(drawn), golomb.fit_items(drawn)
    assert len(golomb.encode(drawn, each)) < 0.9 * len(golomb.encode(drawn, one))
    assert len(golomb.encode(drawn, one)) < len(golomb.encode(drawn, golomb.parameter(0.8)))


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("phi", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("k", [None, 1, 3, 8])
def test_lengths_follow_the_definition(n, phi, k):
    found = golomb.length(n, phi, parameter=k)
    expected = entropy = 0.0
    for i in range(n):
        weights = np.array([phi**j for j in range(i + 1)])
        chances = weights / weights.sum()
        expected += chances @ [len(reference.golomb_word(j, found.parameter)) for j in range(i + 1)]
        entropy -= chances @ np.log2(chances)
    assert found.parameter == (golomb.parameter(phi) if k is None else k)
    assert found.expected == pytest.approx(expected, rel=1e-12)
    assert found.entropy == pytest.approx(entropy, rel=1e-12, abs=1e-14)
    assert found.entropy <= found.expected
    assert found.fixed == sum(ceil(log2(i + 1)) for i in range(n))
    assert found.measured is None


def test_lengths_by_enumeration_of_all_rankings():
    n, phi, k = 5, 0.7, 2
    everyone = np.array(list(np.ndindex(*range(1, n + 1))))
    chances = phi ** everyone.sum(axis=1)
    chances /= chances.sum()
    found = golomb.length(n, phi, parameter=k)
    assert found.expected == pytest.approx(chances @ [bits_of(code, k) for code in everyone])
    assert found.entropy == pytest.approx(-(chances @ np.log2(chances)))


@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9])
def test_the_bytes_written_are_as_many_as_expected(phi):
    m, n = 2000, 100
    found = golomb.length(n, phi, codes=lehmer_encode(Mallows(phi, n=n).sample(m, rng=3)))
    # A digit's length varies by q, whose standard deviation is below 2 / (1 - phi^K).
    slack = 5 * 2 / (1 - phi**found.parameter) * (n / m) ** 0.5
    assert found.measured == pytest.approx(found.expected, abs=slack)


@given(codes, parameters.filter(lambda k: k < 100), st.data())
def test_changed_bytes_are_refused_or_are_other_codes(rows, k, data):
    shape = (len(rows), len(rows[0]))
    written = bytearray(golomb.encode(rows, k))
    at = data.draw(st.integers(0, 8 * len(written) - 1))
    written[at // 8] ^= 1 << at % 8
    try:
        read = golomb.decode(written, shape, k)
    except ValueError:
        return
    assert golomb.encode(read, k) == written
    assert read.tolist() != [list(row) for row in rows]


@given(st.binary(max_size=40), st.integers(0, 5), st.integers(1, 30), parameters)
def test_any_bytes_are_refused_or_decode_to_what_encodes_to_them(data, m, n, k):
    try:
        read = golomb.decode(data, (m, n), k)
    except ValueError:
        return
    assert golomb.encode(read, k) == data


@given(codes, parameters)
def test_bytes_too_few_or_too_many_are_refused(rows, k):
    shape = (len(rows), len(rows[0]))
    written = golomb.encode(rows, k)
    for wrong in (written[:-1], written + b"\0", b""):
        with pytest.raises(ValueError, match=r"data|cannot be read"):
            golomb.decode(wrong, shape, k)


@pytest.mark.parametrize(
    ("data", "shape", "k", "message"),
    [
        (b"", (1, 1), 1, "data is too short"),
        (b"\0", (1, 8), 1, "row 0: the digit of item 0 cannot be read: it is above the item"),
        (b"\xc0", (1, 4), 1, "row 0: the digit of item 2 cannot be read: it is above the item"),
        (b"\xf0", (2, 4), 1, "row 1: the digit of item 0 cannot be read: it is above the item"),
        (b"\xfc", (1, 8), 1, "item 6 cannot be read: the data end inside it"),
        (b"\xe4", (1, 3), 1, "data must end in zero bits"),
        (b"\xe0\0", (1, 3), 1, "data goes on after the last digit"),
        (b"\0" * 10**5, (1, 10**5), 1, "above the item"),
        (b"\x80", (10**12, 10**9), 1, "data is too short"),
        (b"\x80", (1, 0), 1, "items must be"),
        (b"\x80", (-1, 1), 1, "rankings must be"),
        (b"\x80", 1, 1, "shape must be"),
        ("x", (1, 1), 1, "data must be bytes, not str"),
        (b"\x80", (1, 1), 0, "parameter must be a whole number of at least 1, not 0"),
        (b"\x80", (1, 1), 2**31, "parameter must be at most"),
        (b"\x80", (1, 1), 1.5, "parameter must be a whole number"),
        (b"\x80", (1, 1), [1, 1], "parameter must be one number, or one per item"),
        (b"\xc0", (1, 2), [1, 0], "parameter of item 1 must be a whole number of at least 1"),
        (b"\xc0", (1, 2), [1.0, 2.5], "parameter of item 1 must be a whole number"),
        (b"\xc0", (1, 2), ["1", "2"], "parameter of item 0 must be a whole number"),
    ],
)
def test_what_decode_refuses(data, shape, k, message):
    with pytest.raises(ValueError, match=message):
        golomb.decode(data, shape, k)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 2]], "row 0: not a Lehmer code: digit 2 of item 1"),
        ([[0, 1], [-1, 0]], "row 1: not a Lehmer code: digit -1 of item 0"),
        ([[0, 0.5]], "not a whole number"),
        ([[]], "at least one item"),
    ],
)
def test_what_is_no_code_is_refused(rows, message):
    for function in (lambda x: golomb.encode(x, 1), golomb.fit, golomb.fit_items):
        with pytest.raises(ValueError, match=message):
            function(rows)


def test_no_codes_take_no_bytes_and_have_no_parameter():
    none = np.empty((0, 3), dtype=np.int32)
    assert golomb.encode(none, 4) == b""
    assert golomb.decode(b"", (0, 3), 4).shape == (0, 3)
    with pytest.raises(ValueError, match="no rankings"):
        golomb.fit(none)
    with pytest.raises(ValueError, match="codes must be at least one"):
        golomb.length(3, 0.5, codes=none)
