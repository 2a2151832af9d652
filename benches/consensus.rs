//! Every method of central consensus.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::consensus::{Consensus, borda, footrule, kemeny, lehmer, pick, pivot};
use fedrank_core::mallows::Phi;
use fedrank_core::{Interrupt, Profile, Rankings, Result, Ties};

const ROWS: usize = 51;
const KEY: [u8; 32] = [2; 32];
const TIES: Ties = Ties::Random(KEY);

type Method = (&'static str, fn(&Profile<'_>) -> Result<Consensus>);

const METHODS: [Method; 6] = [
    ("borda", |profile| Ok(borda::consensus(profile, TIES))),
    ("lehmer", |profile| lehmer::consensus(profile, TIES, Interrupt::begin())),
    ("footrule", |profile| footrule::consensus(profile, TIES, Interrupt::begin())),
    ("pivot", |profile| pivot::consensus(profile, 10, TIES, KEY, Interrupt::begin())),
    ("pick", |profile| pick::consensus(profile, TIES, Interrupt::begin())),
    ("kemeny", |profile| {
        kemeny::consensus(profile, kemeny::EXACT_UPTO, 50, TIES, KEY, Interrupt::begin())
    }),
];

fn methods(c: &mut Criterion) {
    let mut group = c.benchmark_group("consensus");
    for n in [10, 100, 1000] {
        let center: Vec<u32> = (0..n as u32).collect();
        let model = Phi::new(0.9).expect("within [0, 1]");
        let ranks = model
            .sample(Rankings::trusted(&center, n), ROWS, [1; 32], Interrupt::begin())
            .expect("it fits");
        let profile = Profile::new(Rankings::trusted(&ranks, n), None).expect("not empty");
        group.throughput(Throughput::Elements((ROWS * n) as u64));
        for (name, method) in METHODS {
            group.bench_with_input(BenchmarkId::new(name, n), &profile, |b, profile| {
                b.iter(|| method(profile));
            });
        }
    }
}

/// Uniform rankings, an odd number: one large cycle of majorities, solved by subsets.
fn exact_kemeny(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact_kemeny");
    for n in [10, 15, 20] {
        let center: Vec<u32> = (0..n as u32).collect();
        let uniform = Phi::new(1.0).expect("within [0, 1]");
        let ranks = uniform
            .sample(Rankings::trusted(&center, n), 9, [1; 32], Interrupt::begin())
            .expect("it fits");
        let profile = Profile::new(Rankings::trusted(&ranks, n), None).expect("not empty");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::from_parameter(n), &profile, |b, profile| {
            b.iter(|| {
                kemeny::consensus(profile, kemeny::EXACT_UPTO, 50, TIES, KEY, Interrupt::begin())
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .without_plots()
        .nresamples(2000)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(500));
    targets = methods, exact_kemeny
}
criterion_main!(benches);
