//! The one place where the core's errors become Python's: `InputError` with its facts where the
//! core knows the value at fault, else `ValueError`, `MemoryError` or `KeyboardInterrupt`.

use fedrank_core::message;
use fedrank_core::secagg;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;

pyo3::import_exception!(fedrank.exceptions, InputError);
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
            _ => match Facts::of(&error) {
                Some(facts) => {
                    Python::attach(|py| facts.raise(py, &message).unwrap_or_else(|raised| raised))
                }
                None => PyValueError::new_err(message),
            },
        })
    }
}

/// What an error knows of the fault: the keyword arguments of `InputError`.
#[derive(Default, IntoPyObject)]
struct Facts {
    parameter: Option<&'static str>,
    row: Option<usize>,
    item: Option<usize>,
    value: Option<Value>,
    remedy: Option<Remedy>,
}

/// The value at fault.
#[derive(IntoPyObject)]
enum Value {
    Whole(i64),
    Count(usize),
    Score(f64),
}

/// What to do about it.
enum Remedy {
    /// The same whatever the caller.
    Words(&'static str),
    /// The member of Python's `Remedy` of this name.
    Member(&'static str),
}

impl<'py> IntoPyObject<'py> for Remedy {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self {
            Self::Words(words) => Ok(words.into_pyobject(py)?.into_any()),
            Self::Member(name) => py.import("fedrank.exceptions")?.getattr("Remedy")?.getattr(name),
        }
    }
}

impl Facts {
    fn of(error: &fedrank_core::Error) -> Option<Self> {
        use fedrank_core::Error as Core;
        let facts = Self::default();
        Some(match *error {
            Core::NotARanking { row, rank, .. } => {
                Self { row: Some(row), value: Some(Value::Whole(rank)), ..facts }
            }
            Core::NotACode { row, item, digit } => {
                let value = Some(Value::Whole(digit));
                Self { row: Some(row), item: Some(item), value, ..facts }
            }
            Core::NotGolomb { row, item, .. } => Self { row: Some(row), item: Some(item), ..facts },
            Core::NotAScore { row, item } => {
                let remedy = Some(Remedy::Words("fill in the score, or drop the row"));
                Self {
                    row: Some(row),
                    item: Some(item),
                    value: Some(Value::Score(f64::NAN)),
                    remedy,
                    ..facts
                }
            }
            Core::Blank { row } => {
                Self { row: Some(row), remedy: Some(Remedy::Words("leave the row out")), ..facts }
            }
            Core::Tied { row, a, score, .. } => {
                let (value, remedy) = (Some(Value::Score(score)), Some(Remedy::Member("TIES")));
                Self { row: Some(row), item: Some(a), value, remedy, ..facts }
            }
            Core::TooManySamples { samples, .. } => {
                Self { value: Some(Value::Count(samples)), ..facts }
            }
            Core::Parameter { name, .. } | Core::Width { name, .. } => {
                Self { parameter: Some(name), ..facts }
            }
            Core::Survivors { survivors, .. } => {
                let value = Some(Value::Count(survivors));
                Self { parameter: Some("survivors"), value, ..facts }
            }
            _ => return None,
        })
    }

    /// The exception with these facts; it names the row and the parameter itself, so `message` is
    /// cut to the rest.
    fn raise(self, py: Python<'_>, message: &str) -> PyResult<PyErr> {
        let row = self.row.map(|row| format!("row {row}: ")).unwrap_or_default();
        let parameter = self.parameter.map(|name| format!("{name} ")).unwrap_or_default();
        let problem = message.strip_prefix(&(row + &parameter)).unwrap_or(message);
        let facts = self.into_pyobject(py)?;
        let error = py.get_type::<InputError>().call((problem,), Some(&facts))?;
        Ok(PyErr::from_value(error))
    }
}

impl From<message::Error> for Error {
    fn from(error: message::Error) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

impl From<secagg::Error> for Error {
    fn from(error: secagg::Error) -> Self {
        Self(match error {
            secagg::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            _ => ProtocolError::new_err((error.to_string(), error.code())),
        })
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
