//! A whole session in process, on fixed randomness, with a hook on every message.

use chacha20::ChaCha20Rng;
use fedrank_core::Interrupt;
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::{Client, Params, Result, Server};
use rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The four steps, by the client's message in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Advertise,
    Share,
    Mask,
    Unmask,
}

pub(crate) const STEPS: [Step; 4] = [Step::Advertise, Step::Share, Step::Mask, Step::Unmask];

pub(crate) type Sum = (Vec<u64>, Vec<usize>);

pub(crate) fn layout(shape: &[(usize, u32)]) -> Layout {
    let segment = |&(len, bits)| Segment { name: "s".into(), len, bits };
    Layout::new(shape.iter().map(segment).collect()).unwrap()
}

pub(crate) fn params(clients: usize, threshold: Option<usize>, shape: &[(usize, u32)]) -> Params {
    Params::new([42; 32], clients, threshold, 0, layout(shape)).unwrap()
}

/// A stream of its own for each seed and number.
pub(crate) fn rng(seed: u64, stream: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

pub(crate) fn clients(params: &Params, seed: u64) -> Vec<Client> {
    let client = |me| Client::new(params.clone(), me, &mut rng(seed, me as u64)).unwrap();
    (0..params.clients()).map(client).collect()
}

pub(crate) fn server(params: &Params, seed: u64) -> Server {
    Server::new(params.clone(), &mut rng(seed, u64::MAX))
}

/// Inputs that fill every width, the same for the same seed.
pub(crate) fn inputs(params: &Params, seed: u64) -> Vec<Vec<u64>> {
    let widths: Vec<u32> = widths(params);
    let entry = |client: usize, i: usize, bits: u32| {
        let text = [seed, client as u64, i as u64].map(u64::to_le_bytes).concat();
        let hash: [u8; 32] = Sha256::digest(text).into();
        u64::from_le_bytes(hash[..8].try_into().unwrap()) >> (64 - bits)
    };
    let input = |c| widths.iter().enumerate().map(|(i, &bits)| entry(c, i, bits)).collect();
    (0..params.clients()).map(input).collect()
}

pub(crate) fn widths(params: &Params) -> Vec<u32> {
    params.layout().segments().iter().flat_map(|s| vec![s.bits; s.len]).collect()
}

/// The definition: entry by entry, modulo its power of two.
pub(crate) fn plain_sum(params: &Params, inputs: &[Vec<u64>], survivors: &[usize]) -> Vec<u64> {
    let sum = |(i, bits): (usize, u32)| {
        let sum: u128 = survivors.iter().map(|&s| u128::from(inputs[s][i])).sum();
        (sum % (1_u128 << bits)) as u64
    };
    widths(params).into_iter().enumerate().map(sum).collect()
}

/// Everything said in a session.
#[derive(Default, Clone, PartialEq)]
pub(crate) struct Transcript {
    pub(crate) up: BTreeMap<(Step, usize), Vec<u8>>,
    pub(crate) down: BTreeMap<(Step, usize), Vec<u8>>,
}

/// A client's answer in `step` to the server's message of the step before.
pub(crate) fn answer(
    client: &mut Client,
    step: Step,
    request: &[u8],
    input: &[u64],
) -> Result<Vec<u8>> {
    match step {
        Step::Advertise => Ok(client.advertise()),
        Step::Share => client.share(request, Interrupt::begin()),
        Step::Mask => client.mask(request, input, Interrupt::begin()),
        Step::Unmask => client.unmask(request),
    }
}

/// Runs a session. `uplink` may change a message, give several, or none; refused ones are lost.
pub(crate) fn run(
    params: &Params,
    seed: u64,
    inputs: &[Vec<u64>],
    mut uplink: impl FnMut(Step, usize, Vec<u8>) -> Vec<Vec<u8>>,
) -> (Result<Sum>, Server, Transcript) {
    let mut clients = clients(params, seed);
    let mut server = server(params, seed);
    let mut said = Transcript::default();
    let mut down: BTreeMap<usize, Vec<u8>> = (0..params.clients()).map(|c| (c, vec![])).collect();
    for step in STEPS {
        for (&c, request) in &down {
            if let Ok(message) = answer(&mut clients[c], step, request, &inputs[c]) {
                said.up.insert((step, c), message.clone());
                for message in uplink(step, c, message) {
                    let _ = server.receive(c, &message);
                }
            }
        }
        down = match server.close_step(Interrupt::begin()) {
            Ok(down) => down,
            Err(error) => return (Err(error), server, said),
        };
        said.down.extend(down.iter().map(|(&c, m)| ((step, c), m.clone())));
    }
    (server.result(), server, said)
}

/// The server that goes on from the state of this one.
pub(crate) fn resumed(params: &Params, server: &Server) -> Server {
    Server::resume(params.clone(), &server.state()).unwrap()
}

/// A session that loses clients: the message of the step named, and all after it, never arrive.
pub(crate) fn run_losing(
    params: &Params,
    seed: u64,
    inputs: &[Vec<u64>],
    lost: &[Option<Step>],
) -> Result<Sum> {
    let uplink = |step, c: usize, message| match lost[c] {
        Some(at) if step >= at => vec![],
        _ => vec![message],
    };
    run(params, seed, inputs, uplink).0
}

/// What a session that loses these clients must give: the sum over those whose masked input
/// arrived, if at every step the threshold was met.
pub(crate) fn expected(params: &Params, inputs: &[Vec<u64>], lost: &[Option<Step>]) -> Option<Sum> {
    let sent = |step| -> Vec<usize> {
        (0..lost.len()).filter(|&c| lost[c].is_none_or(|at| at > step)).collect()
    };
    STEPS.iter().all(|&step| sent(step).len() >= params.threshold()).then(|| {
        let survivors = sent(Step::Mask);
        (plain_sum(params, inputs, &survivors), survivors)
    })
}

/// `message` with a right checksum, as one who tampers would make it.
pub(crate) fn reseal(mut message: Vec<u8>) -> Vec<u8> {
    let end = message.len() - 4;
    let sum: [u8; 32] = Sha256::digest(&message[..end]).into();
    message[end..].copy_from_slice(&sum[..4]);
    message
}

/// `message` with its body changed and a right checksum.
pub(crate) fn tamper(message: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = message[36..message.len() - 4].to_vec();
    change(&mut body);
    reseal([&message[..36], &body, &[0; 4]].concat())
}
