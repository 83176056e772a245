//! A thread that samples on a fixed grid of times, and exact samples asked for between them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rqps_model::Sample;

use crate::clock::thread_cpu_ns;
use crate::error::{Error, Missing};
use crate::sampler::{End, Sampler};

/// Samples in a thread of its own until it is finished or dropped.
#[derive(Debug)]
pub struct Background {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug)]
struct State {
    sampler: Sampler,
    samples: Vec<Sample>,
    stop: bool,
}

impl Background {
    /// Starts the thread. Its first sample comes after one `interval`, the others at whole
    /// multiples of it; one that comes too late is skipped, and the grid stays.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(sampler: Sampler, interval: Duration) -> Result<Self, Error> {
        let state = State { sampler, samples: Vec::new(), stop: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), stopped: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let interval = interval.max(Duration::from_millis(1));
        let thread = std::thread::Builder::new()
            .name("rqps-sample".to_owned())
            .spawn(move || theirs.run(interval))
            .map_err(|e| Error::Thread { what: format!("could not be started: {e}") })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes a sample now, on the caller's thread, keeps it among the others and returns it.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    pub fn mark(&self) -> Result<Sample, Error> {
        let thread_ns = thread_cpu_ns();
        self.shared.lock().keep_sample(thread_ns)
    }

    /// Takes a brief sample now, on the caller's thread, and returns it; it is not kept.
    ///
    /// # Errors
    /// As [`Sampler::brief`].
    pub fn brief(&self, end: End) -> Result<Sample, Error> {
        self.shared.lock().sampler.brief(end)
    }

    /// As [`Sampler::watch`].
    pub fn watch(&self, served: &[i32], clients: &[i32]) {
        self.shared.lock().sampler.watch(served, clients);
    }

    /// Takes away the samples so far, marks included, in order of time.
    #[must_use]
    pub fn take(&self) -> Vec<Sample> {
        std::mem::take(&mut self.shared.lock().samples)
    }

    /// Values that are not measured so far, and why.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        self.shared.lock().sampler.missing().to_vec()
    }

    /// Ends the thread and returns the samples, marks included, in order of time.
    ///
    /// A failed sample is a gap; the next mark returns its error.
    #[must_use]
    pub fn finish(mut self) -> Vec<Sample> {
        self.stop();
        self.take()
    }

    fn stop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by the panic hook; the samples up to it are good.
            let _ = thread.join();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, interval: Duration) {
        let start = Instant::now();
        let mut n_intervals = 1_u32;
        let mut thread_ns = thread_cpu_ns();
        let mut state = self.lock();
        while !state.stop {
            let left = (start + interval * n_intervals).saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let waited = self.stopped.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let _ = state.keep_sample(thread_ns);
            thread_ns = thread_cpu_ns();
            // At most 2^32 intervals: 136 years of seconds.
            let passed = start.elapsed().as_nanos() / interval.as_nanos();
            n_intervals = u32::try_from(passed).unwrap_or(u32::MAX).saturating_add(1);
        }
    }
}

impl State {
    fn keep_sample(&mut self, thread_ns: u64) -> Result<Sample, Error> {
        let sample = self.sampler.sample_since(thread_ns)?;
        self.samples.push(sample);
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    fn start(interval: Duration) -> Background {
        let sampler = Sampler::new(Instant::now(), Target::default()).unwrap();
        Background::start(sampler, interval).unwrap()
    }

    #[test]
    fn marks_are_exact_and_finishing_does_not_wait_for_the_grid() {
        let background = start(Duration::from_secs(3600));
        let first = background.mark().unwrap();
        let last = background.mark().unwrap();
        assert!(first.at_ns < last.at_ns);
        assert!(0 < first.sampler_cpu_ns && first.sampler_cpu_ns < last.sampler_cpu_ns);
        assert_eq!(background.finish(), [first, last]);
    }

    #[test]
    fn samples_and_marks_come_in_order_of_time() {
        let background = start(Duration::from_millis(2));
        let mut samples = Vec::new();
        while samples.len() < 20 {
            samples.push(background.mark().unwrap());
            samples.clear();
            samples.extend(background.shared.lock().samples.iter().copied());
        }
        assert!(background.missing().is_empty());
        let samples = background.finish();
        assert!(samples.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        assert!(samples.windows(2).all(|pair| pair[0].sampler_cpu_ns <= pair[1].sampler_cpu_ns));
        assert!(samples.windows(2).all(|p| p[0].client.cpu_total_ns <= p[1].client.cpu_total_ns));
    }

    #[test]
    fn taking_leaves_nothing_behind() {
        let background = start(Duration::from_secs(3600));
        let mark = background.mark().unwrap();
        assert_eq!(background.take(), [mark]);
        assert!(background.finish().is_empty());
    }

    #[test]
    fn brief_samples_agree_with_full_ones_and_are_not_kept() {
        let background = start(Duration::from_secs(3600));
        let before = background.mark().unwrap();
        let first = background.brief(End::Start).unwrap();
        let last = background.brief(End::Finish).unwrap();
        let after = background.mark().unwrap();
        let cpu = [before, first, last, after].map(|s| s.client.cpu_total_ns);
        assert!(cpu.is_sorted() && cpu[0] > 0, "{cpu:?}");
        assert!([before, first, last, after].is_sorted_by_key(|s| s.at_ns));
        let idle = [before, first, last, after].map(|s| s.host.context_switches);
        assert!(idle.is_sorted() && idle[0] > 0, "{idle:?}");
        assert!(last.sampler_cpu_ns > before.sampler_cpu_ns);
        assert_eq!(background.finish(), [before, after]);
    }
}
