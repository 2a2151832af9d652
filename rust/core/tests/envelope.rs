//! No bytes make the readers of envelopes and of identities panic, no changed envelope opens, and
//! no changed line is an identity.
//!
//! `FEDRANK_FUZZ_CASES` sets the number of inputs per test.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use chacha20::ChaCha20Rng;
use fedrank_core::secagg::envelope::{self, COORDINATOR, Direction, Header};
use fedrank_core::secagg::{Identity, PublicIdentity};
use proptest::prelude::*;
use rand_core::SeedableRng;

/// A few cases, unless the environment asks for another number; no files of past failures.
fn cases() -> ProptestConfig {
    let asked = std::env::var("FEDRANK_FUZZ_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(asked.unwrap_or(512)) }
}

static SERVER: LazyLock<Identity> = LazyLock::new(|| identity(1));
static CLIENT: LazyLock<Identity> = LazyLock::new(|| identity(2));
const HEADER: Header = Header {
    direction: Direction::ToServer,
    round_digest: [3; 32],
    session: [4; 32],
    step: 1,
    sender: 5,
    recipient: COORDINATOR,
};
static SEALED: LazyLock<Vec<u8>> =
    LazyLock::new(|| envelope::seal(&CLIENT, SERVER.public(), &HEADER, b"a short body"));

fn identity(seed: u8) -> Identity {
    Identity::generate(&mut ChaCha20Rng::from_seed([seed; 32]))
}

/// Whether a reader takes `bytes` for the client's. The header alone never says no to an envelope
/// that opens.
fn opens(bytes: &[u8]) -> bool {
    let header = envelope::header_of(bytes);
    let opened = envelope::open(&SERVER, CLIENT.public(), bytes);
    assert!(opened.as_ref().is_ok_and(|(h, _)| header == Ok(*h)) || opened.is_err());
    opened.is_ok()
}

/// Puts `new` in place of `removed` bytes at `at`.
fn splice(bytes: &mut Vec<u8>, (at, removed, new): &(usize, usize, Vec<u8>)) {
    let at = at % (bytes.len() + 1);
    let end = (at + removed).min(bytes.len());
    bytes.splice(at..end, new.iter().copied());
}

/// Reads a text as both kinds of line; what is read must be written as it was.
fn read(text: &str) -> (bool, bool) {
    let (private, public) = (Identity::from_line(text), PublicIdentity::from_line(text));
    if let Ok(identity) = &private {
        assert_eq!(identity.line().as_str(), text.trim());
    }
    if let Ok(identity) = &public {
        assert_eq!(identity.line(), text.trim());
    }
    (private.is_ok(), public.is_ok())
}

fn splices() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
    let removed = prop_oneof![Just(0_usize), Just(1), Just(2), Just(16), Just(32), 0..200_usize];
    let new = prop::collection::vec(any::<u8>(), 0..40);
    prop::collection::vec((any::<usize>(), removed, new), 1..4)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_envelope(bytes in prop::collection::vec(any::<u8>(), 0..400), headed: bool) {
        let mut bytes = bytes;
        if headed && bytes.len() >= 71 {
            bytes[..71].copy_from_slice(&SEALED[..71]);
        }
        prop_assert!(!opens(&bytes));
    }

    #[test]
    fn changed_envelopes(changes in splices()) {
        let mut bytes = SEALED.clone();
        changes.iter().for_each(|change| splice(&mut bytes, change));
        prop_assert_eq!(opens(&bytes), bytes == *SEALED);
    }

    #[test]
    fn changed_bytes_of_envelopes(flips in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut bytes = SEALED.clone();
        for (at, mask) in flips {
            let at = at % bytes.len();
            bytes[at] ^= mask;
        }
        prop_assert_eq!(opens(&bytes), bytes == *SEALED);
    }

    #[test]
    fn envelopes_of_any_body(
        body in prop::collection::vec(any::<u8>(), 0..400),
        round_digest: [u8; 32],
        session: [u8; 32],
        step in 0_u8..5,
        client in 0..COORDINATOR,
        down: bool,
    ) {
        let (direction, sender, recipient) = if down {
            (Direction::ToClient, COORDINATOR, client)
        } else {
            (Direction::ToServer, client, COORDINATOR)
        };
        let header = Header { direction, round_digest, session, step, sender, recipient };
        let blob = envelope::seal(&CLIENT, SERVER.public(), &header, &body);
        prop_assert_eq!(blob.len(), envelope::OVERHEAD + body.len());
        let (opened, text) = envelope::open(&SERVER, CLIENT.public(), &blob).unwrap();
        prop_assert_eq!((opened, &*text), (header, &body));
    }

    #[test]
    fn any_identity_lines(start in 0_usize..3, text in "\\PC{0,120}", body in "[A-Za-z0-9_-]{80,100}") {
        let start = ["", "fedrank-id1:", "fedrank-key1:"][start];
        prop_assert_eq!(read(&format!("{start}{text}")), (false, false));
        prop_assert_eq!(read(&format!("{start}{body}")), (false, false));
    }

    #[test]
    fn changed_identity_lines(private: bool, changes in splices()) {
        let line = if private { CLIENT.line().to_string() } else { CLIENT.public().line() };
        prop_assert_eq!(read(&line), (private, !private));
        let mut bytes = line.clone().into_bytes();
        changes.iter().for_each(|change| splice(&mut bytes, change));
        let changed = String::from_utf8_lossy(&bytes);
        let same = changed.trim() == line;
        prop_assert_eq!(read(&changed), (private && same, !private && same));
    }

    #[test]
    fn identity_lines_of_any_keys(seed: [u8; 32]) {
        let identity = Identity::generate(&mut ChaCha20Rng::from_seed(seed));
        prop_assert_eq!(read(&identity.line()), (true, false));
        prop_assert_eq!(read(&identity.public().line()), (false, true));
    }
}
