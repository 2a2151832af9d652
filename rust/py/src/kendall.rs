//! Kendall distances.

use fedrank_core::Interrupt;
use fedrank_core::kendall;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, Weights, matrix, profile, rankings};
use crate::error::Result;
use crate::interrupt::interruptible;

#[pyfunction]
pub(crate) fn kendall_distance<'py>(
    py: Python<'py>,
    a: Ranks<'py>,
    b: Ranks<'py>,
) -> Result<Bound<'py, PyArray2<i64>>> {
    let (a, b) = (rankings(&a)?, rankings(&b)?);
    let work = a.ranks().len().saturating_mul(b.len());
    matrix(py, interruptible(py, work, |token| kendall::distances(a, b, token))?, b.len())
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
    let work = profile.rankings().ranks().len();
    let total = |token: Interrupt<'_>| kendall::total(&profile, consensus.row(0), token);
    let distance = interruptible(py, work, total)?;
    Ok(KendallTotal { distance, rankings: profile.total() })
}
