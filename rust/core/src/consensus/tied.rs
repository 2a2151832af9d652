//! Which places the tie rule decided.

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rankings::invert;

/// Neighbours that the tie rule ordered.
///
/// Of the items with numbers below `items`, ranked among themselves, those at places
/// `start..end`. The runs of one `group` belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which tie this is part of, from 0.
    pub group: u32,
    /// How many items, from item 0 on, are ranked.
    pub items: u32,
    /// First place among these.
    pub start: u32,
    /// Place after the last.
    pub end: u32,
}

impl Run {
    /// The places that `item` can have among the items before it and itself, if its Lehmer digit
    /// can be any from `low` to `high`: the digit counts the earlier items ranked after it (M2).
    #[must_use]
    pub fn of_digit(item: u32, low: u32, high: u32) -> Self {
        Self { group: 0, items: item + 1, start: item - high, end: item - low + 1 }
    }
}

/// Gives each run a group of its own.
#[must_use]
pub fn apart(mut runs: Vec<Run>) -> Vec<Run> {
    for (group, run) in (0..).zip(&mut runs) {
        run.group = group;
    }
    runs
}

/// The maximal runs of an order in which all neighbours are `tied`, each a group.
#[must_use]
pub fn neighbours(order: &[u32], tied: impl Fn(u32, u32) -> bool) -> Vec<Run> {
    let (mut runs, mut start, items) = (Vec::new(), 0, order.len() as u32);
    for equal in order.chunk_by(|&a, &b| tied(a, b)) {
        let end = start + equal.len() as u32;
        if equal.len() > 1 {
            runs.push(Run { group: 0, items, start, end });
        }
        start = end;
    }
    apart(runs)
}

/// How many pairs of neighbours are in the same run.
#[must_use]
pub fn pairs_in(runs: &[Run]) -> usize {
    runs.iter().map(|run| (run.end - run.start - 1) as usize).sum()
}

/// The shortest runs of an order such that all items of a run are certain to come before those of
/// all later runs; each is a group, and runs of one place are left out.
///
/// `first(a, b)` says that `a` is certain to come before `b`; so it is if another item is certain
/// to come between them. O(n²), and up to O(n³ / 64) if much is uncertain.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn uncertain(
    order: &[u32],
    first: impl Fn(u32, u32) -> bool,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Run>> {
    let n = order.len();
    // For each place, the later places that are not certain to be later, as bits; empty if none.
    let mut open: Vec<Vec<u64>> = vec![Vec::new(); n];
    let mut ends: Vec<usize> = (1..=n).collect();
    for place in (0..n).rev() {
        interrupt.check()?;
        let is_first = |&to: &usize| first(order[place], order[to]);
        let mut left = Vec::new();
        for to in (place + 1..n).filter(|to| !is_first(to)) {
            left.resize(n.div_ceil(64), 0_u64);
            left[to / 64] |= 1 << (to % 64);
        }
        let mut via = place + 1;
        while let Some(last) = left.iter().rposition(|&word| word != 0) {
            let end = last * 64 + 64 - left[last].leading_zeros() as usize;
            let Some(next) = (via..end).find(is_first) else {
                ends[place] = end;
                break;
            };
            // Of the places after `next`, those are left that are open there too.
            let up_to_next = u64::MAX >> (63 - next % 64);
            left[next / 64] &= up_to_next | word_of(&open[next], next / 64);
            for (word, bits) in left.iter_mut().enumerate().skip(next / 64 + 1) {
                *bits &= word_of(&open[next], word);
            }
            via = next + 1;
        }
        if ends[place] > place + 1 {
            open[place] = left;
        }
    }
    let mut runs: Vec<Run> = Vec::new();
    let mut run = 0..0;
    for (place, end) in ends.into_iter().enumerate() {
        if place >= run.end {
            run = place..end;
        } else {
            run.end = run.end.max(end);
        }
        if run.len() > 1 && place + 1 == run.end {
            let (start, end) = (run.start as u32, run.end as u32);
            runs.push(Run { group: 0, items: n as u32, start, end });
        }
    }
    Ok(apart(runs))
}

fn word_of(bits: &[u64], word: usize) -> u64 {
    bits.get(word).copied().unwrap_or(0)
}

/// The places from the first item that is not `first` of a later one to the last such later item.
#[must_use]
pub fn unsettled(order: &[u32], first: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
    let last_open =
        |place: usize| (place + 1..order.len()).rev().find(|&to| !first(order[place], order[to]));
    let open =
        (0..order.len()).filter_map(|place| Some((place as u32, last_open(place)? as u32 + 1)));
    open.reduce(|(start, end), (_, other)| (start, end.max(other)))
}

/// The runs of items that share their score with a neighbour.
#[must_use]
pub fn scores(ranks: &[u32], scores: &[u64]) -> Vec<Run> {
    neighbours(&invert(ranks), |a, b| scores[a as usize] == scores[b as usize])
}

/// The places of `order` at which not all of the `others`, given by places, have the same item:
/// one group.
#[must_use]
pub fn places(order: &[u32], others: &[&[u32]]) -> Vec<Run> {
    let differs = |place: u32| {
        let item = order[place as usize] as usize;
        others.iter().any(|ranks| ranks[item] != place)
    };
    let places: Vec<u32> = (0..order.len() as u32).filter(|&place| differs(place)).collect();
    let runs = places.chunk_by(|&a, &b| a + 1 == b);
    let items = order.len() as u32;
    runs.map(|run| Run { group: 0, items, start: run[0], end: run[run.len() - 1] + 1 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal_and_numbered() {
        let run = |group, start, end| Run { group, items: 6, start, end };
        assert_eq!(scores(&[5, 0, 3, 1, 2, 4], &[9, 1, 4, 1, 4, 8]), [run(0, 0, 2), run(1, 2, 4)]);
        assert_eq!(scores(&[0, 1], &[1, 2]), []);
    }

    #[test]
    fn places_that_differ_are_one_group() {
        let other = [2, 1, 0, 3, 5, 4];
        let runs = places(&[0, 1, 2, 3, 4, 5], &[&other[..]]);
        let run = |start, end| Run { group: 0, items: 6, start, end };
        assert_eq!(runs, [run(0, 1), run(2, 3), run(4, 6)]);
    }
}
