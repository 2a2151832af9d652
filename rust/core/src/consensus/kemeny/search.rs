//! Local search by insertion, for components too large to solve exactly.

use rand_core::Rng;

use crate::consensus::majority::Majority;
use crate::error::Result;
use crate::interrupt::{Interrupt, Stage};
use crate::rankings::{Ties, by_score, invert};
use crate::rng::{below, shuffle};

/// Neighbours that a restart puts in random order.
const KICK: usize = 12;

/// Margins looked up in `kicks` restarts, counted as if every restart took the same time.
pub(super) fn work(k: usize, kicks: usize) -> u64 {
    kick_work(k).saturating_mul(kicks as u64)
}

/// Every item is tried at every place a few times, until none has moved.
fn kick_work(k: usize) -> u64 {
    3 * (k as u64) * (k as u64)
}

/// A good order of `items`: the local optimum reached from Borda's order, or a better one reached
/// from it in `kicks` restarts, each from the best order so far with a few neighbours shuffled.
pub(super) fn search(
    majority: &Majority,
    items: &[u32],
    kicks: usize,
    ties: Ties,
    rng: &mut impl Rng,
    interrupt: Interrupt<'_>,
) -> Result<Vec<u32>> {
    // The sum of an item's margins is its Borda score, up to scale.
    let score = |&item: &u32| -majority.row(item).iter().map(|&m| i64::from(m)).sum::<i64>();
    let scores: Vec<i64> = items.iter().map(score).collect();
    let (places, _) = by_score(&scores, (ties != Ties::Index).then_some(&mut *rng));
    let mut best: Vec<u32> = invert(&places).iter().map(|&i| items[i as usize]).collect();
    let margin_over = |item| {
        let row = majority.row(item);
        move |other: u32| Some(row[other as usize])
    };
    interrupt.enter(Stage::Improving);
    improve(&mut best, margin_over, interrupt)?;
    interrupt.enter(Stage::Search);
    let mut least = majority.violations(&best);
    let length = best.len().min(KICK);
    for _ in 0..kicks {
        let mut order = best.clone();
        let start = below(rng, (order.len() - length + 1) as u32) as usize;
        shuffle(&mut order[start..start + length], rng);
        improve(&mut order, margin_over, interrupt)?;
        let violations = majority.violations(&order);
        if violations < least {
            (best, least) = (order, violations);
        }
        interrupt.advance(kick_work(items.len()));
    }
    Ok(best)
}

/// Moves one item at a time to where it agrees most with the others, until none moves.
///
/// `margin_over(item)(other)` is the margin of `item` over `other`, or `None` if it is not known;
/// no item moves past one with an unknown margin.
pub(super) fn improve<F: Fn(u32) -> Option<i32>>(
    order: &mut [u32],
    margin_over: impl Fn(u32) -> F,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    let mut unmoved = 0;
    let mut place = 0;
    while unmoved < order.len() {
        interrupt.check()?;
        let to = best_place(order, place, margin_over(order[place]));
        unmoved += 1;
        if to < place {
            order[to..=place].rotate_right(1);
            unmoved = 0;
        } else if to > place {
            order[place..=to].rotate_left(1);
            unmoved = 0;
        }
        place = (place + 1) % order.len();
    }
    Ok(())
}

/// Where the item at `place` agrees most with the items that it passes; `place` itself if no
/// other place is better.
fn best_place(order: &[u32], place: usize, margin_over: impl Fn(u32) -> Option<i32>) -> usize {
    let (mut best, mut most) = (place, 0);
    let mut gain = 0;
    for to in (0..place).rev() {
        let Some(margin) = margin_over(order[to]) else { break };
        gain += i64::from(margin);
        if gain > most {
            (best, most) = (to, gain);
        }
    }
    gain = 0;
    for (to, &other) in order.iter().enumerate().skip(place + 1) {
        let Some(margin) = margin_over(other) else { break };
        gain -= i64::from(margin);
        if gain > most {
            (best, most) = (to, gain);
        }
    }
    best
}
