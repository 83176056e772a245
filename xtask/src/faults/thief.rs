//! Whoever takes ports in the moment in which servers are to use them.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::hosted::Hosted;

/// Takes the port of the next servers that start, faster than they can.
pub(super) struct Thief {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<usize>>,
    taken: Arc<AtomicUsize>,
}

impl Thief {
    /// How many ports it takes: fewer than rqps draws for one server.
    const AT_MOST: usize = 3;

    pub(super) fn start(hosted: &Hosted) -> Result<Self> {
        let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (asked, n_taken) = (Arc::clone(&stop), Arc::clone(&taken));
        let hosted = hosted.clone();
        let mut seen: BTreeSet<u16> = hosted.ports().into_iter().collect();
        let thread = std::thread::Builder::new().name("thief".to_owned()).spawn(move || {
            let mut held = Vec::new();
            let since = Instant::now();
            while !asked.load(Ordering::Relaxed) && since.elapsed() < Duration::from_secs(600) {
                for port in hosted.ports() {
                    if seen.insert(port)
                        && held.len() < Self::AT_MOST
                        && let Ok(listener) = TcpListener::bind(("127.0.0.1", port))
                    {
                        held.push(listener);
                        n_taken.store(held.len(), Ordering::Relaxed);
                    }
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
            held.len()
        })?;
        Ok(Self { stop, thread: Some(thread), taken })
    }

    pub(super) fn n_taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for Thief {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
