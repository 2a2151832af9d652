//! Damage to a message hurts no one else, and messages belong to one study, session and client.

use super::session::*;
use super::session::{inputs as inputs_of, server as open_server};
use fedrank_core::Interrupt;
use fedrank_core::secagg::{self, Client, Error, Params, Party, Server};
use std::collections::BTreeMap;

const SHAPE: [(usize, u32); 3] = [(3, 5), (2, 14), (1, 64)];

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

/// Whether this refusal is right for a damaged message: its version is looked at first.
fn is_damage(error: &Error, message: &[u8], by: Party) -> bool {
    match *error {
        Error::Malformed { from, .. } => from == by,
        Error::Version { from, theirs, ours } => {
            from == by && message.first() == Some(&theirs) && theirs != ours && ours == 2
        }
        _ => false,
    }
}

fn study() -> Params {
    params(3, Some(2), &SHAPE)
}

#[test]
fn another_version_is_named_with_what_to_do() {
    let params = study();
    let mut message = clients(&params, 0)[1].advertise();
    message[0] = 1;
    let error = open_server(&params, 0).receive(1, &reseal(message)).unwrap_err();
    assert_eq!(error, Error::Version { from: Party::Client(1), theirs: 1, ours: 2 });
    assert_eq!(error.code(), "version");
    assert_eq!(
        error.to_string(),
        "a message from client 1 is of version 1 of the protocol, and this program speaks version \
         2: install the same version of fedrank on all machines"
    );
}

#[test]
fn damage_on_the_way_up_is_refused_by_name_and_harms_nobody() {
    both_modes(&study()).iter().for_each(damage_on_the_way_up);
}

fn damage_on_the_way_up(params: &Params) {
    let inputs = inputs(params, 20);
    let mut clients = clients(params, 21);
    let mut server = server(params, 21);
    let mut down = (0..3).map(|c| (c, vec![])).collect::<BTreeMap<_, _>>();
    for &step in steps(params) {
        for c in 0..3 {
            let message = answer(&mut clients[c], step, &down[&c], &inputs[c]).unwrap();
            for damaged in damaged(&message) {
                let refused = server.receive(c, &damaged).unwrap_err();
                assert!(is_damage(&refused, &damaged, Party::Client(c)), "{refused}");
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
    assert_eq!(server.result(), Ok((plain_sum(params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.close_step(Interrupt::begin()).unwrap_err().code(), "order");
}

#[test]
fn damage_on_the_way_down_is_refused_and_changes_nothing() {
    both_modes(&study()).iter().for_each(damage_on_the_way_down);
}

fn damage_on_the_way_down(params: &Params) {
    let inputs = inputs(params, 22);
    let said = run(params, 23, &inputs, |_, _, m| vec![m]).2;
    let mut clients = clients(params, 23);
    for (step, down) in requests(params) {
        let right = &said.down[&(down, 0)];
        for damaged in damaged(right) {
            let refused = answer(&mut clients[0], step, &damaged, &inputs[0]).unwrap_err();
            assert!(is_damage(&refused, &damaged, Party::Server), "{refused}");
        }
        // Another client's copy.
        let other = answer(&mut clients[0], step, &said.down[&(down, 1)], &inputs[0]);
        assert_eq!(other, Err(Error::Foreign { from: Party::Server }));
        let answer = answer(&mut clients[0], step, right, &inputs[0]).unwrap();
        assert_eq!(answer, said.up[&(step, 0)]);
    }
}

#[test]
fn damaged_states_are_refused() {
    both_modes(&study()).iter().for_each(damaged_states);
}

fn damaged_states(params: &Params) {
    let inputs = inputs(params, 24);
    let said = run(params, 25, &inputs, |_, _, m| vec![m]).2;
    let mut client = clients(params, 25).remove(0);
    let answered = requests(params).map(|(step, down)| (step, Some(down)));
    for (step, down) in [(Step::Advertise, None)].into_iter().chain(answered) {
        let state = client.state();
        for damaged in damaged(&state) {
            let refused = Client::resume(params.clone(), &damaged).unwrap_err();
            assert_eq!(refused.code(), "state");
        }
        for other in other_params(params) {
            assert_eq!(Client::resume(other, &state).unwrap_err().code(), "state");
        }
        let request = down.map_or(&[][..], |down| &said.down[&(down, 0)]);
        answer(&mut client, step, request, &inputs[0]).unwrap();
    }
}

#[test]
fn damaged_server_states_are_refused() {
    both_modes(&study()).iter().for_each(damaged_server_states);
}

fn damaged_server_states(params: &Params) {
    let inputs = inputs(params, 31);
    let said = run(params, 32, &inputs, |_, _, m| vec![m]).2;
    let mut server = server(params, 32);
    for &step in steps(params) {
        for c in 0..3 {
            server.receive(c, &said.up[&(step, c)]).unwrap();
        }
        let state = server.state();
        for damaged in damaged(&state) {
            let refused = Server::resume(params.clone(), &damaged).unwrap_err();
            assert_eq!(refused.code(), "state");
        }
        let other_version = Error::State { what: "it is of another version of the protocol" };
        let older = reseal([&[1], &state[1..]].concat());
        assert_eq!(Server::resume(params.clone(), &older).unwrap_err(), other_version);
        for other in other_params(params) {
            assert_eq!(Server::resume(other, &state).unwrap_err().code(), "state");
        }
        server.close_step(Interrupt::begin()).unwrap();
    }
    // A state of the other party.
    let client = clients(params, 32).remove(0).state();
    assert_eq!(Server::resume(params.clone(), &client).unwrap_err().code(), "state");
    assert_eq!(Client::resume(params.clone(), &server.state()).unwrap_err().code(), "state");
}

/// Every prefix of a server's state that was cut in the body and has a right checksum.
#[test]
fn server_states_that_end_early_are_refused() {
    both_modes(&study()).iter().for_each(shortened_server_states);
}

fn shortened_server_states(params: &Params) {
    let said = run(params, 32, &inputs(params, 31), |_, _, m| vec![m]).2;
    let mut server = server(params, 32);
    for &step in steps(params) {
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
    both_modes(&params(5, None, &SHAPE)).iter().for_each(wire_facts);
}

fn wire_facts(params: &Params) {
    let said = run(params, 33, &inputs(params, 34), |_, _, m| vec![m]).2;
    let (bits, signed) = (params.layout().message_bits(), params.is_signed());
    let sizes = secagg::message_sizes(5, bits, signed).unwrap();
    assert_eq!(sizes.confirm, if signed { 104 } else { 0 });
    for &step in steps(params) {
        let size = match step {
            Step::Advertise => sizes.advertise,
            Step::Share => sizes.share,
            Step::Mask => sizes.mask,
            Step::Confirm => sizes.confirm,
            Step::Unmask => sizes.unmask,
        };
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
        let error = secagg::survivors_of(&damaged).unwrap_err();
        assert!(is_damage(&error, &damaged, Party::Server), "{error}");
    }
    let unsorted = tamper(list, |body| body.copy_within(2..4, 0));
    assert_eq!(secagg::survivors_of(&unsorted).unwrap_err().code(), "malformed");
    for clients in [0, 1, 65_536, usize::MAX] {
        assert_eq!(secagg::message_sizes(clients, 1, true), Err(Error::Clients { clients }));
    }
}

/// The parameters of these tests with one of them changed, the mode among others.
fn other_params(params: &Params) -> Vec<Params> {
    let same = layout(&SHAPE);
    let others = [
        Params::new([43; 32], 3, Some(2), 0, same.clone()),
        Params::new([42; 32], 4, Some(3), 0, same.clone()),
        Params::new([42; 32], 3, Some(3), 0, same.clone()),
        Params::new([42; 32], 3, Some(2), 1, same),
        Params::new([42; 32], 3, Some(2), 0, layout(&[(3, 5), (2, 13), (1, 64)])),
        Params::new([42; 32], 3, Some(2), 0, layout(&[(3, 5), (3, 14), (1, 64)])),
    ];
    if !params.is_signed() {
        let others = others.into_iter().map(Result::unwrap);
        return others.chain([signed(&study())]).collect();
    }
    // Another roster: one identity replaced, or two exchanged.
    let roster = |order: [usize; 3]| {
        let identities = order.map(|i| *IDENTITIES[i].public());
        study().signed(identities.to_vec()).unwrap()
    };
    let rosters = [study(), roster([0, 1, 3]), roster([0, 2, 1])];
    others.into_iter().map(|other| signed(&other.unwrap())).chain(rosters).collect()
}

#[test]
fn rosters_have_one_identity_per_client_and_no_key_twice() {
    let public = |i: usize| *IDENTITIES[i].public();
    let of = |list: &[usize]| study().signed(list.iter().map(|&i| public(i)).collect());
    assert!(of(&[0, 1, 2]).is_ok());
    for got in [0, 2, 4] {
        let error = of(&[0, 1, 2, 3][..got]).unwrap_err();
        assert_eq!(error, Error::Identities { got, clients: 3 });
    }
    assert_eq!(of(&[0, 1, 0]), Err(Error::SharedKey { client: 2 }));
    assert_eq!(of(&[0, 1, 0]).unwrap_err().code(), "parameters");
}

#[test]
fn messages_of_other_sessions_and_studies_are_foreign() {
    both_modes(&study()).iter().for_each(foreign_messages);
}

fn foreign_messages(params: &Params) {
    let inputs = inputs(params, 26);
    let old = run(params, 27, &inputs, |_, _, m| vec![m]).2;
    // Same study and round, new session.
    let (sum, server, _) =
        run(params, 28, &inputs, |step, c, m| vec![old.up[&(step, c)].clone(), m]);
    assert_eq!(sum, Ok((plain_sum(params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.faults(), [(0, "foreign"), (1, "foreign"), (2, "foreign")]);
    let mut fresh = clients(params, 28);
    let keys = &old.down[&(Step::Advertise, 0)];
    let foreign = Error::Foreign { from: Party::Server };
    assert_eq!(answer(&mut fresh[0], Step::Share, keys, &[]), Err(foreign.clone()));
    // The same under its header: another session's keys do not hold one's own.
    let mut forged = keys.clone();
    forged[4..36].copy_from_slice(&fresh[0].session());
    let error = answer(&mut fresh[0], Step::Share, &reseal(forged), &[]).unwrap_err();
    assert_eq!(error, Error::Key { from: Party::Server, client: 0 });

    // Any parameter that differs makes another study.
    for other in other_params(params) {
        let mut server = open_server(params, 28);
        let mut theirs = clients(&other, 28);
        let advertised = server.receive(0, &theirs[0].advertise());
        if theirs[0].session() != server.session() {
            assert_eq!(advertised, Err(Error::Foreign { from: Party::Client(0) }));
            continue;
        }
        // The digest of the round is the same, so the keys are taken; but what is dealt for other
        // parameters is foreign.
        assert_eq!(advertised, Ok(()));
        let others = clients(params, 28);
        (1..3).for_each(|c| server.receive(c, &others[c].advertise()).unwrap());
        let keys = server.close_step(Interrupt::begin()).unwrap();
        let dealt = answer(&mut theirs[0], Step::Share, &keys[&0], &[]).unwrap();
        assert_eq!(server.receive(0, &dealt), Err(Error::Foreign { from: Party::Client(0) }));
        let delivery = &old.down[&(Step::Share, 0)];
        let input = &inputs_of(&other, 26)[0];
        let refused = answer(&mut theirs[0], Step::Mask, delivery, input);
        assert_eq!(refused.unwrap_err().code(), "foreign");
    }
}

/// The run's number, the nonce and the digest make the session; nothing else does.
#[test]
fn sessions_are_told_apart_by_round_nonce_and_run() {
    let open = |params: &Params, run, seed| Server::new(params.clone(), run, &mut rng(seed, 0));
    let server = open(&study(), 7, 1);
    assert_eq!(server.run(), 7);
    assert_eq!(server.session(), open(&signed(&study()), 7, 1).session());
    assert_ne!(server.session(), open(&study(), 8, 1).session());
    assert_ne!(server.session(), open(&study(), 7, 2).session());
    let other = Params::new([43; 32], 3, Some(2), 0, layout(&SHAPE)).unwrap();
    assert_ne!(server.session(), open(&other, 7, 1).session());
}

#[test]
fn late_inputs_are_discarded_and_early_messages_refused() {
    both_modes(&params(4, Some(3), &SHAPE)).iter().for_each(late_and_early);
}

fn late_and_early(params: &Params) {
    let inputs = inputs(params, 29);
    let (mut clients, mut server) = (clients(params, 30), server(params, 30));
    let honest = run(params, 30, &inputs, |_, _, m| vec![m]).2;
    let from = Party::Client(3);
    let mut down: BTreeMap<usize, Vec<u8>> = (0..4).map(|c| (c, vec![])).collect();
    let mut late = Vec::new();
    for &step in steps(params) {
        for later in steps(params).iter().filter(|&&s| s > step) {
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
    assert_eq!(server.result(), Ok((plain_sum(params, &inputs, &[0, 1, 2]), vec![0, 1, 2])));
    assert_eq!(server.faults(), []);
}
