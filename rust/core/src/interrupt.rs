//! A way to stop long calls from another thread.
//!
//! A long call takes an [`Interrupt`] and checks it now and then, at least once per row or outer
//! iteration. [`all`] stops every call in the process whose token was made before; calls with a
//! newer token are not affected.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// How often [`all`] was called.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Token of one call, which shows whether the call should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    generation: u64,
}

impl Interrupt {
    /// The token of a call that starts now.
    #[must_use]
    pub fn begin() -> Self {
        Self { generation: GENERATION.load(Ordering::Relaxed) }
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
}

/// Stops all calls that are running, in any thread of the process.
pub fn all() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
