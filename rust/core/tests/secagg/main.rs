//! Secure aggregation through its public interface (M9, M10).
#![allow(clippy::unwrap_used, clippy::panic)]

mod fuzz;
mod hostile;
mod session;
mod sums;
mod wire;
