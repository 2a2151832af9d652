//! Footrule distances.

use fedrank_core::footrule;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, matrix, rankings};
use crate::error::Result;
use crate::interrupt::interruptible;

#[pyfunction]
pub(crate) fn footrule_distance<'py>(
    py: Python<'py>,
    a: Ranks<'py>,
    b: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i64>>> {
    let (a, b) = (rankings(&a)?, rankings(&b)?);
    let work = a.ranks().len().saturating_mul(b.len());
    matrix(py, interruptible(py, work, |token| footrule::distances(a, b, token))?, b.len())
}
