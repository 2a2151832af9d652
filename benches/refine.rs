//! A client's margins, and what the server makes of them: with and without a proof.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fedrank_core::consensus::borda;
use fedrank_core::mallows::Phi;
use fedrank_core::scheme::Refine;
use fedrank_core::scheme::refine::{Vote, Window};
use fedrank_core::{Interrupt, Profile, Rankings, Ties};

const ROWS: usize = 51;
const WINDOW: usize = 64;
const KEY: [u8; 32] = [2; 32];

fn refine(c: &mut Criterion) {
    let mut group = c.benchmark_group("refine");
    for n in [100, 978, 10_000] {
        let center: Vec<u32> = (0..n as u32).collect();
        let model = Phi::new(0.9).expect("within [0, 1]");
        let ranks = model
            .sample(Rankings::trusted(&center, n), ROWS, [1; 32], Interrupt::begin())
            .expect("it fits");
        let rankings = Rankings::trusted(&ranks, n);
        let profile = Profile::new(rankings, None).expect("not empty");
        let start = borda::consensus(&profile, Ties::Random(KEY)).ranks;
        let start = Rankings::trusted(&start, n);
        group.throughput(Throughput::Elements((n * WINDOW) as u64));
        for (name, vote) in [("margins", Vote::Margins), ("counted", Vote::Counted)] {
            let scheme = Refine::new(start, 1, Some(ROWS), Window::Fixed(WINDOW), vote, false)
                .expect("a scheme");
            let (total, _) =
                scheme.encode(rankings, KEY, Interrupt::begin()).expect("few enough rankings");
            group.bench_function(BenchmarkId::new(format!("encode_{name}"), n), |b| {
                b.iter(|| scheme.encode(rankings, KEY, Interrupt::begin()));
            });
            group.bench_function(BenchmarkId::new(format!("decode_{name}"), n), |b| {
                b.iter(|| scheme.decode(&[&total], 1, Ties::Random(KEY), Interrupt::begin()));
            });
        }
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
    targets = refine
}
criterion_main!(benches);
