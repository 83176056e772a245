//! HOT PATH: CPU time and waiting of single threads. Budget: one file a thread, some 3 us.

use rqps_model::Waits;

use crate::Error;
use crate::proc_file::ProcFile;
use crate::wait_text::{TaskTimes, parse_schedstat};

/// Threads of one kind that are watched at most: their files are read at both ends of every slice, which
/// for 64 threads takes a fifth of a millisecond. More are not watched at all.
const MOST: usize = 64;

/// Files that are open for both kinds at most.
pub(crate) const MAX_WATCHED: usize = 2 * MOST;

/// The files of the threads that are watched.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    served: Vec<ProcFile>,
    clients: Vec<ProcFile>,
}

impl Watched {
    /// The threads of the server that serve clients, and the client threads; those that cannot be
    /// opened, or are too many, are not known.
    pub(crate) fn open(served: &[i32], clients: &[i32]) -> Self {
        let files = |ids: &[i32]| -> Vec<ProcFile> {
            if ids.len() > MOST {
                return Vec::new();
            }
            let open = |id: &i32| ProcFile::open(format!("/proc/{id}/schedstat"), true).ok();
            ids.iter().map(open).collect::<Option<_>>().unwrap_or_default()
        };
        Self { served: files(served), clients: files(clients) }
    }

    /// What they used and waited so far; absent where one of them has ended.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Result<Waits, Error> {
        let (served, clients) = (sum(&self.served, buffer)?, sum(&self.clients, buffer)?);
        Ok(Waits {
            served_cpu_ns: served.map(|times| times.cpu_ns),
            served_run_wait_ns: served.map(|times| times.run_wait_ns),
            client_threads_cpu_ns: clients.map(|times| times.cpu_ns),
            client_threads_run_wait_ns: clients.map(|times| times.run_wait_ns),
            ..Waits::default()
        })
    }
}

fn sum(files: &[ProcFile], buffer: &mut Vec<u8>) -> Result<Option<TaskTimes>, Error> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut all = TaskTimes::default();
    for file in files {
        let Some(times) = file.parse_living(buffer, parse_schedstat)?.flatten() else {
            return Ok(None);
        };
        all.cpu_ns = all.cpu_ns.saturating_add(times.cpu_ns);
        all.run_wait_ns = all.run_wait_ns.saturating_add(times.run_wait_ns);
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_id() -> i32 {
        nix::unistd::gettid().as_raw()
    }

    #[test]
    fn counts_this_thread_and_not_one_that_ended() {
        let watched = Watched::open(&[], &[own_id()]);
        let before = watched.read(&mut Vec::new()).unwrap();
        assert_eq!(before.served_cpu_ns, None);
        let Some(before) = before.client_threads_cpu_ns else {
            eprintln!("this kernel keeps no times of threads");
            return;
        };
        let until = std::time::Instant::now() + std::time::Duration::from_millis(30);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        let after = watched.read(&mut Vec::new()).unwrap().client_threads_cpu_ns.unwrap();
        assert!(after > before, "{before} {after}");
        let ended = std::thread::spawn(own_id).join().unwrap();
        // The kernel takes the thread's entry away some time after the thread was joined.
        let entry = std::path::PathBuf::from(format!("/proc/{ended}"));
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while entry.exists() && std::time::Instant::now() < patience {
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        assert_eq!(Watched::open(&[ended], &[]).read(&mut Vec::new()).unwrap(), Waits::default());
    }

    #[test]
    fn too_many_are_not_watched() {
        let many = vec![own_id(); MOST + 1];
        assert_eq!(Watched::open(&many, &many).read(&mut Vec::new()).unwrap(), Waits::default());
    }
}
