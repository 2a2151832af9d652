//! Proof that an order is optimal, from the margins of some pairs only (M14).

use super::known::{Known, SOLVED_UPTO};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::invert;

impl Known {
    /// Whether the known pairs of `total` complete rankings prove a refined order optimal.
    ///
    /// They do if every run has been solved and every other pair agrees with its majority: then no
    /// order does better on the pairs inside runs, and none on the others.
    pub(crate) fn proves(
        &self,
        order: &[u32],
        total: u64,
        interrupt: Interrupt<'_>,
    ) -> Result<bool> {
        for run in self.runs(order) {
            let too_long = run.len() > SOLVED_UPTO;
            if too_long || self.majority(&order[run], 0)?.is_none() {
                return Ok(false);
            }
        }
        self.chains_prove(order, total, interrupt)
    }

    /// Whether at least half of the rankings agree with the order on every unknown pair, because a
    /// chain of known pairs leads from one item to the other:
    ///
    /// ```text
    /// #(a before c) ≥ M − Σ over the chain of #(against its pair),   #against = (M − margin)/2
    /// ```
    ///
    /// Goes from the last place to the first: a chain leads by one link to a place whose own chains
    /// are bounded already. Almost linear in the known pairs if most rankings agree on most links.
    fn chains_prove(&self, order: &[u32], total: u64, interrupt: Interrupt<'_>) -> Result<bool> {
        let links = self.links(order, total);
        let unknown = |from: usize, to: usize| self.margin(order[from], order[to]).is_none();
        // For each place, an upper bound on the best chain to any later place unknown to it.
        let mut spread = vec![0; order.len()];
        for from in (0..order.len()).rev() {
            interrupt.check()?;
            let later = order.len() - 1 - from;
            if links[from].len() == later {
                continue;
            }
            let sum = |&(via, against): &(usize, u64)| against + spread[via];
            // Of the best links, the farthest.
            let Some(best) = links[from].iter().rev().min_by_key(|link| sum(link)) else {
                return Ok(false);
            };
            let via = best.0;
            let mut worst = if links[via].len() < order.len() - 1 - via { sum(best) } else { 0 };
            // Later places that no chain over this link reaches: those before it, and those known to it.
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
                return Ok(false);
            }
            spread[from] = worst;
        }
        Ok(true)
    }

    /// For each place, the later places known to it, and how many rankings disagree on that pair.
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

/// How many of `total` rankings disagree with a pair of this margin.
fn against(total: u64, margin: i32) -> u64 {
    (total as i64 - i64::from(margin)).max(0) as u64 / 2
}

/// The least value, or the first value that is at most `enough`; `u64::MAX` if there is none.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::super::known::Pair;
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
            margins.refine(&mut order, Interrupt::begin()).unwrap();
            prop_assert!(agreement(&rankings, &order) >= agreement(&rankings, &start));
            if margins.proves(&order, rankings.len() as u64, Interrupt::begin()).unwrap() {
                let best = orders(5).iter().map(|order| agreement(&rankings, order)).max();
                prop_assert_eq!(Some(agreement(&rankings, &order)), best);
            }
        }
    }
}
