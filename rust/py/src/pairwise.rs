//! How often one item comes before another.

use fedrank_core::pairwise;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, Weights, matrix, profile};
use crate::error::Result;
use crate::interrupt::interruptible;

#[pyfunction]
pub(crate) fn pairwise_counts<'py>(
    py: Python<'py>,
    ranks: Ranks<'py>,
    weights: Weights<'py>,
) -> Result<Bound<'py, PyArray2<i64>>> {
    let profile = profile(&ranks, &weights)?;
    let work = profile.rankings().ranks().len().saturating_mul(profile.n());
    matrix(py, interruptible(py, work, |token| pairwise::counts(&profile, token))?, profile.n())
}
