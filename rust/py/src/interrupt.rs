//! Ctrl-C during long calls, and how far they are.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use fedrank_core::interrupt::{State, Work};
use fedrank_core::{Interrupt, interrupt};
use pyo3::prelude::*;

use crate::error::{Error, Result};

/// Operations, of about a nanosecond each, up to which a call is not worth a thread.
const SHORT: usize = 1 << 20;

/// The work of a call that may take long whatever its size.
pub(crate) const LONG: usize = usize::MAX;

/// How often a waiting thread looks for signals, and tells its listener how far the call is.
const POLL: Duration = Duration::from_millis(50);

thread_local! {
    /// What this thread's long calls tell how far they are.
    static LISTENER: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Runs a call with the interpreter detached, so that signals and other threads can stop it.
///
/// Python's signal handlers run only in the thread that called us. A call of more than a few
/// milliseconds, by its `work` in operations, therefore runs on a thread of its own, while this one
/// looks for signals and tells its listener how far the call is. On Ctrl-C, or if the listener
/// raises an exception, every running call stops; this one returns when its thread has ended.
pub(crate) fn interruptible<T: Send, E: Into<Error> + Send>(
    py: Python<'_>,
    work: usize,
    call: impl FnOnce(Interrupt<'_>) -> std::result::Result<T, E> + Send,
) -> Result<T> {
    if work <= SHORT {
        return py.detach(|| call(Interrupt::begin())).map_err(Into::into);
    }
    let listener = LISTENER.with_borrow(|listener| listener.as_ref().map(|it| it.clone_ref(py)));
    let counts = Work::default();
    let token = match listener {
        Some(_) => Interrupt::counted(&counts),
        None => Interrupt::begin(),
    };
    let poll = |py: Python<'_>| {
        py.check_signals()?;
        listener.as_ref().map_or(Ok(()), |listener| tell(py, listener, counts.state()))
    };
    py.detach(|| {
        thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let worker = scope.spawn(move || {
                let _running = running; // dropped at the end, which is what `ended` waits for
                call(token)
            });
            let mut signal = None;
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if signal.is_none()
                    && let Err(raised) = Python::attach(poll)
                {
                    interrupt::all();
                    signal = Some(raised);
                }
            }
            let found = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            if found.is_ok() && signal.is_none() {
                signal = Python::attach(poll).err(); // the last state, however short the call
            }
            signal.map_or_else(|| found.map_err(Into::into), |raised| Err(raised.into()))
        })
    })
}

fn tell(py: Python<'_>, listener: &Py<PyAny>, state: State) -> PyResult<()> {
    listener.call1(py, (state.stage.label(), state.done, state.total)).map(|_| ())
}

/// Sets what this thread's long calls tell how far they are: called with the label of the stage,
/// the units done and all units (0 if nobody knows), every now and then and at the end.
#[pyfunction]
pub(crate) fn listen(listener: Option<Py<PyAny>>) {
    drop(LISTENER.replace(listener));
}

/// Stops every long call that is running, in any thread: each raises `KeyboardInterrupt`.
#[pyfunction]
pub(crate) fn interrupt_all() {
    interrupt::all();
}
