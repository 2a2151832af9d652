//! Time to expand and add one mask, beside the keystream that it consumes, same crate.
//!
//! Prints `kernel entries bits nanoseconds` a line. The two take turns, and the best turn of
//! each counts. Argument: the number of turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::{ChaCha20, Key, Nonce};
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::mask::Sum;

/// Least time of a turn.
const SPAN: Duration = Duration::from_millis(4);

/// Bytes of keystream written at a time.
const PIECE: usize = 4096;

fn main() {
    let turns = std::env::args().nth(1).and_then(|turns| turns.parse().ok()).unwrap_or(25);
    for entries in [978, 32_768, 1_048_576] {
        for bits in [8, 14, 31, 64] {
            let segment = Segment { name: "entries".into(), len: entries, bits };
            let layout = Layout::new(vec![segment]).expect("a width of 1 to 64");
            let mut sum = Sum::new(&layout);
            let bytes = entries * bits.next_power_of_two() as usize / 8;
            let mut buffer = vec![0; PIECE];
            let mut best = [f64::MAX; 2];
            for _ in 0..turns {
                let now = [
                    time(|| keystream(bytes, &mut buffer)),
                    time(|| sum.add_stream(black_box(&[7; 32]))),
                ];
                best = std::array::from_fn(|kernel| best[kernel].min(now[kernel]));
            }
            for (kernel, nanoseconds) in ["keystream", "add"].iter().zip(best) {
                println!("{kernel} {entries} {bits} {nanoseconds}");
            }
        }
    }
}

fn keystream(bytes: usize, buffer: &mut [u8]) {
    let mut cipher = ChaCha20::new(&Key::from([7; 32]), &Nonce::default());
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(buffer.len());
        cipher.write_keystream(&mut buffer[..piece]);
        black_box(&mut *buffer);
        left -= piece;
    }
}

/// Nanoseconds a call, after one call that warms up and tells how many to measure.
fn time<T>(mut call: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    black_box(call());
    let calls = (SPAN.as_nanos() / start.elapsed().as_nanos().max(1) + 1) as u32;
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}
