//! The state machines of secure aggregation. Their randomness is the system's, always.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fedrank_core::secagg::identity::SIGNATURE;
use fedrank_core::secagg::{self, Begin, Client, Confirmation, Params, Server};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{key, slice, vector};
use crate::error::{Error, Result};
use crate::identity::{Identity, Roster};
use crate::interrupt::{LONG, interruptible};
use crate::scheme::Scheme;

/// Without identities on the roster nothing is signed.
fn params(
    digest: &[u8],
    clients: usize,
    threshold: usize,
    round: u32,
    scheme: &Scheme,
    roster: &Roster,
) -> Result<Params> {
    let layout = scheme.0.layout().clone();
    let params = Params::new(key(digest)?, clients, Some(threshold), round, layout)?;
    if roster.0.is_empty() { Ok(params) } else { Ok(params.signed(roster.0.clone())?) }
}

/// Ids and signatures as they come from Python.
fn confirmations(list: Vec<(u16, Vec<u8>)>) -> Result<Vec<Confirmation>> {
    let one = |(id, signature): (u16, Vec<u8>)| {
        let signature = <[u8; SIGNATURE]>::try_from(signature);
        Ok((id, signature.map_err(|_| Error::value("a signature must have 64 bytes"))?))
    };
    list.into_iter().map(one).collect()
}

/// Ids and signatures as Python takes them.
fn bytes(list: &[Confirmation]) -> Vec<(u16, Cow<'_, [u8]>)> {
    list.iter().map(|(id, signature)| (*id, Cow::Borrowed(&signature[..]))).collect()
}

/// What the server opens a round with.
#[pyclass(frozen, eq, module = "fedrank._core")]
#[derive(PartialEq, Eq)]
pub(crate) struct SecaggBegin(Begin);

#[pymethods]
impl SecaggBegin {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the fields of the message")]
    fn new(
        study: &[u8],
        run: u64,
        round: u32,
        nonce: &[u8],
        stage: String,
        order: Vec<u32>,
        previous: &[u8],
        survivors: Vec<u16>,
        confirmations: Vec<(u16, Vec<u8>)>,
    ) -> Result<Self> {
        let (study, nonce, previous) = (key(study)?, key(nonce)?, key(previous)?);
        let confirmations = self::confirmations(confirmations)?;
        Ok(Self(Begin {
            study,
            run,
            round,
            nonce,
            stage,
            order,
            previous,
            survivors,
            confirmations,
        }))
    }

    #[staticmethod]
    fn open(message: &[u8], recipient: u16) -> Result<Self> {
        Ok(Self(Begin::open(message, recipient)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>, recipient: u16) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes(recipient)?))
    }

    fn session<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.session())
    }

    fn round_digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.round_digest())
    }

    #[getter]
    fn study(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.study)
    }

    #[getter]
    fn run(&self) -> u64 {
        self.0.run
    }

    #[getter]
    fn round(&self) -> u32 {
        self.0.round
    }

    #[getter]
    fn nonce(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.nonce)
    }

    #[getter]
    fn stage(&self) -> &str {
        &self.0.stage
    }

    #[getter]
    fn order(&self) -> Vec<u32> {
        self.0.order.clone()
    }

    #[getter]
    fn previous(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.previous)
    }

    #[getter]
    fn survivors(&self) -> Vec<u16> {
        self.0.survivors.clone()
    }

    #[getter]
    fn confirmations(&self) -> Vec<(u16, Cow<'_, [u8]>)> {
        bytes(&self.0.confirmations)
    }
}

/// One client in one session.
///
/// Clients often run in worker threads, where no signal arrives: `interrupt_all` stops them there.
#[pyclass(module = "fedrank._core")]
pub(crate) struct SecaggClient(Client);

#[pymethods]
impl SecaggClient {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "those of Params and the client's own")]
    fn new(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        roster: &Roster,
        me: usize,
        session: &[u8],
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme, roster)?;
        Ok(Self(Client::new(params, me, key(session)?, &mut UnwrapErr(SysRng))?))
    }

    #[staticmethod]
    fn resume(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        roster: &Roster,
        state: &[u8],
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme, roster)?;
        Ok(Self(Client::resume(params, state)?))
    }

    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.state())
    }

    fn advertise<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.advertise())
    }

    fn session<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.session())
    }

    #[pyo3(signature = (request, signer=None))]
    fn share<'py>(
        &mut self,
        py: Python<'py>,
        request: &[u8],
        signer: Option<&Identity>,
    ) -> Result<Bound<'py, PyBytes>> {
        let signer = signer.map(|identity| &identity.0);
        let reply = interruptible(py, LONG, |token| self.0.share(request, signer, token))?;
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

    fn confirm<'py>(
        &mut self,
        py: Python<'py>,
        request: &[u8],
        signer: &Identity,
    ) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| self.0.confirm(request, &signer.0))?))
    }

    fn check_confirmed(
        &self,
        py: Python<'_>,
        survivors: Vec<u16>,
        confirmations: Vec<(u16, Vec<u8>)>,
    ) -> Result<()> {
        let confirmations = self::confirmations(confirmations)?;
        Ok(py.detach(|| self.0.check_confirmed(&survivors, &confirmations))?)
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
        roster: &Roster,
        run: u64,
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme, roster)?;
        Ok(Self(Server::new(params, run, &mut UnwrapErr(SysRng))))
    }

    #[staticmethod]
    fn resume(
        digest: &[u8],
        clients: usize,
        threshold: usize,
        round: u32,
        scheme: &Scheme,
        roster: &Roster,
        state: &[u8],
    ) -> Result<Self> {
        let params = params(digest, clients, threshold, round, scheme, roster)?;
        Ok(Self(Server::resume(params, state)?))
    }

    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.state()))
    }

    fn run(&self) -> u64 {
        self.0.run()
    }

    fn nonce<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.nonce())
    }

    fn session<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.session())
    }

    fn confirmations<'py>(&self, py: Python<'py>) -> Vec<(u16, Bound<'py, PyBytes>)> {
        let list = self.0.confirmations();
        list.iter().map(|(id, signature)| (*id, PyBytes::new(py, signature))).collect()
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
    confirm: u64,
    unmask: u64,
}

#[pyfunction]
pub(crate) fn message_sizes(
    clients: usize,
    message_bits: u64,
    signed: bool,
) -> Result<MessageSizes> {
    let secagg::MessageSizes { advertise, share, mask, confirm, unmask } =
        secagg::message_sizes(clients, message_bits, signed)?;
    Ok(MessageSizes { advertise, share, mask, confirm, unmask })
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
