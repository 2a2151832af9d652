//! Margins between all pairs of items, on which pivot, pick and Kemeny are based.

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pairwise;
use crate::rankings::Profile;

/// Comparisons that [`pairwise`] counts in the time of looking up one margin in an order.
const LOOKUP: u64 = 8;

/// The work of [`Majority::distance`], in comparisons of [`Majority::new`].
pub(super) fn distance_work(n: usize) -> u64 {
    (n as u64).saturating_mul(n as u64) / 2 * LOOKUP
}

/// Margins between all pairs of items of a profile: n² numbers.
#[derive(Debug, Clone)]
pub struct Majority {
    n: usize,
    total: u32,
    margins: Vec<i32>,
}

impl Majority {
    /// Counts all pairs, in O(m n²).
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
    pub fn new(profile: &Profile<'_>, interrupt: Interrupt<'_>) -> Result<Self> {
        let margins = pairwise::margins(profile, interrupt)?;
        Ok(Self { n: profile.n(), total: profile.total(), margins })
    }

    /// Margins counted elsewhere: row by row, antisymmetric, none larger than `total`.
    pub(crate) fn of(n: usize, total: u32, margins: Vec<i32>) -> Self {
        debug_assert_eq!(margins.len(), n * n);
        Self { n, total, margins }
    }

    /// Number of items.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Rankings with `a` before `b`, less those with `b` before `a`.
    #[must_use]
    #[inline]
    pub fn margin(&self, a: u32, b: u32) -> i64 {
        i64::from(self.margins[a as usize * self.n + b as usize])
    }

    /// Margins of `a` over every item.
    pub(crate) fn row(&self, a: u32) -> &[i32] {
        &self.margins[a as usize * self.n..][..self.n]
    }

    /// Sum of the Kendall distances of an order (items, best first) to all rankings, in O(n²).
    #[must_use]
    pub fn distance(&self, order: &[u32]) -> u64 {
        let agreement = (0..order.len()).map(|place| {
            let row = self.row(order[place]);
            order[place + 1..].iter().map(|&b| i64::from(row[b as usize])).sum::<i64>()
        });
        self.distance_of(agreement.sum())
    }

    /// The distance of an order whose margins, each item over those after it, sum to `agreement`.
    pub(crate) fn distance_of(&self, agreement: i64) -> u64 {
        // Each pair disagrees with (M − margin)/2 rankings.
        let pairs = (self.n * (self.n - 1) / 2) as i64;
        ((pairs * i64::from(self.total) - agreement) / 2) as u64
    }

    /// How much more an order of some items costs than every pair's own majority would: the sum of
    /// the margins that the order goes against. O(k²) for k items.
    pub(crate) fn violations(&self, order: &[u32]) -> u64 {
        let pairs =
            (0..order.len()).flat_map(|i| order[i + 1..].iter().map(move |&b| (order[i], b)));
        pairs.map(|(a, b)| (-self.margin(a, b)).max(0) as u64).sum()
    }

    /// A lower bound on the distance of any order: every pair by its own majority.
    pub(crate) fn pair_bound(&self) -> u64 {
        let most = (0..self.n as u32).map(|a| {
            let after = &self.row(a)[a as usize + 1..];
            after.iter().map(|m| i64::from(m.unsigned_abs())).sum::<i64>()
        });
        self.distance_of(most.sum())
    }
}
