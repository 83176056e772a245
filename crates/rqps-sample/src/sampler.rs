//! HOT PATH: takes one sample of everything. Budget: 0.5% of one CPU at one sample a second.

use std::path::PathBuf;
use std::time::Instant;

use rqps_model::{Sample, Waits};

use crate::clock::thread_cpu_ns;
use crate::error::{Error, Missing};
use crate::host::HostReader;
use crate::own::OwnReader;
use crate::scratch::{MAX_KEPT_FILES, Scratch};
use crate::storage::StorageReader;
use crate::tree::Tree;
use crate::watched::{MAX_WATCHED, Watched};

/// Files of processes and threads that a sampler keeps open at most.
pub const MAX_OPEN_FILES: usize = MAX_KEPT_FILES + MAX_WATCHED;

/// What is sampled besides the host and rqps itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// The server's first process; its descendants are found. `None` for a server elsewhere.
    pub server_pid: Option<i32>,
    /// The server's data directory, whose device is sampled.
    pub data_dir: Option<PathBuf>,
}

/// Which end of a short slice a brief sample is for. What it costs to take it falls outside the
/// slice either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The slice begins when the sample has been taken.
    Start,
    /// The slice ended right before.
    Finish,
}

/// Takes samples. Files stay open and buffers are reused, so that a sample is cheap.
///
/// Counters of the server start at what its processes used since they were started, never fall,
/// and stay as they are once it has ended (`n_processes` is 0 then).
#[derive(Debug)]
pub struct Sampler {
    epoch: Instant,
    server: Option<Tree>,
    host: HostReader,
    storage: Option<StorageReader>,
    own: OwnReader,
    watched: Watched,
    /// Files that may be open for it.
    most_watched: usize,
    scratch: Scratch,
    sampler_cpu_ns: u64,
}

impl Sampler {
    /// Prepares to sample `target`; times of samples count from `epoch`.
    ///
    /// # Errors
    /// When the server's process does not exist, the data directory cannot be read, or /proc is
    /// not what it is on Linux.
    pub fn new(epoch: Instant, target: Target) -> Result<Self, Error> {
        let Target { server_pid, data_dir } = target;
        let mut scratch = Scratch::new();
        let server = server_pid.map(|pid| Tree::open(pid, &mut scratch)).transpose()?;
        let storage = match data_dir {
            Some(dir) => StorageReader::open(&dir, &mut scratch.missing)?,
            None => None,
        };
        Ok(Self {
            epoch,
            server,
            host: HostReader::open(scratch.tick_ns)?,
            storage,
            own: OwnReader::open(&mut scratch.missing)?,
            watched: Watched::default(),
            most_watched: MAX_WATCHED,
            scratch,
            sampler_cpu_ns: 0,
        })
    }

    /// Keeps at most `n_files` files of processes and threads open, and never more than [`MAX_OPEN_FILES`].
    /// Those of the server that are more are opened for each sample; threads that are watched have half of
    /// `n_files` at most, and are not known where that is too few.
    #[must_use]
    pub fn keep_at_most(mut self, n_files: usize) -> Self {
        self.most_watched = (n_files / 2).min(MAX_WATCHED);
        self.scratch.most_kept = (n_files - self.most_watched).min(MAX_KEPT_FILES);
        self
    }

    /// From now on samples have CPU time and waiting of these threads: the server's connection threads
    /// and the client threads. Either may be empty: not known.
    pub fn watch(&mut self, served: &[i32], clients: &[i32]) {
        // Closed first: the files of the step before are not to be open at the same time.
        self.watched = Watched::default();
        if served.len() + clients.len() <= self.most_watched {
            self.watched = Watched::open(served, clients);
        }
    }

    /// What threads waited for, but for the server's whole tree.
    fn waits(&mut self) -> Result<Waits, Error> {
        let buffer = &mut self.scratch.buffer;
        let waits = self.watched.read(buffer)?;
        Ok(Waits { io_stalled_ns: self.host.read_stalled(buffer)?, ..waits })
    }

    /// Takes a sample now. The server is read first, right after the time.
    ///
    /// # Errors
    /// When a file of /proc cannot be read or understood. A server that has ended is no error.
    pub fn sample(&mut self) -> Result<Sample, Error> {
        self.sample_since(thread_cpu_ns())
    }

    /// As [`Sampler::sample`], counting as the sampler's own all CPU time of this thread since its
    /// clock stood at `thread_ns`.
    pub(crate) fn sample_since(&mut self, thread_ns: u64) -> Result<Sample, Error> {
        let at_ns = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let server = self.server.as_mut().map(|tree| tree.read(&mut self.scratch)).transpose()?;
        let buffer = &mut self.scratch.buffer;
        let host = self.host.read(buffer)?;
        let storage = match &self.storage {
            Some(storage) => storage.read(buffer)?,
            None => None,
        };
        let client = self.own.read(buffer)?;
        let tree = self.server.as_ref().and_then(Tree::run_wait_ns);
        let server_run_wait_ns = tree.filter(|_| self.scratch.has_schedstat);
        let waits = Waits { server_run_wait_ns, ..self.waits()? };
        self.sampler_cpu_ns += thread_cpu_ns().saturating_sub(thread_ns);
        let sampler_cpu_ns = self.sampler_cpu_ns;
        Ok(Sample { at_ns, host, server, client, storage, sampler_cpu_ns, waits })
    }

    /// Takes a sample of the values that change within a tenth of a second and cost little to read: CPU
    /// times and faults of server, client and watched threads; CPU times, context switches and time
    /// stalled on storage of the host; storage. All other values are 0: [`Sampler::sample`] has them.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    pub fn brief(&mut self, end: End) -> Result<Sample, Error> {
        let thread_ns = thread_cpu_ns();
        let now = |epoch: Instant| u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut sample = Sample::default();
        if end == End::Finish {
            // What follows is in no client CPU up to here.
            sample.sampler_cpu_ns = self.sampler_cpu_ns;
            sample.at_ns = now(self.epoch);
            sample.client = OwnReader::read_brief()?;
            sample.waits = self.waits()?;
        }
        let tree = self.server.as_mut();
        let server = tree.map(|tree| tree.read_brief(&mut self.scratch)).transpose()?;
        sample.server = server.map(|all| rqps_model::ProcessCounters {
            cpu_user_ns: all.cpu_user_ns,
            cpu_system_ns: all.cpu_system_ns,
            cpu_total_ns: all.cpu_total_ns,
            minor_faults: all.minor_faults,
            major_faults: all.major_faults,
            ..rqps_model::ProcessCounters::default()
        });
        let buffer = &mut self.scratch.buffer;
        sample.host = self.host.read_stat(buffer)?;
        sample.storage = match &self.storage {
            Some(storage) => storage.read(buffer)?,
            None => None,
        };
        self.sampler_cpu_ns += thread_cpu_ns().saturating_sub(thread_ns);
        if end == End::Start {
            sample.sampler_cpu_ns = self.sampler_cpu_ns;
            sample.waits = self.waits()?;
            sample.client = OwnReader::read_brief()?;
            sample.at_ns = now(self.epoch);
        }
        Ok(sample)
    }

    /// Values that are not measured so far, and why.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.scratch.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_watched_where_there_are_files_for_them() {
        let own = nix::unistd::gettid().as_raw();
        let watched = |n_files| {
            let sampler = Sampler::new(Instant::now(), Target::default()).unwrap();
            let mut sampler = sampler.keep_at_most(n_files);
            sampler.watch(&[own], &[own]);
            let waits = sampler.sample().unwrap().waits;
            (waits.served_cpu_ns.is_some(), waits.client_threads_cpu_ns.is_some())
        };
        assert_eq!(watched(3), (false, false), "two files are more than the half of three");
        let has_times = Scratch::new().has_schedstat;
        assert_eq!(watched(4), (has_times, has_times));
    }
}
