//! Golomb codes of Lehmer digits.

use fedrank_core::golomb;
use fedrank_core::mallows::Phi;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Ranks, c_order, matrix, slice, vector};
use crate::error::Result;

type Parameters<'py> = PyReadonlyArray1<'py, u32>;

#[pyfunction]
pub(crate) fn golomb_parameter(phi: f64) -> Result<u32> {
    Ok(golomb::parameter(Phi::new(phi)?)?)
}

#[pyfunction]
pub(crate) fn golomb_encode<'py>(
    py: Python<'py>,
    codes: Ranks<'py>,
    parameters: Parameters<'py>,
) -> Result<Bound<'py, PyBytes>> {
    let ((codes, n), parameters) = (c_order(&codes)?, slice(&parameters)?);
    let codes = bytemuck::cast_slice(codes);
    Ok(PyBytes::new(py, &py.detach(|| golomb::encode(codes, n, parameters))?))
}

#[pyfunction]
pub(crate) fn golomb_decode<'py>(
    py: Python<'py>,
    data: &[u8],
    rows: usize,
    n: usize,
    parameters: Parameters<'py>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let parameters = slice(&parameters)?;
    matrix(py, py.detach(|| golomb::decode(data, rows, n, parameters))?, n)
}

#[pyfunction]
pub(crate) fn golomb_fit(py: Python<'_>, codes: Ranks<'_>) -> Result<u32> {
    let (codes, n) = c_order(&codes)?;
    Ok(py.detach(|| golomb::fit(bytemuck::cast_slice(codes), n))?)
}

#[pyfunction]
pub(crate) fn golomb_fit_items<'py>(
    py: Python<'py>,
    codes: Ranks<'py>,
) -> Result<Bound<'py, PyArray1<i32>>> {
    let (codes, n) = c_order(&codes)?;
    Ok(vector(py, py.detach(|| golomb::fit_items(bytemuck::cast_slice(codes), n))?))
}

#[pyfunction]
pub(crate) fn golomb_expected_bits(
    py: Python<'_>,
    phi: f64,
    parameter: u32,
    n: usize,
) -> Result<f64> {
    let phi = Phi::new(phi)?;
    Ok(py.detach(|| golomb::expected_bits(phi, parameter, n))?)
}

#[pyfunction]
pub(crate) fn golomb_entropy_bits(py: Python<'_>, phi: f64, n: usize) -> Result<f64> {
    let phi = Phi::new(phi)?;
    Ok(py.detach(|| golomb::entropy_bits(phi, n))?)
}
