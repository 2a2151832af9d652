//! Benchmarks live beside this file; the library is empty.
