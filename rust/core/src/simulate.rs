//! How far from the center a consensus of Mallows samples is, trial by trial.
//!
//! The experiments and the planner use this. Messages are those of the schemes, summed without
//! masks, which would not change the sums.

use rand_core::Rng;
use rayon::prelude::*;

use crate::consensus::Method;
use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::kendall;
use crate::mallows::Phi;
use crate::rankings::{Profile, Rankings, Ties};
use crate::rng::{Key, shuffle, stream};
use crate::scheme::Scheme;

/// Computes one ranking from all rankings of a trial, with randomness from a key.
type Rule<'a> = dyn Fn(Rankings<'_>, Key) -> Result<Vec<u32>> + Sync + 'a;

/// What is simulated: all trials draw the same number of rankings from one model.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Dispersion of the rankings.
    pub phi: Phi,
    /// Items ranked.
    pub n: usize,
    /// The center of all trials; without one, each trial draws its own, uniformly.
    pub center: Option<&'a [u32]>,
    /// Clients in a trial.
    pub clients: usize,
    /// Rankings of each client.
    pub samples: usize,
    /// Trials.
    pub trials: usize,
}

/// Most entries of a trial, which is held whole: 16 GiB.
const MOST: usize = 1 << 32;

/// Entries that are sampled at once: 64 MiB, so that memory does not grow with the trials.
const BATCH: usize = 1 << 24;

/// Kendall distance from the center for each trial (rows), in parallel; the columns are those of
/// the schemes, whose messages the clients send, then of the methods, which see all rankings.
///
/// The same key gives the same distances on any number of threads.
///
/// # Errors
/// [`Error::Empty`] for no items or no rankings, [`Error::Interrupted`] if `interrupt` says so,
/// or the error of a scheme or method.
pub fn distances(
    setting: Setting<'_>,
    schemes: &[&Scheme],
    methods: &[Method],
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Vec<u64>> {
    let clients = setting.clients;
    let federated = schemes.iter().map(|&scheme| -> Box<Rule<'_>> {
        Box::new(move |data, key| federate(scheme, data, clients, key, interrupt.uncounted()))
    });
    let central = methods.iter().map(|&method| -> Box<Rule<'_>> {
        Box::new(move |data, key| {
            let profile = Profile::new(data, None)?;
            Ok(method.consensus(&profile, Ties::Random(key), key, interrupt.uncounted())?.ranks)
        })
    });
    let rules: Vec<Box<Rule<'_>>> = federated.chain(central).collect();
    by_rule(setting, &rules.iter().map(AsRef::as_ref).collect::<Vec<_>>(), key, interrupt)
}

/// [`distances`] of any rules.
fn by_rule(
    setting: Setting<'_>,
    rules: &[&Rule<'_>],
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Vec<u64>> {
    let Setting { phi, n, center, clients, samples, trials } = setting;
    let rankings = clients.saturating_mul(samples);
    if n == 0 || rankings == 0 {
        return Err(Error::Empty);
    }
    let around: Vec<u32> = center.map_or_else(|| (0..n as u32).collect(), <[u32]>::to_vec);
    let around = Rankings::new(&around, n)?;
    let entries = rankings.checked_mul(n).filter(|&entries| entries <= MOST);
    let entries =
        entries.ok_or(Error::Memory { entries: rankings as u128 * n as u128, bytes: 4 })?;
    let together = (BATCH / entries).clamp(1, trials.max(1));
    let mut distances = zeros(trials, rules.len())?;
    let width = rules.len().max(1);
    interrupt.expect(distances.len() as u64);
    for (batch, rows) in distances.chunks_mut(together * width).enumerate() {
        let mut keys = stream(key, batch as u64);
        let (samples, choices) = (draw(&mut keys), draw(&mut keys));
        let count = rows.len() / width * rankings;
        let mut ranks = phi.sample(around, count, samples, interrupt.uncounted())?;
        let trials = ranks.par_chunks_exact_mut(rankings * n).zip(rows.par_chunks_mut(width));
        let failed = trials.enumerate().filter_map(|(trial, (ranks, row))| {
            let mut rng = stream(choices, trial as u64);
            let mut truth = around.row(0).to_vec();
            if center.is_none() {
                shuffle(&mut truth, &mut rng);
                relabel(ranks, &truth);
            }
            let data = Rankings::trusted(ranks, n);
            rules.iter().zip(row).find_map(|(rule, distance)| {
                let found = interrupt.check().and_then(|()| rule(data, draw(&mut rng)));
                let far = found.and_then(|found| kendall::distance(&found, &truth));
                interrupt.advance(1);
                far.map(|far| *distance = far).err().map(|error| (trial, error))
            })
        });
        if let Some((_, error)) = failed.min_by_key(|(trial, _)| *trial) {
            return Err(error);
        }
    }
    Ok(distances)
}

/// The consensus of `clients` with equal shares of `rankings`, from the sum of their messages.
fn federate(
    scheme: &Scheme,
    rankings: Rankings<'_>,
    clients: usize,
    key: Key,
    interrupt: Interrupt<'_>,
) -> Result<Vec<u32>> {
    let mut rng = stream(key, 0);
    let n = rankings.n();
    let share = (rankings.len() / clients.max(1)).max(1) * n;
    let mut total = vec![0; scheme.layout().entries()];
    for (client, ranks) in rankings.ranks().chunks_exact(share).enumerate() {
        let data = Rankings::trusted(ranks, n);
        let (message, _) = scheme.encode(data, client, draw(&mut rng), interrupt)?;
        total.iter_mut().zip(message).for_each(|(sum, entry)| *sum += entry);
    }
    let ties = Ties::Random(draw(&mut rng));
    Ok(scheme.decode(&[&total], clients, ties, interrupt)?.ranks)
}

/// A key for the streams of one step.
fn draw(rng: &mut impl Rng) -> Key {
    let mut key = Key::default();
    rng.fill_bytes(&mut key);
    key
}

/// Gives item `i` of every ranking the position of item `center[i]`: then `center` is the center.
fn relabel(ranks: &mut [u32], center: &[u32]) {
    let mut old = vec![0; center.len()];
    for row in ranks.chunks_exact_mut(center.len()) {
        old.copy_from_slice(row);
        row.iter_mut().zip(center).for_each(|(rank, &place)| *rank = old[place as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Borda, Size};

    fn setting(center: Option<&[u32]>, phi: f64) -> Setting<'_> {
        Setting { phi: Phi::new(phi).unwrap(), n: 6, center, clients: 3, samples: 1, trials: 2000 }
    }

    #[test]
    fn a_rule_that_picks_a_sample_is_as_far_as_samples_are() {
        let first: &Rule<'_> = &|data, _| Ok(data.row(0).to_vec());
        let last: &Rule<'_> = &|data, _| Ok(data.row(2).to_vec());
        let center = [3, 0, 5, 1, 4, 2];
        for center in [Some(&center[..]), None] {
            let setting = setting(center, 0.5);
            let found = by_rule(setting, &[first, last], [1; 32], Interrupt::begin()).unwrap();
            for rule in 0..2 {
                let sum: u64 = found.iter().skip(rule).step_by(2).sum();
                let mean = sum as f64 / setting.trials as f64;
                // The standard deviation of a distance is below 2 here: five standard errors.
                let error = mean - setting.phi.expected_distance(6);
                assert!(error.abs() < 5.0 * 2.0 / (setting.trials as f64).sqrt(), "{error}");
            }
            assert_ne!(found[0..600], found[600..1200]);
        }
    }

    #[test]
    fn without_dispersion_every_sample_is_the_center() {
        let centers = std::sync::Mutex::new(std::collections::HashSet::new());
        let pick: &Rule<'_> = &|data, _| {
            centers.lock().unwrap().insert(data.row(1).to_vec());
            Ok(data.row(1).to_vec())
        };
        assert!(
            by_rule(setting(None, 0.0), &[pick], [2; 32], Interrupt::begin())
                .unwrap()
                .iter()
                .all(|&d| d == 0)
        );
        assert!(centers.lock().unwrap().len() > 600); // of 720: each trial draws its own
    }

    #[test]
    fn shares_are_summed_client_by_client() {
        // Two rankings each: the sums are exact, and ten rankings of one kind outweigh two.
        let ranks = [[0, 1, 2]; 10].into_iter().chain([[2, 1, 0]; 2]).flatten().collect::<Vec<_>>();
        let data = Rankings::new(&ranks, 3).unwrap();
        let size = Size { n: 3, clients: 6, max_samples: Some(2), partial: false };
        let scheme = Borda::sums(size).unwrap().into();
        assert_eq!(federate(&scheme, data, 6, [0; 32], Interrupt::begin()), Ok(vec![0, 1, 2]));
        // Of three clients, each would hold more than two.
        let refused = Error::TooManySamples { samples: 4, most: 2 };
        assert_eq!(federate(&scheme, data, 3, [0; 32], Interrupt::begin()), Err(refused));
    }

    #[test]
    fn columns_are_schemes_then_methods() {
        let size = Size { n: 6, clients: 3, max_samples: Some(1), partial: false };
        let scheme = Borda::sums(size).unwrap().into();
        let found = distances(
            setting(None, 0.3),
            &[&scheme],
            &[Method::Borda, Method::Pick],
            [4; 32],
            Interrupt::begin(),
        );
        let found = found.unwrap();
        let column = |i: usize| found.iter().skip(i).step_by(3).sum::<u64>();
        // Exact Borda is Borda but for ties, and picking one of three rankings is worse.
        assert!(column(0).abs_diff(column(1)) < column(0) / 10);
        assert!(column(2) > column(1));
    }

    #[test]
    fn the_first_trial_that_fails_is_reported() {
        let fail: &Rule<'_> = &|_, _| Err(Error::Survivors { survivors: 0, clients: 1 });
        let error = by_rule(setting(None, 0.3), &[fail], [3; 32], Interrupt::begin()).unwrap_err();
        assert_eq!(error, Error::Survivors { survivors: 0, clients: 1 });
    }
}
