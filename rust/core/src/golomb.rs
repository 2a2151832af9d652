//! Golomb codes of Lehmer digits (M13), for storage: their lengths vary, so they cannot be masked.
//!
//! With parameter `K`, digit `q K + r` is `q` zeros, a one, and `r < K` in truncated binary. Bits
//! fill bytes from the highest bit down, digits follow each other row by row, and zeros fill the
//! last byte. There is no header: the reader must know the shape and the parameters.

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::mallows::Phi;

/// Largest parameter: no digit is above it.
pub const PARAMETER_MOST: u32 = i32::MAX as u32;

/// The best parameter for geometric digits, the `K` with `φ^K + φ^{K+1} ≤ 1 < φ^{K−1} + φ^K`.
///
/// Powers are computed to twice the precision of a double, so that the answer is right even for
/// a φ next to the boundary between two parameters.
///
/// # Errors
/// [`Error::Parameter`] unless `0 < φ < 1`, or if `K` would be above [`PARAMETER_MOST`].
///
/// ```
/// # use fedrank_core::{golomb, mallows::Phi};
/// assert_eq!(golomb::parameter(Phi::new(0.9)?)?, 7);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn parameter(phi: Phi) -> Result<u32> {
    let phi = inside(phi)?;
    let guess = libm::ceil(libm::log1p(phi) / -libm::log(phi)).max(1.0);
    if guess > f64::from(PARAMETER_MOST) {
        let problem = "is so close to 1 that the parameter would exceed every digit";
        return Err(Error::Parameter { name: "phi", problem });
    }
    let mut k = guess as u32;
    while exceeds_one(phi, k) {
        k += 1;
    }
    while k > 1 && !exceeds_one(phi, k - 1) {
        k -= 1;
    }
    Ok(k)
}

/// The value of a φ that is neither 0 nor 1.
fn inside(phi: Phi) -> Result<f64> {
    let problem = "must be above 0 and below 1: at the ends digits are not geometric";
    let phi = Some(phi.get()).filter(|&phi| phi > 0.0 && phi < 1.0);
    phi.ok_or(Error::Parameter { name: "phi", problem })
}

/// Whether `φ^k (1 + φ) > 1`. It never equals 1: an odd number over a power of two has no such
/// powers.
fn exceeds_one(phi: f64, k: u32) -> bool {
    // 1 + phi, and its rounding error.
    let sum = 1.0 + phi;
    let mut product = (sum, phi - (sum - 1.0));
    let mut square = (phi, 0.0);
    let mut exponent = k;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = multiply(product, square);
        }
        square = multiply(square, square);
        exponent >>= 1;
    }
    product.0 > 1.0 || (product.0 == 1.0 && product.1 > 0.0)
}

/// Product of two numbers, each the sum of a double and its rounding error.
fn multiply(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let high = a.0 * b.0;
    let low = a.0.mul_add(b.0, -high) + (a.0 * b.1 + a.1 * b.0);
    let sum = high + low;
    (sum, low - (sum - high))
}

/// The code of one parameter.
#[derive(Debug, Clone, Copy)]
struct Code {
    parameter: u32,
    /// ⌈log2 K⌉, the bits of a long remainder.
    bits: u32,
    /// The remainders below this are short: they take one bit less.
    short: u32,
}

impl Code {
    fn new(parameter: u32) -> Result<Self> {
        if !(1..=PARAMETER_MOST).contains(&parameter) {
            let problem = "must be 1 to 2147483647";
            return Err(Error::Parameter { name: "parameter", problem });
        }
        let bits = u32::BITS - (parameter - 1).leading_zeros();
        Ok(Self { parameter, bits, short: (1 << bits) - parameter })
    }

    /// A digit's word: the number of zeros, then a one and the remainder as a number of at most
    /// 32 bits, and how many bits that number takes.
    fn word(self, digit: u32) -> (u32, u32, u32) {
        let (quotient, remainder) = (digit / self.parameter, digit % self.parameter);
        if remainder < self.short {
            (quotient, (1 << (self.bits - 1)) + remainder, self.bits)
        } else {
            (quotient, (1 << self.bits) + remainder + self.short, self.bits + 1)
        }
    }

    /// Bits of a digit's word.
    fn length(self, digit: u32) -> u64 {
        let (zeros, _, bits) = self.word(digit);
        u64::from(zeros) + u64::from(bits)
    }
}

/// One code for all items, or one per item.
struct Codes(Vec<Code>);

impl Codes {
    fn new(parameters: &[u32], n: usize) -> Result<Self> {
        if parameters.len() != 1 && parameters.len() != n {
            let problem = "must be one number, or one number per item";
            return Err(Error::Parameter { name: "parameter", problem });
        }
        parameters.iter().map(|&k| Code::new(k)).collect::<Result<_>>().map(Self)
    }

    fn of(&self, item: usize) -> Code {
        match self.0[..] {
            [code] => code,
            ref each => each[item],
        }
    }
}

/// Lehmer codes of `n` digits each as bytes, with one parameter for all items, or one per item.
///
/// # Errors
/// [`Error::NotACode`] for a digit `i` above `i`, [`Error::Ragged`] unless all rows have `n`
/// digits, [`Error::Parameter`] for the parameters, [`Error::Memory`] if the bytes are too many.
///
/// ```
/// // 0 is 10, 1 is 11; 2 is 010: q = 1, a one, r = 0.
/// assert_eq!(fedrank_core::golomb::encode(&[0, 1, 2], 3, &[2])?, [0b1011_0100]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn encode(codes: &[u32], n: usize, parameters: &[u32]) -> Result<Vec<u8>> {
    check(codes, n)?;
    let by_item = Codes::new(parameters, n)?;
    let words = || codes.chunks_exact(n).flat_map(|row| row.iter().enumerate());
    let bits: u128 = words().map(|(i, &digit)| u128::from(by_item.of(i).length(digit))).sum();
    let mut bytes = zeros(1, usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX))?;
    let mut end = 0;
    for (item, &digit) in words() {
        let (zeros, rest, bits) = by_item.of(item).word(digit);
        end += u64::from(zeros) + u64::from(bits);
        put(&mut bytes, end, rest);
    }
    Ok(bytes)
}

/// Writes a number so that its last bit is the one before bit `end`, where all bits are zero.
fn put(bytes: &mut [u8], end: u64, number: u32) {
    let mut left = u64::from(number) << (end.wrapping_neg() % 8);
    let mut byte = end.div_ceil(8) as usize;
    while left > 0 {
        byte -= 1;
        bytes[byte] |= left as u8;
        left >>= 8;
    }
}

/// The `rows` codes of `n` digits that [`encode`] wrote with these parameters.
///
/// Memory is bounded by the length of the bytes: a digit has at least one bit.
///
/// # Errors
/// [`Error::NotGolomb`] for the first digit that is cut off or above its item,
/// [`Error::Parameter`] for the parameters, and if anything but zero bits up to the next byte
/// follows the last digit.
///
/// ```
/// assert_eq!(fedrank_core::golomb::decode(&[0b1011_0100], 1, 3, &[2])?, [0, 1, 2]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn decode(bytes: &[u8], rows: usize, n: usize, parameters: &[u32]) -> Result<Vec<u32>> {
    if n == 0 {
        return Err(Error::Ragged { len: 0, n });
    }
    let by_item = Codes::new(parameters, n)?;
    if rows as u128 * n as u128 > bytes.len() as u128 * 8 {
        let problem = "is too short: every digit takes at least one bit";
        return Err(Error::Parameter { name: "data", problem });
    }
    let mut codes = zeros::<u32>(rows, n)?;
    let mut reader = Reader { bytes, at: 0 };
    for (row, code) in codes.chunks_exact_mut(n).enumerate() {
        for (item, digit) in code.iter_mut().enumerate() {
            let found = reader.digit(by_item.of(item), item as u64);
            *digit = found.map_err(|problem| Error::NotGolomb { row, item, problem })?;
        }
    }
    reader.finish()?;
    Ok(codes)
}

const CUT_OFF: &str = "the data end inside it";
const ABOVE: &str = "it is above the item";

/// Reads bits from bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: u64,
}

impl Reader<'_> {
    /// Bits that a window surely shows: it starts up to 7 bits into its first byte.
    const WINDOW_BITS: u64 = 57;

    /// The next bits, the first of them highest; zeros after the end of the data.
    fn window(&self) -> u64 {
        let rest = &self.bytes[(self.at / 8) as usize..];
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            last
        });
        u64::from_be_bytes(word) << (self.at % 8)
    }

    /// Bits that are left.
    fn left(&self) -> u64 {
        self.bytes.len() as u64 * 8 - self.at
    }

    /// The next digit, which must be at most `most`.
    fn digit(&mut self, code: Code, most: u64) -> std::result::Result<u32, &'static str> {
        let mut quotient = 0;
        loop {
            let zeros =
                u64::from(self.window().leading_zeros()).min(Self::WINDOW_BITS).min(self.left());
            self.at += zeros;
            quotient += zeros;
            if quotient > most {
                return Err(ABOVE);
            }
            if self.left() == 0 {
                return Err(CUT_OFF);
            }
            if zeros < Self::WINDOW_BITS {
                break;
            }
        }
        self.at += 1; // the one
        // The highest bits, shifted twice because there may be none of them.
        let long = (self.window() >> 1 >> (63 - code.bits)) as u32;
        let (remainder, bits) = match long >> 1 {
            short if short < code.short => (short, code.bits - 1),
            _ => (long - code.short, code.bits),
        };
        if u64::from(bits) > self.left() {
            return Err(CUT_OFF);
        }
        self.at += u64::from(bits);
        let digit = quotient * u64::from(code.parameter) + u64::from(remainder);
        if digit > most { Err(ABOVE) } else { Ok(digit as u32) }
    }

    /// Refuses anything but zeros up to the end of the byte.
    fn finish(&self) -> Result<()> {
        let problem = match (self.left(), self.window()) {
            (8.., _) => "goes on after the last digit",
            (_, 1..) => "must end in zero bits",
            _ => return Ok(()),
        };
        Err(Error::Parameter { name: "data", problem })
    }
}

/// The parameter that makes these codes shortest; the least of several.
///
/// Exact, by trying all: O(m n + D log D) for a largest digit `D`.
///
/// # Errors
/// [`Error::NotACode`] for a digit `i` above `i`, [`Error::Ragged`] unless all rows have `n`
/// digits, [`Error::Empty`] if there are none.
pub fn fit(codes: &[u32], n: usize) -> Result<u32> {
    check_some(codes, n)?;
    Ok(shortest(codes.iter().copied()))
}

/// For each item, the parameter that makes its digits shortest: [`fit`], column by column.
///
/// # Errors
/// Those of [`fit`].
pub fn fit_items(codes: &[u32], n: usize) -> Result<Vec<u32>> {
    check_some(codes, n)?;
    let column = |item| shortest(codes.iter().copied().skip(item).step_by(n));
    Ok((0..n).into_par_iter().map(column).collect())
}

fn check(codes: &[u32], n: usize) -> Result<()> {
    if n == 0 || !codes.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: codes.len(), n });
    }
    for (row, digits) in codes.chunks_exact(n).enumerate() {
        if let Some(item) = (0..n).find(|&item| digits[item] as usize > item) {
            return Err(Error::NotACode { row, item, digit: i64::from(digits[item] as i32) });
        }
    }
    Ok(())
}

fn check_some(codes: &[u32], n: usize) -> Result<()> {
    check(codes, n)?;
    if codes.is_empty() { Err(Error::Empty) } else { Ok(()) }
}

/// The parameter that gives these digits the fewest bits.
fn shortest(digits: impl Iterator<Item = u32>) -> u32 {
    // below[d]: first how many digits are d − 1, then how many are below d.
    let mut below = vec![0_u64];
    for digit in digits {
        let above = digit as usize + 1;
        below.resize(below.len().max(above + 1), 0);
        below[above] += 1;
    }
    for digit in 1..below.len() {
        below[digit] += below[digit - 1];
    }
    let largest = below.len() - 1;
    let all = below[largest];
    let bits = |k: usize| {
        let long = (k - 1).checked_ilog2().map_or(0, |bits| bits + 1);
        let short = (1_usize << long) - k;
        let mut bits = all * u64::from(long + 1);
        for start in (0..largest).step_by(k) {
            // Every digit from the second run of k on has one more zero than in the run before;
            // short remainders take one bit less.
            bits += if start > 0 { all - below[start] } else { 0 };
            bits -= below[largest.min(start + short)] - below[start];
        }
        bits
    };
    // Beyond the largest digit plus one, remainders only become longer.
    (1..=largest).min_by_key(|&k| bits(k)).unwrap_or(1) as u32
}

/// Expected bits of the code of a ranking from a Mallows model whose center is the identity.
///
/// There digit `i` is a truncated geometric variable, `Pr(j) ∝ φ^j` for `0 ≤ j ≤ i`. O(n).
///
/// # Errors
/// [`Error::Parameter`] unless `0 < φ < 1` and the parameter is in range.
pub fn expected_bits(phi: Phi, parameter: u32, n: usize) -> Result<f64> {
    let (phi, code) = (inside(phi)?, Code::new(parameter)?);
    let lengths = means(phi, n, |digit| code.length(digit) as f64);
    Ok(lengths.fold(0.0, |bits, (_, length)| bits + length))
}

/// Entropy, in bits, of the same digits: no code has a smaller expected length. O(n).
///
/// # Errors
/// [`Error::Parameter`] unless `0 < φ < 1`.
pub fn entropy_bits(phi: Phi, n: usize) -> Result<f64> {
    let phi = inside(phi)?;
    // −log2 Pr(j) = log2 Σ φ^k − j log2 φ
    let entropy = |(mass, digit)| libm::log2(mass) - digit * libm::log2(phi);
    Ok(means(phi, n, f64::from).fold(0.0, |bits, mean| bits + entropy(mean)))
}

/// For each item `i`, `Σ_{j ≤ i} φ^j` and the mean of `value` over the digits of this item.
fn means(phi: f64, n: usize, value: impl Fn(u32) -> f64) -> impl Iterator<Item = (f64, f64)> {
    (0..n as u32).scan((0.0, 0.0), move |(mass, sum), digit| {
        let power = libm::pow(phi, f64::from(digit));
        *mass += power;
        *sum += power * value(digit);
        Some((*mass, *sum / *mass))
    })
}

// Bytes and errors are tested from Python, against the definition.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{below, stream};
    use rand_core::Rng;

    #[test]
    fn any_bytes_decode_to_what_encodes_to_them_or_are_refused() {
        let mut rng = stream([5; 32], 0);
        let mut accepted = 0;
        for round in 0..200_000 {
            let (rows, n) = (below(&mut rng, 4) as usize, 1 + below(&mut rng, 12) as usize);
            let k = [1 + below(&mut rng, 1 + round % 9)];
            let mut bytes = vec![0; below(&mut rng, 12) as usize];
            rng.fill_bytes(&mut bytes);
            if let Ok(codes) = decode(&bytes, rows, n, &k) {
                assert_eq!(encode(&codes, n, &k), Ok(bytes));
                accepted += 1;
            }
        }
        assert!(accepted > 100, "{accepted}");
    }
}
