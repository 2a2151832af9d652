//! The server between two messages, as bytes: a coordinator may be stopped and started again.
//!
//! ```text
//! step 1 | run 8 | nonce 32
//! advertised: number 2, for each client: id 2, message hash 32, c and s 64
//! shared:     number 2, for each client: id 2, message hash 32, body of Shares
//! masked:     number 2, for each client: id 2, message hash 32
//! confirmed:  number 2, for each client: id 2, message hash 32, signature 64
//! revealed:   number 2, for each client: id 2, message hash 32
//! good shares, for each client that shared: number 2, for each share: holder 2, share 32
//! faults:     number 4, for each: client 2, code 1
//! sum, packed: of the masked inputs, and after the last step of the inputs
//! ```
//!
//! After the last step the bodies of Shares and the good shares are left out: the server has
//! forgotten them. Without identities nobody confirms. The context is not written: it follows from
//! the run, the nonce and the keys.

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use super::{DAMAGED, open};
use crate::secagg::Params;
use crate::secagg::error::{CODES, Result};
use crate::secagg::keys::Public;
use crate::secagg::message::{self, Kind, take, take_slice};
use crate::secagg::server::{HalfShare, Server, Step};
use crate::secagg::shares;

const STEPS: [Step; 6] =
    [Step::Advertise, Step::Share, Step::Mask, Step::Confirm, Step::Unmask, Step::Done];
/// What a client sends in each step but the last.
const KINDS: [Kind; 5] = [Kind::Advertise, Kind::Shares, Kind::Masked, Kind::Confirm, Kind::Reveal];

impl Server {
    /// Everything this server knows, to go on with in another process.
    ///
    /// Save it after [`close_step`](Self::close_step) and before the messages leave, and keep the
    /// messages with it. A server taken back to before it closed a step might close it with other
    /// clients, and the clients would refuse that. In the last step the state holds shares of
    /// secrets: keep it private.
    #[must_use]
    pub fn state(&self) -> Zeroizing<Vec<u8>> {
        let sum = self.total.clone().unwrap_or_else(|| self.sum.entries());
        // Entries come from lanes that are cut to the layout's widths, so they fit.
        let sum = Zeroizing::new(self.params.layout.pack(&sum).expect("entries fit the layout"));
        let mut len = 0;
        self.write(&sum, &mut |part| len += part.len());
        // Of the right size from the start: growing would leave copies of shares behind.
        let mut blob = message::begin(Kind::ServerState, 0, &self.params.study(), len);
        self.write(&sum, &mut |part| blob.extend_from_slice(part));
        Zeroizing::new(message::finish(blob))
    }

    fn write(&self, sum: &[u8], put: &mut impl FnMut(&[u8])) {
        put(&[self.step as u8]);
        put(&self.run.to_le_bytes());
        put(&self.nonce);
        for kind in KINDS {
            let taken = || self.taken.iter().filter(|&(&(_, of), _)| of == kind);
            put(&count(taken().count()));
            for (&(id, _), hash) in taken() {
                put(&id.to_le_bytes());
                put(hash);
                match kind {
                    Kind::Advertise => {
                        self.keys.get(&id).into_iter().flat_map(Public::parts).for_each(|k| put(k));
                    }
                    Kind::Shares => self.shares.get(&id).into_iter().for_each(|body| put(body)),
                    Kind::Confirm => self.confirmed.get(&id).into_iter().for_each(|s| put(s)),
                    _ => {}
                }
            }
        }
        for owner in self.shares.keys() {
            let good = self.revealed.get(owner).map_or(&[][..], Vec::as_slice);
            put(&count(good.len()));
            for (holder, share) in good {
                put(&holder.to_le_bytes());
                put(&*shares::bytes::<32>(&**share));
            }
        }
        put(&(self.faults.len() as u32).to_le_bytes());
        for (client, code) in &self.faults {
            put(&count(*client));
            // `CODES` has every code there is.
            let place = CODES.iter().position(|known| known == code).expect("a known code");
            put(&[place as u8]);
        }
        put(sum);
    }

    /// The server whose [`state`](Self::state) this is.
    ///
    /// # Errors
    /// [`Error::State`](crate::secagg::Error::State) if the state is damaged, of another version,
    /// of a client, or was saved under other parameters.
    pub fn resume(params: Params, state: &[u8]) -> Result<Self> {
        let blob = open(&params, state, Kind::ServerState)?;
        if blob.client != 0 {
            return Err(DAMAGED);
        }
        Self::read(params, blob.body).ok_or(DAMAGED)
    }

    /// The server in `body`. Whatever the bytes, it is one that a session can lead to as far as
    /// clients, lengths and steps go: later calls index by these.
    fn read(params: Params, mut body: &[u8]) -> Option<Self> {
        let body = &mut body;
        let [step] = take(body)?;
        let step = *STEPS.get(usize::from(step))?;
        let run = u64::from_le_bytes(take(body)?);
        let mut server = Self::with_nonce(params, run, take(body)?);
        server.step = step;
        let signed = server.params.is_signed();
        if step == Step::Confirm && !signed {
            return None;
        }
        let mut before = None;
        for (kind, sent_in) in KINDS.into_iter().zip(STEPS) {
            let mut last = None;
            for _ in 0..read_count(body)? {
                let id = server.read_id(body)?;
                let hash = take(body)?;
                let expected = before.is_none_or(|before| server.taken.contains_key(&(id, before)));
                let unasked = step < sent_in || (kind == Kind::Confirm && !signed);
                if last >= Some(id) || unasked || !expected {
                    return None;
                }
                last = Some(id);
                server.taken.insert((id, kind), hash);
                match kind {
                    Kind::Advertise => {
                        server.keys.insert(id, Public::from_bytes(&take(body)?));
                    }
                    Kind::Shares if step < Step::Done => {
                        let len = message::shares_len(server.keys.len());
                        let len = len + server.params.signature_len();
                        server.shares.insert(id, take_slice(body, len)?.to_vec());
                    }
                    Kind::Masked => {
                        server.survivors.insert(id);
                    }
                    Kind::Confirm => {
                        server.confirmed.insert(id, take(body)?);
                    }
                    _ => {}
                }
            }
            if signed || kind != Kind::Confirm {
                before = Some(kind);
            }
        }
        if step > Step::Advertise {
            server.context = server.params.context(&server.session(), &server.key_list());
        }
        server.revealed = server.read_revealed(body)?;
        for _ in 0..u32::from_le_bytes(take(body)?) {
            let client = server.read_id(body)?.into();
            let [code] = take(body)?;
            server.faults.insert((client, CODES.get(usize::from(code))?));
        }
        let sum = server.params.layout.unpack(body).ok()?;
        if step == Step::Done {
            server.total = Some(sum);
        } else {
            server.sum.add_entries(&sum);
        }
        Some(server)
    }

    /// Good shares of each client that shared, from holders whose `Reveal` was taken.
    fn read_revealed(&self, body: &mut &[u8]) -> Option<BTreeMap<u16, Vec<(u16, HalfShare)>>> {
        let mut revealed = BTreeMap::new();
        for &owner in self.shares.keys() {
            let (mut good, mut holders) = (Vec::new(), BTreeSet::new());
            for _ in 0..read_count(body)? {
                let holder = self.read_id(body)?;
                let share = Zeroizing::new(take::<32>(body)?);
                if !holders.insert(holder) || !self.taken.contains_key(&(holder, Kind::Reveal)) {
                    return None;
                }
                good.push((holder, shares::words(&*share)));
            }
            if !good.is_empty() {
                revealed.insert(owner, good);
            }
        }
        Some(revealed)
    }

    fn read_id(&self, body: &mut &[u8]) -> Option<u16> {
        self.params.id(read_count(body)?).ok()
    }
}

/// A number of clients, or a client: both are below 2^16.
fn count(number: usize) -> [u8; 2] {
    (number as u16).to_le_bytes()
}

fn read_count(body: &mut &[u8]) -> Option<usize> {
    take(body).map(u16::from_le_bytes).map(usize::from)
}
