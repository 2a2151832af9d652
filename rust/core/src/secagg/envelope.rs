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
mod tests;
