//! A run under way, seen from the main thread: reports on time, the end, the report at the end.

use std::sync::Arc;
use std::time::Duration;

use super::control::Control;
use super::threads::Stage;
use crate::Error;
use crate::console::Level;
use crate::lua::{ReportList, State};
use crate::report::{self, Earlier, Intermediate, OfThread, Reported};
use crate::settings::Settings;
use crate::tally::Counts;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// All threads ended by themselves.
    Whole,
    /// Unfinished events were given up.
    Forced,
}

/// The state of a run's reports.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    settings: &'a Settings,
    control: &'a Control,
    stage: &'a Stage,
    /// The main thread's state, for hooks.
    state: &'a State,
    /// When events that count began, ns.
    start_ns: u64,
    /// Counts of each thread and the time at the last intermediate report.
    last: Snapshot,
    /// The same at the last checkpoint, or the start.
    base: Snapshot,
    /// The same at the start.
    start: Snapshot,
    /// What was reported, for the JSON; nothing without it.
    earlier: Earlier,
}

/// Counts of each thread at one time.
#[derive(Debug, Clone)]
struct Snapshot {
    at_ns: u64,
    threads: Arc<[Counts]>,
}

/// Something to do at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Intermediate,
    Checkpoint,
    GiveUp,
}

impl<'a> Progress<'a> {
    /// The reports of a run whose threads are ready.
    pub(super) fn new(
        settings: &'a Settings,
        control: &'a Control,
        stage: &'a Stage,
        state: &'a State,
    ) -> Self {
        let none = Snapshot {
            at_ns: 0,
            threads: (0..settings.n_threads).map(|_| Counts::none()).collect(),
        };
        Self {
            settings,
            control,
            stage,
            state,
            start_ns: 0,
            last: none.clone(),
            base: none.clone(),
            start: none,
            earlier: Earlier::default(),
        }
    }

    /// Lets the threads go and reports until all have ended, or are given up.
    ///
    /// # Errors
    /// A hook of the script that failed.
    pub(super) fn follow(&mut self) -> Result<End, Error> {
        let warm_up = self.settings.warm_up;
        self.control.start(self.settings.time.map(|time| time + warm_up));
        self.start_ns = self.control.now_ns();
        if !warm_up.is_zero() {
            self.stage.go();
            self.settings
                .console
                .say(&format!("Warming up for {} seconds...\n\n", warm_up.as_secs()));
            self.stage.wait_ended(self.settings.n_threads, Some(warm_up));
            self.control.count_events();
            self.begin_again();
            self.start_ns = self.base.at_ns;
        } else {
            self.control.count_events();
            self.stage.go();
            // What `thread_init` did is reported with the rest, as sysbench does.
            self.last.at_ns = self.start_ns;
            self.base.at_ns = self.start_ns;
        }
        self.start = self.base.clone();
        let mut schedule = Schedule::new(self.settings);
        loop {
            let next = schedule.next();
            let limit = next.map(|(_, at)| self.left_until(at));
            if self.stage.wait_ended(self.settings.n_threads, limit) {
                // The last interval often ends with the run, in which all threads ran.
                if let Some((Due::Intermediate, at)) = next
                    && self.left_until(at).is_zero()
                {
                    self.report_intermediate(self.settings.n_threads)?;
                }
                return Ok(End::Whole);
            }
            match next {
                Some((Due::Intermediate, _)) => {
                    self.report_intermediate(self.stage.n_running(self.settings.n_threads))?;
                }
                Some((Due::Checkpoint, _)) => {
                    self.report_checkpoint(schedule.checkpoints_s.is_empty())?;
                }
                Some((Due::GiveUp, _)) => {
                    self.control.stop();
                    return Ok(End::Forced);
                }
                None => {}
            }
        }
    }

    fn left_until(&self, after_start: Duration) -> Duration {
        let passed = self.control.now_ns().saturating_sub(self.start_ns);
        after_start.saturating_sub(Duration::from_nanos(passed))
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            at_ns: self.control.now_ns(),
            threads: self.control.tallies.iter().map(|tally| tally.read()).collect(),
        }
    }

    /// Forgets everything counted so far.
    fn begin_again(&mut self) {
        self.base = self.snapshot();
        self.last = self.base.clone();
        for tally in &self.control.tallies {
            tally.forget_extremes();
        }
    }

    /// What was counted between two snapshots.
    fn between(&self, from: &Snapshot, to: &Snapshot) -> Reported {
        let threads: Vec<Counts> =
            to.threads.iter().zip(from.threads.iter()).map(|(now, then)| now.since(then)).collect();
        let mut sum = Counts::none();
        threads.iter().for_each(|thread| sum.add(thread));
        Reported {
            sum,
            threads: threads.iter().map(OfThread::new).collect(),
            interval_s: to.at_ns.saturating_sub(from.at_ns) as f64 / 1e9,
            total_s: to.at_ns.saturating_sub(self.start_ns) as f64 / 1e9,
            uses_sql: self.control.uses_sql(),
        }
    }

    fn report_intermediate(&mut self, n_threads: usize) -> Result<(), Error> {
        let now = self.snapshot();
        let reported = self.between(&self.last, &now);
        let has_rate = self.control.has_rate();
        let queue =
            has_rate.then(|| (self.control.queue_length(now.at_ns), self.control.concurrency()));
        self.last = now;
        let mut numbers = stat(&reported, self.settings, n_threads);
        let (queue_length, concurrency) = queue.unwrap_or((0, 0));
        numbers.push(("queue_length", queue_length as f64));
        numbers.push(("concurrency", concurrency as f64));
        if !self.hook("report_intermediate", ReportList::Intermediate, &numbers)? {
            let more = Intermediate { n_threads, queue };
            let line = report::intermediate(&reported, more, &self.settings.percentiles);
            self.settings.console.say(&line);
        }
        if self.settings.json {
            self.earlier.push_intermediate(&reported, &self.settings.percentiles);
        }
        Ok(())
    }

    fn report_checkpoint(&mut self, is_last: bool) -> Result<(), Error> {
        let now = self.snapshot();
        let reported = self.between(&self.base, &now);
        let console = &self.settings.console;
        console.say(&format!("[ {:.0}s ] Checkpoint report:\n", reported.total_s));
        self.report_cumulative(&reported, ReportList::Checkpoints)?;
        if is_last {
            self.state.end_list(ReportList::Checkpoints)?;
        }
        self.base = now;
        for tally in &self.control.tallies {
            tally.forget_extremes();
        }
        if self.settings.json {
            self.earlier.push_checkpoint(&reported, &self.settings.percentiles);
        }
        Ok(())
    }

    fn report_cumulative(&self, reported: &Reported, list: ReportList) -> Result<(), Error> {
        let n_threads = self.stage.n_running(self.settings.n_threads);
        let mut numbers = stat(reported, self.settings, n_threads);
        numbers.push(("latency_min", reported.min_ms() / 1e3));
        numbers.push(("latency_max", reported.max_ms() / 1e3));
        numbers.push(("latency_avg", reported.mean_ms() / 1e3));
        numbers.push(("latency_sum", reported.sum_ms() / 1e3));
        if !self.hook("report_cumulative", list, &numbers)? {
            let console = &self.settings.console;
            if self.settings.histogram && list == ReportList::End {
                // Of the whole run, whatever the checkpoints.
                let whole = self.between(&self.start, &self.snapshot());
                console.say(&report::histogram(&whole));
            }
            console.say(&report::cumulative(reported, self.settings));
            if console.prints(Level::Debug) {
                for line in report::of_threads(reported) {
                    console.log(Level::Debug, &line);
                }
                console.say("\n");
            }
        }
        Ok(())
    }

    /// Calls a hook of the script; whether it has one.
    fn hook(
        &self,
        name: &str,
        list: ReportList,
        numbers: &[(&'static str, f64)],
    ) -> Result<bool, Error> {
        match self.state.hook(name, list, numbers)? {
            Ok(has) => Ok(has),
            Err(why) => {
                let console = &self.settings.console;
                console.log(Level::Fatal, &format!("`{name}' function failed: {why}"));
                self.control.fail();
                Err(Error::Told)
            }
        }
    }

    /// The report at the end.
    ///
    /// # Errors
    /// A hook of the script that failed.
    pub(super) fn report_end(&self, test: &str, end: End) -> Result<(), Error> {
        let console = &self.settings.console;
        if end == End::Forced {
            console.log(Level::Fatal, "The --max-time limit has expired, forcing shutdown...\n");
            let n = self.control.concurrency();
            console.say(&format!("Number of unfinished transactions on forced shutdown: {n}\n"));
        }
        let reported = self.between(&self.base, &self.snapshot());
        self.state.end_list(ReportList::Checkpoints)?;
        self.state.end_list(ReportList::Intermediate)?;
        if self.settings.json {
            console.result(&report::json(test, self.settings, &reported, &self.earlier));
            return Ok(());
        }
        self.report_cumulative(&reported, ReportList::End)?;
        self.state.end_list(ReportList::End)
    }
}

/// The numbers that hooks get, times in seconds.
fn stat(of: &Reported, settings: &Settings, n_threads: usize) -> Vec<(&'static str, f64)> {
    let percentile_ms =
        settings.main_percentile().map_or(0.0, |percent| of.printed_percentile_ms(percent));
    vec![
        ("threads_running", n_threads as f64),
        ("time_interval", of.interval_s),
        ("time_total", of.total_s),
        ("latency_pct", percentile_ms / 1e3),
        ("events", of.sum.events as f64),
        ("reads", of.sum.reads as f64),
        ("writes", of.sum.writes as f64),
        ("other", of.sum.others as f64),
        ("errors", of.sum.errors as f64),
        ("reconnects", of.sum.reconnects as f64),
    ]
}

/// When what is due, as time after the start.
#[derive(Debug)]
struct Schedule {
    interval_s: u64,
    n_intervals: u64,
    checkpoints_s: std::collections::VecDeque<u64>,
    give_up: Option<Duration>,
}

impl Schedule {
    fn new(settings: &Settings) -> Self {
        let give_up = match (settings.time, settings.forced_shutdown) {
            (Some(time), Some(grace)) => Some(time + grace),
            _ => None,
        };
        Self {
            interval_s: settings.report_interval_s,
            n_intervals: 0,
            checkpoints_s: settings.checkpoints_s.iter().copied().collect(),
            give_up,
        }
    }

    /// The next thing to do, and when; `None` when there is nothing but to wait for the end.
    fn next(&mut self) -> Option<(Due, Duration)> {
        let interval = (self.interval_s > 0)
            .then(|| Duration::from_secs(self.interval_s * (self.n_intervals + 1)));
        let checkpoint = self.checkpoints_s.front().map(|second| Duration::from_secs(*second));
        let all = [
            (Due::Intermediate, interval),
            (Due::Checkpoint, checkpoint),
            (Due::GiveUp, self.give_up),
        ];
        let (due, at) = all
            .into_iter()
            .filter_map(|(due, at)| at.map(|at| (due, at)))
            .min_by_key(|(_, at)| *at)?;
        match due {
            Due::Intermediate => self.n_intervals += 1,
            Due::Checkpoint => {
                self.checkpoints_s.pop_front();
            }
            Due::GiveUp => {}
        }
        Some((due, at))
    }
}
