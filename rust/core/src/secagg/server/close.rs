//! The server's messages: what it sends at the end of each step.

use std::collections::BTreeMap;

use super::{Server, Step};
use crate::interrupt::Interrupt;
use crate::secagg::error::{Error, Party, Result, check};
use crate::secagg::keys::SEALED;
use crate::secagg::message::{self, CONFIRMED_ENTRY, Kind};

impl Server {
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
                let (session, list) = (self.session(), self.key_list());
                let to = self.keys.keys();
                let messages = send(Kind::Keys, &session, to, interrupt, |_| list.clone())?;
                self.context = self.params.context(&session, &list);
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
                let list = message::id_list(&self.survivors);
                let (context, to) = (&self.context, self.survivors.iter());
                let next = if self.params.is_signed() { Step::Confirm } else { Step::Unmask };
                (next, send(Kind::Survivors, context, to, interrupt, |_| list.clone())?)
            }
            Step::Confirm => {
                self.params.enough(self.confirmed.len(), "clients confirmed the survivors")?;
                let (context, to) = (&self.context, self.confirmed.keys());
                let body = |to| self.confirmations_for(to);
                (Step::Unmask, send(Kind::Confirmed, context, to, interrupt, body)?)
            }
            Step::Unmask => {
                self.finish(interrupt)?;
                (Step::Done, BTreeMap::new())
            }
            Step::Done => return Err(Error::Order { from: Party::Server }),
        };
        Ok(messages)
    }

    /// Body of the `Delivery` message: what each other client dealt to `to`, and its signature in
    /// a signed study.
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
            body.extend_from_slice(&dealt[message::shares_len(self.keys.len())..]);
        }
        body
    }

    /// Body of the `Confirmed` message: the first t that confirmed, the last of them replaced by
    /// `to` unless it is among them. So ids rise in any case.
    fn confirmations_for(&self, to: u16) -> Vec<u8> {
        let need = self.params.threshold;
        let mut body = Vec::with_capacity(CONFIRMED_ENTRY * need);
        let first = self.confirmed.keys().copied().take(need);
        let among = first.clone().any(|id| id == to);
        let ids = first.take(if among { need } else { need - 1 });
        for id in ids.chain((!among).then_some(to)) {
            if let Some(signature) = self.confirmed.get(&id) {
                body.extend_from_slice(&id.to_le_bytes());
                body.extend_from_slice(signature);
            }
        }
        body
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
