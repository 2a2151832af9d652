//! Schemes: rankings to messages, sums of messages to a consensus.

use fedrank_core::mallows::Phi;
use fedrank_core::scheme::lehmer::{self, Decode};
use fedrank_core::scheme::{Borda, Layout, Lehmer, Size};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Ranks, key, rankings, slice, vector};
use crate::consensus::{Found, found, tie_rule};
use crate::error::{Error, Result};

/// A scheme of either kind.
#[pyclass(frozen, module = "fedrank._core")]
pub(crate) struct Scheme(Kind);

enum Kind {
    Borda(Borda),
    Lehmer(Lehmer),
}

impl Scheme {
    pub(crate) fn layout(&self) -> &Layout {
        match &self.0 {
            Kind::Borda(scheme) => scheme.layout(),
            Kind::Lehmer(scheme) => scheme.layout(),
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
    ) -> Result<Self> {
        let size = Size { n, clients, max_samples };
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
        let size = Size { n, clients, max_samples };
        Ok(Self(Kind::Lehmer(Lehmer::new(size, low_bits, decode)?)))
    }

    fn encode<'py>(
        &self,
        py: Python<'py>,
        ranks: Ranks<'py>,
        seed: &[u8],
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        let (rows, key) = (rankings(&ranks)?, key(seed)?);
        let message = py.detach(|| match &self.0 {
            Kind::Borda(scheme) => scheme.encode(rows, key),
            Kind::Lehmer(scheme) => scheme.encode(rows, key),
        })?;
        Ok(vector(py, message))
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        total: PyReadonlyArray1<'py, u64>,
        survivors: usize,
        ties: &str,
        seed: &[u8],
    ) -> Result<Found<'py>> {
        let (total, ties) = (slice(&total)?, tie_rule(ties, seed)?);
        let consensus = py.detach(|| match &self.0 {
            Kind::Borda(scheme) => scheme.decode(total, survivors, ties),
            Kind::Lehmer(scheme) => scheme.decode(total, survivors, ties),
        })?;
        Ok(found(py, consensus))
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
