"""Golomb codes of Lehmer digits (M13): rankings in few bits, to store or to send unmasked.

With parameter ``K``, a digit ``q K + r`` is ``q`` zeros, a one, and the remainder ``r`` in
truncated binary. Rankings near the identity take O(1) bits per digit. The lengths depend on the
data, so these codes cannot be masked: they are not a scheme for secure aggregation.

Codes are matrices of integers as `lehmer_encode` returns them: one code per row, digit ``i`` in
``0..i``. Every function raises `ValueError` if a digit or a parameter is out of range.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._entries import as_integers
from fedrank._validation import INT32_MAX, as_phi, whole
from fedrank.exceptions import InputError

__all__ = ["Length", "decode", "encode", "fit", "fit_items", "length", "parameter"]


@dataclass(frozen=True)
class Length:
    """Bits per ranking, as `length` returns them.

    Attributes
    ----------
    parameter : int
        The Golomb parameter.
    entropy : float
        Entropy of the digits: no code can have a smaller expected length.
    expected : float
        Expected bits of the Golomb code.
    fixed : int
        Bits without a model: digit ``i`` in the fewest bits that hold ``0..i``.
    measured : float or None
        Bits written, in whole bytes, if codes were given.
    """

    parameter: int
    entropy: float
    expected: float
    fixed: int
    measured: float | None = None


def parameter(phi: float) -> int:
    """Compute the best parameter for digits that are geometric with ratio ``phi``.

    It is the ``K`` with ``phi**K + phi**(K+1) <= 1 < phi**(K-1) + phi**K``, computed at twice the
    precision of a float. ``phi`` must be above 0, and below 1 by enough that ``K < 2**31``.

    Examples
    --------
    >>> [parameter(phi) for phi in (0.3, 0.6, 0.9, 0.99)]
    [1, 1, 7, 69]
    """
    return _core.golomb_parameter(as_phi(phi))


def encode(codes: ArrayLike, parameter: ArrayLike) -> bytes:
    """Write Lehmer codes as bytes, with one parameter for all items, or one per item.

    Bits fill bytes from the highest bit down, digits follow each other row by row, and zeros fill
    the last byte. There is no header: `decode` needs the shape and the parameter.

    Examples
    --------
    0 is ``10``, 1 is ``11``, and 2 is ``010``: one zero, a one, remainder 0.

    >>> encode([[0, 1, 2]], 2) == bytes([0b10_11_010_0])
    True
    """
    digits = as_digits(codes)
    return _core.golomb_encode(digits, as_parameters(parameter, digits.shape[1]))


def decode(data: bytes, shape: tuple[int, int], parameter: ArrayLike) -> NDArray[np.int32]:
    """Read the codes that `encode` wrote with this parameter; ``shape`` is (rankings, items).

    Raises `ValueError` if the bytes end inside a digit, a digit ``i`` is above ``i``, or anything
    but zero bits up to the next byte follows the last digit. There is no checksum: bytes that
    were changed may also decode to other digits.

    Examples
    --------
    >>> decode(bytes([0b10_11_010_0]), (1, 3), 2)
    array([[0, 1, 2]], dtype=int32)
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(f"must be bytes, not {type(data).__name__}", parameter="data", value=data)
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise InputError(
            f"must be (rankings, items), not {shape!r}", parameter="shape", value=shape
        )
    rows, n = whole("rankings", shape[0], least=0), whole("items", shape[1], most=INT32_MAX)
    return _core.golomb_decode(bytes(data), rows, n, as_parameters(parameter, n))


def fit(codes: ArrayLike) -> int:
    """Find the parameter that makes these codes shortest, by trying all; the least of several.

    Examples
    --------
    With 2 these digits take 2, 2, 3, 3, 4 and 4 bits; 1 and 3 need 21 and 19 in all.

    >>> fit([[0, 1, 2, 3, 4, 5]]), len(encode([[0, 1, 2, 3, 4, 5]], 2))
    (2, 3)
    """
    return _core.golomb_fit(as_digits(codes))


def fit_items(codes: ArrayLike) -> NDArray[np.int32]:
    """Find the parameter that makes the digits of each item shortest: `fit`, column by column.

    Digits are geometric only around the identity. Around another center some are large and some
    small, and no single parameter suits all items.

    Examples
    --------
    >>> fit_items([[0, 1, 2, 3]])
    array([1, 1, 1, 2], dtype=int32)
    """
    return _core.golomb_fit_items(as_digits(codes))


def length(
    n: int, phi: float, *, parameter: int | None = None, codes: ArrayLike | None = None
) -> Length:
    """Compute the bits per ranking of ``n`` items from a Mallows model around the identity.

    There digit ``i`` is a truncated geometric variable on ``0..i``. The parameter is the best for
    ``phi`` by default; ``codes``, if given, are encoded and their bytes counted.

    Examples
    --------
    >>> from fedrank import Mallows, lehmer_encode
    >>> bits = length(n=978, phi=0.9, codes=lehmer_encode(Mallows(0.9, n=978).sample(500, rng=0)))
    >>> round(bits.entropy), round(bits.expected), round(bits.measured), bits.fixed
    (4545, 4600, 4598, 8757)
    """
    n, phi = whole("n", n, most=INT32_MAX), as_phi(phi)
    best = _core.golomb_parameter(phi) if parameter is None else as_parameter(parameter)
    measured = None
    if codes is not None:
        digits = as_digits(codes)
        if digits.shape[1] != n or not len(digits):
            raise InputError(
                f"must be at least one row of {n} digits, not of shape {digits.shape}",
                parameter="codes",
                value=digits.shape,
            )
        measured = 8 * len(encode(digits, best)) / len(digits)
    # i needs k bits or more from 2^(k-1) on.
    fixed = sum(n - 2**k for k in range((n - 1).bit_length()))
    entropy, expected = _core.golomb_entropy_bits(phi, n), _core.golomb_expected_bits(phi, best, n)
    return Length(best, entropy, expected, fixed, measured)


def as_digits(codes: ArrayLike) -> NDArray[np.int32]:
    """Convert Lehmer codes to a matrix; the core checks the digits."""
    return np.ascontiguousarray(as_integers(codes, "digits"), dtype=np.int32)


def as_parameter(value: float, name: str = "parameter") -> int:
    """Check one parameter."""
    return whole(name, value, most=INT32_MAX)


def as_parameters(parameter: ArrayLike, n: int) -> NDArray[np.uint32]:
    """Check one parameter for all items, or one per item."""
    values = np.asarray(parameter)
    if values.ndim == 0:
        return np.array([as_parameter(values.item())], dtype=np.uint32)
    if values.shape != (n,):
        raise InputError(
            f"must be one number, or one per item, in shape ({n},), not {values.shape}",
            parameter="parameter",
            value=values.shape,
        )
    each = (as_parameter(k, f"parameter of item {i}") for i, k in enumerate(values.tolist()))
    return np.fromiter(each, dtype=np.uint32, count=n)
