//! One ranking from many.
//!
//! One module per method: each takes a [`Profile`](crate::Profile) and returns a [`Consensus`].

pub mod borda;
pub mod footrule;
pub mod kemeny;
pub mod lehmer;
pub mod majority;
pub mod pick;
pub mod pivot;

/// A consensus ranking and what its method knows about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Consensus {
    /// Position of each item, 0 the best.
    pub ranks: Vec<u32>,
    /// How many choices the data left open, so that the tie rule made them.
    pub ties: usize,
    /// Sum of the positions of each item, where the method ranks by it.
    pub sums: Option<Vec<u64>>,
    /// Sum of the Kendall distances to all rankings, where the method knows it.
    pub distance: Option<u64>,
    /// What that sum is at least, for any ranking.
    pub bound: Option<u64>,
    /// Whether it is proved to minimise the method's own distance, where the method has one.
    pub exact: Option<bool>,
}
