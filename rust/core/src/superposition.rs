//! The superposition channel (M13): clients send or stay silent, the receiver hears only sums.
//!
//! Block `i` has the slots `0..=i`. In slot `t` a client sends how many of its rankings have a digit
//! `i` of at least `t`, and stays silent if none has. The slots of all blocks follow each other.

use crate::consensus::Consensus;
use crate::consensus::tied::{self, Run};
use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::lehmer;
use crate::rankings::{Rankings, Ties};
use crate::rng::{below, stream};

/// First slot of a block; of block `n`, the number of slots for `n` items.
fn first_slot(item: usize) -> usize {
    item * (item + 1) / 2
}

/// What a client sends in each slot; 0 is silence.
///
/// # Errors
/// [`Error::Memory`] if so many slots do not fit into memory.
///
/// ```
/// # use fedrank_core::{Rankings, superposition};
/// // Codes (0, 1) and (0, 0).
/// let rankings = Rankings::new(&[1, 0, 0, 1], 2)?;
/// assert_eq!(superposition::transmit(rankings)?, [2, 2, 1]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn transmit(rankings: Rankings<'_>) -> Result<Vec<u32>> {
    let n = rankings.n();
    let mut symbols = zeros::<u32>(1, first_slot(n))?;
    for code in lehmer::encode_rows(rankings, Interrupt::begin())?.chunks_exact(n) {
        for (item, &digit) in code.iter().enumerate() {
            symbols[first_slot(item) + digit as usize] += 1;
        }
    }
    for item in 0..n {
        let block = &mut symbols[first_slot(item)..first_slot(item + 1)];
        for slot in (0..item).rev() {
            block[slot] += block[slot + 1];
        }
    }
    Ok(symbols)
}

/// The consensus that the receiver decodes from the sum in each slot, noise included.
///
/// Without noise sums never rise from slot to slot of a block, and are never negative: the sums
/// of that kind which are nearest to those heard are taken for the truth, the likeliest if the noise
/// is Gaussian. Differences of neighbouring slots are then the histogram of a digit, whose plurality
/// is taken. Ties are broken as by [`consensus::lehmer`](crate::consensus::lehmer).
///
/// # Errors
/// [`Error::Ragged`] unless there is a sum for each slot.
pub fn receive(sums: &[f64], n: usize, ties: Ties) -> Result<Consensus> {
    if n == 0 || sums.len() != first_slot(n) {
        return Err(Error::Ragged { len: sums.len(), n });
    }
    let mut tied = Vec::new();
    let mut block = Vec::with_capacity(n);
    let digit = |item: usize| {
        block.clear();
        block.extend_from_slice(&sums[first_slot(item)..first_slot(item + 1)]);
        flatten(&mut block);
        let later = block[1..].iter().chain([&0.0]);
        let counts = block.iter().zip(later).map(|(at_least, above)| at_least - above);
        let most = counts.clone().fold(0.0, f64::max);
        let mut best = (0..).zip(counts).filter(|(_, count)| *count == most);
        let options = best.clone().count() as u32;
        if options > 1 {
            let last = best.clone().last().map_or(0, |(digit, _)| digit);
            let first = best.clone().next().map_or(0, |(digit, _)| digit);
            tied.push(Run::of_digit(item as u32, first, last));
        }
        let choice = match ties {
            Ties::Random(key) if options > 1 => below(&mut stream(key, item as u64), options),
            _ => 0,
        };
        best.nth(choice as usize).map_or(0, |(digit, _)| digit)
    };
    let code: Vec<u32> = (0..n).map(digit).collect();
    let (ranks, ties, tied) = (lehmer::decode(&code)?, tied.len(), Some(tied::apart(tied)));
    Ok(Consensus { ranks, ties, tied, ..Consensus::default() })
}

/// Puts the nearest numbers in place that never rise and are never negative, by least squares.
///
/// Neighbours that rise are pooled into their mean, until none do. O(n).
fn flatten(block: &mut [f64]) {
    // Sum and number of each pool.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    let mean = |(sum, count): (f64, usize)| sum / count as f64;
    for &sum in block.iter() {
        let mut last = (sum, 1);
        while let Some(before) = pools.pop_if(|before| mean(*before) < mean(last)) {
            last = (before.0 + last.0, before.1 + last.1);
        }
        pools.push(last);
    }
    let mut start = 0;
    for pool in pools {
        block[start..start + pool.1].fill(mean(pool).max(0.0));
        start += pool.1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::consensus;
    use crate::mallows::Phi;

    #[test]
    fn sums_decode_to_the_central_plurality() {
        for (n, rows) in [(1_u32, 1), (2, 2), (5, 4), (17, 6), (60, 33)] {
            let center: Vec<u32> = (0..n).rev().collect();
            let model = Phi::new(0.8).expect("in range");
            let n = n as usize;
            let around = Rankings::trusted(&center, n);
            let ranks = model.sample(around, rows, [n as u8; 32], Interrupt::begin());
            let ranks = ranks.expect("it fits");
            let mut sums = vec![0.0; first_slot(n)];
            for client in ranks.chunks(3 * n) {
                let symbols = transmit(Rankings::trusted(client, n)).expect("it fits");
                sums.iter_mut().zip(symbols).for_each(|(sum, symbol)| *sum += f64::from(symbol));
            }
            for ties in [Ties::Index, Ties::Random([1; 32]), Ties::Random([2; 32])] {
                let profile = Profile::new(Rankings::trusted(&ranks, n), None).expect("rankings");
                let central = consensus::lehmer::consensus(&profile, ties, Interrupt::begin());
                let central = central.expect("it fits");
                let heard = receive(&sums, n, ties).expect("a sum a slot");
                assert_eq!((heard.ranks, heard.ties), (central.ranks, central.ties));
            }
        }
    }

    #[test]
    fn rises_are_pooled() {
        let flat = |block: &[f64]| {
            let mut block = block.to_vec();
            flatten(&mut block);
            block
        };
        assert_eq!(flat(&[7.0, 7.0, 3.0, 0.0]), [7.0, 7.0, 3.0, 0.0]);
        assert_eq!(flat(&[5.0, 2.0, 4.0, -1.0]), [5.0, 3.0, 3.0, 0.0]);
        assert_eq!(flat(&[3.0, 2.0, 4.0, 7.0]), [4.0; 4]);
        assert_eq!(flat(&[-3.0]), [0.0]);
    }

    #[test]
    fn sums_for_other_slots_are_refused() {
        assert_eq!(
            receive(&[1.0, 1.0], 2, Ties::Index).err(),
            Some(Error::Ragged { len: 2, n: 2 })
        );
    }
}
