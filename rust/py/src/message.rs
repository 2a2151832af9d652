//! The layout of a message.

use fedrank_core::message;
use pyo3::prelude::*;

/// A run of message entries of one width.
#[pyclass(frozen, get_all, module = "fedrank._core")]
pub(crate) struct Segment {
    name: String,
    entries: usize,
    bits: u32,
}

impl From<&message::Segment> for Segment {
    fn from(segment: &message::Segment) -> Self {
        Self { name: segment.name.clone(), entries: segment.len, bits: segment.bits }
    }
}
