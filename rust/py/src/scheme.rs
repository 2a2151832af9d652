//! Schemes: rankings to messages, sums of messages to a consensus.

use fedrank_core::consensus::Consensus;
use fedrank_core::mallows::Phi;
use fedrank_core::message::Layout;
use fedrank_core::rng::Key;
use fedrank_core::scheme::lehmer::{self, Decode};
use fedrank_core::scheme::refine::Vote;
use fedrank_core::scheme::{Borda, Dispersion, Lehmer, Refine, Size};
use fedrank_core::{Rankings, Ties};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Ranks, key, rankings, slice, vector};
use crate::consensus::{Found, found, tie_rule};
use crate::error::{Error, Result};

/// A scheme of any kind.
#[pyclass(frozen, module = "fedrank._core")]
pub(crate) struct Scheme(Kind);

enum Kind {
    Borda(Borda),
    Lehmer(Lehmer),
    Refine(Refine),
    Dispersion(Dispersion),
}

impl Scheme {
    pub(crate) fn layout(&self) -> &Layout {
        match &self.0 {
            Kind::Borda(scheme) => scheme.layout(),
            Kind::Lehmer(scheme) => scheme.layout(),
            Kind::Refine(scheme) => scheme.layout(),
            Kind::Dispersion(scheme) => scheme.layout(),
        }
    }

    pub(crate) fn encode_rankings(
        &self,
        rankings: Rankings<'_>,
        key: Key,
    ) -> fedrank_core::Result<Vec<u64>> {
        match &self.0 {
            Kind::Borda(scheme) => scheme.encode(rankings, key),
            Kind::Lehmer(scheme) => scheme.encode(rankings, key),
            Kind::Refine(scheme) => scheme.encode(rankings, key),
            Kind::Dispersion(scheme) => scheme.encode(rankings),
        }
    }

    pub(crate) fn decode_totals(
        &self,
        totals: &[&[u64]],
        survivors: usize,
        ties: Ties,
    ) -> fedrank_core::Result<Consensus> {
        match (&self.0, totals) {
            (Kind::Borda(scheme), [total]) => scheme.decode(total, survivors, ties),
            (Kind::Lehmer(scheme), [total]) => scheme.decode(total, survivors, ties),
            (Kind::Refine(scheme), totals) => scheme.decode(totals, survivors, ties),
            _ => Err(fedrank_core::Error::Total {
                problem: "this scheme finds no consensus in so many totals",
            }),
        }
    }
}

#[pymethods]
impl Scheme {
    #[staticmethod]
    fn borda(
        n: usize,
        clients: usize,
        phi: f64,
        quantize: bool,
        max_samples: Option<usize>,
        partial: bool,
    ) -> Result<Self> {
        let size = Size { n, clients, max_samples, partial };
        let phi = Phi::new(phi)?;
        let scheme = if quantize { Borda::quantized(size, phi) } else { Borda::exact(size) };
        Ok(Self(Kind::Borda(scheme?)))
    }

    #[staticmethod]
    fn lehmer(
        n: usize,
        clients: usize,
        low_bits: u32,
        decode: &str,
        max_samples: Option<usize>,
    ) -> Result<Self> {
        let decode = match decode {
            "nearest" => Decode::Nearest,
            "paper" => Decode::Paper,
            _ => return Err(Error::value("unknown decode rule")),
        };
        let size = Size { n, clients, max_samples, partial: false };
        Ok(Self(Kind::Lehmer(Lehmer::new(size, low_bits, decode)?)))
    }

    #[staticmethod]
    fn refine(
        announced: Ranks<'_>,
        clients: usize,
        max_samples: Option<usize>,
        window: usize,
        vote: &str,
        partial: bool,
    ) -> Result<Self> {
        let vote = match vote {
            "margins" => Vote::Margins,
            "counted" => Vote::Counted,
            "majority" => Vote::Majority,
            _ => return Err(Error::value("unknown vote")),
        };
        let announced = rankings(&announced)?;
        let scheme = Refine::new(announced, clients, max_samples, window, vote, partial)?;
        Ok(Self(Kind::Refine(scheme)))
    }

    #[staticmethod]
    fn dispersion(announced: Ranks<'_>, clients: usize, max_samples: usize) -> Result<Self> {
        let announced = rankings(&announced)?;
        Ok(Self(Kind::Dispersion(Dispersion::new(announced, clients, max_samples)?)))
    }

    fn encode<'py>(
        &self,
        py: Python<'py>,
        ranks: Ranks<'py>,
        seed: &[u8],
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        let (rows, key) = (rankings(&ranks)?, key(seed)?);
        let message = py.detach(|| self.encode_rankings(rows, key))?;
        Ok(vector(py, message))
    }

    /// The consensus in the sums of all rounds, which are one but for a refinement.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        totals: Vec<PyReadonlyArray1<'py, u64>>,
        survivors: usize,
        ties: &str,
        seed: &[u8],
    ) -> Result<Found<'py>> {
        let totals = totals.iter().map(slice).collect::<Result<Vec<_>>>()?;
        let ties = tie_rule(ties, seed)?;
        let consensus = py.detach(|| self.decode_totals(&totals, survivors, ties))?;
        Ok(found(py, consensus))
    }

    /// phi, its standard error, the sum of distances and the number of rankings.
    fn fit(
        &self,
        total: PyReadonlyArray1<'_, u64>,
        survivors: usize,
    ) -> Result<(f64, f64, u64, u64)> {
        let Kind::Dispersion(scheme) = &self.0 else {
            return Err(Error::value("this scheme fits nothing"));
        };
        let fit = scheme.decode(slice(&total)?, survivors)?;
        Ok((fit.phi, fit.error, fit.distance, fit.samples))
    }

    fn pack<'py>(
        &self,
        py: Python<'py>,
        message: PyReadonlyArray1<'py, u64>,
    ) -> Result<Bound<'py, PyBytes>> {
        let message = slice(&message)?;
        Ok(PyBytes::new(py, &py.detach(|| self.layout().pack(message))?))
    }

    fn unpack<'py>(&self, py: Python<'py>, packed: &[u8]) -> Result<Bound<'py, PyArray1<u64>>> {
        Ok(vector(py, py.detach(|| self.layout().unpack(packed))?))
    }

    /// Name, number of entries and bits of an entry, for each segment.
    #[getter]
    fn segments(&self) -> Vec<(String, usize, u32)> {
        let segments = self.layout().segments();
        segments.iter().map(|s| (s.name.clone(), s.len, s.bits)).collect()
    }

    #[getter]
    fn message_bits(&self) -> u64 {
        self.layout().message_bits()
    }
}

#[pyfunction]
pub(crate) fn paper_low_bits(phi: f64, n: usize, total: f64, epsilon: f64) -> Result<u32> {
    Ok(lehmer::paper_low_bits(Phi::new(phi)?, n, total, epsilon)?)
}

#[pyfunction]
pub(crate) fn decay(phi: f64, n: usize) -> Result<f64> {
    Ok(lehmer::decay(Phi::new(phi)?, n))
}
