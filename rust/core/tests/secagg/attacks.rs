//! Servers that lie about who shared and who survived, played for real: they try to read the input
//! of client 0. What they learn, they rebuild here with code of its own.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::mask::Sum;
use fedrank_core::secagg::{Error, Params, Party, Result};
use hkdf::Hkdf;
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use x25519_dalek::{PublicKey, StaticSecret};

const SHAPE: [(usize, u32); 2] = [(4, 9), (2, 40)];
const VICTIM: u16 = 0;

fn study(clients: usize, threshold: usize) -> Params {
    params(clients, Some(threshold), &SHAPE)
}

/// A product in GF(2)[x]/(x^16 + x^12 + x^3 + x + 1).
fn multiply(a: u16, b: u16) -> u16 {
    let mut product = (0..16).fold(0_u32, |p, i| p ^ ((u32::from(a) << i) * u32::from(b >> i & 1)));
    for i in (16..32).rev() {
        if product >> i & 1 == 1 {
            product ^= 0x1_100b << (i - 16);
        }
    }
    product as u16
}

fn divide(a: u16, b: u16) -> u16 {
    // b^(2^16 - 2)
    let inverse = (0..0xfffe).fold(1, |power, _| multiply(power, b));
    multiply(a, inverse)
}

/// Shares of one secret, by holder.
type Shares = BTreeMap<u16, [u8; 32]>;

/// The secret, if there are enough shares.
fn rebuild(shares: &Shares, threshold: usize) -> Option<[u8; 32]> {
    let used: Vec<_> = shares.iter().take(threshold).collect();
    if used.len() < threshold {
        return None;
    }
    let mut secret = [0; 32];
    for &(&holder, share) in &used {
        let others = used.iter().map(|(other, _)| **other).filter(|&other| other != holder);
        let weight = others.fold(1, |w, o| divide(multiply(w, o + 1), (o + 1) ^ (holder + 1)));
        for (word, part) in secret.as_chunks_mut().0.iter_mut().zip(share.as_chunks().0) {
            let term = multiply(u16::from_le_bytes(*part), weight);
            *word = (u16::from_le_bytes(*word) ^ term).to_le_bytes();
        }
    }
    Some(secret)
}

fn derive(secret: &[u8], context: &[u8], label: &str, from: u16, to: u16) -> [u8; 32] {
    let info =
        [b"fedrank secagg 2 ", label.as_bytes(), &from.to_le_bytes(), &to.to_le_bytes()].concat();
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(Some(context), secret).expand(&info, &mut key).unwrap();
    key
}

/// Who shared and who survived, as a client was told.
type Lists = (Vec<u16>, Vec<u16>);

/// What a server learns, and what each honest client says to its last request.
type Outcome = (Option<Vec<u64>>, Vec<Result<()>>);

/// A server and the clients on its side, after everybody has masked its input.
struct Attack {
    params: Params,
    context: Vec<u8>,
    honest: Vec<Member>,
    colluders: BTreeSet<u16>,
    /// Who shared, as each client was told.
    told: Vec<BTreeSet<u16>>,
    masked: Vec<u64>,
    /// Public keys s.
    keys: Vec<[u8; 32]>,
    /// Private keys s of the colluders.
    private: BTreeMap<u16, [u8; 32]>,
    /// Shares of b and of s that are known, by owner.
    known: BTreeMap<u16, [Shares; 2]>,
}

impl Attack {
    /// The server tells everybody the right keys, and passes all shares on, but to the victim only
    /// those of `shown`. The last `colluders` of the roster are on its side.
    fn new(params: &Params, colluders: usize, shown: Option<&BTreeSet<u16>>) -> Self {
        let n = params.clients();
        let (inputs, mut members) = (inputs(params, 90), clients(params, 91));
        let mut server = server(params, 91);
        let advertised: Vec<_> = members.iter().map(|m| m.advertise()).collect();
        let private = |m: &Member| m.state()[36 + 97 + 32..][..32].try_into().unwrap();
        let mut private: BTreeMap<u16, [u8; 32]> = (0..).zip(members.iter().map(private)).collect();
        for (c, message) in advertised.iter().enumerate() {
            server.receive(c, message).unwrap();
        }
        let keys = server.close_step(Interrupt::begin()).unwrap();
        let shares = |(c, member): (usize, &mut Member)| {
            (c, answer(member, Step::Share, &keys[&c], &[]).unwrap())
        };
        let dealt: BTreeMap<_, _> = members.iter_mut().enumerate().map(shares).collect();
        let mut told = vec![(0..n as u16).collect::<BTreeSet<u16>>(); n];
        let mut masked = Vec::new();
        for (c, member) in members.iter_mut().enumerate() {
            let mut dealt = dealt.clone();
            if let Some(shown) = shown.filter(|_| c == usize::from(VICTIM)) {
                dealt.retain(|&owner, _| shown.contains(&(owner as u16)));
                told[c].clone_from(shown);
            }
            let delivery = delivery(c, n, &dealt);
            masked.push(answer(member, Step::Mask, &delivery, &inputs[c]).unwrap());
        }
        let first = (n - colluders) as u16;
        private.retain(|&c, _| c >= first);
        let colluding = members.split_off(first.into());
        let mut attack = Self {
            params: params.clone(),
            context: session_of(&dealt[&0]).to_vec(),
            honest: members,
            colluders: (first..n as u16).collect(),
            told,
            masked: params.layout().unpack(body(&masked[usize::from(VICTIM)])).unwrap(),
            keys: advertised.iter().map(|m| m[36 + 32..][..32].try_into().unwrap()).collect(),
            private,
            known: BTreeMap::new(),
        };
        for (holder, member) in (first..).zip(&colluding) {
            // The shares a client holds are at the end of its state.
            let state = member.state();
            let held = &state[state.len() - 4 - 67 * n..state.len() - 4];
            for entry in held.as_chunks::<67>().0 {
                let owner = u16::from_le_bytes([entry[0], entry[1]]);
                attack.learn(holder, owner, 0, &entry[3..35]);
                attack.learn(holder, owner, 1, &entry[35..]);
            }
        }
        attack
    }

    fn learn(&mut self, holder: u16, owner: u16, secret: usize, share: &[u8]) {
        let shares = &mut self.known.entry(owner).or_default()[secret];
        shares.insert(holder, share.try_into().unwrap());
    }

    /// Asks every honest client for its shares, given its own list of survivors. With identities,
    /// each is first asked to confirm, and then given the best confirmations there are: those of
    /// clients that saw the same, and of the colluders, who sign anything. What is missing is made
    /// up for by others' signatures.
    fn ask(&mut self, survivors: &[BTreeSet<u16>]) -> Vec<Result<()>> {
        let lists: Vec<Lists> = survivors
            .iter()
            .zip(&self.told)
            .map(|(u3, u2)| (u2.iter().copied().collect(), u3.iter().copied().collect()))
            .collect();
        let mut requests: Vec<Vec<u8>> = (0..)
            .zip(&lists)
            .map(|(c, list)| message(6, c, &self.context, &ids(&list.1)))
            .collect();
        if self.params.is_signed() {
            let confirm = |(c, request): (&mut Member, &Vec<u8>)| {
                body(&answer(c, Step::Confirm, request, &[]).unwrap()).to_vec()
            };
            let confirmed: Vec<_> = self.honest.iter_mut().zip(&requests).map(confirm).collect();
            for (c, request) in (0..).zip(&mut requests) {
                let body = self.confirmations(c, &lists, &confirmed);
                *request = message(12, c, &self.context, &body);
            }
        }
        let mut outcomes = Vec::new();
        for (c, request) in requests.iter().enumerate() {
            let (u2, u3) = &lists[c];
            outcomes.push(self.honest[c].unmask(request).map(|reply| {
                for (&owner, entry) in u2.iter().zip(body(&reply).as_chunks::<33>().0) {
                    let secret = usize::from(!u3.contains(&owner));
                    self.learn(c as u16, owner, secret, &entry[1..]);
                }
            }));
        }
        outcomes
    }

    fn confirmations(&self, reader: u16, lists: &[Lists], confirmed: &[Vec<u8>]) -> Vec<u8> {
        let mine = &lists[usize::from(reader)];
        let honest = |same: bool| {
            let each = (0_u16..).zip(lists).zip(confirmed);
            each.filter(move |((_, list), _)| (*list == mine) == same)
                .map(|((c, _), signature)| (c, signature.clone()))
        };
        let colluder = |&c: &u16| {
            let text = confirm_text(&self.context, c, &mine.0, &mine.1);
            (c, sign(c.into(), &text).to_vec())
        };
        let own = (reader, confirmed[usize::from(reader)].clone());
        let best = [own].into_iter().chain(self.colluders.iter().map(colluder));
        let best = best.chain(honest(true).filter(|(c, _)| *c != reader)).chain(honest(false));
        let listed = |(c, _): &(u16, Vec<u8>)| mine.1.contains(c);
        let best: BTreeMap<_, _> = best.filter(listed).take(self.params.threshold()).collect();
        best.into_iter().flat_map(|(c, s)| [&c.to_le_bytes()[..], &s].concat()).collect()
    }

    /// The victim's input, if its masks can be taken off: its own by b, and those it has with each
    /// other client by that client's s or by its own.
    fn read(&self) -> Option<Vec<u64>> {
        let threshold = self.params.threshold();
        let secret = |owner: u16, which: usize| {
            let shares = self.known.get(&owner).and_then(|known| rebuild(&known[which], threshold));
            if which == 1 { self.private.get(&owner).copied().or(shares) } else { shares }
        };
        let agree = |secret: [u8; 32], key: u16| {
            let public = PublicKey::from(self.keys[usize::from(key)]);
            StaticSecret::from(secret).diffie_hellman(&public).to_bytes()
        };
        let seed = secret(VICTIM, 0)?;
        let own = secret(VICTIM, 1);
        let mut sum = Sum::new(self.params.layout());
        sum.add_entries(&self.masked);
        sum.subtract_stream(&derive(&seed, &self.context, "self mask", VICTIM, VICTIM));
        for &other in self.told[usize::from(VICTIM)].iter().filter(|&&other| other != VICTIM) {
            let agreed = match own {
                Some(own) => agree(own, other),
                None => agree(secret(other, 1)?, VICTIM),
            };
            // The victim has the lowest id, so it subtracted them all.
            sum.add_stream(&derive(&agreed, &self.context, "pair mask", VICTIM, other));
        }
        Some(sum.entries())
    }
}

/// Two lists: the victim is given shares of just enough others, as many of them colluders as there
/// are. The secret s of each of the rest is then had from clients that are told it was lost.
fn two_lists(params: &Params, colluders: usize) -> Outcome {
    let (n, t) = (params.clients() as u16, params.threshold());
    let first = n - colluders as u16;
    let targets: Vec<u16> = (1..).take(t - 1 - colluders).collect();
    let shown: BTreeSet<u16> = targets.iter().copied().chain(first..n).chain([VICTIM]).collect();
    assert_eq!(shown.len(), t);
    let mut survivors = vec![(0..n).collect::<BTreeSet<u16>>(); first.into()];
    survivors[usize::from(VICTIM)].clone_from(&shown);
    for &target in &targets {
        for _ in colluders..t {
            // Who was told of the fewest losses, other targets first: they cannot lose themselves.
            let loser = (1..first)
                .filter(|&c| c != target && survivors[usize::from(c)].contains(&target))
                .max_by_key(|&c| (survivors[usize::from(c)].len(), targets.contains(&c)))
                .unwrap();
            survivors[usize::from(loser)].remove(&target);
        }
    }
    assert!(survivors.iter().all(|list| list.len() >= t), "{survivors:?}");
    let mut attack = Attack::new(params, colluders, Some(&shown));
    let outcomes = attack.ask(&survivors);
    (attack.read(), outcomes)
}

/// Two groups of honest clients, each told that it and the colluders survived. If the second list
/// is too short, clients of the first group are on it, too.
fn isolate(params: &Params, colluders: usize) -> Outcome {
    let (n, t) = (params.clients() as u16, params.threshold() as u16);
    let (first, size) = (n - colluders as u16, t - colluders as u16);
    let mut groups = [0..size, size..first].map(|g| g.chain(first..n).collect::<BTreeSet<_>>());
    let padding = (1..size).take(usize::from(t).saturating_sub(groups[1].len()));
    groups[1].extend(padding);
    let list = |c| groups[usize::from(c >= size)].clone();
    let survivors: Vec<_> = (0..first).map(list).collect();
    let mut attack = Attack::new(params, colluders, None);
    let outcomes = attack.ask(&survivors);
    (attack.read(), outcomes)
}

/// An attack must read the input without identities; with them nobody gives a share.
fn only_without_identities(params: &Params, attack: impl Fn(&Params) -> Outcome) {
    let input = inputs(params, 90)[usize::from(VICTIM)].clone();
    let (read, outcomes) = attack(params);
    assert_eq!(read, Some(input));
    assert!(outcomes.iter().all(Result::is_ok));
    let (read, outcomes) = attack(&signed(params));
    assert_eq!(read, None);
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Signature { from: Party::Server, .. }), "{error}");
    }
}

#[test]
fn two_lists_just_above_half_without_a_colluder() {
    only_without_identities(&study(10, 6), |params| two_lists(params, 0));
}

#[test]
fn two_lists_at_the_usual_threshold_with_an_eighth_of_colluders() {
    only_without_identities(&study(10, 7), |params| two_lists(params, 2));
}

/// 2t - L - 1, the most that can be borne.
#[test]
fn two_lists_with_the_most_colluders_that_can_be_borne() {
    only_without_identities(&study(10, 7), |params| two_lists(params, 3));
    only_without_identities(&study(9, 6), |params| two_lists(params, 2));
}

/// The bound is tight: with one more colluder, two groups can each have t confirmations.
#[test]
fn one_more_colluder_isolates_a_client() {
    for (clients, threshold) in [(10, 7), (9, 6), (7, 4), (4, 3)] {
        let params = study(clients, threshold);
        let input = inputs(&params, 90)[usize::from(VICTIM)].clone();
        let enough = 2 * threshold - clients;
        for params in both_modes(&params) {
            let (read, outcomes) = isolate(&params, enough);
            assert_eq!(read.as_ref(), Some(&input));
            assert!(outcomes.iter().all(Result::is_ok));
        }
        let (read, outcomes) = isolate(&signed(&params), enough - 1);
        assert_eq!(read, None);
        // The first group is as large as it must be; the second lacks one.
        let size = threshold - (enough - 1);
        assert!(outcomes[..size].iter().all(Result::is_ok));
        assert!(outcomes[size..].iter().all(Result::is_err));
    }
}

/// Whoever drives the server plays all other clients. It has no key of the roster but its own.
#[test]
fn who_plays_all_other_clients_reads_an_input_only_without_identities() {
    for params in both_modes(&study(5, 3)) {
        let inputs = inputs(&params, 90);
        let zeros = vec![vec![0; inputs[0].len()]; 4];
        let inputs = [&inputs[..1], &zeros].concat();
        let mut server = server(&params, 91);
        let mut clients = clients(&params, 91);
        for (c, client) in clients.iter().enumerate() {
            server.receive(c, &client.advertise()).unwrap();
        }
        let keys = server.close_step(Interrupt::begin()).unwrap();
        let mut dealt = BTreeMap::new();
        for (c, client) in clients.iter_mut().enumerate() {
            let shares = answer(client, Step::Share, &keys[&c], &[]).unwrap();
            // Signed with a key of its own, over the right text.
            let forge = |b: &mut Vec<u8>| {
                let text = share_text(session_of(&shares), c as u16);
                let end = b.len() - 64;
                b[end..].copy_from_slice(&sign(50 + c, &text));
            };
            let forged = params.is_signed() && c > 0;
            dealt.insert(c, if forged { tamper(&shares, forge) } else { shares.clone() });
        }
        let delivery = delivery(0, 5, &dealt);
        let reply = answer(&mut clients[0], Step::Mask, &delivery, &inputs[0]);
        if params.is_signed() {
            let client = 1;
            assert_eq!(reply, Err(Error::Signature { from: Party::Server, client }));
            continue;
        }
        let sum = run(&params, 91, &inputs, |_, _, m| vec![m]).0;
        assert_eq!(sum.unwrap().0, inputs[0]);
        assert!(reply.is_ok());
    }
}

/// A server that replaces the keys of one client is found out by the next message.
#[test]
fn replaced_keys_are_found_out() {
    let params = signed(&study(5, 3));
    let inputs = inputs(&params, 90);
    let said = run(&params, 91, &inputs, |_, _, m| vec![m]).2;
    let session = server(&params, 91).session();
    let fake = Member::new(&params, 2, session, 92).advertise();
    let mut clients = clients(&params, 91);
    let mut dealt = BTreeMap::new();
    for (c, client) in clients.iter_mut().enumerate() {
        // To client 0, the keys of client 2 are the server's.
        let keys = tamper(&said.down[&(Step::Advertise, c)], |b| {
            if c == 0 {
                b[66 * 2 + 2..][..64].copy_from_slice(body(&fake));
            }
        });
        dealt.insert(c, answer(client, Step::Share, &keys, &[]).unwrap());
    }
    let refused = answer(&mut clients[0], Step::Mask, &delivery(0, 5, &dealt), &inputs[0]);
    assert_eq!(refused, Err(Error::Signature { from: Party::Server, client: 1 }));
    // And the others refuse client 0.
    let refused = answer(&mut clients[3], Step::Mask, &delivery(3, 5, &dealt), &inputs[3]);
    assert_eq!(refused, Err(Error::Signature { from: Party::Server, client: 0 }));
}
