//! Envelopes of a signed study: sealed, opened, and read from outside.

use fedrank_core::secagg::envelope::{self, Direction, Header};
use fedrank_core::secagg::{Error, PublicIdentity};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::key;
use crate::error::Result;
use crate::identity::Identity;

/// What is written on an envelope.
#[pyclass(frozen, get_all, eq, module = "fedrank._core")]
#[derive(PartialEq, Eq)]
pub(crate) struct EnvelopeHeader {
    /// 0 from the server to a client, 1 from a client to the server.
    direction: u8,
    round_digest: [u8; 32],
    session: [u8; 32],
    step: u8,
    sender: u16,
    recipient: u16,
}

impl From<Header> for EnvelopeHeader {
    fn from(header: Header) -> Self {
        let Header { direction, round_digest, session, step, sender, recipient } = header;
        Self { direction: direction as u8, round_digest, session, step, sender, recipient }
    }
}

/// The envelope of `body` for the identity on a public line.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // a header and what it is written on
pub(crate) fn envelope_seal<'py>(
    py: Python<'py>,
    identity: &Identity,
    recipient_line: &str,
    direction: u8,
    round_digest: &[u8],
    session: &[u8],
    step: u8,
    sender: u16,
    recipient: u16,
    body: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    let to = PublicIdentity::from_line(recipient_line)?;
    let direction = match direction {
        0 => Direction::ToClient,
        1 => Direction::ToServer,
        _ => return Err(Error::Envelope { what: "its direction is unknown" }.into()),
    };
    let (round_digest, session) = (key(round_digest)?, key(session)?);
    let header = Header { direction, round_digest, session, step, sender, recipient }.checked()?;
    let blob = py.detach(|| envelope::seal(&identity.0, &to, &header, body));
    Ok(PyBytes::new(py, &blob))
}

/// The header and the body of an envelope from the identity on a public line.
#[pyfunction]
pub(crate) fn envelope_open<'py>(
    py: Python<'py>,
    identity: &Identity,
    sender_line: &str,
    blob: &[u8],
) -> Result<(EnvelopeHeader, Bound<'py, PyBytes>)> {
    let from = PublicIdentity::from_line(sender_line)?;
    let (header, body) = py.detach(|| envelope::open(&identity.0, &from, blob))?;
    Ok((header.into(), PyBytes::new(py, &body)))
}

/// What is written on an envelope, unproven.
#[pyfunction]
pub(crate) fn envelope_header(blob: &[u8]) -> Result<EnvelopeHeader> {
    Ok(envelope::header_of(blob)?.into())
}
