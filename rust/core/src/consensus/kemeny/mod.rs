//! The ranking of least total Kendall distance (M11): exact where that is feasible.
//!
//! In some optimal order the strongly connected `components` of the majority graph follow each
//! other, so each is solved separately: small ones exactly, by `subsets`, large ones by local
//! `search` from Borda's order, with a lower bound from `cycles`.
//! `certain` tells which items every best order has in one order.
//! `known` refines an order, `proof` proves it optimal, and `settled` tells which places another
//! first order cannot change, when only some margins are known.

mod certain;
mod components;
mod cycles;
pub(crate) mod known;
mod proof;
mod search;
mod settled;
mod subsets;

pub(crate) use certain::Certain;

use super::majority::Majority;
use super::{Consensus, tied};
use crate::error::Result;
use crate::interrupt::{Interrupt, Stage};
use crate::rankings::{Profile, Ties, invert};
use crate::rng::{Key, shuffle, stream};
use subsets::Subsets;

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
/// [`Consensus::tied`] has the runs of places whose items best orders have in different orders,
/// [`Consensus::searched`] the places of the larger components; [`Consensus::ties`] counts the
/// neighbours of margin 0.
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
    let majority = Majority::new(profile, interrupt)?;
    let (found, _) = by_majority(&majority, exact_upto, kicks, ties, key, interrupt)?;
    Ok(found)
}

/// [`consensus`] from the margins alone, and what is certain about every best order.
pub(crate) fn by_majority(
    majority: &Majority,
    exact_upto: usize,
    kicks: usize,
    ties: Ties,
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<(Consensus, Certain)> {
    let mut items: Vec<u32> = (0..majority.n() as u32).collect();
    if let Ties::Random(key) = ties {
        // Every loop over the items now takes them in random order.
        shuffle(&mut items, &mut stream(key, 0));
    }
    let mut order = Vec::with_capacity(items.len());
    let mut excess = 0;
    let mut certain = Certain::new(majority.n());
    let mut searched: Option<(u32, u32)> = None;
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
            let subsets = Subsets::solve(majority, &component, interrupt)?;
            let solved = subsets.order();
            excess += majority.violations(&solved);
            certain.add(&component, &subsets.before(interrupt)?);
            order.extend(solved);
        } else {
            excess += cycles::bound(majority, &component, interrupt)?;
            let mut rng = stream(key, i as u64);
            // Nothing is known about other orders of it, so its own order counts as certain.
            certain.add(&component, &vec![0; component.len()]);
            if kicks > 0 || ties != Ties::Index {
                let first = searched.map_or(order.len() as u32, |(first, _)| first);
                searched = Some((first, (order.len() + component.len()) as u32));
            }
            order.extend(search::search(majority, &component, kicks, ties, &mut rng, interrupt)?);
        }
    }
    let tied = certain.tied(majority, &order, interrupt)?;
    let neighbours = tied::neighbours(&order, |a, b| majority.margin(a, b) == 0);
    let (distance, bound) = (majority.distance(&order), majority.pair_bound() + excess);
    let found = Consensus {
        ranks: invert(&order),
        ties: tied::pairs_in(&neighbours),
        tied: Some(tied),
        distance: Some(distance),
        bound: Some(bound),
        exact: Some(distance == bound),
        searched,
        ..Consensus::default()
    };
    Ok((found, certain))
}
