//! Items by mean position (M5).

use rayon::prelude::*;

use super::{Consensus, tied};
use crate::rankings::{Profile, Ties, by_score};
use crate::rng::stream;

/// Ranks the items by the sum of their positions, in O(m n + n log n).
///
/// Without [`Ties::Random`], equal sums are ordered by index.
#[must_use]
pub fn consensus(profile: &Profile<'_>, ties: Ties) -> Consensus {
    let sums = rank_sums(profile);
    let mut rng = match ties {
        Ties::Random(key) => Some(stream(key, 0)),
        Ties::Index | Ties::Refuse => None,
    };
    let (ranks, ties) = by_score(&sums, rng.as_mut());
    let tied = Some(tied::scores(&ranks, &sums));
    Consensus { ranks, ties, tied, sums: Some(sums), ..Consensus::default() }
}

/// Weighted sum of the positions of each item.
#[must_use]
pub fn rank_sums(profile: &Profile<'_>) -> Vec<u64> {
    /// Positions a task: enough to be worth a thread.
    const TASK: usize = 1 << 16;
    let n = profile.n();
    let rows = (TASK / n).max(1);
    let tasks = profile.rankings().ranks().par_chunks(rows * n).enumerate();
    let parts = tasks.map(|(task, ranks)| {
        if profile.is_weighted() {
            let mut sums = vec![0; n];
            for (row, ranks) in ranks.chunks_exact(n).enumerate() {
                let weight = u64::from(profile.weight(task * rows + row));
                for (sum, &rank) in sums.iter_mut().zip(ranks) {
                    *sum += weight * u64::from(rank);
                }
            }
            return sums;
        }
        // A task sums at most 2¹⁶ positions or one row: 32 bits hold it, and fill whole vectors.
        let mut sums = vec![0_u32; n];
        for ranks in ranks.chunks_exact(n) {
            for (sum, &rank) in sums.iter_mut().zip(ranks) {
                *sum += rank;
            }
        }
        sums.into_iter().map(u64::from).collect()
    });
    parts.reduce(
        || vec![0; n],
        |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            sums
        },
    )
}
