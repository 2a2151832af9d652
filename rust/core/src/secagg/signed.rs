//! What clients sign: that the keys of a session are theirs, and who they saw share and survive.

use super::keys;
use super::message::id_list;

/// What a client signs with its shares. The context hashes the study, the session and everybody's
/// keys, so this vouches for all that the client was shown.
pub(super) fn share(context: &[u8; 32], client: u16) -> [u8; 32] {
    keys::hash("share", &[context, &client.to_le_bytes()])
}

/// The two lists that a client confirms: who shared, and who survived.
pub(super) struct Lists {
    context: [u8; 32],
    sharers: [u8; 32],
    survivors: [u8; 32],
}

impl Lists {
    pub(super) fn new<'a>(
        context: &[u8; 32],
        sharers: impl IntoIterator<Item = &'a u16>,
        survivors: impl IntoIterator<Item = &'a u16>,
    ) -> Self {
        Self {
            context: *context,
            sharers: keys::hash("sharers", &[&id_list(sharers)]),
            survivors: keys::hash("survivors", &[&id_list(survivors)]),
        }
    }

    /// What `client` signs to confirm them.
    pub(super) fn confirm(&self, client: u16) -> [u8; 32] {
        let client = client.to_le_bytes();
        keys::hash("confirm", &[&self.context, &client, &self.sharers, &self.survivors])
    }
}
