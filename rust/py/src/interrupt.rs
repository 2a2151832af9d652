//! Ctrl-C during long calls.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use fedrank_core::{Interrupt, interrupt};
use pyo3::prelude::*;

use crate::error::{Error, Result};

/// Operations, of about a nanosecond each, up to which a call is not worth a thread.
const SHORT: usize = 1 << 20;

/// The work of a call that may take long whatever its size.
pub(crate) const LONG: usize = usize::MAX;

/// How often a waiting thread looks for signals.
const POLL: Duration = Duration::from_millis(50);

/// Runs a call with the interpreter detached, so that signals and other threads can stop it.
///
/// Python's signal handlers run only in the thread that called us. A call of more than a few
/// milliseconds, by its `work` in operations, therefore runs on a thread of its own, while this one
/// looks for signals. On Ctrl-C every running call stops; this one returns when its thread has
/// ended.
pub(crate) fn interruptible<T: Send, E: Into<Error> + Send>(
    py: Python<'_>,
    work: usize,
    call: impl FnOnce(Interrupt) -> std::result::Result<T, E> + Send,
) -> Result<T> {
    let token = Interrupt::begin();
    if work <= SHORT {
        return py.detach(|| call(token)).map_err(Into::into);
    }
    py.detach(|| {
        thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let worker = scope.spawn(move || {
                let _running = running; // dropped at the end, which is what `ended` waits for
                call(token)
            });
            let mut signal = None;
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    interrupt::all();
                    signal = Some(raised);
                }
            }
            let found = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            signal.map_or_else(|| found.map_err(Into::into), |raised| Err(raised.into()))
        })
    })
}

/// Stops every long call that is running, in any thread: each raises `KeyboardInterrupt`.
#[pyfunction]
pub(crate) fn interrupt_all() {
    interrupt::all();
}
