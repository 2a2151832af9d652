//! The wire: header, body, checksum.
//!
//! ```text
//! version 1 | kind 1 | client 2 | session 32 | body | checksum 4
//! ```
//!
//! Integers are little-endian. The client is the one that sends the message or is to read it.
//! The session is a hash of the round, the server's nonce and the run until the keys are known, and
//! the context from then on. The checksum, the first bytes of SHA-256 of all before it, is for
//! accidents. A reader allocates no more than the bytes in hand.

use sha2::{Digest, Sha256};

use super::Confirmation;
use super::error::{Error, Party, Result};
use super::identity::SIGNATURE;
use super::keys::SEALED;

/// Version of the protocol.
const VERSION: u8 = 2;
const HEADER: usize = 36;
const CHECKSUM: usize = 4;
/// Bytes of a message beside its body.
pub(super) const FRAME: usize = HEADER + CHECKSUM;
/// Bytes of one client in the body of `Reveal`: mark, share.
pub(super) const REVEAL_ENTRY: usize = 33;
/// Bytes of a client in the bodies of `Confirmed` and `Begin`: id, signature.
pub(super) const CONFIRMED_ENTRY: usize = 2 + SIGNATURE;
/// What is wrong with a body of the wrong length.
pub(super) const WRONG_LENGTH: &str = "it has the wrong length";
/// What is wrong with a message of another kind than expected.
pub(super) const WRONG_KIND: &str = "it is not the message of this step";
/// What is wrong with a list whose ids do not rise strictly.
pub(super) const NOT_RISING: &str = "a client is repeated or out of order";
/// What is wrong with a message that only the server sends.
pub(super) const NOT_A_CLIENTS: &str = "it is not a client's message";

/// Where the sealed share of this number begins in the body of `Shares`: after the commitment
/// and two fingerprints for each of the `clients` that advertised.
pub(super) fn sealed_at(clients: usize, number: usize) -> usize {
    32 + 32 * clients + SEALED * number
}

/// Bytes of the body of `Shares` without a signature, if so many clients advertised.
pub(super) fn shares_len(clients: usize) -> usize {
    sealed_at(clients, clients - 1)
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A client's two public keys: c, s.
    Advertise = 1,
    /// Id, c, s of everybody who advertised.
    Keys = 2,
    /// The commitment to b; two fingerprints for every holder; sealed shares for all but oneself;
    /// in a signed study a signature.
    Shares = 3,
    /// Id, two fingerprints and the sealed share from every other client that shared; in a signed
    /// study also its signature.
    Delivery = 4,
    /// The masked input, bit-packed.
    Masked = 5,
    /// Ids of those whose masked input arrived.
    Survivors = 6,
    /// For everyone who shared: 1 and a share (of b for survivors, of s for others), or zeros.
    Reveal = 7,
    /// Not sent: a client's state between steps.
    ClientState = 8,
    /// Not sent: the server's state.
    ServerState = 9,
    /// What the server opens a round with.
    Begin = 10,
    /// A client's signature over who shared and who survived.
    Confirm = 11,
    /// Ids and signatures of t clients that confirmed.
    Confirmed = 12,
}

/// Begin a message whose body will have `body` bytes. It never grows, so no copy stays behind.
pub(super) fn begin(kind: Kind, client: u16, session: &[u8; 32], body: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(FRAME + body);
    message.extend_from_slice(&[VERSION, kind as u8]);
    message.extend_from_slice(&client.to_le_bytes());
    message.extend_from_slice(session);
    message
}

/// Append the checksum.
pub(super) fn finish(mut message: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&message);
    message.extend_from_slice(&sum);
    message
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    [hash[0], hash[1], hash[2], hash[3]]
}

/// A message taken apart.
pub(super) struct Message<'a> {
    pub(super) kind: Kind,
    pub(super) client: u16,
    pub(super) session: [u8; 32],
    pub(super) body: &'a [u8],
}

/// Take a message apart, whoever it is for.
pub(super) fn open(bytes: &[u8], from: Party) -> Result<Message<'_>> {
    let malformed = |what| Error::Malformed { from, what };
    let (content, sum) = bytes.split_last_chunk().ok_or(malformed("it is too short"))?;
    let (header, body) =
        content.split_first_chunk::<HEADER>().ok_or(malformed("it is too short"))?;
    if header[0] != VERSION {
        return Err(Error::Version { from, theirs: header[0], ours: VERSION });
    }
    if checksum(content) != *sum {
        return Err(malformed("its checksum does not match"));
    }
    let kinds = [
        Kind::Advertise,
        Kind::Keys,
        Kind::Shares,
        Kind::Delivery,
        Kind::Masked,
        Kind::Survivors,
        Kind::Reveal,
        Kind::ClientState,
        Kind::ServerState,
        Kind::Begin,
        Kind::Confirm,
        Kind::Confirmed,
    ];
    let kind = kinds
        .into_iter()
        .find(|&k| k as u8 == header[1])
        .ok_or(malformed("its kind is unknown"))?;
    let client = u16::from_le_bytes([header[2], header[3]]);
    let mut session = [0; 32];
    session.copy_from_slice(&header[4..]);
    Ok(Message { kind, client, session, body })
}

/// The body of a message from the server, if it is of this kind and for this client and session.
pub(super) fn expect<'a>(
    bytes: &'a [u8],
    kind: Kind,
    client: u16,
    session: &[u8; 32],
) -> Result<&'a [u8]> {
    let from = Party::Server;
    let message = open(bytes, from)?;
    if message.kind != kind {
        return Err(Error::Malformed { from, what: WRONG_KIND });
    }
    if message.client != client || message.session != *session {
        return Err(Error::Foreign { from });
    }
    Ok(message.body)
}

/// `body` as entries of `N` bytes.
pub(super) fn entries<const N: usize>(body: &[u8], from: Party) -> Result<&[[u8; N]]> {
    match body.as_chunks() {
        (entries, []) => Ok(entries),
        _ => Err(Error::Malformed { from, what: WRONG_LENGTH }),
    }
}

/// The ids at the start of `entries`, which must rise strictly.
pub(super) fn ids<const N: usize>(entries: &[[u8; N]]) -> Result<Vec<u16>> {
    let ids: Vec<u16> = entries.iter().map(|e| u16::from_le_bytes([e[0], e[1]])).collect();
    if ids.is_sorted_by(|a, b| a < b) { Ok(ids) } else { Err(Error::List { what: NOT_RISING }) }
}

/// Id and signature in an entry of `Confirmed` or `Begin`.
pub(super) fn confirmation(entry: &[u8; CONFIRMED_ENTRY]) -> Confirmation {
    let mut signature = [0; SIGNATURE];
    signature.copy_from_slice(&entry[2..]);
    (u16::from_le_bytes([entry[0], entry[1]]), signature)
}

/// Clients as they are written on the wire.
pub(super) fn id_list<'a>(ids: impl IntoIterator<Item = &'a u16>) -> Vec<u8> {
    ids.into_iter().flat_map(|id| id.to_le_bytes()).collect()
}

/// Splits a fixed-size array off the front of `bytes`, which moves on.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Splits `len` bytes off the front.
pub(super) fn take_slice<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(first)
}
