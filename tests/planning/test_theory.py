"""The paper's theorems (M12), against arithmetic done by hand."""

from fractions import Fraction
from math import exp, log, log2, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedrank as fr
from fedrank import theory

# phi = 1/4: spread (5/4)²/(3/4)² = 25/9, 1 − √phi = 1/2, so C = 8 ln(128 · 25/9 · 2)/ln 4
# = 8 ln(6400/9)/ln 4 = 37.896.
# phi = 1/2: spread (3/2)²/(1/2)² = 9, C = 8 ln(128 · 9/(1 − √½))/ln 2 = 95.532.
# phi = e^-64: spread 1 to 27 digits; the first of C is 8 ln(128)/64 = 0.607, the second e^4.
CONSTANTS = {
    0.25: (25 / 9, 8 * log(6400 / 9) / log(4)),
    0.5: (9, 8 * log(1152 / (1 - sqrt(0.5))) / log(2)),
    exp(-64): (1, exp(4)),
}


@pytest.mark.parametrize(
    ("n", "phi", "delta", "union", "samples"),
    [
        (10, 0.25, 0.1, log(200), 338_171),  # 16 · 37.896² · 25/9 · 5.2983
        (100, 0.5, 0.05, log(4000), 10_899_970),  # 16 · 95.532² · 9 · 8.2940
        (2, exp(-64), 0.5, log(8), 99_180),  # 16 · 2980.96 · 1 · 2.0794
    ],
)
def test_theorem_1(n, phi, delta, union, samples):
    wide, c = CONSTANTS[phi]
    found = theory.samples("borda", n, phi, delta)
    assert found.theorem == 1
    assert found.terms["C"] == pytest.approx(c, rel=1e-12)
    assert found.terms["printed"] == pytest.approx(16 * c**2 * wide * union, rel=1e-12)
    assert found.printed == found.proved == samples


@pytest.mark.parametrize(
    ("n", "phi", "delta", "clients", "union", "printed", "proved"),
    [
        # printed: (260 · 5.2983 + ln(16/3)) · 37.896² · 25/9 / 4;
        # proved: 260 · 37.896² · 25/9 · (5.2983 + 4 ln(4/3)) / 4
        (10, 0.25, 0.1, 4, log(200), 1_375_488, 1_672_195),
        # one client: 260 · 95.532² · 9 · (8.2940 + ln(4/3)) is the larger of the proved
        (100, 0.5, 0.05, 1, log(4000), 177_148_135, 183_268_132),
        # so many clients that the first terms decide: 256 · 9 and 128 ln 16 · 95.532² · 9
        (100, 0.5, 0.05, 10**6, log(4000), 2304, 29_149_701),
    ],
)
def test_theorem_2(n, phi, delta, clients, union, printed, proved):
    wide, c = CONSTANTS[phi]
    found = theory.samples("borda", n, phi, delta, clients)
    assert found.theorem == 2
    assert found.terms == pytest.approx(
        {
            "C": c,
            "printed alone": 256 * wide,
            "printed together": c**2 * (260 * union + log(4 * clients / 3)) * wide / clients,
            "proved alone": 128 * log(16) * c**2 * wide,
            "proved together": 260 * c**2 * wide * (union + clients * log(4 / 3)) / clients,
        },
        rel=1e-12,
    )
    assert (found.printed, found.proved) == (printed, proved)


@pytest.mark.parametrize(
    ("n", "phi", "delta", "p", "bound", "samples"),
    [
        # p = (1/2)/1; 2 (3/2)²/(1/2)⁴ = 72; n²/(2 delta) = 40
        (2, 0.5, 0.05, Fraction(1, 2), 72 * log(40), 266),
        # p = (1/2 + 1/4)/(1 + 1/8) = 2/3; 2 (5/3)²/(1/3)⁴ = 450; 9/0.2 = 45
        (3, 0.5, 0.1, Fraction(2, 3), 450 * log(45), 1713),
        # p = (7/8)/(1 + 1/8 + 1/16) = 14/19; 2 (33/19)²/(5/19)⁴ = 2 · 33² · 19²/5⁴; 16/0.4 = 40
        (4, 0.5, 0.2, Fraction(14, 19), 2 * 33**2 * 19**2 / 5**4 * log(40), 4641),
    ],
)
def test_theorem_3(n, phi, delta, p, bound, samples):
    found = theory.samples("lehmer", n, phi, delta)
    assert found.theorem == 3
    assert found.terms["p"] == theory.decay(n, phi) == pytest.approx(float(p), rel=1e-14)
    assert found.terms["printed"] == found.terms["proved"] == pytest.approx(bound, rel=1e-12)
    assert found.printed == found.proved == samples
    assert found.conditions == {"phi + phi**2 < 1 + phi**n": True}


@pytest.mark.parametrize(
    ("setting", "q", "alone", "together", "printed", "proved"),
    [
        # p = 1/2, q = ln 2/ln 2; 4 (3/2)²/(1/2)² = 36, and 144 with the fourth power;
        # nL/delta = 100
        (
            (2, 0.5, 0.06, 3),
            1,
            (36 * log(6), 144 * log(6)),
            (72 * (log(2) + log(100) / 3), 288 * (log(2) + log(100) / 3)),
            161,
            642,
        ),
        # p = 1/4, q = ln(4/3)/ln 4 = 0.2075, below 1; 4 (5/4)²/(3/4)² = 100/9, and
        # 4 · 25/16 · 256/81 = 1600/81 with the fourth power; nL/delta = 40
        (
            (2, 0.25, 0.5, 10),
            log(4 / 3) / log(4),
            (100 / 9 * log(6 * log(4 / 3) / log(4)), 1600 / 81 * log(6)),
            (200 / 9 * (log(2) + log(40) / 10), 3200 / 81 * (log(2) + log(40) / 10)),
            24,
            42,
        ),
        # p = 2/3, q = ln 3/ln 1.5 = 2.7095; 4 (5/3)²/(1/3)² = 100, and 900 with the fourth power;
        # nL/delta = 300
        (
            (3, 0.5, 0.1, 10),
            log(3) / log(1.5),
            (100 * log(6 * log(3) / log(1.5)), 900 * log(6 * log(3) / log(1.5))),
            (200 * (log(2) + log(300) / 10), 1800 * (log(2) + log(300) / 10)),
            279,
            2510,
        ),
    ],
)
def test_theorem_4(setting, q, alone, together, printed, proved):
    found = theory.samples("lehmer", *setting)
    assert found.theorem == 4
    terms = {"printed alone": alone[0], "proved alone": alone[1]}
    terms |= {"printed together": together[0], "proved together": together[1]}
    terms |= {"p": theory.decay(*setting[:2]), "q": q}
    assert found.terms == pytest.approx(terms, rel=1e-12)
    assert (found.printed, found.proved) == (printed, proved)
    assert found.conditions["q >= 1, for what is printed"] == (q >= 1)


@pytest.mark.parametrize(
    ("n", "clients", "printed", "proved", "client_bytes"),
    [
        (978, 10, 9780 * log2(978), 10 * 978 * 14, 1712),  # 10 · 977 = 9770 < 2^14
        (4, 2, 8 * 2, 2 * 4 * 3, 2),  # 2 · 3 = 6 < 2^3
        (10, 50, 500 * log2(10), 50 * 10 * 9, 12),  # 50 · 9 = 450 < 2^9
    ],
)
def test_borda_bits(n, clients, printed, proved, client_bytes):
    found = theory.message_bits("borda", n, 0.6, clients)
    assert found.printed == pytest.approx(printed, rel=1e-14)
    assert (found.proved, found.client_bytes) == (proved, client_bytes)
    assert found.client_bits * clients == proved


def test_borda_bits_without_quantizing():
    found = theory.message_bits("borda", 978, 0.6, 10, max_samples=50)
    scheme = fr.Borda(978, 10, send="sums", max_samples=50)
    assert found.terms["exact"] == 10 * 978 * 19 == 10 * scheme.message_bits  # 488 500 < 2^19


# n = 2: p = phi. M n²/epsilon = 4 · 4 · 4 = 64 = 2^6, ln(1/p) = ln 2 · k, so X = 12/k + 1.
@pytest.mark.parametrize(
    ("phi", "reach", "low", "fits"),
    [(2**-4, 4, 2, False), (2**-6, 3, 2, False), (2**-12, 2, 1, True)],
)
def test_lehmer_bits_of_two_items(phi, reach, low, fits):
    found = theory.message_bits("lehmer", 2, phi, clients=4, max_samples=1, epsilon=0.25)
    assert found.terms["X"] == pytest.approx(reach, rel=1e-12)
    assert found.terms["I"] == low == theory.low_bits(2, phi, 4, 1, epsilon=0.25)
    # L (n (log n − log X + X log L)) = 4 · 2 (1 − log2 X + 2 X)
    assert found.printed == pytest.approx(8 * (1 - log2(reach) + 2 * reach), rel=1e-12)
    # One slot of the second digit, in ⌈log2 5⌉ = 3 bits; no high part.
    assert (found.proved, found.client_bits, found.client_bytes) == (4 * 3, 3, 1)
    assert found.conditions["2**I <= n"] == fits


@given(st.integers(1, 300), st.floats(0, 0.6), st.integers(1, 99), st.integers(1, 500))
def test_mended_lehmer_bits_are_those_of_the_scheme(n, phi, clients, most):
    found = theory.message_bits("lehmer", n, phi, clients, most)
    scheme = fr.Lehmer(n, clients, phi=phi, low_bits="paper", max_samples=most)
    assert found.client_bits == scheme.message_bits
    assert found.proved == clients * scheme.message_bits
    assert found.terms["I"] == scheme.low_bits


@given(st.integers(1, 40), st.fractions(0, 1))
def test_decay_follows_the_definition(n, fraction):
    phi = float(fraction)
    exact = Fraction(phi)
    p = sum(exact**u for u in range(1, n)) / (1 + sum(exact**u for u in range(3, n + 1)))
    assert theory.decay(n, phi) == pytest.approx(float(p), rel=1e-12, abs=1e-300)
    if n == 1 or exact + exact**2 < 1 + exact**n:
        gap = theory.one_minus_decay(n, phi)
        assert gap == pytest.approx(float(1 - p), rel=1e-12)
        assert p < 1
    else:
        assert p >= 1


def test_beside_the_golden_ratio_the_condition_is_decided_exactly():
    # With n so large that phi^n vanishes, the boundary is the root of phi + phi² = 1.
    below, above = 0.6180339887498948, 0.6180339887498949
    assert Fraction(below) + Fraction(below) ** 2 < 1 < Fraction(above) + Fraction(above) ** 2
    assert theory.samples("lehmer", 10_000, below, 0.1).proved > 10**60
    with pytest.raises(ValueError, match='method="borda"'):
        theory.samples("lehmer", 10_000, above, 0.1)


@pytest.mark.parametrize("method", ["borda", "lehmer"])
@pytest.mark.parametrize("clients", [None, 1, 10])
@pytest.mark.parametrize("phi", [0.0, 0.3, 1.0])
def test_one_item_needs_one_sample(method, clients, phi):
    found = theory.samples(method, 1, phi, 0.1, clients)
    assert found.printed == found.proved == 1


@given(
    st.sampled_from(["borda", "lehmer"]),
    st.integers(2, 10**9),
    st.floats(1e-300, 0.6),
    st.floats(1e-9, 0.999),
    st.none() | st.integers(1, 10**6),
)
def test_the_proofs_never_ask_for_fewer(method, n, phi, delta, clients):
    found = theory.samples(method, n, phi, delta, clients)
    assert 1 <= found.printed <= found.proved


@given(st.integers(2, 10**9), st.floats(0.6, 1, exclude_max=True), st.none() | st.integers(1, 99))
def test_borda_has_a_theorem_for_every_phi(n, phi, clients):
    assert theory.samples("borda", n, phi, 0.05, clients).proved > 1000


@pytest.mark.parametrize("clients", [None, 10])
@pytest.mark.parametrize(("n", "phi"), [(978, 0.62), (978, 0.7), (5, 0.9), (4, 0.99)])
def test_lehmer_says_what_applies_where_its_theorems_do_not(n, phi, clients):
    assert phi + phi**2 >= 1 + phi**n
    with pytest.raises(ValueError, match=r"phi \+ phi\*\*2 < 1 \+ phi\*\*n.*Theorems 1 and 2"):
        theory.samples("lehmer", n, phi, 0.05, clients)
    with pytest.raises(ValueError, match=r"low_bits=0"):
        theory.message_bits("lehmer", n, phi, 10, 50)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "kemeny"}, "method must be one of borda, lehmer, not 'kemeny'"),
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"phi": 0}, "every ranking is the center: one is enough"),
        ({"phi": 1}, "rankings are uniform"),
        ({"phi": 1.5}, "phi must be in"),
        ({"delta": 0}, "delta must be above 0 and below 1, not 0"),
        ({"delta": float("nan")}, "delta must be"),
        ({"clients": 0}, "clients must be"),
    ],
)
def test_what_samples_refuses(changes, message):
    arguments = {"method": "borda", "n": 10, "phi": 0.5, "delta": 0.1} | changes
    with pytest.raises(ValueError, match=message):
        theory.samples(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_samples": None}, "max_samples is needed"),
        ({"epsilon": 1}, "epsilon must be above 0 and below 1"),
        ({"clients": 0}, "clients must be"),
        ({"method": "borda", "phi": 1}, "phi"),
    ],
)
def test_what_message_bits_refuses(changes, message):
    arguments = {"method": "lehmer", "n": 10, "phi": 0.5, "clients": 3, "max_samples": 5} | changes
    with pytest.raises(ValueError, match=message):
        theory.message_bits(**arguments)


def constant_of_theorem_1(phi):
    """C of Theorem 1, as printed."""
    rate = log(1 / phi)
    far = 128 * (1 + phi) ** 2 / ((1 - phi) ** 2 * (1 - sqrt(phi)))
    least = sqrt(2 * (1 - phi) / ((1 + phi) * rate))
    return max(8 * log(far) / rate, exp(rate / 16), least)


def test_theorem_1_holds_though_a_step_of_its_proof_does_not():
    for phi in (k / 1000 for k in range(10, 991)):
        c, r = constant_of_theorem_1(phi), (1 - phi) / (2 * (1 + phi))
        rate = r / c**2
        # The logarithm of 8 phi^(C/2) e^(rate C) / (1 - e^rate sqrt(phi)), against r^2 / (4 C^2).
        left = log(8) + c / 2 * log(phi) + rate * c
        left -= log(1 - exp(rate) * sqrt(phi))
        assert left <= log(r**2 / (4 * c**2)), phi
        relaxed = 2 * log(c) + log(32 / (r**2 * (1 - sqrt(phi))))
        assert (relaxed <= c * log(1 / phi) / 4) == (not 0.051 <= phi <= 0.927), phi
