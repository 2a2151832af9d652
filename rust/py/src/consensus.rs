//! Central consensus, by method.

use fedrank_core::Ties;
use fedrank_core::consensus::{self, Consensus};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::array::{Ranks, Weights, key, profile, vector};
use crate::error::{Error, Result};

type Array1<'py, T> = Bound<'py, PyArray1<T>>;

/// What Python makes a `Consensus` of: ranks, ties, sums, distance, bound, exact.
pub(crate) type Found<'py> =
    (Array1<'py, i32>, usize, Option<Array1<'py, i64>>, Option<u64>, Option<u64>, Option<bool>);

#[pyfunction]
#[allow(clippy::too_many_arguments)] // one door for all methods; Python names them
pub(crate) fn aggregate<'py>(
    py: Python<'py>,
    ranks: Ranks<'py>,
    weights: Weights<'py>,
    method: &str,
    ties: &str,
    seed: &[u8],
    runs: usize,
    exact_upto: usize,
) -> Result<Found<'py>> {
    let profile = profile(&ranks, &weights)?;
    let (ties, key) = (tie_rule(ties, seed)?, key(seed)?);
    let find: fn(_, _, _, _, _) -> fedrank_core::Result<Consensus> = match method {
        "borda" => |profile, ties, _, _, _| Ok(consensus::borda::consensus(profile, ties)),
        "lehmer" => |profile, ties, _, _, _| Ok(consensus::lehmer::consensus(profile, ties)),
        "footrule" => |profile, ties, _, _, _| consensus::footrule::consensus(profile, ties),
        "pick" => |profile, ties, _, _, _| consensus::pick::consensus(profile, ties),
        "pivot" => {
            |profile, ties, key, runs, _| consensus::pivot::consensus(profile, runs, ties, key)
        }
        "kemeny" => |profile, ties, key, kicks, exact_upto| {
            consensus::kemeny::consensus(profile, exact_upto, kicks, ties, key)
        },
        _ => return Err(Error::value("unknown method")),
    };
    Ok(found(py, py.detach(|| find(&profile, ties, key, runs, exact_upto))?))
}

/// A consensus as Python takes it.
pub(crate) fn found(py: Python<'_>, found: Consensus) -> Found<'_> {
    let sums = found.sums.map(|sums| vector(py, sums));
    (vector(py, found.ranks), found.ties, sums, found.distance, found.bound, found.exact)
}

pub(crate) fn tie_rule(ties: &str, seed: &[u8]) -> Result<Ties> {
    match ties {
        "random" => Ok(Ties::Random(key(seed)?)),
        "index" => Ok(Ties::Index),
        "error" => Ok(Ties::Refuse),
        _ => Err(Error::value("unknown tie rule")),
    }
}
