//! Margins of some pairs only: how far an order can be improved, and proved, by them (M14).
//!
//! Items are numbered by their places in an announced order, so that pairs near each other in
//! it lie near each other in memory.

use std::ops::Range;

use super::kemeny::{solve, violations};
use super::majority::Majority;
use crate::error::{Result, zeros};
use crate::rankings::invert;

/// Largest run of items that is solved exactly: 2¹² subsets take some 50 microseconds, and there
/// may be many runs.
const SOLVED_UPTO: usize = 12;

/// In place of the margin of a pair that is not known.
const UNKNOWN: i32 = i32::MIN;

/// Two items, and the margin of the first over the second.
pub(crate) type Pair = (u32, u32, i32);

/// Margins of the known pairs; a row of each item, from its first known partner to its last.
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
    /// Known pairs, each once; margins are above `i32::MIN`.
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
        // An item without partners has an empty row, from anywhere.
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

    /// Whether no pair is unknown.
    pub(crate) fn complete(&self) -> bool {
        self.pairs == self.n() * self.n().saturating_sub(1) / 2
    }

    fn row(&self, item: u32) -> Row<'_> {
        let item = item as usize;
        let margins = &self.margins[self.start[item]..self.start[item + 1]];
        Row { first: self.first[item], margins }
    }

    /// Margin of `a` over `b`, if it is known.
    pub(crate) fn margin(&self, a: u32, b: u32) -> Option<i32> {
        self.row(a).over(b)
    }

    /// All margins between the items, if they are known; `total` bounds them.
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

    /// Improves an order until neither moving an item past known ones nor ordering a short
    /// run of items anew helps. Pairs that are not known keep their order.
    pub(crate) fn refine(&self, order: &mut [u32]) -> Result<()> {
        loop {
            self.improve(order);
            if !self.solve_runs(order)? {
                return Ok(());
            }
        }
    }

    /// Moves one item at a time to where it fits best, until none moves: O(n w) a round.
    fn improve(&self, order: &mut [u32]) {
        let (mut still, mut place) = (0, 0);
        while still < order.len() {
            let to = self.row(order[place]).best_place(order, place);
            still += 1;
            if to < place {
                order[to..=place].rotate_right(1);
                still = 0;
            } else if to > place {
                order[place..=to].rotate_left(1);
                still = 0;
            }
            place = (place + 1) % order.len();
        }
    }

    /// The least runs of places such that no known pair in different runs is against the
    /// order. Runs of one are left out.
    fn runs(&self, order: &[u32]) -> Vec<Range<usize>> {
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

    /// Puts every short run whose pairs are all known into its best order; tells whether
    /// one was improved.
    fn solve_runs(&self, order: &mut [u32]) -> Result<bool> {
        let mut improved = false;
        for run in self.runs(order) {
            if run.len() > SOLVED_UPTO {
                continue;
            }
            let items = order[run.clone()].to_vec();
            let Some(majority) = self.majority(&items, 0)? else { continue };
            let as_is: Vec<u32> = (0..items.len() as u32).collect();
            let best = solve(&majority, &as_is)?;
            if violations(&majority, &best) < violations(&majority, &as_is) {
                improved = true;
                for (slot, &i) in order[run].iter_mut().zip(&best) {
                    *slot = items[i as usize];
                }
            }
        }
        Ok(improved)
    }

    /// Whether the known pairs of `total` complete rankings prove a refined order optimal.
    ///
    /// They do if every run has been solved, since then no order does better on the pairs in
    /// runs, and no order does better on the others if these all have their majority.
    pub(crate) fn proves(&self, order: &[u32], total: u64) -> Result<bool> {
        for run in self.runs(order) {
            let too_long = run.len() > SOLVED_UPTO;
            if too_long || self.majority(&order[run], 0)?.is_none() {
                return Ok(false);
            }
        }
        Ok(self.chains_prove(order, total))
    }

    /// Whether every unknown pair is in the order of at least half of the rankings, because
    /// a chain of known pairs leads from one item to the other:
    ///
    /// ```text
    /// #(a before c) ≥ M − Σ over the chain of #(against its pair),   #against = (M − margin)/2
    /// ```
    ///
    /// From the last place to the first: a chain goes by one link to a place whose own chains
    /// are bounded already. Near-linear in the known pairs if most links are agreed on.
    fn chains_prove(&self, order: &[u32], total: u64) -> bool {
        let links = self.links(order, total);
        let unknown = |from: usize, to: usize| self.margin(order[from], order[to]).is_none();
        // What the least chains from a place to later ones not known to it sum to, at most.
        let mut spread = vec![0; order.len()];
        for from in (0..order.len()).rev() {
            let later = order.len() - 1 - from;
            if links[from].len() == later {
                continue;
            }
            let sum = |&(via, against): &(usize, u64)| against + spread[via];
            // The farthest of the best.
            let Some(best) = links[from].iter().rev().min_by_key(|link| sum(link)) else {
                return false;
            };
            let via = best.0;
            let mut worst = if links[via].len() < order.len() - 1 - via { sum(best) } else { 0 };
            // Places that this link does not serve: those before it, and those known to it.
            let others = (from + 1..via).chain(links[via].iter().map(|link| link.0));
            for to in others.filter(|&to| unknown(from, to)) {
                let chains = links[from].iter().rev().filter(|link| link.0 < to).map(|link| {
                    match self.margin(order[link.0], order[to]) {
                        Some(margin) => link.1 + against(total, margin),
                        None => sum(link),
                    }
                });
                worst = worst.max(least(chains, worst));
            }
            if worst > total / 2 {
                return false;
            }
            spread[from] = worst;
        }
        true
    }

    /// For each place, the later ones known to it, and how many rankings are against that.
    fn links(&self, order: &[u32], total: u64) -> Vec<Vec<(usize, u64)>> {
        let place = invert(order);
        let of_place = |(from, &item): (usize, &u32)| {
            let partners = self.row(item).partners();
            let placed = partners.map(|(other, margin)| (place[other as usize] as usize, margin));
            let later = placed.filter(|&(to, _)| to > from);
            let mut links: Vec<_> = later.map(|(to, m)| (to, against(total, m))).collect();
            links.sort_unstable();
            links
        };
        order.iter().enumerate().map(of_place).collect()
    }
}

/// How many of `total` rankings are against a pair with this margin.
fn against(total: u64, margin: i32) -> u64 {
    (total as i64 - i64::from(margin)).max(0) as u64 / 2
}

/// The least value, or the first that is at most `enough`; `u64::MAX` of none.
fn least(values: impl Iterator<Item = u64>, enough: u64) -> u64 {
    let mut least = u64::MAX;
    for value in values {
        least = least.min(value);
        if least <= enough {
            break;
        }
    }
    least
}

/// Margins of one item over its partners.
#[derive(Clone, Copy)]
struct Row<'a> {
    first: u32,
    margins: &'a [i32],
}

impl<'a> Row<'a> {
    #[inline]
    fn over(self, other: u32) -> Option<i32> {
        // A partner before the first wraps to beyond the last.
        let margin = self.margins.get(other.wrapping_sub(self.first) as usize);
        margin.copied().filter(|&margin| margin != UNKNOWN)
    }

    /// Known partners with the margins over them.
    fn partners(self) -> impl Iterator<Item = (u32, i32)> + use<'a> {
        (self.first..).zip(self.margins.iter().copied()).filter(|&(_, margin)| margin != UNKNOWN)
    }

    /// Where the item at `place` agrees most with those it passes, all of them known; where
    /// it is, if nowhere better.
    fn best_place(self, order: &[u32], place: usize) -> usize {
        let (mut best, mut gain) = ((0, place), 0);
        for to in (0..place).rev() {
            let Some(margin) = self.over(order[to]) else { break };
            gain += i64::from(margin);
            if gain > best.0 {
                best = (gain, to);
            }
        }
        gain = 0;
        for (to, &other) in order.iter().enumerate().skip(place + 1) {
            let Some(margin) = self.over(other) else { break };
            gain -= i64::from(margin);
            if gain > best.0 {
                best = (gain, to);
            }
        }
        best.1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All orders of `0..n`.
    fn orders(n: u32) -> Vec<Vec<u32>> {
        let Some(last) = n.checked_sub(1) else { return vec![vec![]] };
        let insert = |order: Vec<u32>| {
            (0..=order.len()).map(move |place| {
                let mut longer = order.clone();
                longer.insert(place, last);
                longer
            })
        };
        orders(last).into_iter().flat_map(insert).collect()
    }

    /// Rankings with `a` before `b`, less those with `b` before `a`.
    fn margin(rankings: &[Vec<u32>], a: u32, b: u32) -> i32 {
        let before = |r: &Vec<u32>| if r[a as usize] < r[b as usize] { 1 } else { -1 };
        rankings.iter().map(before).sum()
    }

    fn agreement(rankings: &[Vec<u32>], order: &[u32]) -> i32 {
        let after = |i: usize| order[i + 1..].iter().map(move |&b| margin(rankings, order[i], b));
        (0..order.len()).flat_map(after).sum()
    }

    proptest! {
        #[test]
        fn refining_never_harms_and_what_is_proved_is_best(
            rankings in prop::collection::vec(Just((0..5).collect::<Vec<u32>>()).prop_shuffle(), 1..8),
            known in prop::collection::vec(prop::bool::weighted(0.7), 10),
        ) {
            let all = (0..5_u32).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
            let pairs: Vec<Pair> = all
                .zip(known)
                .filter(|&(_, known)| known)
                .map(|((a, b), _)| (a, b, margin(&rankings, a, b)))
                .collect();
            let margins = Known::new(5, &pairs).unwrap();
            let start: Vec<u32> = (0..5).collect();
            let mut order = start.clone();
            margins.refine(&mut order).unwrap();
            prop_assert!(agreement(&rankings, &order) >= agreement(&rankings, &start));
            if margins.proves(&order, rankings.len() as u64).unwrap() {
                let best = orders(5).iter().map(|order| agreement(&rankings, order)).max();
                prop_assert_eq!(Some(agreement(&rankings, &order)), best);
            }
        }
    }
}
