//! The state machines of secure aggregation. Their randomness is the system's, always.

use std::collections::BTreeMap;

use fedrank_core::secagg::{self, Client, Params, Server};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{key, slice, vector};
use crate::error::Result;
use crate::interrupt::{LONG, interruptible};
use crate::scheme::Scheme;

fn params(
    digest: &[u8],
    clients: usize,
    threshold: usize,
    round: u32,
    scheme: &Scheme,
) -> Result<Params> {
    Ok(Params::new(key(digest)?, clients, Some(threshold), round, scheme.0.layout().clone())?)
}

/// One client in one session.
///
/// Clients often run in worker threads, where no signal arrives: `interrupt_all` stops them there.
#[pyclass(module = "fedrank._core")]
pub(crate) struct SecaggClient(Client);

#[pymethods]
impl SecaggClient {
    #[new]
    fn new(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        me: usize,
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme)?;
        Ok(Self(Client::new(params, me, &mut UnwrapErr(SysRng))?))
    }

    #[staticmethod]
    fn resume(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        state: &[u8],
    ) -> Result<Self> {
        Ok(Self(Client::resume(params(digest, clients, threshold, round, scheme)?, state)?))
    }

    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.state())
    }

    fn advertise<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.advertise())
    }

    fn share<'py>(&mut self, py: Python<'py>, request: &[u8]) -> Result<Bound<'py, PyBytes>> {
        let reply = interruptible(py, LONG, |token| self.0.share(request, token))?;
        Ok(PyBytes::new(py, &reply))
    }

    fn mask<'py>(
        &mut self,
        py: Python<'py>,
        request: &[u8],
        input: PyReadonlyArray1<'py, u64>,
    ) -> Result<Bound<'py, PyBytes>> {
        let input = slice(&input)?;
        let reply = interruptible(py, LONG, |token| self.0.mask(request, input, token))?;
        Ok(PyBytes::new(py, &reply))
    }

    fn unmask<'py>(&mut self, py: Python<'py>, request: &[u8]) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| self.0.unmask(request))?))
    }
}

/// The server in one session.
#[pyclass(module = "fedrank._core")]
pub(crate) struct SecaggServer(Server);

#[pymethods]
impl SecaggServer {
    #[new]
    fn new(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme)?;
        Ok(Self(Server::new(params, &mut UnwrapErr(SysRng))))
    }

    #[staticmethod]
    fn resume(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        state: &[u8],
    ) -> Result<Self> {
        Ok(Self(Server::resume(params(digest, clients, threshold, round, scheme)?, state)?))
    }

    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.state()))
    }

    fn receive(&mut self, py: Python<'_>, sender: usize, message: &[u8]) -> Result<()> {
        Ok(py.detach(|| self.0.receive(sender, message))?)
    }

    fn close_step<'py>(&mut self, py: Python<'py>) -> Result<BTreeMap<usize, Bound<'py, PyBytes>>> {
        let messages = interruptible(py, LONG, |token| self.0.close_step(token))?;
        Ok(messages.into_iter().map(|(to, bytes)| (to, PyBytes::new(py, &bytes))).collect())
    }

    fn result<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyArray1<u64>>, Vec<usize>)> {
        let (total, survivors) = self.0.result()?;
        Ok((vector(py, total), survivors))
    }

    fn faults(&self) -> Vec<(usize, &'static str)> {
        self.0.faults()
    }
}

/// Bytes that one client sends in each step of a round, if all take part.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct MessageSizes {
    advertise: u64,
    share: u64,
    mask: u64,
    unmask: u64,
}

#[pyfunction]
pub(crate) fn message_sizes(clients: usize, message_bits: u64) -> Result<MessageSizes> {
    let secagg::MessageSizes { advertise, share, mask, unmask } =
        secagg::message_sizes(clients, message_bits)?;
    Ok(MessageSizes { advertise, share, mask, unmask })
}

#[pyfunction]
pub(crate) fn sender_of(message: &[u8]) -> Result<usize> {
    Ok(secagg::sender_of(message)?)
}

#[pyfunction]
pub(crate) fn survivors_of(message: &[u8]) -> Result<Vec<usize>> {
    Ok(secagg::survivors_of(message)?)
}

#[pyfunction]
pub(crate) fn default_threshold(clients: usize) -> usize {
    secagg::default_threshold(clients)
}

#[pyfunction]
pub(crate) fn round_digest<'py>(
    py: Python<'py>,
    study: &[u8],
    round: u32,
    stage: &str,
    order: Vec<u32>,
    previous: &[u8],
    survivors: Vec<u16>,
) -> Result<Bound<'py, PyBytes>> {
    let (study, previous) = (key(study)?, key(previous)?);
    let digest = secagg::round_digest(&study, round, stage, &order, &previous, &survivors);
    Ok(PyBytes::new(py, &digest))
}
