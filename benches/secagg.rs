//! Masks against the keystream they consume, and whole rounds in process.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;

use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::{ChaCha20, ChaCha20Rng, Key, Nonce};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::scheme::layout::{Layout, Segment};
use fedrank_core::secagg::mask::Sum;
use fedrank_core::secagg::{Client, Params, Result, Server};
use rand_core::SeedableRng;

fn layout(len: usize, bits: u32) -> Layout {
    let segment = Segment { name: "entries".into(), len, bits };
    Layout::new(vec![segment]).expect("a width of 1 to 64")
}

/// One mask, expanded and added, beside its keystream written to a buffer in the same pieces.
fn mask(c: &mut Criterion) {
    let mut group = c.benchmark_group("mask");
    for n in [978, 32_768, 1_048_576] {
        for bits in [8_u32, 14, 31, 64] {
            let bytes = n * bits.next_power_of_two() as usize / 8;
            group.throughput(Throughput::Bytes(bytes as u64));
            let mut buffer = vec![0; 4096];
            group.bench_function(BenchmarkId::new(format!("keystream/{bits}"), n), |b| {
                b.iter(|| {
                    let mut cipher = ChaCha20::new(&Key::from([7; 32]), &Nonce::default());
                    let mut left = bytes;
                    while left > 0 {
                        let piece = left.min(buffer.len());
                        cipher.write_keystream(&mut buffer[..piece]);
                        black_box(&mut buffer);
                        left -= piece;
                    }
                });
            });
            let mut sum = Sum::new(&layout(n, bits));
            group.bench_function(BenchmarkId::new(format!("add/{bits}"), n), |b| {
                b.iter(|| sum.add_stream(black_box(&[7; 32])));
            });
        }
    }
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
    for (c, keys) in server.close_step()? {
        server.receive(c, &clients[c].share(&keys)?)?;
    }
    let deliveries: BTreeMap<usize, Vec<u8>> = server.close_step()?;
    for (c, delivery) in deliveries.into_iter().filter(|(c, _)| c % 10 != 9) {
        server.receive(c, &clients[c].mask(&delivery, &inputs[c])?)?;
    }
    for (c, survivors) in server.close_step()? {
        server.receive(c, &clients[c].unmask(&survivors)?)?;
    }
    server.close_step()?;
    server.result()
}

fn rounds(c: &mut Criterion) {
    let mut group = c.benchmark_group("round");
    group.sample_size(10);
    for clients in [10_usize, 50, 100] {
        let params = Params::new([0; 32], clients, None, 0, layout(978, 14));
        let params = params.expect("a valid roster");
        let inputs: Vec<Vec<u64>> = (0..clients as u64).map(|c| vec![c; 978]).collect();
        group.throughput(Throughput::Elements(clients as u64));
        group.bench_function(BenchmarkId::from_parameter(clients), |b| {
            b.iter(|| round(&params, &inputs));
        });
    }
}

criterion_group!(benches, mask, rounds);
criterion_main!(benches);
