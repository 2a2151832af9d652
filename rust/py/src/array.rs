//! NumPy arrays as slices, and vectors as NumPy arrays, without copying.
//!
//! Python's ranks are `int32`, the core's `u32`; the bits are the same, and a negative
//! number becomes one that is out of range.

use bytemuck::allocation::cast_vec;
use fedrank_core::rng::Key;
use fedrank_core::{Profile, Rankings};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error::{Error, Result};

/// Matrix of ranks, as Python holds it.
pub(crate) type Ranks<'py> = PyReadonlyArray2<'py, i32>;
/// One weight a row, or none.
pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, u32>>;

/// The entries and the row length of a C-ordered matrix.
///
/// Not by `as_slice`, which also takes Fortran order and reads it transposed.
pub(crate) fn c_order<'a, T: numpy::Element>(
    array: &'a PyReadonlyArray2<'_, T>,
) -> Result<(&'a [T], usize)> {
    let view = array.as_array();
    let n = view.dim().1;
    let entries = view.to_slice().ok_or_else(|| Error::value("the array must be C-ordered"))?;
    Ok((entries, n))
}

/// The entries of a contiguous vector.
pub(crate) fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> Result<&'a [T]> {
    array.as_array().to_slice().ok_or_else(|| Error::value("the array must be contiguous"))
}

/// Rankings that Python has validated.
pub(crate) fn rankings<'a>(ranks: &'a Ranks<'_>) -> Result<Rankings<'a>> {
    let (ranks, n) = c_order(ranks)?;
    if n == 0 {
        return Err(Error::value("there must be at least one item"));
    }
    Ok(Rankings::trusted(bytemuck::cast_slice(ranks), n))
}

/// Validated rankings with their weights.
pub(crate) fn profile<'a>(ranks: &'a Ranks<'_>, weights: &'a Weights<'_>) -> Result<Profile<'a>> {
    let weights = weights.as_ref().map(slice).transpose()?;
    Ok(Profile::new(rankings(ranks)?, weights)?)
}

/// A seed of 32 bytes.
pub(crate) fn key(bytes: &[u8]) -> Result<Key> {
    bytes.try_into().map_err(|_| Error::value("the key must be 32 bytes"))
}

/// Ranks, digits or distances, as a vector of Python's signed type.
pub(crate) fn vector<'py, U, I>(py: Python<'py>, entries: Vec<U>) -> Bound<'py, PyArray1<I>>
where
    U: bytemuck::NoUninit,
    I: bytemuck::AnyBitPattern + numpy::Element,
{
    PyArray1::from_vec(py, cast_vec(entries))
}

/// [`vector`], in rows of `n`.
pub(crate) fn matrix<'py, U, I>(
    py: Python<'py>,
    entries: Vec<U>,
    n: usize,
) -> Result<Bound<'py, PyArray2<I>>>
where
    U: bytemuck::NoUninit,
    I: bytemuck::AnyBitPattern + numpy::Element,
{
    let rows = entries.len() / n.max(1);
    Ok(vector(py, entries).reshape([rows, n])?)
}
