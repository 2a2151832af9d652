//! Spearman's footrule: the total displacement of all items.

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::rankings::{Rankings, rows_a_task};

/// `Σ_i |a_i − b_i|` of every row of `a` and every row of `b`, row by row of `a`.
///
/// # Errors
/// [`Error::Items`] unless they rank the same number of items, [`Error::Interrupted`] if
/// `interrupt` says so.
pub fn distances(a: Rankings<'_>, b: Rankings<'_>, interrupt: Interrupt<'_>) -> Result<Vec<u64>> {
    if a.n() != b.n() {
        return Err(Error::Items { a: a.n(), b: b.n() });
    }
    if a.len() == 1 && b.len() > 1 {
        return distances(b, a, interrupt); // symmetric, and parallel over the rows of the first
    }
    let mut distances: Vec<u64> = zeros(a.len(), b.len())?;
    if distances.is_empty() {
        return Ok(distances);
    }
    let rows = a.par_rows().zip(distances.par_chunks_exact_mut(b.len()));
    let n = a.n();
    interrupt.expect((a.ranks().len() as u64).saturating_mul(b.len() as u64));
    rows.with_min_len(rows_a_task(n * b.len())).try_for_each_init(
        || interrupt.tally(),
        |tally, (row, distances)| {
            for (other, distance) in b.rows().zip(distances) {
                tally.add(n as u64)?;
                *distance = between(row, other);
            }
            Ok(())
        },
    )?;
    Ok(distances)
}

fn between(a: &[u32], b: &[u32]) -> u64 {
    // A row of n displaces at most n²/2: up to 2¹⁶ items 32-bit sums hold, and fill whole vectors.
    let displacement = |(a, b): (&u32, &u32)| a.abs_diff(*b);
    if a.len() <= 1 << 16 {
        return u64::from(a.iter().zip(b).map(displacement).sum::<u32>());
    }
    a.iter().zip(b).map(|pair| u64::from(displacement(pair))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_short_row_does_not_overflow() {
        // Reversal is the farthest: n²/2 = 2³¹ at n = 2¹⁶.
        let up: Vec<u32> = (0..1 << 16).collect();
        let down: Vec<u32> = up.iter().rev().copied().collect();
        let far = |a: &[u32], b: &[u32]| {
            distances(
                Rankings::trusted(a, a.len()),
                Rankings::trusted(b, b.len()),
                Interrupt::begin(),
            )
        };
        assert_eq!(far(&up, &down), Ok(vec![1 << 31]));
        let up: Vec<u32> = (0..1 << 17).collect();
        let down: Vec<u32> = up.iter().rev().copied().collect();
        assert_eq!(far(&up, &down), Ok(vec![1 << 33]));
    }
}
