//! Sets of positions that count their members on either side of one.
//!
//! Up to 64 positions the set is a machine word. Up to 4096 it is a [`Block`]: bits, and for
//! each word a running count, updated as whole vectors without a branch. Above, a [`Tree`]:
//! blocks, and a Fenwick tree over their sizes. At 10⁶ positions all that is touched
//! still fits the second-level cache, which is why this beats merging until the bits outgrow it.

const WORD: usize = 64;
/// Words of the largest block: a running count then fits 16 bits.
const WORDS: usize = 64;
const BLOCK: usize = WORD * WORDS;
/// Numbers fetched before the first of them is counted.
const AHEAD: usize = 256;

/// Memory to go through permutations of `0..n`, again and again.
pub(crate) enum RankSet {
    Word,
    Tiny(Box<Block<2>>),
    Small(Box<Block<8>>),
    Middle(Box<Block<16>>),
    Large(Box<Block>),
    Tree(Tree),
}

impl RankSet {
    pub(crate) fn new(n: usize) -> Self {
        match n.div_ceil(WORD) {
            0..=1 => Self::Word,
            2 => Self::Tiny(Box::default()),
            3..=8 => Self::Small(Box::default()),
            9..=16 => Self::Middle(Box::default()),
            17..=WORDS => Self::Large(Box::default()),
            _ => Self::Tree(Tree::new(n)),
        }
    }

    /// For each of several different numbers below n, calls `each` with how many of those
    /// before it are greater.
    #[inline]
    pub(crate) fn count_greater(
        &mut self,
        numbers: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32),
    ) {
        match self {
            Self::Word => {
                let mut seen = 0_u64;
                for number in numbers {
                    // Shifted in two steps, since 64 at once is too far.
                    each((seen >> number >> 1).count_ones());
                    seen |= 1 << number;
                }
            }
            Self::Tiny(seen) => seen.count_greater(numbers, each),
            Self::Small(seen) => seen.count_greater(numbers, each),
            Self::Middle(seen) => seen.count_greater(numbers, each),
            Self::Large(seen) => seen.count_greater(numbers, each),
            Self::Tree(seen) => {
                seen.clear();
                let mut before = 0;
                let mut numbers = numbers.fuse();
                loop {
                    // Fetched ahead: where they come from out of order, the misses overlap.
                    let mut ahead = [0; AHEAD];
                    let fetched = ahead.iter_mut().zip(&mut numbers);
                    let count = fetched.map(|(slot, number)| *slot = number).count();
                    for &number in &ahead[..count] {
                        each(before - seen.insert(number));
                        before += 1;
                    }
                    if count < AHEAD {
                        return;
                    }
                }
            }
        }
    }
}

/// A subset of `0..64 W`.
#[derive(Debug, Clone)]
pub(crate) struct Block<const W: usize = WORDS> {
    bits: [u64; W],
    /// Members in the words before.
    running: [u16; W],
}

impl<const W: usize> Default for Block<W> {
    fn default() -> Self {
        Self { bits: [0; W], running: [0; W] }
    }
}

impl<const W: usize> Block<W> {
    #[inline(always)]
    fn count_greater(&mut self, numbers: impl Iterator<Item = u32>, mut each: impl FnMut(u32)) {
        *self = Self::default();
        for (before, number) in (0..).zip(numbers) {
            each(before - self.insert(number));
        }
    }

    /// Inserts a number that is not a member; returns how many members are smaller.
    #[inline(always)]
    fn insert(&mut self, number: u32) -> u32 {
        let (word, bit) = (number as usize / WORD % W, number % WORD as u32);
        let bits = self.bits[word];
        let smaller = u32::from(self.running[word]) + (bits & ((1 << bit) - 1)).count_ones();
        self.bits[word] = bits | 1 << bit;
        for (count, lane) in self.running.iter_mut().zip(0_u16..) {
            *count += u16::from(lane > word as u16);
        }
        smaller
    }

    /// Removes the member with `smaller` members below it and returns it.
    #[inline(always)]
    fn take(&mut self, smaller: u32) -> u32 {
        // Running counts do not fall, so those up to `smaller` are of the words up to the one wanted.
        let upto: u16 = self.running.iter().map(|&c| u16::from(u32::from(c) <= smaller)).sum();
        let word = usize::from(upto - 1) % W;
        let bit = select(self.bits[word], smaller - u32::from(self.running[word]));
        self.bits[word] &= !(1 << bit);
        for (count, lane) in self.running.iter_mut().zip(0_u16..) {
            *count -= u16::from(lane > word as u16);
        }
        (word * WORD) as u32 + bit
    }

    /// The first `len` numbers.
    fn full(len: usize) -> Self {
        let mut block = Self::default();
        for (word, (bits, count)) in block.bits.iter_mut().zip(&mut block.running).enumerate() {
            let left = len.saturating_sub(word * WORD);
            *count = (len - left) as u16;
            *bits = if left >= WORD { u64::MAX } else { (1 << left) - 1 };
        }
        block
    }
}

/// A subset of `0..n`.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    n: usize,
    blocks: Vec<Block>,
    /// Fenwick tree over the blocks' sizes, from index 1.
    sizes: Vec<u32>,
}

impl Tree {
    pub(crate) fn new(n: usize) -> Self {
        let blocks = n.div_ceil(BLOCK);
        Self { n, blocks: vec![Block::default(); blocks], sizes: vec![0; blocks + 1] }
    }

    fn clear(&mut self) {
        self.blocks.fill(Block::default());
        self.sizes.fill(0);
    }

    /// Makes every number a member.
    pub(crate) fn fill(&mut self) {
        self.sizes.fill(0);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let len = (self.n - index * BLOCK).min(BLOCK);
            *block = Block::full(len);
            add(&mut self.sizes, index, len as u32);
        }
    }

    /// Inserts a number that is not a member; returns how many members are smaller.
    #[inline]
    fn insert(&mut self, number: u32) -> u32 {
        let block = number as usize / BLOCK;
        add(&mut self.sizes, block, 1);
        sum(&self.sizes, block) + self.blocks[block].insert(number % BLOCK as u32)
    }

    /// Removes the member with `smaller` members below it and returns it.
    ///
    /// `smaller` must be less than the number of members.
    #[inline]
    pub(crate) fn take(&mut self, smaller: u32) -> u32 {
        let (block, left) = search(&self.sizes, smaller);
        add(&mut self.sizes, block, u32::MAX); // minus one, modulo 2³²
        (block * BLOCK) as u32 + self.blocks[block].take(left)
    }
}

/// Adds to the size of one block.
#[inline]
fn add(tree: &mut [u32], block: usize, by: u32) {
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
    use crate::rng::{below, shuffle, stream};

    #[test]
    fn counts_like_a_plain_list() {
        for n in [1, 2, 63, 64, 65, 500, 4096, 4097, 9000, 300_000] {
            let mut order: Vec<u32> = (0..n).collect();
            shuffle(&mut order, &mut stream([3; 32], u64::from(n)));
            order.truncate(3000);
            let greater = |i: usize| order[..i].iter().filter(|&&y| y > order[i]).count() as u32;
            let expected: Vec<u32> = (0..order.len()).map(greater).collect();
            let mut set = RankSet::new(n as usize);
            for round in 0..2 {
                let mut counts = Vec::new();
                set.count_greater(order.iter().copied(), |count| counts.push(count));
                assert_eq!(counts, expected, "n {n} round {round}");
            }
        }
    }

    #[test]
    fn takes_like_a_plain_list() {
        for n in [1, 2, 63, 64, 65, 500, 4096, 4097, 9000] {
            let mut list: Vec<u32> = (0..n).collect();
            let mut set = Tree::new(n as usize);
            set.fill();
            let mut rng = stream([4; 32], u64::from(n));
            while !list.is_empty() {
                let k = below(&mut rng, list.len() as u32);
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
