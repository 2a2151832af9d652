//! One client and whole rounds in process, of 978 entries as wide as Borda's, without identities
//! and with.
#![allow(missing_docs)]

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::time::Duration;

use chacha20::ChaCha20Rng;
use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use fedrank_core::Interrupt;
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::{Client, Identity, Params, Result, Server};
use rand_core::SeedableRng;

const CLIENTS: [usize; 4] = [10, 50, 100, 500];
const ENTRIES: usize = 978;

/// A round, the identities of its clients if they have any, and the session.
struct Round {
    params: Params,
    identities: Vec<Identity>,
    session: [u8; 32],
}

type Messages = BTreeMap<usize, Vec<u8>>;

fn rng(stream: usize) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    rng.set_stream(stream as u64);
    rng
}

impl Round {
    fn new(clients: usize, signed: bool) -> Self {
        let bits = (clients * (ENTRIES - 1)).ilog2() + 1;
        let segment = Segment { name: "entries".into(), len: ENTRIES, bits };
        let layout = Layout::new(vec![segment]).expect("a width of 1 to 64");
        let mut params = Params::new([0; 32], clients, None, 0, layout).expect("a valid roster");
        let mut identities = Vec::new();
        if signed {
            identities = (0..clients).map(|c| Identity::generate(&mut rng(c))).collect();
            let public = identities.iter().map(|identity| *identity.public()).collect();
            params = params.signed(public).expect("keys that differ");
        }
        let session = Self::server(&params).session();
        Self { params, identities, session }
    }

    fn server(params: &Params) -> Server {
        Server::new(params.clone(), 0, &mut rng(1 << 20))
    }

    fn client(&self, me: usize) -> Result<Client> {
        Client::new(self.params.clone(), me, self.session, &mut rng((1 << 21) + me))
    }

    /// The answer of a client to the request of this step, counted without `confirm`.
    fn answer(
        &self,
        me: usize,
        client: &mut Client,
        step: usize,
        request: &[u8],
    ) -> Result<Vec<u8>> {
        match (step, self.identities.get(me)) {
            (0, _) => Ok(client.advertise()),
            (1, signer) => client.share(request, signer, Interrupt::begin()),
            (2, _) => client.mask(request, &[me as u64; ENTRIES], Interrupt::begin()),
            (3, Some(signer)) => client.confirm(request, signer),
            _ => client.unmask(request),
        }
    }

    /// All clients and the server, one after another on this machine; a tenth drop before masking.
    /// Returns what client 0 was asked.
    fn run(&self) -> Result<Vec<Vec<u8>>> {
        let mut server = Self::server(&self.params);
        let everyone = 0..self.params.clients();
        let mut clients = everyone.clone().map(|me| self.client(me)).collect::<Result<Vec<_>>>()?;
        let mut requests: Messages = everyone.map(|me| (me, Vec::new())).collect();
        let mut asked = Vec::new();
        for step in 0..if self.identities.is_empty() { 4 } else { 5 } {
            asked.push(requests[&0].clone());
            for (me, request) in requests.into_iter().filter(|(me, _)| step != 2 || me % 10 != 9) {
                server.receive(me, &self.answer(me, &mut clients[me], step, &request)?)?;
            }
            requests = server.close_step(Interrupt::begin())?;
        }
        server.result()?;
        Ok(asked)
    }

    /// All that client 0 computes in a round.
    fn one(&self, asked: &[Vec<u8>]) -> Result<()> {
        let mut client = self.client(0)?;
        for (step, request) in asked.iter().enumerate() {
            self.answer(0, &mut client, step, request)?;
        }
        Ok(())
    }
}

/// The same rounds without identities and with, by name.
fn modes(clients: usize) -> [(&'static str, Round); 2] {
    [("unsigned", Round::new(clients, false)), ("signed", Round::new(clients, true))]
}

fn client(c: &mut Criterion) {
    let mut group = c.benchmark_group("client");
    group.sample_size(20);
    for clients in CLIENTS {
        for (mode, round) in modes(clients) {
            // Not before it is known that this one was asked for: rounds of 500 take long.
            let asked = LazyCell::new(|| round.run().expect("an honest round"));
            group.bench_function(BenchmarkId::new(mode, clients), |b| {
                let asked = &*asked;
                b.iter(|| round.one(asked));
            });
        }
    }
}

fn rounds(c: &mut Criterion) {
    let mut group = c.benchmark_group("round");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .measurement_time(Duration::from_secs(1));
    for clients in CLIENTS {
        for (mode, round) in modes(clients) {
            group.throughput(Throughput::Elements(clients as u64));
            group.bench_function(BenchmarkId::new(mode, clients), |b| b.iter(|| round.run()));
        }
    }
}

criterion_group!(benches, client, rounds);
criterion_main!(benches);
