//! The Mallows model (M3, M4, M15): `Pr(r) ∝ φ^K(r, center)`.
//!
//! `exp` and `log` come from `libm`, so that the numbers agree on every platform.

mod digits;

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::kendall::distances_to;
use crate::lehmer::{Decoder, GROUP, Group};
use crate::rankings::{Rankings, invert};
use crate::rng::{Key, stream};
use digits::Digits;

/// Dispersion of a Mallows model, in `[0, 1]`: 0 always gives the center, 1 is uniform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phi {
    phi: f64,
    /// −ln φ: 0 at φ = 1, infinite at φ = 0.
    theta: f64,
}

impl Phi {
    /// A checked dispersion.
    ///
    /// # Errors
    /// [`Error::Phi`] outside `[0, 1]`, or if it is NaN.
    pub fn new(phi: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&phi) {
            // + 0.0 turns the −0 of φ = 1 into 0.
            Ok(Self { phi, theta: -libm::log(phi) + 0.0 })
        } else {
            Err(Error::Phi { phi })
        }
    }

    /// The dispersion itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.phi
    }

    /// `g(a) − g(b)` for `a ≤ b`, where `g(t) = t φ^t / (1 − φ^t)` (M4).
    ///
    /// Near φ = 1 each g is close to 1/θ and their difference would be noise. There
    /// `g(t) = 1/θ − t/2 + B(tθ)/θ`, and only what differs is subtracted.
    fn g_drop(self, a: f64, b: f64) -> f64 {
        let theta = self.theta;
        if theta == 0.0 {
            (b - a) / 2.0
        } else if b * theta < 0.5 {
            (b - a) / 2.0 + (bernoulli(a * theta) - bernoulli(b * theta)) / theta
        } else {
            let g = |t: f64| t / libm::expm1(t * theta);
            g(a) - g(b)
        }
    }

    /// Mean position, from 0, of the items that the center puts at places `0..n` (M4), in O(n).
    ///
    /// ```text
    /// E_i = i + g(i) − g(n + 1 − i)   (places and positions from 1)
    /// ```
    ///
    /// Strictly increasing for φ < 1; all `(n − 1)/2` at φ = 1.
    #[must_use]
    pub fn expected_ranks(self, n: usize) -> Vec<f64> {
        let middle = (n as f64 - 1.0) / 2.0;
        let mut ranks = vec![middle; n];
        // The lower half; the upper one follows by symmetry, E_i + E_{n+1−i} = n + 1.
        for place in 0..n / 2 {
            let (i, mirror) = (place as f64 + 1.0, (n - place) as f64);
            let low = if mirror * self.theta < 0.5 {
                // Here i + g(i) − g(mirror) is the middle but for the Bernoulli part.
                let off = if self.theta == 0.0 {
                    0.0
                } else {
                    (bernoulli(mirror * self.theta) - bernoulli(i * self.theta)) / self.theta
                };
                middle - off
            } else {
                place as f64 + self.g_drop(i, mirror)
            };
            ranks[place] = low;
            ranks[n - 1 - place] = (n as f64 - 1.0) - low;
        }
        ranks
    }

    /// Mean Kendall distance from the center, `Σ_i (g(1) − g(i))` (M15).
    #[must_use]
    pub fn expected_distance(self, n: usize) -> f64 {
        (1..=n).map(|i| self.g_drop(1.0, i as f64)).sum()
    }

    /// Variance of the Kendall distance from the center (M15).
    ///
    /// ```text
    /// Var K = Σ_i (v(1) − v(i)),   v(t) = t² φ^t / (1 − φ^t)²
    /// ```
    #[must_use]
    pub fn distance_variance(self, n: usize) -> f64 {
        let theta = self.theta;
        // v(t) = s(tθ)/θ², s(x) = (x/2)²/sinh²(x/2), which is near 1 for small x.
        let s = |x: f64| {
            let half = x / 2.0;
            (half / libm::sinh(half)).powi(2)
        };
        let drop = |i: f64| {
            if i * theta < 0.5 {
                // s(x) = 1 − x²/12 + …, term by term: no difference of near numbers.
                const TERMS: [f64; 7] = [
                    1.0 / 12.0,
                    -1.0 / 240.0,
                    1.0 / 6048.0,
                    -1.0 / 172_800.0,
                    1.0 / 5_322_240.0,
                    -691.0 / 118_879_488_000.0,
                    1.0 / 5_748_019_200.0,
                ];
                let powers = |x: f64| std::iter::successors(Some(x), move |p| Some(p * x));
                let scales = std::iter::successors(Some(1.0), |s| Some(s * theta * theta));
                let differences = powers(i * i).zip(scales).map(|(p, scale)| (p - 1.0) * scale);
                TERMS.iter().zip(differences).map(|(term, difference)| term * difference).sum()
            } else if theta.is_infinite() {
                0.0
            } else {
                (s(theta) - s(i * theta)) / (theta * theta)
            }
        };
        (2..=n).map(|i| drop(i as f64)).sum::<f64>() + 0.0 // an empty sum is −0
    }

    /// `ln Z`, with `Z = ∏_{i=1}^{n} (1 − φ^i)/(1 − φ)` (M3).
    #[must_use]
    pub fn log_partition(self, n: usize) -> f64 {
        let factor = |i: usize| {
            let i = i as f64;
            if self.theta == 0.0 {
                libm::log(i)
            } else if self.phi < 0.5 {
                libm::log1p(-libm::exp(-i * self.theta)) - libm::log1p(-self.phi)
            } else {
                libm::log(libm::expm1(-i * self.theta) / libm::expm1(-self.theta))
            }
        };
        (2..=n).map(factor).sum::<f64>() + 0.0 // an empty sum is −0
    }

    /// The dispersion at which the mean distance of rankings of `n` items is `distance`: the
    /// maximum likelihood estimate, given the center (M15).
    ///
    /// Distances of `n (n − 1)/4` and more give 1.
    #[must_use]
    pub fn from_distance(distance: f64, n: usize) -> Self {
        let uniform = Self { phi: 1.0, theta: 0.0 };
        let at = |phi: f64| Self::new(phi).unwrap_or(uniform);
        if distance <= 0.0 || n < 2 {
            return at(0.0);
        }
        if distance >= uniform.expected_distance(n) {
            return uniform;
        }
        // The mean distance grows with φ, and so do the bits of a positive float:
        // halving the bits finds the root to the last one in at most 62 steps.
        let (mut low, mut high) = (0, 1.0_f64.to_bits());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at(f64::from_bits(middle)).expected_distance(n) < distance {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(f64::from_bits(high))
    }

    /// Log-probabilities of the rankings under this dispersion and a center of as many items.
    ///
    /// # Errors
    /// [`Error::Items`] unless they rank the same number of items, [`Error::Interrupted`] if
    /// `interrupt` says so.
    pub fn log_prob(
        self,
        rankings: Rankings<'_>,
        center: &[u32],
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<f64>> {
        if center.len() != rankings.n() {
            return Err(Error::Items { a: rankings.n(), b: center.len() });
        }
        let log_partition = self.log_partition(center.len());
        let log_prob = |distance: u64| match distance {
            0 => -log_partition, // also at φ = 0, where 0 · ∞ would be NaN
            _ => -(distance as f64) * self.theta - log_partition,
        };
        let distances = distances_to(rankings, center, interrupt)?;
        Ok(distances.into_iter().map(log_prob).collect())
    }

    /// Draws `count` rankings around `center`, exactly, in parallel.
    ///
    /// Ranking `i` comes from stream `i` of `key` alone. Its digits are independent,
    /// `Pr(f_i = j) ∝ φ^j` for `0 ≤ j ≤ i`, and `r[i] = decode(f)[center[i]]` (M3).
    ///
    /// # Errors
    /// [`Error::Memory`] if they do not fit, [`Error::Interrupted`] if `interrupt` says so.
    pub fn sample(
        self,
        center: Rankings<'_>,
        count: usize,
        key: Key,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<u32>> {
        let n = center.n();
        let items = invert(center.row(0));
        let digits = Digits::new(self, n);
        let mut rankings = zeros(count, n)?;
        interrupt.expect(rankings.len() as u64);
        if Group::suits(n, self.expected_distance(n) / n as f64) {
            rankings.par_chunks_mut(GROUP * n).enumerate().try_for_each_init(
                || (Group::new(n), interrupt.tally()),
                |(together, tally), (group, rankings)| {
                    let rows = rankings.chunks_exact_mut(n);
                    for (lane, row) in (0..rows.len()).zip((group * GROUP) as u64..) {
                        tally.add(n as u64)?;
                        let set = |first, digits: &[u32]| together.set(lane, first, digits);
                        digits.draw(stream(key, row), n, set);
                    }
                    together.decode();
                    for (lane, ranks) in rows.enumerate() {
                        for (position, &item) in together.positions(lane).zip(&items) {
                            ranks[item as usize] = position;
                        }
                    }
                    Ok(())
                },
            )?;
        } else {
            rankings.par_chunks_exact_mut(n).enumerate().try_for_each_init(
                || (vec![0; n], Decoder::new(n), interrupt.tally()),
                |(code, decoder, tally), (row, ranks)| {
                    tally.add(n as u64)?;
                    digits.draw(stream(key, row as u64), n, |first, digits: &[u32]| {
                        code[first..first + digits.len()].copy_from_slice(digits);
                    });
                    decoder.decode(code, |place, position| {
                        ranks[items[place] as usize] = position;
                    });
                    Ok(())
                },
            )?;
        }
        Ok(rankings)
    }
}

/// `x/(e^x − 1) − 1 + x/2` for `0 ≤ x < 1/2`, by its series of Bernoulli numbers.
fn bernoulli(x: f64) -> f64 {
    /// `B_{2k}/(2k)!` for k = 1, 2, ….
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
    ];
    let square = x * x;
    square * TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_gives_back_the_distance() {
        for n in [2, 10, 978] {
            for phi in [1e-9, 0.1, 0.6, 0.99, 1.0 - 1e-6] {
                let phi = Phi::new(phi).unwrap();
                let root = Phi::from_distance(phi.expected_distance(n), n).get();
                assert!((root / phi.get() - 1.0).abs() < 1e-9, "n {n}, {phi:?}: {root}");
            }
        }
        assert_eq!(Phi::from_distance(0.0, 5).get(), 0.0);
        assert_eq!(Phi::from_distance(5.0, 5).get(), 1.0);
    }
}
