//! Partial rankings.

use fedrank_core::partial;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::{Ranks, c_order, matrix};
use crate::error::Result;

#[pyfunction]
pub(crate) fn levels<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
) -> Result<Bound<'py, PyArray2<i32>>> {
    let (scores, n) = c_order(&scores)?;
    matrix(py, py.detach(|| partial::levels(scores, n))?, n)
}

#[pyfunction]
pub(crate) fn twins<'py>(py: Python<'py>, levels: Ranks<'py>) -> Result<Bound<'py, PyArray2<i32>>> {
    let (levels, n) = c_order(&levels)?;
    matrix(py, py.detach(|| partial::twins(bytemuck::cast_slice(levels), n))?, n)
}
