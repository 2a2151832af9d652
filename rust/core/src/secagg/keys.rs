//! Keys: agreement, derivation, and shares under seal (M10).

use chacha20::ChaCha20;
use chacha20::cipher::KeyIvInit;
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use hkdf::Hkdf;
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

/// A symmetric key or seed.
pub(super) type Key = Zeroizing<[u8; 32]>;
/// A share of both secrets of a client: of its seed b, then of its mask key s.
pub(super) type Share = Zeroizing<[u8; 64]>;
/// Bytes of a sealed share: the share and its tag.
pub(super) const SEALED: usize = 80;

/// Prefix of every label: a new version of the protocol derives other keys.
const DOMAIN: &str = "fedrank secagg 2 ";

/// SHA-256 of a label and parts, each preceded by its length: no two inputs read alike.
pub(super) fn hash(label: &str, parts: &[&[u8]]) -> [u8; 32] {
    hash_in(DOMAIN, label, parts)
}

/// The same for labels of another domain.
pub(super) fn hash_in(domain: &str, label: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [domain.as_bytes(), label.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// HKDF-SHA256 of `secret`, salted with the context, for one use between two clients.
pub(super) fn derive(
    secret: &[u8; 32],
    context: &[u8; 32],
    label: &str,
    from: u16,
    to: u16,
) -> Key {
    let mut key = Zeroizing::new([0; 32]);
    let info = [DOMAIN.as_bytes(), label.as_bytes(), &from.to_le_bytes(), &to.to_le_bytes()];
    Hkdf::<Sha256>::new(Some(context), secret)
        .expand_multi_info(&info, &mut *key)
        // One block; HKDF fails above 255.
        .expect("32 bytes is a valid length");
    key
}

/// The ChaCha20 keystream of `key` (RFC 8439). A key is expanded once, so the nonce can be zero.
pub(super) fn keystream(key: &[u8; 32]) -> ChaCha20 {
    ChaCha20::new(key.into(), &Nonce::default())
}

/// What a client draws for a session, once.
pub(super) struct Secrets {
    /// Private key c, for shares in transit. Never shared.
    pub(super) transport: StaticSecret,
    /// Private key s, for the masks between pairs. Shared.
    pub(super) mask: StaticSecret,
    /// Seed b of the client's own mask. Shared.
    pub(super) seed: Key,
    /// Seed of the polynomials that share s and b.
    pub(super) polynomials: Key,
}

impl Secrets {
    pub(super) const BYTES: usize = 128;

    pub(super) fn draw(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = Zeroizing::new([0; Self::BYTES]);
        rng.fill_bytes(&mut *bytes);
        Self::from_bytes(&bytes)
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (keys, _) = bytes.as_chunks::<32>();
        Self {
            transport: StaticSecret::from(keys[0]),
            mask: StaticSecret::from(keys[1]),
            seed: Zeroizing::new(keys[2]),
            polynomials: Zeroizing::new(keys[3]),
        }
    }

    /// The four secrets, in the order drawn.
    pub(super) fn parts(&self) -> [&[u8; 32]; 4] {
        [self.transport.as_bytes(), self.mask.as_bytes(), &self.seed, &self.polynomials]
    }

    pub(super) fn public(&self) -> Public {
        Public { transport: public(&self.transport), mask: public(&self.mask) }
    }
}

/// The public key of `secret`.
pub(super) fn public(secret: &StaticSecret) -> [u8; 32] {
    PublicKey::from(secret).to_bytes()
}

/// A client's two public keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Public {
    pub(super) transport: [u8; 32],
    pub(super) mask: [u8; 32],
}

impl Public {
    pub(super) const BYTES: usize = 64;

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (keys, _) = bytes.as_chunks::<32>();
        Self { transport: keys[0], mask: keys[1] }
    }

    pub(super) fn parts(&self) -> [&[u8; 32]; 2] {
        [&self.transport, &self.mask]
    }
}

/// 2^255 - 19, little-endian.
const FIELD: [u8; 32] = {
    let mut p = [0xff; 32];
    p[0] = 0xed;
    p[31] = 0x7f;
    p
};

/// The canonical points of order dividing 8, on the curve or its twist: 0, 1, -1 and the two of
/// order 8. With any of them the shared secret is zero, known to all.
const LOW_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        let mut minus_one = FIELD;
        minus_one[0] = 0xec;
        minus_one
    },
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ],
];

/// Whether `key` may be a client's public key: below 2^255 - 19, so that no key has two
/// spellings, and not of low order.
pub(super) fn acceptable(key: &[u8; 32]) -> bool {
    key.iter().rev().lt(FIELD.iter().rev()) && !LOW_ORDER.contains(key)
}

/// The X25519 secret of two clients; `None` if it is zero. It is a key only after [`derive`].
pub(super) fn agree(secret: &StaticSecret, public: &[u8; 32]) -> Option<Key> {
    let shared = secret.diffie_hellman(&PublicKey::from(*public));
    shared.was_contributory().then(|| Zeroizing::new(shared.to_bytes()))
}

/// Key of the mask between two clients, from their agreed secret; the same for both.
pub(super) fn pair_mask(agreed: &Key, context: &[u8; 32], a: u16, b: u16) -> Key {
    derive(agreed, context, "pair mask", a.min(b), a.max(b))
}

/// Key of a client's own mask, from its seed b.
pub(super) fn self_mask(seed: &[u8; 32], context: &[u8; 32], client: u16) -> Key {
    derive(seed, context, "self mask", client, client)
}

/// Key of the one share that goes from one client to another.
pub(super) fn transport(agreed: &Key, context: &[u8; 32], from: u16, to: u16) -> Key {
    derive(agreed, context, "transport", from, to)
}

fn associated(context: &[u8; 32], from: u16, to: u16) -> [u8; 36] {
    let mut data = [0; 36];
    data[..32].copy_from_slice(context);
    data[32..34].copy_from_slice(&from.to_le_bytes());
    data[34..].copy_from_slice(&to.to_le_bytes());
    data
}

/// `share` under ChaCha20-Poly1305. A key seals one share, so the nonce can be constant.
pub(super) fn seal(
    key: &Key,
    context: &[u8; 32],
    from: u16,
    to: u16,
    share: &Share,
) -> [u8; SEALED] {
    let mut sealed = [0; SEALED];
    let (text, tag) = sealed.split_at_mut(64);
    text.copy_from_slice(&**share);
    let made = ChaCha20Poly1305::new((&**key).into())
        .encrypt_inout_detached(&Nonce::default(), &associated(context, from, to), text.into())
        // It fails above 256 GiB.
        .expect("64 bytes is a valid length");
    tag.copy_from_slice(&made);
    sealed
}

/// The share in `sealed`, or `None` if it does not open.
pub(super) fn open(
    key: &Key,
    context: &[u8; 32],
    from: u16,
    to: u16,
    sealed: &[u8; SEALED],
) -> Option<Share> {
    let (text, tag) = sealed.split_first_chunk::<64>()?;
    let mut share = Zeroizing::new(*text);
    ChaCha20Poly1305::new((&**key).into())
        .decrypt_inout_detached(
            &Nonce::default(),
            &associated(context, from, to),
            share.as_mut_slice().into(),
            &Tag::try_from(tag).ok()?,
        )
        .ok()?;
    Some(share)
}

/// Which of a client's two secrets a share is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// The seed b, given for survivors.
    Seed = 0,
    /// The mask key s, given for dropouts.
    Mask = 1,
}

/// The half of a share that belongs to one secret.
pub(super) fn half(share: &Share, secret: Secret) -> &[u8] {
    &share[32 * secret as usize..][..32]
}

/// A short hash of a share, by which the server knows a wrong one and names its sender.
///
/// Only blame rests on it: a rebuilt secret is checked against its public key or [`commitment`].
pub(super) fn fingerprint(
    context: &[u8; 32],
    owner: u16,
    holder: u16,
    secret: Secret,
    half: &[u8],
) -> [u8; 16] {
    let who = [owner.to_le_bytes(), holder.to_le_bytes()].concat();
    let long = hash("fingerprint", &[context, &who, &[secret as u8], half]);
    let mut short = [0; 16];
    short.copy_from_slice(&long[..16]);
    short
}

/// A client's commitment to its seed b.
pub(super) fn commitment(context: &[u8; 32], owner: u16, seed: &[u8; 32]) -> [u8; 32] {
    hash("seed", &[context, &owner.to_le_bytes(), seed])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex");
        }
        bytes
    }

    /// RFC 7748, section 6.1.
    #[test]
    fn key_agreement_follows_rfc_7748() {
        let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        let (alice, bob) = (StaticSecret::from(alice), StaticSecret::from(bob));
        let (to_alice, to_bob) = (public(&alice), public(&bob));
        assert_eq!(
            to_alice,
            hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        );
        assert_eq!(to_bob, hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
        assert_eq!(agree(&alice, &to_bob).map(|k| *k), Some(shared));
        assert_eq!(agree(&bob, &to_alice).map(|k| *k), Some(shared));
    }

    #[test]
    fn low_order_keys_are_those_that_agree_on_zero() {
        let secret = StaticSecret::from([7; 32]);
        for key in &LOW_ORDER {
            assert!(!acceptable(key));
            assert_eq!(agree(&secret, key), None);
        }
        for n in 2..=255 {
            let mut key = [0; 32];
            key[0] = n;
            assert!(acceptable(&key));
            assert!(agree(&secret, &key).is_some());
        }
    }

    #[test]
    fn keys_have_one_spelling() {
        let nine = public(&StaticSecret::from([7; 32]));
        let mut high_bit = nine;
        high_bit[31] |= 0x80;
        assert!(acceptable(&nine) && !acceptable(&high_bit));
        assert!(!acceptable(&FIELD) && !acceptable(&[0xff; 32]));
        let mut below = FIELD;
        below[0] = 0xeb;
        assert!(acceptable(&below));
    }

    #[test]
    fn a_sealed_share_opens_only_as_itself() {
        let (key, context) = (Zeroizing::new([1; 32]), [2; 32]);
        let share = Zeroizing::new([3; 64]);
        let sealed = seal(&key, &context, 4, 5, &share);
        assert_eq!(open(&key, &context, 4, 5, &sealed).as_deref(), Some(&*share));
        assert!(open(&key, &context, 5, 4, &sealed).is_none());
        assert!(open(&key, &[0; 32], 4, 5, &sealed).is_none());
        assert!(open(&Zeroizing::new([0; 32]), &context, 4, 5, &sealed).is_none());
        for bit in 0..8 * SEALED {
            let mut wrong = sealed;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&key, &context, 4, 5, &wrong).is_none());
        }
    }
}
