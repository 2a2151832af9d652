//! A way to stop long calls from another thread, and to see how far they are.
//!
//! A long call takes an [`Interrupt`] and checks it now and then, at least once per row or outer
//! iteration. [`all`] stops every call in the process whose token was made before; calls with a
//! newer token are not affected.
//!
//! A token may carry a [`Work`], in which the call counts what is done and what is to be done. Units
//! differ from call to call, but within a stage each takes about the same time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// How often [`all`] was called.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Units between two looks at the interrupt by a [`Tally`]: well below a millisecond.
const POLL: u64 = 1 << 16;

/// What a call is doing. Each stage has units of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The only stage of most calls.
    Main,
    /// Counting which of two items comes first.
    Pairs,
    /// Matching items with positions: how long that takes is not known.
    Matching,
    /// Improving an order until nothing moves: how long that takes is not known.
    Improving,
    /// Finding the best order among those that differ in cycles only.
    Search,
}

impl Stage {
    /// All stages, in the order of their numbers.
    const ALL: [Self; 5] = [Self::Main, Self::Pairs, Self::Matching, Self::Improving, Self::Search];

    /// What people are shown; nothing for the only stage of a call.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Pairs => "counting pairs",
            Self::Matching => "matching items and places",
            Self::Improving => "improving the order",
            Self::Search => "searching",
        }
    }
}

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The stage.
    pub stage: Stage,
    /// Units that are done.
    pub done: u64,
    /// Units of the whole stage; 0 if nobody knows.
    pub total: u64,
}

/// How far a call is. Any thread may read it at any time; no count ever decreases.
#[derive(Debug, Default)]
pub struct Work {
    stage: AtomicUsize,
    counts: [(AtomicU64, AtomicU64); Stage::ALL.len()],
}

impl Work {
    /// The present stage, and how far it is.
    #[must_use]
    pub fn state(&self) -> State {
        let stage = self.stage.load(Ordering::Relaxed);
        let (done, total) = &self.counts[stage];
        State {
            stage: Stage::ALL[stage],
            done: done.load(Ordering::Relaxed),
            total: total.load(Ordering::Relaxed),
        }
    }
}

/// Token of one call, which shows whether the call should stop, and counts what it does.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt<'a> {
    generation: u64,
    work: Option<&'a Work>,
}

impl<'a> Interrupt<'a> {
    /// The token of a call that starts now. Nothing is counted.
    #[must_use]
    pub fn begin() -> Self {
        Self { generation: GENERATION.load(Ordering::Relaxed), work: None }
    }

    /// The token of a call that starts now and counts what it does.
    #[must_use]
    pub fn counted(work: &'a Work) -> Self {
        Self { work: Some(work), ..Self::begin() }
    }

    /// The same token for a part of the call whose work is counted by the call itself.
    #[must_use]
    pub fn uncounted(self) -> Self {
        Self { work: None, ..self }
    }

    /// Whether the call may go on. Costs as much as reading a variable.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if [`all`] was called since the token was made.
    #[inline]
    pub fn check(self) -> Result<()> {
        if GENERATION.load(Ordering::Relaxed) == self.generation {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    }

    /// Begins a stage, or goes on with it.
    pub fn enter(self, stage: Stage) {
        if let Some(work) = self.work {
            work.stage.store(stage as usize, Ordering::Relaxed);
        }
    }

    /// Adds to the units of the present stage.
    pub fn expect(self, units: u64) {
        if let Some(work) = self.work {
            let (_, total) = &work.counts[work.stage.load(Ordering::Relaxed)];
            total.fetch_add(units, Ordering::Relaxed);
        }
    }

    /// Counts units of the present stage as done.
    pub fn advance(self, units: u64) {
        if let Some(work) = self.work {
            let (done, _) = &work.counts[work.stage.load(Ordering::Relaxed)];
            done.fetch_add(units, Ordering::Relaxed);
        }
    }

    /// A count of one thread's own, for units that take a few nanoseconds.
    #[must_use]
    pub fn tally(self) -> Tally<'a> {
        Tally { interrupt: self, units: 0, unseen: POLL }
    }
}

/// Units that one thread has done but not yet added to the [`Work`]. The rest is added on drop.
#[derive(Debug)]
pub struct Tally<'a> {
    interrupt: Interrupt<'a>,
    units: u64,
    /// Units since the last look at the interrupt; a new tally looks at once, since many are short.
    unseen: u64,
}

impl Tally<'_> {
    /// Counts units as done, and looks at the interrupt the first time and then now and then.
    ///
    /// # Errors
    /// [`Error::Interrupted`] as [`Interrupt::check`].
    #[inline]
    pub fn add(&mut self, units: u64) -> Result<()> {
        self.units += units;
        self.unseen += units;
        if self.unseen < POLL {
            return Ok(());
        }
        self.unseen = 0;
        self.interrupt.advance(std::mem::take(&mut self.units));
        self.interrupt.check()
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        self.interrupt.advance(self.units);
    }
}

/// Stops all calls that are running, in any thread of the process.
pub fn all() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_counts_of_their_own() {
        let work = Work::default();
        let interrupt = Interrupt::counted(&work);
        interrupt.expect(10);
        interrupt.advance(4);
        assert_eq!(work.state(), State { stage: Stage::Main, done: 4, total: 10 });
        interrupt.enter(Stage::Improving);
        interrupt.advance(3);
        assert_eq!(work.state(), State { stage: Stage::Improving, done: 3, total: 0 });
        interrupt.enter(Stage::Main);
        interrupt.uncounted().advance(5);
        assert_eq!(work.state(), State { stage: Stage::Main, done: 4, total: 10 });
    }

    #[test]
    fn a_tally_that_ends_soon_sees_the_interrupt_too() {
        let earlier = Interrupt {
            generation: GENERATION.load(Ordering::Relaxed).wrapping_sub(1),
            work: None,
        };
        assert_eq!(earlier.tally().add(1), Err(Error::Interrupted));
    }

    #[test]
    fn a_tally_loses_nothing() {
        let work = Work::default();
        let interrupt = Interrupt::counted(&work);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let mut tally = interrupt.tally();
                    (0..1000).for_each(|_| tally.add(POLL / 3).expect("no interrupt"));
                });
            }
        });
        assert_eq!(work.state().done, 4000 * (POLL / 3));
    }

    #[test]
    fn every_stage_is_at_its_number() {
        for (number, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, number);
        }
    }
}
