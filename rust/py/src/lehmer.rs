//! Lehmer codes.

use fedrank_core::lehmer;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, c_order, matrix, rankings};
use crate::error::Result;

#[pyfunction]
pub(crate) fn lehmer_encode<'py>(
    py: Python<'py>,
    ranks: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let rows = rankings(&ranks)?;
    matrix(py, py.detach(|| lehmer::encode_rows(rows)), rows.n())
}

#[pyfunction]
pub(crate) fn lehmer_decode<'py>(
    py: Python<'py>,
    codes: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let (codes, n) = c_order(&codes)?;
    matrix(py, py.detach(|| lehmer::decode_rows(bytemuck::cast_slice(codes), n))?, n)
}
