//! A whole session in process, on fixed randomness, with a hook on every message.

use chacha20::ChaCha20Rng;
use ed25519_dalek::{Signer, SigningKey};
use fedrank_core::Interrupt;
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::{Client, Identity, Params, Result, Server};
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// The steps, by the client's message in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Advertise,
    Share,
    Mask,
    /// With identities only.
    Confirm,
    Unmask,
}

/// The steps without identities.
pub(crate) const STEPS: [Step; 4] = [Step::Advertise, Step::Share, Step::Mask, Step::Unmask];

const SIGNED_STEPS: [Step; 5] =
    [Step::Advertise, Step::Share, Step::Mask, Step::Confirm, Step::Unmask];

/// The steps of a session under these parameters.
pub(crate) fn steps(params: &Params) -> &'static [Step] {
    if params.is_signed() { &SIGNED_STEPS } else { &STEPS }
}

/// The identities of the clients of all tests.
pub(crate) static IDENTITIES: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..100).map(|me| Identity::generate(&mut rng(u64::MAX, me))).collect());

pub(crate) type Sum = (Vec<u64>, Vec<usize>);

pub(crate) fn layout(shape: &[(usize, u32)]) -> Layout {
    let segment = |&(len, bits)| Segment { name: "s".into(), len, bits };
    Layout::new(shape.iter().map(segment).collect()).unwrap()
}

pub(crate) fn params(clients: usize, threshold: Option<usize>, shape: &[(usize, u32)]) -> Params {
    Params::new([42; 32], clients, threshold, 0, layout(shape)).unwrap()
}

/// The same parameters with identities.
pub(crate) fn signed(params: &Params) -> Params {
    let identities = IDENTITIES[..params.clients()].iter().map(|id| *id.public());
    params.clone().signed(identities.collect()).unwrap()
}

/// The same study without identities and with.
pub(crate) fn both_modes(params: &Params) -> [Params; 2] {
    [params.clone(), signed(params)]
}

/// A stream of its own for each seed and number.
pub(crate) fn rng(seed: u64, stream: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// A client with its identity, where the study has any.
#[derive(Debug)]
pub(crate) struct Member {
    client: Client,
    pub(crate) signer: Option<&'static Identity>,
}

impl Member {
    pub(crate) fn new(params: &Params, me: usize, session: [u8; 32], seed: u64) -> Self {
        let client = Client::new(params.clone(), me, session, &mut rng(seed, me as u64)).unwrap();
        Self::of(params, me, client)
    }

    pub(crate) fn resume(params: &Params, me: usize, state: &[u8]) -> Result<Self> {
        Ok(Self::of(params, me, Client::resume(params.clone(), state)?))
    }

    fn of(params: &Params, me: usize, client: Client) -> Self {
        Self { client, signer: params.is_signed().then(|| &IDENTITIES[me]) }
    }
}

impl Deref for Member {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Member {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// All clients of the session that `server` of the same seed opens.
pub(crate) fn clients(params: &Params, seed: u64) -> Vec<Member> {
    let session = server(params, seed).session();
    (0..params.clients()).map(|me| Member::new(params, me, session, seed)).collect()
}

pub(crate) fn server(params: &Params, seed: u64) -> Server {
    Server::new(params.clone(), seed, &mut rng(seed, u64::MAX))
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
    client: &mut Member,
    step: Step,
    request: &[u8],
    input: &[u64],
) -> Result<Vec<u8>> {
    let signer = client.signer;
    match step {
        Step::Advertise => Ok(client.advertise()),
        Step::Share => client.share(request, signer, Interrupt::begin()),
        Step::Mask => client.mask(request, input, Interrupt::begin()),
        // Any identity will do where none is asked for: the step is refused.
        Step::Confirm => client.confirm(request, signer.unwrap_or(&IDENTITIES[0])),
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
    for &step in steps(params) {
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

/// The answers of client `me` to the first `count` requests it got in a session, from a client of
/// the same seed: the client as it is then.
pub(crate) fn member_after(
    params: &Params,
    seed: u64,
    me: usize,
    said: &Transcript,
    input: &[u64],
    count: usize,
) -> Member {
    let mut client = clients(params, seed).remove(me);
    for (step, down) in requests(params).take(count) {
        assert_eq!(
            answer(&mut client, step, &said.down[&(down, me)], input),
            Ok(said.up[&(step, me)].clone())
        );
    }
    client
}

/// Every step that answers a request, with the step whose end gave the request.
pub(crate) fn requests(params: &Params) -> impl Iterator<Item = (Step, Step)> {
    steps(params)[1..].iter().copied().zip(steps(params).iter().copied())
}

/// What a session that loses these clients must give: the sum over those whose masked input
/// arrived, if at every step the threshold was met.
pub(crate) fn expected(params: &Params, inputs: &[Vec<u64>], lost: &[Option<Step>]) -> Option<Sum> {
    let sent = |step| -> Vec<usize> {
        (0..lost.len()).filter(|&c| lost[c].is_none_or(|at| at > step)).collect()
    };
    steps(params).iter().all(|&step| sent(step).len() >= params.threshold()).then(|| {
        let survivors = sent(Step::Mask);
        (plain_sum(params, inputs, &survivors), survivors)
    })
}

/// SHA-256 of a label and parts as `docs/protocol.md` defines it.
pub(crate) fn hash(label: &str, parts: &[&[u8]]) -> [u8; 32] {
    let text = [b"fedrank secagg 2 ", label.as_bytes()].into_iter().chain(parts.iter().copied());
    let text = text.flat_map(|p| [&(p.len() as u64).to_le_bytes(), p].concat());
    Sha256::digest(text.collect::<Vec<u8>>()).into()
}

/// Ids as they are written on the wire.
pub(crate) fn ids(list: &[u16]) -> Vec<u8> {
    list.iter().flat_map(|id| id.to_le_bytes()).collect()
}

/// The signature of a hash by the identity of client `by`, as one who has its key makes it.
pub(crate) fn sign(by: usize, hash: &[u8; 32]) -> [u8; 64] {
    let mut seed = [0; 32];
    rng(u64::MAX, by as u64).fill_bytes(&mut seed);
    let key = SigningKey::from_bytes(&seed);
    assert_eq!(key.verifying_key().as_bytes(), IDENTITIES[by].public().parts()[0]);
    key.sign(hash).to_bytes()
}

/// What client `me` signs with its shares.
pub(crate) fn share_text(context: &[u8], me: u16) -> [u8; 32] {
    hash("share", &[context, &me.to_le_bytes()])
}

/// What client `me` signs to confirm two lists.
pub(crate) fn confirm_text(
    context: &[u8],
    me: u16,
    sharers: &[u16],
    survivors: &[u16],
) -> [u8; 32] {
    let lists = [hash("sharers", &[&ids(sharers)]), hash("survivors", &[&ids(survivors)])];
    hash("confirm", &[context, &me.to_le_bytes(), &lists[0], &lists[1]])
}

/// A message with this header and body, and a right checksum.
pub(crate) fn message(kind: u8, client: u16, session: &[u8], body: &[u8]) -> Vec<u8> {
    reseal([&[2, kind], &client.to_le_bytes()[..], session, body, &[0; 4]].concat())
}

/// The body of a message.
pub(crate) fn body(message: &[u8]) -> &[u8] {
    &message[36..message.len() - 4]
}

/// The session or context in the header of a message.
pub(crate) fn session_of(message: &[u8]) -> &[u8] {
    &message[4..36]
}

/// The `Delivery` of exactly these shares, as a server makes it from `Shares` of `n` that
/// advertised, all of the roster.
pub(crate) fn delivery(to: usize, n: usize, dealt: &BTreeMap<usize, Vec<u8>>) -> Vec<u8> {
    let entry = |(&owner, shares): (&usize, &Vec<u8>)| {
        let from = body(shares);
        let place = to - usize::from(owner < to);
        let (prints, sealed) =
            (&from[32 + 32 * to..][..32], &from[32 + 32 * n + 80 * place..][..80]);
        let signature = &from[32 + 32 * n + 80 * (n - 1)..];
        [&(owner as u16).to_le_bytes()[..], prints, sealed, signature].concat()
    };
    let entries = dealt.iter().filter(|&(&owner, _)| owner != to).flat_map(entry);
    message(4, to as u16, session_of(&dealt[&to]), &entries.collect::<Vec<u8>>())
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
