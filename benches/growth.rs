//! Time of one ranking from 32 items to five million: the public functions, and merging alone.
//!
//! Prints `kernel n nanoseconds` a line. The kernels take turns at every size, and the best
//! round of each counts, so that a busy machine slows all alike. Arguments: the largest size
//! and the number of rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fedrank_core::rng::{shuffle, stream};
use fedrank_core::{kendall, lehmer};

/// Powers of two; the sizes where one algorithm takes over from another, and their neighbours;
/// and the decades that merging is judged on.
const SIZES: [u32; 25] = [
    32, 64, 65, 128, 256, 512, 513, 1024, 1025, 2048, 4096, 4097, 8192, 10_000, 16_384, 32_768,
    65_536, 100_000, 131_072, 262_144, 524_288, 1_000_000, 2_097_152, 4_194_304, 5_000_000,
];

/// Least time of a measurement: shorter calls are repeated until they take about that long.
const SPAN: Duration = Duration::from_millis(4);

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let most = arguments.next().unwrap_or(u32::MAX);
    let rounds = arguments.next().unwrap_or(7);
    let mut best = [[u128::MAX; KERNELS.len()]; SIZES.len()];
    // All sizes in every round: a busy spell then spoils one round of many sizes, not all of one.
    for _ in 0..rounds {
        for (best, &n) in best.iter_mut().zip(&SIZES).filter(|(_, n)| **n <= most) {
            let turns = turns(n);
            *best = std::array::from_fn(|kernel| best[kernel].min(turns[kernel]));
        }
    }
    for (best, n) in best.iter().zip(SIZES).filter(|(_, n)| *n <= most) {
        for (kernel, &picoseconds) in KERNELS.iter().zip(best) {
            println!("{kernel} {n} {}", picoseconds as f64 / 1000.0);
        }
    }
}

const KERNELS: [&str; 3] = ["merge", "kendall", "lehmer"];

/// Picoseconds of each kernel at one size.
fn turns(n: u32) -> [u128; KERNELS.len()] {
    let (a, b) = (shuffled(n, 1), shuffled(n, 2));
    let (mut values, mut spare) = (vec![0; a.len()], vec![0; a.len()]);
    [
        time(|| {
            // Merging sorts its input, so each turn needs a copy.
            values.copy_from_slice(&a);
            kendall::merge_count(&mut values, &mut spare)
        }),
        time(|| kendall::distance(&a, &b)),
        time(|| lehmer::encode(&a)),
    ]
}

fn shuffled(n: u32, seed: u8) -> Vec<u32> {
    let mut ranking: Vec<u32> = (0..n).collect();
    shuffle(&mut ranking, &mut stream([seed; 32], 0));
    ranking
}

/// Picoseconds a call, after one call that warms up and tells how many to measure.
fn time<T>(mut call: impl FnMut() -> T) -> u128 {
    let start = Instant::now();
    black_box(call());
    let calls = SPAN.as_nanos() / start.elapsed().as_nanos().max(1) + 1;
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_nanos() * 1000 / calls
}
