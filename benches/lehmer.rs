//! Lehmer codes: both halves of the codec, and the limit, a copy.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::mallows::Phi;
use fedrank_core::rng::{shuffle, stream};
use fedrank_core::{Interrupt, Rankings, lehmer};

fn one_row(c: &mut Criterion) {
    let mut group = c.benchmark_group("lehmer");
    for n in [64_u32, 1000, 10_000, 100_000] {
        let mut ranking: Vec<u32> = (0..n).collect();
        shuffle(&mut ranking, &mut stream([1; 32], 0));
        let code = lehmer::encode(&ranking).expect("a shuffle is a ranking");
        let mut copy = ranking.clone();
        group.throughput(Throughput::Elements(n.into()));
        group.bench_with_input(BenchmarkId::new("encode", n), &ranking, |b, r| {
            b.iter(|| lehmer::encode(r));
        });
        group.bench_with_input(BenchmarkId::new("decode", n), &code, |b, code| {
            b.iter(|| lehmer::decode(code));
        });
        group.bench_with_input(BenchmarkId::new("copy", n), &ranking, |b, r| {
            b.iter(|| copy.copy_from_slice(black_box(r)));
        });
    }
}

/// Decoding takes different ways for small and large digits.
fn rows(c: &mut Criterion) {
    const N: usize = 978;
    const ROWS: usize = 501;
    let center: Vec<u32> = (0..N as u32).collect();
    let mut group = c.benchmark_group("lehmer_rows");
    group.throughput(Throughput::Elements((N * ROWS) as u64));
    for phi in [0.6, 0.9, 0.99, 1.0] {
        let model = Phi::new(phi).expect("within [0, 1]");
        let rankings = model
            .sample(Rankings::trusted(&center, N), ROWS, [1; 32], Interrupt::begin())
            .expect("it fits");
        let codes = lehmer::encode_rows(Rankings::trusted(&rankings, N), Interrupt::begin())
            .expect("it fits");
        group.bench_with_input(BenchmarkId::new("encode", phi), &rankings, |b, rankings| {
            b.iter(|| lehmer::encode_rows(Rankings::trusted(rankings, N), Interrupt::begin()));
        });
        group.bench_with_input(BenchmarkId::new("decode", phi), &codes, |b, codes| {
            b.iter(|| lehmer::decode_rows(codes, N, Interrupt::begin()));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .without_plots()
        .nresamples(2000)
        .sample_size(15)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(500));
    targets = one_row, rows
}
criterion_main!(benches);
