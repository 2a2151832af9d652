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

/// A best order of `items`. Of equally good orders, later items stay later.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if 2^k numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub(super) fn best_order(
    majority: &Majority,
    items: &[u32],
    interrupt: Interrupt<'_>,
) -> Result<Vec<u32>> {
    let k = items.len();
    // For each item, the sum of every subset's margins over it: one table per half of the items.
    let half = k / 2;
    let sums = |last: usize, members: &[u32]| {
        let mut sums = vec![0_i64; 1 << members.len()];
        for set in 1..sums.len() {
            let top = set.ilog2() as usize;
            sums[set] = sums[set & !(1 << top)] + majority.margin(members[top], items[last]);
        }
        sums
    };
    let gains: Vec<_> =
        (0..k).map(|last| (sums(last, &items[..half]), sums(last, &items[half..]))).collect();
    let gain = |set: usize, last: usize| {
        let (low, high) = &gains[last];
        low[set & ((1 << half) - 1)] + high[set >> half]
    };
    // The greatest agreement of any order of each subset: its last item follows all the others.
    let mut best: Vec<i64> = zeros(1, 1 << k)?;
    let last_of = |best: &[i64], set: usize| {
        let mut lasts = set;
        let mut choice = (i64::MIN, 0);
        while lasts != 0 {
            let last = lasts.trailing_zeros() as usize;
            lasts &= lasts - 1;
            let rest = set & !(1 << last);
            let value = best[rest] + gain(rest, last);
            // Of equal choices the later item goes last.
            if value >= choice.0 {
                choice = (value, last);
            }
        }
        choice
    };
    let mut counted = 0;
    for set in 1..best.len() {
        if set % POLL == 0 {
            interrupt.check()?;
            interrupt.advance(((set - counted) * k) as u64);
            counted = set;
        }
        best[set] = last_of(&best, set).0;
    }
    interrupt.advance(((best.len() - counted) * k) as u64);
    let mut set = best.len() - 1;
    let mut order = vec![0; k];
    for slot in order.iter_mut().rev() {
        let (_, last) = last_of(&best, set);
        *slot = items[last];
        set &= !(1 << last);
    }
    Ok(order)
}
