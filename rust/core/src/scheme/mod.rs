//! What a client sends and how the server reads the sum.
//!
//! A scheme turns rankings into an integer message and a sum of messages into a consensus. It
//! is public, and knows nothing of keys or networks; its [`Layout`] says how wide every entry
//! of the message is, so that sums do not wrap.

pub mod borda;
pub mod dispersion;
pub mod lehmer;
pub mod refine;

pub use borda::Borda;
pub use dispersion::Dispersion;
pub use lehmer::Lehmer;
pub use refine::Refine;

use std::ops::Range;

use crate::consensus::Consensus;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::message::{Layout, Segment};
use crate::rankings::{Rankings, Ties};
use crate::rng::Key;

/// A scheme of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheme {
    /// Mean positions or sums of positions.
    Borda(Borda),
    /// Digits of Lehmer codes.
    Lehmer(Lehmer),
    /// Margins of pairs that are close in an announced order.
    Refine(Refine),
    /// Distances to an announced order.
    Dispersion(Dispersion),
}

impl Scheme {
    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        match self {
            Self::Borda(scheme) => scheme.layout(),
            Self::Lehmer(scheme) => scheme.layout(),
            Self::Refine(scheme) => scheme.layout(),
            Self::Dispersion(scheme) => scheme.layout(),
        }
    }

    /// The message of the client with this roster index, and how many of its ties were broken by
    /// `key`.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings,
    /// [`Error::Parameter`] for an index outside of the roster, [`Error::Interrupted`] if
    /// `interrupt` says so.
    pub fn encode(
        &self,
        rankings: Rankings<'_>,
        client: usize,
        key: Key,
        interrupt: Interrupt<'_>,
    ) -> Result<(Vec<u64>, usize)> {
        match self {
            Self::Borda(scheme) => scheme.encode(rankings, client, key),
            Self::Lehmer(scheme) => scheme.encode(rankings, key, interrupt),
            Self::Refine(scheme) => scheme.encode(rankings, key, interrupt),
            Self::Dispersion(scheme) => Ok((scheme.encode(rankings, interrupt)?, 0)),
        }
    }

    /// The consensus of the `survivors` whose messages sum to `totals`: one total for each round of
    /// a refinement, one in all for any other scheme.
    ///
    /// # Errors
    /// [`Error::Survivors`] or [`Error::Total`] if no clients can have sent this;
    /// [`Error::Parameter`] for a dispersion, or the wrong number of totals;
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn decode(
        &self,
        totals: &[&[u64]],
        survivors: usize,
        ties: Ties,
        interrupt: Interrupt<'_>,
    ) -> Result<Consensus> {
        let refused = |name, problem| Err(Error::Parameter { name, problem });
        match (self, totals) {
            (Self::Borda(scheme), [total]) => scheme.decode(total, survivors, ties),
            (Self::Lehmer(scheme), [total]) => scheme.decode(total, survivors, ties),
            (Self::Refine(scheme), totals) => scheme.decode(totals, survivors, ties, interrupt),
            (Self::Dispersion(_), _) => refused("scheme", "sends distances, which hold no order"),
            _ => refused("totals", "must be one: only a refinement has earlier rounds"),
        }
    }

    /// The runs of places of `ranks` whose items another first order might end in another order.
    ///
    /// # Errors
    /// As [`Refine::open_runs`]; [`Error::Parameter`] for any other scheme.
    pub fn open_runs(
        &self,
        totals: &[&[u64]],
        survivors: usize,
        ranks: Rankings<'_>,
        most: u64,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Range<usize>>> {
        match self {
            Self::Refine(scheme) => scheme.open_runs(totals, survivors, ranks, most, interrupt),
            _ => Err(Error::Parameter { name: "scheme", problem: "must be a refinement" }),
        }
    }

    /// The dispersion of the `survivors` whose messages sum to `total`.
    ///
    /// # Errors
    /// As [`Dispersion::decode`]; [`Error::Parameter`] for any other scheme.
    pub fn fit(&self, total: &[u64], survivors: usize) -> Result<dispersion::Fit> {
        match self {
            Self::Dispersion(scheme) => scheme.decode(total, survivors),
            _ => Err(Error::Parameter { name: "scheme", problem: "must be a dispersion to fit" }),
        }
    }
}

macro_rules! kinds {
    ($($kind:ident)*) => {$(
        impl From<$kind> for Scheme {
            fn from(scheme: $kind) -> Self {
                Self::$kind(scheme)
            }
        }
    )*};
}
kinds!(Borda Lehmer Refine Dispersion);

/// Most items, and most clients.
const MOST: usize = 1 << 24;

/// Clients and samples that a scheme is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Items ranked, n.
    pub n: usize,
    /// Most clients whose messages are summed, L.
    pub clients: usize,
    /// Most rankings that one client may hold, if that is bounded.
    pub max_samples: Option<usize>,
    /// Whether these are partial rankings, of which a client encodes the
    /// [`twins`](crate::partial::twins): two complete rankings for each.
    pub partial: bool,
}

impl Size {
    fn check(self) -> Result<Self> {
        // The upper bound is far above any use; a scheme may come from a stranger.
        let in_range = |name, value| match value {
            1..=MOST => Ok(()),
            _ => Err(Error::Parameter { name, problem: "must be 1 to 16777216" }),
        };
        in_range("n", self.n)?;
        in_range("clients", self.clients)?;
        if self.max_samples == Some(0) {
            return Err(Error::Parameter { name: "max_samples", problem: "must be at least 1" });
        }
        Ok(self)
    }

    /// How many complete rankings stand for one.
    fn each(self) -> usize {
        1 + usize::from(self.partial)
    }

    /// Whether a client's rankings are what the scheme was made for.
    fn admit(self, rankings: Rankings<'_>) -> Result<()> {
        if rankings.n() != self.n {
            return Err(Error::Items { a: rankings.n(), b: self.n });
        }
        let samples = rankings.len() / self.each();
        match self.max_samples {
            _ if samples == 0 => Err(Error::Empty),
            Some(most) if samples > most => Err(Error::TooManySamples { samples, most }),
            _ => Ok(()),
        }
    }

    /// Whether a sum of so many messages can be.
    fn admit_total(self, layout: &Layout, total: &[u64], survivors: usize) -> Result<()> {
        if !(1..=self.clients).contains(&survivors) {
            return Err(Error::Survivors { survivors, clients: self.clients });
        }
        if total.len() != layout.entries() {
            return Err(wrong_entries(total.len(), layout.entries()));
        }
        Ok(())
    }
}

fn wrong_entries(got: usize, want: usize) -> Error {
    Error::Total { problem: format!("it has {got} entries; the scheme's messages have {want}") }
}

/// For a number of rankings that `survivors` with at most `most` each cannot hold.
fn wrong_samples(samples: u64, survivors: usize, most: u64) -> Error {
    let holds = format!("{survivors} clients with 1 to {most} rankings each");
    Error::Total { problem: format!("{holds} cannot hold {samples}: is max_samples right?") }
}

/// A run of `len` entries that each sum to at most `most`; none if that is 0.
///
/// # Errors
/// [`Error::Width`] if a sum may need more than 64 bits.
fn segment(name: &str, len: usize, most: u128, parameter: &'static str) -> Result<Option<Segment>> {
    let bits = u128::BITS - most.leading_zeros();
    match bits {
        _ if len == 0 => Ok(None),
        0 => Ok(None),
        1..=64 => Ok(Some(Segment { name: name.to_owned(), len, bits })),
        _ => Err(Error::Width { name: parameter, bits }),
    }
}

/// A layout of segments whose widths are in range; `name` is what makes messages long.
fn layout(segments: Vec<Segment>, name: &'static str) -> Result<Layout> {
    let too_long = Error::Parameter { name, problem: "makes the message longer than 2^34 bits" };
    Layout::new(segments).map_err(|_| too_long)
}

/// The greatest distance of two rankings of `n` items.
fn farthest(n: usize) -> u128 {
    n as u128 * (n as u128 - 1) / 2
}
