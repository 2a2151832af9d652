//! The most frequent digit in each place of the Lehmer code (M7).

use rayon::prelude::*;

use super::Consensus;
use super::tied::{self, Run};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::lehmer::encode_rows;
use crate::rankings::{Profile, Ties};
use crate::rng::{Key, below, stream};

/// Decodes the plurality of each digit; a tied digit is drawn from its own stream.
///
/// Without [`Ties::Random`], the least digit wins. O(m n log n), plus n times the largest digit
/// over eight; and a second copy of the input.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if that copy does not fit,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn consensus(profile: &Profile<'_>, ties: Ties, interrupt: Interrupt<'_>) -> Result<Consensus> {
    let (code, tied) = plurality(profile, ties, interrupt)?;
    let ranks = crate::lehmer::decode(&code)?;
    Ok(Consensus { ranks, ties: tied.len(), tied: Some(tied::apart(tied)), ..Consensus::default() })
}

/// The most frequent digit in each place, and the run of every place that was tied.
///
/// # Errors
/// Those of [`consensus`].
pub fn plurality(
    profile: &Profile<'_>,
    ties: Ties,
    interrupt: Interrupt<'_>,
) -> Result<(Vec<u32>, Vec<Run>)> {
    let key = match ties {
        Ties::Random(key) => Some(key),
        Ties::Index | Ties::Refuse => None,
    };
    interrupt.expect(profile.rankings().ranks().len() as u64); // of `plurality_of`
    let codes = encode_rows(profile.rankings(), interrupt)?;
    Ok(plurality_of(profile, &codes, key, interrupt))
}

/// Places counted together: their counts fill a vector, and all of them a first-level cache.
const PLACES: usize = 8;

fn plurality_of(
    profile: &Profile<'_>,
    codes: &[u32],
    key: Option<Key>,
    interrupt: Interrupt<'_>,
) -> (Vec<u32>, Vec<Run>) {
    let rows = profile.rankings().len();
    let mut digits = vec![0; profile.n()];
    let blocks = digits.par_chunks_mut(PLACES).enumerate();
    let ties = if profile.total() <= u16::MAX.into() {
        blocks
            .map_init(Vec::new, |counts, (block, winners)| {
                count_block::<u16>(profile, codes, block * PLACES, counts, |w| w as u16);
                interrupt.advance((rows * winners.len()) as u64);
                pick_block(counts, block * PLACES, key, winners)
            })
            .flatten_iter()
            .collect()
    } else {
        blocks
            .map_init(Vec::new, |counts, (block, winners)| {
                count_block::<u32>(profile, codes, block * PLACES, counts, |w| w);
                interrupt.advance((rows * winners.len()) as u64);
                pick_block(counts, block * PLACES, key, winners)
            })
            .flatten_iter()
            .collect()
    };
    (digits, ties)
}

/// `counts[digit][k]`: how often place `first + k` has that digit, up to the largest seen.
fn count_block<T: Copy + Default + std::ops::AddAssign>(
    profile: &Profile<'_>,
    codes: &[u32],
    first: usize,
    counts: &mut Vec<[T; PLACES]>,
    narrow: impl Fn(u32) -> T,
) {
    let n = profile.n();
    let end = n.min(first + PLACES);
    let digits = codes.chunks_exact(n).map(|code| &code[first..end]);
    let largest = digits.clone().flatten().fold(0, |largest, &digit| digit.max(largest));
    counts.clear();
    counts.resize(largest as usize + 1, [T::default(); PLACES]);
    for (row, digits) in digits.enumerate() {
        let weight = narrow(profile.weight(row));
        for (place, &digit) in digits.iter().enumerate() {
            counts[digit as usize][place] += weight;
        }
    }
}

/// The commonest digit of each place of a block; returns the places that were tied.
fn pick_block<T: Copy + Default + Ord>(
    counts: &[[T; PLACES]],
    first: usize,
    key: Option<Key>,
    winners: &mut [u32],
) -> Vec<Run> {
    // Vectors over the places; from the largest digit down, so that the least stays.
    let mut most = [T::default(); PLACES];
    for count in counts {
        most = std::array::from_fn(|k| most[k].max(count[k]));
    }
    let mut tied = [0_u32; PLACES];
    let mut least = [0_u32; PLACES];
    for (digit, count) in counts.iter().enumerate().rev() {
        let digit = digit as u32;
        tied = std::array::from_fn(|k| tied[k] + u32::from(count[k] == most[k]));
        least = std::array::from_fn(|k| if count[k] == most[k] { digit } else { least[k] });
    }
    let mut ties = Vec::new();
    for (k, winner) in winners.iter_mut().enumerate() {
        *winner = least[k];
        if tied[k] > 1 {
            let high = counts.iter().rposition(|count| count[k] == most[k]).unwrap_or(0);
            ties.push(Run::of_digit((first + k) as u32, least[k], high as u32));
            if let Some(key) = key {
                let choice = below(&mut stream(key, (first + k) as u64), tied[k]);
                let mut best = (0..).zip(counts).filter(|(_, count)| count[k] == most[k]);
                *winner = best.nth(choice as usize).map_or(least[k], |(digit, _)| digit);
            }
        }
    }
    ties
}
