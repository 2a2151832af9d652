//! What a hostile server asks for in vain, and what a hostile client cannot spoil.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Client, Error, Params, Party};
use std::collections::BTreeMap;

const SHAPE: [(usize, u32); 2] = [(4, 9), (2, 40)];
const CLIENTS: usize = 5;
const KEYS: usize = 66;
const DELIVERY: usize = 114;

fn study() -> Params {
    params(CLIENTS, Some(3), &SHAPE)
}

/// Client 0 after the first `steps` answers, beside all that is said in an honest session.
fn client_after(steps: usize) -> (Member, Transcript, Vec<Vec<u64>>) {
    let params = study();
    let inputs = inputs(&params, 50);
    let said = run(&params, 51, &inputs, |_, _, m| vec![m]).2;
    let client = member_after(&params, 51, 0, &said, &inputs[0], steps);
    (client, said, inputs)
}

/// Entry `i` of a list whose entries have `size` bytes, after `start` bytes of body.
fn entry(body: &mut [u8], start: usize, size: usize, i: usize) -> &mut [u8] {
    &mut body[start + i * size..][..size]
}

fn key(body: &mut [u8], client: usize, which: usize) -> &mut [u8] {
    &mut entry(body, 0, KEYS, client)[2 + 32 * which..][..32]
}

#[test]
fn false_lists_of_keys_are_refused() {
    let (mut client, said, _) = client_after(0);
    let right = said.down[&(Step::Advertise, 0)].clone();
    let stranger = clients(&study(), 99)[1].advertise()[36..100].to_vec();
    type Change = Box<dyn Fn(&mut Vec<u8>)>;
    let low_order = {
        let mut minus_one = [0xff; 32];
        (minus_one[0], minus_one[31]) = (0xec, 0x7f);
        minus_one
    };
    let cases: Vec<(&str, &str, Change)> = vec![
        ("fewer than t", "few", Box::new(|b| b.truncate(2 * KEYS))),
        ("nobody", "few", Box::new(Vec::clear)),
        ("half an entry", "malformed", Box::new(|b| b.truncate(4 * KEYS + 1))),
        ("an id off the roster", "unknown", Box::new(|b| entry(b, 0, KEYS, 4)[0] = 5)),
        ("an id far off", "unknown", Box::new(|b| entry(b, 0, KEYS, 4)[..2].fill(0xff))),
        ("a client twice", "list", Box::new(|b| entry(b, 0, KEYS, 4)[0] = 3)),
        (
            "out of order",
            "list",
            Box::new(|b| {
                entry(b, 0, KEYS, 3)[0] = 4;
                entry(b, 0, KEYS, 4)[0] = 3;
            }),
        ),
        ("without me", "list", Box::new(|b| drop(b.drain(..KEYS)))),
        (
            "my keys replaced",
            "key",
            Box::new(move |b| entry(b, 0, KEYS, 0)[2..].copy_from_slice(&stranger)),
        ),
        (
            "my transport key reflected",
            "key",
            Box::new(|b| {
                let mine = key(b, 0, 0).to_vec();
                key(b, 2, 0).copy_from_slice(&mine);
            }),
        ),
        (
            "my mask key as a peer's transport key",
            "key",
            Box::new(|b| {
                let mine = key(b, 0, 1).to_vec();
                key(b, 2, 0).copy_from_slice(&mine);
            }),
        ),
        (
            "one key for two uses",
            "key",
            Box::new(|b| {
                let one = key(b, 3, 0).to_vec();
                key(b, 3, 1).copy_from_slice(&one);
            }),
        ),
        ("a zero key", "key", Box::new(|b| key(b, 1, 1).fill(0))),
        ("a key of order 4", "key", Box::new(move |b| key(b, 1, 0).copy_from_slice(&low_order))),
        ("another spelling", "key", Box::new(|b| key(b, 1, 0)[31] |= 0x80)),
    ];
    for (name, code, change) in cases {
        let wrong = tamper(&right, change);
        assert_eq!(
            client.share(&wrong, None, Interrupt::begin()).unwrap_err().code(),
            code,
            "{name}"
        );
    }
    // Nothing was spoilt; and once answered, no other list is.
    assert_eq!(
        client.share(&right, None, Interrupt::begin()),
        Ok(said.up[&(Step::Share, 0)].clone())
    );
    let others = tamper(&right, |b| b.truncate(4 * KEYS));
    assert_eq!(
        client.share(&others, None, Interrupt::begin()),
        Err(Error::Conflict { from: Party::Server })
    );
    assert_eq!(
        client.share(&right, None, Interrupt::begin()),
        Ok(said.up[&(Step::Share, 0)].clone())
    );
}

#[test]
fn false_deliveries_are_refused() {
    let (mut client, said, inputs) = client_after(1);
    let right = said.down[&(Step::Share, 0)].clone();
    type Change = fn(&mut Vec<u8>);
    let cases: [(&str, &str, Change); 6] = [
        ("fewer than t", "few", |b| b.truncate(DELIVERY)),
        ("none", "few", Vec::clear),
        ("half an entry", "malformed", |b| b.truncate(DELIVERY + 1)),
        ("from oneself", "list", |b| b[0] = 0),
        ("from a stranger", "list", |b| {
            entry(b, 0, DELIVERY, 3)[0] = 9;
        }),
        ("one sender twice", "list", |b| {
            entry(b, 0, DELIVERY, 1)[0] = 1;
        }),
    ];
    for (name, code, change) in cases {
        let refused =
            client.mask(&tamper(&right, change), &inputs[0], Interrupt::begin()).unwrap_err();
        assert_eq!(refused.code(), code, "{name}");
    }
    // Shares that do not open are absent: of four, two may be bad, for with one's own three remain.
    let spoil = |n: usize| {
        tamper(&right, |b| {
            (0..n).for_each(|i| entry(b, 0, DELIVERY, i)[60] ^= 1);
        })
    };
    let few = Error::TooFew { what: "shares could be opened", got: 2, need: 3 };
    assert_eq!(client.mask(&spoil(3), &inputs[0], Interrupt::begin()), Err(few));
    assert!(client.mask(&spoil(2), &inputs[0], Interrupt::begin()).is_ok());
    // Two inputs under the same masks would show their difference.
    let conflict = Err(Error::Conflict { from: Party::Server });
    assert_eq!(client.mask(&spoil(2), &inputs[1], Interrupt::begin()), Err(Error::SecondInput));
    assert_eq!(client.mask(&right, &inputs[0], Interrupt::begin()), conflict);
    let mut again = Client::resume(study(), &client.state()).unwrap();
    // A saved state does not remember the input, only the reply: a second input is not masked.
    assert_eq!(
        again.mask(&spoil(2), &inputs[1], Interrupt::begin()),
        client.mask(&spoil(2), &inputs[0], Interrupt::begin())
    );
    assert_eq!(again.mask(&right, &inputs[0], Interrupt::begin()), conflict);
}

#[test]
fn inputs_that_do_not_fit_are_refused_without_their_value() {
    let (mut client, said, _) = client_after(1);
    let delivery = &said.down[&(Step::Share, 0)];
    let error = client.mask(delivery, &[0, 777_777, 0, 0, 0, 0], Interrupt::begin()).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("777777")), ("input", false));
    assert_eq!(client.mask(delivery, &[0; 5], Interrupt::begin()).unwrap_err().code(), "input");
    assert!(client.mask(delivery, &[0; 6], Interrupt::begin()).is_ok());
}

#[test]
fn false_survivors_get_no_share() {
    let (mut client, said, _) = client_after(2);
    let right = said.down[&(Step::Mask, 0)].clone();
    let ask = |list: &[u16]| tamper(&right, |b| *b = ids(list));
    for (name, code, list) in [
        ("fewer than t", "few", &[0_u16, 1][..]),
        ("nobody", "few", &[]),
        ("not me", "list", &[1, 2, 3, 4]),
        ("me twice", "list", &[0, 0, 1, 2]),
        ("one twice", "list", &[0, 1, 1, 2]),
        ("out of order", "list", &[1, 0, 2, 3]),
        ("off the roster", "list", &[0, 1, 2, 5]),
        ("far off", "list", &[0, 1, 2, 65_535]),
    ] {
        assert_eq!(client.unmask(&ask(list)).unwrap_err().code(), code, "{name}");
    }
    assert_eq!(client.unmask(&tamper(&right, |b| b.push(0))).unwrap_err().code(), "malformed");

    // One secret of each: of b for 0, 1, 2, of s for 3 and 4.
    let given = client.unmask(&ask(&[0, 1, 2])).unwrap();
    assert_eq!(given.len(), 40 + 33 * CLIENTS);
    // The other secret is not to be had, from this state or from the saved one.
    let conflict = Err(Error::Conflict { from: Party::Server });
    let mut again = Client::resume(study(), &client.state()).unwrap();
    for other in [&[0, 1, 2, 3, 4][..], &[0, 3, 4], &[0, 1, 2, 3]] {
        assert_eq!(client.unmask(&ask(other)), conflict);
        assert_eq!(again.unmask(&ask(other)), conflict);
    }
    assert_eq!(client.unmask(&ask(&[0, 1, 2])).as_ref(), Ok(&given));
    assert_eq!(again.unmask(&ask(&[0, 1, 2])).as_ref(), Ok(&given));
}

#[test]
fn a_survivor_that_did_not_share_gets_no_share() {
    let params = study();
    let inputs = inputs(&params, 52);
    let drop_two = |step, c, m| {
        if c == 2 && step >= Step::Share { vec![] } else { vec![m] }
    };
    let said = run(&params, 53, &inputs, drop_two).2;
    let mut client = member_after(&params, 53, 0, &said, &inputs[0], 2);
    let ask = tamper(&said.down[&(Step::Mask, 0)], |b| *b = ids(&[0, 1, 2, 3]));
    assert_eq!(client.unmask(&ask).unwrap_err().code(), "list");
}

#[test]
fn steps_cannot_be_driven_out_of_order() {
    let (_, said, inputs) = client_after(0);
    for done in 0..4 {
        for (number, (step, down)) in STEPS[1..].iter().zip(STEPS).enumerate() {
            let (mut client, ..) = client_after(done);
            let reply = answer(&mut client, *step, &said.down[&(down, 0)], &inputs[0]);
            match number > done {
                true => assert_eq!(reply, Err(Error::Order { from: Party::Server })),
                false => assert_eq!(reply.as_ref(), Ok(&said.up[&(*step, 0)])),
            }
        }
    }
}

/// A server with two stories: clients 0 and 1 are given one, 2 and 3 the other. It knows each
/// client's context from its message, forges headers to match, and passes all shares on. They do
/// not open across the groups, and since t > L/2 at most one group could go on. With identities
/// the first signature of the other group is refused.
fn tell_two_stories(
    params: &Params,
    others: &Params,
    seed: u64,
    list: impl Fn(usize, &mut Vec<u8>),
) {
    let inputs = inputs(params, 54);
    let said = run(params, 55, &inputs, |_, _, m| vec![m]).2;
    let session = server(others, seed).session();
    let mut members: Vec<Member> = (0..2).map(|me| Member::new(others, me, session, 55)).collect();
    members.extend(clients(params, 55).into_iter().skip(2));
    let mut dealt = BTreeMap::new();
    for (c, client) in members.iter_mut().enumerate().take(4) {
        let mut shown = said.down[&(Step::Advertise, c)].clone();
        shown[4..36].copy_from_slice(&client.session());
        let shares = answer(client, Step::Share, &tamper(&shown, |b| list(c, b)), &[]);
        dealt.insert(c, shares.unwrap());
    }
    for (c, client) in members.iter_mut().enumerate().take(4) {
        let delivery = delivery(c, CLIENTS, &dealt);
        let refused = match params.is_signed() {
            true => Error::Signature { from: Party::Server, client: if c < 2 { 2 } else { 0 } },
            false => Error::TooFew { what: "shares could be opened", got: 2, need: 3 },
        };
        assert_eq!(answer(client, Step::Mask, &delivery, &inputs[c]), Err(refused));
    }
}

#[test]
fn clients_shown_different_keys_refuse_each_other() {
    let fake = clients(&study(), 98)[4].advertise()[36..100].to_vec();
    for params in both_modes(&study()) {
        tell_two_stories(&params, &params, 55, |c, body| {
            if c < 2 {
                entry(body, 0, KEYS, 4)[2..].copy_from_slice(&fake);
            }
        });
    }
}

#[test]
fn clients_shown_different_studies_or_sessions_refuse_each_other() {
    let other = Params::new([43; 32], CLIENTS, Some(3), 0, layout(&SHAPE)).unwrap();
    for (params, other) in both_modes(&study()).iter().zip(both_modes(&other)) {
        tell_two_stories(params, &other, 55, |_, _| {});
        tell_two_stories(params, params, 56, |_, _| {});
    }
}

/// Honest but for client 1, whose message of one step is changed.
fn run_with_liar(
    at: Step,
    change: impl Fn(&mut Vec<u8>),
) -> (Result<Sum, Error>, Vec<(usize, &'static str)>, Sum) {
    let params = study();
    let inputs = inputs(&params, 56);
    let (sum, server, _) = run(&params, 57, &inputs, |step, c, message| match c {
        1 if step == at => vec![tamper(&message, &change)],
        4 if step >= Step::Mask => vec![],
        _ => vec![message],
    });
    let right = plain_sum(&params, &inputs, &[0, 1, 2, 3]);
    (sum, server.faults(), (right, vec![0, 1, 2, 3]))
}

#[test]
fn wrong_shares_are_skipped_and_their_sender_named() {
    // Shares of b (owners 0 to 3) and of s (owner 4); one of them, or all.
    for owner in 0..CLIENTS {
        let (sum, faults, right) = run_with_liar(Step::Unmask, |b| b[33 * owner + 7] ^= 4);
        assert_eq!((sum, faults), (Ok(right), vec![(1, "share")]));
    }
    let (sum, faults, right) = run_with_liar(Step::Unmask, |b| {
        (0..CLIENTS).for_each(|owner| b[33 * owner + 32] ^= 0x80);
    });
    assert_eq!((sum, faults), (Ok(right), vec![(1, "share")]));
    // Withheld, which is no fault.
    let (sum, faults, right) = run_with_liar(Step::Unmask, |b| b.fill(0));
    assert_eq!((sum, faults), (Ok(right), vec![]));
    // Marks other than 0 and 1, or a share beside the mark 0.
    for change in [|b: &mut Vec<u8>| b[0] = 2, |b: &mut Vec<u8>| b[0] = 0] {
        let (sum, faults, right) = run_with_liar(Step::Unmask, change);
        assert_eq!((sum, faults), (Ok(right), vec![(1, "malformed")]));
    }
}

#[test]
fn any_number_of_liars_while_t_are_honest() {
    let params = params(7, Some(4), &SHAPE);
    let inputs = inputs(&params, 58);
    for liars in 0..=4 {
        let (sum, server, _) = run(&params, 59, &inputs, |step, c, message| {
            let lie = |b: &mut Vec<u8>| (0..7).for_each(|owner| b[33 * owner + 1] ^= 1);
            vec![if step == Step::Unmask && c < liars { tamper(&message, lie) } else { message }]
        });
        let all: Vec<usize> = (0..7).collect();
        let named: Vec<_> = (0..liars).map(|c| (c, "share")).collect();
        assert_eq!(server.faults(), named);
        if liars <= 3 {
            assert_eq!(sum, Ok((plain_sum(&params, &inputs, &all), all)));
        } else {
            assert_eq!(sum, Err(Error::Shares { client: 0, got: 3, need: 4 }));
        }
    }
}

#[test]
fn shares_that_do_not_open_are_absent_and_their_holder_is_not_blamed() {
    let sealed = 32 + 32 * CLIENTS;
    // The share for client 0, then a fingerprint of the share of client 0.
    for at in [sealed + 3, 32, 32 + 16] {
        let (sum, faults, right) = run_with_liar(Step::Share, |b| b[at] ^= 1);
        assert_eq!((sum, faults), (Ok(right), vec![]));
    }
    // Swapped: each is for the other.
    let (sum, faults, right) = run_with_liar(Step::Share, |b| {
        b[sealed..].rotate_left(80);
    });
    // Client 1 is left with its own share, of three needed.
    assert_eq!(sum, Err(Error::Shares { client: 1, got: 1, need: 3 }));
    assert_eq!((faults, right.1), (vec![], vec![0, 1, 2, 3]));
}

#[test]
fn a_false_dealer_is_named() {
    // The commitment to b.
    let (sum, faults, _) = run_with_liar(Step::Share, |b| b[5] ^= 1);
    assert_eq!((sum, faults), (Err(Error::Dealer { client: 1 }), vec![(1, "dealer")]));
}

#[test]
fn wrong_lengths_are_malformed() {
    for step in STEPS {
        for change in
            [|b: &mut Vec<u8>| b.truncate(b.len() - 1), |b: &mut Vec<u8>| b.push(0), Vec::clear]
        {
            let (sum, faults, _) = run_with_liar(step, change);
            // Client 1 is lost, and 4 at the mask step: three are left.
            let survived = step == Step::Unmask;
            assert_eq!(sum.unwrap().1.contains(&1), survived);
            assert_eq!(faults, [(1, "malformed")]);
        }
    }
}

#[test]
fn padding_must_be_zero() {
    // 4 * 9 + 2 * 40 = 116 bits: the last byte has four to spare.
    let (sum, faults, _) = run_with_liar(Step::Mask, |b| b[14] |= 0x80);
    assert_eq!((sum.unwrap().1, faults), (vec![0, 2, 3], vec![(1, "malformed")]));
}

#[test]
fn copied_and_low_order_keys_are_refused_by_the_server() {
    let params = study();
    let (honest, mut server) = (clients(&params, 60), server(&params, 60));
    let hello = |c: usize| honest[c].advertise();
    let key_error = |client| Err(Error::Key { from: Party::Client(client), client });
    server.receive(0, &hello(0)).unwrap();
    for (to, from) in [(0, 0), (0, 32), (32, 0), (32, 32)] {
        let copy = tamper(&hello(1), |b| {
            b[to..to + 32].copy_from_slice(&hello(0)[36 + from..][..32]);
        });
        assert_eq!(server.receive(1, &copy), key_error(1));
    }
    let same = tamper(&hello(1), |b| b.copy_within(..32, 32));
    assert_eq!(server.receive(1, &same), key_error(1));
    let zero = tamper(&hello(1), |b| b[32..].fill(0));
    assert_eq!(server.receive(1, &zero), key_error(1));
    // Still welcome with its own keys; but not with two pairs.
    server.receive(1, &hello(1)).unwrap();
    let others = Member::new(&params, 1, server.session(), 61).advertise();
    assert_eq!(server.receive(1, &others), Err(Error::Conflict { from: Party::Client(1) }));
    assert_eq!(server.faults(), [(1, "conflict"), (1, "key")]);
}

#[test]
fn nothing_printed_is_secret() {
    let (client, ..) = client_after(1);
    assert_eq!(format!("{:?}", *client), "Client { me: 0, steps_done: 1, .. }");
    assert_eq!(format!("{:?}", server(&study(), 0)), "Server { step: Advertise, .. }");
}
