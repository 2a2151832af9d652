//! Rankings: checked, made from scores, inverted.

use fedrank_core::{Rankings, Ties, rankings};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::{self, Ranks, c_order, key, matrix};
use crate::error::{Error, Result};

/// The first row that is not a ranking, and the position at fault in it.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct Fault {
    row: usize,
    rank: i64,
}

#[pyfunction]
pub(crate) fn find_fault(py: Python<'_>, ranks: Ranks<'_>) -> Result<Option<Fault>> {
    let (ranks, n) = c_order(&ranks)?;
    match py.detach(|| Rankings::new(bytemuck::cast_slice(ranks), n)) {
        Ok(_) => Ok(None),
        Err(fedrank_core::Error::NotARanking { row, rank, .. }) => Ok(Some(Fault { row, rank })),
        Err(error) => Err(error.into()),
    }
}

#[pyfunction]
pub(crate) fn from_scores<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
    ties: &str,
    seed: &[u8],
) -> Result<Bound<'py, PyArray2<i32>>> {
    let (scores, n) = c_order(&scores)?;
    let ties = tie_rule(ties, seed)?;
    matrix(py, py.detach(|| rankings::from_scores(scores, n, ties))?, n)
}

#[pyfunction]
pub(crate) fn invert<'py>(py: Python<'py>, ranks: Ranks<'py>) -> Result<Bound<'py, PyArray2<i32>>> {
    let rows = array::rankings(&ranks)?;
    matrix(py, py.detach(|| rankings::invert_rows(rows)), rows.n())
}

/// The tie rule of this name; `seed` is the key of random ties.
pub(crate) fn tie_rule(name: &str, seed: &[u8]) -> Result<Ties> {
    match name {
        "random" => Ok(Ties::Random(key(seed)?)),
        "index" => Ok(Ties::Index),
        "error" => Ok(Ties::Refuse),
        _ => Err(Error::value("ties must be random, index or error")),
    }
}
