//! The client's half of the protocol (M10).

mod confirm;

use std::collections::BTreeSet;

use chacha20::cipher::StreamCipher;
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::error::{Error, Party, Result, check};
use super::identity::{Identity, SIGNATURE};
use super::keys::{self, Key, Public, SEALED, Secret, Secrets, Share};
use super::mask::Sum;
use super::message::{self, Kind};
use super::{Params, shares, signed};
use crate::interrupt::Interrupt;

/// One client in one session.
///
/// The steps run in order: [`advertise`](Self::advertise), [`share`](Self::share),
/// [`mask`](Self::mask), in a signed study [`confirm`](Self::confirm), and
/// [`unmask`](Self::unmask). A step asked for again with the same request
/// gives the same bytes; with another request it is refused. A refused or interrupted call changes
/// nothing.
pub struct Client {
    pub(super) params: Params,
    pub(super) me: u16,
    pub(super) session: [u8; 32],
    pub(super) public: Public,
    pub(super) replies: [Option<Reply>; 4],
    /// Hash of the input that was masked. Never saved: inputs are easily guessed from it.
    pub(super) input: Option<[u8; 32]>,
    pub(super) phase: Phase,
}

/// What later steps need, and nothing more: secrets are dropped as soon as they are used.
pub(super) enum Phase {
    /// Nothing is known of the others.
    Fresh(Secrets),
    /// Keys are known, shares are dealt.
    Shared { secrets: Secrets, context: [u8; 32], peers: Vec<Peer> },
    /// The masked input is made; other clients' shares, and one's own, are held.
    Masked { context: [u8; 32], held: Vec<Held> },
    /// The survivors are confirmed, in a signed study.
    Confirmed { context: [u8; 32], held: Vec<Held>, survivors: Vec<u16> },
    /// Shares are given.
    Done,
}

/// Another client that advertised.
pub(super) struct Peer {
    pub(super) id: u16,
    /// Its public key s.
    pub(super) mask: [u8; 32],
    /// Key of the share it will send.
    pub(super) inbox: Key,
}

/// A share held for a client that shared, if it opened. The owners are all that shared.
pub(super) struct Held {
    pub(super) owner: u16,
    pub(super) share: Option<Share>,
}

/// What was answered to what.
pub(super) struct Reply {
    pub(super) request: [u8; 32],
    pub(super) bytes: Vec<u8>,
}

const SHARE: usize = 0;
const MASK: usize = 1;
pub(super) const CONFIRM: usize = 2;
const UNMASK: usize = 3;

/// Bytes of a client in the `Keys` message: id, c, s.
const KEYS_ENTRY: usize = 66;
/// Bytes of a client in the `Delivery` message: id, two fingerprints, sealed share.
const DELIVERY_ENTRY: usize = 2 + 32 + SEALED;
/// The same in a signed study.
const SIGNED_ENTRY: usize = DELIVERY_ENTRY + SIGNATURE;

const OUT_OF_ORDER: Error = Error::Order { from: Party::Server };

impl Client {
    /// Client `me` of the roster, with fresh secrets from `rng`. All randomness is drawn here.
    ///
    /// The session is [`Begin::session`](super::Begin::session) of what the server opened the
    /// round with.
    ///
    /// # Errors
    /// [`Error::Unknown`] if `me` is not on the roster.
    pub fn new(
        params: Params,
        me: usize,
        session: [u8; 32],
        rng: &mut impl CryptoRng,
    ) -> Result<Self> {
        let me = params.id(me)?;
        let secrets = Secrets::draw(rng);
        let public = secrets.public();
        let replies = [const { None }; 4];
        let phase = Phase::Fresh(secrets);
        Ok(Self { params, me, session, public, replies, input: None, phase })
    }

    /// The session this client takes part in.
    #[must_use]
    pub fn session(&self) -> [u8; 32] {
        self.session
    }

    /// Step 1: the message with this client's public keys.
    #[must_use]
    pub fn advertise(&self) -> Vec<u8> {
        let mut message = message::begin(Kind::Advertise, self.me, &self.session, Public::BYTES);
        for key in self.public.parts() {
            message.extend_from_slice(key);
        }
        message::finish(message)
    }

    /// Step 2: given everybody's keys, deal shares of this client's secrets.
    ///
    /// In a signed study `signer` must be this client's identity, and otherwise none.
    ///
    /// # Errors
    /// [`Error::Signer`] for another signer. Refuses keys that are not of this session, fewer than t, unsorted, repeated, of low order or
    /// of strangers, and lists without this client's own keys. [`Error::Interrupted`] if
    /// `interrupt` says so.
    pub fn share(
        &mut self,
        keys: &[u8],
        signer: Option<&Identity>,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<u8>> {
        self.check_signer(signer)?;
        let request = keys::hash("request", &[keys]);
        if let Some(reply) = self.answered(SHARE, &request)? {
            return Ok(reply);
        }
        let Phase::Fresh(secrets) = &self.phase else {
            return Err(OUT_OF_ORDER);
        };
        let body = message::expect(keys, Kind::Keys, self.me, &self.session)?;
        let roster = self.read_roster(body)?;
        let context = self.params.context(&self.session, body);

        let polynomials = self.polynomials(secrets, &context);
        let me = self.me;
        let deal = |&(id, ref public): &(u16, Public)| {
            check(interrupt)?;
            let share = polynomials.share(id);
            if id == me {
                return Ok((share, None));
            }
            let agreed = keys::agree(&secrets.transport, &public.transport)
                .ok_or(Error::Key { from: Party::Server, client: id.into() })?;
            let outbox = keys::transport(&agreed, &context, me, id);
            let inbox = keys::transport(&agreed, &context, id, me);
            let sealed = keys::seal(&outbox, &context, me, id, &share);
            let peer = Peer { id, mask: public.mask, inbox };
            Ok((share, Some((sealed, peer))))
        };
        let dealt: Vec<Result<_>> = roster.par_iter().with_min_len(8).map(deal).collect();
        let dealt: Vec<_> = dealt.into_iter().collect::<Result<_>>()?;

        let n = roster.len();
        let len = message::shares_len(n) + self.params.signature_len();
        let mut reply = message::begin(Kind::Shares, me, &context, len);
        reply.extend_from_slice(&keys::commitment(&context, me, &secrets.seed));
        for ((holder, _), (share, _)) in roster.iter().zip(&dealt) {
            for secret in [Secret::Seed, Secret::Mask] {
                let half = keys::half(share, secret);
                reply.extend_from_slice(&keys::fingerprint(&context, me, *holder, secret, half));
            }
        }
        let mut peers = Vec::with_capacity(n - 1);
        for (sealed, peer) in dealt.into_iter().filter_map(|(_, sent)| sent) {
            reply.extend_from_slice(&sealed);
            peers.push(peer);
        }
        if let Some(signer) = signer {
            reply.extend_from_slice(&signer.sign(&signed::share(&context, me)));
        }
        if let Phase::Fresh(secrets) = std::mem::replace(&mut self.phase, Phase::Done) {
            self.phase = Phase::Shared { secrets, context, peers };
        }
        Ok(self.answer(SHARE, request, message::finish(reply)))
    }

    /// Step 3: given the shares of the others, mask `input`.
    ///
    /// A share that does not open, or is not the one its owner announced, counts as absent. Its
    /// owner still takes part: the mask with it is needed by both. A second, different input is
    /// refused; after [`resume`](Self::resume) it is not masked either, but gets the first reply.
    ///
    /// # Errors
    /// [`Error::Input`] if `input` does not fit; refuses messages of other sessions, unsorted or
    /// unknown owners, and fewer than t shares (its own included) that open; in a signed study
    /// [`Error::Signature`] if one signature is wrong. Since t > L/2, a
    /// server that shows different keys to different clients, none of them on its side, fails here
    /// with all but one group. [`Error::Interrupted`] if `interrupt` says so.
    pub fn mask(
        &mut self,
        delivery: &[u8],
        input: &[u64],
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<u8>> {
        let packed = Zeroizing::new(self.params.layout.pack(input)?);
        let hash = keys::hash("input", &[&packed]);
        if self.input.is_some_and(|masked| masked != hash) {
            return Err(Error::SecondInput);
        }
        let request = keys::hash("request", &[delivery]);
        if let Some(reply) = self.answered(MASK, &request)? {
            return Ok(reply);
        }
        let Phase::Shared { secrets, context, peers } = &self.phase else {
            return Err(OUT_OF_ORDER);
        };
        let me = self.me;
        let body = message::expect(delivery, Kind::Delivery, me, context)?;
        let (ids, entries) = self.read_delivery(body)?;
        let mut senders = Vec::with_capacity(entries.len());
        for (owner, (entry, signature)) in ids.into_iter().zip(entries) {
            let peer = peers
                .binary_search_by_key(&owner, |p| p.id)
                .map_err(|_| Error::List { what: "it has a share of a client without keys" })?;
            senders.push((&peers[peer], entry, signature));
        }
        let take = |&(peer, entry, signature): &(&Peer, &_, Option<&_>)| {
            check(interrupt)?;
            let owner = peer.id;
            if let Some(signature) = signature {
                let text = signed::share(context, owner);
                self.params.verify(Party::Server, owner, &text, signature)?;
            }
            let held = Held { owner, share: receive(peer, context, me, entry) };
            let agreed = keys::agree(&secrets.mask, &peer.mask)
                .ok_or(Error::Key { from: Party::Server, client: owner.into() })?;
            Ok((held, (owner, keys::pair_mask(&agreed, context, me, owner))))
        };
        let taken: Vec<Result<_>> = senders.par_iter().with_min_len(8).map(take).collect();
        let taken: Vec<_> = taken.into_iter().collect::<Result<_>>()?;
        let (mut held, pairs): (Vec<Held>, Vec<(u16, Key)>) = taken.into_iter().unzip();
        let own = self.polynomials(secrets, context).share(me);
        let at = held.partition_point(|h| h.owner < me);
        held.insert(at, Held { owner: me, share: Some(own) });
        let opened = held.iter().filter(|h| h.share.is_some()).count();
        self.params.enough(opened, "shares could be opened")?;

        let mut sum = Sum::over(&self.params.layout, &pairs, interrupt, |sum, (id, key)| {
            if *id < me {
                sum.add_stream(key);
            } else {
                sum.subtract_stream(key);
            }
        })?;
        sum.add_stream(&keys::self_mask(&secrets.seed, context, me));
        sum.add_entries(input);
        let masked = self.params.layout.pack(&sum.entries())?;

        let mut reply = message::begin(Kind::Masked, me, context, masked.len());
        reply.extend_from_slice(&masked);
        self.input = Some(hash);
        self.phase = Phase::Masked { context: *context, held };
        Ok(self.answer(MASK, request, message::finish(reply)))
    }

    /// The reply to an identical earlier request, if any.
    fn answered(&self, step: usize, request: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        match &self.replies[step] {
            None => Ok(None),
            Some(reply) if reply.request == *request => Ok(Some(reply.bytes.clone())),
            Some(_) => Err(Error::Conflict { from: Party::Server }),
        }
    }

    fn answer(&mut self, step: usize, request: [u8; 32], bytes: Vec<u8>) -> Vec<u8> {
        self.replies[step] = Some(Reply { request, bytes: bytes.clone() });
        bytes
    }

    /// [`Error::Signer`] unless `signer` is this client's identity, or the study has none.
    fn check_signer(&self, signer: Option<&Identity>) -> Result<()> {
        let what = match (self.params.identities.get(usize::from(self.me)), signer) {
            (None, None) => return Ok(()),
            (Some(known), Some(signer)) if known == signer.public() => return Ok(()),
            (None, Some(_)) => "the study has no identities",
            (Some(_), None) => "the study has identities, and none was given",
            (Some(_), Some(_)) => "the identity is not the one on the roster",
        };
        Err(Error::Signer { what })
    }

    /// Owners, shares and signatures from the `Delivery` message.
    fn read_delivery<'a>(&self, body: &'a [u8]) -> Result<(Vec<u16>, Vec<Delivered<'a>>)> {
        if !self.params.is_signed() {
            let entries = message::entries::<DELIVERY_ENTRY>(body, Party::Server)?;
            return Ok((message::ids(entries)?, entries.iter().map(|e| (e, None)).collect()));
        }
        let entries = message::entries::<SIGNED_ENTRY>(body, Party::Server)?;
        let parts = |entry: &'a [u8; SIGNED_ENTRY]| {
            let (share, signature) = entry.split_first_chunk()?;
            Some((share, Some(signature.first_chunk()?)))
        };
        Ok((message::ids(entries)?, entries.iter().filter_map(parts).collect()))
    }

    /// Ids and keys from the `Keys` message, checked.
    fn read_roster(&self, body: &[u8]) -> Result<Vec<(u16, Public)>> {
        let entries = message::entries::<KEYS_ENTRY>(body, Party::Server)?;
        self.params.enough(entries.len(), "clients with keys are listed")?;
        let mut seen = BTreeSet::new();
        let mut roster = Vec::with_capacity(entries.len());
        for (id, entry) in message::ids(entries)?.into_iter().zip(entries) {
            self.params.id(id.into())?;
            let error = Error::Key { from: Party::Server, client: id.into() };
            let public = entry.last_chunk().map(Public::from_bytes).ok_or(error.clone())?;
            for key in public.parts() {
                if !keys::acceptable(key) || !seen.insert(*key) {
                    return Err(error);
                }
            }
            if id == self.me && public != self.public {
                return Err(error);
            }
            roster.push((id, public));
        }
        if roster.binary_search_by_key(&self.me, |r| r.0).is_err() {
            return Err(Error::List { what: "this client's keys are missing" });
        }
        Ok(roster)
    }

    /// The polynomials that share this client's two secrets, t of which rebuild them.
    fn polynomials(&self, secrets: &Secrets, context: &[u8; 32]) -> Polynomials {
        let seed = keys::derive(&secrets.polynomials, context, "polynomials", self.me, self.me);
        let mut stream = keys::keystream(&seed);
        let mut secret = Zeroizing::new([0; 64]);
        secret[..32].copy_from_slice(&*secrets.seed);
        secret[32..].copy_from_slice(secrets.mask.as_bytes());
        let mut coefficients = Zeroizing::new(vec![[0; 32]; self.params.threshold - 1]);
        let mut bytes = Zeroizing::new([0; 64]);
        for coefficient in coefficients.iter_mut() {
            // At most 2^16 coefficients, so 2^22 bytes: far under the keystream's 2^38.
            stream.write_keystream(&mut *bytes);
            *coefficient = *shares::words(&*bytes);
        }
        Polynomials { secret: shares::words(&*secret), coefficients }
    }
}

/// An entry of the `Delivery` message, and its owner's signature in a signed study.
type Delivered<'a> = (&'a [u8; DELIVERY_ENTRY], Option<&'a [u8; SIGNATURE]>);

/// Both secrets of a client as words, with the coefficients that share them.
struct Polynomials {
    secret: Zeroizing<[u16; 32]>,
    coefficients: Zeroizing<Vec<[u16; 32]>>,
}

impl Polynomials {
    /// The share of `holder`. Its point is its id plus one: the secret lies at zero.
    fn share(&self, holder: u16) -> Share {
        shares::bytes(&*shares::evaluate(&self.secret, &self.coefficients, holder + 1))
    }
}

/// The share in an entry of the `Delivery` message, if it opens and is the one announced.
fn receive(
    peer: &Peer,
    context: &[u8; 32],
    me: u16,
    entry: &[u8; DELIVERY_ENTRY],
) -> Option<Share> {
    let (announced, sealed) = entry[2..].split_first_chunk::<32>()?;
    let share = keys::open(&peer.inbox, context, peer.id, me, sealed.first_chunk()?)?;
    let prints = [Secret::Seed, Secret::Mask]
        .map(|secret| keys::fingerprint(context, peer.id, me, secret, keys::half(&share, secret)));
    (prints.concat() == announced).then_some(share)
}

impl Phase {
    /// Steps answered so far, of those of a signed study.
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Fresh(_) => 0,
            Self::Shared { .. } => 1,
            Self::Masked { .. } => 2,
            Self::Confirmed { .. } => 3,
            Self::Done => 4,
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("me", &self.me)
            .field("steps_done", &self.phase.number())
            .finish_non_exhaustive()
    }
}
