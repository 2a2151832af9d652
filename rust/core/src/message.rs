//! The shape of an integer message: segments, their widths, and bit packing (M9).

/// Most bits a message may have: far above any use, so that no length overflows 32 bits.
const MAX_BITS: u64 = 1 << 34;

/// A run of entries of one width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// What the entries are, for people and for JSON.
    pub name: String,
    /// Number of entries.
    pub len: usize,
    /// Bits of each entry, 1 to 64; sums are taken modulo `2^bits`.
    pub bits: u32,
}

/// The segments of a message, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    segments: Vec<Segment>,
}

/// A layout, a message or packed bytes that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A width outside 1 to 64.
    #[error("segment {segment:?} has entries of {bits} bits; a width must be 1 to 64")]
    Width {
        /// The segment's name.
        segment: String,
        /// The width asked for.
        bits: u32,
    },
    /// More than 2^34 bits in all.
    #[error("the message would have more than 2^34 bits")]
    TooLong,
    /// A message with the wrong number of entries.
    #[error("the message has {got} entries; its layout has {want}")]
    Entries {
        /// Entries given.
        got: usize,
        /// Entries of the layout.
        want: usize,
    },
    /// An entry that needs more bits than its segment has. The message does not show the
    /// value: it may be private.
    #[error("entry {entry} does not fit in {bits} bits")]
    Range {
        /// Index in the message.
        entry: usize,
        /// Bits it may have.
        bits: u32,
    },
    /// Packed bytes of the wrong length.
    #[error("the message has {got} packed bytes; its layout has {want}")]
    Length {
        /// Bytes given.
        got: usize,
        /// Bytes of the layout.
        want: usize,
    },
    /// A bit set after the last entry.
    #[error("the padding after the last entry must be zero bits")]
    Padding,
}

impl Layout {
    /// A layout of `segments`, which may be empty.
    ///
    /// # Errors
    /// [`Error::Width`] unless every width is 1 to 64; [`Error::TooLong`] above 2^34 bits.
    pub fn new(segments: Vec<Segment>) -> Result<Self, Error> {
        let mut total = 0_u64;
        for segment in &segments {
            if !(1..=64).contains(&segment.bits) {
                return Err(Error::Width { segment: segment.name.clone(), bits: segment.bits });
            }
            total = u64::try_from(segment.len)
                .ok()
                .and_then(|len| len.checked_mul(segment.bits.into()))
                .and_then(|bits| total.checked_add(bits))
                .filter(|&bits| bits <= MAX_BITS)
                .ok_or(Error::TooLong)?;
        }
        Ok(Self { segments })
    }

    /// The segments, in order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.segments.iter().map(|s| s.len).sum()
    }

    /// Number of bits: the sum of the entries' widths.
    #[must_use]
    pub fn message_bits(&self) -> u64 {
        self.segments.iter().map(|s| s.len as u64 * u64::from(s.bits)).sum()
    }

    /// Bytes of a packed message: its bits, rounded up.
    #[must_use]
    pub fn packed_len(&self) -> usize {
        self.message_bits().div_ceil(8) as usize
    }

    /// Whether `message` has the right number of entries and each fits its width.
    ///
    /// # Errors
    /// [`Error::Entries`], or [`Error::Range`] for the first entry at fault.
    pub fn check(&self, message: &[u64]) -> Result<(), Error> {
        let want = self.entries();
        if message.len() != want {
            return Err(Error::Entries { got: message.len(), want });
        }
        let mut start = 0;
        for &Segment { len, bits, .. } in &self.segments {
            let entries = &message[start..start + len];
            if let Some(at) = entries.iter().position(|&entry| entry > mask(bits)) {
                let entry = start + at;
                return Err(Error::Range { entry, bits });
            }
            start += len;
        }
        Ok(())
    }

    /// `message` in the fewest whole bytes.
    ///
    /// Entries follow one another without gaps, across segments too; entry and byte both start
    /// at their least significant bit. The last byte is filled up with zeros.
    ///
    /// # Errors
    /// As [`Layout::check`].
    pub fn pack(&self, message: &[u64]) -> Result<Vec<u8>, Error> {
        self.check(message)?;
        let mut packed = Vec::with_capacity(self.packed_len() + 8);
        let (mut word, mut filled) = (0_u64, 0_u32);
        let mut rest = message.iter();
        for &Segment { len, bits, .. } in &self.segments {
            for &value in rest.by_ref().take(len) {
                word |= value << filled;
                filled += bits;
                if filled >= 64 {
                    packed.extend_from_slice(&word.to_le_bytes());
                    filled -= 64;
                    // What did not fit; nothing when the entry ended on the word's last bit.
                    word = if filled == 0 { 0 } else { value >> (bits - filled) };
                }
            }
        }
        packed.extend_from_slice(&word.to_le_bytes());
        packed.truncate(self.packed_len());
        Ok(packed)
    }

    /// The message in `packed`: the inverse of [`Layout::pack`].
    ///
    /// # Errors
    /// [`Error::Length`] unless the length is exact; [`Error::Padding`] unless padding is zero.
    pub fn unpack(&self, packed: &[u8]) -> Result<Vec<u64>, Error> {
        let want = self.packed_len();
        if packed.len() != want {
            return Err(Error::Length { got: packed.len(), want });
        }
        let mut words = packed.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u128::from(u64::from_le_bytes(word))
        });
        let (mut bits_left, mut held) = (0_u128, 0_u32);
        let mut message = Vec::with_capacity(self.entries());
        for &Segment { len, bits, .. } in &self.segments {
            for _ in 0..len {
                if held < bits {
                    bits_left |= words.next().unwrap_or_default() << held;
                    held += 64;
                }
                message.push(bits_left as u64 & mask(bits));
                bits_left >>= bits;
                held -= bits;
            }
        }
        if bits_left == 0 { Ok(message) } else { Err(Error::Padding) }
    }
}

/// The largest value of `bits` bits, 1 to 64.
pub(crate) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(shape: &[(usize, u32)]) -> Layout {
        let segment = |&(len, bits)| Segment { name: "s".into(), len, bits };
        Layout::new(shape.iter().map(segment).collect()).expect("widths are 1 to 64")
    }

    fn widths(layout: &Layout) -> Vec<u32> {
        let each = |s: &Segment| vec![s.bits; s.len];
        layout.segments.iter().flat_map(each).collect()
    }

    /// The definition, bit by bit.
    fn pack_slowly(layout: &Layout, message: &[u64]) -> Vec<u8> {
        let bits: Vec<bool> = message
            .iter()
            .zip(widths(layout))
            .flat_map(|(&v, w)| (0..w).map(move |i| v >> i & 1 == 1))
            .collect();
        let byte = |c: &[bool]| c.iter().enumerate().map(|(i, &b)| u8::from(b) << i).sum();
        bits.chunks(8).map(byte).collect()
    }

    proptest! {
        #[test]
        fn packing_follows_its_definition_and_inverts(
            shape in prop::collection::vec((0_usize..20, 1_u32..=64), 0..6),
            seed in prop::collection::vec(any::<u64>(), 120),
        ) {
            let layout = layout(&shape);
            let message: Vec<u64> =
                seed.iter().zip(widths(&layout)).map(|(v, w)| v & mask(w)).collect();
            let packed = layout.pack(&message).unwrap();
            prop_assert_eq!(packed.len(), layout.packed_len());
            prop_assert_eq!(&packed, &pack_slowly(&layout, &message));
            prop_assert_eq!(layout.unpack(&packed).unwrap(), message);
        }

        #[test]
        fn unpack_takes_any_bytes(
            shape in prop::collection::vec((0_usize..9, 1_u32..=64), 0..4),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let layout = layout(&shape);
            if let Ok(message) = layout.unpack(&bytes) {
                prop_assert_eq!(layout.pack(&message).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layout = layout(&[(2, 3), (1, 64)]);
        assert_eq!((layout.entries(), layout.message_bits(), layout.packed_len()), (3, 70, 9));
        assert_eq!(layout.check(&[7, 7, u64::MAX]), Ok(()));
        assert_eq!(layout.check(&[7, 8, 0]), Err(Error::Range { entry: 1, bits: 3 }));
        assert_eq!(layout.pack(&[0; 2]), Err(Error::Entries { got: 2, want: 3 }));
        assert_eq!(layout.unpack(&[0; 8]), Err(Error::Length { got: 8, want: 9 }));
        let mut packed = vec![0; 9];
        packed[8] = 0b0100_0000;
        assert_eq!(layout.unpack(&packed), Err(Error::Padding));
        packed[8] = 0b0010_0000;
        assert_eq!(layout.unpack(&packed), Ok(vec![0, 0, 1 << 63]));
    }

    #[test]
    fn impossible_layouts_are_refused() {
        let one = |len, bits| Layout::new(vec![Segment { name: "s".into(), len, bits }]);
        assert!(matches!(one(1, 0), Err(Error::Width { bits: 0, .. })));
        assert!(matches!(one(1, 65), Err(Error::Width { bits: 65, .. })));
        assert_eq!(one(usize::MAX, 64), Err(Error::TooLong));
        assert_eq!(one((1 << 28) + 1, 64), Err(Error::TooLong));
        assert!(one(0, 1).is_ok());
    }
}
