//! Partial rankings: items may be tied, and some not ranked, which are then tied last.
//!
//! A row holds the level of each item, 0 the best; items of one level are tied. Each is read as
//! two complete rankings, its [`twins`], so that all that counts complete rankings counts these.

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::rankings::{first_error, rows_a_task};

/// In place of the level of an item that is not ranked.
pub const UNRANKED: u32 = u32::MAX;

/// Levels of rows of `n` scores, the highest score best and NaN not ranked.
///
/// # Errors
/// [`Error::Blank`] for a row of NaN alone, [`Error::Ragged`] unless the rows are whole and
/// `n > 0`.
pub fn levels(scores: &[f64], n: usize) -> Result<Vec<u32>> {
    if n == 0 || !scores.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: scores.len(), n });
    }
    let mut levels = zeros(scores.len(), 1)?;
    let rows = scores.par_chunks_exact(n).zip(levels.par_chunks_exact_mut(n));
    first_error(rows.enumerate().with_min_len(rows_a_task(n)).map(|(row, (scores, levels))| {
        let mut ranked: Vec<usize> = (0..n).filter(|&item| !scores[item].is_nan()).collect();
        if ranked.is_empty() {
            return Err(Error::Blank { row });
        }
        ranked.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        levels.fill(UNRANKED);
        // By value, since -0 and 0 are one score.
        for (level, tied) in (0..).zip(ranked.chunk_by(|&a, &b| scores[a] == scores[b])) {
            tied.iter().for_each(|&item| levels[item] = level);
        }
        Ok(())
    }))?;
    Ok(levels)
}

/// Two complete rankings for each of the rows, in O(n) a row: all first ones, then all second.
///
/// Where the row orders two items, both do as it does; where it ties them, the first ranks them
/// by item number and the second the other way round. So the sum of an item's two positions is
/// twice its mid-rank, and of two that disagree on a pair each counts for one half.
///
/// # Errors
/// [`Error::Memory`] if so many numbers are too many.
pub fn twins(levels: &[u32], n: usize) -> Result<Vec<u32>> {
    let mut twins = zeros(2, levels.len())?;
    let (first, second) = twins.split_at_mut(levels.len());
    let rows = levels.par_chunks_exact(n);
    rows.zip(first.par_chunks_exact_mut(n)).zip(second.par_chunks_exact_mut(n)).for_each_init(
        || (vec![0; n + 1], vec![0; n + 1]),
        |(next, end), ((levels, first), second)| {
            // What is not ranked is in the last group.
            let group = |&level: &u32| (level as usize).min(n);
            end.fill(0);
            levels.iter().for_each(|level| end[group(level)] += 1);
            let mut places = 0;
            for (next, end) in next.iter_mut().zip(end.iter_mut()) {
                *next = places;
                places += *end;
                *end = places;
            }
            for ((level, first), second) in levels.iter().zip(first).zip(second) {
                let (next, end) = (&mut next[group(level)], &mut end[group(level)]);
                *end -= 1;
                (*first, *second) = (*next, *end);
                *next += 1;
            }
        },
    );
    Ok(twins)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Rankings;
    use proptest::prelude::*;

    #[test]
    fn levels_are_dense_and_equal_scores_share_one() {
        let scores = [0.0, f64::NAN, 2.5, -0.0, f64::NEG_INFINITY];
        assert_eq!(levels(&scores, 5).unwrap(), [1, UNRANKED, 0, 1, 2]);
        assert_eq!(levels(&[1.0, f64::NAN, f64::NAN], 1), Err(Error::Blank { row: 1 }));
        assert_eq!(levels(&[1.0], 2), Err(Error::Ragged { len: 1, n: 2 }));
    }

    proptest! {
        #[test]
        fn twins_agree_on_what_is_ordered_and_on_nothing_else(
            scores in prop::collection::vec((0_u8..5).prop_map(|s| match s {
                0 => f64::NAN,
                s => f64::from(s),
            }), 6),
        ) {
            prop_assume!(scores.iter().any(|s| !s.is_nan()));
            let row = levels(&scores, 6).unwrap();
            let twins = twins(&row, 6).unwrap();
            let twins = Rankings::new(&twins, 6).unwrap();
            let (first, second) = (twins.row(0), twins.row(1));
            for (a, b) in (0..6).flat_map(|b| (0..b).map(move |a| (a, b))) {
                let both = (first[a] < first[b], second[a] < second[b]);
                let expected = match row[a].cmp(&row[b]) {
                    std::cmp::Ordering::Less => (true, true),
                    std::cmp::Ordering::Equal => (true, false),
                    std::cmp::Ordering::Greater => (false, false),
                };
                prop_assert_eq!(both, expected);
            }
        }
    }
}
