//! The ranking of least total Kendall distance (M11): exact where it can be.
//!
//! In some optimal order the strongly connected components of the majority graph (a tied
//! pair is no edge) follow each other, so each is solved alone: small ones by dynamic
//! programming over subsets, large ones by local search from Borda's order.

use rand_core::Rng;

use super::Consensus;
use super::majority::Majority;
use crate::error::{Result, zeros};
use crate::rankings::{Profile, Ties, by_score, invert};
use crate::rng::{Key, below, shuffle, stream};

/// Largest component solved exactly: 2²⁰ subsets take 8 MiB and some 15 ms.
pub const EXACT_UPTO: usize = 20;

/// Largest component that may be solved exactly: 2²⁴ subsets take 128 MiB and some seconds.
pub const EXACT_MOST: usize = 24;

/// How often a search is restarted where nothing else is asked for.
pub const KICKS: usize = 50;

/// Finds a Kemeny consensus, in O(m n²) and what the components take.
///
/// `exact_upto` bounds the components that are solved exactly (at most [`EXACT_MOST`]), and `kicks`
/// says how often the search in a larger one is restarted from a disturbed optimum, with
/// randomness from `key`. The result is proved optimal if its distance equals its bound.
/// [`Consensus::ties`] counts the neighbours in the result that are tied.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many.
pub fn consensus(
    profile: &Profile<'_>,
    exact_upto: usize,
    kicks: usize,
    ties: Ties,
    key: Key,
) -> Result<Consensus> {
    by_majority(&Majority::new(profile)?, exact_upto, kicks, ties, key)
}

/// [`consensus`] from the margins alone.
pub(crate) fn by_majority(
    majority: &Majority,
    exact_upto: usize,
    kicks: usize,
    ties: Ties,
    key: Key,
) -> Result<Consensus> {
    let mut items: Vec<u32> = (0..majority.n() as u32).collect();
    if let Ties::Random(key) = ties {
        // Whatever looks at the items in turn now looks at them in random order.
        shuffle(&mut items, &mut stream(key, 0));
    }
    let mut order = Vec::with_capacity(items.len());
    let mut excess = 0;
    for (i, mut component) in components(majority, &items).into_iter().enumerate() {
        if ties == Ties::Index {
            component.sort_unstable();
        }
        if component.len() <= exact_upto.min(EXACT_MOST) {
            let solved = solve(majority, &component)?;
            excess += violations(majority, &solved);
            order.extend(solved);
        } else {
            excess += cycle_bound(majority, &component)?;
            let mut rng = stream(key, i as u64);
            order.extend(search(majority, &component, kicks, ties, &mut rng));
        }
    }
    let ties = order.windows(2).filter(|pair| majority.margin(pair[0], pair[1]) == 0).count();
    let (distance, bound) = (majority.distance(&order), majority.pair_bound() + excess);
    Ok(Consensus {
        ranks: invert(&order),
        ties,
        distance: Some(distance),
        bound: Some(bound),
        exact: Some(distance == bound),
        ..Consensus::default()
    })
}

/// Strongly connected components of the majority graph, each before those it beats.
///
/// Kosaraju: depth first by the edges, then against them in the order of leaving.
fn components(majority: &Majority, items: &[u32]) -> Vec<Vec<u32>> {
    let mut seen = vec![false; items.len()];
    let mut left = Vec::with_capacity(items.len());
    // What is left last comes first, so the first items are visited last.
    let backwards: Vec<u32> = items.iter().rev().copied().collect();
    for &root in &backwards {
        visit(&backwards, &mut seen, root, &mut left, |a, b| majority.margin(a, b) > 0);
    }
    seen.fill(false);
    let mut components = Vec::new();
    for &root in left.iter().rev() {
        let mut component = Vec::new();
        visit(items, &mut seen, root, &mut component, |a, b| majority.margin(b, a) > 0);
        if !component.is_empty() {
            components.push(component);
        }
    }
    components
}

/// Appends all that can be reached from `root` and was not seen, in the order of leaving.
fn visit(
    items: &[u32],
    seen: &mut [bool],
    root: u32,
    left: &mut Vec<u32>,
    edge: impl Fn(u32, u32) -> bool,
) {
    if std::mem::replace(&mut seen[root as usize], true) {
        return;
    }
    // A stack of our own: a long chain would overflow the thread's.
    let mut path = vec![(root, 0)];
    while let Some((item, next)) = path.last_mut() {
        let from = *item;
        match (*next..items.len()).find(|&k| !seen[items[k] as usize] && edge(from, items[k])) {
            Some(k) => {
                *next = k + 1;
                seen[items[k] as usize] = true;
                path.push((items[k], 0));
            }
            None => {
                left.push(from);
                path.pop();
            }
        }
    }
}

/// Rankings against the order beyond what its pairs' majorities cost: 0 if it violates none.
pub(super) fn violations(majority: &Majority, order: &[u32]) -> u64 {
    let pairs = (0..order.len()).flat_map(|i| order[i + 1..].iter().map(move |&b| (order[i], b)));
    pairs.map(|(a, b)| (-majority.margin(a, b)).max(0) as u64).sum()
}

/// The best order of a few items, by dynamic programming over their subsets (Held and Karp).
pub(super) fn solve(majority: &Majority, items: &[u32]) -> Result<Vec<u32>> {
    let k = items.len();
    // For each item, the margins over it of every subset, in two halves that are added.
    let half = k / 2;
    let sums = |last: usize, members: &[u32]| {
        let mut sums = vec![0_i64; 1 << members.len()];
        for set in 1..sums.len() {
            let top = set.ilog2() as usize;
            sums[set] = sums[set & !(1 << top)] + majority.margin(members[top], items[last]);
        }
        sums
    };
    let gains: Vec<_> =
        (0..k).map(|last| (sums(last, &items[..half]), sums(last, &items[half..]))).collect();
    let gain = |set: usize, last: usize| {
        let (low, high) = &gains[last];
        low[set & ((1 << half) - 1)] + high[set >> half]
    };
    // Greatest agreement of an order of each subset: the last item follows all the others.
    let mut best: Vec<i64> = zeros(1, 1 << k)?;
    let last_of = |best: &[i64], set: usize| {
        let mut lasts = set;
        let mut choice = (i64::MIN, 0);
        while lasts != 0 {
            let last = lasts.trailing_zeros() as usize;
            lasts &= lasts - 1;
            let rest = set & !(1 << last);
            let value = best[rest] + gain(rest, last);
            // Of equals the later item goes last.
            if value >= choice.0 {
                choice = (value, last);
            }
        }
        choice
    };
    for set in 1..best.len() {
        best[set] = last_of(&best, set).0;
    }
    let mut set = best.len() - 1;
    let mut order = vec![0; k];
    for slot in order.iter_mut().rev() {
        let (_, last) = last_of(&best, set);
        *slot = items[last];
        set &= !(1 << last);
    }
    Ok(order)
}

/// Insertion search from Borda's order, then from disturbed optima; keeps the best.
fn search(
    majority: &Majority,
    items: &[u32],
    kicks: usize,
    ties: Ties,
    rng: &mut impl Rng,
) -> Vec<u32> {
    // Margins over all items sum to Borda's score, up to scale.
    let score = |&item: &u32| -majority.row(item).iter().map(|&m| i64::from(m)).sum::<i64>();
    let scores: Vec<i64> = items.iter().map(score).collect();
    let (places, _) = by_score(&scores, (ties != Ties::Index).then_some(&mut *rng));
    let mut best: Vec<u32> = invert(&places).iter().map(|&i| items[i as usize]).collect();
    improve(majority, &mut best);
    let mut least = violations(majority, &best);
    let length = best.len().min(KICK);
    for _ in 0..kicks {
        let mut order = best.clone();
        let start = below(rng, (order.len() - length + 1) as u32) as usize;
        shuffle(&mut order[start..start + length], rng);
        improve(majority, &mut order);
        let violated = violations(majority, &order);
        if violated < least {
            (best, least) = (order, violated);
        }
    }
    best
}

/// Neighbours that a kick puts in random order.
const KICK: usize = 12;

/// Moves one item at a time to where it fits best, until none moves. Swaps of neighbours
/// are such moves.
fn improve(majority: &Majority, order: &mut [u32]) {
    let mut still = 0;
    let mut place = 0;
    while still < order.len() {
        let to = best_place(majority.row(order[place]), order, place);
        if to == place {
            still += 1;
        } else {
            still = 0;
            if to < place {
                order[to..=place].rotate_right(1);
            } else {
                order[place..=to].rotate_left(1);
            }
        }
        place = (place + 1) % order.len();
    }
}

/// Where the item at `place` agrees most with the others; where it is, if nowhere better.
fn best_place(margins: &[i32], order: &[u32], place: usize) -> usize {
    let mut best = (0, place);
    let mut gain = 0;
    for to in (0..place).rev() {
        gain += i64::from(margins[order[to] as usize]);
        if gain > best.0 {
            best = (gain, to);
        }
    }
    gain = 0;
    for to in place + 1..order.len() {
        gain -= i64::from(margins[order[to] as usize]);
        if gain > best.0 {
            best = (gain, to);
        }
    }
    best.1
}

/// What any order of the items must violate, by cycles of three that share no margin.
///
/// Each such cycle is broken somewhere, at the price of its least margin; what is left of
/// the margins is used again.
fn cycle_bound(majority: &Majority, items: &[u32]) -> Result<u64> {
    let k = items.len();
    let words = k.div_ceil(64);
    let mut left: Vec<i32> = zeros(k, k)?;
    // Bit c of row a of `beats`: a has margin left over c; of `loses`: c over a.
    let mut beats = vec![0_u64; k * words];
    let mut loses = vec![0_u64; k * words];
    for a in 0..k {
        for c in 0..k {
            let margin = majority.margin(items[a], items[c]);
            if margin > 0 {
                left[a * k + c] = margin as i32; // as the margins are
                beats[a * words + c / 64] |= 1 << (c % 64);
                loses[c * words + a / 64] |= 1 << (a % 64);
            }
        }
    }
    let mut bound = 0;
    for a in 0..k {
        for b in 0..k {
            for word in 0..words {
                let mut thirds = beats[b * words + word] & loses[a * words + word];
                while thirds != 0 && left[a * k + b] > 0 {
                    let c = word * 64 + thirds.trailing_zeros() as usize;
                    thirds &= thirds - 1;
                    let cycle = [(a, b), (b, c), (c, a)];
                    let least = cycle.map(|(x, y)| left[x * k + y]).into_iter().min().unwrap_or(0);
                    bound += least as u64;
                    for (x, y) in cycle {
                        left[x * k + y] -= least;
                        if left[x * k + y] == 0 {
                            beats[x * words + y / 64] &= !(1 << (y % 64));
                            loses[y * words + x / 64] &= !(1 << (x % 64));
                        }
                    }
                }
            }
        }
    }
    Ok(bound)
}
