//! Trials of rules on Mallows samples.

use fedrank_core::mallows::Phi;
use fedrank_core::simulate::{Rule, Setting, distances, federate};
use fedrank_core::{Profile, Rankings, Ties, consensus};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::array::{Ranks, key, matrix, rankings};
use crate::error::{Error, Result};
use crate::scheme::Scheme;

/// Distances from the center, a row a trial: first those of the schemes, then of the methods.
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
    let rankings = clients.saturating_mul(samples);
    let setting = Setting { phi: Phi::new(phi)?, n, center, rankings, trials };
    let mut rules: Vec<Box<Rule<'_>>> = Vec::new();
    for scheme in &schemes {
        let scheme = scheme.get();
        rules.push(Box::new(move |data, key| {
            let decode = |total: &[u64], key| {
                Ok(scheme.decode_totals(&[total], clients, Ties::Random(key))?.ranks)
            };
            federate(data, clients, key, |mine, key| scheme.encode_rankings(mine, key), decode)
        }));
    }
    for method in &methods {
        rules.push(central(method)?);
    }
    let rules: Vec<&Rule<'_>> = rules.iter().map(AsRef::as_ref).collect();
    let key = key(seed)?;
    let found = py.detach(|| distances(setting, &rules, key))?;
    matrix(py, found, rules.len())
}

/// A method that sees all rankings of a trial.
fn central(method: &str) -> Result<Box<Rule<'static>>> {
    Ok(match method {
        "borda" => Box::new(|data: Rankings<'_>, key| {
            Ok(consensus::borda::consensus(&Profile::new(data, None)?, Ties::Random(key)).ranks)
        }),
        "lehmer" => Box::new(|data: Rankings<'_>, key| {
            Ok(consensus::lehmer::consensus(&Profile::new(data, None)?, Ties::Random(key)).ranks)
        }),
        "kemeny" => Box::new(|data: Rankings<'_>, key| {
            let (upto, ties) = (consensus::kemeny::EXACT_UPTO, Ties::Random(key));
            Ok(consensus::kemeny::consensus(&Profile::new(data, None)?, upto, 0, ties, key)?.ranks)
        }),
        _ => return Err(Error::value("methods to simulate are borda, lehmer and kemeny")),
    })
}
