//! Which places the known margins settle, whatever order a refinement began with (M14).

use std::ops::Range;

use super::known::Known;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::invert;

impl Known {
    /// The shortest runs of places such that more than half of the rankings have every item of a
    /// run before every item of the later runs. Runs of one place are left out.
    ///
    /// Every order whose neighbours all agree with their majority has the same items in each run:
    /// otherwise some item of a later run stood directly before one of an earlier run.
    ///
    /// The margin settles a known pair. Chains of known pairs settle others, if there are at most
    /// `most` complete rankings. Over links of margins `d`, of which there are `k`,
    ///
    /// ```text
    /// #(a before c) ≥ M − Σ (M − d)/2 > M/2   if   Σ d > (k − 1) M,
    /// ```
    ///
    /// which holds for `M` rankings if it holds for more. O(n) times the known pairs at most, and
    /// almost linear if few chains are that strong.
    pub(crate) fn open_runs(
        &self,
        order: &[u32],
        most: Option<u64>,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Range<usize>>> {
        let n = order.len();
        let links = self.later(order);
        // In a row: how much of `most` the best chain to each place has used up.
        let (limit, mut used) = (most.unwrap_or(0), vec![u64::MAX; n]);
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut run = 0..0;
        for from in 0..n {
            interrupt.check()?;
            if from >= run.end {
                runs.extend((run.len() > 1).then_some(run));
                run = from..from + 1;
            }
            used[from] = 0;
            let (mut via, mut last) = (from, from);
            while via <= last {
                if used[via] < limit {
                    for &(to, margin) in &links[via] {
                        let sum = used[via] + limit.saturating_add_signed(-i64::from(margin));
                        if sum < limit.min(used[to]) {
                            (used[to], last) = (sum, last.max(to));
                        }
                    }
                }
                via += 1;
            }
            let settled = |to: usize| match self.margin(order[from], order[to]) {
                Some(margin) => margin > 0,
                None => used[to] < limit,
            };
            let end = (from + 1..n).rev().find(|&to| !settled(to)).map_or(from, |to| to) + 1;
            run.end = run.end.max(end);
            if run.end == n {
                break;
            }
            used[from..=last].fill(u64::MAX);
        }
        runs.extend((run.len() > 1).then_some(run));
        Ok(runs)
    }

    /// For each place, the later places known to it, with the margins over them.
    fn later(&self, order: &[u32]) -> Vec<Vec<(usize, i32)>> {
        let place = invert(order);
        let of_place = |(from, &item): (usize, &u32)| {
            let partners = self.row(item).partners();
            let placed = partners.map(|(other, margin)| (place[other as usize] as usize, margin));
            placed.filter(|&(to, _)| to > from).collect()
        };
        order.iter().enumerate().map(of_place).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::super::known::Pair;
    use super::*;

    /// Rankings with `a` before `b`, less those with `b` before `a`.
    fn margin(rankings: &[Vec<u32>], a: u32, b: u32) -> i32 {
        let before = |r: &Vec<u32>| if r[a as usize] < r[b as usize] { 1 } else { -1 };
        rankings.iter().map(before).sum()
    }

    /// First place of each run, and place after its last.
    fn runs(pairs: &[Pair], n: usize, most: Option<u64>) -> Vec<(usize, usize)> {
        let order: Vec<u32> = (0..n as u32).collect();
        let runs = Known::new(n, pairs).unwrap().open_runs(&order, most, Interrupt::begin());
        runs.unwrap().into_iter().map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn chains_settle_what_enough_rankings_agree_on() {
        // Three rankings that agree on each neighbour: they agree on all pairs.
        let pairs = [(0, 1, 3), (1, 2, 3), (2, 3, 3)];
        assert_eq!(runs(&pairs, 4, Some(3)), []);
        assert_eq!(runs(&pairs, 4, Some(4)), []);
        // 9 > 2 M holds up to M = 4. With M = 5 two links are enough (6 > 5), three are not.
        assert_eq!(runs(&pairs, 4, Some(5)), [(0, 4)]);
        assert_eq!(runs(&pairs, 4, None), [(0, 4)]);
    }

    #[test]
    fn a_cycle_and_a_tie_are_open() {
        let cycle = [(0, 1, 1), (1, 2, 1), (0, 2, -1)];
        let others = [(2, 3, 3), (1, 3, 3), (0, 3, 3)];
        assert_eq!(runs(&[&cycle[..], &others].concat(), 4, Some(3)), [(0, 3)]);
        assert_eq!(runs(&[(0, 1, 0)], 2, Some(2)), [(0, 2)]);
        assert_eq!(runs(&[(0, 1, 1)], 2, None), []);
        assert_eq!(runs(&[], 1, None), []);
    }

    proptest! {
        /// By the definition: between two runs every pair has a majority for the order.
        #[test]
        fn between_runs_most_rankings_agree_with_the_order(
            rankings in prop::collection::vec(Just((0..6).collect::<Vec<u32>>()).prop_shuffle(), 1..6),
            known in prop::collection::vec(prop::bool::weighted(0.6), 15),
            more in 0_u64..3,
        ) {
            let all = (0..6_u32).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
            let everything: Vec<Pair> =
                all.map(|(a, b)| (a, b, margin(&rankings, a, b))).collect();
            let pairs: Vec<Pair> =
                everything.iter().zip(known).filter(|&(_, known)| known).map(|(&p, _)| p).collect();
            let most = rankings.len() as u64 + more;
            let open = runs(&pairs, 6, Some(most));
            let run_of = |place: u32| open.iter().position(|run| (run.0..run.1).contains(&(place as usize)));
            for &(a, b, margin) in &everything {
                prop_assert!(margin > 0 || (run_of(a).is_some() && run_of(a) == run_of(b)));
            }
            // If all pairs are known, nothing else is open: no run can be cut.
            for (start, end) in runs(&everything, 6, None) {
                for cut in start + 1..end {
                    let across = |&&(a, b, _): &&Pair| (a as usize) < cut && cut <= b as usize;
                    prop_assert!(everything.iter().filter(across).any(|pair| pair.2 <= 0));
                }
            }
        }
    }
}
