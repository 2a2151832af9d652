//! Federated Borda: staggered means (M16), means quantized to the model's positions (M6), or exact
//! sums.

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
    entries: Entries,
    layout: Layout,
}

/// What the entries of a message are.
#[derive(Debug, Clone, PartialEq)]
enum Entries {
    /// Mean positions in `levels` steps per place, each client's steps shifted by its index.
    Means { levels: u64 },
    /// The same with the sum divided by this many rankings, the bound of all clients.
    Weighted { levels: u64, most: u64 },
    /// Places of the model; these are where one gives way to the next.
    Centroids { midpoints: Vec<f64> },
    /// Sums of positions.
    Sums { samples: usize },
}

impl Borda {
    /// Clients send mean positions, rounded down to `1/levels` of a place after a shift by their
    /// roster index (M16): clients that agree resolve `1/(clients·levels)` of a place together,
    /// and nothing is drawn at random.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `levels` is at least 1, [`Error::Width`] if sums may need more
    /// than 64 bits.
    pub fn means(size: Size, levels: u32) -> Result<Self> {
        let (size, layout) = staggered(size, levels)?;
        Ok(Self { size, entries: Entries::Means { levels: levels.into() }, layout })
    }

    /// As [`means`](Self::means), but every ranking counts the same instead of every client: the
    /// sums are divided by `max_samples` instead of the client's number of rankings.
    ///
    /// The price: the total tells roughly how many rankings there are in all.
    ///
    /// # Errors
    /// As [`means`](Self::means), and [`Error::Parameter`] unless `max_samples` is given.
    pub fn weighted(size: Size, levels: u32) -> Result<Self> {
        let (size, layout) = staggered(size, levels)?;
        let most = (bound(size)? as u64).saturating_mul(size.each() as u64);
        Ok(Self { size, entries: Entries::Weighted { levels: levels.into(), most }, layout })
    }

    /// Clients send, for every item, the place whose expected position is nearest to the mean (M6).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `phi < 1`: at 1 all expected positions coincide.
    pub fn centroids(size: Size, phi: Phi) -> Result<Self> {
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
        Ok(Self { size, entries: Entries::Centroids { midpoints }, layout })
    }

    /// Clients send the sums of the positions: the same answer as in one place, to the bit. Of
    /// partial rankings these are the doubled mid-ranks, since both twins are summed.
    ///
    /// The price: the total tells how many rankings there are in all.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `max_samples` is given, [`Error::Width`] if sums may need
    /// more than 64 bits.
    pub fn sums(size: Size) -> Result<Self> {
        let size = size.check()?;
        let samples = bound(size)?;
        let rankings = size.clients as u128 * samples as u128 * size.each() as u128;
        let most = rankings.saturating_mul(size.n as u128 - 1);
        let segments = segment("sum", size.n, most, "max_samples")?;
        let layout = layout(segments.into_iter().collect(), "n")?;
        Ok(Self { size, entries: Entries::Sums { samples }, layout })
    }

    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The message of the client with this roster index, and how many of its means were exactly
    /// between two places: only those of [`centroids`](Self::centroids) can be, and go either way,
    /// by `key`.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings,
    /// [`Error::Parameter`] for an index outside of the roster.
    pub fn encode(
        &self,
        rankings: Rankings<'_>,
        client: usize,
        key: Key,
    ) -> Result<(Vec<u64>, usize)> {
        self.size.admit(rankings)?;
        if client >= self.size.clients {
            let problem = "must be an index in the roster, from 0 to clients - 1";
            return Err(Error::Parameter { name: "client", problem });
        }
        let sums = rank_sums(&Profile::new(rankings, None)?);
        let (clients, rows) = (self.size.clients as u64, rankings.len() as u64);
        let mut drawn = 0;
        let mut message = match &self.entries {
            Entries::Means { levels } => stagger(sums, rows, *levels, client as u64, clients),
            Entries::Weighted { levels, most } => {
                stagger(sums, *most, *levels, client as u64, clients)
            }
            Entries::Centroids { midpoints } => {
                let mut rng = stream(key, 0);
                let mean = |sum: u64| sum as f64 / rows as f64;
                let place = |sum| nearest(midpoints, mean(sum), &mut rng, &mut drawn);
                sums.into_iter().map(place).collect()
            }
            Entries::Sums { .. } => sums,
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
        let at_most = |levels: u64| {
            let most = survivors as u128 * u128::from(levels) * (n - 1) as u128;
            total.iter().all(|&sum| u128::from(sum) <= most)
        };
        let (possible, doubtful) = match self.entries {
            Entries::Means { levels } => {
                (at_most(levels) && possible_means(total, self.size, survivors, levels), SURVIVORS)
            }
            Entries::Weighted { levels, .. } => (at_most(levels), SURVIVORS),
            Entries::Centroids { .. } => (at_most(1), SURVIVORS),
            Entries::Sums { samples } => {
                (possible_sums(total, n, survivors, samples, self.size.each()), "max_samples")
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

const SURVIVORS: &str = "the number of survivors";

/// The layout of staggered messages: entries of 0 to `levels·(n − 1)`.
fn staggered(size: Size, levels: u32) -> Result<(Size, Layout)> {
    let size = size.check()?;
    if levels == 0 {
        return Err(Error::Parameter { name: "levels", problem: "must be at least 1" });
    }
    let most = size.clients as u128 * u128::from(levels) * (size.n - 1) as u128;
    let segments = segment("mean", size.n, most, "levels")?;
    Ok((size, layout(segments.into_iter().collect(), "n")?))
}

/// The bound on a client's rankings, which some messages need.
fn bound(size: Size) -> Result<usize> {
    let problem = "is needed for sums and weighted means: it bounds the entries";
    size.max_samples.ok_or(Error::Parameter { name: "max_samples", problem })
}

/// `⌊levels·sum/rows + (client + ½)/clients⌋` of every sum (M16), in exact integers.
///
/// The shifts of all clients are spread evenly over one level, so that clients with equal means
/// round at different points: by Hermite's identity their entries add up to
/// `⌊clients·levels·sum/rows + ½⌋`.
fn stagger(sums: Vec<u64>, rows: u64, levels: u64, client: u64, clients: u64) -> Vec<u64> {
    // At most 2·2^24·2^32·2^64, since a layout has at most 2^24 clients and levels are 32 bits.
    let (scale, shift) = (2 * u128::from(clients * levels), u128::from(2 * client + 1));
    let (rows, parts) = (u128::from(rows), 2 * u128::from(clients));
    let entry = |sum| (scale * u128::from(sum) + shift * rows) / (parts * rows);
    sums.into_iter().map(|sum| entry(sum) as u64).collect()
}

/// Whether the staggered means of so many clients can have these sums.
///
/// A client's means add up to n(n − 1)/2. An entry is less than its shift above levels·mean, or less
/// than one minus its shift below, and any `survivors` of the shifts add up to
/// `survivors·(1 − survivors/(2·clients))` at most.
fn possible_means(sums: &[u64], size: Size, survivors: usize, levels: u64) -> bool {
    let all: u128 = sums.iter().map(|&sum| u128::from(sum)).sum();
    let (n, survivors, clients) = (size.n as u128, survivors as u128, size.clients as u128);
    let middle = survivors * u128::from(levels) * (n * (n - 1) / 2);
    n == 1 || 2 * clients * all.abs_diff(middle) <= n * survivors * (2 * clients - survivors)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of clients with the same mean `sum/rows`, in the order of the roster.
    fn entries(sum: u64, rows: u64, levels: u64, clients: u64) -> impl Iterator<Item = u64> {
        (0..clients).map(move |client| stagger(vec![sum], rows, levels, client, clients)[0])
    }

    #[test]
    fn clients_that_agree_resolve_a_part_of_a_level() {
        // Hermite's identity: the entries add up to ⌊clients·levels·mean + ½⌋.
        for (clients, levels, rows) in [(1, 1, 1), (2, 4, 3), (3, 1, 7), (10, 4, 50), (7, 5, 9)] {
            for sum in 0..=4 * rows {
                let total: u64 = entries(sum, rows, levels, clients).sum();
                assert_eq!(total, (2 * clients * levels * sum + rows) / (2 * rows));
            }
        }
    }

    #[test]
    fn entries_rise_with_the_mean_and_with_the_index() {
        let of = |sum| entries(sum, 12, 4, 5).collect::<Vec<_>>();
        for sum in 0..40 {
            assert!(of(sum).is_sorted());
            assert!(of(sum).iter().zip(of(sum + 1)).all(|(&less, more)| less <= more));
        }
    }

    #[test]
    fn the_widest_numbers_do_not_overflow() {
        let (rows, levels, clients) = (1 << 31, u64::from(u32::MAX), 1 << 24);
        let sum = (rows - 1) * rows; // every ranking puts the item last of 2^31
        let last = stagger(vec![sum], rows, levels, clients - 1, clients);
        assert_eq!(last, [levels * (rows - 1)]);
    }

    #[test]
    fn an_index_outside_of_the_roster_is_refused() {
        let size = Size { n: 2, clients: 3, max_samples: None, partial: false };
        let scheme = Borda::means(size, 4).unwrap();
        let data = Rankings::new(&[0, 1], 2).unwrap();
        assert!(scheme.encode(data, 2, [0; 32]).is_ok());
        let refused = scheme.encode(data, 3, [0; 32]);
        assert!(matches!(refused, Err(Error::Parameter { name: "client", .. })));
    }

    #[test]
    fn another_number_of_survivors_is_refused() {
        // Two items at four levels: each client's entries add up to 4, within 1 − S/6 per entry.
        let size = Size { n: 2, clients: 3, max_samples: None, partial: false };
        let scheme = Borda::means(size, 4).unwrap();
        assert!(scheme.decode(&[4, 8], 3, Ties::Index).is_ok());
        assert!(scheme.decode(&[4, 8], 2, Ties::Index).is_err());
        assert!(scheme.decode(&[0, 4], 2, Ties::Index).is_err());
        assert!(Borda::means(size, 0).is_err());
    }
}
