//! Lehmer codes (M2).

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::ranking::{ROWS, Rankings, first_error};
use crate::rankset::{RankSet, Tree};

/// Lehmer code of one ranking, in O(n log n).
///
/// Digit `i` counts the earlier items that rank after item `i` (M2):
///
/// ```text
/// c_i = #{ t < i : r_t > r_i },   0 <= c_i <= i
/// ```
///
/// so `Σ c_i` is the Kendall distance from `r` to the identity.
///
/// # Errors
/// [`Error::NotARanking`] unless `ranks` is a permutation of `0..n`.
///
/// ```
/// assert_eq!(fedrank_core::lehmer::encode(&[2, 0, 1])?, [0, 1, 1]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn encode(ranks: &[u32]) -> Result<Vec<u32>> {
    Ok(encode_rows(Rankings::new(ranks, ranks.len())?))
}

/// Lehmer codes of every row, in parallel.
#[must_use]
pub fn encode_rows(rankings: Rankings<'_>) -> Vec<u32> {
    let n = rankings.n();
    let mut codes = vec![0; rankings.ranks().len()];
    let rows = rankings.par_rows().zip(codes.par_chunks_exact_mut(n)).with_min_len(ROWS);
    rows.for_each_init(
        || RankSet::new(n),
        |seen, (row, code)| {
            let mut digits = code.iter_mut();
            seen.count_greater(row.iter().copied(), |greater| {
                if let Some(digit) = digits.next() {
                    *digit = greater;
                }
            });
        },
    );
    codes
}

/// Ranking with the given Lehmer code, in O(n log n).
///
/// # Errors
/// [`Error::NotACode`] unless digit `i` is in `0..=i`.
///
/// ```
/// assert_eq!(fedrank_core::lehmer::decode(&[0, 1, 1])?, [2, 0, 1]);
/// # Ok::<(), fedrank_core::Error>(())
/// ```
pub fn decode(code: &[u32]) -> Result<Vec<u32>> {
    decode_rows(code, code.len())
}

/// Rankings with the given Lehmer codes, `n` digits each, in parallel.
///
/// # Errors
/// [`Error::NotACode`] for the first row with a digit out of range,
/// [`Error::Ragged`] unless the rows are whole and `n > 0`.
pub fn decode_rows(codes: &[u32], n: usize) -> Result<Vec<u32>> {
    if n == 0 || !codes.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: codes.len(), n });
    }
    let mut rankings = vec![0; codes.len()];
    let rows = codes.par_chunks_exact(n).zip(rankings.par_chunks_exact_mut(n));
    let rows = rows.enumerate().with_min_len(ROWS);
    first_error(rows.map_init(
        || Decoder::new(n),
        |decoder, (row, (code, ranks))| {
            if let Some(item) = (0..n).find(|&item| code[item] as usize > item) {
                return Err(Error::NotACode { row, item, digit: i64::from(code[item] as i32) });
            }
            decoder.decode(code, |item, position| ranks[item] = position);
            Ok(())
        },
    ))?;
    Ok(rankings)
}

/// Memory to decode codes of `n` digits, used again and again.
///
/// From the last item to the first, each takes its place among those still free: item `i`
/// leaves `c_i` free places behind its own.
pub(crate) struct Decoder {
    free: Free,
    set: Option<Tree>,
}

/// The free places in order: short numbers where they do, since shifting them is the work.
enum Free {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

/// Mean digit up to which shifting the later places beats searching for the one taken.
const SHIFT_UPTO: u64 = 512;

impl Decoder {
    pub(crate) fn new(n: usize) -> Self {
        let free = if n <= 1 << 16 { Free::Short(vec![0; n]) } else { Free::Long(vec![0; n]) };
        Self { free, set: None }
    }

    /// Calls `put(item, position)` for every item of a code whose digits are in range.
    ///
    /// O(n + Σ digits) where the digits are small, O(n log n) otherwise.
    pub(crate) fn decode(&mut self, code: &[u32], put: impl FnMut(usize, u32)) {
        let n = code.len() as u64;
        let inversions: u64 = code.iter().map(|&digit| u64::from(digit)).sum();
        if inversions > SHIFT_UPTO * n {
            let set = self.set.get_or_insert_with(|| Tree::new(code.len()));
            return search(set, code, put);
        }
        match &mut self.free {
            Free::Long(free) => shift(free, code, |place| place, put),
            Free::Short(free) if inversions > 12 * n => shift(free, code, |p| p as u16, put),
            Free::Short(free) if inversions > 2 * n => shift_window::<4>(free, code, put),
            Free::Short(free) => shift_window::<2>(free, code, put),
        }
    }
}

fn search(free: &mut Tree, code: &[u32], mut put: impl FnMut(usize, u32)) {
    free.fill();
    for (item, &digit) in code.iter().enumerate().rev() {
        put(item, free.take(item as u32 - digit));
    }
}

fn shift<T: Copy + Into<u32>>(
    free: &mut [T],
    code: &[u32],
    narrow: impl Fn(u32) -> T,
    mut put: impl FnMut(usize, u32),
) {
    for (place, slot) in (0..).zip(&mut *free) {
        *slot = narrow(place);
    }
    for (item, &digit) in code.iter().enumerate().rev() {
        let taken = item - digit as usize;
        put(item, free[taken].into());
        free.copy_within(taken + 1..=item, taken);
    }
}

/// [`shift`], with the last `4 WORDS` free places in as many registers of four.
///
/// A digit below that moves them without a branch or a load, and nearly all are when the
/// digits are small; for another one the registers are written back.
fn shift_window<const WORDS: usize>(
    free: &mut [u16],
    code: &[u32],
    mut put: impl FnMut(usize, u32),
) {
    let width = 4 * WORDS;
    for (place, slot) in (0..).zip(&mut *free) {
        *slot = place;
    }
    let mut items = code.len();
    while items > width {
        let mut window = load::<WORDS>(&free[items - width..items]);
        while items > width {
            let digit = code[items - 1] as usize;
            if digit >= width {
                break;
            }
            let (word, lane) = (WORDS - 1 - digit / 4, 3 - digit % 4);
            put(items - 1, (window[word] >> (16 * lane)) as u32 & 0xffff);
            // The places up to the one taken move up by one; the first comes from memory.
            let upto = &UPTO[MOST - WORDS + word][lane];
            for k in (0..WORDS).rev() {
                let before =
                    if k == 0 { free[items - width - 1].into() } else { window[k - 1] >> 48 };
                let moved = window[k] << 16 | before;
                let mask = upto[MOST - WORDS + k];
                window[k] = moved & mask | window[k] & !mask;
            }
            items -= 1;
        }
        store(window, &mut free[items - width..items]);
        if items > width {
            let item = items - 1;
            let taken = item - code[item] as usize;
            put(item, free[taken].into());
            free.copy_within(taken + 1..items, taken);
            items = item;
        }
    }
    for (item, &digit) in code[..items].iter().enumerate().rev() {
        let taken = item - digit as usize;
        put(item, free[taken].into());
        free.copy_within(taken + 1..=item, taken);
    }
}

/// The widest window, in words.
const MOST: usize = 4;

/// `UPTO[word][lane]`: masks of all lanes up to that one, of a window of `MOST` words.
const UPTO: [[[u64; MOST]; 4]; MOST] = {
    let mut masks = [[[0; MOST]; 4]; MOST];
    let (mut word, mut lane, mut k) = (0, 0, 0);
    while word < MOST {
        masks[word][lane][k] = if k < word || (k == word && lane == 3) {
            u64::MAX
        } else if k == word {
            (1 << (16 * (lane + 1))) - 1
        } else {
            0
        };
        k += 1;
        if k == MOST {
            (k, lane) = (0, lane + 1);
        }
        if lane == 4 {
            (lane, word) = (0, word + 1);
        }
    }
    masks
};

fn load<const WORDS: usize>(places: &[u16]) -> [u64; WORDS] {
    let lanes =
        |word: usize| (0..4).map(move |lane| u64::from(places[4 * word + lane]) << (16 * lane));
    std::array::from_fn(|word| lanes(word).sum())
}

fn store<const WORDS: usize>(window: [u64; WORDS], places: &mut [u16]) {
    for (k, place) in places.iter_mut().enumerate() {
        *place = (window[k / 4] >> (16 * (k % 4))) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{below, stream};

    #[test]
    fn every_way_of_decoding_invert_encoding() {
        for n in [1_usize, 2, 8, 9, 10, 64, 65, 1000, 4097] {
            for most in [1, 3, 9, 16, 40, n as u32] {
                let mut rng = stream([9; 32], n as u64);
                let code: Vec<u32> =
                    (0..n as u32).map(|i| below(&mut rng, (i + 1).min(most))).collect();
                let mut searched = vec![0; n];
                search(&mut Tree::new(n), &code, |item, at| searched[item] = at);
                assert_eq!(encode(&searched).as_ref(), Ok(&code), "n {n}, digits below {most}");
                let mut ranks = vec![0; n];
                shift(&mut vec![0_u16; n], &code, |p| p as u16, |item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, short");
                shift(&mut vec![0_u32; n], &code, |p| p, |item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, long");
                shift_window::<2>(&mut vec![0; n], &code, |item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, window of 8");
                shift_window::<4>(&mut vec![0; n], &code, |item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, window of 16");
                assert_eq!(decode(&code), Ok(searched));
            }
        }
    }

    #[test]
    fn digits_out_of_range_are_refused() {
        assert_eq!(decode(&[0, 2]), Err(Error::NotACode { row: 0, item: 1, digit: 2 }));
        let fault = Error::NotACode { row: 1, item: 0, digit: -1 };
        assert_eq!(decode_rows(&[0, 0, u32::MAX, 0], 2), Err(fault));
        assert_eq!(encode(&[0, 0]), Err(Error::NotARanking { row: 0, n: 2, rank: 0 }));
    }
}
