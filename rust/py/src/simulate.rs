//! Trials of schemes and methods on Mallows samples.

use fedrank_core::Interrupt;
use fedrank_core::consensus::kemeny::EXACT_UPTO;
use fedrank_core::mallows::Phi;
use fedrank_core::simulate::{Setting, distances};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, key, matrix, rankings};
use crate::consensus::method_named;
use crate::error::Result;
use crate::interrupt::{LONG, interruptible};
use crate::scheme::Scheme;

/// Distances from the center, one trial per row: those of the schemes, then of the methods.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one door for all; Python names them
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    phi: f64,
    n: usize,
    center: Option<Ranks<'py>>,
    clients: usize,
    samples: usize,
    trials: usize,
    schemes: Vec<Py<Scheme>>,
    methods: Vec<String>,
    seed: &[u8],
) -> Result<Bound<'py, PyArray2<i64>>> {
    let center = center.as_ref().map(rankings).transpose()?.map(|center| center.row(0));
    let setting = Setting { phi: Phi::new(phi)?, n, center, clients, samples, trials };
    let schemes: Vec<_> = schemes.iter().map(|scheme| &scheme.get().0).collect();
    let methods = methods.iter().map(|name| method_named(name, 0, EXACT_UPTO));
    let methods = methods.collect::<Result<Vec<_>>>()?;
    let key = key(seed)?;
    let simulate = |token: Interrupt<'_>| distances(setting, &schemes, &methods, key, token);
    let found = interruptible(py, LONG, simulate)?;
    matrix(py, found, schemes.len() + methods.len())
}
