//! Schemes: rankings to messages, sums of messages to a result.

use fedrank_core::Interrupt;
use fedrank_core::mallows::Phi;
use fedrank_core::scheme::lehmer::{self, Decode};
use fedrank_core::scheme::refine::{Vote, Window};
use fedrank_core::scheme::{self, Borda, Dispersion, Lehmer, Refine, Size};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Ranks, key, rankings, slice, vector};
use crate::consensus::Consensus;
use crate::error::{Error, Result};
use crate::interrupt::{LONG, interruptible};
use crate::message::Segment;
use crate::rankings::tie_rule;

/// A scheme of any kind.
#[pyclass(frozen, module = "fedrank._core")]
pub(crate) struct Scheme(pub(crate) scheme::Scheme);

/// How far rankings are from an announced one; see `fedrank_core::scheme::dispersion::Fit`.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct Fit {
    phi: f64,
    standard_error: f64,
    distance: u64,
    samples: u64,
}

#[pymethods]
impl Scheme {
    #[staticmethod]
    fn borda(
        n: usize,
        clients: usize,
        send: &str,
        levels: u32,
        phi: f64,
        max_samples: Option<usize>,
        partial: bool,
    ) -> Result<Self> {
        let size = Size { n, clients, max_samples, partial };
        let scheme = match send {
            "means" => Borda::means(size, levels),
            "weighted" => Borda::weighted(size, levels),
            "centroids" => Borda::centroids(size, Phi::new(phi)?),
            "sums" => Borda::sums(size),
            _ => return Err(Error::value("send must be means, weighted, centroids or sums")),
        };
        Ok(Self(scheme?.into()))
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
            _ => return Err(Error::value("decode must be nearest or paper")),
        };
        let size = Size { n, clients, max_samples, partial: false };
        Ok(Self(Lehmer::new(size, low_bits, decode)?.into()))
    }

    #[staticmethod]
    fn refine(
        announced: Ranks<'_>,
        clients: usize,
        max_samples: Option<usize>,
        window: Option<usize>,
        vote: &str,
        partial: bool,
    ) -> Result<Self> {
        let vote = match vote {
            "margins" => Vote::Margins,
            "counted" => Vote::Counted,
            "majority" => Vote::Majority,
            _ => return Err(Error::value("vote must be margins, counted or majority")),
        };
        let announced = rankings(&announced)?;
        let window = window.map_or(Window::Auto, Window::Fixed);
        Ok(Self(Refine::new(announced, clients, max_samples, window, vote, partial)?.into()))
    }

    #[staticmethod]
    fn dispersion(announced: Ranks<'_>, clients: usize, max_samples: usize) -> Result<Self> {
        Ok(Self(Dispersion::new(rankings(&announced)?, clients, max_samples)?.into()))
    }

    /// The message, and how many ties were broken in it.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        ranks: Ranks<'py>,
        client: usize,
        seed: &[u8],
    ) -> Result<(Bound<'py, PyArray1<u64>>, usize)> {
        let (rows, key) = (rankings(&ranks)?, key(seed)?);
        let per_item = self.0.layout().entries() / rows.n() + 1;
        let work = rows.ranks().len().saturating_mul(per_item);
        let encode = |token: Interrupt<'_>| self.0.encode(rows, client, key, token);
        let (message, drawn) = interruptible(py, work, encode)?;
        Ok((vector(py, message), drawn))
    }

    /// The totals of all rounds of a refinement; one total of any other scheme.
    fn decode(
        &self,
        py: Python<'_>,
        totals: Vec<PyReadonlyArray1<'_, u64>>,
        survivors: usize,
        ties: &str,
        seed: &[u8],
    ) -> Result<Consensus> {
        let totals = totals.iter().map(slice).collect::<Result<Vec<_>>>()?;
        let ties = tie_rule(ties, seed)?;
        let decode = |token: Interrupt<'_>| self.0.decode(&totals, survivors, ties, token);
        let found = interruptible(py, LONG, decode)?;
        Consensus::new(py, found)
    }

    /// Places of `ranks` whose order depends on the first announced one: first, and after the last.
    fn open_runs(
        &self,
        py: Python<'_>,
        totals: Vec<PyReadonlyArray1<'_, u64>>,
        survivors: usize,
        ranks: Ranks<'_>,
        most: u64,
    ) -> Result<Vec<(usize, usize)>> {
        let totals = totals.iter().map(slice).collect::<Result<Vec<_>>>()?;
        let ranks = rankings(&ranks)?;
        let find = |token: Interrupt<'_>| self.0.open_runs(&totals, survivors, ranks, most, token);
        let runs = interruptible(py, LONG, find)?;
        Ok(runs.into_iter().map(|run| (run.start, run.end)).collect())
    }

    fn fit(&self, total: PyReadonlyArray1<'_, u64>, survivors: usize) -> Result<Fit> {
        let fit = self.0.fit(slice(&total)?, survivors)?;
        let scheme::dispersion::Fit { phi, error, distance, samples } = fit;
        Ok(Fit { phi, standard_error: error, distance, samples })
    }

    fn pack<'py>(
        &self,
        py: Python<'py>,
        message: PyReadonlyArray1<'py, u64>,
    ) -> Result<Bound<'py, PyBytes>> {
        let message = slice(&message)?;
        Ok(PyBytes::new(py, &py.detach(|| self.0.layout().pack(message))?))
    }

    fn unpack<'py>(&self, py: Python<'py>, packed: &[u8]) -> Result<Bound<'py, PyArray1<u64>>> {
        Ok(vector(py, py.detach(|| self.0.layout().unpack(packed))?))
    }

    #[getter]
    fn segments(&self) -> Vec<Segment> {
        self.0.layout().segments().iter().map(Segment::from).collect()
    }

    #[getter]
    fn message_bits(&self) -> u64 {
        self.0.layout().message_bits()
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
