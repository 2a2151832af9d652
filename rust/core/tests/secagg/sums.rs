//! Sums are exact, whoever is lost, and messages tell nothing but the sum.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Error, Params, Party};
use proptest::prelude::*;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const SHAPE: [(usize, u32); 5] = [(3, 1), (2, 7), (4, 14), (1, 31), (2, 64)];

fn errs_few(error: &Error) -> bool {
    error.code() == "few"
}

#[test]
fn every_dropout_pattern_of_five_clients() {
    let choices: Vec<Option<Step>> = STEPS.into_iter().map(Some).chain([None]).collect();
    for threshold in [3, 4, 5] {
        let params = params(5, Some(threshold), &SHAPE);
        let inputs = inputs(&params, 1);
        let summed: usize = (0..5_usize.pow(5))
            .into_par_iter()
            .map(|pattern| {
                let lost: Vec<_> = (0..5).map(|c| choices[pattern / 5_usize.pow(c) % 5]).collect();
                let got = run_losing(&params, 2, &inputs, &lost);
                match expected(&params, &inputs, &lost) {
                    Some(sum) => assert_eq!(got, Ok(sum), "{lost:?}"),
                    None => assert!(errs_few(&got.unwrap_err()), "{lost:?}"),
                }
                usize::from(expected(&params, &inputs, &lost).is_some())
            })
            .sum();
        // At least t of five stay to the end; the others, any of four ways: Σ C(5,k) 4^k.
        let ways = [1, 20, 160].iter().take(6 - threshold).sum::<usize>();
        assert_eq!(summed, ways);
    }
}

#[test]
fn every_dropout_pattern_of_four_clients_with_identities() {
    for threshold in [3, 4] {
        let params = signed(&params(4, Some(threshold), &SHAPE));
        let choices: Vec<_> = steps(&params).iter().copied().map(Some).chain([None]).collect();
        let inputs = inputs(&params, 1);
        (0..6_usize.pow(4)).into_par_iter().for_each(|pattern| {
            let lost: Vec<_> = (0..4).map(|c| choices[pattern / 6_usize.pow(c) % 6]).collect();
            match (run_losing(&params, 2, &inputs, &lost), expected(&params, &inputs, &lost)) {
                (got, Some(sum)) => assert_eq!(got, Ok(sum), "{lost:?}"),
                (got, None) => assert!(errs_few(&got.unwrap_err()), "{lost:?}"),
            }
        });
    }
}

#[test]
fn rosters_from_two_to_fifty() {
    for (clients, entries) in [(2, 1), (3, 978), (10, 978), (50, 31)] {
        both_modes(&params(clients, None, &[(entries, 14)])).iter().for_each(all_stay);
    }
}

fn all_stay(params: &Params) {
    let inputs = inputs(params, 3);
    let all: Vec<usize> = (0..params.clients()).collect();
    let got = run_losing(params, 4, &inputs, &vec![None; all.len()]);
    assert_eq!(got, Ok((plain_sum(params, &inputs, &all), all)));
}

#[test]
fn a_roster_above_255() {
    let params = params(300, Some(151), &[(5, 20)]);
    let inputs = inputs(&params, 5);
    // Most leave at once, since the work grows with the square of the rest; then one per step.
    let lost = |c| match c {
        270..=272 => Some(STEPS[c - 269]),
        _ => (c < 260 && c % 2 == 1).then_some(Step::Advertise),
    };
    let lost: Vec<_> = (0..300).map(lost).collect();
    let want = expected(&params, &inputs, &lost);
    assert!(want.as_ref().is_some_and(|(_, survivors)| survivors.contains(&299)));
    assert_eq!(run_losing(&params, 6, &inputs, &lost).ok(), want);
}

proptest! {
    #![proptest_config(super::fuzz::cases(24))]
    #[test]
    fn random_dropouts_of_more_clients(
        lost in prop::collection::vec(prop::option::weighted(0.3, 0_usize..5), 6..18),
        shape in prop::collection::vec((0_usize..6, 1_u32..=64), 0..4),
        seed: u64,
        mode in 0_usize..2,
    ) {
        let params = params(lost.len(), Some(lost.len() / 2 + 1), &shape);
        let params = both_modes(&params)[mode].clone();
        let at = |at: usize| steps(&params)[at % steps(&params).len()];
        let lost: Vec<_> = lost.into_iter().map(|lost| lost.map(at)).collect();
        let inputs = inputs(&params, seed);
        let got = run_losing(&params, seed, &inputs, &lost);
        prop_assert!(got.as_ref().map_or_else(errs_few, |_| true));
        prop_assert_eq!(got.ok(), expected(&params, &inputs, &lost));
    }
}

#[test]
fn a_step_below_the_threshold_can_wait_for_more() {
    let params = params(3, Some(3), &SHAPE);
    let mut server = server(&params, 0);
    let clients = clients(&params, 0);
    for c in [0, 1] {
        server.receive(c, &clients[c].advertise()).unwrap();
    }
    let few = Error::TooFew { what: "clients sent keys", got: 2, need: 3 };
    assert_eq!(server.close_step(Interrupt::begin()), Err(few));
    server.receive(2, &clients[2].advertise()).unwrap();
    assert_eq!(server.close_step(Interrupt::begin()).unwrap().len(), 3);
    assert_eq!(server.result().unwrap_err().code(), "order");
}

#[test]
fn every_step_may_run_in_a_new_process() {
    both_modes(&params(4, None, &SHAPE)).iter().for_each(new_processes);
}

fn new_processes(params: &Params) {
    let inputs = inputs(params, 7);
    let (sum, _, said) = run(params, 8, &inputs, |_, _, m| vec![m]);
    let mut clients = clients(params, 8);
    for &step in steps(params) {
        for (c, client) in clients.iter_mut().enumerate() {
            let resume = |client: &Member| Member::resume(params, c, &client.state()).unwrap();
            let saved = client.state();
            assert_eq!(*resume(client).state(), *saved);
            assert_eq!(resume(client).session(), client.session());
            *client = resume(client);
            let before = steps(params).iter().rev().find(|&&s| s < step);
            let request = before.map_or(&[][..], |&s| &said.down[&(s, c)]);
            // Twice: a repeated request, here to a resumed client, gets identical bytes.
            for _ in 0..2 {
                let reply = answer(client, step, request, &inputs[c]).unwrap();
                assert_eq!(reply, said.up[&(step, c)]);
                *client = resume(client);
            }
        }
    }
    // Earlier requests too, to the last state.
    for (step, down) in requests(params) {
        let reply = answer(&mut clients[0], step, &said.down[&(down, 0)], &inputs[0]);
        assert_eq!(reply.as_ref(), Ok(&said.up[&(step, 0)]));
    }
    assert!(sum.is_ok());
}

/// A server that is saved and resumed around every message, beside one that never is.
#[test]
fn every_message_may_reach_a_new_server() {
    both_modes(&params(5, Some(3), &SHAPE)).iter().for_each(new_servers);
}

fn new_servers(params: &Params) {
    let inputs = inputs(params, 14);
    // Client 4 is lost at the mask step; 1 reveals a wrong share; 2 first sends half of everything.
    let uplink = |step, c, message: Vec<u8>| match (step, c) {
        (Step::Mask, 4) => vec![],
        (Step::Unmask, 1) => vec![tamper(&message, |b| b[7] ^= 1)],
        (_, 2) => vec![message[..20].to_vec(), message],
        _ => vec![message],
    };
    let (sum, steady, said) = run(params, 15, &inputs, uplink);
    let (mut clients, mut server) = (clients(params, 15), server(params, 15));
    let mut down: BTreeMap<usize, Vec<u8>> = (0..5).map(|c| (c, vec![])).collect();
    for &step in steps(params) {
        for (&c, request) in &down {
            let message = answer(&mut clients[c], step, request, &inputs[c]).unwrap();
            for message in uplink(step, c, message) {
                let first = server.receive(c, &message);
                server = resumed(params, &server);
                // Repeated: as before. Another one: refused.
                assert_eq!(server.receive(c, &message), first);
                if first.is_ok() {
                    let other = server.receive(c, &tamper(&message, |b| b.push(0)));
                    assert_eq!(other, Err(Error::Conflict { from: Party::Client(c) }));
                }
            }
        }
        let mut again = resumed(params, &server);
        assert_eq!(*again.state(), *server.state());
        assert_eq!((again.run(), again.session()), (steady.run(), steady.session()));
        down = server.close_step(Interrupt::begin()).unwrap();
        assert_eq!(again.close_step(Interrupt::begin()).as_ref(), Ok(&down));
        server = resumed(params, &server);
        for (&c, message) in &down {
            assert_eq!(*message, said.down[&(step, c)]);
        }
    }
    assert_eq!(server.result(), sum);
    assert_eq!(server.confirmations(), steady.confirmations());
    assert_eq!(server.confirmations().len(), if params.is_signed() { 3 } else { 0 });
    assert_eq!(sum, Ok((plain_sum(params, &inputs, &[0, 1, 2, 3]), vec![0, 1, 2, 3])));
    assert_eq!(server.close_step(Interrupt::begin()).unwrap_err().code(), "order");
    let conflicts = (0..5).map(|c| (c, "conflict"));
    let faults: BTreeSet<_> = steady.faults().into_iter().chain(conflicts).collect();
    assert_eq!(server.faults(), faults.into_iter().collect::<Vec<_>>());
}

#[test]
fn no_length_depends_on_the_data() {
    let shape = [(4, 14), (3, 33)];
    for params in [2, 5, 8].into_iter().flat_map(|n| both_modes(&params(n, None, &shape))) {
        let (n, t) = (params.clients(), params.threshold());
        let signature = if params.is_signed() { 64 } else { 0 };
        let lengths = |inputs: &[Vec<u64>], seed| {
            let said = run(&params, seed, inputs, |_, _, m| vec![m]).2;
            let of = |m: BTreeMap<(Step, usize), Vec<u8>>| -> Vec<_> {
                m.into_iter().map(|(k, v)| (k, v.len())).collect()
            };
            (of(said.up), of(said.down))
        };
        let zeros = vec![vec![0; 7]; n];
        let (up, down) = lengths(&zeros, 0);
        assert_eq!((up.clone(), down.clone()), lengths(&inputs(&params, 9), 10));
        // The formulas of docs/protocol.md, all n clients taking part.
        let packed = (4_usize * 14 + 3 * 33).div_ceil(8);
        for ((step, _), len) in up {
            let body = match step {
                Step::Advertise => 64,
                Step::Share => 32 + 32 * n + 80 * (n - 1) + signature,
                Step::Mask => packed,
                Step::Confirm => 64,
                Step::Unmask => 33 * n,
            };
            assert_eq!(len, 40 + body);
        }
        for ((step, _), len) in down {
            let body = match step {
                Step::Advertise => 66 * n,
                Step::Share => (114 + signature) * (n - 1),
                Step::Mask => 2 * n,
                Step::Confirm => 66 * t,
                Step::Unmask => continue,
            };
            assert_eq!(len, 40 + body);
        }
    }
}

#[test]
fn data_touch_only_the_masked_message_of_their_client() {
    both_modes(&params(5, None, &SHAPE)).iter().for_each(data_touch);
}

fn data_touch(params: &Params) {
    let mut data = inputs(params, 11);
    let before = run(params, 12, &data, |_, _, m| vec![m]).2;
    data[2] = inputs(params, 13)[2].clone();
    let mut after = run(params, 12, &data, |_, _, m| vec![m]).2;
    let own = (Step::Mask, 2);
    assert_ne!(before.up[&own], after.up[&own]);
    after.up.insert(own, before.up[&own].clone());
    assert!(before == after);
}

/// Pearson's statistic of equally likely cells.
fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&k| (k as f64 - mean).powi(2) / mean).sum()
}

/// Above this, chi-square has probability below 1e-9 (Wilson and Hilferty, z = 6.1).
fn limit(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 6.1 * v.sqrt()).powi(3)
}

#[test]
fn masked_messages_are_uniform_and_runs_independent() {
    // 14 and 5 bits: truncated lanes, packed over byte borders. Inputs all zero, all ones.
    let params = params(3, None, &[(400, 14), (320, 5)]);
    let bits = 400 * 14 + 320 * 5;
    let (runs, ones) = (120, vec![widths(&params).iter().map(|b| (1 << b) - 1).collect(); 3]);
    let body = |seed| {
        let said = run(&params, seed, &ones, |_, _, m| vec![m]).2;
        let message = said.up[&(Step::Mask, 1)].clone();
        message[36..message.len() - 4].to_vec()
    };
    let bodies: Vec<Vec<u8>> = (0..runs).into_par_iter().map(body).collect();
    let check = |bodies: &[Vec<u8>]| {
        let mut bytes = vec![0; 256];
        let mut set = vec![0_u64; bits];
        for body in bodies {
            body.iter().for_each(|&b| bytes[usize::from(b)] += 1);
            for (i, count) in set.iter_mut().enumerate() {
                *count += u64::from(body[i / 8] >> (i % 8) & 1);
            }
        }
        assert!(chi_square(&bytes) < limit(255.0), "bytes");
        // Each bit is set in half of the runs: the sum over bits of (2k - N)²/N.
        let n = bodies.len() as f64;
        let each: f64 = set.iter().map(|&k| (2.0 * k as f64 - n).powi(2) / n).sum();
        assert!(each < limit(bits as f64), "bits");
    };
    check(&bodies);
    let differences: Vec<Vec<u8>> = bodies
        .chunks_exact(2)
        .map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| a ^ b).collect())
        .collect();
    check(&differences);
}
