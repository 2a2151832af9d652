//! Envelopes: what carries the messages of a signed study from machine to machine.
//!
//! An envelope is signed by its sender, then sealed for its recipient, so that whoever carries it
//! can delay or delete it, but neither read it nor speak for anybody. Integers are little-endian:
//!
//! ```text
//! header = version 1 ‖ direction 1 ‖ round digest 32 ‖ session 32 ‖ step 1 ‖ sender 2 ‖ recipient 2
//! sig    = Ed25519(H("envelope", header, H("body", body)))
//! blob   = header ‖ enc 32 ‖ HPKE-Seal(recipient, "fedrank envelope 2", header, body ‖ sig)
//! ```
//!
//! HPKE is RFC 9180: base mode, single shot, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
//! ChaCha20-Poly1305. The header is not secret; it is authenticated twice, by the seal and by the
//! signature.
//!
//! Sealing is deterministic, so a sender can repeat an envelope without having kept it. The
//! ephemeral key is derived from the sender's secrets, the recipient's key, the header and the
//! body, so two different texts are never sealed with one key.

use chacha20::ChaCha20Rng;
use hkdf::Hkdf;
use hpke::aead::{AeadTag, ChaCha20Poly1305};
use hpke::inout::InOutBuf;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, HpkeError, Kem, OpModeR, OpModeS, Serializable};
use rand_core::{CryptoRng, SeedableRng};
use sha2::Sha256;
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use super::error::{Error, Result};
use super::identity::{Identity, PublicIdentity, SIGNATURE};
use super::keys;
use super::wire::SIGNED_STEPS;

/// The first byte of every envelope.
const VERSION: u8 = 2;
/// The purpose that HPKE derives its keys for.
const INFO: &[u8] = b"fedrank envelope 2";
/// The purpose of the key that HPKE's randomness is drawn from.
const EPHEMERAL: &[u8] = b"fedrank envelope 2 ephemeral";
/// Bytes of the header.
const HEADER: usize = 71;
/// Bytes of an encapsulated key.
const ENC: usize = 32;
/// Bytes of the tag of ChaCha20-Poly1305.
const TAG: usize = 16;

/// Bytes of an envelope beside its body.
pub const OVERHEAD: usize = HEADER + ENC + SIGNATURE + TAG;

/// The coordinator, where a header names a client. No client has this id.
pub const COORDINATOR: u16 = 0xffff;

/// Which way an envelope goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the server to a client.
    ToClient = 0,
    /// From a client to the server.
    ToServer = 1,
}

/// What is written on an envelope: all that a carrier can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which way it goes.
    pub direction: Direction,
    /// The digest of the round.
    pub round_digest: [u8; 32],
    /// The session.
    pub session: [u8; 32],
    /// Index of the step in [`SIGNED_STEPS`].
    pub step: u8,
    /// Id of the client that sent it, or [`COORDINATOR`].
    pub sender: u16,
    /// Id of the client that may open it, or [`COORDINATOR`].
    pub recipient: u16,
}

impl Header {
    /// The header itself, if it is one that an envelope can have.
    ///
    /// # Errors
    /// [`Error::Envelope`] if there is no such step, or unless exactly the server's side of the
    /// direction is the coordinator.
    pub fn checked(self) -> Result<Self> {
        if usize::from(self.step) >= SIGNED_STEPS.len() {
            return refuse("there is no such step");
        }
        let (server, client) = match self.direction {
            Direction::ToClient => (self.sender, self.recipient),
            Direction::ToServer => (self.recipient, self.sender),
        };
        if server != COORDINATOR || client == COORDINATOR {
            return refuse("its sender and recipient do not suit its direction");
        }
        Ok(self)
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        (bytes[0], bytes[1]) = (VERSION, self.direction as u8);
        bytes[2..34].copy_from_slice(&self.round_digest);
        bytes[34..66].copy_from_slice(&self.session);
        bytes[66] = self.step;
        bytes[67..69].copy_from_slice(&self.sender.to_le_bytes());
        bytes[69..].copy_from_slice(&self.recipient.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER]) -> Result<Self> {
        if bytes[0] != VERSION {
            return refuse(
                "it is of another version of the protocol: install the same version of fedrank on \
                 all machines",
            );
        }
        let direction = match bytes[1] {
            0 => Direction::ToClient,
            1 => Direction::ToServer,
            _ => return refuse("its direction is unknown"),
        };
        let (keys, _) = bytes[2..66].as_chunks::<32>();
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            direction,
            round_digest: keys[0],
            session: keys[1],
            step: bytes[66],
            sender: number(67),
            recipient: number(69),
        }
        .checked()
    }
}

/// The envelope of `body` from `identity` to `recipient`. The same input gives the same bytes.
///
/// The header is not checked here, but where the envelope is opened: see [`Header::checked`].
///
/// # Panics
/// If the body has 256 GiB or more.
#[must_use]
pub fn seal(
    identity: &Identity,
    recipient: &PublicIdentity,
    header: &Header,
    body: &[u8],
) -> Vec<u8> {
    let head = header.to_bytes();
    let signature = identity.sign(&signed(&head, body));
    // The text is sealed where it is written, and the vector never grows: no copy stays behind.
    let mut blob = Vec::with_capacity(OVERHEAD + body.len());
    for part in [&head, [0; ENC].as_slice(), body, &signature] {
        blob.extend_from_slice(part);
    }
    let text = &mut blob[HEADER + ENC..];
    let mut rng = ephemeral(identity, recipient, &head, body);
    let (enc, tag) = hpke_seal(recipient.sealing(), INFO, &head, text, &mut rng)
        // Identities have no key of low order, so only the cipher's limit of 256 GiB is left.
        .expect("a body that fits into memory");
    blob[HEADER..HEADER + ENC].copy_from_slice(&enc);
    blob.extend_from_slice(&tag);
    blob
}

/// The header and the body of an envelope from `sender` that is sealed for `identity`.
///
/// The caller compares the header with what it waits for. The body is erased when it is dropped.
///
/// # Errors
/// [`Error::Envelope`] if it is not an envelope, is sealed for somebody else, was changed, or is
/// not signed by `sender`.
pub fn open(
    identity: &Identity,
    sender: &PublicIdentity,
    blob: &[u8],
) -> Result<(Header, Zeroizing<Vec<u8>>)> {
    let (header, head, sealed) = split(blob)?;
    let (enc, sealed) = sealed.split_first_chunk::<ENC>().ok_or(SHORT)?;
    let (sealed, tag) = sealed.split_last_chunk::<TAG>().ok_or(SHORT)?;
    let body = sealed.len().checked_sub(SIGNATURE).ok_or(SHORT)?;
    let mut text = Zeroizing::new(sealed.to_vec());
    hpke_open(identity.sealing(), INFO, head, enc, &mut text, tag).map_err(|_| SEAL)?;
    let signature = *text.last_chunk().ok_or(SHORT)?;
    text.truncate(body);
    if !sender.verify(&signed(head, &text), &signature) {
        return refuse("it is not signed by its sender");
    }
    Ok((header, text))
}

/// What is written on an envelope. Nothing proves it until the envelope is opened.
///
/// # Errors
/// [`Error::Envelope`] if it is not an envelope.
pub fn header_of(blob: &[u8]) -> Result<Header> {
    if blob.len() < OVERHEAD {
        return Err(SHORT);
    }
    Ok(split(blob)?.0)
}

const SHORT: Error = Error::Envelope { what: "it is too short" };
const SEAL: Error =
    Error::Envelope { what: "it is sealed for somebody else, or was changed on the way" };

fn refuse<T>(what: &'static str) -> Result<T> {
    Err(Error::Envelope { what })
}

/// The header, its bytes, and all after it.
fn split(blob: &[u8]) -> Result<(Header, &[u8; HEADER], &[u8])> {
    let (head, rest) = blob.split_first_chunk().ok_or(SHORT)?;
    Ok((Header::from_bytes(head)?, head, rest))
}

/// What the sender signs.
fn signed(head: &[u8; HEADER], body: &[u8]) -> [u8; 32] {
    keys::hash("envelope", &[head, &keys::hash("body", &[body])])
}

/// HPKE's randomness for one envelope: secret, and another for every other envelope.
fn ephemeral(
    identity: &Identity,
    recipient: &PublicIdentity,
    head: &[u8; HEADER],
    body: &[u8],
) -> ChaCha20Rng {
    let mut secret = Zeroizing::new([0; 64]);
    secret[..32].copy_from_slice(identity.signing());
    secret[32..].copy_from_slice(identity.sealing().as_bytes());
    let sealed = keys::hash("sealed", &[recipient.sealing(), head, body]);
    let mut seed = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(&keys::hash("envelope salt", &[])), &*secret)
        .expand_multi_info(&[EPHEMERAL, &sealed], &mut *seed)
        // One block; HKDF fails above 255.
        .expect("32 bytes is a valid length");
    ChaCha20Rng::from_seed(*seed)
}

/// HPKE's single-shot Seal, in place: the encapsulated key and the tag.
fn hpke_seal(
    recipient: &[u8; 32],
    info: &[u8],
    aad: &[u8],
    text: &mut [u8],
    rng: &mut impl CryptoRng,
) -> std::result::Result<([u8; ENC], [u8; TAG]), HpkeError> {
    let recipient = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(recipient)?;
    let (enc, tag) = hpke::single_shot_seal_inout_detached_with_rng::<
        ChaCha20Poly1305,
        HkdfSha256,
        X25519HkdfSha256,
    >(&OpModeS::Base, &recipient, info, InOutBuf::from(text), aad, rng)?;
    Ok((enc.to_bytes().into(), tag.to_bytes().into()))
}

/// HPKE's single-shot Open, in place.
fn hpke_open(
    recipient: &StaticSecret,
    info: &[u8],
    aad: &[u8],
    enc: &[u8; ENC],
    text: &mut [u8],
    tag: &[u8; TAG],
) -> std::result::Result<(), HpkeError> {
    let recipient = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(recipient.as_bytes())?;
    let enc = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(enc)?;
    let tag = AeadTag::<ChaCha20Poly1305>::from_bytes(tag)?;
    hpke::single_shot_open_inout_detached::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
        &OpModeR::Base,
        &recipient,
        &enc,
        info,
        InOutBuf::from(text),
        aad,
        &tag,
    )
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_core::{TryCryptoRng, TryRng};

    use super::*;

    fn identity(seed: u8) -> Identity {
        Identity::generate(&mut ChaCha20Rng::from_seed([seed; 32]))
    }

    /// The coordinator, two clients and an envelope's header from the first client.
    fn parties() -> (Identity, Identity, Identity, Header) {
        let header = Header {
            direction: Direction::ToServer,
            round_digest: [1; 32],
            session: [2; 32],
            step: 3,
            sender: 258,
            recipient: COORDINATOR,
        };
        (identity(1), identity(2), identity(3), header)
    }

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        assert_eq!(text.len(), 2 * N);
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("a byte"))
    }

    /// Gives 32 bytes, once.
    struct Fixed(Option<[u8; 32]>);

    impl TryRng for Fixed {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
            unimplemented!()
        }

        fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
            unimplemented!()
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
            bytes.copy_from_slice(&self.0.take().expect("HPKE draws once"));
            Ok(())
        }
    }

    impl TryCryptoRng for Fixed {}

    /// RFC 9180, A.2.1: base setup of DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
    /// ChaCha20Poly1305; the encryption of sequence number 0.
    #[test]
    fn hpke_as_in_rfc_9180() {
        let info = hex::<20>("4f6465206f6e2061204772656369616e2055726e");
        let ikm = hex("909a9b35d3dc4713a5e72a4da274b55d3d3821a37e5d099e74a647db583a904b");
        let public = hex("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a");
        let secret = StaticSecret::from(hex::<32>(
            "8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb",
        ));
        let plain = hex::<29>("4265617574792069732074727574682c20747275746820626561757479");
        let aad = hex::<7>("436f756e742d30");
        let sealed = hex::<45>(
            "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28",
        );
        assert_eq!(keys::public(&secret), public);

        let mut text = plain;
        let (enc, tag) =
            hpke_seal(&public, &info, &aad, &mut text, &mut Fixed(Some(ikm))).expect("a good key");
        assert_eq!(enc, hex("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"));
        assert_eq!(text, sealed[..29]);
        assert_eq!(tag, sealed[29..]);
        assert_eq!(hpke_open(&secret, &info, &aad, &enc, &mut text, &tag), Ok(()));
        assert_eq!(text, plain);
    }

    #[test]
    fn hpke_refuses_to_seal_to_a_key_of_low_order() {
        let rng = &mut Fixed(Some([1; 32]));
        assert_eq!(hpke_seal(&[0; 32], INFO, &[], &mut [], rng), Err(HpkeError::EncapError));
    }

    #[test]
    fn envelopes_come_back() {
        let (server, alice, bob, up) = parties();
        for body in [vec![], vec![7], vec![8; 1 << 20]] {
            let blob = seal(&alice, server.public(), &up, &body);
            assert_eq!(blob.len(), body.len() + OVERHEAD);
            assert_eq!(header_of(&blob), Ok(up));
            let (header, opened) = open(&server, alice.public(), &blob).expect("an envelope");
            assert_eq!((header, &*opened), (up, &body));
            let down =
                Header { direction: Direction::ToClient, sender: COORDINATOR, recipient: 0, ..up };
            let blob = seal(&server, bob.public(), &down, &body);
            let (header, opened) = open(&bob, server.public(), &blob).expect("an envelope");
            assert_eq!((header, &*opened), (down, &body));
        }
    }

    #[test]
    fn a_header_is_as_specified() {
        let (server, alice, _, up) = parties();
        let blob = seal(&alice, server.public(), &up, b"body");
        let head = [&[2, 1], &[1; 32][..], &[2; 32], &[3], &[2, 1], &[0xff, 0xff]].concat();
        assert_eq!(blob[..71], head);
        assert_eq!(blob.len(), 71 + 32 + 4 + 64 + 16);
    }

    #[test]
    fn the_same_input_gives_the_same_bytes() {
        let (server, alice, _, up) = parties();
        let seal = || seal(&alice, server.public(), &up, b"body");
        assert_eq!(seal(), seal());
    }

    #[test]
    fn whatever_changes_the_ephemeral_key_changes() {
        let (server, alice, bob, up) = parties();
        let enc = |from: &Identity, to: &Identity, header: Header, body: &[u8]| {
            seal(from, to.public(), &header, body)[HEADER..HEADER + ENC].to_vec()
        };
        let mut all = vec![
            enc(&alice, &server, up, b"body"),
            enc(&alice, &server, up, b"bodz"),
            enc(&alice, &server, up, b"body "),
            enc(&alice, &server, up, b""),
            enc(&bob, &server, up, b"body"),
            enc(&alice, &bob, up, b"body"),
        ];
        all.extend(other_headers(up).map(|other| enc(&alice, &server, other, b"body")));
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    /// The header with one field changed.
    fn other_headers(header: Header) -> impl Iterator<Item = Header> {
        [
            Header { direction: Direction::ToClient, ..header },
            Header { round_digest: [9; 32], ..header },
            Header { session: [9; 32], ..header },
            Header { step: 2, ..header },
            Header { sender: 257, ..header },
            Header { recipient: 258, ..header },
        ]
        .into_iter()
    }

    #[test]
    fn no_bit_may_change() {
        let (server, alice, _, up) = parties();
        let blob = seal(&alice, server.public(), &up, b"body");
        for bit in 0..8 * blob.len() {
            let mut wrong = blob.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&server, alice.public(), &wrong).is_err(), "{bit}");
        }
    }

    #[test]
    fn nothing_may_be_missing_or_too_much() {
        let (server, alice, _, up) = parties();
        for body in [&b""[..], b"body"] {
            let mut blob = seal(&alice, server.public(), &up, body);
            for len in 0..blob.len() {
                assert!(open(&server, alice.public(), &blob[..len]).is_err(), "{len}");
                assert_eq!(header_of(&blob[..len]).is_ok(), len >= OVERHEAD);
            }
            blob.push(0);
            assert_eq!(open(&server, alice.public(), &blob), Err(SEAL));
        }
        assert_eq!(open(&server, alice.public(), &[]), Err(SHORT));
    }

    #[test]
    fn another_header_is_refused() {
        let (server, alice, _, up) = parties();
        let blob = seal(&alice, server.public(), &up, b"body");
        // Consistent headers: only the seal can tell.
        let down =
            Header { direction: Direction::ToClient, sender: COORDINATOR, recipient: 258, ..up };
        let valid = other_headers(up).filter(|other| other.checked().is_ok()).chain([down]);
        let mut count = 0;
        for other in valid {
            let wrong = [&other.to_bytes(), &blob[HEADER..]].concat();
            assert_eq!(header_of(&wrong), Ok(other));
            assert_eq!(open(&server, alice.public(), &wrong), Err(SEAL));
            count += 1;
        }
        assert_eq!(count, 5);
    }

    #[test]
    fn impossible_headers_are_refused_even_if_sealed_and_signed() {
        let (server, alice, _, up) = parties();
        let impossible = [
            Header { direction: Direction::ToClient, ..up },
            Header { recipient: 0, ..up },
            Header { sender: COORDINATOR, ..up },
            Header { step: 5, ..up },
        ];
        for header in impossible {
            assert!(header.checked().is_err());
            let blob = seal(&alice, server.public(), &header, b"body");
            assert!(header_of(&blob).is_err());
            assert!(open(&server, alice.public(), &blob).is_err());
        }
    }

    #[test]
    fn only_the_recipient_opens_it() {
        let (server, alice, bob, up) = parties();
        let blob = seal(&alice, server.public(), &up, b"body");
        for other in [&alice, &bob] {
            assert_eq!(open(other, alice.public(), &blob), Err(SEAL));
        }
    }

    #[test]
    fn only_the_sender_signs_it() {
        let (server, alice, bob, up) = parties();
        let blob = seal(&bob, server.public(), &up, b"body");
        assert_eq!(open(&server, alice.public(), &blob), refuse("it is not signed by its sender"));
        assert!(open(&server, bob.public(), &blob).is_ok());
    }

    /// The envelope that somebody makes who knows the body and has a signature.
    fn sealed_with(to: &Identity, header: &Header, body: &[u8], signature: &[u8]) -> Vec<u8> {
        let (head, mut text) = (header.to_bytes(), [body, signature].concat());
        let rng = &mut Fixed(Some([5; 32]));
        let (enc, tag) =
            hpke_seal(to.public().sealing(), INFO, &head, &mut text, rng).expect("a good key");
        [&head, &enc[..], &text, &tag].concat()
    }

    #[test]
    fn a_signature_is_of_one_header_and_one_body() {
        let (server, alice, _, up) = parties();
        let signature = alice.sign(&signed(&up.to_bytes(), b"body"));
        let again = sealed_with(&server, &up, b"body", &signature);
        assert!(open(&server, alice.public(), &again).is_ok());

        let unsigned = refuse("it is not signed by its sender");
        for other in other_headers(up).filter(|other| other.checked().is_ok()) {
            let blob = sealed_with(&server, &other, b"body", &signature);
            assert_eq!(open(&server, alice.public(), &blob), unsigned);
        }
        let blob = sealed_with(&server, &up, b"bodz", &signature);
        assert_eq!(open(&server, alice.public(), &blob), unsigned);
    }

    #[test]
    fn encapsulated_keys_of_low_order_are_refused() {
        let (server, alice, _, up) = parties();
        let blob = seal(&alice, server.public(), &up, b"body");
        let minus_one: [u8; 32] = std::array::from_fn(|i| match i {
            0 => 0xec,
            31 => 0x7f,
            _ => 0xff,
        });
        let of_order_8 = hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
        let mut one = [0; 32];
        one[0] = 1;
        for low in [[0; 32], one, minus_one, of_order_8] {
            let mut wrong = blob.clone();
            wrong[HEADER..HEADER + ENC].copy_from_slice(&low);
            assert_eq!(open(&server, alice.public(), &wrong), Err(SEAL));
            // The key itself is at fault, not the tag that does not match it.
            let opened = hpke_open(server.sealing(), INFO, &[], &low, &mut [], &[0; TAG]);
            assert_eq!(opened, Err(HpkeError::DecapError));
        }
    }

    #[test]
    fn another_version_is_named() {
        let (server, alice, _, up) = parties();
        let mut blob = seal(&alice, server.public(), &up, b"body");
        blob[0] = 3;
        let error = header_of(&blob).expect_err("another version");
        assert_eq!(error.code(), "envelope");
        assert!(error.to_string().contains("another version"), "{error}");
    }
}
