"""Golomb codes of Lehmer digits (M13): rankings in few bits, to store or send in the clear.

With parameter ``K``, a digit ``q K + r`` is ``q`` zeros, a one, and the remainder ``r`` in
truncated binary. Near the identity that takes O(1) bits a digit. The lengths depend on the data,
so these codes cannot be masked: they are no scheme for secure aggregation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._validation import INT32_MAX, as_integers, as_phi, whole

__all__ = ["Length", "decode", "encode", "fit", "fit_items", "length", "parameter"]


@dataclass(frozen=True)
class Length:
    """Bits that the code of one ranking takes.

    Attributes
    ----------
    parameter : int
        The Golomb parameter.
    entropy : float
        Entropy of the digits: no code can have a smaller expected length.
    expected : float
        Expected bits of the Golomb code.
    fixed : int
        Bits without a model: digit ``i`` in as few bits as hold ``0..i``.
    measured : float or None
        Bits that were really written for each ranking, whole bytes, where codes were given.

    Examples
    --------
    >>> length(n=100, phi=0.6).fixed
    573
    """

    parameter: int
    entropy: float
    expected: float
    fixed: int
    measured: float | None = None


def parameter(phi: float) -> int:
    """Find the best parameter for digits that are geometric with ratio ``phi``.

    It is the ``K`` with ``phi**K + phi**(K+1) <= 1 < phi**(K-1) + phi**K``, decided at twice the
    precision of a float, so that it is right also beside the boundary of two parameters.

    Parameters
    ----------
    phi : float
        Dispersion, above 0 and below 1.

    Raises
    ------
    ValueError
        If ``phi`` is not above 0 and below 1, or so near to 1 that the parameter is above 2³¹ − 1.

    Examples
    --------
    >>> [parameter(phi) for phi in (0.3, 0.6, 0.9, 0.99)]
    [1, 1, 7, 69]
    """
    return _core.golomb_parameter(as_phi(phi))


def encode(codes: ArrayLike, parameter: ArrayLike) -> bytes:
    """Write Lehmer codes as bytes.

    Bits fill bytes from the highest down, digits follow each other row by row, and zeros fill the
    last byte. There is no header: `decode` must be told the shape and the parameter.

    Parameters
    ----------
    codes : array_like of int, shape (m, n)
        One code a row, digit ``i`` in ``0..i``, as `lehmer_encode` gives.
    parameter : int, or array_like of int, shape (n,)
        The Golomb parameter, or one for each item.

    Raises
    ------
    ValueError
        If a digit or a parameter is out of range.

    Examples
    --------
    0 is ``10``, 1 is ``11``, and 2 is ``010``: one zero, a one, remainder 0.

    >>> encode([[0, 1, 2]], 2) == bytes([0b10_11_010_0])
    True
    """
    digits = as_digits(codes)
    return _core.golomb_encode(digits, as_parameters(parameter, digits.shape[1]))


def decode(data: bytes, shape: tuple[int, int], parameter: ArrayLike) -> NDArray[np.int32]:
    """Read Lehmer codes that `encode` wrote.

    Parameters
    ----------
    data : bytes
        What `encode` returned.
    shape : (int, int)
        Rankings and items.
    parameter : int, or array_like of int, shape (n,)
        What `encode` was given.

    Returns
    -------
    codes : numpy.ndarray of int32, shape (m, n)

    Raises
    ------
    ValueError
        If the bytes end inside a digit, a digit ``i`` is above ``i``, or anything but zero bits up
        to the next byte follows the last digit. Bytes that were changed may also decode to other
        digits: there is no checksum.

    Examples
    --------
    >>> decode(bytes([0b10_11_010_0]), (1, 3), 2)
    array([[0, 1, 2]], dtype=int32)
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(f"data must be bytes, not {type(data).__name__}")
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(f"shape must be (rankings, items), not {shape!r}")
    rows, n = whole("rankings", shape[0], least=0), whole("items", shape[1], most=INT32_MAX)
    return _core.golomb_decode(bytes(data), rows, n, as_parameters(parameter, n))


def fit(codes: ArrayLike) -> int:
    """Find the parameter that makes these codes the shortest; the least of several.

    Exact, by trying all.

    Parameters
    ----------
    codes : array_like of int, shape (m, n)
        Lehmer codes.

    Raises
    ------
    ValueError
        If a digit is out of range, or there are no codes.

    Examples
    --------
    With 2 these digits take 2, 2, 3, 3, 4 and 4 bits; 1 and 3 need 21 and 19 in all.

    >>> fit([[0, 1, 2, 3, 4, 5]]), len(encode([[0, 1, 2, 3, 4, 5]], 2))
    (2, 3)
    """
    return _core.golomb_fit(as_digits(codes))


def fit_items(codes: ArrayLike) -> NDArray[np.int32]:
    """For each item, find the parameter that makes its digits the shortest: `fit` by column.

    Digits are geometric only around the identity. Around another center some are large and some
    small, and one parameter does not suit all.

    Parameters
    ----------
    codes : array_like of int, shape (m, n)
        Lehmer codes.

    Returns
    -------
    parameters : numpy.ndarray of int32, shape (n,)

    Raises
    ------
    ValueError
        If a digit is out of range, or there are no codes.

    Examples
    --------
    >>> fit_items([[0, 1, 2, 3]])
    array([1, 1, 1, 2], dtype=int32)
    """
    return _core.golomb_fit_items(as_digits(codes))


def length(
    n: int, phi: float, parameter: int | None = None, codes: ArrayLike | None = None
) -> Length:
    """Compute the expected bits of a Mallows ranking, beside the entropy and what is written.

    The center is the identity: digit ``i`` is a truncated geometric variable on ``0..i``.

    Parameters
    ----------
    n : int
        Items.
    phi : float
        Dispersion, above 0 and below 1.
    parameter : int, optional
        The Golomb parameter; the best for ``phi`` by default.
    codes : array_like of int, shape (m, n), optional
        Lehmer codes to write and measure.

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
            raise ValueError(f"codes must be at least one of {n} digits, not {digits.shape}")
        measured = 8 * len(encode(digits, best)) / len(digits)
    return Length(
        parameter=best,
        entropy=_core.golomb_entropy_bits(phi, n),
        expected=_core.golomb_expected_bits(phi, best, n),
        fixed=fixed_bits(n),
        measured=measured,
    )


def fixed_bits(n: int) -> int:
    """Bits of ``0..i``, summed over the digits: ``Σ ⌈log2(i + 1)⌉``.

    Examples
    --------
    >>> fixed_bits(4)  # 0 + 1 + 2 + 2
    5
    """
    # k bits and more are needed for every i from 2^(k-1) on.
    return sum(n - 2**k for k in range((n - 1).bit_length()))


def as_digits(codes: ArrayLike) -> NDArray[np.int32]:
    """Cast and order Lehmer codes; the core checks them."""
    return np.ascontiguousarray(as_integers(codes, "digits"), dtype=np.int32)


def as_parameter(value: float) -> int:
    """Check one parameter."""
    return whole("parameter", value, most=INT32_MAX)


def as_parameters(parameter: ArrayLike, n: int) -> NDArray[np.uint32]:
    """Check one parameter, or one for each item."""
    values = np.asarray(parameter)
    if values.ndim == 0:
        return np.array([as_parameter(values.item())], dtype=np.uint32)
    if values.shape != (n,):
        raise ValueError(
            f"parameter must be one number, or one for each of {n} items, not {values.shape}"
        )
    if values.dtype.kind not in "iuf":
        raise ValueError(f"parameter must be whole numbers, not {values.dtype}")
    right = (values >= 1) & (values <= INT32_MAX) & (values == np.floor(values))
    if not right.all():
        item = int(np.argmin(right))
        raise ValueError(
            f"parameter {values[item]} of item {item} must be a whole number, 1 to {INT32_MAX}"
        )
    return np.ascontiguousarray(values, dtype=np.uint32)
