//! The mathematics of fedrank, free of Python.
#![warn(missing_docs)]
