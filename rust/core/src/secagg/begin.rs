//! What the server opens a round with, and what a client derives its session from.

use super::error::{Error, Party, Result};
use super::message::{self, CONFIRMED_ENTRY, Kind, id_list, take, take_slice};
use super::{Confirmation, round_digest, session};

/// The stage of round 0. Nothing was announced before it.
const START: &str = "start";

/// The server's first message to a client: which round of which run begins.
///
/// ```text
/// study 32 | run 8 | round 4 | nonce 32 | previous 32 | length 1, stage | number 4, order 4 each
/// survivors: number 2, ids 2 each | confirmations: id 2, signature 64 each
/// ```
///
/// Who reads it decides whether the study, the round and the order are acceptable, and whether
/// the survivors and their confirmations are those of the round before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// Digest of the study.
    pub study: [u8; 32],
    /// Number of the run.
    pub run: u64,
    /// Number of the round in the study.
    pub round: u32,
    /// The server's nonce.
    pub nonce: [u8; 32],
    /// What is asked for. In round 0 it is `start`.
    pub stage: String,
    /// The announced order. In round 0 it is empty.
    pub order: Vec<u32>,
    /// Digest of the round before. In round 0 it is zero.
    pub previous: [u8; 32],
    /// The survivors of the round before. In round 0 there are none.
    pub survivors: Vec<u16>,
    /// Confirmations of these, in a signed study. In round 0 there are none.
    pub confirmations: Vec<Confirmation>,
}

impl Begin {
    /// Digest of the round (see [`round_digest`]).
    #[must_use]
    pub fn round_digest(&self) -> [u8; 32] {
        let Self { study, round, stage, order, previous, survivors, .. } = self;
        round_digest(study, *round, stage, order, previous, survivors)
    }

    /// The session that begins: the round, the nonce and the run.
    #[must_use]
    pub fn session(&self) -> [u8; 32] {
        session(&self.round_digest(), &self.nonce, self.run)
    }

    /// The message for the client `recipient`.
    ///
    /// # Errors
    /// [`Error::Malformed`] unless [`open`](Self::open) would take it.
    pub fn to_bytes(&self, recipient: u16) -> Result<Vec<u8>> {
        self.check()?;
        let malformed = |what| Error::Malformed { from: Party::Server, what };
        let stage = u8::try_from(self.stage.len())
            .map_err(|_| malformed("its stage has more than 255 bytes"))?;
        let items = u32::try_from(self.order.len())
            .map_err(|_| malformed("its order has more than 2^32 - 1 items"))?;
        // Rising, so at most 2^16; all of these at once are no roster.
        let survivors = u16::try_from(self.survivors.len())
            .map_err(|_| malformed("it has more than 65535 survivors"))?;
        let lists = 4 * self.order.len() + 2 * self.survivors.len();
        let len = 115 + self.stage.len() + lists + CONFIRMED_ENTRY * self.confirmations.len();
        let mut message = message::begin(Kind::Begin, recipient, &self.session(), len);
        message.extend_from_slice(&self.study);
        message.extend_from_slice(&self.run.to_le_bytes());
        message.extend_from_slice(&self.round.to_le_bytes());
        message.extend_from_slice(&self.nonce);
        message.extend_from_slice(&self.previous);
        message.push(stage);
        message.extend_from_slice(self.stage.as_bytes());
        message.extend_from_slice(&items.to_le_bytes());
        message.extend(self.order.iter().flat_map(|item| item.to_le_bytes()));
        message.extend_from_slice(&survivors.to_le_bytes());
        message.extend_from_slice(&id_list(&self.survivors));
        for (id, signature) in &self.confirmations {
            message.extend_from_slice(&id.to_le_bytes());
            message.extend_from_slice(signature);
        }
        Ok(message::finish(message))
    }

    /// Read the message for the client `recipient`.
    ///
    /// # Errors
    /// [`Error::Version`] if it is of another version; [`Error::Foreign`] if it is for another
    /// client; [`Error::Malformed`] unless it is whole, its lists rise, its session is the one it
    /// describes, and round 0 has neither order nor predecessor; [`Error::List`] if a list does
    /// not rise.
    pub fn open(bytes: &[u8], recipient: u16) -> Result<Self> {
        let from = Party::Server;
        let malformed = |what| Error::Malformed { from, what };
        let message = message::open(bytes, from)?;
        if message.kind != Kind::Begin {
            return Err(malformed(message::WRONG_KIND));
        }
        if message.client != recipient {
            return Err(Error::Foreign { from });
        }
        let begin = Self::read(message.body).ok_or(malformed(message::WRONG_LENGTH))??;
        if begin.session() != message.session {
            return Err(malformed("its session is not the one it describes"));
        }
        begin.check()?;
        Ok(begin)
    }

    /// `None` if the lengths do not fit.
    fn read(mut body: &[u8]) -> Option<Result<Self>> {
        let body = &mut body;
        let (study, run, round) = (take(body)?, take(body)?, take(body)?);
        let (nonce, previous, [stage]) = (take(body)?, take(body)?, take(body)?);
        let stage = take_slice(body, usize::from(stage))?;
        let items = u32::from_le_bytes(take(body)?) as usize;
        let (order, _) = take_slice(body, items.checked_mul(4)?)?.as_chunks();
        let survivors = usize::from(u16::from_le_bytes(take(body)?));
        let (survivors, _) = take_slice(body, 2 * survivors)?.as_chunks();
        let (confirmations, []) = body.as_chunks::<CONFIRMED_ENTRY>() else {
            return None;
        };
        let Ok(stage) = std::str::from_utf8(stage) else {
            let what = "its stage is not UTF-8";
            return Some(Err(Error::Malformed { from: Party::Server, what }));
        };
        Some(Ok(Self {
            study,
            run: u64::from_le_bytes(run),
            round: u32::from_le_bytes(round),
            nonce,
            stage: stage.into(),
            order: order.iter().map(|item| u32::from_le_bytes(*item)).collect(),
            previous,
            survivors: survivors.iter().map(|id| u16::from_le_bytes(*id)).collect(),
            confirmations: confirmations.iter().map(message::confirmation).collect(),
        }))
    }

    fn check(&self) -> Result<()> {
        let rising = self.survivors.is_sorted_by(|a, b| a < b)
            && self.confirmations.is_sorted_by(|a, b| a.0 < b.0);
        if !rising {
            return Err(Error::List { what: message::NOT_RISING });
        }
        let alone = self.stage == START
            && self.order.is_empty()
            && self.previous == [0; 32]
            && self.survivors.is_empty()
            && self.confirmations.is_empty();
        if self.round == 0 && !alone {
            let what = "it is of round 0, but announces or follows something";
            return Err(Error::Malformed { from: Party::Server, what });
        }
        Ok(())
    }
}
