//! With identities: what is signed, by whom, and over what. Each refusal here has one cause.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Confirmation, Error, Identity, Params, Party, Result, Server};
use std::collections::BTreeMap;

const SHAPE: [(usize, u32); 2] = [(4, 9), (2, 40)];
const CLIENTS: usize = 5;
const DELIVERY: usize = 178;
/// Who survives: client 4 is lost at the mask step.
const SURVIVORS: [u16; 4] = [0, 1, 2, 3];
const SHARERS: [u16; 5] = [0, 1, 2, 3, 4];

fn study() -> Params {
    signed(&params(CLIENTS, Some(3), &SHAPE))
}

/// What is said in a session that loses client 4 at the mask step.
fn session(seed: u64) -> (Transcript, Vec<Vec<u64>>) {
    let inputs = inputs(&study(), 70);
    let uplink = |step, c, m| if c == 4 && step >= Step::Mask { vec![] } else { vec![m] };
    let (sum, _, said) = run(&study(), seed, &inputs, uplink);
    assert_eq!(sum.unwrap().1, [0, 1, 2, 3]);
    (said, inputs)
}

/// Client `me` after so many answers in that session.
fn member(me: usize, answers: usize) -> (Member, Transcript, Vec<Vec<u64>>) {
    let (said, inputs) = session(71);
    (member_after(&study(), 71, me, &said, &inputs[me], answers), said, inputs)
}

/// Signatures of client `by` that are not of its shares in this session.
fn foreign_shares(context: &[u8], by: usize) -> Vec<[u8; 64]> {
    let me = by as u16;
    let right = sign(by, &share_text(context, me));
    let mut flipped = right;
    flipped[10] ^= 1;
    vec![
        flipped,
        [0; 64],
        // Another context, another client, another key, another step.
        sign(by, &share_text(session_of(&session(72).0.up[&(Step::Share, by)]), me)),
        sign(by, &share_text(context, me + 1)),
        sign(by + 1, &share_text(context, me)),
        sign(by, &confirm_text(context, me, &SHARERS, &SURVIVORS)),
    ]
}

#[test]
fn who_signs_its_shares_wrongly_is_named_and_absent() {
    let (inputs, context) = (inputs(&study(), 70), context());
    let rest = [0, 2, 3, 4];
    let mut cases: Vec<(Vec<u8>, &str)> =
        foreign_shares(&context, 1).iter().map(|s| (s.to_vec(), "signature")).collect();
    cases.push((vec![], "malformed"));
    for (signature, code) in cases {
        let (sum, server, _) = run(&study(), 71, &inputs, |step, c, message| {
            if (step, c) != (Step::Share, 1) {
                return vec![message];
            }
            vec![tamper(&message, |b| {
                b.truncate(b.len() - 64);
                b.extend_from_slice(&signature);
            })]
        });
        assert_eq!(sum, Ok((plain_sum(&study(), &inputs, &rest), rest.to_vec())));
        assert_eq!(server.faults(), [(1, code)]);
    }
}

fn context() -> Vec<u8> {
    session_of(&session(71).0.up[&(Step::Share, 0)]).to_vec()
}

#[test]
fn one_wrong_signature_in_a_delivery_refuses_all_of_it() {
    let (mut client, said, inputs) = member(0, 1);
    let right = said.down[&(Step::Share, 0)].clone();
    let before = client.state();
    for (place, owner) in (1..CLIENTS).enumerate() {
        for signature in foreign_shares(&context(), owner) {
            let wrong =
                tamper(&right, |b| b[place * DELIVERY + 114..][..64].copy_from_slice(&signature));
            let refused = answer(&mut client, Step::Mask, &wrong, &inputs[0]);
            assert_eq!(refused, Err(Error::Signature { from: Party::Server, client: owner }));
        }
    }
    // None at all, as without identities.
    let bare = tamper(&right, |b| {
        *b = b.as_chunks::<DELIVERY>().0.iter().flat_map(|e| e[..114].to_vec()).collect();
    });
    let refused = answer(&mut client, Step::Mask, &bare, &inputs[0]);
    assert_eq!(refused.unwrap_err().code(), "malformed");
    assert_eq!(*client.state(), *before);
    let reply = answer(&mut client, Step::Mask, &right, &inputs[0]);
    assert_eq!(reply.as_ref(), Ok(&said.up[&(Step::Mask, 0)]));
}

#[test]
fn a_share_that_does_not_open_is_of_one_who_shared() {
    // Client 3's share for client 0 is spoilt: it still counts in both lists.
    let inputs = inputs(&study(), 70);
    let (sum, server, said) = run(&study(), 71, &inputs, |step, c, message| {
        let spoil = |b: &mut Vec<u8>| b[32 + 32 * CLIENTS] ^= 1;
        vec![if (step, c) == (Step::Share, 3) { tamper(&message, spoil) } else { message }]
    });
    let all: Vec<usize> = (0..CLIENTS).collect();
    assert_eq!(sum, Ok((plain_sum(&study(), &inputs, &all), all)));
    assert_eq!(server.faults(), []);
    assert!(body(&said.up[&(Step::Unmask, 0)])[99..132].iter().all(|&b| b == 0));
}

/// The only client that must sign is the one with the identity on the roster, and only there.
#[test]
fn signers_must_be_those_of_the_roster() {
    let (mut client, said, inputs) = member(0, 0);
    let keys = &said.down[&(Step::Advertise, 0)];
    let begin = Interrupt::begin;
    let refused = |reply: Result<Vec<u8>>| assert_eq!(reply.unwrap_err().code(), "signer");
    refused(client.share(keys, None, begin()));
    refused(client.share(keys, Some(&IDENTITIES[1]), begin()));
    assert!(client.share(keys, Some(&IDENTITIES[0]), begin()).is_ok());
    answer(&mut client, Step::Mask, &said.down[&(Step::Share, 0)], &inputs[0]).unwrap();
    let list = &said.down[&(Step::Mask, 0)];
    refused(client.confirm(list, &IDENTITIES[1]));
    assert!(client.confirm(list, &IDENTITIES[0]).is_ok());

    let unsigned = params(CLIENTS, Some(3), &SHAPE);
    let said = run(&unsigned, 71, &inputs, |_, _, m| vec![m]).2;
    let mut client = clients(&unsigned, 71).remove(0);
    refused(client.share(&said.down[&(Step::Advertise, 0)], Some(&IDENTITIES[0]), begin()));
    let mut client = member_after(&unsigned, 71, 0, &said, &inputs[0], 2);
    refused(client.confirm(&said.down[&(Step::Mask, 0)], &IDENTITIES[0]));
    let none = client.check_confirmed(&SHARERS, &[]);
    assert_eq!(none, Err(Error::Order { from: Party::Server }));
}

/// Confirmations by these clients of these lists, in the context of session 71.
fn confirmed(by: &[usize], sharers: &[u16], survivors: &[u16]) -> Vec<Confirmation> {
    let context = context();
    let one = |&by: &usize| {
        let id = by as u16;
        (id, sign(by, &confirm_text(&context, id, sharers, survivors)))
    };
    by.iter().map(one).collect()
}

fn entries(list: &[Confirmation]) -> Vec<u8> {
    list.iter().flat_map(|(id, s)| [&id.to_le_bytes()[..], s].concat()).collect()
}

/// Lists of confirmations, each wrong in one way, with the code of the refusal. Client 0 reads.
fn wrong_confirmations() -> Vec<(&'static str, &'static str, Vec<Confirmation>)> {
    let right = confirmed(&[0, 1, 2], &SHARERS, &SURVIVORS);
    let with = |change: &dyn Fn(&mut Vec<Confirmation>)| {
        let mut list = right.clone();
        change(&mut list);
        list
    };
    let by = |list: &[usize]| confirmed(list, &SHARERS, &SURVIVORS);
    let other = |sharers: &[u16], survivors: &[u16]| confirmed(&[2], sharers, survivors)[0];
    let (u2, u3) = (other(&[0, 1, 2, 3], &SURVIVORS), other(&SHARERS, &[0, 1, 2]));
    let elsewhere = session_of(&session(72).0.up[&(Step::Share, 0)]).to_vec();
    let text = |context: &[u8], me| confirm_text(context, me, &SHARERS, &SURVIVORS);
    let (far, not_two, no_two) = (
        sign(2, &text(&elsewhere, 2)),
        sign(3, &text(&context(), 2)),
        sign(2, &text(&context(), 3)),
    );
    vec![
        ("t - 1 signers", "few", by(&[0, 1])),
        ("nobody", "few", vec![]),
        ("one signer twice", "list", by(&[0, 1, 1])),
        ("out of order", "list", by(&[1, 0, 2])),
        ("a signer outside U3", "list", by(&[0, 1, 4])),
        ("more than t", "list", by(&[0, 1, 2, 3])),
        ("over another U2", "signature", with(&|l| l[2] = u2)),
        ("over another U3", "signature", with(&|l| l[2] = u3)),
        ("in another session", "signature", with(&|l| l[2].1 = far)),
        ("by another key", "signature", with(&|l| l[2].1 = not_two)),
        ("for another client", "signature", with(&|l| l[2].1 = no_two)),
        ("of the shares", "signature", with(&|l| l[2].1 = sign(2, &share_text(&context(), 2)))),
        ("one bit", "signature", with(&|l| l[1].1[63] ^= 4)),
    ]
}

#[test]
fn shares_are_given_only_for_t_confirmations_of_ones_own_lists() {
    let (mut client, said, _) = member(0, 3);
    let right = said.down[&(Step::Confirm, 0)].clone();
    assert_eq!(body(&right), entries(&confirmed(&[0, 1, 2], &SHARERS, &SURVIVORS)));
    let before = client.state();
    let mut cases = wrong_confirmations();
    cases.push(("without the reader", "list", confirmed(&[1, 2, 3], &SHARERS, &SURVIVORS)));
    for (name, code, list) in cases {
        let refused = client.unmask(&tamper(&right, |b| *b = entries(&list)));
        assert_eq!(refused.unwrap_err().code(), code, "{name}");
    }
    let half = client.unmask(&tamper(&right, |b| b.truncate(65)));
    assert_eq!(half.unwrap_err().code(), "malformed");
    assert_eq!(*client.state(), *before);
    assert_eq!(client.unmask(&right).as_ref(), Ok(&said.up[&(Step::Unmask, 0)]));
}

#[test]
fn no_share_is_given_before_the_survivors_are_confirmed() {
    let (mut client, said, _) = member(0, 2);
    let (list, confirmed) = (&said.down[&(Step::Mask, 0)], &said.down[&(Step::Confirm, 0)]);
    let early = Err(Error::Order { from: Party::Server });
    assert_eq!(client.unmask(list), early);
    assert_eq!(client.unmask(confirmed), early);
    answer(&mut client, Step::Confirm, list, &[]).unwrap();
    // The list is no answer to a confirmation, as it is without identities.
    assert_eq!(client.unmask(list).unwrap_err().code(), "malformed");
    assert!(client.unmask(confirmed).is_ok());
}

#[test]
fn one_list_of_survivors_is_confirmed() {
    let (mut client, said, _) = member(0, 2);
    let right = said.down[&(Step::Mask, 0)].clone();
    let ask = |list: &[u16]| tamper(&right, |b| *b = ids(list));
    for (name, code, list) in [
        ("fewer than t", "few", &[0_u16, 1][..]),
        ("nobody", "few", &[]),
        ("not me", "list", &[1, 2, 3]),
        ("one twice", "list", &[0, 1, 1, 2]),
        ("out of order", "list", &[1, 0, 2, 3]),
        ("off the roster", "list", &[0, 1, 2, 5]),
    ] {
        let refused = answer(&mut client, Step::Confirm, &ask(list), &[]);
        assert_eq!(refused.unwrap_err().code(), code, "{name}");
    }
    let given = answer(&mut client, Step::Confirm, &right, &[]).unwrap();
    assert_eq!(given, said.up[&(Step::Confirm, 0)]);
    let conflict = Err(Error::Conflict { from: Party::Server });
    for _ in 0..2 {
        for other in [&[0_u16, 1, 2, 3, 4][..], &[0, 1, 2], &[0]] {
            assert_eq!(answer(&mut client, Step::Confirm, &ask(other), &[]), conflict);
        }
        assert_eq!(answer(&mut client, Step::Confirm, &right, &[]).as_ref(), Ok(&given));
        client = Member::resume(&study(), 0, &client.state()).unwrap();
    }
    // Also after the shares are given.
    client.unmask(&said.down[&(Step::Confirm, 0)]).unwrap();
    assert_eq!(answer(&mut client, Step::Confirm, &ask(&[0, 1, 2]), &[]), conflict);
    assert_eq!(answer(&mut client, Step::Confirm, &right, &[]).as_ref(), Ok(&given));
}

#[test]
fn the_survivors_must_have_shared() {
    let inputs = inputs(&study(), 70);
    let uplink = |step, c, m| if c == 4 && step >= Step::Share { vec![] } else { vec![m] };
    let said = run(&study(), 71, &inputs, uplink).2;
    let mut client = member_after(&study(), 71, 0, &said, &inputs[0], 2);
    let list = tamper(&said.down[&(Step::Mask, 0)], |b| *b = ids(&[0, 1, 2, 4]));
    assert_eq!(answer(&mut client, Step::Confirm, &list, &[]).unwrap_err().code(), "list");
    let lists = confirmed(&[0, 1, 2], &[0, 1, 2, 3], &[0, 1, 2, 4]);
    assert_eq!(client.check_confirmed(&[0, 1, 2, 4], &lists).unwrap_err().code(), "list");
}

#[test]
fn survivors_that_missed_the_confirmation_can_check_it() {
    let right = confirmed(&[0, 1, 2], &SHARERS, &SURVIVORS);
    for answers in [2, 3] {
        // Client 3 is no signer, but a survivor.
        for me in [0, 3] {
            let (client, ..) = member(me, answers);
            let before = client.state();
            assert_eq!(client.check_confirmed(&SURVIVORS, &right), Ok(()));
            assert_eq!(*client.state(), *before);
        }
        let (client, ..) = member(0, answers);
        for (name, code, list) in wrong_confirmations() {
            let refused = client.check_confirmed(&SURVIVORS, &list);
            assert_eq!(refused.unwrap_err().code(), code, "{name}");
        }
    }
    let (client, ..) = member(0, 2);
    let all = confirmed(&[0, 1, 2], &SHARERS, &SHARERS);
    for (name, code, list) in [
        ("not me", "list", &[1_u16, 2, 3][..]),
        ("fewer than t", "few", &[0, 1]),
        ("out of order", "list", &[1, 0, 2, 3]),
        ("another list", "signature", &SHARERS),
    ] {
        let lists = if name == "another list" {
            right.clone()
        } else {
            confirmed(&[1, 2, 3], &SHARERS, list)
        };
        assert_eq!(client.check_confirmed(list, &lists).unwrap_err().code(), code, "{name}");
    }
    // Who confirmed one list knows of no other; who confirmed none does.
    assert_eq!(client.check_confirmed(&SHARERS, &all), Ok(()));
    let conflict = Err(Error::Conflict { from: Party::Server });
    assert_eq!(member(0, 3).0.check_confirmed(&SHARERS, &all), conflict);
    // Before the input is masked and after the shares are given there is nothing to check.
    let early = Err(Error::Order { from: Party::Server });
    for answers in [0, 1, 4] {
        assert_eq!(member(0, answers).0.check_confirmed(&SURVIVORS, &right), early);
    }
}

/// The server of session 71 when the survivors are fixed, with what the clients confirm.
fn confirming() -> (Server, BTreeMap<u16, Vec<u8>>) {
    let (said, _) = session(71);
    let mut server = server(&study(), 71);
    for step in [Step::Advertise, Step::Share, Step::Mask] {
        for c in (0..CLIENTS).filter(|&c| c < 4 || step < Step::Mask) {
            server.receive(c, &said.up[&(step, c)]).unwrap();
        }
        server.close_step(Interrupt::begin()).unwrap();
    }
    let context = context();
    let confirm = |&c: &u16| {
        let signature = sign(c.into(), &confirm_text(&context, c, &SHARERS, &SURVIVORS));
        (c, message(11, c, &context, &signature))
    };
    (server, SHARERS.iter().map(confirm).collect())
}

#[test]
fn the_server_passes_on_t_confirmations_and_those_of_the_reader() {
    let (mut server, confirm) = confirming();
    let (few, from) = (
        Error::TooFew { what: "clients confirmed the survivors", got: 2, need: 3 },
        Party::Client(4),
    );
    for c in [0, 3] {
        server.receive(c, &confirm[&(c as u16)]).unwrap();
    }
    assert_eq!(server.close_step(Interrupt::begin()), Err(few));
    assert_eq!(server.confirmations(), []);
    // Not a survivor.
    assert_eq!(server.receive(4, &confirm[&4]), Err(Error::Order { from }));
    for c in [1, 2] {
        server.receive(c, &confirm[&(c as u16)]).unwrap();
    }
    let down = server.close_step(Interrupt::begin()).unwrap();
    let first = |by: &[usize]| entries(&confirmed(by, &SHARERS, &SURVIVORS));
    for (c, by) in [(0, [0, 1, 2]), (1, [0, 1, 2]), (2, [0, 1, 2]), (3, [0, 1, 3])] {
        assert_eq!(body(&down[&c]), first(&by));
    }
    assert_eq!(server.confirmations(), confirmed(&[0, 1, 2], &SHARERS, &SURVIVORS));
    assert_eq!(server.faults(), []);
}

#[test]
fn who_confirms_wrongly_is_named_and_absent() {
    let context = context();
    let text = |me| confirm_text(&context, me, &SHARERS, &SURVIVORS);
    let elsewhere = session_of(&session(72).0.up[&(Step::Share, 0)]).to_vec();
    for wrong in [
        [0; 64],
        sign(1, &confirm_text(&context, 1, &SURVIVORS, &SURVIVORS)),
        sign(1, &confirm_text(&context, 1, &SHARERS, &SHARERS)),
        sign(1, &confirm_text(&elsewhere, 1, &SHARERS, &SURVIVORS)),
        sign(2, &text(1)),
        sign(1, &text(2)),
        sign(1, &share_text(&context, 1)),
    ] {
        let (mut server, confirm) = confirming();
        let refused = server.receive(1, &message(11, 1, &context, &wrong));
        let from = Party::Client(1);
        assert_eq!(refused, Err(Error::Signature { from, client: 1 }));
        assert_eq!(server.faults(), [(1, "signature")]);
        assert_eq!(resumed(&study(), &server).faults(), server.faults());
        for c in [0, 2, 3] {
            server.receive(c, &confirm[&(c as u16)]).unwrap();
        }
        let down = server.close_step(Interrupt::begin()).unwrap();
        assert!(down.keys().eq(&[0, 2, 3]));
        // It was not asked for shares, and gives none.
        let reveal = &session(71).0.up[&(Step::Unmask, 1)];
        assert_eq!(server.receive(1, reveal), Err(Error::Order { from }));
        for c in [0, 2, 3] {
            server.receive(c, &session(71).0.up[&(Step::Unmask, c)]).unwrap();
        }
        server.close_step(Interrupt::begin()).unwrap();
        let sum = plain_sum(&study(), &inputs(&study(), 70), &[0, 1, 2, 3]);
        assert_eq!(server.result(), Ok((sum, vec![0, 1, 2, 3])));
    }
}

/// The server cannot talk clients with identities into a session without, or the other way round.
#[test]
fn the_mode_cannot_be_changed() {
    let (with, without) = (study(), params(CLIENTS, Some(3), &SHAPE));
    let inputs = inputs(&with, 70);
    for (mine, theirs) in [(&with, &without), (&without, &with)] {
        let (mut server, mut members) = (server(theirs, 71), clients(mine, 71));
        for (c, client) in members.iter().enumerate() {
            server.receive(c, &client.advertise()).unwrap();
        }
        // The session is the same in both, and no message is, from the first share on.
        let keys = server.close_step(Interrupt::begin()).unwrap();
        for (c, client) in members.iter_mut().enumerate() {
            let shares = answer(client, Step::Share, &keys[&c], &[]).unwrap();
            let from = Party::Client(c);
            assert_eq!(server.receive(c, &shares), Err(Error::Foreign { from }));
        }
        let delivery = &run(theirs, 71, &inputs, |_, _, m| vec![m]).2.down[&(Step::Share, 0)];
        let foreign = Err(Error::Foreign { from: Party::Server });
        assert_eq!(answer(&mut members[0], Step::Mask, delivery, &inputs[0]), foreign);
        // Nor do states open in the other mode.
        let state = members[0].state();
        assert_eq!(Member::resume(theirs, 0, &state).unwrap_err().code(), "state");
        assert_eq!(Server::resume(mine.clone(), &server.state()).unwrap_err().code(), "state");
    }
    // Without identities nobody confirms.
    let said = run(&without, 71, &inputs, |_, _, m| vec![m]).2;
    let context = session_of(&said.up[&(Step::Share, 0)]);
    let mut server = server(&without, 71);
    let confirm = message(11, 0, context, &[0; 64]);
    assert_eq!(server.receive(0, &confirm).unwrap_err().code(), "malformed");
}

#[test]
fn another_identity_is_another_study() {
    let mut identities: Vec<_> = IDENTITIES[..CLIENTS].iter().map(|i| *i.public()).collect();
    identities[3] = *Identity::generate(&mut rng(5, 5)).public();
    let other = params(CLIENTS, Some(3), &SHAPE).signed(identities).unwrap();
    let session = server(&study(), 71).session();
    let mut server = server(&study(), 71);
    let mut client = Member::new(&other, 0, session, 71);
    let (said, _) = self::session(71);
    for c in 0..CLIENTS {
        server.receive(c, &said.up[&(Step::Advertise, c)]).unwrap();
    }
    let keys = server.close_step(Interrupt::begin()).unwrap();
    let shares = answer(&mut client, Step::Share, &keys[&0], &[]).unwrap();
    assert_eq!(server.receive(0, &shares), Err(Error::Foreign { from: Party::Client(0) }));
}
