//! Central consensus, by method.

use fedrank_core::Interrupt;
use fedrank_core::consensus::tied::Run;
use fedrank_core::consensus::{self, Method};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::array::{Ranks, Weights, key, matrix, profile, vector};
use crate::error::{Error, Result};
use crate::interrupt::{LONG, interruptible};
use crate::rankings::tie_rule;

/// A consensus and what its method knows about it; see `fedrank_core::consensus::Consensus`.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct Consensus {
    ranks: Py<PyArray1<i32>>,
    ties: usize,
    tied: Option<Py<PyArray2<i32>>>,
    searched: Option<(u32, u32)>,
    kept: bool,
    sums: Option<Py<PyArray1<u64>>>,
    distance: Option<u64>,
    lower_bound: Option<u64>,
    exact: Option<bool>,
}

impl Consensus {
    pub(crate) fn new(py: Python<'_>, found: consensus::Consensus) -> Result<Self> {
        let row = |run: &Run| [run.group, run.items, run.start, run.end];
        let rows = |runs: Vec<Run>| runs.iter().flat_map(row).collect::<Vec<u32>>();
        let tied = found.tied.map(|runs| matrix(py, rows(runs), 4)).transpose()?;
        Ok(Self {
            ranks: vector(py, found.ranks).unbind(),
            ties: found.ties,
            tied: tied.map(Bound::unbind),
            searched: found.searched,
            kept: found.kept,
            sums: found.sums.map(|sums| vector(py, sums).unbind()),
            distance: found.distance,
            lower_bound: found.bound,
            exact: found.exact,
        })
    }
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // one door for all methods; Python names them
pub(crate) fn aggregate(
    py: Python<'_>,
    ranks: Ranks<'_>,
    weights: Weights<'_>,
    method: &str,
    ties: &str,
    seed: &[u8],
    runs: usize,
    exact_upto: usize,
) -> Result<Consensus> {
    let profile = profile(&ranks, &weights)?;
    let method = method_named(method, runs, exact_upto)?;
    let (ties, key) = (tie_rule(ties, seed)?, key(seed)?);
    let entries = profile.rankings().ranks().len();
    let work = match method {
        Method::Borda | Method::Lehmer => entries,
        Method::Footrule | Method::Pick => entries.saturating_mul(profile.n()),
        Method::Pivot { .. } | Method::Kemeny { .. } => LONG,
    };
    let consensus = |token: Interrupt<'_>| method.consensus(&profile, ties, key, token);
    let found = interruptible(py, work, consensus)?;
    Consensus::new(py, found)
}

/// The method of this name; `runs` are pivot's, and the restarts of Kemeny's search.
pub(crate) fn method_named(name: &str, runs: usize, exact_upto: usize) -> Result<Method> {
    Ok(match name {
        "borda" => Method::Borda,
        "lehmer" => Method::Lehmer,
        "footrule" => Method::Footrule,
        "pick" => Method::Pick,
        "pivot" => Method::Pivot { runs },
        "kemeny" => Method::Kemeny { exact_upto, kicks: runs },
        _ => {
            let names = "method must be borda, lehmer, footrule, pick, pivot or kemeny";
            return Err(Error::value(names));
        }
    })
}
