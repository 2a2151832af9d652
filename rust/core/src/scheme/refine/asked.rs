//! Which pairs of an announced order are asked, and how a client counts them (M14).

use rayon::prelude::*;

use super::{Vote, farthest};
use crate::error::{Result, zeros};
use crate::interrupt::Interrupt;
use crate::rankings::{Rankings, invert};

/// Most pairs that a round may look at: far above any use; a scheme may come from a stranger.
pub(super) const MOST_PAIRS: u64 = 1 << 30;

/// Of places that an item moved, how many it adds to its reach to either side ([`Window::Auto`]).
const PER_PLACE_MOVED: usize = 2;

/// A distance at which fewer than one pair in so many is asked is counted pair by pair: a whole
/// row is counted this much faster per pair.
const SPARSE: usize = 8;

/// Which pairs of an announced order are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Items at most so many places apart.
    Fixed(usize),
    /// Neighbours, and more about items that moved: an item is asked with those at most
    /// `1 + 2 d` places away, where `d` is how far it moved from the order announced before to
    /// this one; 0 in the first. A pair is asked if one of the two asks for it.
    Auto,
}

impl Window {
    /// How far the items of ranking `row` are asked, by item.
    fn reaches(self, announced: Rankings<'_>, row: usize) -> Vec<u32> {
        let n = announced.n();
        // An item may move as far as a stranger likes, so the length of the message is bounded.
        let most = (n - 1).min((MOST_PAIRS / n as u64) as usize);
        let now = announced.row(row);
        match self {
            Self::Fixed(window) => vec![window.min(n - 1) as u32; n],
            Self::Auto if row == 0 => vec![1.min(most) as u32; n],
            Self::Auto => {
                let moved = now.iter().zip(announced.row(row - 1)).map(|(a, b)| a.abs_diff(*b));
                moved.map(|d| (1 + PER_PLACE_MOVED * d as usize).min(most) as u32).collect()
            }
        }
    }
}

/// One announced order, and which of its pairs are asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Round {
    /// Place of each item.
    pub(super) ranks: Vec<u32>,
    /// Items, best first.
    pub(super) order: Vec<u32>,
    /// This order, by its own places.
    near: Near,
    /// Every earlier order, by the places of this one.
    before: Vec<Near>,
    /// How many pairs are asked.
    pub(super) pairs: usize,
}

/// Which pairs were near in one announced order; indexed by the places of another.
#[derive(Debug, Clone, PartialEq)]
struct Near {
    places: Vec<u32>,
    reaches: Vec<u32>,
}

impl Near {
    fn new(announced: Rankings<'_>, row: usize, window: Window, order: &[u32]) -> Self {
        let pick = |from: &[u32]| order.iter().map(|&item| from[item as usize]).collect();
        Self { places: pick(announced.row(row)), reaches: pick(&window.reaches(announced, row)) }
    }

    fn asks(&self, i: usize, j: usize) -> bool {
        self.places[i].abs_diff(self.places[j]) <= self.reaches[i].max(self.reaches[j])
    }
}

impl Round {
    /// How many entries follow the margins in round `count`, counted from 1: a sum of distances,
    /// and a number of rankings. All margins together give the distances.
    pub(super) fn sums(&self, vote: Vote, count: usize) -> (usize, usize) {
        let counted = vote == Vote::Counted && count == 1;
        let incomplete = (self.pairs as u128) < farthest(self.ranks.len());
        (usize::from(counted && incomplete), usize::from(counted))
    }

    /// The last of the first `count` announced rankings.
    pub(super) fn new(announced: Rankings<'_>, count: usize, window: Window) -> Self {
        let ranks = announced.row(count - 1).to_vec();
        let order = invert(&ranks);
        let near = |row| Near::new(announced, row, window, &order);
        let (before, near) = ((0..count - 1).map(near).collect(), near(count - 1));
        let mut round = Self { ranks, order, near, before, pairs: 0 };
        round.pairs = match window {
            Window::Fixed(window) if count == 1 => {
                // n − 1 neighbours, n − 2 at two places, and so on.
                let window = window.min(announced.n() - 1);
                window * (2 * announced.n() - window - 1) / 2
            }
            _ => round.asked().count(),
        };
        round
    }

    /// Places `(i, j)` of the pairs asked, in the order of the message: neighbours first,
    /// then those at two places, and so on; from the best place on.
    pub(super) fn asked(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n = self.order.len();
        let widest = self.near.reaches.iter().copied().max().unwrap_or(0) as usize;
        // Places whose items ask so far: ever fewer, so that this takes as long as the pairs are
        // many, however far a single item reaches.
        let mut asking: Vec<usize> = (0..n).collect();
        let band = (1..=widest).flat_map(move |apart| {
            asking.retain(|&place| self.near.reaches[place] as usize >= apart);
            let firsts = if asking.len() == n {
                (0..n - apart).collect()
            } else {
                let firsts_of = |&place: &usize| [place.checked_sub(apart), Some(place)];
                let mut firsts: Vec<usize> =
                    asking.iter().flat_map(firsts_of).flatten().filter(|i| i + apart < n).collect();
                firsts.sort_unstable();
                firsts.dedup();
                firsts
            };
            firsts.into_iter().map(move |i| (i, i + apart))
        });
        band.filter(|&(i, j)| !self.before.iter().any(|near| near.asks(i, j)))
    }

    /// Margins of the pairs asked, in O(m n w).
    pub(super) fn margins(
        &self,
        rankings: Rankings<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<i32>> {
        let n = self.order.len();
        let wins = if n <= 1 << 16 {
            self.wins(rankings, |rank| rank as u16, interrupt)?
        } else {
            self.wins(rankings, |rank| rank, interrupt)?
        };
        let samples = rankings.len() as i32;
        // |2c − m| ≤ m, but 2c alone may wrap.
        let margin = |wins: u32| (wins as i32).wrapping_mul(2).wrapping_sub(samples);
        Ok(wins.into_iter().map(margin).collect())
    }

    /// In how many rankings the first item of each pair asked comes before the second.
    fn wins<T: Copy + PartialOrd + Send + Sync>(
        &self,
        rankings: Rankings<'_>,
        narrow: impl Fn(u32) -> T + Sync,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<u32>> {
        let n = self.order.len();
        let asked: Vec<(usize, usize)> = self.asked().collect();
        let mut wins: Vec<u32> = zeros(1, asked.len())?;
        // Blocks that stay in the cache while every distance reads them, and that 16 bits count.
        let block = ((1 << 18) / n).clamp(1, usize::from(u16::MAX));
        for block in rankings.ranks().chunks(block * n) {
            let row = |ranks: &[u32]| {
                self.order.iter().map(|&item| narrow(ranks[item as usize])).collect::<Vec<T>>()
            };
            let rows: Vec<Vec<T>> = block.par_chunks_exact(n).map(row).collect();
            let mut rest = &mut wins[..];
            let mut distances = Vec::new();
            for pairs in asked.chunk_by(|a, b| a.1 - a.0 == b.1 - b.0) {
                let (wins, others) = rest.split_at_mut(pairs.len());
                distances.push((pairs, wins));
                rest = others;
            }
            distances.into_par_iter().try_for_each(|(pairs, wins)| {
                interrupt.check()?;
                count_wins(&rows, pairs, wins);
                Ok(())
            })?;
        }
        Ok(wins)
    }
}

/// Adds the rows in which the first place of each pair has less than the second; all pairs are
/// equally far apart, and there are few enough rows for 16 bits.
fn count_wins<T: Copy + PartialOrd>(rows: &[Vec<T>], pairs: &[(usize, usize)], wins: &mut [u32]) {
    let (Some(row), Some(&(i, j))) = (rows.first(), pairs.first()) else { return };
    let apart = j - i;
    if pairs.len() * SPARSE < row.len() - apart {
        for row in rows {
            for (count, &(i, j)) in wins.iter_mut().zip(pairs) {
                *count += u32::from(row[i] < row[j]);
            }
        }
        return;
    }
    let mut part = vec![0_u16; row.len() - apart];
    for row in rows {
        for ((count, first), second) in part.iter_mut().zip(row).zip(&row[apart..]) {
            *count += u16::from(first < second);
        }
    }
    for (count, &(i, _)) in wins.iter_mut().zip(pairs) {
        *count += u32::from(part[i]);
    }
}
