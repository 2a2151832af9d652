//! The server's half of the protocol (M10).

mod close;
mod finish;

use std::collections::{BTreeMap, BTreeSet};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::error::{Error, Party, Result};
use super::identity::SIGNATURE;
use super::keys::{self, Public, Secret};
use super::mask::Sum;
use super::message::{self, Kind, REVEAL_ENTRY};
use super::{Confirmation, Params, session, shares, signed};

/// The server in one session.
///
/// Hand every message to [`receive`](Self::receive), and call [`close_step`](Self::close_step)
/// when all have come or time is up; then deliver what it returns. After the last step,
/// [`result`](Self::result) is the sum. A refused message and a refused or interrupted call change
/// nothing, so the caller may wait for more messages and close again.
pub struct Server {
    pub(super) params: Params,
    pub(super) run: u64,
    pub(super) nonce: [u8; 32],
    pub(super) step: Step,
    /// Hash of each message taken, by client and kind.
    pub(super) taken: BTreeMap<(u16, Kind), [u8; 32]>,
    pub(super) faults: BTreeSet<(usize, &'static str)>,
    pub(super) keys: BTreeMap<u16, Public>,
    /// Zero until the first step is closed.
    pub(super) context: [u8; 32],
    /// Bodies of `Shares` messages, with the signatures of a signed study.
    pub(super) shares: BTreeMap<u16, Vec<u8>>,
    pub(super) survivors: BTreeSet<u16>,
    /// Signatures of those that confirmed both lists, in a signed study.
    pub(super) confirmed: BTreeMap<u16, [u8; SIGNATURE]>,
    pub(super) sum: Sum,
    /// Good shares of each client's secret, as holder and share.
    pub(super) revealed: BTreeMap<u16, Vec<(u16, HalfShare)>>,
    pub(super) total: Option<Vec<u64>>,
}

pub(super) type HalfShare = Zeroizing<[u16; 16]>;

/// The step whose messages are being received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Advertise,
    Share,
    Mask,
    /// In a signed study only.
    Confirm,
    Unmask,
    Done,
}

impl Step {
    /// The step in which clients send messages of this kind.
    fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Advertise => Some(Self::Advertise),
            Kind::Shares => Some(Self::Share),
            Kind::Masked => Some(Self::Mask),
            Kind::Confirm => Some(Self::Confirm),
            Kind::Reveal => Some(Self::Unmask),
            _ => None,
        }
    }
}

impl Server {
    /// A server at the first step of this run, with a fresh nonce from `rng`.
    pub fn new(params: Params, run: u64, rng: &mut impl CryptoRng) -> Self {
        let mut nonce = [0; 32];
        rng.fill_bytes(&mut nonce);
        Self::with_nonce(params, run, nonce)
    }

    pub(super) fn with_nonce(params: Params, run: u64, nonce: [u8; 32]) -> Self {
        Self {
            sum: Sum::new(&params.layout),
            params,
            run,
            nonce,
            step: Step::Advertise,
            taken: BTreeMap::new(),
            faults: BTreeSet::new(),
            keys: BTreeMap::new(),
            context: [0; 32],
            shares: BTreeMap::new(),
            survivors: BTreeSet::new(),
            confirmed: BTreeMap::new(),
            revealed: BTreeMap::new(),
            total: None,
        }
    }

    /// The number of the run.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The server's nonce, for [`Begin`](super::Begin).
    #[must_use]
    pub fn nonce(&self) -> [u8; 32] {
        self.nonce
    }

    /// The session: the round, the nonce and the run.
    #[must_use]
    pub fn session(&self) -> [u8; 32] {
        session(&self.params.digest, &self.nonce, self.run)
    }

    /// Take a message from client `sender`, as the transport knows it.
    ///
    /// An identical repetition is ignored.
    ///
    /// # Errors
    /// Refuses, naming the sender, what is malformed, of another study, session or client, out of
    /// order, late, or different from what was sent before; unacceptable keys; in a signed study
    /// wrong signatures. A client whose shares are refused counts as absent. A wrong share
    /// is no error: it is skipped, and its sender listed in [`faults`](Self::faults).
    pub fn receive(&mut self, sender: usize, message: &[u8]) -> Result<()> {
        let id = self.params.id(sender)?;
        let taken = self.take(id, message);
        if let Err(error) = &taken
            && !matches!(error, Error::Late { .. } | Error::Order { .. })
        {
            self.faults.insert((sender, error.code()));
        }
        taken
    }

    fn take(&mut self, sender: u16, bytes: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        let message = message::open(bytes, from)?;
        let kind = message.kind;
        let digest = keys::hash("message", &[bytes]);
        if self.taken.get(&(sender, kind)) == Some(&digest) {
            return Ok(());
        }
        let step = Step::of(kind)
            .filter(|&step| step != Step::Confirm || self.params.is_signed())
            .ok_or(Error::Malformed { from, what: message::NOT_A_CLIENTS })?;
        let session = match kind {
            Kind::Advertise => self.session(),
            _ if self.step == Step::Advertise => return Err(Error::Order { from }),
            _ => self.context,
        };
        if message.client != sender || message.session != session {
            return Err(Error::Foreign { from });
        }
        if self.taken.contains_key(&(sender, kind)) {
            return Err(Error::Conflict { from });
        }
        if step > self.step {
            return Err(Error::Order { from });
        }
        if step < self.step {
            return Err(Error::Late { from });
        }
        match kind {
            Kind::Advertise => self.take_keys(sender, message.body)?,
            Kind::Shares => self.take_shares(sender, message.body)?,
            Kind::Masked => self.take_masked(sender, message.body)?,
            Kind::Confirm => self.take_confirm(sender, message.body)?,
            _ => self.take_reveal(sender, message.body)?,
        }
        self.taken.insert((sender, kind), digest);
        Ok(())
    }

    fn take_keys(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        let body =
            body.try_into().map_err(|_| Error::Malformed { from, what: message::WRONG_LENGTH })?;
        let public = Public::from_bytes(body);
        let repeated = |key| self.keys.values().any(|other| other.parts().contains(&key));
        if public.transport == public.mask
            || public.parts().into_iter().any(|key| !keys::acceptable(key) || repeated(key))
        {
            return Err(Error::Key { from, client: sender.into() });
        }
        self.keys.insert(sender, public);
        Ok(())
    }

    fn take_shares(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        if !self.keys.contains_key(&sender) {
            return Err(Error::Order { from });
        }
        let shares = message::shares_len(self.keys.len());
        if body.len() != shares + self.params.signature_len() {
            return Err(Error::Malformed { from, what: message::WRONG_LENGTH });
        }
        if let Some(signature) = body[shares..].first_chunk() {
            let text = signed::share(&self.context, sender);
            self.params.verify(from, sender, &text, signature)?;
        }
        self.shares.insert(sender, body.to_vec());
        Ok(())
    }

    fn take_masked(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        if !self.shares.contains_key(&sender) {
            return Err(Error::Order { from });
        }
        let entries = self.params.layout.unpack(body);
        let entries = entries
            .map_err(|_| Error::Malformed { from, what: "it has the wrong length or padding" })?;
        self.sum.add_entries(&entries);
        self.survivors.insert(sender);
        Ok(())
    }

    fn take_confirm(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        if !self.survivors.contains(&sender) {
            return Err(Error::Order { from });
        }
        let signature =
            body.try_into().map_err(|_| Error::Malformed { from, what: message::WRONG_LENGTH })?;
        let lists = signed::Lists::new(&self.context, self.shares.keys(), &self.survivors);
        self.params.verify(from, sender, &lists.confirm(sender), &signature)?;
        self.confirmed.insert(sender, signature);
        Ok(())
    }

    fn take_reveal(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        let asked = match self.params.is_signed() {
            true => self.confirmed.contains_key(&sender),
            false => self.survivors.contains(&sender),
        };
        if !asked {
            return Err(Error::Order { from });
        }
        let entries = message::entries::<REVEAL_ENTRY>(body, from)?;
        let absent = |entry: &[u8; REVEAL_ENTRY]| *entry == [0; REVEAL_ENTRY];
        if entries.len() != self.shares.len() || entries.iter().any(|e| e[0] != 1 && !absent(e)) {
            return Err(Error::Malformed {
                from,
                what: "it has the wrong length, or a mark that is not 0 or 1",
            });
        }
        let holder = self.index(sender);
        for ((&owner, dealt), entry) in self.shares.iter().zip(entries) {
            let secret = self.secret_of(owner);
            let share = &entry[1..];
            if absent(entry) {
                continue;
            }
            let print = keys::fingerprint(&self.context, owner, sender, secret, share);
            if dealt[32 + 32 * holder + 16 * secret as usize..][..16] == print {
                let good = self.revealed.entry(owner).or_default();
                good.push((sender, shares::words(share)));
            } else {
                self.faults.insert((sender.into(), "share"));
            }
        }
        Ok(())
    }

    /// The sum of the survivors' inputs, modulo each segment's power of two, and the survivors.
    ///
    /// # Errors
    /// [`Error::Order`] before the last step is closed.
    pub fn result(&self) -> Result<(Vec<u64>, Vec<usize>)> {
        let total = self.total.clone().ok_or(Error::Order { from: Party::Server })?;
        Ok((total, self.survivors.iter().map(|&id| id.into()).collect()))
    }

    /// Who confirmed the survivors, for [`Begin`](super::Begin) of the next round: t of them, after
    /// the step `confirm` is closed. Otherwise, and without identities, none.
    #[must_use]
    pub fn confirmations(&self) -> Vec<Confirmation> {
        if self.step <= Step::Confirm {
            return Vec::new();
        }
        let confirmed = self.confirmed.iter().take(self.params.threshold);
        confirmed.map(|(&id, &signature)| (id, signature)).collect()
    }

    /// Clients that misbehaved, each with the code of what it did: that of an [`Error`], or
    /// `share` for a wrong share.
    #[must_use]
    pub fn faults(&self) -> Vec<(usize, &'static str)> {
        self.faults.iter().copied().collect()
    }

    /// Id and public keys of everybody who advertised, as in the `Keys` message.
    pub(super) fn key_list(&self) -> Vec<u8> {
        let entry = |(id, public): (&u16, &Public)| {
            [id.to_le_bytes().as_slice(), &public.transport, &public.mask].concat()
        };
        self.keys.iter().flat_map(entry).collect()
    }

    /// Place of `client` among those who advertised.
    fn index(&self, client: u16) -> usize {
        self.keys.range(..client).count()
    }

    /// The secret of `owner` that the server may have.
    fn secret_of(&self, owner: u16) -> Secret {
        if self.survivors.contains(&owner) { Secret::Seed } else { Secret::Mask }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("step", &self.step).finish_non_exhaustive()
    }
}
