//! Thin Python bindings: NumPy in, NumPy out.
use pyo3::prelude::*;

#[pymodule]
mod _core {}
