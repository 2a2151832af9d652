//! The server's half of the protocol (M10).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use rand_core::CryptoRng;
use rayon::prelude::*;
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use super::error::{Error, Party, Result, check};
use super::keys::{self, Key, Public, SEALED, Secret};
use super::mask::Sum;
use super::message::{self, Kind, REVEAL_ENTRY};
use super::{Params, shares};
use crate::interrupt::Interrupt;

/// The server in one session.
///
/// Hand every message to [`receive`](Self::receive), and call [`close_step`](Self::close_step)
/// when all have come or time is up; then deliver what it returns. After the fourth step,
/// [`result`](Self::result) is the sum. A refused message and a refused or interrupted call change
/// nothing, so the caller may wait for more messages and close again.
pub struct Server {
    pub(super) params: Params,
    pub(super) nonce: [u8; 32],
    pub(super) step: Step,
    /// Hash of each message taken, by client and kind.
    pub(super) taken: BTreeMap<(u16, Kind), [u8; 32]>,
    pub(super) faults: BTreeSet<(usize, &'static str)>,
    pub(super) keys: BTreeMap<u16, Public>,
    /// Zero until the first step is closed.
    pub(super) context: [u8; 32],
    /// Bodies of `Shares` messages.
    pub(super) shares: BTreeMap<u16, Vec<u8>>,
    pub(super) survivors: BTreeSet<u16>,
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
    Unmask,
    Done,
}

impl Step {
    /// The kind of message that clients send in this step.
    fn kind(self) -> Option<Kind> {
        match self {
            Self::Advertise => Some(Kind::Advertise),
            Self::Share => Some(Kind::Shares),
            Self::Mask => Some(Kind::Masked),
            Self::Unmask => Some(Kind::Reveal),
            Self::Done => None,
        }
    }
}

impl Server {
    /// A server at the first step, with a fresh nonce from `rng`.
    pub fn new(params: Params, rng: &mut impl CryptoRng) -> Self {
        let mut nonce = [0; 32];
        rng.fill_bytes(&mut nonce);
        Self::with_nonce(params, nonce)
    }

    pub(super) fn with_nonce(params: Params, nonce: [u8; 32]) -> Self {
        Self {
            sum: Sum::new(&params.layout),
            params,
            nonce,
            step: Step::Advertise,
            taken: BTreeMap::new(),
            faults: BTreeSet::new(),
            keys: BTreeMap::new(),
            context: [0; 32],
            shares: BTreeMap::new(),
            survivors: BTreeSet::new(),
            revealed: BTreeMap::new(),
            total: None,
        }
    }

    /// Take a message from client `sender`, as the transport knows it.
    ///
    /// An identical repetition is ignored.
    ///
    /// # Errors
    /// Refuses, naming the sender, what is malformed, of another study, session or client, out of
    /// order, late, or different from what was sent before; and unacceptable keys. A wrong share
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
        let step = match kind {
            Kind::Advertise | Kind::Shares | Kind::Masked | Kind::Reveal => self.step.kind(),
            _ => return Err(Error::Malformed { from, what: message::NOT_A_CLIENTS }),
        };
        let session = match kind {
            Kind::Advertise => self.params.study(),
            _ if self.step == Step::Advertise => return Err(Error::Order { from }),
            _ => self.context,
        };
        if message.client != sender || message.session != session {
            return Err(Error::Foreign { from });
        }
        if self.taken.contains_key(&(sender, kind)) {
            return Err(Error::Conflict { from });
        }
        match step {
            Some(step) if kind > step => return Err(Error::Order { from }),
            Some(step) if kind == step => {}
            _ => return Err(Error::Late { from }),
        }
        match kind {
            Kind::Advertise => self.take_keys(sender, message.body)?,
            Kind::Shares => self.take_shares(sender, message.body)?,
            Kind::Masked => self.take_masked(sender, message.body)?,
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
        if body.len() != message::shares_len(self.keys.len()) {
            return Err(Error::Malformed { from, what: message::WRONG_LENGTH });
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

    fn take_reveal(&mut self, sender: u16, body: &[u8]) -> Result<()> {
        let from = Party::Client(sender.into());
        if !self.survivors.contains(&sender) {
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

    /// End the step, and return the message for each client that is to go on.
    ///
    /// # Errors
    /// [`Error::TooFew`] or [`Error::Shares`] below the threshold, and then nothing has been learnt;
    /// [`Error::Dealer`] if a client dealt false shares; [`Error::Order`] after the last step;
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn close_step(&mut self, interrupt: Interrupt<'_>) -> Result<BTreeMap<usize, Vec<u8>>> {
        let messages;
        (self.step, messages) = match self.step {
            Step::Advertise => {
                self.params.enough(self.keys.len(), "clients sent keys")?;
                let keys = self.key_list();
                let body = [self.nonce.as_slice(), &keys].concat();
                let (study, to) = (self.params.study(), self.keys.keys());
                let messages = send(Kind::Keys, &study, to, interrupt, |_| body.clone())?;
                self.context = self.params.context(&self.nonce, &keys);
                (Step::Share, messages)
            }
            Step::Share => {
                self.params.enough(self.shares.len(), "clients sent shares")?;
                let (context, to) = (&self.context, self.shares.keys());
                let body = |to| self.delivery(to);
                (Step::Mask, send(Kind::Delivery, context, to, interrupt, body)?)
            }
            Step::Mask => {
                self.params.enough(self.survivors.len(), "masked inputs arrived")?;
                let list: Vec<u8> = self.survivors.iter().flat_map(|id| id.to_le_bytes()).collect();
                let (context, to) = (&self.context, self.survivors.iter());
                let body = |_| list.clone();
                (Step::Unmask, send(Kind::Survivors, context, to, interrupt, body)?)
            }
            Step::Unmask => {
                self.finish(interrupt)?;
                (Step::Done, BTreeMap::new())
            }
            Step::Done => return Err(Error::Order { from: Party::Server }),
        };
        Ok(messages)
    }

    /// The sum of the survivors' inputs, modulo each segment's power of two, and the survivors.
    ///
    /// # Errors
    /// [`Error::Order`] before the last step is closed.
    pub fn result(&self) -> Result<(Vec<u64>, Vec<usize>)> {
        let total = self.total.clone().ok_or(Error::Order { from: Party::Server })?;
        Ok((total, self.survivors.iter().map(|&id| id.into()).collect()))
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

    /// Body of the `Delivery` message: what each other client dealt to `to`.
    fn delivery(&self, to: u16) -> Vec<u8> {
        let holder = self.index(to);
        let mut body = Vec::new();
        for (&owner, dealt) in self.shares.iter().filter(|&(&owner, _)| owner != to) {
            // A dealer seals no share for itself.
            let number = holder - usize::from(owner < to);
            let sealed = message::sealed_at(self.keys.len(), number);
            body.extend_from_slice(&owner.to_le_bytes());
            body.extend_from_slice(&dealt[32 + 32 * holder..][..32]);
            body.extend_from_slice(&dealt[sealed..][..SEALED]);
        }
        body
    }

    /// Place of `client` among those who advertised.
    fn index(&self, client: u16) -> usize {
        self.keys.range(..client).count()
    }

    /// The secret of `owner` that the server may have.
    fn secret_of(&self, owner: u16) -> Secret {
        if self.survivors.contains(&owner) { Secret::Seed } else { Secret::Mask }
    }

    /// Rebuild one secret of every client that shared, and take all masks off the sum.
    fn finish(&mut self, interrupt: Interrupt<'_>) -> Result<()> {
        let secrets = self.rebuild(interrupt);
        if let Err(Error::Dealer { client }) = secrets {
            self.faults.insert((client, "dealer"));
        }
        let masks = |(owner, secret): &(u16, Key)| self.masks_of(*owner, secret, interrupt);
        let masks: Vec<Result<_>> = secrets?.par_iter().map(masks).collect();
        let masks: Vec<Vec<(bool, Key)>> = masks.into_iter().collect::<Result<_>>()?;
        let masks: Vec<(bool, Key)> = masks.into_iter().flatten().collect();
        let mut sum = Sum::over(&self.params.layout, &masks, interrupt, |sum, (added, key)| {
            if *added {
                sum.subtract_stream(key);
            } else {
                sum.add_stream(key);
            }
        })?;
        sum.add_entries(&self.sum.entries());
        self.total = Some(sum.entries());
        self.revealed.clear();
        self.shares.clear();
        Ok(())
    }

    /// The one secret of each client that shared: b of survivors, s of dropouts.
    fn rebuild(&self, interrupt: Interrupt<'_>) -> Result<Vec<(u16, Key)>> {
        let need = self.params.threshold;
        let revealed = |owner| self.revealed.get(&owner).map_or(&[][..], Vec::as_slice);
        // Before anything is rebuilt: below the threshold nothing shall be learnt.
        for &owner in self.shares.keys() {
            let got = revealed(owner).len();
            if got < need {
                let client = owner.into();
                return Err(Error::Shares { client, got, need });
            }
        }
        let mut secrets = Vec::with_capacity(self.shares.len());
        // Almost always the same clients give the first t shares of every secret.
        // By holders: one that withholds some shares must not make all weights be found anew.
        let mut known: HashMap<Vec<u16>, Vec<u16>> = HashMap::new();
        for (&owner, dealt) in &self.shares {
            check(interrupt)?;
            let used = &revealed(owner)[..need];
            let holders: Vec<u16> = used.iter().map(|(holder, _)| holder + 1).collect();
            let weights = match known.entry(holders) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let weights = shares::weights(entry.key(), interrupt)?;
                    entry.insert(weights)
                }
            };
            let secret = shares::combine(weights, used.iter().map(|(_, share)| &**share));
            let secret: Key = shares::bytes(&*secret);
            let right = match self.secret_of(owner) {
                Secret::Seed => dealt.starts_with(&keys::commitment(&self.context, owner, &secret)),
                Secret::Mask => {
                    let public = keys::public(&StaticSecret::from(*secret));
                    self.keys.get(&owner).is_some_and(|known| known.mask == public)
                }
            };
            if !right {
                let client = owner.into();
                return Err(Error::Dealer { client });
            }
            secrets.push((owner, secret));
        }
        Ok(secrets)
    }

    /// Keys of the masks still in the sum on account of `owner`, and whether they were added.
    fn masks_of(
        &self,
        owner: u16,
        secret: &Key,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<(bool, Key)>> {
        if self.secret_of(owner) == Secret::Seed {
            let key = keys::self_mask(secret, &self.context, owner);
            return Ok(vec![(true, key)]);
        }
        let secret = StaticSecret::from(**secret);
        let pair = |&survivor: &u16| {
            check(interrupt)?;
            let client = survivor.into();
            let from = Party::Client(client);
            let public = self.keys.get(&survivor);
            let agreed = public.and_then(|public| keys::agree(&secret, &public.mask));
            let agreed = agreed.ok_or(Error::Key { from, client })?;
            let key = keys::pair_mask(&agreed, &self.context, owner, survivor);
            Ok((owner < survivor, key))
        };
        self.survivors.iter().map(pair).collect()
    }
}

/// One message for each of `to`.
fn send<'a>(
    kind: Kind,
    session: &[u8; 32],
    to: impl Iterator<Item = &'a u16>,
    interrupt: Interrupt<'_>,
    body: impl Fn(u16) -> Vec<u8>,
) -> Result<BTreeMap<usize, Vec<u8>>> {
    let message = |&id: &u16| {
        check(interrupt)?;
        let body = body(id);
        let mut message = message::begin(kind, id, session, body.len());
        message.extend_from_slice(&body);
        Ok((id.into(), message::finish(message)))
    };
    to.map(message).collect()
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("step", &self.step).finish_non_exhaustive()
    }
}
