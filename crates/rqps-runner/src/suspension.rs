//! Ctrl-Z: rqps is stopped only where no server would stay stopped with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::getpid;

/// Shared state of the SIGTSTP handler and the runner. The handler stops rqps at once if allowed. Otherwise
/// the runner stops rqps as soon as all servers run.
#[derive(Debug, Clone)]
pub struct Suspension {
    /// Whether rqps may be stopped at once.
    pub at_once: Arc<AtomicBool>,
    /// Set by the signal.
    pub asked: Arc<AtomicBool>,
}

impl Default for Suspension {
    fn default() -> Self {
        Self { at_once: Arc::new(AtomicBool::new(true)), asked: Arc::default() }
    }
}

impl Suspension {
    /// From now on servers may be stopped.
    pub(crate) fn put_off(&self) {
        self.at_once.store(false, Ordering::SeqCst);
        // One that came before has stopped rqps already.
        self.asked.store(false, Ordering::SeqCst);
    }

    /// From now on none is; a signal that came meanwhile takes effect here.
    pub(crate) fn allow(&self) {
        if !self.at_once.swap(true, Ordering::SeqCst) && self.is_asked() {
            self.take_effect();
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Stops rqps; returns when it continues.
    pub(crate) fn take_effect(&self) {
        self.asked.store(false, Ordering::SeqCst);
        // The signal that nothing catches: to the whole process, as the kernel's own answer would be.
        let _ = kill(getpid(), Signal::SIGSTOP);
    }
}
