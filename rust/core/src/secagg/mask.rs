//! Masks: keystream added to integer messages, lane by lane (M9, M10).

use chacha20::ChaCha20;
use chacha20::cipher::StreamCipher;
use rayon::prelude::*;
use zeroize::Zeroize;

use super::error::{Result, check};
use super::keys::keystream;
use crate::interrupt::Interrupt;
use crate::message::{Layout, mask};

/// Keystream bytes made at a time: fits the first cache, and is whole blocks and whole lanes.
const BUFFER: usize = 4096;

/// Entries of one segment, each in the smallest machine word that holds its width.
enum Lane {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

/// A message being masked: a sum of entries and keystreams modulo each segment's power of two.
///
/// A lane wraps at a multiple of the modulus, so only the end result is truncated.
pub struct Sum {
    lanes: Vec<(Lane, u32)>,
    stream: Box<[u8; BUFFER]>,
}

macro_rules! each {
    ($lane:expr, $words:ident => $body:expr) => {
        match $lane {
            Lane::U8($words) => $body,
            Lane::U16($words) => $body,
            Lane::U32($words) => $body,
            Lane::U64($words) => $body,
        }
    };
}

impl Sum {
    /// Zero, in the shape of `layout`.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let lane = |len, bits| match bits {
            0..=8 => Lane::U8(vec![0; len]),
            9..=16 => Lane::U16(vec![0; len]),
            17..=32 => Lane::U32(vec![0; len]),
            _ => Lane::U64(vec![0; len]),
        };
        let lanes = layout.segments().iter().map(|s| (lane(s.len, s.bits), s.bits)).collect();
        Self { lanes, stream: Box::new([0; BUFFER]) }
    }

    /// Add a message of the same layout; entries beyond it are left out.
    pub fn add_entries(&mut self, message: &[u64]) {
        let mut message = message.iter();
        for (lane, _) in &mut self.lanes {
            each!(lane, words => for (word, &entry) in words.iter_mut().zip(message.by_ref()) {
                *word = word.wrapping_add(entry as _);
            });
        }
    }

    /// Add the mask of `key`: its ChaCha20 keystream, one little-endian lane an entry.
    pub fn add_stream(&mut self, key: &[u8; 32]) {
        self.stream::<true>(key);
    }

    /// Subtract the mask of `key`.
    pub fn subtract_stream(&mut self, key: &[u8; 32]) {
        self.stream::<false>(key);
    }

    fn stream<const ADD: bool>(&mut self, key: &[u8; 32]) {
        let mut cipher = keystream(key);
        for (lane, _) in &mut self.lanes {
            each!(lane, words => expand::<_, ADD>(words, &mut cipher, &mut self.stream));
        }
    }

    /// Add another sum of the same layout.
    fn merge(mut self, other: &Self) -> Self {
        for pair in self.lanes.iter_mut().zip(&other.lanes) {
            match pair {
                ((Lane::U8(a), _), (Lane::U8(b), _)) => add_words(a, b),
                ((Lane::U16(a), _), (Lane::U16(b), _)) => add_words(a, b),
                ((Lane::U32(a), _), (Lane::U32(b), _)) => add_words(a, b),
                ((Lane::U64(a), _), (Lane::U64(b), _)) => add_words(a, b),
                _ => debug_assert!(false, "sums of two layouts"),
            }
        }
        self
    }

    /// The entries, each modulo its power of two.
    #[must_use]
    #[allow(clippy::unnecessary_cast, reason = "one body for four widths")]
    pub fn entries(&self) -> Vec<u64> {
        let mut entries =
            Vec::with_capacity(self.lanes.iter().map(|(l, _)| each!(l, w => w.len())).sum());
        for (lane, bits) in &self.lanes {
            each!(lane, words => entries.extend(words.iter().map(|&w| w as u64 & mask(*bits))));
        }
        entries
    }

    /// Sum over `jobs`, in parallel when they are many. Wrapping sums do not depend on the order.
    ///
    /// # Errors
    /// [`Error::Interrupted`](super::Error::Interrupted) if `interrupt` says so.
    pub(super) fn over<J: Sync>(
        layout: &Layout,
        jobs: &[J],
        interrupt: Interrupt<'_>,
        apply: impl Fn(&mut Self, &J) + Sync,
    ) -> Result<Self> {
        let fold = |mut sum: Self, job: &J| {
            check(interrupt)?;
            apply(&mut sum, job);
            Ok(sum)
        };
        jobs.par_iter()
            .with_min_len(16)
            .try_fold(|| Self::new(layout), fold)
            .try_reduce(|| Self::new(layout), |a, b| Ok(a.merge(&b)))
    }
}

impl Drop for Sum {
    /// Sums of masks would unmask what was sent.
    fn drop(&mut self) {
        for (lane, _) in &mut self.lanes {
            each!(lane, words => words.zeroize());
        }
        self.stream.zeroize();
    }
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sum").finish_non_exhaustive()
    }
}

/// A machine word that takes keystream.
trait Word: Copy {
    const BYTES: usize;
    fn add(self, other: Self) -> Self;
    fn mix<const ADD: bool>(words: &mut [Self], stream: &[u8]);
}

macro_rules! word {
    ($($word:ty)*) => {$(
        impl Word for $word {
            const BYTES: usize = size_of::<Self>();

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn mix<const ADD: bool>(words: &mut [Self], stream: &[u8]) {
                for (word, bytes) in words.iter_mut().zip(stream.as_chunks().0) {
                    let mask = Self::from_le_bytes(*bytes);
                    *word = if ADD { word.wrapping_add(mask) } else { word.wrapping_sub(mask) };
                }
            }
        }
    )*};
}
word!(u8 u16 u32 u64);

fn expand<W: Word, const ADD: bool>(
    words: &mut [W],
    cipher: &mut ChaCha20,
    buffer: &mut [u8; BUFFER],
) {
    for words in words.chunks_mut(BUFFER / W::BYTES) {
        let stream = &mut buffer[..words.len() * W::BYTES];
        // A layout has at most 2^34 bits, so its lanes 2^34 bytes: under the keystream's 2^38.
        cipher.write_keystream(stream);
        W::mix::<ADD>(words, stream);
    }
}

fn add_words<W: Word>(sum: &mut [W], terms: &[W]) {
    for (s, &t) in sum.iter_mut().zip(terms) {
        *s = s.add(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Segment;

    fn layout(shape: &[(usize, u32)]) -> Layout {
        let segment = |&(len, bits)| Segment { name: "s".into(), len, bits };
        Layout::new(shape.iter().map(segment).collect()).expect("widths are 1 to 64")
    }

    /// RFC 8439, A.1, test vector 1: key, nonce and counter zero.
    const RFC_8439: &str = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
                            da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586";

    fn block() -> Vec<u8> {
        (0..64).map(|i| u8::from_str_radix(&RFC_8439[2 * i..2 * i + 2], 16).expect("hex")).collect()
    }

    #[test]
    fn a_mask_is_the_keystream_of_rfc_8439() {
        let mut sum = Sum::new(&layout(&[(64, 8)]));
        sum.add_stream(&[0; 32]);
        assert_eq!(sum.entries(), block().into_iter().map(u64::from).collect::<Vec<_>>());
    }

    #[test]
    fn lanes_are_the_smallest_words_truncated() {
        // Widths 3, 8 | 9, 16 | 17 | 33, 64: bytes 0, 1 | 2-3, 4-5 | 6-9 | 10-17, 18-25.
        let mut sum =
            Sum::new(&layout(&[(1, 3), (1, 8), (1, 9), (1, 16), (1, 17), (1, 33), (1, 64)]));
        sum.add_stream(&[0; 32]);
        let b = block();
        let lane =
            |at: usize, n: usize| (0..n).map(|i| u64::from(b[at + i]) << (8 * i)).sum::<u64>();
        let want = [
            lane(0, 1) % 8,
            lane(1, 1),
            lane(2, 2) % 512,
            lane(4, 2),
            lane(6, 4) % (1 << 17),
            lane(10, 8) % (1 << 33),
            lane(18, 8),
        ];
        assert_eq!(sum.entries(), want);
    }

    #[test]
    fn adding_and_subtracting_a_mask_cancels() {
        let layout = layout(&[(5000, 5), (3000, 14), (1100, 31), (700, 64)]);
        let message: Vec<u64> = layout
            .segments()
            .iter()
            .flat_map(|s| {
                (0..s.len as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask(s.bits))
            })
            .collect();
        let keys: Vec<[u8; 32]> = (0..40).map(|i| [i; 32]).collect();
        let add = |sum: &mut Sum, key: &_| sum.add_stream(key);
        let mut sum = Sum::over(&layout, &keys, Interrupt::begin(), add).expect("no interrupt");
        sum.add_entries(&message);
        assert_ne!(sum.entries(), message);
        for key in &keys {
            sum.subtract_stream(key);
        }
        assert_eq!(sum.entries(), message);
    }
}
