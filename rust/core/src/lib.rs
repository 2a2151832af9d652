//! The mathematics of fedrank, free of Python.
//!
//! A ranking is a rank vector: `r[i]` is the position of item `i`, 0 the best. Many
//! rankings are one flat slice, row after row; [`Rankings`] is such a slice, checked.
//! The numbers M1, M2, … are the equations of `docs/method.md`.

pub mod consensus;
pub mod error;
pub mod footrule;
pub mod golomb;
pub mod interrupt;
mod inversions;
pub mod kendall;
pub mod lehmer;
pub mod mallows;
pub mod message;
pub mod pairwise;
pub mod partial;
pub mod rankings;
pub mod rng;
pub mod scheme;
pub mod secagg;
pub mod simulate;
pub mod superposition;

pub use error::{Error, Result};
pub use interrupt::Interrupt;
pub use rankings::{Profile, Rankings, Ties};
