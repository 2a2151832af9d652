//! Federated dispersion (M15): distances to an announced ranking, and numbers of rankings.

use super::{Layout, Size, farthest, layout, segment, wrong_entries, wrong_samples};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::kendall::distances_to;
use crate::mallows::Phi;
use crate::rankings::Rankings;

/// The public part of federated dispersion.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispersion {
    size: Size,
    samples: usize,
    announced: Vec<u32>,
    layout: Layout,
}

/// How far the rankings are from the announced one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The maximum likelihood estimate of the dispersion, with the announced ranking as center.
    pub phi: f64,
    /// Its standard error, φ/√(M Var K).
    pub error: f64,
    /// Sum of the distances.
    pub distance: u64,
    /// Number of rankings, M.
    pub samples: u64,
}

impl Dispersion {
    /// Clients send the sum of their rankings' distances to the announced one, and how many
    /// rankings they hold.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a size is 0 or too large, [`Error::Width`] if sums may need
    /// more than 64 bits.
    pub fn new(announced: Rankings<'_>, clients: usize, max_samples: usize) -> Result<Self> {
        let size =
            Size { n: announced.n(), clients, max_samples: Some(max_samples), partial: false }
                .check()?;
        if announced.is_empty() {
            return Err(Error::Empty);
        }
        let most = clients as u128 * max_samples as u128;
        let distance = most.saturating_mul(farthest(size.n));
        let segments = [
            segment("distance", 1, distance, "max_samples")?,
            segment("samples", 1, most, "max_samples")?,
        ];
        Ok(Self {
            size,
            samples: max_samples,
            announced: announced.row(0).to_vec(),
            layout: layout(segments.into_iter().flatten().collect(), "max_samples")?,
        })
    }

    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A client's message.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings,
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn encode(&self, rankings: Rankings<'_>, interrupt: Interrupt<'_>) -> Result<Vec<u64>> {
        self.size.admit(rankings)?;
        let distance = distances_to(rankings, &self.announced, interrupt)?.iter().sum();
        let message = [distance, rankings.len() as u64];
        // A lone item is at no distance.
        Ok(message[2 - self.layout.entries()..].to_vec())
    }

    /// The dispersion of the `survivors` whose messages sum to `total`.
    ///
    /// # Errors
    /// [`Error::Survivors`] or [`Error::Total`] if no clients can have sent this.
    pub fn decode(&self, total: &[u64], survivors: usize) -> Result<Fit> {
        self.size.admit_total(&self.layout, total, survivors)?;
        let n = self.size.n;
        let (samples, distance) = match *total {
            [distance, samples] => (samples, distance),
            [samples] => (samples, 0),
            _ => return Err(wrong_entries(total.len(), self.layout.entries())),
        };
        let (fewest, most) = (survivors as u128, survivors as u128 * self.samples as u128);
        if !(fewest..=most).contains(&u128::from(samples)) {
            return Err(wrong_samples(samples, survivors, self.samples as u64));
        }
        if u128::from(distance) > u128::from(samples) * farthest(n) {
            let problem = format!("{samples} rankings cannot have a total distance of {distance}");
            return Err(Error::Total { problem });
        }
        let phi = Phi::from_distance(distance as f64 / samples as f64, n);
        let error = match phi.get() {
            0.0 => 0.0, // and not 0/0: the error goes to 0 with φ
            value => value / (samples as f64 * phi.distance_variance(n)).sqrt(),
        };
        Ok(Fit { phi: phi.get(), error, distance, samples })
    }
}
