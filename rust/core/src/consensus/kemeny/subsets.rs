//! The best order of a few items, by dynamic programming over their subsets (Held and Karp).

use crate::consensus::majority::Majority;
use crate::error::{Result, zeros};
use crate::interrupt::Interrupt;

/// Subsets between two looks at the interrupt: less than a millisecond.
const POLL: usize = 1 << 12;

/// Choices of a last item for the subsets of `k` items.
pub(super) fn work(k: usize) -> u64 {
    (k as u64) << k
}

/// The greatest agreement that any order of each subset has.
pub(super) struct Subsets<'a> {
    items: &'a [u32],
    /// For each item, the sum of every subset's margins over it: one table per half of the items.
    gains: Vec<(Vec<i64>, Vec<i64>)>,
    best: Vec<i64>,
}

impl<'a> Subsets<'a> {
    /// Solves all subsets of `items`.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if 2^k numbers are too many,
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
    pub(super) fn solve(
        majority: &Majority,
        items: &'a [u32],
        interrupt: Interrupt<'_>,
    ) -> Result<Self> {
        let k = items.len();
        let sums = |last: usize, members: &[u32]| {
            let mut sums = vec![0_i64; 1 << members.len()];
            for set in 1..sums.len() {
                let top = set.ilog2() as usize;
                sums[set] = sums[set & !(1 << top)] + majority.margin(members[top], items[last]);
            }
            sums
        };
        let (low, high) = items.split_at(k / 2);
        let gains = (0..k).map(|last| (sums(last, low), sums(last, high))).collect();
        let mut solved = Self { items, gains, best: zeros(1, 1 << k)? };
        let mut counted = 0;
        for set in 1..solved.best.len() {
            if set % POLL == 0 {
                interrupt.check()?;
                interrupt.advance(((set - counted) * k) as u64);
                counted = set;
            }
            solved.best[set] = solved.last_of(set).0;
        }
        interrupt.advance(((solved.best.len() - counted) * k) as u64);
        Ok(solved)
    }

    /// The items of `set`, and the agreement of the best order of it that ends with that item.
    #[inline]
    fn lasts(&self, set: usize) -> impl Iterator<Item = (i64, usize)> {
        let half = self.items.len() / 2;
        let mut lasts = set;
        std::iter::from_fn(move || {
            if lasts == 0 {
                return None;
            }
            let last = lasts.trailing_zeros() as usize;
            lasts &= lasts - 1;
            let rest = set & !(1 << last);
            let (low, high) = &self.gains[last];
            let gain = low[rest & ((1 << half) - 1)] + high[rest >> half];
            Some((self.best[rest] + gain, last))
        })
    }

    /// The greatest agreement of `set`, and its last item: the later of equal ones.
    #[inline]
    fn last_of(&self, set: usize) -> (i64, usize) {
        self.lasts(set).fold((i64::MIN, 0), |best, each| if each.0 >= best.0 { each } else { best })
    }

    /// A best order. Of equally good orders, later items stay later.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut set = self.best.len() - 1;
        let mut order = vec![0; self.items.len()];
        for slot in order.iter_mut().rev() {
            let (_, last) = self.last_of(set);
            *slot = self.items[last];
            set &= !(1 << last);
        }
        order
    }

    /// For each item, those that come before it in some best order, as bits.
    ///
    /// Follows every best order from its end: as long as [`Self::solve`] takes at most, and short
    /// if there are few.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
    pub(super) fn before(&self, interrupt: Interrupt<'_>) -> Result<Vec<u32>> {
        let full = self.best.len() - 1;
        let mut before = vec![0_u32; self.items.len()];
        // One bit per subset: whether a best order of all items begins with it.
        let mut begins = vec![0_u64; full / 64 + 1];
        begins[full / 64] |= 1 << (full % 64);
        for word in (0..begins.len()).rev() {
            interrupt.check()?;
            // A subset is larger, as a number, than what is left of it.
            while begins[word] != 0 {
                let bit = begins[word].ilog2() as usize;
                begins[word] &= !(1 << bit);
                let set = word * 64 + bit;
                for (value, last) in self.lasts(set) {
                    if value == self.best[set] {
                        let rest = set & !(1 << last);
                        before[last] |= rest as u32;
                        begins[rest / 64] |= 1 << (rest % 64);
                    }
                }
            }
            let open = |(last, &before): (usize, &u32)| before as usize == full & !(1 << last);
            if before.iter().enumerate().all(open) {
                break;
            }
        }
        Ok(before)
    }
}
