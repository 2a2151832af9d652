//! Lehmer codes (M2).

use rayon::prelude::*;

use crate::error::{Error, Result, zeros};
use crate::interrupt::Interrupt;
use crate::inversions::{RankSet, Tree};
use crate::rankings::{Rankings, first_error, rows_a_task};

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
    let rankings = Rankings::new(ranks, ranks.len())?;
    let mut code = vec![0; ranks.len()];
    encode_row(&mut RankSet::new(rankings.n()), ranks, &mut code);
    Ok(code)
}

fn encode_row(seen: &mut RankSet, ranks: &[u32], code: &mut [u32]) {
    let mut digits = code.iter_mut();
    seen.count_greater(ranks.iter().copied(), |greater| {
        if let Some(digit) = digits.next() {
            *digit = greater;
        }
    });
}

/// Lehmer codes of every row, in parallel.
///
/// # Errors
/// [`Error::Memory`] if they do not fit, [`Error::Interrupted`] if `interrupt` says so.
pub fn encode_rows(rankings: Rankings<'_>, interrupt: Interrupt<'_>) -> Result<Vec<u32>> {
    let n = rankings.n();
    let mut codes = zeros(rankings.len(), n)?;
    interrupt.expect(rankings.ranks().len() as u64);
    let rows = rankings.par_rows().zip(codes.par_chunks_exact_mut(n)).with_min_len(rows_a_task(n));
    rows.try_for_each_init(
        || (RankSet::new(n), interrupt.tally()),
        |(seen, tally), (row, code)| {
            tally.add(n as u64)?;
            encode_row(seen, row, code);
            Ok(())
        },
    )?;
    Ok(codes)
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
    decode_rows(code, code.len(), Interrupt::begin())
}

/// Rankings with the given Lehmer codes, `n` digits each, in parallel.
///
/// # Errors
/// [`Error::NotACode`] for the first row with a digit out of range,
/// [`Error::Ragged`] unless the rows are whole and `n > 0`,
/// [`Error::Interrupted`] if `interrupt` says so.
pub fn decode_rows(codes: &[u32], n: usize, interrupt: Interrupt<'_>) -> Result<Vec<u32>> {
    if n == 0 || !codes.len().is_multiple_of(n) {
        return Err(Error::Ragged { len: codes.len(), n });
    }
    let row_fault = |(row, code): (usize, &[u32])| {
        let item = (0..n).find(|&item| code[item] as usize > item);
        item.map_or(Ok(()), |item| {
            Err(Error::NotACode { row, item, digit: i64::from(code[item] as i32) })
        })
    };
    first_error(codes.par_chunks_exact(n).enumerate().with_min_len(rows_a_task(n)).map(row_fault))?;
    let mut rankings = vec![0; codes.len()];
    interrupt.expect(codes.len() as u64);
    let total: u64 = codes.par_iter().map(|&digit| u64::from(digit)).sum();
    if Group::suits(n, total as f64 / codes.len().max(1) as f64) {
        let groups = codes.par_chunks(GROUP * n).zip(rankings.par_chunks_mut(GROUP * n));
        groups.try_for_each_init(
            || (Group::new(n), interrupt.tally()),
            |(group, tally), (codes, rankings)| {
                tally.add(codes.len() as u64)?;
                for (lane, code) in codes.chunks_exact(n).enumerate() {
                    group.set(lane, 0, code);
                }
                group.decode();
                for (lane, ranks) in rankings.chunks_exact_mut(n).enumerate() {
                    group.positions(lane).zip(ranks).for_each(|(position, rank)| *rank = position);
                }
                Ok(())
            },
        )?;
    } else {
        let rows = codes.par_chunks_exact(n).zip(rankings.par_chunks_exact_mut(n));
        rows.with_min_len(rows_a_task(n)).try_for_each_init(
            || (Decoder::new(n), interrupt.tally()),
            |(decoder, tally), (code, ranks)| {
                tally.add(n as u64)?;
                decoder.decode(code, |item, position| ranks[item] = position);
                Ok(())
            },
        )?;
    }
    Ok(rankings)
}

/// Rankings decoded together: their digits of one item fill vectors.
pub(crate) const GROUP: usize = 16;
type Lanes = [u16; GROUP];

/// Codes of small digits, decoded together item by item, a code a lane.
///
/// As in [`Decoder`], but the free places of all codes move in step, as far as the largest
/// of the digits wants.
pub(crate) struct Group {
    digits: Vec<Lanes>,
    /// Free places in order; behind them, the places that were taken.
    places: Vec<Lanes>,
}

impl Group {
    /// Whether codes of `n` digits with this mean are better decoded together.
    pub(crate) fn suits(n: usize, mean_digit: f64) -> bool {
        // Of longer codes there may be too few for all threads to have a group.
        n <= 1 << 13 && mean_digit <= 32.0
    }

    pub(crate) fn new(n: usize) -> Self {
        Self { digits: vec![[0; GROUP]; n], places: vec![[0; GROUP]; n] }
    }

    /// Sets the digits of a code from that of `first` on. Codes that are not set are decoded
    /// with whatever digits were there before.
    pub(crate) fn set(&mut self, lane: usize, first: usize, digits: &[u32]) {
        for (lanes, &digit) in self.digits[first..].iter_mut().zip(digits) {
            lanes[lane % GROUP] = digit as u16;
        }
    }

    pub(crate) fn decode(&mut self) {
        for (place, lanes) in (0..=u16::MAX).zip(&mut self.places) {
            *lanes = [place; GROUP];
        }
        for (item, digits) in self.digits.iter().enumerate().rev() {
            self.places[item] = take_together(&mut self.places[..=item], digits);
        }
    }

    /// Position of each item, decoded from one code.
    pub(crate) fn positions(&self, lane: usize) -> impl Iterator<Item = u32> {
        self.places.iter().map(move |lanes| lanes[lane % GROUP].into())
    }
}

/// Removes from each lane the place with that lane's digit of places behind it.
#[inline]
fn take_together(free: &mut [Lanes], digits: &Lanes) -> Lanes {
    let most = digits.iter().fold(0, |most, &digit| digit.max(most));
    let start = free.len() - 1 - usize::from(most);
    let moving = &mut free[start..];
    let mut here = moving[0];
    let mut taken = here;
    for step in 0..usize::from(most) {
        let behind = most - step as u16;
        let next = moving[step + 1];
        // A lane moves up once its place is taken; until then it waits.
        let moves = digits.map(|digit| if digit >= behind { u16::MAX } else { 0 });
        moving[step] = std::array::from_fn(|k| next[k] & moves[k] | here[k] & !moves[k]);
        taken = std::array::from_fn(|k| taken[k] & moves[k] | next[k] & !moves[k]);
        here = next;
    }
    taken
}

/// Memory to decode codes of `n` digits one by one, used again and again.
///
/// From the last item to the first, each takes its place among those still free: item `i`
/// leaves `c_i` free places behind its own.
pub(crate) struct Decoder {
    n: usize,
    short: Vec<u16>,
    long: Vec<u32>,
    set: Option<Tree>,
}

/// Mean digit up to which shifting the later places beats searching for the one taken.
const SHIFT_UPTO: u64 = 512;

impl Decoder {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, short: Vec::new(), long: Vec::new(), set: None }
    }

    /// Calls `put(item, position)` for every item of a code whose digits are in range.
    ///
    /// O(n + Σ digits) where the digits are small, O(n log n) otherwise.
    pub(crate) fn decode(&mut self, code: &[u32], put: impl FnMut(usize, u32)) {
        let n = self.n;
        if code.iter().map(|&digit| u64::from(digit)).sum::<u64>() > SHIFT_UPTO * n as u64 {
            search(self.set.get_or_insert_with(|| Tree::new(n)), code, put);
        } else if n <= 1 << 16 {
            // Places as short numbers where they do, since shifting them is the work.
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
    use crate::rng::{below, stream};

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
                let mut group = Group::new(n);
                group.set(3, 0, &code);
                group.decode();
                assert!(group.positions(3).eq(ranks), "n {n}, digits below {most}, together");
                assert_eq!(decode(&code), Ok(searched));
            }
        }
    }

    #[test]
    fn digits_out_of_range_are_refused() {
        assert_eq!(decode(&[0, 2]), Err(Error::NotACode { row: 0, item: 1, digit: 2 }));
        let fault = Error::NotACode { row: 1, item: 0, digit: -1 };
        assert_eq!(decode_rows(&[0, 0, u32::MAX, 0], 2, Interrupt::begin()), Err(fault));
        assert_eq!(encode(&[0, 0]), Err(Error::NotARanking { row: 0, n: 2, rank: 0 }));
    }
}
