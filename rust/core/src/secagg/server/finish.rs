//! The server's last step: it rebuilds one secret of every client and takes all masks off.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use x25519_dalek::StaticSecret;

use super::Server;
use crate::interrupt::Interrupt;
use crate::secagg::error::{Error, Party, Result, check};
use crate::secagg::keys::{self, Key, Secret};
use crate::secagg::mask::Sum;
use crate::secagg::shares;

impl Server {
    /// Rebuild one secret of every client that shared, and take all masks off the sum.
    pub(super) fn finish(&mut self, interrupt: Interrupt<'_>) -> Result<()> {
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
