//! FAS-pivot: quicksort by majority around random pivots (M11; Ailon, Charikar and Newman 2008).

use rand_core::Rng;
use rayon::prelude::*;

use super::Consensus;
use super::majority::{Majority, distance_work};
use super::tied;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::{Profile, Ties, invert};
use crate::rng::{Key, below, stream};

/// The best of `runs` sorts by random pivots, by total Kendall distance.
///
/// Run `i` uses stream `i` of `key`, also to break ties, unless [`Ties::Index`] breaks them by
/// index. [`Consensus::ties`] counts the tied comparisons of the best run. Pivots matter from the
/// first to the last place of items that do not all beat those after them: [`Consensus::searched`].
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn consensus(
    profile: &Profile<'_>,
    runs: usize,
    ties: Ties,
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Consensus> {
    let runs = runs.max(1);
    // Sorting takes less time than computing the distance.
    let each = distance_work(profile.n());
    interrupt.expect(each.saturating_mul(runs as u64));
    let majority = Majority::new(profile, interrupt)?;
    let random_ties = matches!(ties, Ties::Random(_));
    let run = |i: usize| {
        interrupt.check()?;
        let (order, ties) = sort(&majority, random_ties, &mut stream(key, i as u64));
        let distance = majority.distance(&order);
        interrupt.advance(each);
        Ok((distance, i, order, ties))
    };
    let runs = (0..runs).into_par_iter().map(run);
    let best = runs.try_reduce_with(|a, b| Ok(a.min(b))).transpose()?;
    let (distance, _, order, ties) = best.unwrap_or_default();
    let ranks = invert(&order);
    let tied = Some(tied::neighbours(&order, |a, b| majority.margin(a, b) == 0));
    let searched = tied::unsettled(&order, |a, b| majority.margin(a, b) > 0);
    let distance = Some(distance);
    Ok(Consensus { ranks, ties, tied, searched, distance, ..Consensus::default() })
}

/// Quicksort by majority; returns the order and how many comparisons were tied.
fn sort(majority: &Majority, random_ties: bool, rng: &mut impl Rng) -> (Vec<u32>, usize) {
    let mut order: Vec<u32> = (0..majority.n() as u32).collect();
    let mut ties = 0;
    let mut parts = vec![(0, order.len())];
    let mut after = Vec::new();
    while let Some((start, end)) = parts.pop() {
        if end - start < 2 {
            continue;
        }
        let part = &mut order[start..end];
        let pivot = part[below(rng, (end - start) as u32) as usize];
        let mut before = 0;
        for i in 0..part.len() {
            let item = part[i];
            if item == pivot {
                continue;
            }
            let margin = majority.margin(item, pivot);
            let first = match margin {
                0 => {
                    ties += 1;
                    if random_ties { rng.next_u32() & 1 == 0 } else { item < pivot }
                }
                _ => margin > 0,
            };
            if first {
                part[before] = item;
                before += 1;
            } else {
                after.push(item);
            }
        }
        part[before] = pivot;
        part[before + 1..].copy_from_slice(&after);
        after.clear();
        parts.push((start, start + before));
        parts.push((start + before + 1, end));
    }
    (order, ties)
}
