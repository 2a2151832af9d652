//! A client between steps, as bytes: an engine may start a new process for every message.
//!
//! ```text
//! c and s, public 64 | session 32 | phase 1
//! for each step answered: request hash 32, length 4, reply
//! the rest, by phase
//! ```
//!
//! and the rest: the four secrets (0); those, the context, and id, s, inbox key of every peer (1);
//! the context, and id, mark, share of every client that shared (2); the same after the number 2
//! and the ids 2 of the survivors confirmed (3); nothing (4). Without identities there is no phase
//! 3, and no reply to the step `confirm`.

use zeroize::Zeroizing;

use super::{DAMAGED, open};
use crate::secagg::Params;
use crate::secagg::client::{CONFIRM, Client, Held, Peer, Phase, Reply};
use crate::secagg::error::{Party, Result};
use crate::secagg::keys::{Public, Secrets};
use crate::secagg::message::{self, Kind, id_list};

/// Bytes of a peer: id, its public key s, inbox key.
const PEER_ENTRY: usize = 66;
/// Bytes of a share held: owner, whether there is one, share.
const HELD_ENTRY: usize = 67;

impl Client {
    /// Everything this client knows, to go on with in another process.
    ///
    /// It holds the secrets: keep it as private as the data, and keep only the newest. A client
    /// taken back to an older state could be made to mask a second input with the same masks, or
    /// to give both secrets of a peer.
    #[must_use]
    pub fn state(&self) -> Zeroizing<Vec<u8>> {
        let study = self.params.study();
        let replies: usize = self.replies.iter().flatten().map(|r| 36 + r.bytes.len()).sum();
        let phase = match &self.phase {
            Phase::Fresh(_) => Secrets::BYTES,
            Phase::Shared { peers, .. } => Secrets::BYTES + 32 + PEER_ENTRY * peers.len(),
            Phase::Masked { held, .. } => 32 + HELD_ENTRY * held.len(),
            Phase::Confirmed { held, survivors, .. } => {
                2 + 2 * survivors.len() + 32 + HELD_ENTRY * held.len()
            }
            Phase::Done => 0,
        };
        let len = 64 + 32 + 1 + replies + phase;
        let mut blob = message::begin(Kind::ClientState, self.me, &study, len);
        for key in self.public.parts() {
            blob.extend_from_slice(key);
        }
        blob.extend_from_slice(&self.session);
        blob.push(self.phase.number());
        for reply in self.replies.iter().flatten() {
            blob.extend_from_slice(&reply.request);
            blob.extend_from_slice(&(reply.bytes.len() as u32).to_le_bytes());
            blob.extend_from_slice(&reply.bytes);
        }
        match &self.phase {
            Phase::Fresh(secrets) => {
                secrets.parts().iter().for_each(|s| blob.extend_from_slice(*s));
            }
            Phase::Shared { secrets, context, peers } => {
                secrets.parts().iter().for_each(|s| blob.extend_from_slice(*s));
                blob.extend_from_slice(context);
                for peer in peers {
                    blob.extend_from_slice(&peer.id.to_le_bytes());
                    blob.extend_from_slice(&peer.mask);
                    blob.extend_from_slice(&*peer.inbox);
                }
            }
            Phase::Masked { context, held } => write_held(&mut blob, context, held),
            Phase::Confirmed { context, held, survivors } => {
                // Below 2^16: they are ids of the roster.
                blob.extend_from_slice(&(survivors.len() as u16).to_le_bytes());
                blob.extend_from_slice(&id_list(survivors));
                write_held(&mut blob, context, held);
            }
            Phase::Done => {}
        }
        Zeroizing::new(message::finish(blob))
    }

    /// The client whose [`state`](Self::state) this is.
    ///
    /// # Errors
    /// [`Error::State`](crate::secagg::Error::State) if the blob is damaged, of another version,
    /// or of another study.
    pub fn resume(params: Params, state: &[u8]) -> Result<Self> {
        let blob = open(&params, state, Kind::ClientState)?;
        let me = params.id(blob.client.into()).map_err(|_| DAMAGED)?;
        Self::read_state(params, me, blob.body).ok_or(DAMAGED)
    }

    fn read_state(params: Params, me: u16, mut body: &[u8]) -> Option<Self> {
        let body = &mut body;
        let public = Public::from_bytes(&message::take(body)?);
        let session = message::take(body)?;
        let [number] = message::take(body)?;
        let mut replies = [const { None }; 4];
        let signed = params.is_signed();
        let steps = replies.iter_mut().take(number.into()).enumerate();
        for (_, reply) in steps.filter(|(step, _)| signed || *step != CONFIRM) {
            let request = message::take(body)?;
            let len = u32::from_le_bytes(message::take(body)?) as usize;
            *reply = Some(Reply { request, bytes: message::take_slice(body, len)?.to_vec() });
        }
        let secrets = |body: &mut &[u8]| {
            message::take(body).map(Zeroizing::new).map(|bytes| Secrets::from_bytes(&bytes))
        };
        let phase = match number {
            0 => Phase::Fresh(secrets(body)?),
            1 => {
                let (secrets, context) = (secrets(body)?, message::take(body)?);
                let entries = std::mem::take(body);
                let entries = message::entries::<PEER_ENTRY>(entries, Party::Server).ok()?;
                let ids = message::ids(entries).ok()?;
                let peer = |(id, entry): (u16, &[u8; PEER_ENTRY])| {
                    let (keys, _) = entry[2..].as_chunks();
                    Peer { id, mask: keys[0], inbox: Zeroizing::new(keys[1]) }
                };
                let peers = ids.into_iter().zip(entries).map(peer).collect();
                Phase::Shared { secrets, context, peers }
            }
            2 => {
                let (context, held) = read_held(body)?;
                Phase::Masked { context, held }
            }
            3 if signed => {
                let len = 2 * usize::from(u16::from_le_bytes(message::take(body)?));
                let survivors = message::take_slice(body, len)?;
                let survivors = message::entries::<2>(survivors, Party::Server).ok()?;
                let survivors = message::ids(survivors).ok()?;
                let (context, held) = read_held(body)?;
                Phase::Confirmed { context, held, survivors }
            }
            4 => Phase::Done,
            _ => return None,
        };
        let input = None;
        let client = Self { params, me, session, public, replies, input, phase };
        body.is_empty().then_some(client)
    }
}

fn write_held(blob: &mut Vec<u8>, context: &[u8; 32], held: &[Held]) {
    blob.extend_from_slice(context);
    for Held { owner, share } in held {
        blob.extend_from_slice(&owner.to_le_bytes());
        blob.push(share.is_some().into());
        blob.extend_from_slice(share.as_deref().unwrap_or(&[0; 64]));
    }
}

/// The context and all shares held, to the end of the body.
fn read_held(body: &mut &[u8]) -> Option<([u8; 32], Vec<Held>)> {
    let context = message::take(body)?;
    let entries = std::mem::take(body);
    let entries = message::entries::<HELD_ENTRY>(entries, Party::Server).ok()?;
    let hold = |(owner, entry): (u16, &[u8; HELD_ENTRY])| {
        let share = entry.last_chunk().filter(|_| entry[2] == 1);
        Held { owner, share: share.map(|s| Zeroizing::new(*s)) }
    };
    let ids = message::ids(entries).ok()?;
    Some((context, ids.into_iter().zip(entries).map(hold).collect()))
}
