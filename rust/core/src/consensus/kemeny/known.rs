//! Refinement of an order by the margins of some pairs only (M14).
//!
//! Items are numbered by their places in an announced order, so that pairs that are close in the
//! order are close in memory.

use std::ops::Range;

use super::search::improve;
use super::subsets::Subsets;
use crate::consensus::majority::Majority;
use crate::error::{Result, zeros};
use crate::interrupt::Interrupt;
use crate::rankings::invert;

/// Largest run of items that is solved exactly: 2¹² subsets take about 50 microseconds, and there
/// may be many runs.
pub(super) const SOLVED_UPTO: usize = 12;

/// Stands for the margin of a pair that is not known.
const UNKNOWN: i32 = i32::MIN;

/// Two items, and the margin of the first over the second.
pub(crate) type Pair = (u32, u32, i32);

/// Margins of the known pairs: one row per item, from its first known partner to its last.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// First partner of each item.
    first: Vec<u32>,
    /// Where each item's row starts, and where the last ends.
    start: Vec<usize>,
    margins: Vec<i32>,
    pairs: usize,
}

impl Known {
    /// From the known pairs, each given once, with margins above `i32::MIN`.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if the rows are too long.
    pub(crate) fn new(n: usize, pairs: &[Pair]) -> Result<Self> {
        let mut spans = vec![(u32::MAX, 0); n];
        for &(a, b, _) in pairs {
            for (item, other) in [(a, b), (b, a)] {
                let (first, end) = &mut spans[item as usize];
                (*first, *end) = ((*first).min(other), (*end).max(other + 1));
            }
        }
        let mut start = vec![0; n + 1];
        for (item, &(first, end)) in spans.iter().enumerate() {
            start[item + 1] = start[item] + end.saturating_sub(first) as usize;
        }
        let mut margins = zeros(1, start[n])?;
        margins.fill(UNKNOWN);
        // The row of an item without partners is empty, so its start does not matter.
        let first: Vec<u32> = spans.iter().map(|&(first, end)| first.min(end)).collect();
        for &(a, b, margin) in pairs {
            for (item, other, margin) in [(a, b, margin), (b, a, -margin)] {
                let item = item as usize;
                margins[start[item] + (other - first[item]) as usize] = margin;
            }
        }
        Ok(Self { first, start, margins, pairs: pairs.len() })
    }

    fn n(&self) -> usize {
        self.first.len()
    }

    /// Whether all pairs are known.
    pub(crate) fn complete(&self) -> bool {
        self.pairs == self.n() * self.n().saturating_sub(1) / 2
    }

    pub(super) fn row(&self, item: u32) -> Row<'_> {
        let item = item as usize;
        let margins = &self.margins[self.start[item]..self.start[item + 1]];
        Row { first: self.first[item], margins }
    }

    /// Margin of `a` over `b`, if it is known.
    pub(crate) fn margin(&self, a: u32, b: u32) -> Option<i32> {
        self.row(a).over(b)
    }

    /// All margins between the items, if they are known; none is larger than `total`.
    pub(crate) fn majority(&self, items: &[u32], total: u32) -> Result<Option<Majority>> {
        let k = items.len();
        let mut margins = zeros(k, k)?;
        for (i, row) in margins.chunks_exact_mut(k).enumerate() {
            for (j, margin) in row.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                match self.margin(items[i], items[j]) {
                    Some(known) => *margin = known,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(Majority::of(k, total, margins)))
    }

    /// Improves an order until neither moving one item past known partners nor reordering a short
    /// run of items helps. Unknown pairs keep their order.
    pub(crate) fn refine(&self, order: &mut [u32], interrupt: Interrupt<'_>) -> Result<()> {
        loop {
            let margin_over = |item| {
                let row = self.row(item);
                move |other| row.over(other)
            };
            improve(order, margin_over, interrupt)?;
            if !self.solve_runs(order, interrupt)? {
                return Ok(());
            }
        }
    }

    /// The shortest runs of places such that the majority of every known pair in different runs
    /// agrees with the order. Runs of one place are left out.
    pub(super) fn runs(&self, order: &[u32]) -> Vec<Range<usize>> {
        let place = invert(order);
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut run = 0..0;
        for (at, &item) in order.iter().enumerate() {
            if at >= run.end {
                if run.len() > 1 {
                    runs.push(run);
                }
                run = at..at + 1;
            }
            let lost = self.row(item).partners().filter(|&(_, margin)| margin < 0);
            let last = lost.map(|(other, _)| place[other as usize] as usize + 1).max();
            run.end = run.end.max(last.unwrap_or_default());
        }
        runs.extend((run.len() > 1).then_some(run));
        runs
    }

    /// Puts every short run whose pairs are all known into its best order; returns whether any
    /// run was improved.
    fn solve_runs(&self, order: &mut [u32], interrupt: Interrupt<'_>) -> Result<bool> {
        let mut improved = false;
        for run in self.runs(order) {
            if run.len() > SOLVED_UPTO {
                continue;
            }
            let items = order[run.clone()].to_vec();
            let Some(majority) = self.majority(&items, 0)? else { continue };
            let as_is: Vec<u32> = (0..items.len() as u32).collect();
            let best = Subsets::solve(&majority, &as_is, interrupt.uncounted())?.order();
            if majority.violations(&best) < majority.violations(&as_is) {
                improved = true;
                for (slot, &i) in order[run].iter_mut().zip(&best) {
                    *slot = items[i as usize];
                }
            }
        }
        Ok(improved)
    }
}

/// Margins of one item over its partners.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    first: u32,
    margins: &'a [i32],
}

impl<'a> Row<'a> {
    #[inline]
    fn over(self, other: u32) -> Option<i32> {
        // For a partner before the first, the index wraps around to one beyond the last.
        let margin = self.margins.get(other.wrapping_sub(self.first) as usize);
        margin.copied().filter(|&margin| margin != UNKNOWN)
    }

    /// Known partners, with the margins over them.
    pub(super) fn partners(self) -> impl Iterator<Item = (u32, i32)> + use<'a> {
        (self.first..).zip(self.margins.iter().copied()).filter(|&(_, margin)| margin != UNKNOWN)
    }
}
