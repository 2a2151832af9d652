//! The Mallows model.

use fedrank_core::Interrupt;
use fedrank_core::mallows::Phi;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::array::{Ranks, key, matrix, rankings, vector};
use crate::error::Result;
use crate::interrupt::interruptible;

#[pyfunction]
pub(crate) fn mallows_sample<'py>(
    py: Python<'py>,
    phi: f64,
    center: Ranks<'py>,
    size: usize,
    seed: &[u8],
) -> Result<Bound<'py, PyArray2<i32>>> {
    let (phi, center, key) = (Phi::new(phi)?, rankings(&center)?, key(seed)?);
    let (n, work) = (center.n(), size.saturating_mul(center.n()));
    matrix(py, interruptible(py, work, |token| phi.sample(center, size, key, token))?, n)
}

#[pyfunction]
pub(crate) fn mallows_log_prob<'py>(
    py: Python<'py>,
    phi: f64,
    center: Ranks<'py>,
    ranks: Ranks<'py>,
) -> Result<Bound<'py, PyArray1<f64>>> {
    let (phi, center, rows) = (Phi::new(phi)?, rankings(&center)?, rankings(&ranks)?);
    let log_prob = |token: Interrupt<'_>| phi.log_prob(rows, center.row(0), token);
    Ok(vector(py, interruptible(py, rows.ranks().len(), log_prob)?))
}

#[pyfunction]
pub(crate) fn mallows_log_partition(py: Python<'_>, phi: f64, n: usize) -> Result<f64> {
    let phi = Phi::new(phi)?;
    Ok(py.detach(|| phi.log_partition(n)))
}

#[pyfunction]
pub(crate) fn mallows_expected_ranks(
    py: Python<'_>,
    phi: f64,
    n: usize,
) -> Result<Bound<'_, PyArray1<f64>>> {
    let phi = Phi::new(phi)?;
    Ok(vector(py, py.detach(|| phi.expected_ranks(n))))
}

#[pyfunction]
pub(crate) fn mallows_expected_distance(py: Python<'_>, phi: f64, n: usize) -> Result<f64> {
    let phi = Phi::new(phi)?;
    Ok(py.detach(|| phi.expected_distance(n)))
}

#[pyfunction]
pub(crate) fn mallows_phi(py: Python<'_>, distance: f64, n: usize) -> f64 {
    py.detach(|| Phi::from_distance(distance, n)).get()
}
