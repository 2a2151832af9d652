//! A set of positions that counts its members on either side of one.
//!
//! Three levels: bits; in each block of 64 words a running count a word, updated
//! by whole vectors without a branch; over the blocks a Fenwick tree. Up to 4096
//! positions there is one block and no tree, and at 10⁶ everything still fits the
//! second-level cache, which is why this beats merging until the bits outgrow it.

const WORD: usize = 64;
/// Words a block: a running count then fits 16 bits.
const WORDS: usize = 64;
/// Counts are updated in whole vectors of this many.
const VECTOR: usize = 8;
const LANES: [u16; WORDS] = {
    let mut lanes = [0; WORDS];
    let mut i = 0;
    while i < WORDS {
        lanes[i] = i as u16;
        i += 1;
    }
    lanes
};

/// A subset of `0..n`.
#[derive(Debug, Clone)]
pub(crate) struct RankSet {
    n: usize,
    len: u32,
    bits: Vec<u64>,
    /// Members in the earlier words of the same block.
    running: Vec<u16>,
    /// Fenwick tree over the blocks' sizes, from index 1.
    tree: Vec<u32>,
}

impl RankSet {
    /// No members.
    pub(crate) fn empty(n: usize) -> Self {
        let words = n.div_ceil(WORD).next_multiple_of(VECTOR);
        Self {
            n,
            len: 0,
            bits: vec![0; words],
            running: vec![0; words],
            tree: vec![0; words.div_ceil(WORDS) + 1],
        }
    }

    /// Removes all members.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.bits.fill(0);
        self.running.fill(0);
        self.tree.fill(0);
    }

    /// Makes every position a member.
    pub(crate) fn fill(&mut self) {
        self.clear();
        self.len = self.n as u32;
        for (word, bits) in self.bits.iter_mut().enumerate() {
            let left = self.n.saturating_sub(word * WORD).min(WORD);
            *bits = if left == WORD { u64::MAX } else { (1 << left) - 1 };
        }
        let blocks = self.bits.chunks(WORDS).zip(self.running.chunks_mut(WORDS));
        for (block, (bits, running)) in blocks.enumerate() {
            let mut before = 0;
            for (word, count) in bits.iter().zip(running) {
                *count = before;
                before += word.count_ones() as u16;
            }
            add(&mut self.tree, block, u32::from(before));
        }
    }

    /// Inserts a position that is not a member; returns how many members are greater.
    #[inline]
    pub(crate) fn insert(&mut self, position: u32) -> u32 {
        let (word, bit) = (position as usize / WORD, position % WORD as u32);
        let block = word / WORDS;
        let inside = self.bits[word] & ((1 << bit) - 1);
        let smaller = sum(&self.tree, block) + u32::from(self.running[word]) + inside.count_ones();
        self.bits[word] |= 1 << bit;
        let after = (word % WORDS) as u16;
        let end = self.running.len().min((block + 1) * WORDS);
        let (counts, _) = self.running[block * WORDS..end].as_chunks_mut::<VECTOR>();
        for (counts, lanes) in counts.iter_mut().zip(LANES.as_chunks::<VECTOR>().0) {
            *counts = std::array::from_fn(|k| counts[k] + u16::from(lanes[k] > after));
        }
        add(&mut self.tree, block, 1);
        self.len += 1;
        self.len - 1 - smaller
    }

    /// Removes the member with `smaller` members below it and returns its position.
    ///
    /// `smaller` must be less than the number of members.
    #[inline]
    pub(crate) fn take(&mut self, smaller: u32) -> u32 {
        debug_assert!(smaller < self.len);
        let (block, left) = search(&self.tree, smaller);
        let end = self.running.len().min((block + 1) * WORDS);
        let counts = &mut self.running[block * WORDS..end];
        // Running counts do not fall, so those at most `left` are the words up to the one wanted.
        let local = left as u16;
        let upto: u16 = counts.iter().map(|&count| u16::from(count <= local)).sum();
        let after = upto - 1;
        let word = block * WORDS + usize::from(after);
        let bit = select(self.bits[word], left - u32::from(counts[usize::from(after)]));
        for (count, &lane) in counts.iter_mut().zip(&LANES) {
            *count -= u16::from(lane > after);
        }
        self.bits[word] &= !(1 << bit);
        add(&mut self.tree, block, u32::MAX); // minus one, modulo 2³²
        self.len -= 1;
        (word * WORD) as u32 + bit
    }
}

/// Adds to the size of one block.
#[inline]
fn add(tree: &mut [u32], block: usize, by: u32) {
    // One block: `sum` of it is never asked for.
    let mut i = block + 1;
    while i < tree.len() {
        tree[i] = tree[i].wrapping_add(by);
        i += i & i.wrapping_neg();
    }
}

/// Members in the blocks before `block`.
#[inline]
fn sum(tree: &[u32], block: usize) -> u32 {
    let (mut i, mut total) = (block, 0);
    while i > 0 {
        total += tree[i];
        i &= i - 1;
    }
    total
}

/// The block that holds the member with `smaller` below it, and how many of those it holds.
#[inline]
fn search(tree: &[u32], smaller: u32) -> (usize, u32) {
    let (mut block, mut left) = (0, smaller);
    let mut step = tree.len().next_power_of_two() / 2;
    while step > 0 {
        let next = block + step;
        if next < tree.len() && tree[next] <= left {
            left -= tree[next];
            block = next;
        }
        step /= 2;
    }
    (block, left)
}

/// Position of the set bit of `word` with `smaller` set bits below it.
#[inline]
fn select(word: u64, smaller: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // Byte b of `sums` counts the set bits of bytes 0..=b.
    let pairs = word - ((word >> 1) & (ONES * 0x55));
    let nibbles = (pairs & (ONES * 0x33)) + ((pairs >> 2) & (ONES * 0x33));
    let sums = ((nibbles + (nibbles >> 4)) & (ONES * 0x0f)).wrapping_mul(ONES);
    // A byte keeps its top bit where its sum is at most `smaller`: that bit is not in it.
    let passed = (((u64::from(smaller) * ONES) | TOPS) - sums) & TOPS;
    let shift = passed.count_ones() * 8;
    let byte = (word >> shift) as u8;
    let before = ((sums << 8) >> shift) as u8;
    shift + u32::from(SELECT[usize::from(smaller as u8 - before)][usize::from(byte)])
}

/// `SELECT[k][byte]`: the set bit of `byte` with `k` set bits below it.
const SELECT: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut k) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[k][byte] = bit;
                k += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{shuffle, stream};

    #[test]
    fn counts_like_a_plain_list() {
        for n in [1, 2, 63, 64, 65, 500, 4096, 4097, 9000, 300_000] {
            let mut order: Vec<u32> = (0..n).collect();
            shuffle(&mut order, &mut stream([3; 32], u64::from(n)));
            order.truncate(3000);
            let mut set = RankSet::empty(n as usize);
            for round in 0..2 {
                for (i, &x) in order.iter().enumerate() {
                    let greater = order[..i].iter().filter(|&&y| y > x).count();
                    assert_eq!(set.insert(x) as usize, greater, "n {n} round {round}");
                }
                set.clear();
            }
        }
    }

    #[test]
    fn takes_like_a_plain_list() {
        for n in [1, 2, 63, 64, 65, 500, 4096, 4097, 9000] {
            let mut list: Vec<u32> = (0..n).collect();
            let mut set = RankSet::empty(n as usize);
            set.fill();
            let mut rng = stream([4; 32], u64::from(n));
            while !list.is_empty() {
                let k = crate::stream::below(&mut rng, list.len() as u32);
                assert_eq!(set.take(k), list.remove(k as usize), "n {n}");
            }
        }
    }

    #[test]
    fn selects_every_bit() {
        for word in [1, u64::MAX, 0x8000_0000_0000_0001, 0xdead_beef_0bad_cafe, 1 << 63] {
            let bits = (0..64).filter(|b| word >> b & 1 == 1);
            for (smaller, bit) in bits.enumerate() {
                assert_eq!(select(word, smaller as u32), bit);
            }
        }
    }
}
