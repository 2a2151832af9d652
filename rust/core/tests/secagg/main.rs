//! Secure aggregation through its public interface (M9, M10).
#![allow(clippy::unwrap_used, clippy::panic)]

mod attacks;
mod begin;
mod fuzz;
mod golden;
mod hostile;
mod schedules;
mod session;
mod signed;
mod sums;
mod wire;
