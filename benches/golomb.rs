//! Golomb codes: both halves of the codec, in bytes of 32-bit digits, and the limit, a copy.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::mallows::Phi;
use fedrank_core::{Interrupt, Rankings, golomb, lehmer};

fn golomb_rows(c: &mut Criterion) {
    const N: usize = 978;
    const ROWS: usize = 501;
    let center: Vec<u32> = (0..N as u32).collect();
    let mut group = c.benchmark_group("golomb");
    group.throughput(Throughput::Bytes((N * ROWS * size_of::<u32>()) as u64));
    for phi in [0.3, 0.6, 0.9, 0.99] {
        let model = Phi::new(phi).expect("within [0, 1]");
        let rankings = model
            .sample(Rankings::trusted(&center, N), ROWS, [1; 32], Interrupt::begin())
            .expect("it fits");
        let codes = lehmer::encode_rows(Rankings::trusted(&rankings, N), Interrupt::begin())
            .expect("it fits");
        let parameter = golomb::parameter(model).expect("between 0 and 1");
        let each = golomb::fit_items(&codes, N).expect("codes");
        for (name, parameters) in [("", &[parameter][..]), ("_each", &each)] {
            let bytes = golomb::encode(&codes, N, parameters).expect("codes");
            group.bench_function(BenchmarkId::new(format!("encode{name}"), phi), |b| {
                b.iter(|| golomb::encode(black_box(&codes), N, parameters));
            });
            group.bench_function(BenchmarkId::new(format!("decode{name}"), phi), |b| {
                b.iter(|| golomb::decode(black_box(&bytes), ROWS, N, parameters));
            });
        }
        group.bench_function(BenchmarkId::new("fit_items", phi), |b| {
            b.iter(|| golomb::fit_items(black_box(&codes), N));
        });
        let mut copy = codes.clone();
        group.bench_function(BenchmarkId::new("copy", phi), |b| {
            b.iter(|| copy.copy_from_slice(black_box(&codes)));
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
    targets = golomb_rows
}
criterion_main!(benches);
