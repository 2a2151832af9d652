//! No bytes make a parser panic. `FEDRANK_FUZZ_CASES` sets the number of inputs per test.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Begin, Client, Error, Params, Server, sender_of, survivors_of};
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

/// A session of three clients, and the states of its parties on the way.
struct World {
    params: Params,
    inputs: Vec<Vec<u64>>,
    said: Transcript,
    /// The same with client 2 lost at the mask step: its secret must be rebuilt, too.
    losing: Transcript,
    /// States of client 0 before each step, and at the end.
    states: Vec<Vec<u8>>,
    /// States of the server before and after each step is closed.
    server_states: Vec<Vec<u8>>,
}

/// Without identities and with.
static WORLDS: LazyLock<[World; 2]> =
    LazyLock::new(|| both_modes(&params(3, Some(2), &[(2, 5), (3, 14)])).map(World::new));

impl World {
    fn new(params: Params) -> Self {
        let inputs = inputs(&params, 40);
        let said = run(&params, 41, &inputs, |_, _, m| vec![m]).2;
        let uplink = |step, c, m| if c == 2 && step >= Step::Mask { vec![] } else { vec![m] };
        let losing = run(&params, 41, &inputs, uplink).2;
        let mut client = clients(&params, 41).remove(0);
        let mut states = vec![client.state().to_vec()];
        for (step, down) in requests(&params) {
            answer(&mut client, step, &said.down[&(down, 0)], &inputs[0]).unwrap();
            states.push(client.state().to_vec());
        }
        let mut server = server(&params, 41);
        let mut server_states = Vec::new();
        for &step in steps(&params) {
            server_states.push(server.state().to_vec());
            for c in (0..3).filter(|&c| c < 2 || step < Step::Mask) {
                server.receive(c, &losing.up[&(step, c)]).unwrap();
            }
            // Client 1 is at fault.
            assert!(server.receive(1, &[]).is_err());
            server_states.push(server.state().to_vec());
            server.close_step(Interrupt::begin()).unwrap();
        }
        server_states.push(server.state().to_vec());
        Self { params, inputs, said, losing, states, server_states }
    }

    fn resume(&self, state: &[u8]) -> fedrank_core::secagg::Result<Member> {
        Member::resume(&self.params, 0, state)
    }

    /// Gives `bytes` to every door of a client in every state.
    fn knock(&self, bytes: &[u8]) {
        for state in &self.states {
            for &step in &steps(&self.params)[1..] {
                let mut client = self.resume(state).unwrap();
                let _ = answer(&mut client, step, bytes, &self.inputs[0]);
            }
        }
    }
}

/// What opens a later round over the survivors of a signed one.
static BEGIN: LazyLock<Begin> = LazyLock::new(|| {
    let world = &WORLDS[1];
    let server = run(&world.params, 41, &world.inputs, |_, _, m| vec![m]).1;
    Begin {
        study: [1; 32],
        run: 2,
        round: 3,
        nonce: [4; 32],
        stage: "refine".into(),
        order: vec![2, 0, 1],
        previous: [5; 32],
        survivors: vec![0, 1, 2],
        confirmations: server.confirmations(),
    }
});

/// Opens changed bytes as what the server opens a round with, and checks what they say.
fn open(bytes: &[u8]) {
    let Ok(begin) = Begin::open(bytes, 0) else {
        return;
    };
    assert_eq!(begin.to_bytes(0).as_deref(), Ok(bytes));
    for (world, at) in WORLDS.iter().flat_map(|w| (0..w.states.len()).map(move |at| (w, at))) {
        let client = world.resume(&world.states[at]).unwrap();
        let _ = client.check_confirmed(&begin.survivors, &begin.confirmations);
        assert_eq!(*client.state(), world.states[at]);
    }
}

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
    let entry = prop_oneof![
        Just(2_usize),
        Just(33),
        Just(66),
        Just(67),
        Just(80),
        Just(114),
        Just(178),
        0..200_usize
    ];
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

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_bytes(
        mode in 0_usize..2, bytes in prop::collection::vec(any::<u8>(), 0..400), seal: bool,
    ) {
        let (world, mut bytes) = (&WORLDS[mode], bytes);
        if seal && bytes.len() >= 40 {
            // A right header but for the session, and a right checksum.
            let header = [2, bytes[1] % 13, 0, 0];
            bytes[..4].copy_from_slice(&header);
            bytes = reseal(bytes);
        }
        world.knock(&bytes);
        open(&bytes);
        let _ = Client::resume(world.params.clone(), &bytes);
        let _ = Server::resume(world.params.clone(), &bytes);
        let _ = (sender_of(&bytes), survivors_of(&bytes));
        let _ = world.params.layout().unpack(&bytes);
        let mut server = server(&world.params, 41);
        for &step in steps(&world.params) {
            for c in 0..3 {
                let _ = server.receive(c, &bytes);
                prop_assert_eq!(server.receive(c, &world.said.up[&(step, c)]), Ok(()));
            }
            prop_assert!(server.close_step(Interrupt::begin()).is_ok());
        }
        let sum = plain_sum(&world.params, &world.inputs, &[0, 1, 2]);
        prop_assert_eq!(server.result(), Ok((sum, vec![0, 1, 2])));
    }

    #[test]
    fn changed_requests(mode in 0_usize..2, which in 0_usize..4, how in changes()) {
        let world = &WORLDS[mode];
        if let Some((_, down)) = requests(&world.params).nth(which) {
            world.knock(&changed(&world.said.down[&(down, 0)], &how));
        }
    }

    #[test]
    fn changed_begins(how in changes()) {
        let right = BEGIN.to_bytes(0).unwrap();
        open(&right);
        open(&changed(&right, &how));
        // Most changes give another session, so that is made right, too.
        let mut bytes = changed(&right, &how);
        if bytes.len() >= 40 {
            bytes[4..36].copy_from_slice(&BEGIN.session());
            open(&reseal(bytes));
        }
    }

    /// Only the signatures that were given confirm the survivors.
    #[test]
    fn changed_confirmations(
        at in 1_usize..4, id in 0_u16..4, which in 0_usize..2, bit in 0_usize..512,
    ) {
        let client = WORLDS[1].resume(&WORLDS[1].states[2]).unwrap();
        let mut list = BEGIN.confirmations.clone();
        prop_assert_eq!(client.check_confirmed(&[0, 1, 2], &list), Ok(()));
        if at & 1 == 1 {
            list[which].1[bit / 8] ^= 1 << (bit % 8);
        }
        if at & 2 == 2 {
            prop_assume!(list[which].0 != id);
            list[which].0 = id;
        }
        prop_assert!(client.check_confirmed(&[0, 1, 2], &list).is_err());
    }

    #[test]
    fn changed_states(mode in 0_usize..2, which in 0_usize..6, how in changes()) {
        let world = &WORLDS[mode];
        let state = &world.states[which % world.states.len()];
        if let Ok(mut client) = world.resume(&changed(state, &how)) {
            for (step, down) in requests(&world.params) {
                let _ = answer(&mut client, step, &world.said.down[&(down, 0)], &world.inputs[0]);
                let _ = client.check_confirmed(&BEGIN.survivors, &BEGIN.confirmations);
                prop_assert!(world.resume(&client.state()).is_ok());
            }
        }
    }

    #[test]
    fn changed_server_states(mode in 0_usize..2, which in 0_usize..11, how in changes()) {
        let world = &WORLDS[mode];
        let state = changed(&world.server_states[which % world.server_states.len()], &how);
        if let Ok(mut server) = Server::resume(world.params.clone(), &state) {
            for &step in steps(&world.params) {
                for c in 0..3 {
                    let message = world.losing.up.get(&(step, c)).map_or(&[][..], Vec::as_slice);
                    let _ = server.receive(c, message);
                }
                let _ = (server.close_step(Interrupt::begin()), server.result(), server.faults());
                let _ = server.confirmations();
                prop_assert!(Server::resume(world.params.clone(), &server.state()).is_ok());
            }
        }
    }

    #[test]
    fn changed_messages_have_a_sender_or_none(which in 0_usize..5, how in changes()) {
        let world = &WORLDS[1];
        let _ = sender_of(&changed(&world.said.up[&(steps(&world.params)[which], 0)], &how));
        let _ = survivors_of(&changed(&world.said.down[&(Step::Mask, 0)], &how));
    }

    /// One client tampers with one of its messages. Whatever it does, the others' sum is exact,
    /// or the session fails and names a client; only its own input is its to choose.
    #[test]
    fn a_tampering_client(mode in 0_usize..2, at in 0_usize..5, how in changes()) {
        let world = &WORLDS[mode];
        let at = steps(&world.params)[at % steps(&world.params).len()];
        let (sum, _, _) = run(&world.params, 41, &world.inputs, |step, c, message| {
            if c == 0 && step == at { vec![changed(&message, &how)] } else { vec![message] }
        });
        match sum {
            Ok((total, survivors)) if at != Step::Mask || !survivors.contains(&0) => {
                prop_assert_eq!(total, plain_sum(&world.params, &world.inputs, &survivors));
            }
            Ok((_, survivors)) => prop_assert_eq!(survivors, [0, 1, 2]),
            Err(Error::Dealer { client } | Error::Shares { client, .. }) => prop_assert_eq!(client, 0),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
