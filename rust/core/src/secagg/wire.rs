//! What drivers, agents and planners may know of the wire without reading its bytes.

use super::check_clients;
use super::error::{Error, Party, Result};
use super::identity::SIGNATURE;
use super::keys::Public;
use super::message::{self, Kind, REVEAL_ENTRY};

/// The steps of a round without identities, in order, by name.
pub const STEPS: [&str; 4] = ["advertise", "share", "mask", "unmask"];

/// The steps of a round with identities.
pub const SIGNED_STEPS: [&str; 5] = ["advertise", "share", "mask", "confirm", "unmask"];

/// Bytes that one client sends in each step of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSizes {
    /// Bytes of its public keys.
    pub advertise: u64,
    /// Bytes of the shares of its secrets.
    pub share: u64,
    /// Bytes of its masked input.
    pub mask: u64,
    /// Bytes of its signature over who shared and who survived; 0 without identities.
    pub confirm: u64,
    /// Bytes of the shares it reveals.
    pub unmask: u64,
}

/// Sizes of the messages of one client, if all `clients` take part and an input has
/// `message_bits` bits, in a round with identities (`signed`) or without.
///
/// # Errors
/// [`Error::Clients`] for a roster that [`Params::new`](super::Params::new) refuses too.
pub fn message_sizes(clients: usize, message_bits: u64, signed: bool) -> Result<MessageSizes> {
    check_clients(clients)?;
    let whole = |body: usize| (message::FRAME + body) as u64;
    let signature = if signed { SIGNATURE } else { 0 };
    Ok(MessageSizes {
        advertise: whole(Public::BYTES),
        share: whole(message::shares_len(clients) + signature),
        mask: whole(0) + message_bits.div_ceil(8),
        confirm: if signed { whole(SIGNATURE) } else { 0 },
        unmask: whole(REVEAL_ENTRY * clients),
    })
}

/// The client that says it sent `message`.
///
/// Nothing proves it: [`Server::receive`](super::Server::receive) compares it with the sender that
/// the transport names.
///
/// # Errors
/// [`Error::Malformed`] or [`Error::Version`] unless it is a whole message of a client.
pub fn sender_of(message: &[u8]) -> Result<usize> {
    let from = Party::Unknown;
    let message = message::open(message, from)?;
    match message.kind {
        Kind::Advertise | Kind::Shares | Kind::Masked | Kind::Confirm | Kind::Reveal => {
            Ok(message.client.into())
        }
        _ => Err(Error::Malformed { from, what: message::NOT_A_CLIENTS }),
    }
}

/// The clients that a `Survivors` message lists, in rising order.
///
/// # Errors
/// [`Error::Malformed`] or [`Error::Version`] unless it is a whole message of that kind.
pub fn survivors_of(message: &[u8]) -> Result<Vec<usize>> {
    let from = Party::Server;
    let message = message::open(message, from)?;
    if message.kind != Kind::Survivors {
        return Err(Error::Malformed { from, what: "it is not a list of survivors" });
    }
    let ids = message::ids(message::entries::<2>(message.body, from)?)
        .map_err(|_| Error::Malformed { from, what: "a survivor is repeated or out of order" })?;
    Ok(ids.into_iter().map(usize::from).collect())
}
