//! The superposition channel.

use fedrank_core::superposition;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::{Ranks, rankings, slice};
use crate::consensus::Consensus;
use crate::error::Result;
use crate::rankings::tie_rule;

#[pyfunction]
pub(crate) fn superposition_transmit<'py>(
    py: Python<'py>,
    ranks: Ranks<'py>,
) -> Result<Bound<'py, PyArray1<u32>>> {
    let rows = rankings(&ranks)?;
    Ok(PyArray1::from_vec(py, py.detach(|| superposition::transmit(rows))?))
}

#[pyfunction]
pub(crate) fn superposition_receive(
    py: Python<'_>,
    sums: PyReadonlyArray1<'_, f64>,
    n: usize,
    ties: &str,
    seed: &[u8],
) -> Result<Consensus> {
    let (sums, ties) = (slice(&sums)?, tie_rule(ties, seed)?);
    let found = py.detach(|| superposition::receive(sums, n, ties))?;
    Consensus::new(py, found)
}
