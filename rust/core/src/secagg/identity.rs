//! Identities: who vouches for a session's keys, and to whom an envelope is sealed.
//!
//! An identity is an Ed25519 key that signs and an X25519 key to seal to. People exchange its
//! public half as one line, with a checksum against typing errors:
//!
//! ```text
//! fedrank-id1: + base64url(Ed25519 32 ‖ X25519 32 ‖ checksum 4)
//! ```

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rand_core::CryptoRng;
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use super::error::{Error, Result};
use super::keys;

/// Prefix of every label here. Identities outlive versions of the protocol.
const DOMAIN: &str = "fedrank identity 1 ";
const PUBLIC_PREFIX: &str = "fedrank-id1:";
const PRIVATE_PREFIX: &str = "fedrank-key1:";
const CHECKSUM: usize = 4;

/// Bytes of a signature.
pub const SIGNATURE: usize = 64;

/// Both private keys of one party.
///
/// They belong to the agent of a data holder, or to the coordinator's driver: never to a process
/// that carries messages.
pub struct Identity {
    signing: SigningKey,
    sealing: StaticSecret,
    public: PublicIdentity,
}

impl Identity {
    /// A new identity from `rng`.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = Zeroizing::new([0; 64]);
        rng.fill_bytes(&mut *bytes);
        Self::from_bytes(&bytes)
    }

    fn from_bytes(bytes: &[u8; 64]) -> Self {
        let (parts, _) = bytes.as_chunks::<32>();
        let (signing, sealing) = (SigningKey::from_bytes(&parts[0]), StaticSecret::from(parts[1]));
        let public =
            PublicIdentity { verifying: signing.verifying_key(), sealing: keys::public(&sealing) };
        Self { signing, sealing, public }
    }

    /// The identity on a private line.
    ///
    /// # Errors
    /// [`Error::Identity`] if it is not one, or damaged.
    pub fn from_line(line: &str) -> Result<Self> {
        read_line(line, PRIVATE_PREFIX, "key", "it is not a private key of fedrank")
            .map(|bytes| Self::from_bytes(&bytes))
    }

    /// One line of text with both private keys: keep it secret.
    #[must_use]
    pub fn line(&self) -> Zeroizing<String> {
        let parts = [self.signing.as_bytes(), self.sealing.as_bytes()];
        Zeroizing::new(write_line(PRIVATE_PREFIX, "key", parts))
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &PublicIdentity {
        &self.public
    }

    /// The secret key that envelopes to this party are opened with.
    pub(super) fn sealing(&self) -> &StaticSecret {
        &self.sealing
    }

    /// The secret key that signs.
    pub(super) fn signing(&self) -> &[u8; 32] {
        self.signing.as_bytes()
    }

    /// The signature of a hash. The same hash has the same signature.
    pub(super) fn sign(&self, hash: &[u8; 32]) -> [u8; SIGNATURE] {
        self.signing.sign(hash).to_bytes()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Identity").field(&self.public.fingerprint()).finish()
    }
}

/// Both public keys of one party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicIdentity {
    verifying: VerifyingKey,
    sealing: [u8; 32],
}

impl PublicIdentity {
    /// The identity on a public line.
    ///
    /// # Errors
    /// [`Error::Identity`] if it is not one, is damaged, or has a weak key.
    pub fn from_line(line: &str) -> Result<Self> {
        let bytes = read_line(line, PUBLIC_PREFIX, "identity", "it is not a public identity")?;
        let (parts, _) = bytes.as_chunks::<32>();
        let verifying = VerifyingKey::from_bytes(&parts[0])
            .ok()
            .filter(|key| !key.is_weak())
            .ok_or(Error::Identity { what: "its signing key is invalid or weak" })?;
        // One point, one spelling: otherwise a key could be on a roster twice.
        if verifying.to_edwards().compress().as_bytes() != &parts[0] {
            return Err(Error::Identity { what: "its signing key is not canonical" });
        }
        if !keys::acceptable(&parts[1]) {
            return Err(Error::Identity { what: "its sealing key is invalid or weak" });
        }
        Ok(Self { verifying, sealing: parts[1] })
    }

    /// One line of text, to send to others.
    #[must_use]
    pub fn line(&self) -> String {
        write_line(PUBLIC_PREFIX, "identity", self.parts())
    }

    /// Sixteen hexadecimal digits in groups of four, to compare by eye.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let hash = tagged("fingerprint", self.parts());
        let group = |pair: &[u8; 2]| format!("{:02x}{:02x}", pair[0], pair[1]);
        let (pairs, _) = hash[..8].as_chunks::<2>();
        pairs.iter().map(group).collect::<Vec<_>>().join("-")
    }

    /// The key that verifies signatures, and the key to seal to.
    #[must_use]
    pub fn parts(&self) -> [&[u8; 32]; 2] {
        [self.verifying.as_bytes(), &self.sealing]
    }

    /// The key to seal to.
    pub(super) fn sealing(&self) -> &[u8; 32] {
        &self.sealing
    }

    /// Whether `signature` is this party's, of this hash.
    pub(super) fn verify(&self, hash: &[u8; 32], signature: &[u8; SIGNATURE]) -> bool {
        self.verifying.verify_strict(hash, &Signature::from_bytes(signature)).is_ok()
    }
}

fn tagged(label: &str, parts: [&[u8; 32]; 2]) -> [u8; 32] {
    keys::hash_in(DOMAIN, label, &[parts[0].as_slice(), parts[1]])
}

fn write_line(prefix: &str, label: &str, parts: [&[u8; 32]; 2]) -> String {
    let mut bytes = Zeroizing::new([0; 64 + CHECKSUM]);
    bytes[..32].copy_from_slice(parts[0]);
    bytes[32..64].copy_from_slice(parts[1]);
    bytes[64..].copy_from_slice(&tagged(label, parts)[..CHECKSUM]);
    let text = Zeroizing::new(Base64UrlUnpadded::encode_string(&*bytes));
    let mut line = String::with_capacity(prefix.len() + text.len());
    line.push_str(prefix);
    line.push_str(&text);
    line
}

fn read_line(
    line: &str,
    prefix: &str,
    label: &str,
    other: &'static str,
) -> Result<Zeroizing<[u8; 64]>> {
    let text = line.trim().strip_prefix(prefix).ok_or(Error::Identity { what: other })?;
    let mut bytes = Zeroizing::new([0; 64 + CHECKSUM]);
    let whole = Base64UrlUnpadded::decode(text, &mut *bytes).is_ok_and(|b| b.len() == 68);
    let mut keys = Zeroizing::new([0; 64]);
    keys.copy_from_slice(&bytes[..64]);
    let (parts, _) = keys.as_chunks::<32>();
    if !whole || tagged(label, [&parts[0], &parts[1]])[..CHECKSUM] != bytes[64..] {
        return Err(Error::Identity { what: "it is damaged or incomplete: copy the whole line" });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn identity(seed: u8) -> Identity {
        Identity::generate(&mut chacha20::ChaCha20Rng::from_seed([seed; 32]))
    }

    #[test]
    fn lines_come_back_and_no_character_may_change() {
        let alice = identity(1);
        let (public, private) = (alice.public().line(), alice.line());
        assert_eq!(PublicIdentity::from_line(&public).as_ref(), Ok(alice.public()));
        assert_eq!(Identity::from_line(&private).map(|i| *i.public()), Ok(*alice.public()));
        assert!(PublicIdentity::from_line(&private).is_err());
        assert!(Identity::from_line(&public).is_err());
        for at in 0..public.len() {
            let mut wrong = public.clone().into_bytes();
            wrong[at] = if wrong[at] == b'A' { b'B' } else { b'A' };
            let wrong = String::from_utf8(wrong).expect("ASCII");
            assert!(PublicIdentity::from_line(&wrong).is_err(), "{at}");
            assert!(PublicIdentity::from_line(&public[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn weak_and_second_spellings_of_keys_are_refused() {
        let good = identity(2);
        let [verifying, sealing] = good.public().parts();
        let line = |a: &[u8; 32], b: &[u8; 32]| write_line(PUBLIC_PREFIX, "identity", [a, b]);
        assert!(PublicIdentity::from_line(&line(verifying, sealing)).is_ok());
        let mut one = [0; 32];
        one[0] = 1;
        for weak in [[0; 32], one] {
            assert!(PublicIdentity::from_line(&line(&weak, sealing)).is_err());
            assert!(PublicIdentity::from_line(&line(verifying, &weak)).is_err());
        }
        let mut high = *sealing;
        high[31] |= 0x80;
        assert!(PublicIdentity::from_line(&line(verifying, &high)).is_err());
        // 2^255 - 19 + 3: y = 3 in another spelling.
        let mut second = [0xff; 32];
        (second[0], second[31]) = (0xf0, 0x7f);
        assert!(PublicIdentity::from_line(&line(&second, sealing)).is_err());
    }

    #[test]
    fn signatures_are_of_one_hash_by_one_party() {
        let (alice, bob) = (identity(3), identity(4));
        let signature = alice.sign(&[5; 32]);
        assert_eq!(signature, alice.sign(&[5; 32]));
        assert!(alice.public().verify(&[5; 32], &signature));
        assert!(!alice.public().verify(&[6; 32], &signature));
        assert!(!bob.public().verify(&[5; 32], &signature));
        for bit in 0..8 * SIGNATURE {
            let mut wrong = signature;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!alice.public().verify(&[5; 32], &wrong));
        }
    }
}
