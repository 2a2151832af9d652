//! What the cycles among majorities cost at least: a bound for components too large to solve.

use crate::consensus::majority::Majority;
use crate::error::{Result, zeros};
use crate::interrupt::Interrupt;

/// Words of [`bound`]'s rows that are compared.
pub(super) fn work(k: usize) -> u64 {
    (k * k * k.div_ceil(64)) as u64
}

/// A lower bound on [`Majority::violations`] of any order of `items`, by cycles of three items.
///
/// Every order breaks each cycle somewhere, which costs at least the smallest margin of the cycle.
/// That margin is subtracted from all three pairs, so that no ranking is counted twice, and the
/// rest is used for further cycles. O(k³ / 64) and the number of cycles found.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if k² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub(super) fn bound(majority: &Majority, items: &[u32], interrupt: Interrupt<'_>) -> Result<u64> {
    let k = items.len();
    let words = k.div_ceil(64);
    let mut left: Vec<i32> = zeros(k, k)?;
    // Bit c of row a of `beats`: a has margin left over c; of `loses`: c over a.
    let mut beats = vec![0_u64; k * words];
    let mut loses = vec![0_u64; k * words];
    for a in 0..k {
        for c in 0..k {
            let margin = majority.margin(items[a], items[c]);
            if margin > 0 {
                left[a * k + c] = margin as i32; // as the margins are
                beats[a * words + c / 64] |= 1 << (c % 64);
                loses[c * words + a / 64] |= 1 << (a % 64);
            }
        }
    }
    let mut bound = 0;
    for a in 0..k {
        interrupt.check()?;
        for b in 0..k {
            for word in 0..words {
                let mut thirds = beats[b * words + word] & loses[a * words + word];
                while thirds != 0 && left[a * k + b] > 0 {
                    let c = word * 64 + thirds.trailing_zeros() as usize;
                    thirds &= thirds - 1;
                    let cycle = [(a, b), (b, c), (c, a)];
                    let least = cycle.map(|(x, y)| left[x * k + y]).into_iter().min().unwrap_or(0);
                    bound += least as u64;
                    for (x, y) in cycle {
                        left[x * k + y] -= least;
                        if left[x * k + y] == 0 {
                            beats[x * words + y / 64] &= !(1 << (y % 64));
                            loses[y * words + x / 64] &= !(1 << (x % 64));
                        }
                    }
                }
            }
        }
        interrupt.advance((k * words) as u64);
    }
    Ok(bound)
}
