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
    let row_fault = |(row, code): (usize, &[u32])| {
        let item = (0..n).find(|&item| code[item] as usize > item);
        item.map_or(Ok(()), |item| {
            Err(Error::NotACode { row, item, digit: i64::from(code[item] as i32) })
        })
    };
    first_error(codes.par_chunks_exact(n).enumerate().with_min_len(ROWS).map(row_fault))?;
    let mut rankings = vec![0; codes.len()];
    let groups = codes.par_chunks(GROUP * n).zip(rankings.par_chunks_mut(GROUP * n));
    groups.for_each_init(
        || Decoder::new(n),
        |decoder, (codes, ranks)| {
            decoder.decode(codes, |row, item, position| ranks[row * n + item] = position);
        },
    );
    Ok(rankings)
}

/// Rankings decoded together: their digits of one item fill a vector.
pub(crate) const GROUP: usize = 8;
type Lanes = [u16; GROUP];

/// Mean digit up to which a group is decoded together.
const GROUP_UPTO: u64 = 16;
/// Mean digit up to which shifting the later places beats searching for the one taken.
const SHIFT_UPTO: u64 = 512;

/// Memory to decode codes of `n` digits, used again and again.
///
/// From the last item to the first, each takes its place among those still free: item `i`
/// leaves `c_i` free places behind its own.
pub(crate) struct Decoder {
    n: usize,
    digits: Vec<Lanes>,
    together: Vec<Lanes>,
    short: Vec<u16>,
    long: Vec<u32>,
    set: Option<Tree>,
}

impl Decoder {
    pub(crate) fn new(n: usize) -> Self {
        let (digits, together) = (Vec::new(), Vec::new());
        Self { n, digits, together, short: Vec::new(), long: Vec::new(), set: None }
    }

    /// Calls `put(row, item, position)` for every item of up to `GROUP` codes, row after row,
    /// whose digits are in range.
    ///
    /// O(n + Σ digits) where the digits are small, O(n log n) otherwise.
    pub(crate) fn decode(&mut self, codes: &[u32], mut put: impl FnMut(usize, usize, u32)) {
        let n = self.n;
        let total = |codes: &[u32]| codes.iter().map(|&digit| u64::from(digit)).sum::<u64>();
        // Places as short numbers where they do, since shifting them is the work.
        let short = n <= 1 << 16;
        if short && total(codes) <= GROUP_UPTO * codes.len() as u64 {
            return self.decode_together(codes, put);
        }
        for (row, code) in codes.chunks_exact(n).enumerate() {
            let put = |item, position| put(row, item, position);
            if total(code) > SHIFT_UPTO * n as u64 {
                let set = self.set.get_or_insert_with(|| Tree::new(n));
                search(set, code, put);
            } else if short {
                self.short.clear();
                self.short.extend((0..n).map(|place| place as u16));
                shift(&mut self.short, code, put);
            } else {
                self.long.clear();
                self.long.extend(0..n as u32);
                shift(&mut self.long, code, put);
            }
        }
    }

    /// All rows at once, item by item, a row a lane.
    fn decode_together(&mut self, codes: &[u32], mut put: impl FnMut(usize, usize, u32)) {
        let n = self.n;
        let rows = codes.len() / n;
        self.digits.clear();
        self.digits.resize(n, [0; GROUP]);
        for (lane, code) in codes.chunks_exact(n).enumerate() {
            for (digits, &digit) in self.digits.iter_mut().zip(code) {
                digits[lane] = digit as u16;
            }
        }
        self.together.clear();
        self.together.extend((0..n).map(|place| [place as u16; GROUP]));
        for (item, digits) in self.digits.iter().enumerate().rev() {
            let taken = take_together(&mut self.together[..=item], digits);
            for (row, &position) in taken[..rows].iter().enumerate() {
                put(row, item, position.into());
            }
        }
    }
}

/// Removes from each lane the place with that lane's digit of places behind it; the last
/// place of every lane is then free for nothing.
#[inline]
fn take_together(free: &mut [Lanes], digits: &Lanes) -> Lanes {
    let most = digits.iter().copied().max().unwrap_or(0);
    let start = free.len() - 1 - usize::from(most);
    let moving = &mut free[start..];
    let mut here = moving[0];
    let mut taken = here;
    for (behind, step) in (1..=most).rev().zip(0..) {
        let next = moving[step + 1];
        // Lanes whose digit is larger have been taken and move up; the others wait.
        moving[step] = std::array::from_fn(|k| if digits[k] >= behind { next[k] } else { here[k] });
        taken = std::array::from_fn(|k| if digits[k] < behind { next[k] } else { taken[k] });
        here = next;
    }
    taken
}

fn shift<T: Copy + Into<u32>>(free: &mut [T], code: &[u32], mut put: impl FnMut(usize, u32)) {
    for (item, &digit) in code.iter().enumerate().rev() {
        let taken = item - digit as usize;
        put(item, free[taken].into());
        free.copy_within(taken + 1..=item, taken);
    }
}

fn search(free: &mut Tree, code: &[u32], mut put: impl FnMut(usize, u32)) {
    free.fill();
    for (item, &digit) in code.iter().enumerate().rev() {
        put(item, free.take(item as u32 - digit));
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
                let mut free: Vec<u32> = (0..n as u32).collect();
                shift(&mut free, &code, |item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, shifted");
                Decoder::new(n).decode_together(&code, |_, item, at| ranks[item] = at);
                assert_eq!(ranks, searched, "n {n}, digits below {most}, together");
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
