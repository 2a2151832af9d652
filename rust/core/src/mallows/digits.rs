//! Lehmer digits of Mallows samples, drawn by table (M3).

use rand_core::Rng;

use super::Phi;

/// Draws Lehmer digits: `Pr(j) ∝ φ^j` on `0..=i`, by table.
///
/// Digit `i` is drawn on `0..2^k`, the least power of two above `i`, again until it is at
/// most `i`: more than half of the mass is. The parts of ten bits of a number so drawn are
/// independent, each geometric itself, with ratios φ, φ^(2^10), φ^(2^20); so no table is long.
pub(super) struct Digits {
    /// `tables[k]` draws on `0..2^k`: a part for every ten bits begun, the lowest first.
    tables: Vec<Vec<Table>>,
}

/// Bits of a digit drawn at once.
const PART: usize = 10;

/// A number drawn part by part.
fn drawn(parts: &[Table], rng: &mut impl Rng) -> u32 {
    parts.iter().rev().fold(0, |j, part| j << PART | part.finish(rng.next_u32() as u16, rng))
}

impl Digits {
    pub(super) fn new(phi: Phi, n: usize) -> Self {
        let bits = n.next_power_of_two().ilog2() as usize;
        let part = |k: usize, from: usize| {
            Table::new(phi.theta * 2.0_f64.powi(from as i32), 1 << (k - from).min(PART))
        };
        let table = |k: usize| (0..k.max(1)).step_by(PART).map(|from| part(k, from)).collect();
        Self { tables: (0..=bits).map(table).collect() }
    }

    /// Draws the digits of items `0..n` and hands them out in lots: `set(first item, digits)`.
    pub(super) fn draw(&self, mut rng: impl Rng, n: usize, mut set: impl FnMut(usize, &[u32])) {
        let mut start = 0;
        for (k, parts) in self.tables.iter().enumerate() {
            let end = n.min(1 << k);
            while start < end {
                let mut digits = [0; LOT];
                let digits = &mut digits[..LOT.min(end - start)];
                draw_lot(parts, start as u32, digits, &mut rng);
                set(start, digits);
                start += digits.len();
            }
        }
    }
}

/// Digits whose first random bits are drawn at once: what the generator makes in one go.
const LOT: usize = 128;

/// Digits of the items from `item` on, all with the same parts.
fn draw_lot(parts: &[Table], item: u32, digits: &mut [u32], rng: &mut impl Rng) {
    let mut firsts = [0; 2 * LOT];
    rng.fill_bytes(&mut firsts[..2 * digits.len()]);
    let firsts = firsts.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair));
    let (low, wide) = (&parts[0], parts.len() > 1);
    for (digit, first) in digits.iter_mut().zip(firsts.clone()) {
        *digit = low.guess(first);
    }
    // Guesses that are too large, and unsure ones, which are larger than any digit.
    if wide || (item..).zip(&*digits).any(|(i, digit)| *digit > i) {
        for ((i, digit), first) in (item..).zip(digits).zip(firsts) {
            if wide || *digit > i {
                *digit = low.finish(first, rng) + (drawn(&parts[1..], rng) << PART);
                while *digit > i {
                    *digit = drawn(parts, rng);
                }
            }
        }
    }
}

/// A geometric law on `0..size`, by its tail: `tail[j] = 2^64 Pr(X > j)`.
///
/// The guide gives the answer for all 64-bit numbers that begin with the same few bits, or
/// says that it depends on the others: then 48 more are drawn.
struct Table {
    guide: Box<[u16; 1 << GUIDE]>,
    tails: Vec<u64>,
}

/// First bits that the guide goes by: most of its entries are sure up to φ = 0.99.
const GUIDE: u32 = 12;

/// An entry of the guide that does not settle the matter.
const UNSURE: u16 = u16::MAX;

impl Table {
    fn new(theta: f64, size: usize) -> Self {
        let all = size as f64;
        let tail = |j: usize| {
            let left = (size - 1 - j) as f64;
            if theta == 0.0 {
                left / all
            } else if left == 0.0 {
                0.0 // and not 0 · ∞ at φ = 0
            } else {
                // φ^{j+1} (1 − φ^left)/(1 − φ^size): no difference of near numbers.
                libm::exp(-(j as f64 + 1.0) * theta) * libm::expm1(-left * theta)
                    / libm::expm1(-all * theta)
            }
        };
        let tails = (0..size).map(|j| (tail(j) * 2.0_f64.powi(64)) as u64);
        let tails: Vec<u64> = tails.take_while(|&tail| tail > 0).collect();
        let mut guide = Box::new([0; 1 << GUIDE]);
        let mut answer = tails.len(); // of the least number of an entry
        for (first, entry) in (0_u64..).zip(guide.iter_mut()) {
            let most = (first << (64 - GUIDE)) + (u64::MAX >> GUIDE);
            let above = tails[..answer].iter().rev().take_while(|&&tail| tail <= most).count();
            *entry = if above == 0 { answer as u16 } else { UNSURE };
            answer -= above;
        }
        Self { guide, tails }
    }

    /// The answer for all numbers with these first bits, or more than any answer.
    #[inline]
    fn guess(&self, first: u16) -> u32 {
        self.guide[usize::from(first >> (16 - GUIDE))].into()
    }

    /// `#{ j : u < tail[j] }` for a uniform 64-bit `u` with these first bits.
    fn finish(&self, first: u16, rng: &mut impl Rng) -> u32 {
        let guess = self.guess(first);
        if guess != UNSURE.into() {
            return guess;
        }
        let u = u64::from(first) << 48 | rng.next_u64() >> 16;
        self.tails.partition_point(|&tail| u < tail) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn tables_hold_the_truncated_geometric_law() {
        for phi in [0.0, 1e-9, 0.3, 0.6, 0.99, 1.0 - 1e-9, 1.0] {
            for size in [1_usize, 2, 8, 1024] {
                let table = Table::new(Phi::new(phi).unwrap().theta, size);
                let mass: f64 = (0..size).map(|j| phi.powi(j as i32)).sum();
                for (j, &tail) in table.tails.iter().enumerate() {
                    let expected: f64 = (j + 1..size).map(|i| phi.powi(i as i32)).sum();
                    let error = tail as f64 / 2.0_f64.powi(64) - expected / mass;
                    assert!(error.abs() < 1e-13, "phi {phi}, size {size}, j {j}: {error}");
                }
            }
        }
    }

    #[test]
    fn digits_of_wide_ranges_have_the_right_mean() {
        // n = 5000 needs the split; the mean digit at i is g(1) − g(i + 1).
        for phi in [0.9, 0.9995, 1.0] {
            let (phi, n, rounds) = (Phi::new(phi).unwrap(), 5000, 400);
            let digits = Digits::new(phi, n);
            let mut code = vec![0; n];
            let mut sum = 0.0;
            for round in 0..rounds {
                digits.draw(stream([5; 32], round), n, |first, digits| {
                    code[first..first + digits.len()].copy_from_slice(digits);
                });
                assert!(code.iter().enumerate().all(|(i, &d)| d as usize <= i));
                sum += code.iter().map(|&d| f64::from(d)).sum::<f64>();
            }
            let expected = phi.expected_distance(n);
            let error = sum / rounds as f64 / expected - 1.0;
            // The standard error is below 1/√(n rounds) of the mean: 0.0007.
            assert!(error.abs() < 0.004, "phi {phi:?}: {error}");
        }
    }
}
