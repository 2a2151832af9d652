//! Thin Python bindings: view, detach, convert. They compute nothing.
//!
//! Ranks must have been validated (`fedrank.rankings.as_rankings` does); signatures are in
//! `python/fedrank/_core.pyi`, documentation in the functions that call these.
#![allow(missing_docs, clippy::needless_pass_by_value)]

mod array;
mod consensus;
mod error;
mod golomb;
mod scheme;
mod secagg;
mod simulate;
mod superposition;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use fedrank_core::mallows::Phi;
    use fedrank_core::{Rankings, footrule, kendall, lehmer, pairwise, partial, rankings};
    use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
    use pyo3::prelude::*;

    use crate::array::{Ranks, Weights, c_order, key, matrix, profile, rankings, vector};
    use crate::consensus::tie_rule;
    use crate::error::Result;

    type Array1<'py, T> = Bound<'py, PyArray1<T>>;
    type Array2<'py, T> = Bound<'py, PyArray2<T>>;

    #[pymodule_export]
    use crate::consensus::aggregate;
    #[pymodule_export]
    use crate::golomb::{
        golomb_decode, golomb_encode, golomb_entropy_bits, golomb_expected_bits, golomb_fit,
        golomb_fit_items, golomb_parameter,
    };
    #[pymodule_export]
    use crate::scheme::{Scheme, decay, paper_low_bits};
    #[pymodule_export]
    use crate::secagg::{SecaggClient, SecaggServer};
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::superposition::{superposition_receive, superposition_transmit};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const KEMENY_EXACT_UPTO: usize = fedrank_core::consensus::kemeny::EXACT_UPTO;

    #[pymodule_export]
    const KEMENY_EXACT_MOST: usize = fedrank_core::consensus::kemeny::EXACT_MOST;

    #[pymodule_export]
    const KEMENY_KICKS: usize = fedrank_core::consensus::kemeny::KICKS;

    /// The first row that is not a ranking and the position at fault, if any.
    #[pyfunction]
    fn find_fault(py: Python<'_>, ranks: Ranks<'_>) -> Result<Option<(usize, i64)>> {
        let (ranks, n) = c_order(&ranks)?;
        match py.detach(|| Rankings::new(bytemuck::cast_slice(ranks), n)) {
            Ok(_) => Ok(None),
            Err(fedrank_core::Error::NotARanking { row, rank, .. }) => Ok(Some((row, rank))),
            Err(error) => Err(error.into()),
        }
    }

    #[pyfunction]
    fn from_scores<'py>(
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
        ties: &str,
        seed: &[u8],
    ) -> Result<Array2<'py, i32>> {
        let (scores, n) = c_order(&scores)?;
        let ties = tie_rule(ties, seed)?;
        matrix(py, py.detach(|| rankings::from_scores(scores, n, ties))?, n)
    }

    #[pyfunction]
    fn levels<'py>(
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
    ) -> Result<Array2<'py, i32>> {
        let (scores, n) = c_order(&scores)?;
        matrix(py, py.detach(|| partial::levels(scores, n))?, n)
    }

    #[pyfunction]
    fn twins<'py>(py: Python<'py>, levels: Ranks<'py>) -> Result<Array2<'py, i32>> {
        let (levels, n) = c_order(&levels)?;
        matrix(py, py.detach(|| partial::twins(bytemuck::cast_slice(levels), n))?, n)
    }

    #[pyfunction]
    fn invert<'py>(py: Python<'py>, ranks: Ranks<'py>) -> Result<Array2<'py, i32>> {
        let rows = rankings(&ranks)?;
        matrix(py, py.detach(|| rankings::invert_rows(rows)), rows.n())
    }

    #[pyfunction]
    fn kendall_distance<'py>(
        py: Python<'py>,
        a: Ranks<'py>,
        b: Ranks<'py>,
    ) -> Result<Array2<'py, i64>> {
        let (a, b) = (rankings(&a)?, rankings(&b)?);
        matrix(py, py.detach(|| kendall::distances(a, b))?, b.len())
    }

    #[pyfunction]
    fn kendall_total(
        py: Python<'_>,
        ranks: Ranks<'_>,
        weights: Weights<'_>,
        consensus: Ranks<'_>,
    ) -> Result<(u128, u32)> {
        let profile = profile(&ranks, &weights)?;
        let consensus = rankings(&consensus)?;
        Ok((py.detach(|| kendall::total(&profile, consensus.row(0)))?, profile.total()))
    }

    #[pyfunction]
    fn footrule_distance<'py>(
        py: Python<'py>,
        a: Ranks<'py>,
        b: Ranks<'py>,
    ) -> Result<Array2<'py, i64>> {
        let (a, b) = (rankings(&a)?, rankings(&b)?);
        matrix(py, py.detach(|| footrule::distances(a, b))?, b.len())
    }

    #[pyfunction]
    fn pairwise_counts<'py>(
        py: Python<'py>,
        ranks: Ranks<'py>,
        weights: Weights<'py>,
    ) -> Result<Array2<'py, i64>> {
        let profile = profile(&ranks, &weights)?;
        matrix(py, py.detach(|| pairwise::counts(&profile))?, profile.n())
    }

    #[pyfunction]
    fn lehmer_encode<'py>(py: Python<'py>, ranks: Ranks<'py>) -> Result<Array2<'py, i32>> {
        let rows = rankings(&ranks)?;
        matrix(py, py.detach(|| lehmer::encode_rows(rows)), rows.n())
    }

    #[pyfunction]
    fn lehmer_decode<'py>(py: Python<'py>, codes: Ranks<'py>) -> Result<Array2<'py, i32>> {
        let (codes, n) = c_order(&codes)?;
        matrix(py, py.detach(|| lehmer::decode_rows(bytemuck::cast_slice(codes), n))?, n)
    }

    #[pyfunction]
    fn mallows_sample<'py>(
        py: Python<'py>,
        phi: f64,
        center: Ranks<'py>,
        size: usize,
        seed: &[u8],
    ) -> Result<Array2<'py, i32>> {
        let (phi, center, key) = (Phi::new(phi)?, rankings(&center)?, key(seed)?);
        matrix(py, py.detach(|| phi.sample(center, size, key))?, center.n())
    }

    #[pyfunction]
    fn mallows_log_prob<'py>(
        py: Python<'py>,
        phi: f64,
        center: Ranks<'py>,
        ranks: Ranks<'py>,
    ) -> Result<Array1<'py, f64>> {
        let (phi, center, rows) = (Phi::new(phi)?, rankings(&center)?, rankings(&ranks)?);
        Ok(vector(py, py.detach(|| phi.log_prob(rows, center.row(0)))?))
    }

    #[pyfunction]
    fn mallows_log_partition(py: Python<'_>, phi: f64, n: usize) -> Result<f64> {
        let phi = Phi::new(phi)?;
        Ok(py.detach(|| phi.log_partition(n)))
    }

    #[pyfunction]
    fn mallows_expected_ranks(py: Python<'_>, phi: f64, n: usize) -> Result<Array1<'_, f64>> {
        let phi = Phi::new(phi)?;
        Ok(vector(py, py.detach(|| phi.expected_ranks(n))))
    }

    #[pyfunction]
    fn mallows_expected_distance(py: Python<'_>, phi: f64, n: usize) -> Result<f64> {
        let phi = Phi::new(phi)?;
        Ok(py.detach(|| phi.expected_distance(n)))
    }

    #[pyfunction]
    fn mallows_phi(py: Python<'_>, distance: f64, n: usize) -> f64 {
        py.detach(|| Phi::from_distance(distance, n)).get()
    }
}
