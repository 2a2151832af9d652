//! Which places the tie rule decided.

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
