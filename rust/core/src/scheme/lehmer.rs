//! Federated Lehmer coding (M8): the high part of each digit as a number, the low part one-hot.

use crate::consensus::Consensus;
use crate::consensus::lehmer::plurality;
use crate::consensus::tied::{self, Run};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::mallows::Phi;
use crate::rankings::{Profile, Rankings, Ties};
use crate::rng::{Key, below, stream};

use super::{Layout, Size, layout, segment};

/// How the server reads a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// The high part is the mean of the high parts, rounded.
    Paper,
    /// Of the digits that have the commonest low part, the one nearest to the mean digit.
    Nearest,
}

/// The public part of federated Lehmer coding.
#[derive(Debug, Clone, PartialEq)]
pub struct Lehmer {
    size: Size,
    low_bits: u32,
    decode: Decode,
    layout: Layout,
}

/// Low bits that no digit exceeds.
const LOW_BITS_MOST: u32 = 31;

impl Lehmer {
    /// A scheme that sends `low_bits` bits of every digit one-hot.
    ///
    /// # Errors
    /// [`Error::Parameter`] or [`Error::Width`] naming what is out of range.
    pub fn new(size: Size, low_bits: u32, decode: Decode) -> Result<Self> {
        let size = size.check()?;
        if low_bits > LOW_BITS_MOST {
            return Err(Error::Parameter { name: "low_bits", problem: "must be 0 to 31" });
        }
        let most = |item: usize| size.clients as u128 * (item >> low_bits) as u128;
        let width = |item: &usize| u128::BITS - most(*item).leading_zeros();
        let items: Vec<usize> = (0..size.n).collect();
        let mut segments = Vec::new();
        for run in items.chunk_by(|a, b| width(a) == width(b)) {
            segments.extend(segment("high", run.len(), most(run[0]), "clients")?);
        }
        let slots = items.iter().map(|&item| slots(item, low_bits) - 1).sum();
        segments.extend(segment("low", slots, size.clients as u128, "clients")?);
        Ok(Self { size, low_bits, decode, layout: layout(segments, "low_bits")? })
    }

    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// First item whose high part is sent: of those before, it can only be 0.
    fn first_high(&self) -> usize {
        self.size.n.min(1 << self.low_bits)
    }

    /// A client's message, and how many of its digits were tied: these are drawn by `key`.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings,
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn encode(
        &self,
        rankings: Rankings<'_>,
        key: Key,
        interrupt: Interrupt<'_>,
    ) -> Result<(Vec<u64>, usize)> {
        self.size.admit(rankings)?;
        let profile = Profile::new(rankings, None)?;
        let (digits, tied) = plurality(&profile, Ties::Random(key), interrupt)?;
        let highs = digits[self.first_high()..].iter();
        let mut message: Vec<u64> = highs.map(|&v| u64::from(v >> self.low_bits)).collect();
        message.resize(self.layout.entries(), 0);
        let mut start = self.size.n - self.first_high();
        for (item, &digit) in digits.iter().enumerate() {
            let sent = slots(item, self.low_bits) - 1;
            let low = digit as usize & ((1 << self.low_bits) - 1);
            if low < sent {
                message[start + low] = 1;
            }
            start += sent;
        }
        Ok((message, tied.len()))
    }

    /// The consensus of the `survivors` whose messages sum to `total`.
    ///
    /// [`Consensus::ties`] counts the digits that were tied.
    ///
    /// # Errors
    /// [`Error::Survivors`] or [`Error::Total`] if no clients can have sent this.
    pub fn decode(&self, total: &[u64], survivors: usize, ties: Ties) -> Result<Consensus> {
        self.size.admit_total(&self.layout, total, survivors)?;
        let (n, all) = (self.size.n, survivors as u64);
        let (highs, mut lows) = total.split_at(n - self.first_high());
        let mut code = Vec::with_capacity(n);
        let (mut open_digits, mut tied) = (0, Vec::new());
        let mut histogram = Vec::new();
        for item in 0..n {
            let sent;
            (sent, lows) = lows.split_at(slots(item, self.low_bits) - 1);
            let counted: u128 = sent.iter().map(|&count| u128::from(count)).sum();
            if counted > u128::from(all) {
                let problem =
                    format!("the low parts of item {item} count {counted} clients of {all}");
                return Err(Error::Total { problem });
            }
            histogram.clear();
            histogram.extend_from_slice(sent);
            histogram.push(all - counted as u64);
            let high = match item.checked_sub(self.first_high()) {
                Some(index) => highs[index],
                None => 0,
            };
            // A client whose low part is j has a high part of at most (item − j)/2^I.
            let most = |(j, &count): (usize, &u64)| {
                u128::from(count) * ((item - j) >> self.low_bits) as u128
            };
            if u128::from(high) > histogram.iter().enumerate().map(most).sum() {
                let problem =
                    format!("the high part of item {item} is above what {all} clients can send");
                return Err(Error::Total { problem });
            }
            let mut rng = match ties {
                Ties::Random(key) => Some((key, item as u64)),
                Ties::Index | Ties::Refuse => None,
            };
            let mut choose = |options: usize| match (options, rng.as_mut()) {
                (0 | 1, _) => 0,
                (_, None) => 0,
                (_, Some((key, item))) => {
                    // Two choices an item at most: its plurality and the side of a mean.
                    let choice = below(&mut stream(*key, *item), options as u32) as usize;
                    *item += n as u64;
                    choice
                }
            };
            let (digit, open) = self.digit(item as u64, high, &histogram, all, &mut choose);
            code.push(digit as u32);
            if open {
                open_digits += 1;
                let (low, high) = self.span(item as u64, high, &histogram, all);
                if low < high {
                    tied.push(Run::of_digit(item as u32, low as u32, high as u32));
                }
            }
        }
        let ranks = crate::lehmer::decode(&code)?;
        let tied = Some(tied::apart(tied));
        Ok(Consensus { ranks, ties: open_digits, tied, ..Consensus::default() })
    }

    /// The least and the largest digit that the choices of a tied digit can give.
    fn span(&self, item: u64, high: u64, histogram: &[u64], survivors: u64) -> (u64, u64) {
        let most = histogram.iter().max();
        let options = histogram.iter().filter(|&count| Some(count) == most).count();
        let mut span = (item, 0);
        for (first, second) in (0..options).flat_map(|option| [(option, 0), (option, 1)]) {
            let mut choices = [first, second].into_iter();
            let mut choose = |_| choices.next().unwrap_or(0);
            let (digit, _) = self.digit(item, high, histogram, survivors, &mut choose);
            span = (span.0.min(digit), span.1.max(digit));
        }
        span
    }

    /// One digit, and whether a tie had to be broken by `choose(options)`.
    fn digit(
        &self,
        item: u64,
        high: u64,
        histogram: &[u64],
        survivors: u64,
        choose: &mut impl FnMut(usize) -> usize,
    ) -> (u64, bool) {
        let most = histogram.iter().max().copied().unwrap_or(0);
        let mut best = (0_u64..).zip(histogram).filter(|(_, count)| **count == most);
        let options = best.clone().count();
        let low = best.nth(choose(options)).map_or(0, |(low, _)| low);
        let mut open = options > 1;
        let step = 1_u128 << self.low_bits;
        // Candidates are low, low + step, …, up to the largest digit of this item.
        let last = (u128::from(item) - u128::from(low)) / step;
        let (survivors, low) = (u128::from(survivors), u128::from(low));
        let index = match self.decode {
            Decode::Paper => (2 * u128::from(high) + survivors) / (2 * survivors),
            Decode::Nearest => {
                let lows = (0_u128..).zip(histogram).map(|(j, &count)| j * u128::from(count));
                let sum = step * u128::from(high) + lows.sum::<u128>();
                // The candidate at or below the mean digit, and how far the mean is past it.
                let past = sum.saturating_sub(survivors * low);
                let (index, past) = (past / (survivors * step), past % (survivors * step));
                match (2 * past).cmp(&(survivors * step)) {
                    std::cmp::Ordering::Less => index,
                    std::cmp::Ordering::Greater => index + 1,
                    // Above the last candidate there is nothing to choose.
                    std::cmp::Ordering::Equal if index >= last => index,
                    std::cmp::Ordering::Equal => {
                        open = true;
                        index + choose(2) as u128
                    }
                }
            }
        };
        ((low + step * index.min(last)) as u64, open)
    }
}

/// Values that the low part of an item's digit can have.
fn slots(item: usize, low_bits: u32) -> usize {
    (item + 1).min(1 << low_bits)
}

/// The decay `p` of the paper (M7): `Σ_{u=1}^{n−1} φ^u / (1 + Σ_{u=3}^{n} φ^u)`.
///
/// Below 1 exactly if `φ + φ² < 1 + φ^n`, which Lehmer coding needs.
#[must_use]
pub fn decay(phi: Phi, n: usize) -> f64 {
    let phi = phi.get();
    // φ^first + … over so many terms: as a closed form, since n may be a billion.
    let sum = |first: f64, terms: f64| {
        let ratio = libm::expm1(terms * libm::log(phi)) / (phi - 1.0);
        libm::pow(phi, first) * if phi == 1.0 { terms } else { ratio }
    };
    if n < 2 || phi == 0.0 {
        return 0.0;
    }
    sum(1.0, n as f64 - 1.0) / (1.0 + sum(3.0, n as f64 - 2.0))
}

/// The paper's number of low bits (M8): `⌈log2(2 ln(M n²/ε)/ln(1/p) + 1)⌉`.
///
/// # Errors
/// [`Error::Parameter`] unless `φ + φ² < 1 + φ^n` and `0 < ε < 1`.
pub fn paper_low_bits(phi: Phi, n: usize, total: f64, epsilon: f64) -> Result<u32> {
    if !(epsilon > 0.0 && epsilon < 1.0) {
        return Err(Error::Parameter { name: "epsilon", problem: "must be above 0 and below 1" });
    }
    let p = decay(phi, n);
    if p >= 1.0 {
        let problem = "is too large for the paper's low_bits, which need phi + phi^2 < 1 + phi^n";
        return Err(Error::Parameter { name: "phi", problem });
    }
    let slots = 2.0 * libm::log(total * (n as f64).powi(2) / epsilon) / -libm::log(p) + 1.0;
    Ok((libm::ceil(libm::log2(slots)) as u32).min(LOW_BITS_MOST))
}
