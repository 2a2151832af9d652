//! The most frequent digit in each place of the Lehmer code (M7).

use rayon::prelude::*;

use super::Consensus;
use crate::lehmer::encode_rows;
use crate::ranking::{Profile, Ties};
use crate::stream::{Key, below, stream};

/// Decodes the plurality of each digit; a tied digit is drawn from its own stream.
///
/// Without [`Ties::Random`], the least digit wins. O(m n log n), and a second copy of the input.
#[must_use]
pub fn consensus(profile: &Profile<'_>, ties: Ties) -> Consensus {
    let (code, ties) = plurality(profile, ties);
    // A digit seen in a code is in range for its place, so decoding cannot fail.
    let ranks = crate::lehmer::decode(&code).unwrap_or_default();
    Consensus { ranks, ties, ..Consensus::default() }
}

/// The most frequent digit in each place, and how many places were tied.
#[must_use]
pub fn plurality(profile: &Profile<'_>, ties: Ties) -> (Vec<u32>, usize) {
    let key = match ties {
        Ties::Random(key) => Some(key),
        Ties::Index | Ties::Refuse => None,
    };
    let codes = encode_rows(profile.rankings());
    plurality_of(profile, &codes, key)
}

/// Places counted together: their digits share cache lines.
const PLACES: usize = 16;

fn plurality_of(profile: &Profile<'_>, codes: &[u32], key: Option<Key>) -> (Vec<u32>, usize) {
    let n = profile.n();
    let mut plurality = vec![0; n];
    let blocks = plurality.par_chunks_mut(PLACES).enumerate();
    let ties = blocks.map_init(
        || vec![[0_u32; PLACES]; n],
        |counts, (block, winners)| {
            let first = block * PLACES;
            // Digits of place i are at most i: later entries are never touched.
            let counts = &mut counts[..n.min(first + PLACES)];
            counts.fill([0; PLACES]);
            for (row, code) in codes.chunks_exact(n).enumerate() {
                let weight = profile.weight(row);
                for (place, &digit) in code[first..n.min(first + PLACES)].iter().enumerate() {
                    counts[digit as usize][place] += weight;
                }
            }
            let mut ties = 0;
            for (place, winner) in winners.iter_mut().enumerate() {
                let most = counts.iter().map(|count| count[place]).max().unwrap_or(0);
                let mut best = (0_u32..).zip(&*counts).filter(|(_, c)| c[place] == most);
                let tied = best.clone().count();
                let choice = match key {
                    Some(key) if tied > 1 => {
                        below(&mut stream(key, (first + place) as u64), tied as u32)
                    }
                    _ => 0,
                };
                *winner = best.nth(choice as usize).map_or(0, |(digit, _)| digit);
                ties += usize::from(tied > 1);
            }
            ties
        },
    );
    let ties = ties.sum();
    (plurality, ties)
}
