//! Whole rounds in process, of 978 entries as wide as Borda's.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use chacha20::ChaCha20Rng;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::Interrupt;
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::{Client, Params, Result, Server};
use rand_core::SeedableRng;

fn layout(len: usize, bits: u32) -> Layout {
    let segment = Segment { name: "entries".into(), len, bits };
    Layout::new(vec![segment]).expect("a width of 1 to 64")
}

/// All clients and the server, one after another on this machine; a tenth drop before masking.
fn round(params: &Params, inputs: &[Vec<u64>]) -> Result<(Vec<u64>, Vec<usize>)> {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let mut server = Server::new(params.clone(), &mut rng);
    let mut clients = (0..params.clients())
        .map(|me| Client::new(params.clone(), me, &mut rng))
        .collect::<Result<Vec<_>>>()?;
    for (c, client) in clients.iter().enumerate() {
        server.receive(c, &client.advertise())?;
    }
    for (c, keys) in server.close_step(Interrupt::begin())? {
        server.receive(c, &clients[c].share(&keys, Interrupt::begin())?)?;
    }
    let deliveries: BTreeMap<usize, Vec<u8>> = server.close_step(Interrupt::begin())?;
    for (c, delivery) in deliveries.into_iter().filter(|(c, _)| c % 10 != 9) {
        server.receive(c, &clients[c].mask(&delivery, &inputs[c], Interrupt::begin())?)?;
    }
    for (c, survivors) in server.close_step(Interrupt::begin())? {
        server.receive(c, &clients[c].unmask(&survivors)?)?;
    }
    server.close_step(Interrupt::begin())?;
    server.result()
}

fn rounds(c: &mut Criterion) {
    let mut group = c.benchmark_group("round");
    group.sample_size(10);
    for clients in [10_usize, 50, 100] {
        let bits = (clients * 977).ilog2() + 1;
        let params = Params::new([0; 32], clients, None, 0, layout(978, bits));
        let params = params.expect("a valid roster");
        let inputs: Vec<Vec<u64>> = (0..clients as u64).map(|c| vec![c; 978]).collect();
        group.throughput(Throughput::Elements(clients as u64));
        group.bench_function(BenchmarkId::from_parameter(clients), |b| {
            b.iter(|| round(&params, &inputs));
        });
    }
}

criterion_group!(benches, rounds);
criterion_main!(benches);
