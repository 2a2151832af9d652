//! How often each item stands before each other one.

use rayon::prelude::*;

use crate::error::{Result, zeros};
use crate::interrupt::Interrupt;
use crate::rankings::Profile;

/// Items that are counted together, so that each ranking is read once for all of them.
const TILE: usize = 8;

/// `counts[i n + j]`: in how many rankings item `i` comes before item `j`.
///
/// O(m n²) operations, O(n) memory per thread besides the output.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn counts(profile: &Profile<'_>, interrupt: Interrupt<'_>) -> Result<Vec<i64>> {
    let n = profile.n();
    let total = i64::from(profile.total());
    let mut counts = zeros(n, n)?;
    fill_above(profile, &mut counts, i64::from, interrupt)?;
    mirror(&mut counts, n, |count| total - count, interrupt)?;
    Ok(counts)
}

/// `margins[i n + j]`: rankings with `i` before `j`, less those with `j` before `i`.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn margins(profile: &Profile<'_>, interrupt: Interrupt<'_>) -> Result<Vec<i32>> {
    let n = profile.n();
    let total = profile.total() as i32;
    let mut margins = zeros(n, n)?;
    // |2c − M| ≤ M, but 2c alone may wrap.
    let margin = |count: u32| (count as i32).wrapping_mul(2).wrapping_sub(total);
    fill_above(profile, &mut margins, margin, interrupt)?;
    mirror(&mut margins, n, |margin| -margin, interrupt)?;
    Ok(margins)
}

/// Comparisons of [`fill_above`]: the items of a tile with all from its first on, in each ranking.
pub(crate) fn work(profile: &Profile<'_>) -> u64 {
    let n = profile.n();
    let pairs: usize = (0..n).step_by(TILE).map(|first| TILE.min(n - first) * (n - first)).sum();
    (pairs as u64).saturating_mul(profile.rankings().len() as u64)
}

/// Fills the entries right of the diagonal with `value(count)`.
fn fill_above<T: Send>(
    profile: &Profile<'_>,
    matrix: &mut [T],
    value: impl Fn(u32) -> T + Sync,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    let n = profile.n();
    // Sixteen-bit lanes hold positions below 2¹⁶, and counts of as many unweighted rankings.
    let narrow = n <= 1 << 16 && !profile.is_weighted();
    interrupt.expect(work(profile));
    matrix.par_chunks_mut(TILE * n).enumerate().try_for_each(|(tile, rows)| {
        let first = tile * TILE;
        let sums = if narrow {
            sums_narrow(profile, first, interrupt)?
        } else {
            sums_wide(profile, first, interrupt)?
        };
        let width = n - first;
        for (k, (row, sums)) in rows.chunks_exact_mut(n).zip(sums.chunks_exact(width)).enumerate() {
            let after = first + k + 1;
            for (entry, &sum) in row[after..].iter_mut().zip(&sums[k + 1..]) {
                *entry = value(sum);
            }
        }
        Ok(())
    })
}

/// For the items of one tile, how often each comes before every item from the tile's first on.
fn sums_wide(profile: &Profile<'_>, first: usize, interrupt: Interrupt<'_>) -> Result<Vec<u32>> {
    let width = profile.n() - first;
    let mut sums = vec![0; TILE.min(width) * width];
    let mut tally = interrupt.tally();
    for (row, ranks) in profile.rankings().rows().enumerate() {
        tally.add(sums.len() as u64)?;
        let (ranks, weight) = (&ranks[first..], profile.weight(row));
        for (sums, &rank) in sums.chunks_exact_mut(width).zip(ranks) {
            for (sum, &other) in sums.iter_mut().zip(ranks) {
                *sum += if rank < other { weight } else { 0 };
            }
        }
    }
    Ok(sums)
}

/// [`sums_wide`] with every weight 1, with twice as many lanes per vector.
fn sums_narrow(profile: &Profile<'_>, first: usize, interrupt: Interrupt<'_>) -> Result<Vec<u32>> {
    let n = profile.n();
    let width = n - first;
    let mut sums = vec![0; TILE.min(width) * width];
    let mut part = vec![0_u16; sums.len()];
    let mut narrow = vec![0_u16; width];
    let mut tally = interrupt.tally();
    for block in profile.rankings().ranks().chunks(usize::from(u16::MAX) * n) {
        part.fill(0);
        for ranks in block.chunks_exact(n) {
            tally.add(part.len() as u64)?;
            for (narrow, &rank) in narrow.iter_mut().zip(&ranks[first..]) {
                *narrow = rank as u16;
            }
            for (sums, &rank) in part.chunks_exact_mut(width).zip(&narrow) {
                for (sum, &other) in sums.iter_mut().zip(&narrow) {
                    *sum += u16::from(rank < other);
                }
            }
        }
        for (sum, &part) in sums.iter_mut().zip(&part) {
            *sum += u32::from(part);
        }
    }
    Ok(sums)
}

/// Fills the entries left of the diagonal from those right of it, block by block for the cache.
fn mirror<T: Copy>(
    matrix: &mut [T],
    n: usize,
    value: impl Fn(T) -> T,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    const SIDE: usize = 32;
    for top in (0..n).step_by(SIDE) {
        interrupt.check()?;
        for left in (0..=top).step_by(SIDE) {
            for i in top..n.min(top + SIDE) {
                for j in left..i.min(left + SIDE) {
                    matrix[i * n + j] = value(matrix[j * n + i]);
                }
            }
        }
    }
    Ok(())
}
