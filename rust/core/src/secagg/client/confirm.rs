//! The client's last steps: what it confirms of the others, and the shares it gives.

use rayon::prelude::*;

use super::{CONFIRM, Client, Held, OUT_OF_ORDER, Phase, UNMASK};
use crate::secagg::error::{Error, Party, Result};
use crate::secagg::identity::{Identity, SIGNATURE};
use crate::secagg::keys::{self, Secret};
use crate::secagg::message::{self, CONFIRMED_ENTRY, Kind, REVEAL_ENTRY};
use crate::secagg::signed::Lists;
use crate::secagg::{Confirmation, Params};

impl Client {
    /// Step 4 of a signed study: given the survivors, sign who shared and who survived.
    ///
    /// One list of survivors is confirmed in a session; another is refused.
    ///
    /// # Errors
    /// [`Error::Signer`] unless `signer` is this client's identity. Refuses survivors that are
    /// unsorted, repeated, fewer than t, without this client, or not among those whose shares it
    /// was given.
    pub fn confirm(&mut self, survivors: &[u8], signer: &Identity) -> Result<Vec<u8>> {
        self.check_signer(Some(signer))?;
        let request = keys::hash("request", &[survivors]);
        if let Some(reply) = self.answered(CONFIRM, &request)? {
            return Ok(reply);
        }
        let Phase::Masked { context, held } = &mut self.phase else {
            return Err(OUT_OF_ORDER);
        };
        let body = message::expect(survivors, Kind::Survivors, self.me, context)?;
        let survivors = read_survivors(&self.params, self.me, held, body)?;
        let text = Lists::new(context, owners(held), &survivors).confirm(self.me);
        let mut reply = message::begin(Kind::Confirm, self.me, context, SIGNATURE);
        reply.extend_from_slice(&signer.sign(&text));
        let (context, held) = (*context, std::mem::take(held));
        self.phase = Phase::Confirmed { context, held, survivors };
        Ok(self.answer(CONFIRM, request, message::finish(reply)))
    }

    /// The last step: give one share for each client that shared, of b for a survivor, of s for a
    /// dropout, never both.
    ///
    /// Without identities the request is the list of survivors. In a signed study it is the
    /// confirmations of t of them: shares are given only if all of these saw the lists that this
    /// client confirmed.
    ///
    /// # Errors
    /// Refuses survivors as [`confirm`](Self::confirm) does; confirmations that are not of exactly
    /// t of the survivors, this client among them; [`Error::Signature`] if one is wrong.
    pub fn unmask(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        let hash = keys::hash("request", &[request]);
        if let Some(reply) = self.answered(UNMASK, &hash)? {
            return Ok(reply);
        }
        let reply = match &self.phase {
            Phase::Masked { context, held } if !self.params.is_signed() => {
                let body = message::expect(request, Kind::Survivors, self.me, context)?;
                let survivors = read_survivors(&self.params, self.me, held, body)?;
                reveal(self.me, context, held, &survivors)
            }
            Phase::Confirmed { context, held, survivors } => {
                let body = message::expect(request, Kind::Confirmed, self.me, context)?;
                let entries = message::entries::<CONFIRMED_ENTRY>(body, Party::Server)?;
                let confirmations: Vec<_> = entries.iter().map(message::confirmation).collect();
                check_confirmations(&self.params, context, held, survivors, &confirmations)?;
                if confirmations.binary_search_by_key(&self.me, |c| c.0).is_err() {
                    return Err(Error::List { what: "this client's confirmation is missing" });
                }
                reveal(self.me, context, held, survivors)
            }
            _ => return Err(OUT_OF_ORDER),
        };
        self.phase = Phase::Done;
        Ok(self.answer(UNMASK, hash, reply))
    }

    /// Whether t of the `survivors` confirmed that they are the survivors of this session: for a
    /// survivor that missed the step `confirm`, and is asked to take part in the next round.
    ///
    /// # Errors
    /// [`Error::Order`] unless this client has masked its input, in a signed study, and not yet
    /// given shares; [`Error::Conflict`] if it confirmed other survivors. Otherwise as
    /// [`confirm`](Self::confirm) and [`unmask`](Self::unmask), but this client need not be among
    /// those that confirmed.
    pub fn check_confirmed(&self, survivors: &[u16], confirmations: &[Confirmation]) -> Result<()> {
        let (context, held) = match &self.phase {
            Phase::Masked { context, held } if self.params.is_signed() => (context, held),
            Phase::Confirmed { survivors: known, .. } if known != survivors => {
                return Err(Error::Conflict { from: Party::Server });
            }
            Phase::Confirmed { context, held, .. } => (context, held),
            _ => return Err(OUT_OF_ORDER),
        };
        check_survivors(&self.params, self.me, held, survivors)?;
        check_confirmations(&self.params, context, held, survivors, confirmations)
    }
}

/// All that shared, as this client was told.
fn owners(held: &[Held]) -> impl Iterator<Item = &u16> {
    held.iter().map(|h| &h.owner)
}

/// Ids from the `Survivors` message, checked.
fn read_survivors(params: &Params, me: u16, held: &[Held], body: &[u8]) -> Result<Vec<u16>> {
    let survivors = message::ids(message::entries::<2>(body, Party::Server)?)?;
    check_survivors(params, me, held, &survivors)?;
    Ok(survivors)
}

fn check_survivors(params: &Params, me: u16, held: &[Held], survivors: &[u16]) -> Result<()> {
    if !survivors.is_sorted_by(|a, b| a < b) {
        return Err(Error::List { what: message::NOT_RISING });
    }
    params.enough(survivors.len(), "survivors are listed")?;
    if survivors.binary_search(&me).is_err() {
        return Err(Error::List { what: "this client is not among the survivors" });
    }
    if survivors.iter().any(|id| held.binary_search_by_key(id, |h| h.owner).is_err()) {
        return Err(Error::List { what: "a survivor sent no shares" });
    }
    Ok(())
}

/// Refuses confirmations that are not of exactly t of the survivors, over both lists.
fn check_confirmations(
    params: &Params,
    context: &[u8; 32],
    held: &[Held],
    survivors: &[u16],
    confirmations: &[Confirmation],
) -> Result<()> {
    if !confirmations.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(Error::List { what: message::NOT_RISING });
    }
    params.enough(confirmations.len(), "clients confirmed the survivors")?;
    if confirmations.len() > params.threshold {
        return Err(Error::List { what: "it has more confirmations than the threshold" });
    }
    if confirmations.iter().any(|(id, _)| survivors.binary_search(id).is_err()) {
        return Err(Error::List { what: "a client that confirmed is not among the survivors" });
    }
    let lists = Lists::new(context, owners(held), survivors);
    let verify = |(id, signature): &Confirmation| {
        params.verify(Party::Server, *id, &lists.confirm(*id), signature)
    };
    let verified: Vec<Result<()>> = confirmations.par_iter().with_min_len(8).map(verify).collect();
    verified.into_iter().collect()
}

/// The message with one share for each client that shared.
fn reveal(me: u16, context: &[u8; 32], held: &[Held], survivors: &[u16]) -> Vec<u8> {
    let mut reply = message::begin(Kind::Reveal, me, context, REVEAL_ENTRY * held.len());
    for Held { owner, share } in held {
        let survived = survivors.binary_search(owner).is_ok();
        let secret = if survived { Secret::Seed } else { Secret::Mask };
        match share {
            Some(share) => {
                reply.push(1);
                reply.extend_from_slice(keys::half(share, secret));
            }
            None => reply.extend_from_slice(&[0; REVEAL_ENTRY]),
        }
    }
    message::finish(reply)
}
