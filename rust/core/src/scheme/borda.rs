//! Federated Borda (M6): mean positions, quantized to the model's, or exact sums.

use rand_core::Rng;

use super::{Layout, Size, layout, segment};
use crate::consensus::borda::rank_sums;
use crate::consensus::{Consensus, tied};
use crate::error::{Error, Result};
use crate::mallows::Phi;
use crate::rankings::{Profile, Rankings, Ties, by_score};
use crate::rng::{Key, stream};

/// The public part of federated Borda.
#[derive(Debug, Clone, PartialEq)]
pub struct Borda {
    size: Size,
    /// Where one quantized position gives way to the next; `None` sends exact sums.
    midpoints: Option<Vec<f64>>,
    layout: Layout,
}

impl Borda {
    /// Clients send, for every item, the place whose expected position is nearest to the mean.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `phi < 1`: at 1 all expected positions coincide.
    pub fn quantized(size: Size, phi: Phi) -> Result<Self> {
        let size = size.check()?;
        if phi.get() >= 1.0 {
            let problem = "must be below 1: there all expected positions coincide";
            return Err(Error::Parameter { name: "phi", problem });
        }
        let expected = phi.expected_ranks(size.n);
        let mut midpoints: Vec<f64> = expected.windows(2).map(|e| (e[0] + e[1]) / 2.0).collect();
        if size.n.is_multiple_of(2) {
            // By symmetry; rounding must not hide that means often fall on it exactly.
            midpoints[size.n / 2 - 1] = (size.n - 1) as f64 / 2.0;
        }
        let most = size.clients as u128 * (size.n - 1) as u128;
        let segments = segment("position", size.n, most, "clients")?;
        let layout = layout(segments.into_iter().collect(), "n")?;
        Ok(Self { size, midpoints: Some(midpoints), layout })
    }

    /// Clients send the sums of the positions: the same answer as in one place, to the bit. Of
    /// partial rankings these are the doubled mid-ranks, since both twins are summed.
    ///
    /// The price: the total tells how many rankings there are in all.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `max_samples` is given, [`Error::Width`] if sums may need
    /// more than 64 bits.
    pub fn exact(size: Size) -> Result<Self> {
        let size = size.check()?;
        let Some(samples) = size.max_samples else {
            let problem = "is needed without quantizing: it bounds the sums";
            return Err(Error::Parameter { name: "max_samples", problem });
        };
        let rankings = size.clients as u128 * samples as u128 * size.each() as u128;
        let most = rankings.saturating_mul(size.n as u128 - 1);
        let segments = segment("sum", size.n, most, "max_samples")?;
        let layout = layout(segments.into_iter().collect(), "n")?;
        Ok(Self { size, midpoints: None, layout })
    }

    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A client's message, and how many of its means were exactly between two places: these go
    /// either way, by `key`.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings.
    pub fn encode(&self, rankings: Rankings<'_>, key: Key) -> Result<(Vec<u64>, usize)> {
        self.size.admit(rankings)?;
        let sums = rank_sums(&Profile::new(rankings, None)?);
        let mut drawn = 0;
        let mut message = match &self.midpoints {
            None => sums,
            Some(midpoints) => {
                let mut rng = stream(key, 0);
                let mean = |sum: u64| sum as f64 / rankings.len() as f64;
                let place = |sum| nearest(midpoints, mean(sum), &mut rng, &mut drawn);
                sums.into_iter().map(place).collect()
            }
        };
        message.truncate(self.layout.entries()); // a lone item's position is always 0
        Ok((message, drawn))
    }

    /// The consensus of the `survivors` whose messages sum to `total`.
    ///
    /// # Errors
    /// [`Error::Survivors`] or [`Error::Total`] if no clients can have sent this.
    pub fn decode(&self, total: &[u64], survivors: usize, ties: Ties) -> Result<Consensus> {
        self.size.admit_total(&self.layout, total, survivors)?;
        let n = self.size.n;
        let (possible, doubtful) = match (&self.midpoints, self.size.max_samples) {
            (None, Some(samples)) => {
                (possible_sums(total, n, survivors, samples, self.size.each()), "max_samples")
            }
            _ => {
                let most = survivors as u128 * (n - 1) as u128;
                (total.iter().all(|&sum| u128::from(sum) <= most), "the number of survivors")
            }
        };
        if !possible {
            let sums = format!("the sums are not what {survivors} clients can send");
            return Err(Error::Total { problem: format!("{sums}: is {doubtful} right?") });
        }
        let mut sums = total.to_vec();
        sums.resize(n, 0);
        let mut rng = match ties {
            Ties::Random(key) => Some(stream(key, 0)),
            Ties::Index | Ties::Refuse => None,
        };
        let (ranks, ties) = by_score(&sums, rng.as_mut());
        let tied = Some(tied::scores(&ranks, &sums));
        Ok(Consensus { ranks, ties, tied, sums: Some(sums), ..Consensus::default() })
    }
}

/// Whether some rankings, at least one and at most `samples` of each client, have these sums,
/// if `each` is sent as so many.
///
/// The k best items of M rankings sum to at least M k (k − 1)/2, and all n to exactly that;
/// conversely such sums can be had (they are majorized by those of M equal rankings), though
/// not always by twins.
fn possible_sums(sums: &[u64], n: usize, survivors: usize, samples: usize, each: usize) -> bool {
    if n == 1 {
        return true;
    }
    let least = |k: usize| (k * k.saturating_sub(1) / 2) as u128;
    let all: u128 = sums.iter().map(|&sum| u128::from(sum)).sum();
    let rankings = all / least(n);
    let mut sorted = sums.to_vec();
    sorted.sort_unstable();
    let mut prefix = 0;
    let enough = sorted.iter().enumerate().all(|(i, &sum)| {
        prefix += u128::from(sum);
        prefix >= rankings * least(i + 1)
    });
    let (fewest, most) = (survivors as u128, survivors as u128 * samples as u128);
    let (whole, each) = (all == rankings * least(n), each as u128);
    enough && whole && rankings.is_multiple_of(each) && (fewest..=most).contains(&(rankings / each))
}

/// The place on whose side of the midpoints a mean lies; exactly on one, either, which is counted.
fn nearest(midpoints: &[f64], mean: f64, rng: &mut impl Rng, drawn: &mut usize) -> u64 {
    let place = midpoints.partition_point(|&midpoint| midpoint < mean);
    let on_midpoint = midpoints.get(place) == Some(&mean);
    *drawn += usize::from(on_midpoint);
    place as u64 + u64::from(on_midpoint && rng.next_u32() & 1 == 1)
}
