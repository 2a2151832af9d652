//! Secure aggregation: the exact sum of many integer messages, and nothing else (M9, M10).
//!
//! Bonawitz et al. (2017) on the full graph, with double masks. A [`Client`] and a [`Server`] are
//! state machines, bytes in and bytes out, that know nothing of rankings or networks:
//!
//! ```text
//! client                          server
//!            <----- Begin ------
//! advertise  -- Advertise ----->  receive … close_step
//! share      <----- Keys -------
//!            -- Shares -------->  receive … close_step
//! mask       <----- Delivery ---
//!            -- Masked -------->  receive … close_step   (the survivors are fixed here)
//! confirm    <----- Survivors --
//!            -- Confirm ------->  receive … close_step
//! unmask     <----- Confirmed --
//!            -- Reveal -------->  receive … close_step, result
//! ```
//!
//! The step `confirm` is for studies with identities. Without, [`Client::unmask`] answers
//! `Survivors`. A client may be lost at any step; `threshold` of them must stay to the end.
//!
//! With identities, *Shares* are signed, and so is what each client saw of who shared and who
//! survived. A lying server, with up to 2t − L − 1 clients on its side, learns no more than the
//! sum.

mod begin;
mod client;
pub mod envelope;
mod error;
pub mod identity;
mod keys;
pub mod mask;
mod message;
mod server;
mod shares;
mod signed;
mod state;
mod wire;

pub use begin::Begin;
pub use client::Client;
pub use error::{Error, Party, Result};
pub use identity::{Identity, PublicIdentity};
pub use server::Server;
pub use wire::{MessageSizes, SIGNED_STEPS, STEPS, message_sizes, sender_of, survivors_of};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::message::Layout;
use identity::SIGNATURE;

/// A client, and its signature over who shared and who survived.
pub type Confirmation = (u16, [u8; SIGNATURE]);

/// The fewest clients whose sum may be opened: of two, each could subtract its own input.
///
/// The driver and the agents enforce it; the state machines themselves take any roster.
pub const MIN_SURVIVORS: usize = 3;

/// The threshold where none is chosen: ⌊2L/3⌋ + 1 of L clients (M10).
#[must_use]
pub fn default_threshold(clients: usize) -> usize {
    clients - clients.div_ceil(3) + 1
}

/// [`Error::Clients`] unless 2 ≤ L ≤ 65,535.
fn check_clients(clients: usize) -> Result<()> {
    if (2..=65_535).contains(&clients) { Ok(()) } else { Err(Error::Clients { clients }) }
}

/// The digest of one round of a study, which enters every key derivation of the round:
///
/// ```text
/// H("round", study, round, stage, order, previous, H("survivors", survivors))
/// ```
///
/// It binds the round to the study's digest, the announced `order`, the digest of the `previous`
/// round and the survivors there. Integers are little-endian: the round and each item of the order
/// take 4 bytes, each survivor 2. In round 0 the order and the survivors are empty, and `previous`
/// is 32 zero bytes.
#[must_use]
pub fn round_digest(
    study: &[u8; 32],
    round: u32,
    stage: &str,
    order: &[u32],
    previous: &[u8; 32],
    survivors: &[u16],
) -> [u8; 32] {
    let order: Vec<u8> = order.iter().flat_map(|item| item.to_le_bytes()).collect();
    let survivors = keys::hash("survivors", &[&message::id_list(survivors)]);
    let round = round.to_le_bytes();
    keys::hash("round", &[study, &round, stage.as_bytes(), &order, previous, &survivors])
}

/// The session of a round: the digest of the round, the server's nonce and the number of the run.
fn session(round_digest: &[u8; 32], nonce: &[u8; 32], run: u64) -> [u8; 32] {
    keys::hash("session", &[round_digest, nonce, &run.to_le_bytes()])
}

/// What secure aggregation must know of a study. All parties must hold the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    digest: [u8; 32],
    clients: usize,
    threshold: usize,
    round: u32,
    layout: Layout,
    /// In roster order, or none.
    identities: Arc<[PublicIdentity]>,
}

impl Params {
    /// Parameters of one round of the study that has this digest, with roster indices
    /// `0..clients`. Without a threshold, it is the [`default_threshold`].
    ///
    /// # Errors
    /// [`Error::Clients`] unless 2 ≤ L ≤ 65,535; [`Error::Threshold`] unless L/2 < t ≤ L. With
    /// t ≤ L/2 two halves of the roster could each give one of a client's two secrets.
    pub fn new(
        digest: [u8; 32],
        clients: usize,
        threshold: Option<usize>,
        round: u32,
        layout: Layout,
    ) -> Result<Self> {
        check_clients(clients)?;
        let threshold = threshold.unwrap_or_else(|| default_threshold(clients));
        if threshold <= clients / 2 || threshold > clients {
            return Err(Error::Threshold { threshold, clients });
        }
        Ok(Self { digest, clients, threshold, round, layout, identities: Arc::new([]) })
    }

    /// The same with an identity for each client, in roster order: what clients say of their keys
    /// and of each other is signed.
    ///
    /// # Errors
    /// [`Error::Identities`] unless there is one for each; [`Error::SharedKey`] if a key occurs
    /// twice.
    pub fn signed(self, identities: Vec<PublicIdentity>) -> Result<Self> {
        let (got, clients) = (identities.len(), self.clients);
        if got != clients {
            return Err(Error::Identities { got, clients });
        }
        let mut seen = BTreeSet::new();
        for (client, identity) in identities.iter().enumerate() {
            if !identity.parts().into_iter().all(|key| seen.insert(*key)) {
                return Err(Error::SharedKey { client });
            }
        }
        Ok(Self { identities: identities.into(), ..self })
    }

    /// Size of the roster, L.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients
    }

    /// How many clients must stay to the end, t.
    #[must_use]
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// Whether the clients have identities, and so whether there is a step `confirm`.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        !self.identities.is_empty()
    }

    /// The shape of every input and of the sum.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Hash of all parameters: what the parties agree on before the server has spoken.
    fn study(&self) -> [u8; 32] {
        let mut shape = Vec::new();
        for segment in self.layout.segments() {
            shape.extend_from_slice(&(segment.len as u64).to_le_bytes());
            shape.extend_from_slice(&segment.bits.to_le_bytes());
        }
        let numbers = [self.clients as u32, self.threshold as u32, self.round];
        let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let signing: Vec<u8> = self.identities.iter().flat_map(|id| *id.parts()[0]).collect();
        keys::hash("study", &[&self.digest, &numbers, &shape, &signing])
    }

    /// Hash of all parameters, the session and everybody's public keys.
    ///
    /// It salts every key and is part of every authenticated text, so two clients that were told
    /// different things, about the study or about anybody's keys, cannot open each other's shares.
    fn context(&self, session: &[u8; 32], keys: &[u8]) -> [u8; 32] {
        let keys = keys::hash("keys", &[keys]);
        keys::hash("context", &[&self.study(), session, &keys])
    }

    /// Bytes of a signature in this study: none without identities.
    fn signature_len(&self) -> usize {
        if self.is_signed() { SIGNATURE } else { 0 }
    }

    /// [`Error::Signature`] unless `signature` is of this client and text.
    fn verify(
        &self,
        from: Party,
        client: u16,
        text: &[u8; 32],
        signature: &[u8; SIGNATURE],
    ) -> Result<()> {
        match self.identities.get(usize::from(client)) {
            Some(identity) if identity.verify(text, signature) => Ok(()),
            _ => Err(Error::Signature { from, client: client.into() }),
        }
    }

    /// `client` as it is written on the wire.
    fn id(&self, client: usize) -> Result<u16> {
        u16::try_from(client)
            .ok()
            .filter(|_| client < self.clients)
            .ok_or(Error::Unknown { client, clients: self.clients })
    }

    /// [`Error::TooFew`] below the threshold.
    fn enough(&self, got: usize, what: &'static str) -> Result<()> {
        let need = self.threshold;
        if got < need { Err(Error::TooFew { what, got, need }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_more_than_half() {
        let layout = Layout::new(Vec::new()).expect("empty");
        let new = |clients, t| Params::new([0; 32], clients, t, 0, layout.clone());
        for (clients, default) in
            [(2, 2), (3, 3), (4, 3), (5, 4), (10, 7), (100, 67), (65_535, 43_691)]
        {
            assert_eq!(new(clients, None).map(|p| p.threshold()), Ok(default));
            assert!(new(clients, Some(clients / 2 + 1)).is_ok());
            assert!(new(clients, Some(clients)).is_ok());
            for threshold in [0, clients / 2, clients + 1] {
                assert_eq!(
                    new(clients, Some(threshold)),
                    Err(Error::Threshold { threshold, clients })
                );
            }
        }
        for clients in [0, 1, 65_536] {
            assert_eq!(new(clients, None), Err(Error::Clients { clients }));
        }
    }
}
