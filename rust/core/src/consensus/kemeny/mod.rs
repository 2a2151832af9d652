//! The ranking of least total Kendall distance (M11): exact where that is feasible.
//!
//! In some optimal order the strongly connected `components` of the majority graph follow each
//! other, so each is solved separately: small ones exactly, by `subsets`, large ones by local
//! `search` from Borda's order, with a lower bound from `cycles`.
//! `known` refines an order, and `proof` proves it optimal, when only some margins are known.

mod components;
mod cycles;
pub(crate) mod known;
mod proof;
mod search;
mod subsets;

use super::majority::Majority;
use super::{Consensus, tied};
use crate::error::Result;
use crate::interrupt::{Interrupt, Stage};
use crate::rankings::{Profile, Ties, invert};
use crate::rng::{Key, shuffle, stream};

/// Default for the largest component solved exactly: 2²⁰ subsets take 8 MiB and about 15 ms.
pub const EXACT_UPTO: usize = 20;

/// Largest component that may be solved exactly: 2²⁴ subsets take 128 MiB and some seconds.
pub const EXACT_MOST: usize = 24;

/// Default for the restarts of a search.
pub const KICKS: usize = 50;

/// Computes a Kemeny consensus, in O(m n²) and the time of the components.
///
/// Components of up to `exact_upto` items (at most [`EXACT_MOST`]) are solved exactly. In a larger
/// one, the search is restarted `kicks` times from a disturbed optimum, with randomness from
/// `key`. The result is proved optimal if its distance equals its bound.
/// [`Consensus::ties`] counts the tied pairs of neighbours in the result.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn consensus(
    profile: &Profile<'_>,
    exact_upto: usize,
    kicks: usize,
    ties: Ties,
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Consensus> {
    interrupt.enter(Stage::Pairs);
    by_majority(&Majority::new(profile, interrupt)?, exact_upto, kicks, ties, key, interrupt)
}

/// [`consensus`] from the margins alone.
pub(crate) fn by_majority(
    majority: &Majority,
    exact_upto: usize,
    kicks: usize,
    ties: Ties,
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Consensus> {
    let mut items: Vec<u32> = (0..majority.n() as u32).collect();
    if let Ties::Random(key) = ties {
        // Every loop over the items now takes them in random order.
        shuffle(&mut items, &mut stream(key, 0));
    }
    let mut order = Vec::with_capacity(items.len());
    let mut excess = 0;
    let exact = |component: &[u32]| component.len() <= exact_upto.min(EXACT_MOST);
    let components = components::components(majority, &items, interrupt)?;
    interrupt.enter(Stage::Search);
    for component in &components {
        interrupt.expect(match exact(component) {
            true => subsets::work(component.len()),
            false => cycles::work(component.len()) + search::work(component.len(), kicks),
        });
    }
    for (i, mut component) in components.into_iter().enumerate() {
        if ties == Ties::Index {
            component.sort_unstable();
        }
        if exact(&component) {
            let solved = subsets::best_order(majority, &component, interrupt)?;
            excess += majority.violations(&solved);
            order.extend(solved);
        } else {
            excess += cycles::bound(majority, &component, interrupt)?;
            let mut rng = stream(key, i as u64);
            order.extend(search::search(majority, &component, kicks, ties, &mut rng, interrupt)?);
        }
    }
    let tied = tied::neighbours(&order, |a, b| majority.margin(a, b) == 0);
    let ties = tied.iter().map(|run| (run.end - run.start - 1) as usize).sum();
    let (distance, bound) = (majority.distance(&order), majority.pair_bound() + excess);
    Ok(Consensus {
        ranks: invert(&order),
        ties,
        tied: Some(tied),
        distance: Some(distance),
        bound: Some(bound),
        exact: Some(distance == bound),
        ..Consensus::default()
    })
}
