//! How far from the center a rule's consensus of Mallows samples is, trial by trial.
//!
//! The experiments and the planner stand on this: the messages are those of the schemes, summed
//! in the clear, since masks change no sum.

use rand_core::Rng;
use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::kendall;
use crate::mallows::Phi;
use crate::rankings::Rankings;
use crate::rng::{Key, shuffle, stream};

/// Makes a ranking of all the rankings of a trial, with randomness from a key.
pub type Rule<'a> = dyn Fn(Rankings<'_>, Key) -> Result<Vec<u32>> + Sync + 'a;

/// What is simulated: all trials draw as many rankings from one model.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Dispersion of the rankings.
    pub phi: Phi,
    /// Items ranked.
    pub n: usize,
    /// The center of all trials; without one, each trial draws its own, uniformly.
    pub center: Option<&'a [u32]>,
    /// Rankings in a trial.
    pub rankings: usize,
    /// Trials.
    pub trials: usize,
}

/// Most entries of a trial, which is held whole: 16 GiB.
const MOST: usize = 1 << 32;

/// Entries that are sampled at once: 64 MiB, so that memory does not grow with the trials.
const BATCH: usize = 1 << 24;

/// Kendall distance from the center for each trial (rows) and rule (columns), in parallel.
///
/// The same key gives the same distances on any number of threads.
///
/// # Errors
/// [`Error::Parameter`] for no items or no rankings, or the error of a rule.
pub fn distances(setting: Setting<'_>, rules: &[&Rule<'_>], key: Key) -> Result<Vec<u64>> {
    let Setting { phi, n, center, rankings, trials } = setting;
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
    for (batch, rows) in distances.chunks_mut(together * width).enumerate() {
        let mut keys = stream(key, batch as u64);
        let (samples, choices) = (draw(&mut keys), draw(&mut keys));
        let mut ranks = phi.sample(around, rows.len() / width * rankings, samples)?;
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
                let found = rule(data, draw(&mut rng));
                let far = found.and_then(|found| kendall::distance(&found, &truth));
                far.map(|far| *distance = far).err().map(|error| (trial, error))
            })
        });
        if let Some((_, error)) = failed.min_by_key(|(trial, _)| *trial) {
            return Err(error);
        }
    }
    Ok(distances)
}

/// The consensus of clients that hold equal shares of `rankings`, by their summed messages.
///
/// # Errors
/// Those of `encode` and `decode`.
pub fn federate(
    rankings: Rankings<'_>,
    clients: usize,
    key: Key,
    encode: impl Fn(Rankings<'_>, Key) -> Result<Vec<u64>>,
    decode: impl FnOnce(&[u64], Key) -> Result<Vec<u32>>,
) -> Result<Vec<u32>> {
    let mut rng = stream(key, 0);
    let n = rankings.n();
    let share = (rankings.len() / clients.max(1)).max(1) * n;
    let mut total: Vec<u64> = Vec::new();
    for ranks in rankings.ranks().chunks_exact(share) {
        let message = encode(Rankings::trusted(ranks, n), draw(&mut rng))?;
        total.resize(message.len(), 0);
        total.iter_mut().zip(message).for_each(|(sum, entry)| *sum += entry);
    }
    decode(&total, draw(&mut rng))
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

    fn setting(center: Option<&[u32]>, phi: f64) -> Setting<'_> {
        Setting { phi: Phi::new(phi).unwrap(), n: 6, center, rankings: 3, trials: 2000 }
    }

    #[test]
    fn a_rule_that_picks_a_sample_is_as_far_as_samples_are() {
        let first: &Rule<'_> = &|data, _| Ok(data.row(0).to_vec());
        let last: &Rule<'_> = &|data, _| Ok(data.row(2).to_vec());
        let center = [3, 0, 5, 1, 4, 2];
        for center in [Some(&center[..]), None] {
            let setting = setting(center, 0.5);
            let found = distances(setting, &[first, last], [1; 32]).unwrap();
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
        assert!(distances(setting(None, 0.0), &[pick], [2; 32]).unwrap().iter().all(|&d| d == 0));
        assert!(centers.lock().unwrap().len() > 600); // of 720: each trial draws its own
    }

    #[test]
    fn shares_are_summed_client_by_client() {
        let ranks = [0, 1, 1, 0, 0, 1, 0, 1];
        let data = Rankings::new(&ranks, 2).unwrap();
        let encode = |mine: Rankings<'_>, _| {
            assert_eq!(mine.len(), 2);
            Ok(vec![mine.rows().map(|row| u64::from(row[1])).sum()])
        };
        let found = federate(data, 2, [0; 32], encode, |total, _| Ok(vec![total[0] as u32]));
        assert_eq!(found, Ok(vec![3]));
    }

    #[test]
    fn the_first_trial_that_fails_is_reported() {
        let fail: &Rule<'_> = &|_, _| Err(Error::Survivors { survivors: 0, clients: 1 });
        let error = distances(setting(None, 0.3), &[fail], [3; 32]).unwrap_err();
        assert_eq!(error, Error::Survivors { survivors: 0, clients: 1 });
    }
}
