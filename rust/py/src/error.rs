//! The one place where bad input becomes a `ValueError`.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

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
        Self(PyValueError::new_err(error.to_string()))
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
