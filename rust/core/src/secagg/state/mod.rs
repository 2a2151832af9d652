//! Saved states: a party between two messages, as bytes, to go on with in another process.
//!
//! A state is laid out like a message (see [`message`]), so it has a version and a checksum. Its
//! session is the study's hash, so it opens only under the parameters it was saved with. What is
//! in the body, `client` and `server` say.

mod client;
mod server;

use super::Params;
use super::error::{Error, Party, Result};
use super::message::{self, Kind, Message};

/// For a state whose checksum is right, but whose body cannot be.
const DAMAGED: Error = Error::State { what: "it is damaged" };

/// Take apart a state of this kind that was saved under these parameters.
fn open<'a>(params: &Params, state: &'a [u8], kind: Kind) -> Result<Message<'a>> {
    let blob = message::open(state, Party::Server).map_err(|error| match error {
        Error::Malformed { what, .. } => Error::State { what },
        Error::Version { .. } => Error::State { what: "it is of another version of the protocol" },
        _ => DAMAGED,
    })?;
    if blob.kind != kind {
        return Err(Error::State { what: "it is not a state of this party" });
    }
    if blob.session != params.study() {
        return Err(Error::State { what: "it was saved under other parameters" });
    }
    Ok(blob)
}
