//! The ranking of least total footrule distance, by assignment (M11; Dwork et al. 2001).

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use lapjv::{LapJV, Matrix};
use rayon::prelude::*;

use super::Consensus;
use crate::error::{Result, zeros};
use crate::interrupt::{Interrupt, Stage};
use crate::rankings::{Profile, Ties};
use crate::rng::{shuffle, stream};

/// Minimum-weight matching of items to positions, cost `Σ_m |r_m[i] − j|`, in O(m n + n³).
///
/// Of several optima, [`Ties::Random`] takes the solver's first after a random relabelling.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if n² numbers are too many,
/// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
pub fn consensus(profile: &Profile<'_>, ties: Ties, interrupt: Interrupt<'_>) -> Result<Consensus> {
    let n = profile.n();
    let mut items: Vec<u32> = (0..n as u32).collect();
    if let Ties::Random(key) = ties {
        shuffle(&mut items, &mut stream(key, 0));
    }
    let positions = assign(costs(profile, &items, interrupt)?, n, interrupt)?;
    let mut ranks = vec![0; n];
    for (&item, position) in items.iter().zip(positions) {
        ranks[item as usize] = position as u32;
    }
    Ok(Consensus { ranks, exact: Some(true), ..Consensus::default() })
}

/// Items up to which the solver takes less than a millisecond, so that nobody need stop it.
const FAST: usize = 64;

/// How often a slow solver's caller looks whether to stop it.
const POLL: Duration = Duration::from_millis(20);

/// The column of each row in an assignment of least cost.
fn assign(costs: Vec<f64>, n: usize, interrupt: Interrupt<'_>) -> Result<Vec<usize>> {
    let costs = Matrix::from_shape_vec((n, n), costs).expect("there are n² costs");
    let solver = LapJV::new(&costs);
    let cancellation = solver.cancellation();
    let solved = if n <= FAST {
        solver.solve()
    } else {
        interrupt.enter(Stage::Matching);
        // The solver knows only its own token, which this thread passes the interrupt on to.
        thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let worker = scope.spawn(move || {
                let _running = running; // dropped at the end, which is what `ended` waits for
                solver.solve()
            });
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if interrupt.check().is_err() {
                    cancellation.cancel();
                }
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    };
    interrupt.check()?;
    // The matrix is square and finite, so the solver has nothing to refuse.
    Ok(solved.expect("a square matrix of finite costs has an optimal assignment").0)
}

/// Items whose positions are counted together: they share cache lines.
const ITEMS: usize = 16;

/// Cost of each position for each of `items`. Whole numbers below 2^62 but far below 2^53
/// in practice, so that floats hold them exactly.
fn costs(profile: &Profile<'_>, items: &[u32], interrupt: Interrupt<'_>) -> Result<Vec<f64>> {
    let n = profile.n();
    let mut costs = zeros(n, n)?;
    interrupt.expect(profile.rankings().ranks().len() as u64);
    let blocks = costs.par_chunks_mut(ITEMS * n).zip(items.par_chunks(ITEMS));
    blocks.try_for_each(|(costs, items)| {
        let mut counts = vec![0_u32; costs.len()];
        let mut tally = interrupt.tally();
        for (row, ranks) in profile.rankings().rows().enumerate() {
            tally.add(items.len() as u64)?;
            let weight = profile.weight(row);
            for (counts, &item) in counts.chunks_exact_mut(n).zip(items) {
                counts[ranks[item as usize] as usize] += weight;
            }
        }
        let total = i64::from(profile.total());
        for (costs, counts) in costs.chunks_exact_mut(n).zip(counts.chunks_exact(n)) {
            // From j to j + 1, rankings at most at j move away and the others come nearer.
            let at_zero = counts.iter().enumerate().map(|(p, &c)| p as i64 * i64::from(c));
            let (mut cost, mut passed) = (at_zero.sum::<i64>(), 0);
            for (slot, &count) in costs.iter_mut().zip(counts) {
                *slot = cost as f64;
                passed += i64::from(count);
                cost += 2 * passed - total;
            }
        }
        Ok(())
    })?;
    Ok(costs)
}
