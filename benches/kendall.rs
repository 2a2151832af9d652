//! Kendall's distance: the public function, merging alone, and the limit, a copy.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::rng::{shuffle, stream};
use fedrank_core::{Interrupt, Rankings, footrule, kendall};

fn shuffled(n: u32, seed: u8) -> Vec<u32> {
    let mut ranking: Vec<u32> = (0..n).collect();
    shuffle(&mut ranking, &mut stream([seed; 32], 0));
    ranking
}

fn one_pair(c: &mut Criterion) {
    let mut group = c.benchmark_group("kendall_distance");
    for n in [64_u32, 1000, 10_000, 100_000] {
        let (a, b) = (shuffled(n, 1), shuffled(n, 2));
        let (mut values, mut spare) = (vec![0; n as usize], vec![0; n as usize]);
        group.throughput(Throughput::Elements(n.into()));
        group.bench_with_input(BenchmarkId::new("distance", n), &n, |bench, _| {
            bench.iter(|| kendall::distance(&a, &b));
        });
        group.bench_with_input(BenchmarkId::new("merge_count", n), &n, |bench, _| {
            bench.iter(|| {
                values.copy_from_slice(&a);
                kendall::merge_count(&mut values, &mut spare)
            });
        });
        group.bench_with_input(BenchmarkId::new("copy", n), &n, |bench, _| {
            bench.iter(|| spare.copy_from_slice(black_box(&a)));
        });
    }
}

fn many_to_one(c: &mut Criterion) {
    const ROWS: u32 = 501;
    let mut group = c.benchmark_group("many_to_one");
    for n in [10_u32, 100, 978] {
        let rows: Vec<u32> = (0..ROWS).flat_map(|row| shuffled(n, row as u8)).collect();
        let many = Rankings::trusted(&rows, n as usize);
        let center = shuffled(n, 3);
        let one = Rankings::trusted(&center, n as usize);
        let mut copy = rows.clone();
        group.throughput(Throughput::Elements((ROWS * n).into()));
        group.bench_with_input(BenchmarkId::new("kendall", n), &n, |bench, _| {
            bench.iter(|| kendall::distances(many, one, Interrupt::begin()));
        });
        group.bench_with_input(BenchmarkId::new("footrule", n), &n, |bench, _| {
            bench.iter(|| footrule::distances(many, one, Interrupt::begin()));
        });
        group.bench_with_input(BenchmarkId::new("copy", n), &n, |bench, _| {
            bench.iter(|| copy.copy_from_slice(black_box(&rows)));
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
    targets = one_pair, many_to_one
}
criterion_main!(benches);
