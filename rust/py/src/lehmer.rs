//! Lehmer codes.

use fedrank_core::Interrupt;
use fedrank_core::lehmer;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, c_order, matrix, rankings};
use crate::error::Result;
use crate::interrupt::interruptible;

#[pyfunction]
pub(crate) fn lehmer_encode<'py>(
    py: Python<'py>,
    ranks: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let rows = rankings(&ranks)?;
    let encode = |token: Interrupt<'_>| lehmer::encode_rows(rows, token);
    matrix(py, interruptible(py, rows.ranks().len(), encode)?, rows.n())
}

#[pyfunction]
pub(crate) fn lehmer_decode<'py>(
    py: Python<'py>,
    codes: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let (codes, n) = c_order(&codes)?;
    let decode = |token: Interrupt<'_>| lehmer::decode_rows(bytemuck::cast_slice(codes), n, token);
    matrix(py, interruptible(py, codes.len(), decode)?, n)
}
