"""What the paper's theorems promise: samples that suffice, and bits that are sent (M12).

Each result gives what the paper prints and what its proofs support; where the two differ, rely on
the proof. Logarithms are natural, except in numbers of bits. The bounds are for comparing
methods, not for planning: they ask for millions of rankings where tens are enough.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, log1p, log2, sqrt

from fedrank import _core
from fedrank._validation import INT32_MAX, as_phi, as_probability, whole
from fedrank.exceptions import InputError
from fedrank.schemes import Borda, Lehmer

__all__ = [
    "MessageBits",
    "NoTheoremError",
    "Samples",
    "decay",
    "low_bits",
    "message_bits",
    "samples",
]

METHODS = ("borda", "lehmer")
DECAYS = "phi + phi**2 < 1 + phi**n"
"""The condition of the theorems on Lehmer codes."""


class NoTheoremError(ValueError):
    """No theorem of the paper covers these parameters; the message says what to use instead."""


@dataclass(frozen=True)
class Samples:
    """Rankings that a theorem says are enough to recover the center.

    Attributes
    ----------
    theorem : int
        Its number in the paper: 1 and 2 are Borda, 3 and 4 Lehmer, the even ones federated.
    printed : int
        Rankings in total (1, 3) or per client (2, 4), as the paper prints the bound.
    proved : int
        The same, as the proof supports it. That of Theorem 4 leaves out the correction of how
        the proof groups far digits, which enters through a logarithm: see the theory page.
    terms : dict of str to float
        The terms of the bounds: ``printed`` and ``proved`` are the largest of the terms whose
        names begin so, rounded up.
    conditions : dict of str to bool
        Conditions, and whether they hold.

    Examples
    --------
    >>> found = samples("lehmer", n=2, phi=0.5, delta=0.05)
    >>> found.printed, found.conditions
    (266, {'phi + phi**2 < 1 + phi**n': True})
    """

    theorem: int
    printed: int
    proved: int
    terms: dict[str, float]
    conditions: dict[str, bool]


@dataclass(frozen=True)
class MessageBits:
    """Bits that a federated consensus sends, by formula and as counted.

    Attributes
    ----------
    theorem : int
        The theorem that has the formula: 2 or 4.
    printed : float
        Bits of all clients together, as the paper prints the formula.
    proved : int
        Bits of all clients together if no sum wraps and no useless slot is sent (M6, M8).
    client_bits : int
        Bits of one client's message, counted by the scheme itself.
    client_bytes : int
        The same in whole bytes. Secure aggregation adds keys, shares and headers, which
        `fedrank.federate` counts.
    terms : dict of str to float
        The terms of the formulas.
    conditions : dict of str to bool
        Conditions, and whether they hold.

    Examples
    --------
    >>> message_bits("borda", n=978, phi=0.6, clients=10).client_bytes
    1712
    """

    theorem: int
    printed: float
    proved: int
    client_bits: int
    client_bytes: int
    terms: dict[str, float]
    conditions: dict[str, bool]


def decay(n: int, phi: float) -> float:
    """Compute the paper's ``p``: how fast Lehmer digits fall off around those of the center.

    Parameters
    ----------
    n : int
        Number of items.
    phi : float
        Dispersion.

    Returns
    -------
    p : float
        ``Σ_{u=1}^{n-1} phi**u / (1 + Σ_{u=3}^{n} phi**u)``, below 1, up to rounding, exactly
        if ``phi + phi**2 < 1 + phi**n``; 0 for one item.

    Examples
    --------
    >>> decay(2, 0.5)
    0.5
    >>> round(decay(978, 0.6), 4)
    0.974
    """
    return _core.decay(as_phi(phi), whole("n", n, most=INT32_MAX))


def low_bits(n: int, phi: float, clients: int, max_samples: int, *, epsilon: float = 0.01) -> int:
    """Bits of a Lehmer digit that the paper sends one-hot (M8): its ``I``.

    ``⌈log2(2 ln(M n²/epsilon) / ln(1/p) + 1)⌉``, with ``M = clients * max_samples``.

    Parameters
    ----------
    n : int
        Number of items.
    phi : float
        Dispersion.
    clients : int
        Largest number of clients.
    max_samples : int
        Largest number of rankings per client.
    epsilon : float
        Probability that a digit differs by more.

    Raises
    ------
    ValueError
        If ``phi + phi**2 < 1 + phi**n`` does not hold.

    Examples
    --------
    >>> low_bits(978, 0.6, clients=10, max_samples=50)
    11
    """
    n, phi, total = whole("n", n, most=INT32_MAX), as_phi(phi), as_total(clients, max_samples)
    as_probability("epsilon", epsilon)
    one_minus_decay(n, phi)
    return _core.paper_low_bits(phi, n, float(total), float(epsilon))


def samples(method: str, n: int, phi: float, delta: float, clients: int | None = None) -> Samples:
    """Rankings that suffice to recover the center with probability ``1 - delta``.

    Parameters
    ----------
    method : {"borda", "lehmer"}
        How the rankings are aggregated.
    n : int
        Number of items.
    phi : float
        Dispersion, above 0 and below 1; for Lehmer, ``phi + phi**2 < 1 + phi**n``.
    delta : float
        Probability of failure, above 0 and below 1. Theorem 4 fails with the ``epsilon`` of
        `low_bits` on top.
    clients : int, optional
        Number of clients; the result is then per client. By default all rankings are in one place.

    Returns
    -------
    found : Samples
        What the paper prints, and what it proves.

    Raises
    ------
    ValueError
        If no theorem applies; the message says what to use instead.

    Examples
    --------
    >>> samples("borda", n=978, phi=0.6, delta=0.05, clients=10).proved
    115694869
    >>> samples("lehmer", n=978, phi=0.7, delta=0.05)
    Traceback (most recent call last):
    ...
    fedrank.planning.theory.NoTheoremError: Theorems 3 and 4 need phi + phi**2 < 1 + phi**n, which
    phi = 0.7, n = 978 does not meet; Theorems 1 and 2 (method="borda") hold for every phi
    between 0 and 1, and fr.Lehmer(low_bits=0) works for any, without a theorem
    """
    check_method(method)
    n, phi = whole("n", n, most=INT32_MAX), as_phi(phi)
    delta = as_probability("delta", delta)
    many = None if clients is None else whole("clients", clients)
    theorem = 1 + 2 * METHODS.index(method) + (many is not None)
    if n == 1:
        return Samples(theorem, 1, 1, {}, {})
    if phi == 0:
        raise NoTheoremError(
            "at phi = 0 every ranking is the center: one is enough, without a theorem"
        )
    if phi == 1:
        raise NoTheoremError("at phi = 1 rankings are uniform: there is no center, and no theorem")
    if method == "borda":
        terms = borda_terms(n, phi, delta, many)
        conditions = {"0 < phi < 1": True}
    else:
        terms = lehmer_terms(n, phi, delta, many)
        conditions = {DECAYS: True}
        if many is not None:
            conditions["q >= 1, for what is printed"] = terms["q"] >= 1
    printed, proved = (
        max(1, ceil(max(value for name, value in terms.items() if name.startswith(kind))))
        for kind in ("printed", "proved")
    )
    return Samples(theorem, printed, proved, terms, conditions)


def borda_terms(n: int, phi: float, delta: float, clients: int | None) -> dict[str, float]:
    """Terms of Theorems 1 and 2."""
    theta = -log(phi)
    root_gap = (1 - phi) / (1 + sqrt(phi))  # 1 - √phi, also near 1
    spread = (1 + phi) ** 2 / (1 - phi) ** 2
    c = max(
        8 * log(128 * spread / root_gap) / theta,
        exp(theta / 16),
        sqrt(2 * (1 - phi) / ((1 + phi) * theta)),
    )
    union = log(2 * n / delta)
    if clients is None:
        enough = 16 * c**2 * spread * union
        return {"C": c, "printed": enough, "proved": enough}
    return {
        "C": c,
        "printed alone": 256 * spread,
        "printed together": c**2 * (260 * union + log(4 * clients / 3)) * spread / clients,
        "proved alone": 128 * log(16) * c**2 * spread,
        "proved together": 260 * c**2 * spread * (union / clients + log(4 / 3)),
    }


def lehmer_terms(n: int, phi: float, delta: float, clients: int | None) -> dict[str, float]:
    """Terms of Theorems 3 and 4."""
    p, gap = decay(n, phi), one_minus_decay(n, phi)
    if clients is None:
        enough = 2 * (1 + p) ** 2 / gap**4 * log(n**2 / (2 * delta))
        return {"p": p, "printed": enough, "proved": enough}
    q = (-log1p(-p) if p < 0.5 else -log(gap)) / log_inverse(p, gap)
    together = 8 * (1 + p) ** 2 * (log(2) + log(n * clients / delta) / clients)
    return {
        "p": p,
        "q": q,
        "printed alone": 4 * (1 + p) ** 2 * (log(6 * q) if q > 0 else -inf) / gap**2,
        "printed together": together / gap**2,
        "proved alone": 4 * (1 + p) ** 2 * log(6 * max(1, q)) / gap**4,
        "proved together": together / gap**4,
    }


def message_bits(
    method: str,
    n: int,
    phi: float,
    clients: int,
    max_samples: int | None = None,
    *,
    epsilon: float = 0.01,
) -> MessageBits:
    """Bits that clients send: as the paper prints them, as they must be, and as they are.

    Parameters
    ----------
    method : {"borda", "lehmer"}
        Quantized Borda (M6), or Lehmer coding with the paper's `low_bits` (M8).
    n : int
        Number of items.
    phi : float
        Dispersion, below 1; for Lehmer, ``phi + phi**2 < 1 + phi**n``.
    clients : int
        Number of clients.
    max_samples : int, optional
        Largest number of rankings per client; required for Lehmer. For Borda it adds the term
        ``"exact"``: bits without quantizing.
    epsilon : float
        Probability that a digit differs by more than Lehmer's one-hot part allows.

    Returns
    -------
    found : MessageBits
        Formulas for all clients, and the size of one message.

    Raises
    ------
    ValueError
        If the formula does not apply; the message says what to use instead.

    Examples
    --------
    >>> bits = message_bits("lehmer", n=978, phi=0.6, clients=10, max_samples=50)
    >>> round(bits.printed), bits.proved, bits.client_bytes
    (60737537, 19110120, 238877)
    """
    check_method(method)
    n, phi, many = whole("n", n, most=INT32_MAX), as_phi(phi), whole("clients", clients)
    epsilon = as_probability("epsilon", epsilon)
    scheme: Borda | Lehmer
    if method == "borda":
        theorem, scheme = 2, Borda(n, many, send="centroids", phi=phi)
        printed = many * n * log2(n)
        entry = (many * (n - 1)).bit_length()
        proved = many * n * entry
        terms: dict[str, float] = {"bits of an entry": entry}
        if max_samples is not None:
            most = as_total(many, max_samples) * (n - 1)
            terms["exact"] = many * n * most.bit_length()
        conditions = {"phi < 1": True}
    else:
        if max_samples is None:
            raise InputError(
                "is needed for Theorem 4, whose formula contains it", parameter="max_samples"
            )
        total = as_total(many, max_samples)
        bits = low_bits(n, phi, many, max_samples, epsilon=epsilon)
        p = decay(n, phi)
        reach = 2 * log(total * n**2 / epsilon) / log_inverse(p, one_minus_decay(n, phi)) + 1
        theorem, scheme = 4, Lehmer(n, many, phi=phi, low_bits=bits, max_samples=max_samples)
        printed = many * n * (log2(n) - log2(reach) + reach * log2(many))
        high = sum((many * (item >> bits)).bit_length() for item in range(n))
        slots = sum(min(2**bits, item + 1) - 1 for item in range(n))
        proved = many * (high + slots * many.bit_length())
        terms = {"p": p, "X": reach, "I": bits, "high": high, "slots": slots}
        conditions = {DECAYS: True, "2**I <= n": 2**bits <= n}
    size = scheme.message_bits
    return MessageBits(theorem, printed, proved, size, -(-size // 8), terms, conditions)


def one_minus_decay(n: int, phi: float) -> float:
    """Compute ``1 - p``, or explain why no theorem applies.

    It is ``(1 - phi - phi**2 + phi**n) / (1 + Σ_{u=3}^{n} phi**u)``, and the numerator is computed
    exactly, since near the golden ratio only rounding errors would be left.

    Examples
    --------
    >>> one_minus_decay(2, 0.25)
    0.75
    """
    if n == 1:
        return 1.0
    exact = Fraction(phi)
    last = exact**n if n <= 64 else Fraction(phi**n)
    gap = 1 - exact - exact**2 + last
    if gap <= 0:
        raise NoTheoremError(
            f"Theorems 3 and 4 need {DECAYS}, which phi = {phi}, n = {n} does not meet; Theorems 1 "
            'and 2 (method="borda") hold for every phi between 0 and 1, and fr.Lehmer(low_bits=0) '
            "works for any, without a theorem"
        )
    above = 1.0 if n < 3 or phi == 0 else 1 - phi**3 * expm1((n - 2) * log(phi)) / (1 - phi)
    return float(gap) / above


def log_inverse(p: float, gap: float) -> float:
    """Compute ``ln(1/p)`` from ``p`` and ``1 - p``; infinite at 0."""
    if p == 0:
        return inf
    return -log(p) if p < 0.5 else -log1p(-gap)


def check_method(method: str) -> None:
    """Check that the method has theorems."""
    if method not in METHODS:
        raise InputError(
            f"must be one of {', '.join(METHODS)}, not {method!r}",
            parameter="method",
            value=method,
        )


def as_total(clients: int, max_samples: int) -> int:
    """Return the largest total number of rankings."""
    return whole("clients", clients) * whole("max_samples", max_samples)
