//! Identities: private and public keys as lines of text.

use std::borrow::Cow;

use fedrank_core::secagg;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use pyo3::prelude::*;

use crate::error::Result;

/// Both private keys of one party. Drawn from the system's randomness, always.
#[pyclass(frozen, module = "fedrank._core")]
pub(crate) struct Identity(pub(crate) secagg::Identity);

#[pymethods]
impl Identity {
    #[staticmethod]
    fn generate() -> Self {
        Self(secagg::Identity::generate(&mut UnwrapErr(SysRng)))
    }

    #[staticmethod]
    fn from_line(line: &str) -> Result<Self> {
        Ok(Self(secagg::Identity::from_line(line)?))
    }

    fn line(&self) -> String {
        self.0.line().to_string()
    }

    #[getter]
    fn public(&self) -> PublicIdentity {
        PublicIdentity(*self.0.public())
    }
}

/// Both public keys of one party.
#[pyclass(frozen, eq, module = "fedrank._core")]
#[derive(PartialEq, Eq)]
pub(crate) struct PublicIdentity(pub(crate) secagg::PublicIdentity);

#[pymethods]
impl PublicIdentity {
    #[staticmethod]
    fn from_line(line: &str) -> Result<Self> {
        Ok(Self(secagg::PublicIdentity::from_line(line)?))
    }

    fn line(&self) -> String {
        self.0.line()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint()
    }

    /// The key that verifies signatures, and the key to seal to.
    #[getter]
    fn keys(&self) -> (Cow<'_, [u8]>, Cow<'_, [u8]>) {
        let [signing, sealing] = self.0.parts();
        (Cow::Borrowed(signing), Cow::Borrowed(sealing))
    }
}

/// The public identities of a study's clients, in the order of the roster; none if it has none.
///
/// Reading a line takes as long as verifying a signature, so each study is read once.
#[pyclass(frozen, module = "fedrank._core")]
pub(crate) struct Roster(pub(crate) Vec<secagg::PublicIdentity>);

#[pymethods]
impl Roster {
    #[new]
    fn new(lines: Vec<String>) -> Result<Self> {
        let identities = lines.iter().map(|line| secagg::PublicIdentity::from_line(line));
        Ok(Self(identities.collect::<secagg::Result<_>>()?))
    }
}
