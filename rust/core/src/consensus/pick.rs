//! Pick-a-perm: one of the given rankings (M11; Ailon, Charikar and Newman 2008).

use rayon::prelude::*;

use super::Consensus;
use super::majority::{Majority, distance_work};
use super::tied;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::{Profile, Ties, invert};
use crate::rng::{below, stream};

/// The ranking of the profile with the least total Kendall distance to all rankings.
///
/// [`Consensus::ties`] counts the different rankings at this distance if there are several.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn consensus(profile: &Profile<'_>, ties: Ties, interrupt: Interrupt<'_>) -> Result<Consensus> {
    let rankings = profile.rankings();
    let near = distance_work(profile.n());
    let counts = |&row: &usize| profile.weight(row) > 0;
    interrupt.expect(near.saturating_mul((0..rankings.len()).filter(counts).count() as u64));
    let majority = Majority::new(profile, interrupt)?;
    let rows = (0..rankings.len()).into_par_iter().filter(counts);
    let mut nearest: Vec<(u64, usize)> = rows
        .map(|row| {
            interrupt.check()?;
            let distance = majority.distance(&invert(rankings.row(row)));
            interrupt.advance(near);
            Ok(vec![(distance, row)])
        })
        .try_reduce(Vec::new, |a, b| Ok(keep_least(a, b)))?;
    nearest.sort_by_key(|&(_, row)| (rankings.row(row), row));
    nearest.dedup_by_key(|&mut (_, row)| rankings.row(row));
    nearest.sort_by_key(|&(_, row)| row);
    let choice = match ties {
        Ties::Random(key) => below(&mut stream(key, 0), nearest.len() as u32) as usize,
        Ties::Index | Ties::Refuse => 0,
    };
    let (distance, row) = nearest[choice];
    let ties = if nearest.len() > 1 { nearest.len() } else { 0 };
    let ranks = rankings.row(row).to_vec();
    let others: Vec<&[u32]> = nearest.iter().map(|&(_, row)| rankings.row(row)).collect();
    let tied = Some(tied::places(&invert(&ranks), &others));
    Ok(Consensus { ranks, ties, tied, distance: Some(distance), ..Consensus::default() })
}

/// The nearest rows of two lists; the rows of one list are all at the same distance.
fn keep_least(mut a: Vec<(u64, usize)>, b: Vec<(u64, usize)>) -> Vec<(u64, usize)> {
    match (a.first(), b.first()) {
        (Some((least, _)), Some((other, _))) if least < other => a,
        (Some((least, _)), Some((other, _))) if least == other => {
            a.extend(b);
            a
        }
        (_, None) => a,
        _ => b,
    }
}
