//! No bytes make a parser panic. `FEDRANK_FUZZ_CASES` sets the number of inputs per test.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Client, Error, Params, Server, sender_of, survivors_of};
use proptest::prelude::*;
use std::sync::LazyLock;

/// `usual` cases, unless the environment asks for another number; no files of past failures.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("FEDRANK_FUZZ_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.unwrap_or(usual))
    }
}

static PARAMS: LazyLock<Params> = LazyLock::new(|| params(3, Some(2), &[(2, 5), (3, 14)]));
static INPUTS: LazyLock<Vec<Vec<u64>>> = LazyLock::new(|| inputs(&PARAMS, 40));
static SAID: LazyLock<Transcript> =
    LazyLock::new(|| run(&PARAMS, 41, &INPUTS, |_, _, m| vec![m]).2);
/// States of client 0 before each step, and at the end.
static STATES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut client = clients(&PARAMS, 41).remove(0);
    let mut states = vec![client.state().to_vec()];
    for (step, down) in STEPS[1..].iter().zip(STEPS) {
        answer(&mut client, *step, &SAID.down[&(down, 0)], &INPUTS[0]).unwrap();
        states.push(client.state().to_vec());
    }
    states
});

/// States of the server before and after each step is closed.
static SERVER_STATES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut server = server(&PARAMS, 41);
    let mut states = Vec::new();
    for step in STEPS {
        states.push(server.state().to_vec());
        // Client 2 is lost at the mask step: its secret must be rebuilt, too.
        for c in (0..3).filter(|&c| c < 2 || step < Step::Mask) {
            server.receive(c, &LOSING.up[&(step, c)]).unwrap();
        }
        // Client 1 is at fault.
        assert!(server.receive(1, &[]).is_err());
        states.push(server.state().to_vec());
        server.close_step(Interrupt::begin()).unwrap();
    }
    states.push(server.state().to_vec());
    states
});
static LOSING: LazyLock<Transcript> = LazyLock::new(|| {
    let uplink = |step, c, m| if c == 2 && step >= Step::Mask { vec![] } else { vec![m] };
    run(&PARAMS, 41, &INPUTS, uplink).2
});

/// A change to a valid message. Most keep the checksum right, to reach deeper.
#[derive(Debug, Clone)]
enum Change {
    Flip(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let span = |at: usize, n: usize| {
            let at = at % (len + 1);
            at..(at + n).min(len)
        };
        match self {
            Self::Flip(at, mask) if len > 0 => bytes[at % len] ^= mask,
            Self::Flip(..) => {}
            Self::Cut(at) => bytes.truncate(at % (len + 1)),
            Self::Remove(at, n) => drop(bytes.drain(span(*at, *n))),
            Self::Insert(at, new) => drop(bytes.splice(span(*at, 0), new.iter().copied())),
            Self::Repeat(at, n) => {
                let again = bytes[span(*at, *n)].to_vec();
                bytes.splice(span(*at, 0), again);
            }
        }
    }
}

fn changes() -> impl Strategy<Value = (Vec<Change>, bool)> {
    let entry =
        prop_oneof![Just(2_usize), Just(33), Just(66), Just(67), Just(80), Just(114), 0..200_usize];
    let change = prop_oneof![
        4 => (any::<usize>(), 1..=u8::MAX).prop_map(|(at, m)| Change::Flip(at, m)),
        1 => any::<usize>().prop_map(Change::Cut),
        1 => (any::<usize>(), entry.clone()).prop_map(|(at, n)| Change::Remove(at, n)),
        1 => (any::<usize>(), prop::collection::vec(any::<u8>(), 0..120))
            .prop_map(|(at, new)| Change::Insert(at, new)),
        1 => (any::<usize>(), entry).prop_map(|(at, n)| Change::Repeat(at, n)),
    ];
    (prop::collection::vec(change, 1..4), prop::bool::weighted(0.9))
}

fn changed(message: &[u8], (changes, seal): &(Vec<Change>, bool)) -> Vec<u8> {
    let mut message = message.to_vec();
    changes.iter().for_each(|change| change.apply(&mut message));
    if *seal && message.len() >= 4 { reseal(message) } else { message }
}

/// Gives `bytes` to every door of a client in every state.
fn knock(bytes: &[u8]) {
    for state in STATES.iter() {
        for step in &STEPS[1..] {
            let mut client = Client::resume(PARAMS.clone(), state).unwrap();
            let _ = answer(&mut client, *step, bytes, &INPUTS[0]);
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), seal: bool) {
        let mut bytes = bytes;
        if seal && bytes.len() >= 40 {
            // A right header but for the session, and a right checksum.
            let header = [1, bytes[1] % 10, 0, 0];
            bytes[..4].copy_from_slice(&header);
            bytes = reseal(bytes);
        }
        knock(&bytes);
        let _ = Client::resume(PARAMS.clone(), &bytes);
        let _ = Server::resume(PARAMS.clone(), &bytes);
        let _ = (sender_of(&bytes), survivors_of(&bytes));
        let _ = PARAMS.layout().unpack(&bytes);
        let mut server = server(&PARAMS, 41);
        for step in STEPS {
            for c in 0..3 {
                let _ = server.receive(c, &bytes);
                prop_assert_eq!(server.receive(c, &SAID.up[&(step, c)]), Ok(()));
            }
            prop_assert!(server.close_step(Interrupt::begin()).is_ok());
        }
        prop_assert_eq!(server.result(), Ok((plain_sum(&PARAMS, &INPUTS, &[0, 1, 2]), vec![0, 1, 2])));
    }

    #[test]
    fn changed_requests(which in 0_usize..3, how in changes()) {
        knock(&changed(&SAID.down[&(STEPS[which], 0)], &how));
    }

    #[test]
    fn changed_states(which in 0_usize..4, how in changes()) {
        if let Ok(mut client) = Client::resume(PARAMS.clone(), &changed(&STATES[which], &how)) {
            for (step, down) in STEPS[1..].iter().zip(STEPS) {
                let _ = answer(&mut client, *step, &SAID.down[&(down, 0)], &INPUTS[0]);
                let _ = client.state();
            }
        }
    }

    #[test]
    fn changed_server_states(which in 0_usize..9, how in changes()) {
        let state = changed(&SERVER_STATES[which], &how);
        if let Ok(mut server) = Server::resume(PARAMS.clone(), &state) {
            for step in STEPS {
                for c in 0..3 {
                    let message = LOSING.up.get(&(step, c)).map_or(&[][..], Vec::as_slice);
                    let _ = server.receive(c, message);
                }
                let _ = (server.close_step(Interrupt::begin()), server.result(), server.faults());
                prop_assert!(Server::resume(PARAMS.clone(), &server.state()).is_ok());
            }
        }
    }

    #[test]
    fn changed_messages_have_a_sender_or_none(which in 0_usize..4, how in changes()) {
        let _ = sender_of(&changed(&SAID.up[&(STEPS[which], 0)], &how));
        let _ = survivors_of(&changed(&SAID.down[&(Step::Mask, 0)], &how));
    }

    /// One client tampers with one of its messages. Whatever it does, the others' sum is exact,
    /// or the session fails and names a client; only its own input is its to choose.
    #[test]
    fn a_tampering_client(at in 0_usize..4, how in changes()) {
        let (sum, _, _) = run(&PARAMS, 41, &INPUTS, |step, c, message| {
            if c == 0 && step == STEPS[at] { vec![changed(&message, &how)] } else { vec![message] }
        });
        match sum {
            Ok((total, survivors)) if STEPS[at] != Step::Mask || !survivors.contains(&0) => {
                prop_assert_eq!(total, plain_sum(&PARAMS, &INPUTS, &survivors));
            }
            Ok((_, survivors)) => prop_assert_eq!(survivors, [0, 1, 2]),
            Err(Error::Dealer { client } | Error::Shares { client, .. }) => prop_assert_eq!(client, 0),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
