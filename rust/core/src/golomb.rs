//! Golomb codes of Lehmer digits (M13), for storage: variable lengths cannot be masked.
//!
//! With parameter `K`, digit `q K + r` is `q` zeros, a one, and `r < K` in truncated binary. Bits
//! fill bytes from the highest down, digits follow each other row by row, and zeros fill the last
//! byte. There is no header: the reader must know the shape and the parameters.

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::mallows::Phi;

/// Largest parameter: no digit is above it.
pub const PARAMETER_MOST: u32 = i32::MAX as u32;

/// The best parameter for geometric digits, the `K` with `φ^K + φ^{K+1} ≤ 1 < φ^{K−1} + φ^K`.
///
/// Powers are taken to twice the precision of a double, so that also a φ beside the boundary of
/// two parameters gets the right one.
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
    let phi = between(phi)?;
    let guess = libm::ceil(libm::log1p(phi) / -libm::log(phi)).max(1.0);
    if guess > f64::from(PARAMETER_MOST) {
        let problem = "is so near to 1 that the parameter is above every digit";
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

fn between(phi: Phi) -> Result<f64> {
    let phi = phi.get();
    if phi > 0.0 && phi < 1.0 {
        return Ok(phi);
    }
    let problem = "must be above 0 and below 1: at the ends digits are not geometric";
    Err(Error::Parameter { name: "phi", problem })
}

/// Whether `φ^k (1 + φ) > 1`. It is never 1: an odd number over a power of two has no such powers.
fn exceeds_one(phi: f64, k: u32) -> bool {
    // 1 + phi, and what rounding took from it.
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
    /// So many remainders, the first, take a bit less.
    short: u32,
    /// ⌈2^(31 + bits) / K⌉: multiplying by it and shifting divides digits below 2^31 exactly.
    inverse: u64,
}

impl Code {
    fn new(parameter: u32) -> Result<Self> {
        if !(1..=PARAMETER_MOST).contains(&parameter) {
            let problem = "must be 1 to 2147483647";
            return Err(Error::Parameter { name: "parameter", problem });
        }
        let bits = u32::BITS - (parameter - 1).leading_zeros();
        let inverse = (1_u64 << (31 + bits)).div_ceil(parameter.into());
        Ok(Self { parameter, bits, short: (1 << bits) - parameter, inverse })
    }

    /// The zeros of a digit's word, the rest as a number, and the bits of the rest: 32 at most.
    #[inline]
    fn word(self, digit: u32) -> (u32, u64, u32) {
        let quotient = ((u64::from(digit) * self.inverse) >> (31 + self.bits)) as u32;
        let remainder = digit - quotient * self.parameter;
        // Long or short is a toss-up, so it is reckoned, not branched on.
        let long = u32::from(remainder >= self.short);
        let bits = self.bits + long;
        (quotient, (1 << bits >> 1) + u64::from(remainder + self.short * long), bits)
    }

    /// The remainder at the head of a window, and its bits.
    #[inline]
    fn remainder(self, window: u64) -> (u32, u32) {
        // Not at once by 64 − bits, which may be 64.
        let head = ((window >> 1) >> (63 - self.bits)) as u32;
        let long = u32::from(head >> 1 >= self.short);
        ((head >> (1 - long)) - self.short * long, self.bits + long - 1)
    }
}

/// One code for all items, or one each.
enum Codes {
    Same(Code),
    Each(Vec<Code>),
}

impl Codes {
    fn new(parameters: &[u32], n: usize) -> Result<Self> {
        match parameters {
            [parameter] => Ok(Self::Same(Code::new(*parameter)?)),
            _ if parameters.len() == n => {
                Ok(Self::Each(parameters.iter().map(|&k| Code::new(k)).collect::<Result<_>>()?))
            }
            _ => {
                let problem = "must be one number, or one an item";
                Err(Error::Parameter { name: "parameter", problem })
            }
        }
    }
}

/// Lehmer codes of `n` digits each as bytes; `parameters` are one for all items, or one an item.
///
/// # Errors
/// [`Error::NotACode`] for a digit `i` above `i`, [`Error::Ragged`] unless the rows are whole,
/// [`Error::Parameter`] for the parameters, [`Error::Memory`] where small ones make long bytes.
///
/// ```
/// // 0 is 10, 1 is 11; 2 is 010: q = 1, a one, r = 0.
/// assert_eq!(fedrank_core::golomb::encode(&[0, 1, 2], 3, &[2])?, [0b1011_0100]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn encode(codes: &[u32], n: usize, parameters: &[u32]) -> Result<Vec<u8>> {
    if n == 0 || !codes.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: codes.len(), n });
    }
    match Codes::new(parameters, n)? {
        Codes::Same(code) => write(codes, n, |_| code),
        Codes::Each(each) => write(codes, n, |item| each[item]),
    }
}

/// Bytes written at once; the end of the buffer has room for as many.
const WORD: usize = size_of::<u64>();

fn write(codes: &[u32], n: usize, code: impl Fn(usize) -> Code) -> Result<Vec<u8>> {
    let least = (0..n).map(|item| code(item).parameter).min().unwrap_or(1);
    let longest = (0..n).map(|item| code(item).bits).max().unwrap_or(0);
    let mut out = Vec::new();
    // The byte that is being filled, how far it is, and what it and the next ones will hold.
    let (mut at, mut filled, mut window) = (0, 0, 0_u64);
    for (row, digits) in codes.chunks_exact(n).enumerate() {
        check_row(row, digits)?;
        // No row takes more than this, so it has room.
        let sum: u64 = digits.iter().map(|&digit| u64::from(digit)).sum();
        let most = sum / u64::from(least) + n as u64 * u64::from(longest + 1);
        grow(&mut out, at as u128 + u128::from(most / 8) + 2 * WORD as u128)?;
        for (item, &digit) in digits.iter().enumerate() {
            let (zeros, rest, bits) = code(item).word(digit);
            let mut length = zeros + bits;
            if length > 56 {
                // The zeros are there already: step over them.
                let end = filled as usize + zeros as usize;
                if end >= 8 {
                    window = 0;
                }
                (at, filled, length) = (at + end / 8, end as u32 % 8, bits);
            }
            window |= rest << (64 - filled - length);
            out[at..at + WORD].copy_from_slice(&window.to_be_bytes());
            let end = filled + length;
            window <<= end & !7;
            (at, filled) = (at + end as usize / 8, end % 8);
        }
    }
    out.truncate(at + usize::from(filled > 0));
    Ok(out)
}

/// Lengthens a buffer by zeros, or refuses where there is no memory.
fn grow(out: &mut Vec<u8>, bytes: u128) -> Result<()> {
    let refused = |_| Error::Memory { entries: bytes, bytes: 1 };
    let len = usize::try_from(bytes).unwrap_or(usize::MAX);
    if len > out.len() {
        out.try_reserve(len - out.len()).map_err(refused)?;
        out.resize(len, 0);
    }
    Ok(())
}

/// The `rows` codes of `n` digits that [`encode`] wrote with these parameters.
///
/// No more memory is taken than the bytes can account for: a digit has at least one bit.
///
/// # Errors
/// [`Error::NotGolomb`] for the first digit that is cut off or above its item,
/// [`Error::Parameter`] for the parameters, and for anything but zero bits up to the next byte behind
/// the last digit.
///
/// ```
/// assert_eq!(fedrank_core::golomb::decode(&[0b1011_0100], 1, 3, &[2])?, [0, 1, 2]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn decode(bytes: &[u8], rows: usize, n: usize, parameters: &[u32]) -> Result<Vec<u32>> {
    if n == 0 {
        return Err(Error::Ragged { len: 0, n });
    }
    let codes = Codes::new(parameters, n)?;
    if rows as u128 * n as u128 > bytes.len() as u128 * 8 {
        let problem = "is too short: every digit takes at least one bit";
        return Err(Error::Parameter { name: "data", problem });
    }
    match codes {
        Codes::Same(code) if rows * n > Table::WORTH => read_by_table(bytes, rows, n, code),
        Codes::Same(code) => read(bytes, rows, n, |_| code),
        Codes::Each(each) => read(bytes, rows, n, |item| each[item]),
    }
}

fn read(bytes: &[u8], rows: usize, n: usize, code: impl Fn(usize) -> Code) -> Result<Vec<u32>> {
    let mut digits = zeros::<u32>(rows, n)?;
    let mut reader = Reader { bytes, at: 0, window: 0, valid: 0 };
    for (row, digits) in digits.chunks_exact_mut(n).enumerate() {
        for (item, digit) in digits.iter_mut().enumerate() {
            let found = reader.digit(code(item), item as u64);
            *digit = found.map_err(|problem| Error::NotGolomb { row, item, problem })?;
        }
    }
    reader.finish()?;
    Ok(digits)
}

/// As [`read`], by several digits at once, which are checked after they are read.
fn read_by_table(bytes: &[u8], rows: usize, n: usize, code: Code) -> Result<Vec<u32>> {
    let table = Table::new(code);
    let mut digits = zeros::<u32>(rows, n)?;
    let mut reader = Reader { bytes, at: 0, window: 0, valid: 0 };
    let mut done = 0;
    let read = loop {
        let Some(room) = digits.get_mut(done..).filter(|room| !room.is_empty()) else {
            break reader.finish();
        };
        reader.fill();
        let entry = table.entry(reader.window);
        match room.first_chunk_mut::<{ Table::DIGITS }>() {
            Some(room) if entry.count > 0 && u32::from(entry.bits) <= reader.valid => {
                *room = entry.digits.map(u32::from);
                done += usize::from(entry.count);
                reader.skip(entry.bits.into());
            }
            _ => match reader.digit(code, n as u64 - 1) {
                Ok(digit) => {
                    room[0] = digit;
                    done += 1;
                }
                Err(problem) => {
                    let (row, item) = (done / n, done % n);
                    break Err(Error::NotGolomb { row, item, problem });
                }
            },
        }
    };
    // The first fault is told, though it may have been read past.
    for (row, digits) in digits[..done].chunks(n).enumerate() {
        let fault = |item| Error::NotGolomb { row, item, problem: ABOVE };
        outside(digits).map_or(Ok(()), |item| Err(fault(item)))?;
    }
    read.map(|()| digits)
}

/// The digits that the next bits spell, for all that these can be.
struct Table(Vec<Entry>);

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    digits: [u16; Table::DIGITS],
    /// How many digits are whole; the others are anything.
    count: u8,
    /// Their bits.
    bits: u8,
}

impl Table {
    /// Bits looked at: with more, the table leaves the first-level cache.
    const BITS: u32 = 11;
    const DIGITS: usize = 4;
    /// Digits from which on making the table pays.
    const WORTH: usize = 1 << 14;

    fn new(code: Code) -> Self {
        let entry = |bits: u32| {
            let window = u64::from(bits) << (64 - Self::BITS);
            let mut reader = Reader { bytes: &[], at: 0, window, valid: Self::BITS };
            let mut entry = Entry::default();
            for digit in &mut entry.digits {
                // So few bits do not spell a digit of 2^16.
                let Ok(found) = reader.digit(code, u16::MAX.into()) else { break };
                *digit = found as u16;
                entry.count += 1;
                entry.bits = (Self::BITS - reader.valid) as u8;
            }
            entry
        };
        Self((0..1 << Self::BITS).map(entry).collect())
    }

    #[inline]
    fn entry(&self, window: u64) -> Entry {
        self.0[(window >> (64 - Self::BITS)) as usize]
    }
}

const CUT_OFF: &str = "the data end inside it";
const ABOVE: &str = "it is above the item";

/// Reads bits, the next one at the top of the window.
struct Reader<'a> {
    bytes: &'a [u8],
    /// The byte from which the window is filled up next.
    at: usize,
    /// Below the valid bits there may be some of the same that will be filled in.
    window: u64,
    /// Valid bits of the window, 63 at most.
    valid: u32,
}

impl Reader<'_> {
    #[inline]
    fn fill(&mut self) {
        if let Some(&word) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<WORD>) {
            self.window |= u64::from_be_bytes(word) >> self.valid;
            self.at += (63 - self.valid as usize) / 8;
            self.valid |= 56;
        } else {
            while self.valid < 56
                && let Some(&byte) = self.bytes.get(self.at)
            {
                self.window |= u64::from(byte) << (56 - self.valid);
                self.at += 1;
                self.valid += 8;
            }
        }
    }

    #[inline]
    fn skip(&mut self, bits: u32) {
        self.window <<= bits;
        self.valid -= bits;
    }

    /// Refuses all but zeros up to the end of the byte.
    fn finish(&self) -> Result<()> {
        let left = (self.bytes.len() - self.at) as u64 * 8 + u64::from(self.valid);
        let problem = match (left, self.window) {
            (8.., _) => "goes on after the last digit",
            (_, 1..) => "must end in zero bits",
            _ => return Ok(()),
        };
        Err(Error::Parameter { name: "data", problem })
    }

    #[inline]
    fn digit(&mut self, code: Code, most: u64) -> std::result::Result<u32, &'static str> {
        self.fill();
        let zeros = self.window.leading_zeros();
        if zeros + 1 + code.bits > self.valid {
            return self.long_digit(code, most);
        }
        let (remainder, bits) = code.remainder(self.window << zeros << 1);
        self.skip(zeros + 1 + bits);
        whole(u64::from(zeros), code, remainder, most)
    }

    /// A digit that the window may not hold, or that is the last.
    #[cold]
    fn long_digit(&mut self, code: Code, most: u64) -> std::result::Result<u32, &'static str> {
        let mut quotient = 0;
        loop {
            self.fill();
            let zeros = self.window.leading_zeros().min(self.valid);
            quotient += u64::from(zeros);
            self.skip(zeros);
            if quotient > most {
                return Err(ABOVE);
            }
            if self.valid > 0 {
                break;
            }
            if self.at == self.bytes.len() {
                return Err(CUT_OFF);
            }
        }
        self.skip(1);
        self.fill();
        let (remainder, bits) = code.remainder(self.window);
        if bits > self.valid {
            return Err(CUT_OFF);
        }
        self.skip(bits);
        whole(quotient, code, remainder, most)
    }
}

#[inline]
fn whole(
    quotient: u64,
    code: Code,
    remainder: u32,
    most: u64,
) -> std::result::Result<u32, &'static str> {
    let digit = quotient * u64::from(code.parameter) + u64::from(remainder);
    if digit > most { Err(ABOVE) } else { Ok(digit as u32) }
}

/// The parameter that makes these codes the shortest; the least of several.
///
/// Exact, by trying all: O(m n + D log D) for a largest digit `D`.
///
/// # Errors
/// [`Error::NotACode`] for a digit `i` above `i`, [`Error::Ragged`] unless the rows are whole,
/// [`Error::Empty`] if there are none.
pub fn fit(codes: &[u32], n: usize) -> Result<u32> {
    check(codes, n)?;
    let mut counts = Vec::new();
    codes.iter().for_each(|&digit| count(&mut counts, digit));
    Ok(shortest(&counts))
}

/// For each item, the parameter that makes its digits the shortest: [`fit`], column by column.
///
/// # Errors
/// Those of [`fit`].
pub fn fit_items(codes: &[u32], n: usize) -> Result<Vec<u32>> {
    check(codes, n)?;
    let column = |item| {
        let mut counts = Vec::new();
        codes.iter().skip(item).step_by(n).for_each(|&digit| count(&mut counts, digit));
        shortest(&counts)
    };
    Ok((0..n).into_par_iter().map(column).collect())
}

fn check(codes: &[u32], n: usize) -> Result<()> {
    if n == 0 || !codes.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: codes.len(), n });
    }
    for (row, digits) in codes.chunks_exact(n).enumerate() {
        check_row(row, digits)?;
    }
    if codes.is_empty() { Err(Error::Empty) } else { Ok(()) }
}

fn check_row(row: usize, digits: &[u32]) -> Result<()> {
    outside(digits).map_or(Ok(()), |item| {
        Err(Error::NotACode { row, item, digit: i64::from(digits[item] as i32) })
    })
}

/// The first item whose digit is above it, in a row or the start of one.
fn outside(digits: &[u32]) -> Option<usize> {
    // First without a way out, so in vectors.
    let any = (0..).zip(digits).fold(false, |any, (item, &digit)| any | (digit > item));
    if any { (0..).zip(digits).position(|(item, &digit)| digit > item) } else { None }
}

fn count(counts: &mut Vec<u64>, digit: u32) {
    let digit = digit as usize;
    if digit >= counts.len() {
        counts.resize(digit + 1, 0);
    }
    counts[digit] += 1;
}

/// The parameter that gives so many of each digit the fewest bits.
fn shortest(counts: &[u64]) -> u32 {
    // below[d]: how many digits are below d.
    let mut below = vec![0; counts.len() + 1];
    for (digit, &count) in counts.iter().enumerate() {
        below[digit + 1] = below[digit] + count;
    }
    let (largest, all) = (counts.len(), below[counts.len()]);
    let bits = |k: usize| {
        let long = (k - 1).checked_ilog2().map_or(0, |bits| bits + 1);
        let short = (1_usize << long) - k;
        let mut bits = all * u64::from(long + 1);
        for start in (0..largest).step_by(k) {
            // A zero for every digit from the second run of k on, a bit less for short remainders.
            bits += if start > 0 { all - below[start] } else { 0 };
            bits -= below[largest.min(start + short)] - below[start];
        }
        bits
    };
    // Above the largest digit plus one, remainders only become longer.
    (1..=largest).min_by_key(|&k| bits(k)).unwrap_or(1) as u32
}

/// Expected bits of the code of a ranking from a Mallows model whose center is the identity.
///
/// There digit `i` is a truncated geometric variable, `Pr(j) ∝ φ^j` for `0 ≤ j ≤ i`. O(n).
///
/// # Errors
/// [`Error::Parameter`] unless `0 < φ < 1` and the parameter is in range.
pub fn expected_bits(phi: Phi, parameter: u32, n: usize) -> Result<f64> {
    let (phi, code) = (between(phi)?, Code::new(parameter)?);
    let (mut weight, mut weighted, mut bits) = (0.0, 0.0, 0.0);
    for digit in 0..n as u32 {
        let power = libm::pow(phi, f64::from(digit));
        let (zeros, _, rest) = code.word(digit);
        weight += power;
        weighted += power * (f64::from(zeros) + f64::from(rest));
        bits += weighted / weight;
    }
    Ok(bits)
}

/// Entropy, in bits, of the same digits: no code has a smaller expected length. O(n).
///
/// # Errors
/// [`Error::Parameter`] unless `0 < φ < 1`.
pub fn entropy_bits(phi: Phi, n: usize) -> Result<f64> {
    let phi = between(phi)?;
    let (mut weight, mut weighted, mut bits) = (0.0, 0.0, 0.0);
    for digit in 0..n as u32 {
        let power = libm::pow(phi, f64::from(digit));
        weight += power;
        weighted += power * f64::from(digit);
        // −log2 Pr(j) = log2 Σ φ^k − j log2 φ
        bits += libm::log2(weight) - weighted / weight * libm::log2(phi);
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{below, stream};
    use rand_core::Rng;

    /// Bits of a digit, as the definition says.
    fn spell(digit: u32, k: u32) -> String {
        let (q, r) = (digit / k, digit % k);
        let bits = (0..).find(|&bits| 1_u64 << bits >= u64::from(k)).expect("a power of two");
        let short = (1_u64 << bits) - u64::from(k);
        let (value, bits) = match u64::from(r) {
            r if r < short => (r, bits - 1),
            r => (r + short, bits),
        };
        let binary: String =
            (0..bits).rev().map(|bit| if value >> bit & 1 == 1 { '1' } else { '0' }).collect();
        format!("{}1{binary}", "0".repeat(q as usize))
    }

    fn pack(bits: &str) -> Vec<u8> {
        let byte = |chunk: &[u8]| {
            let ones = (0..8).filter(|&i| chunk.get(i) == Some(&b'1'));
            ones.map(|i| 0x80 >> i).sum()
        };
        bits.as_bytes().chunks(8).map(byte).collect()
    }

    #[test]
    fn bytes_are_the_words_one_after_the_other() {
        let mut rng = stream([3; 32], 0);
        for n in [1_usize, 2, 3, 9, 70, 300] {
            for k in [1, 2, 3, 4, 5, 7, 8, 31, 64, 100, 1 << 20, (1 << 30) + 1, PARAMETER_MOST] {
                let rows = 5;
                let most = below(&mut rng, n as u32) + 1;
                let digit = |i: usize, rng: &mut _| below(rng, (i as u32 % n as u32 + 1).min(most));
                let codes: Vec<u32> = (0..rows * n).map(|i| digit(i, &mut rng)).collect();
                let text: String = codes.iter().map(|&digit| spell(digit, k)).collect();
                let bytes = encode(&codes, n, &[k]).expect("digits in range");
                assert_eq!(bytes, pack(&text), "n {n}, K {k}");
                assert_eq!(decode(&bytes, rows, n, &[k]).as_ref(), Ok(&codes), "n {n}, K {k}");

                let each: Vec<u32> = (0..n).map(|_| below(&mut rng, k.min(500)) + 1).collect();
                let words = codes.iter().enumerate().map(|(i, &digit)| spell(digit, each[i % n]));
                let bytes = encode(&codes, n, &each).expect("digits in range");
                assert_eq!(bytes, pack(&words.collect::<String>()), "n {n}, each below {k}");
                assert_eq!(decode(&bytes, rows, n, &each), Ok(codes), "n {n}, each below {k}");
            }
        }
    }

    #[test]
    fn many_digits_are_read_as_few() {
        let mut rng = stream([7; 32], 0);
        for k in [1, 2, 3, 5, 7, 69, 700, 1023, 1024, 1025, 5000, PARAMETER_MOST] {
            for most in [1, 2, 4, 30, 1000] {
                let (rows, n) = (20, 1000);
                let digit = |i: usize, rng: &mut _| below(rng, (i % n + 1).min(most) as u32);
                let codes: Vec<u32> = (0..rows * n).map(|i| digit(i, &mut rng)).collect();
                let mut bytes = encode(&codes, n, &[k]).expect("digits in range");
                assert!(rows * n > Table::WORTH);
                let one_by_one =
                    |bytes: &[u8]| read(bytes, rows, n, |_| Code::new(k).expect("in range"));
                assert_eq!(one_by_one(&bytes).as_ref(), Ok(&codes));
                assert_eq!(decode(&bytes, rows, n, &[k]), Ok(codes));
                for _ in 0..20 {
                    let at = below(&mut rng, bytes.len() as u32) as usize;
                    bytes[at] ^= 1 << below(&mut rng, 8);
                    assert_eq!(decode(&bytes, rows, n, &[k]), one_by_one(&bytes));
                    bytes[at] = rng.next_u32() as u8;
                    let cut = &bytes[..bytes.len() - at % 9];
                    if cut.len() * 8 >= rows * n {
                        assert_eq!(decode(cut, rows, n, &[k]), one_by_one(cut));
                    }
                }
            }
        }
    }

    #[test]
    fn division_by_multiplication_is_exact() {
        let mut rng = stream([4; 32], 0);
        for round in 0..200_000 {
            let k = 1 + (rng.next_u32() >> 1 >> (round % 31)) % PARAMETER_MOST;
            let code = Code::new(k).expect("in range");
            let multiple = (rng.next_u32() >> 1) / k * k;
            for digit in [multiple, multiple.saturating_sub(1), PARAMETER_MOST, rng.next_u32() >> 1]
            {
                assert_eq!(code.word(digit).0, digit / k, "{digit} / {k}");
            }
        }
    }

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

    #[test]
    fn faults_are_named() {
        let cut_off = |row, item| Err(Error::NotGolomb { row, item, problem: CUT_OFF });
        let above = |row, item| Err(Error::NotGolomb { row, item, problem: ABOVE });
        let data = |problem| Err(Error::Parameter { name: "data", problem });
        assert_eq!(decode(&[0b1100_0000], 1, 4, &[1]), above(0, 2));
        assert_eq!(decode(&[0b1000_0000], 1, 4, &[1]), above(0, 1));
        assert_eq!(decode(&[0b1111_1100], 1, 8, &[1]), cut_off(0, 6));
        assert_eq!(decode(&[0b1001_0010], 2, 3, &[4]), cut_off(0, 2));
        assert_eq!(decode(&[0b1110_0100], 1, 3, &[1]), data("must end in zero bits"));
        assert_eq!(decode(&[0b1110_0000, 0], 1, 3, &[1]), data("goes on after the last digit"));
        assert_eq!(decode(&[], 0, 3, &[1]), Ok(vec![]));
        assert!(decode(&[], usize::MAX, usize::MAX, &[1]).is_err());
        let digit = Err(Error::NotACode { row: 1, item: 0, digit: -1 });
        assert_eq!(encode(&[0, 1, u32::MAX, 0], 2, &[1]), digit);
        assert!(encode(&[0, 1], 2, &[0]).is_err() && encode(&[0, 1], 2, &[1, 1, 1]).is_err());
        assert_eq!(fit(&[], 2), Err(Error::Empty));
    }

    #[test]
    fn the_fitted_parameter_is_the_best_of_all() {
        let mut rng = stream([6; 32], 0);
        for _ in 0..300 {
            let (rows, n) = (1 + below(&mut rng, 6) as usize, 1 + below(&mut rng, 24) as usize);
            let most = 1 + below(&mut rng, n as u32);
            let codes: Vec<u32> =
                (0..rows * n).map(|i| below(&mut rng, ((i % n) as u32 + 1).min(most))).collect();
            let bits = |digits: &[u32], k| -> usize {
                digits.iter().map(|&digit| spell(digit, k).len()).sum()
            };
            let best = |digits: &[u32]| (1..2 * n as u32 + 9).min_by_key(|&k| bits(digits, k));
            assert_eq!(fit(&codes, n).ok(), best(&codes));
            let columns =
                (0..n).map(|item| codes.iter().copied().skip(item).step_by(n).collect::<Vec<_>>());
            let each: Option<Vec<u32>> = columns.map(|column| best(&column)).collect();
            assert_eq!(fit_items(&codes, n).ok(), each);
        }
    }
}
