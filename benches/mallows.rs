//! Sampling from the Mallows model, and the limit: the keystream alone.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::mallows::Phi;
use fedrank_core::rng::stream;
use fedrank_core::{Interrupt, Rankings};
use rand_core::Rng;

const ROWS: usize = 501;

fn sample(c: &mut Criterion) {
    let mut group = c.benchmark_group("mallows_sample");
    for n in [10, 100, 978, 10_000] {
        let rows = if n > 1000 { 50 } else { ROWS };
        let center: Vec<u32> = (0..n as u32).collect();
        group.throughput(Throughput::Elements((n * rows) as u64));
        for phi in [0.3, 0.6, 0.9, 0.99] {
            let model = Phi::new(phi).expect("within [0, 1]");
            group.bench_with_input(BenchmarkId::new(format!("phi {phi}"), n), &n, |b, &n| {
                b.iter(|| {
                    model.sample(Rankings::trusted(&center, n), rows, [1; 32], Interrupt::begin())
                });
            });
        }
        // Sixteen bits per digit, one stream per row, as the sampler draws them; one thread.
        let mut bits = vec![0_u8; 2 * n];
        group.bench_with_input(BenchmarkId::new("keystream", n), &n, |b, _| {
            b.iter(|| (0..rows as u64).for_each(|row| stream([1; 32], row).fill_bytes(&mut bits)));
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
    targets = sample
}
criterion_main!(benches);
