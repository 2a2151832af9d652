//! Pairwise counts, and the limit: writing the matrix.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::mallows::Phi;
use fedrank_core::{Interrupt, Profile, Rankings, pairwise};

fn counts(c: &mut Criterion) {
    const ROWS: usize = 51;
    let mut group = c.benchmark_group("pairwise_counts");
    for n in [10, 100, 1000] {
        let center: Vec<u32> = (0..n as u32).collect();
        let uniform = Phi::new(1.0).expect("within [0, 1]");
        let ranks = uniform
            .sample(Rankings::trusted(&center, n), ROWS, [1; 32], Interrupt::begin())
            .expect("it fits");
        let profile = Profile::new(Rankings::trusted(&ranks, n), None).expect("not empty");
        let weights: Vec<u32> = (1..=ROWS as u32).collect();
        let weighted = Profile::new(Rankings::trusted(&ranks, n), Some(&weights));
        let weighted = weighted.expect("a weight a row");
        let mut matrix = vec![0_i64; n * n];
        // A comparison is the item: half of all pairs, in every ranking.
        group.throughput(Throughput::Elements((ROWS * n * (n - 1) / 2) as u64));
        group.bench_with_input(BenchmarkId::new("counts", n), &profile, |b, profile| {
            b.iter(|| pairwise::counts(profile, Interrupt::begin()));
        });
        group.bench_with_input(BenchmarkId::new("weighted", n), &weighted, |b, profile| {
            b.iter(|| pairwise::counts(profile, Interrupt::begin()));
        });
        group.bench_with_input(BenchmarkId::new("fill", n), &n, |b, _| {
            b.iter(|| black_box(&mut matrix).fill(1));
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
    targets = counts
}
criterion_main!(benches);
