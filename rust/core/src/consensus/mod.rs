//! One ranking from many.
//!
//! One module per method: each takes a [`Profile`] and returns a [`Consensus`].

pub mod borda;
pub mod footrule;
pub mod kemeny;
pub mod lehmer;
pub mod majority;
pub mod pick;
pub mod pivot;
pub mod tied;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::{Profile, Ties};
use crate::rng::Key;

/// A method that sees all rankings, with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By mean position ([`borda::consensus`]).
    Borda,
    /// By the most frequent digits of Lehmer codes ([`lehmer::consensus`]).
    Lehmer,
    /// Least total footrule distance ([`footrule::consensus`]).
    Footrule,
    /// The nearest of the given rankings ([`pick::consensus`]).
    Pick,
    /// The best of several sorts around random pivots ([`pivot::consensus`]).
    Pivot {
        /// Number of sorts.
        runs: usize,
    },
    /// Least total Kendall distance ([`kemeny::consensus`]).
    Kemeny {
        /// Largest component that is solved exactly.
        exact_upto: usize,
        /// Restarts of the search in larger ones.
        kicks: usize,
    },
}

impl Method {
    /// The consensus of `profile`. Pivots and restarts are drawn by `key`.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if a method needs n² numbers and they do not fit,
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
    pub fn consensus(
        self,
        profile: &Profile<'_>,
        ties: Ties,
        key: Key,
        interrupt: Interrupt<'_>,
    ) -> Result<Consensus> {
        match self {
            Self::Borda => Ok(borda::consensus(profile, ties)),
            Self::Lehmer => lehmer::consensus(profile, ties, interrupt),
            Self::Footrule => footrule::consensus(profile, ties, interrupt),
            Self::Pick => pick::consensus(profile, ties, interrupt),
            Self::Pivot { runs } => pivot::consensus(profile, runs, ties, key, interrupt),
            Self::Kemeny { exact_upto, kicks } => {
                kemeny::consensus(profile, exact_upto, kicks, ties, key, interrupt)
            }
        }
    }
}

/// A consensus ranking and what its method knows about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Consensus {
    /// Position of each item, 0 the best.
    pub ranks: Vec<u32>,
    /// How many choices the data left open, so that the tie rule made them.
    pub ties: usize,
    /// Which places these choices decided; `None` if the method does not know.
    pub tied: Option<Vec<tied::Run>>,
    /// The first place, and the place after the last, that a random search decided, if there was one:
    /// another key may order them differently.
    pub searched: Option<(u32, u32)>,
    /// Whether tied neighbours were left as an announced order has them, whatever the tie rule.
    pub kept: bool,
    /// Sum of the positions of each item, where the method ranks by it.
    pub sums: Option<Vec<u64>>,
    /// Sum of the Kendall distances to all rankings, where the method knows it.
    pub distance: Option<u64>,
    /// What that sum is at least, for any ranking.
    pub bound: Option<u64>,
    /// Whether it is proved to minimise the method's own distance, where the method has one.
    pub exact: Option<bool>,
}
