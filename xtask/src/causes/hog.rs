//! Threads that take all the CPU they get.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use anyhow::{Context as _, Result};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_model::Placement;
use rqps_runner::placement::{client_cpus, usable_cpus};

/// Which CPUs are made busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// Each of them.
    Everywhere,
    /// Those that client threads have with split placement.
    OnClients,
}

/// Threads on each CPU of the clients. With one of them a client still gets the half that is its due, more than
/// it needs; and on a virtual machine it answers sooner, as its CPU is never put to sleep.
const ON_CLIENTS: usize = 8;

/// Threads on the CPUs that are made busy; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Hog {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Hog {
    /// They begin at once.
    pub(super) fn start(place: Where) -> Result<Self> {
        let all = usable_cpus()?;
        let (cpus, n_on_each) = match place {
            Where::Everywhere => (all, 1),
            Where::OnClients => (client_cpus(Placement::Split, 0, &all, 0), ON_CLIENTS),
        };
        let mut hog = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        for cpu in cpus.into_iter().flat_map(|cpu| std::iter::repeat_n(cpu, n_on_each)) {
            let stop = Arc::clone(&hog.stop);
            let (ready, pinned) = channel();
            hog.threads.push(std::thread::spawn(move || {
                let _ = ready.send(be_on(cpu));
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }));
            pinned.recv().context("start a thread")?.context("pin a thread to its CPU")?;
        }
        Ok(hog)
    }
}

fn be_on(cpu: usize) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
