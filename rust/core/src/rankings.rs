//! Rankings, checked once and trusted from then on.

use std::cmp::Ordering;

use rand_core::Rng;
use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::rng::{Key, shuffle, stream};

/// Rows of `n` items a task has at least: with less, splitting costs more than it gains.
pub(crate) fn rows_a_task(n: usize) -> usize {
    ((1 << 14) / n.max(1)).clamp(1, 64)
}

/// A matrix of rank vectors, each a permutation of `0..n`: entry `i` of a row is
/// the position of item `i`, 0 the best.
#[derive(Debug, Clone, Copy)]
pub struct Rankings<'a> {
    ranks: &'a [u32],
    n: usize,
}

impl<'a> Rankings<'a> {
    /// Checks every row, in parallel.
    ///
    /// # Errors
    /// [`Error::NotARanking`] for the first row that is not a permutation of `0..n`,
    /// [`Error::Ragged`] unless the rows are whole and `n > 0`.
    pub fn new(ranks: &'a [u32], n: usize) -> Result<Self> {
        if n == 0 || !ranks.len().is_multiple_of(n) {
            return Err(Error::Ragged { len: ranks.len(), n });
        }
        let rows = ranks.par_chunks_exact(n).enumerate().with_min_len(rows_a_task(n));
        first_error(rows.map_init(
            || vec![0; n.div_ceil(64)],
            |seen, (row, ranks)| check(ranks, seen).map_err(|e| e.at(row)),
        ))?;
        Ok(Self { ranks, n })
    }

    /// Rows that the caller has checked before.
    ///
    /// A broken promise gives a wrong answer or a panic, never undefined behaviour.
    #[must_use]
    pub fn trusted(ranks: &'a [u32], n: usize) -> Self {
        debug_assert!(Self::new(ranks, n).is_ok());
        Self { ranks, n }
    }

    /// Items a ranking.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of rankings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.len() / self.n
    }

    /// Whether there is no ranking.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// All positions, row after row.
    #[must_use]
    pub fn ranks(&self) -> &'a [u32] {
        self.ranks
    }

    /// Ranking `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [u32] {
        &self.ranks[i * self.n..][..self.n]
    }

    /// The rankings in turn.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [u32]> + use<'a> {
        self.ranks.chunks_exact(self.n)
    }

    /// The rankings, for several threads.
    pub(crate) fn par_rows(&self) -> rayon::slice::ChunksExact<'a, u32> {
        self.ranks.par_chunks_exact(self.n)
    }
}

/// Rankings, each counted `weight` times.
#[derive(Debug, Clone, Copy)]
pub struct Profile<'a> {
    rankings: Rankings<'a>,
    weights: Option<&'a [u32]>,
    total: u32,
}

impl<'a> Profile<'a> {
    /// Rankings with their counts; every ranking counts once if `weights` is `None`.
    ///
    /// # Errors
    /// [`Error::Weights`] unless there is one weight a row, [`Error::Empty`] if they
    /// sum to 0, [`Error::TooHeavy`] if to more than `i32::MAX`.
    pub fn new(rankings: Rankings<'a>, weights: Option<&'a [u32]>) -> Result<Self> {
        let rows = rankings.len();
        if let Some(weights) = weights.filter(|weights| weights.len() != rows) {
            return Err(Error::Weights { weights: weights.len(), rows });
        }
        let total = weights.map_or(rows as u64, |w| w.iter().map(|&w| u64::from(w)).sum());
        match i32::try_from(total) {
            Ok(0) => Err(Error::Empty),
            Ok(_) => Ok(Self { rankings, weights, total: total as u32 }),
            Err(_) => Err(Error::TooHeavy { total }),
        }
    }

    /// The rankings without their weights.
    #[must_use]
    pub fn rankings(&self) -> Rankings<'a> {
        self.rankings
    }

    /// Items a ranking.
    #[must_use]
    pub fn n(&self) -> usize {
        self.rankings.n
    }

    /// Sum of the weights: the number of rankings, each counted as often as it stands for.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Whether any ranking may count other than once.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Weight of ranking `i`.
    #[inline]
    pub(crate) fn weight(&self, i: usize) -> u32 {
        self.weights.map_or(1, |weights| weights[i])
    }
}

/// How equal scores are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Uniformly at random, from the streams of this key.
    Random(Key),
    /// The item with the lower index first.
    Index,
    /// Not at all: they are an error.
    Refuse,
}

/// Positions of items sorted by score, least first, and how many items share theirs.
///
/// Ties are settled by `rng`, or stably by index without one.
pub fn by_score<T: PartialOrd + Copy>(
    scores: &[T],
    rng: Option<&mut impl Rng>,
) -> (Vec<u32>, usize) {
    let mut order: Vec<(T, u32)> = scores.iter().copied().zip(0..).collect();
    // Scores beside their items: the sort then reads memory in order.
    order.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let mut tied = 0;
    let mut rng = rng;
    for equal in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
        tied += equal.len();
        if let Some(rng) = rng.as_mut() {
            shuffle(equal, *rng);
        }
    }
    let mut ranks = vec![0; scores.len()];
    for (rank, &(_, item)) in (0..).zip(&order) {
        ranks[item as usize] = rank;
    }
    (ranks, tied)
}

/// Rankings of rows of `n` scores, the highest score best.
///
/// # Errors
/// [`Error::NotAScore`] for a NaN, [`Error::Tied`] for a tie if ties are refused,
/// [`Error::Ragged`] unless the rows are whole and `n > 0`.
pub fn from_scores(scores: &[f64], n: usize, ties: Ties) -> Result<Vec<u32>> {
    if n == 0 || !scores.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: scores.len(), n });
    }
    let mut ranks = zeros(scores.len(), 1)?;
    let rows = scores.par_chunks_exact(n).zip(ranks.par_chunks_exact_mut(n));
    first_error(rows.enumerate().with_min_len(rows_a_task(n)).map(|(row, (scores, ranks))| {
        if let Some(item) = scores.iter().position(|s| s.is_nan()) {
            return Err(Error::NotAScore { row, item });
        }
        let descending: Vec<f64> = scores.iter().map(|s| -s).collect();
        let mut rng = match ties {
            Ties::Random(key) => Some(stream(key, row as u64)),
            Ties::Index | Ties::Refuse => None,
        };
        let (row_ranks, tied) = by_score(&descending, rng.as_mut());
        if tied > 0 && ties == Ties::Refuse {
            let (a, b) = first_tie(scores, &row_ranks);
            return Err(Error::Tied { row, a, b, score: scores[a] });
        }
        ranks.copy_from_slice(&row_ranks);
        Ok(())
    }))?;
    Ok(ranks)
}

/// The best two neighbours of equal score.
fn first_tie(scores: &[f64], ranks: &[u32]) -> (usize, usize) {
    let order = invert(ranks);
    order
        .windows(2)
        .map(|pair| (pair[0] as usize, pair[1] as usize))
        .find(|&(a, b)| scores[a] == scores[b])
        .unwrap_or_default()
}

/// Inverse of a permutation: positions from an order, or an order from positions.
#[must_use]
pub fn invert(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    invert_into(permutation, &mut inverse);
    inverse
}

/// [`invert`] into memory at hand.
#[inline]
pub(crate) fn invert_into(permutation: &[u32], inverse: &mut [u32]) {
    for (i, &p) in permutation.iter().enumerate() {
        inverse[p as usize] = i as u32;
    }
}

/// [`invert`] for every row of a matrix.
#[must_use]
pub fn invert_rows(rankings: Rankings<'_>) -> Vec<u32> {
    let n = rankings.n();
    let mut inverses = vec![0; rankings.ranks().len()];
    let rows = rankings.par_rows().zip(inverses.par_chunks_exact_mut(n));
    rows.with_min_len(rows_a_task(n)).for_each(|(row, inverse)| invert_into(row, inverse));
    inverses
}

/// The error of the first row at fault, whichever thread met one first.
pub(crate) fn first_error(rows: impl IndexedParallelIterator<Item = Result<()>>) -> Result<()> {
    let first = rows
        .enumerate()
        .filter_map(|(row, result)| result.err().map(|error| (row, error)))
        .min_by_key(|(row, _)| *row);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Whether one row is a permutation; `seen` holds a bit a position.
fn check(ranks: &[u32], seen: &mut [u64]) -> Result<()> {
    let n = ranks.len();
    seen.fill(0);
    for &rank in ranks {
        let bit = 1 << (rank % 64);
        let fault = Error::NotARanking { row: 0, n, rank: i64::from(rank as i32) };
        if rank as usize >= n {
            return Err(fault);
        }
        let word = &mut seen[rank as usize / 64];
        if *word & bit != 0 {
            return Err(fault);
        }
        *word |= bit;
    }
    Ok(())
}
