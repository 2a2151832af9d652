//! Kendall's distance between rankings (M1).
//!
//! `K(a, b)` is the number of inversions of `b` read in the order of `a`. They are counted with a
//! set that returns how many of its members are greater, or while merging.

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::inversions::RankSet;
use crate::rankings::{Profile, Rankings, invert, invert_into, rows_a_task};

/// From this many items on, merging is faster because the set's bits exceed the caches:
/// 5.7 s against 8.0 s at 2²⁶, while at 2²⁵ it was 2.9 s against 2.5 s.
const MERGE_FROM: usize = 1 << 26;

/// Number of pairs of items that `a` and `b` order differently, in O(n log n).
///
/// # Errors
/// [`Error::Items`] unless they rank the same number of items,
/// [`Error::NotARanking`] unless both are permutations.
///
/// ```
/// assert_eq!(fedrank_core::kendall::distance(&[0, 1, 2], &[2, 0, 1])?, 2);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn distance(a: &[u32], b: &[u32]) -> Result<u64> {
    let (a, b) = (Rankings::new(a, a.len())?, Rankings::new(b, b.len())?);
    Ok(distances(a, b, Interrupt::begin())?[0])
}

/// Distances of every row of `a` to every row of `b`, row by row of `a`.
///
/// # Errors
/// [`Error::Items`] unless they rank the same number of items, [`Error::Interrupted`] if
/// `interrupt` says so.
pub fn distances(a: Rankings<'_>, b: Rankings<'_>, interrupt: Interrupt<'_>) -> Result<Vec<u64>> {
    let n = a.n();
    if n != b.n() {
        return Err(Error::Items { a: n, b: b.n() });
    }
    // The distance is symmetric, so one ranking on either side is the center.
    if b.len() == 1 {
        return distances_to(a, b.row(0), interrupt);
    }
    if a.len() == 1 {
        return distances_to(b, a.row(0), interrupt);
    }
    let mut distances: Vec<u64> = zeros(a.len(), b.len())?;
    if distances.is_empty() {
        return Ok(distances);
    }
    interrupt.expect((distances.len() as u64).saturating_mul(n as u64));
    let rows = a.par_rows().zip(distances.par_chunks_exact_mut(b.len()));
    rows.try_for_each_init(
        || (vec![0; n], Counter::new(n), interrupt.tally()),
        |(order, counter, tally), (row, distances)| {
            invert_into(row, order);
            for (other, distance) in b.rows().zip(distances) {
                tally.add(n as u64)?;
                *distance = counter.inversions(order.iter().map(|&item| other[item as usize]));
            }
            Ok(())
        },
    )?;
    Ok(distances)
}

/// Distances of the rows to one ranking of as many items: its order is found once.
pub(crate) fn distances_to(
    rankings: Rankings<'_>,
    center: &[u32],
    interrupt: Interrupt<'_>,
) -> Result<Vec<u64>> {
    let order = invert(center);
    let mut distances = zeros(rankings.len(), 1)?;
    let n = order.len();
    interrupt.expect(rankings.ranks().len() as u64);
    let rows = rankings.par_rows().zip(&mut distances).with_min_len(rows_a_task(n));
    rows.try_for_each_init(
        || (Counter::new(n), interrupt.tally()),
        |(counter, tally), (row, distance)| {
            tally.add(n as u64)?;
            *distance = counter.inversions(order.iter().map(|&item| row[item as usize]));
            Ok(())
        },
    )?;
    Ok(distances)
}

/// Sum of the distances of a ranking to all of a profile: its Kemeny score, unscaled.
///
/// # Errors
/// [`Error::Items`] unless they rank the same number of items, [`Error::Interrupted`] if
/// `interrupt` says so.
pub fn total(profile: &Profile<'_>, ranking: &[u32], interrupt: Interrupt<'_>) -> Result<u128> {
    if ranking.len() != profile.n() {
        return Err(Error::Items { a: profile.n(), b: ranking.len() });
    }
    let distances = distances_to(profile.rankings(), ranking, interrupt)?;
    // Wide: a weight of 2³¹ and a distance of n²/2 may be more than 64 bits together.
    let weighted = distances.iter().enumerate();
    Ok(weighted.map(|(i, &d)| u128::from(d) * u128::from(profile.weight(i))).sum())
}

/// Memory for counting inversions of permutations of `0..n`, to be reused.
enum Counter {
    Set(RankSet),
    Merge { values: Vec<u32>, spare: Vec<u32> },
}

impl Counter {
    fn new(n: usize) -> Self {
        if n < MERGE_FROM {
            Self::Set(RankSet::new(n))
        } else {
            Self::Merge { values: Vec::with_capacity(n), spare: vec![0; n] }
        }
    }

    /// Pairs of which the first is greater.
    fn inversions(&mut self, permutation: impl Iterator<Item = u32>) -> u64 {
        match self {
            Self::Set(seen) => {
                let mut inversions = 0;
                seen.count_greater(permutation, |greater| inversions += u64::from(greater));
                inversions
            }
            Self::Merge { values, spare } => {
                values.clear();
                values.extend(permutation);
                merge_count(values, spare)
            }
        }
    }
}

/// Inversions of any values, counted while merging them into order; `spare` is as long.
///
/// Halves are finished one after the other, so that all but the last merges stay in the cache.
/// The values end up sorted.
pub fn merge_count(values: &mut [u32], spare: &mut [u32]) -> u64 {
    if values.len() <= RUN {
        return insertion_count(values);
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let (spare_left, spare_right) = spare.split_at_mut(middle);
    let inside = merge_count_into(left, spare_left) + merge_count_into(right, spare_right);
    inside + merge(spare_left, spare_right, values)
}

/// [`merge_count`], but the sorted values end up in `target`.
fn merge_count_into(values: &mut [u32], target: &mut [u32]) -> u64 {
    if values.len() <= RUN {
        target.copy_from_slice(values);
        return insertion_count(target);
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let (target_left, target_right) = target.split_at_mut(middle);
    let inside = merge_count(left, target_left) + merge_count(right, target_right);
    inside + merge(left, right, target)
}

/// Length of the runs that are sorted by insertion.
const RUN: usize = 16;

fn insertion_count(values: &mut [u32]) -> u64 {
    let mut inversions = 0;
    for end in 1..values.len() {
        let value = values[end];
        let at = values[..end].iter().map(|&v| usize::from(v <= value)).sum::<usize>();
        inversions += (end - at) as u64;
        values.copy_within(at..end, at + 1);
        values[at] = value;
    }
    inversions
}

/// Merges two sorted runs; counts the pairs of which the first is greater.
#[inline]
fn merge(left: &[u32], right: &[u32], target: &mut [u32]) -> u64 {
    let (mut i, mut j, mut inversions) = (0, 0, 0);
    for slot in target.iter_mut() {
        let (Some(&a), Some(&b)) = (left.get(i), right.get(j)) else {
            break;
        };
        // No branch on the data: it could not be predicted.
        let first = a <= b;
        *slot = if first { a } else { b };
        inversions += if first { 0 } else { (left.len() - i) as u64 };
        i += usize::from(first);
        j += usize::from(!first);
    }
    let rest = &mut target[i + j..];
    if i < left.len() {
        rest.copy_from_slice(&left[i..]);
    } else {
        rest.copy_from_slice(&right[j..]);
    }
    inversions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{shuffle, stream};

    fn by_definition(a: &[u32], b: &[u32]) -> u64 {
        let pairs = (0..a.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| (a[i] < a[j]) != (b[i] < b[j])).count() as u64
    }

    #[test]
    fn every_way_agrees_with_the_definition() {
        for n in [1_usize, 2, 3, 15, 16, 17, 63, 64, 65, 700, 5000] {
            let mut rng = stream([1; 32], n as u64);
            let mut ranking = || {
                let mut r: Vec<u32> = (0..n as u32).collect();
                shuffle(&mut r, &mut rng);
                r
            };
            let (a, b) = (ranking(), ranking());
            let expected = by_definition(&a, &b);
            let read: Vec<u32> = invert(&a).iter().map(|&item| b[item as usize]).collect();
            let merge = Counter::Merge { values: vec![], spare: vec![0; n] };
            for mut counter in [Counter::new(n), merge] {
                assert_eq!(counter.inversions(read.iter().copied()), expected, "n {n}");
            }
            assert_eq!(distance(&a, &b), Ok(expected));
            assert_eq!(distance(&b, &a), Ok(expected));
        }
    }

    #[test]
    fn merging_leaves_equal_values_alone() {
        assert_eq!(merge_count(&mut [2, 2, 1, 1, 3], &mut [0; 5]), 4);
    }
}
