//! The wire format is pinned, and damage to a message hurts no one else.

use super::session::*;
use chacha20::ChaCha20Rng;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{self, Client, Error, Params, Party, Server};
use proptest::prelude::*;
use rand_core::SeedableRng;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SHAPE: [(usize, u32); 3] = [(3, 5), (2, 14), (1, 64)];

fn unhex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|x| x.as_str().unwrap().parse().unwrap()).collect()
}

/// `secagg.json` is made by `secagg.py`, which shares no code with this crate.
#[test]
fn golden_session() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/secagg.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let size = |name: &str| golden[name].as_u64().unwrap() as usize;
    let shape = golden["segments"].as_array().unwrap();
    let shape: Vec<_> = shape
        .iter()
        .map(|s| (s[0].as_u64().unwrap() as usize, s[1].as_u64().unwrap() as u32))
        .collect();
    let params = Params::new(
        unhex(&golden["digest"]).try_into().unwrap(),
        size("clients"),
        Some(size("threshold")),
        size("round") as u32,
        layout(&shape),
    )
    .unwrap();
    let rng = |n: usize| ChaCha20Rng::from_seed([n as u8; 32]);
    let mut clients: Vec<Client> = (0..params.clients())
        .map(|me| Client::new(params.clone(), me, &mut rng(me + 1)).unwrap())
        .collect();
    let mut server = Server::new(params.clone(), &mut rng(255));
    let mut down = BTreeMap::new();
    let names = [
        ("advertise", "keys"),
        ("shares", "delivery"),
        ("masked", "survivor_lists"),
        ("reveal", ""),
    ];
    for (step, (up, reply)) in STEPS.into_iter().zip(names) {
        for (c, client) in clients.iter_mut().enumerate() {
            let request = down.get(&c).map_or(&[][..], Vec::as_slice);
            let Ok(message) = answer(client, step, request, &numbers(&golden["inputs"][c])) else {
                continue;
            };
            assert_eq!(message, unhex(&golden[up][c]), "{up} of client {c}");
            if golden["lost"].get(c.to_string()).is_none_or(|lost| lost != "mask")
                || step < Step::Mask
            {
                server.receive(c, &message).unwrap();
            }
        }
        down = server.close_step(Interrupt::begin()).unwrap();
        for (i, (c, message)) in down.iter().enumerate() {
            assert_eq!(*message, unhex(&golden[reply][i]), "{reply} for client {c}");
        }
    }
    let (total, survivors) = server.result().unwrap();
    assert_eq!(total, numbers(&golden["total"]));
    assert_eq!(Value::from(survivors), golden["survivors"]);
    assert_eq!(server.faults(), []);
}

/// Every prefix, and every message with one bit changed, but not the message itself.
fn damaged(message: &[u8]) -> Vec<Vec<u8>> {
    let prefixes = (0..message.len()).map(|n| message[..n].to_vec());
    let flips = (0..8 * message.len()).map(|bit| {
        let mut message = message.to_vec();
        message[bit / 8] ^= 1 << (bit % 8);
        message
    });
    prefixes.chain(flips).chain([[message, &[0]].concat()]).collect()
}

#[test]
fn damage_on_the_way_up_is_refused_by_name_and_harms_nobody() {
    let params = params(3, Some(2), &SHAPE);
    let inputs = inputs(&params, 20);
    let mut clients = clients(&params, 21);
    let mut server = server(&params, 21);
    let mut down = (0..3).map(|c| (c, vec![])).collect::<BTreeMap<_, _>>();
    for step in STEPS {
        for c in 0..3 {
            let message = answer(&mut clients[c], step, &down[&c], &inputs[c]).unwrap();
            for damaged in damaged(&message) {
                let refused = server.receive(c, &damaged).unwrap_err();
                assert!(
                    matches!(refused, Error::Malformed { from: Party::Client(x), .. } if x == c)
                );
            }
            // The sender comes from the transport.
            let other = (c + 1) % 3;
            let from = Party::Client(other);
            assert_eq!(server.receive(other, &message), Err(Error::Foreign { from }));
            assert_eq!(server.receive(3, &message), Err(Error::Unknown { client: 3, clients: 3 }));
            server.receive(c, &message).unwrap();
            server.receive(c, &message).unwrap();
        }
        down = server.close_step(Interrupt::begin()).unwrap();
    }
    assert_eq!(server.result(), Ok((plain_sum(&params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.close_step(Interrupt::begin()).unwrap_err().code(), "order");
}

#[test]
fn damage_on_the_way_down_is_refused_and_changes_nothing() {
    let params = params(3, Some(2), &SHAPE);
    let inputs = inputs(&params, 22);
    let said = run(&params, 23, &inputs, |_, _, m| vec![m]).2;
    let mut clients = clients(&params, 23);
    for (step, down) in STEPS[1..].iter().zip(STEPS) {
        let right = &said.down[&(down, 0)];
        for damaged in damaged(right) {
            let refused = answer(&mut clients[0], *step, &damaged, &inputs[0]).unwrap_err();
            assert!(matches!(refused, Error::Malformed { from: Party::Server, .. }));
        }
        // Another client's copy.
        let other = answer(&mut clients[0], *step, &said.down[&(down, 1)], &inputs[0]);
        assert_eq!(other, Err(Error::Foreign { from: Party::Server }));
        let answer = answer(&mut clients[0], *step, right, &inputs[0]).unwrap();
        assert_eq!(answer, said.up[&(*step, 0)]);
    }
}

#[test]
fn damaged_states_are_refused() {
    let params = params(3, Some(2), &SHAPE);
    let inputs = inputs(&params, 24);
    let said = run(&params, 25, &inputs, |_, _, m| vec![m]).2;
    let mut client = clients(&params, 25).remove(0);
    for (step, down) in
        STEPS.into_iter().zip([None, Some(STEPS[0]), Some(STEPS[1]), Some(STEPS[2])])
    {
        let state = client.state();
        for damaged in damaged(&state) {
            let refused = Client::resume(params.clone(), &damaged).unwrap_err();
            assert_eq!(refused.code(), "state");
        }
        let other = Params::new([43; 32], 3, Some(2), 0, layout(&SHAPE)).unwrap();
        assert_eq!(Client::resume(other, &state).unwrap_err().code(), "state");
        let request = down.map_or(&[][..], |down| &said.down[&(down, 0)]);
        answer(&mut client, step, request, &inputs[0]).unwrap();
    }
}

#[test]
fn damaged_server_states_are_refused() {
    let params = params(3, Some(2), &SHAPE);
    let inputs = inputs(&params, 31);
    let said = run(&params, 32, &inputs, |_, _, m| vec![m]).2;
    let mut server = server(&params, 32);
    for step in STEPS {
        for c in 0..3 {
            server.receive(c, &said.up[&(step, c)]).unwrap();
        }
        let state = server.state();
        for damaged in damaged(&state) {
            let refused = Server::resume(params.clone(), &damaged).unwrap_err();
            assert_eq!(refused.code(), "state");
        }
        let other_version = Error::State { what: "it is of another version of the protocol" };
        let later = reseal([&[2], &state[1..]].concat());
        assert_eq!(Server::resume(params.clone(), &later).unwrap_err(), other_version);
        for other in other_params() {
            assert_eq!(Server::resume(other, &state).unwrap_err().code(), "state");
        }
        server.close_step(Interrupt::begin()).unwrap();
    }
    // A state of the other party.
    let client = clients(&params, 32).remove(0).state();
    assert_eq!(Server::resume(params.clone(), &client).unwrap_err().code(), "state");
    assert_eq!(Client::resume(params, &server.state()).unwrap_err().code(), "state");
}

/// Every prefix of a server's state that was cut in the body and has a right checksum.
#[test]
fn server_states_that_end_early_are_refused() {
    let params = params(3, Some(2), &SHAPE);
    let said = run(&params, 32, &inputs(&params, 31), |_, _, m| vec![m]).2;
    let mut server = server(&params, 32);
    for step in STEPS {
        (0..3).for_each(|c| server.receive(c, &said.up[&(step, c)]).unwrap());
        let state = server.state();
        for n in 36..state.len() - 4 {
            let cut = reseal([&state[..n], &[0; 4]].concat());
            assert_eq!(Server::resume(params.clone(), &cut).unwrap_err().code(), "state");
        }
        server.close_step(Interrupt::begin()).unwrap();
    }
}

#[test]
fn the_wire_facts_are_those_of_the_messages() {
    let params = params(5, None, &SHAPE);
    let said = run(&params, 33, &inputs(&params, 34), |_, _, m| vec![m]).2;
    let sizes = secagg::message_sizes(5, params.layout().message_bits()).unwrap();
    let of_step = [sizes.advertise, sizes.share, sizes.mask, sizes.unmask];
    for (step, size) in STEPS.into_iter().zip(of_step) {
        for c in 0..5 {
            let message = &said.up[&(step, c)];
            assert_eq!(message.len() as u64, size);
            assert_eq!(secagg::sender_of(message), Ok(c));
            assert_eq!(secagg::survivors_of(message).unwrap_err().code(), "malformed");
        }
    }
    for ((step, _), message) in &said.down {
        assert_eq!(secagg::sender_of(message).unwrap_err().code(), "malformed");
        let listed = secagg::survivors_of(message);
        match step {
            Step::Mask => assert_eq!(listed, Ok(vec![0, 1, 2, 3, 4])),
            _ => assert_eq!(listed.unwrap_err().code(), "malformed"),
        }
    }
    let list = &said.down[&(Step::Mask, 0)];
    for damaged in damaged(list) {
        assert_eq!(secagg::survivors_of(&damaged).unwrap_err().code(), "malformed");
    }
    let unsorted = tamper(list, |body| body.copy_within(2..4, 0));
    assert_eq!(secagg::survivors_of(&unsorted).unwrap_err().code(), "malformed");
    for clients in [0, 1, 65_536, usize::MAX] {
        assert_eq!(secagg::message_sizes(clients, 1), Err(Error::Clients { clients }));
    }
}

/// The parameters of these tests with one of them changed.
fn other_params() -> [Params; 6] {
    let same = layout(&SHAPE);
    [
        Params::new([43; 32], 3, Some(2), 0, same.clone()),
        Params::new([42; 32], 4, Some(3), 0, same.clone()),
        Params::new([42; 32], 3, Some(3), 0, same.clone()),
        Params::new([42; 32], 3, Some(2), 1, same),
        Params::new([42; 32], 3, Some(2), 0, layout(&[(3, 5), (2, 13), (1, 64)])),
        Params::new([42; 32], 3, Some(2), 0, layout(&[(3, 5), (3, 14), (1, 64)])),
    ]
    .map(Result::unwrap)
}

#[test]
fn messages_of_other_sessions_and_studies_are_foreign() {
    let params = params(3, Some(2), &SHAPE);
    let inputs = inputs(&params, 26);
    let old = run(&params, 27, &inputs, |_, _, m| vec![m]).2;
    // Same study and round, new session: all but the first message are tied to the keys.
    let (sum, server, _) = run(&params, 28, &inputs, |step, c, m| {
        if step == Step::Advertise { vec![m] } else { vec![old.up[&(step, c)].clone(), m] }
    });
    assert_eq!(sum, Ok((plain_sum(&params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.faults(), [(0, "foreign"), (1, "foreign"), (2, "foreign")]);
    let mut fresh = clients(&params, 28);
    // Another session's keys do not hold one's own.
    let keys = &old.down[&(Step::Advertise, 0)];
    assert_eq!(
        fresh[0].share(keys, Interrupt::begin()).unwrap_err(),
        Error::Key { from: Party::Server, client: 0 }
    );

    // Any parameter that differs makes another study.
    for other in other_params() {
        let hello = clients(&other, 28)[0].advertise();
        let from = Party::Client(0);
        assert_eq!(
            super::session::server(&params, 0).receive(0, &hello),
            Err(Error::Foreign { from })
        );
        assert_eq!(
            clients(&other, 27)[0].share(keys, Interrupt::begin()),
            Err(Error::Foreign { from: Party::Server })
        );
    }
}

#[test]
fn late_inputs_are_discarded_and_early_messages_refused() {
    let params = params(4, Some(3), &SHAPE);
    let inputs = inputs(&params, 29);
    let (mut clients, mut server) = (clients(&params, 30), server(&params, 30));
    let honest = run(&params, 30, &inputs, |_, _, m| vec![m]).2;
    let from = Party::Client(3);
    let mut down: BTreeMap<usize, Vec<u8>> = (0..4).map(|c| (c, vec![])).collect();
    let mut late = Vec::new();
    for step in STEPS {
        for later in STEPS.iter().filter(|&&s| s > step) {
            let early = server.receive(0, &honest.up[&(*later, 0)]);
            assert_eq!(early, Err(Error::Order { from: Party::Client(0) }));
        }
        for (&c, request) in &down {
            let message = answer(&mut clients[c], step, request, &inputs[c]).unwrap();
            // The survivors are fixed without client 3.
            if (step, c) == (Step::Mask, 3) {
                late = message;
            } else {
                server.receive(c, &message).unwrap();
            }
        }
        down = server.close_step(Interrupt::begin()).unwrap();
        if step >= Step::Mask {
            assert_eq!(server.receive(3, &late), Err(Error::Late { from }));
        }
    }
    assert_eq!(server.result(), Ok((plain_sum(&params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.faults(), []);
}

#[derive(Debug, Clone)]
enum Event {
    /// The message of the step, by this client.
    Deliver(usize),
    /// Once more, something already sent.
    Replay(usize, usize),
    /// Under a wrong name.
    Misdeliver(usize, usize),
}

fn events(clients: usize) -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..clients).prop_map(Event::Deliver),
        2 => (0..clients, 0_usize..64).prop_map(|(c, n)| Event::Replay(c, n)),
        1 => (0..clients, 0..clients).prop_map(|(c, d)| Event::Misdeliver(c, d)),
    ];
    prop::collection::vec(event, 3 * clients)
}

proptest! {
    #![proptest_config(super::fuzz::cases(64))]
    /// Deliver, drop, duplicate, reorder: what is in the sum is what arrived in time.
    #[test]
    fn random_schedules(schedule in prop::array::uniform4(events(6)), seed: u64) {
        let params = params(6, Some(4), &SHAPE);
        let inputs = inputs(&params, seed);
        let mut clients = clients(&params, seed);
        let mut server = server(&params, seed);
        let mut sent: Vec<Vec<Vec<u8>>> = vec![vec![]; 6];
        let mut down: BTreeMap<usize, Vec<u8>> = (0..6).map(|c| (c, vec![])).collect();
        let mut masked: Vec<usize> = Vec::new();
        for (step, events) in STEPS.into_iter().zip(schedule) {
            let mut arrived = BTreeSet::new();
            for event in events {
                match event {
                    Event::Deliver(c) => if let Some(request) = down.get(&c) {
                        let message = answer(&mut clients[c], step, request, &inputs[c]).unwrap();
                        prop_assert_eq!(server.receive(c, &message), Ok(()));
                        sent[c].push(message);
                        arrived.insert(c);
                    },
                    Event::Replay(c, n) => if !sent[c].is_empty() {
                        // All of these were taken once, so they are ignored.
                        let message = &sent[c][n % sent[c].len()];
                        prop_assert_eq!(server.receive(c, message), Ok(()));
                    },
                    Event::Misdeliver(c, d) => if let Some(message) = sent[c].last().filter(|_| c != d) {
                        let refused = server.receive(d, message);
                        prop_assert_eq!(refused, Err(Error::Foreign { from: Party::Client(d) }));
                    },
                }
            }
            match server.close_step(Interrupt::begin()) {
                Ok(next) => {
                    prop_assert!(arrived.len() >= 4);
                    if step < Step::Unmask {
                        prop_assert!(next.keys().eq(arrived.iter()));
                    }
                    down = next;
                }
                Err(error) => {
                    prop_assert_eq!(error.code(), "few");
                    prop_assert!(arrived.len() < 4);
                    return Ok(());
                }
            }
            if step == Step::Mask {
                prop_assert!(server.result().is_err());
                masked = arrived.into_iter().collect();
            }
        }
        let (total, survivors) = server.result().unwrap();
        prop_assert_eq!(&survivors, &masked);
        prop_assert_eq!(total, plain_sum(&params, &inputs, &survivors));
    }
}
