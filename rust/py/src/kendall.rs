//! Kendall distances.

use fedrank_core::kendall;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, Weights, matrix, profile, rankings};
use crate::error::Result;

#[pyfunction]
pub(crate) fn kendall_distance<'py>(
    py: Python<'py>,
    a: Ranks<'py>,
    b: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i64>>> {
    let (a, b) = (rankings(&a)?, rankings(&b)?);
    matrix(py, py.detach(|| kendall::distances(a, b))?, b.len())
}

/// The sum of the distances of weighted rankings to one, and how many rankings that is.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct KendallTotal {
    distance: u128,
    rankings: u32,
}

#[pyfunction]
pub(crate) fn kendall_total(
    py: Python<'_>,
    ranks: Ranks<'_>,
    weights: Weights<'_>,
    consensus: Ranks<'_>,
) -> Result<KendallTotal> {
    let profile = profile(&ranks, &weights)?;
    let consensus = rankings(&consensus)?;
    let distance = py.detach(|| kendall::total(&profile, consensus.row(0)))?;
    Ok(KendallTotal { distance, rankings: profile.total() })
}
