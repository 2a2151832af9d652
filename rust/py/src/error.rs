//! The one place where the core's errors become Python's: `ValueError`, `MemoryError` or
//! `KeyboardInterrupt`.

use fedrank_core::message;
use fedrank_core::secagg;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};

pyo3::import_exception!(fedrank.exceptions, ProtocolError);

/// Result of a wrapped function.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error on its way to Python.
pub(crate) struct Error(PyErr);

impl Error {
    /// Refuses an argument that the Python side should not have let through.
    pub(crate) fn value(message: &'static str) -> Self {
        Self(PyValueError::new_err(message))
    }
}

impl From<fedrank_core::Error> for Error {
    fn from(error: fedrank_core::Error) -> Self {
        let message = error.to_string();
        Self(match error {
            fedrank_core::Error::Memory { .. } => PyMemoryError::new_err(message),
            fedrank_core::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            _ => PyValueError::new_err(message),
        })
    }
}

impl From<message::Error> for Error {
    fn from(error: message::Error) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

impl From<secagg::Error> for Error {
    fn from(error: secagg::Error) -> Self {
        Self(ProtocolError::new_err((error.to_string(), error.code())))
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        error.0
    }
}
