//! Whether the times of a log agree: sums, means, those of threads, and the measured time.

use super::agree::Latency;
use super::checks::{Pair, REMEDY, SLACK_S, SLACK_SHARE};
use super::flaw::{Flaw, ThreadTimes};
use super::line::{PrintedTime, quantity};

/// Half of the last digit of a rate of events, and a little.
const ROUNDING_PER_S: f64 = 0.006;

/// Half of the last digit of the time of a thread, and a little, seconds.
const ROUNDING_THREAD_S: f64 = 0.0001;

/// How far the sum of times may be from those of all threads besides: as a share of it and in seconds. Both
/// come from the same timers; in 3370 public logs they differ by the last digits alone.
const SUM_SHARE: f64 = 0.001;
const SUM_SLACK_S: f64 = 0.01;

/// A number and its line, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Number {
    line_idx: usize,
    value: f64,
}

/// All response times together, seconds, and how far digits and counts may put them off.
#[derive(Debug, Clone, Copy)]
struct Sum {
    sum_s: f64,
    slack_s: f64,
}

/// Times and counts that a log states of its threads.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Times {
    /// All response times together, milliseconds.
    sum_ms: Option<Number>,
    /// Mean number of events of a thread.
    events_per_thread: Option<Number>,
    /// Mean time that a thread spent on events, seconds, and its standard deviation.
    thread_s: Option<Number>,
    deviation_s: f64,
    /// The rate of events that 1.1 prints apart.
    events_per_s: Option<Number>,
}

/// What times are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'l> {
    pub(super) n_events: u64,
    pub(super) events_per_s: f64,
    pub(super) threads: u32,
    pub(super) total_s: f64,
    /// Seconds before the measured time in which events may have begun; `None` where the log does not tell.
    pub(super) warmup_s: Option<f64>,
    pub(super) latency: &'l Latency,
}

/// Whether a text without a last newline ends with a line that was not cut: of the times of threads, sysbench's last
/// line, both numbers have two digits behind the point at least. Any other line is another program's.
pub(super) fn ends_whole(text: &str) -> bool {
    let last = text.lines().next_back().unwrap_or_default();
    let Some((_, value)) = last.split_once("execution time (avg/stddev):") else { return true };
    let has_digits =
        |number: &str| number.split_once('.').is_some_and(|(_, digits)| digits.len() >= 2);
    value.trim().split_once('/').is_some_and(|(mean, deviation)| {
        quantity(mean).is_some()
            && has_digits(mean)
            && quantity(deviation).is_some()
            && has_digits(deviation)
    })
}

impl Times {
    /// Takes the sum of all response times.
    pub(super) fn take_sum(&mut self, pair: Pair<'_>, unit_ms: f64) {
        let time = PrintedTime::in_ms(pair.value, unit_ms);
        self.sum_ms = time.map(|time| Number { line_idx: pair.line_idx, value: time.value });
    }

    /// Takes the mean number of events of a thread.
    pub(super) fn take_events(&mut self, pair: Pair<'_>) {
        let value = pair.value.split_once('/').and_then(|(mean, _)| quantity(mean));
        self.events_per_thread = value.map(|value| Number { line_idx: pair.line_idx, value });
    }

    /// Takes the mean time of a thread with its standard deviation.
    pub(super) fn take_thread_time(&mut self, pair: Pair<'_>) {
        let both = pair.value.split_once('/');
        let both = both.and_then(|(mean, deviation)| quantity(mean).zip(quantity(deviation)));
        let Some((value, deviation_s)) = both else { return };
        self.thread_s = Some(Number { line_idx: pair.line_idx, value });
        self.deviation_s = deviation_s;
    }

    /// Takes the rate of events.
    pub(super) fn take_rate(&mut self, pair: Pair<'_>) {
        let value = quantity(pair.value);
        self.events_per_s = value.map(|value| Number { line_idx: pair.line_idx, value });
    }

    /// What threads spent on events.
    pub(super) fn thread_times(&self) -> Option<ThreadTimes> {
        Some(ThreadTimes { mean_s: self.thread_s?.value, deviation_s: self.deviation_s })
    }

    /// What does not agree, in words. Without events there are no times.
    pub(super) fn contradiction(&self, run: Run<'_>) -> Option<String> {
        if run.n_events == 0 {
            return None;
        }
        self.unfit_rate(run)
            .or_else(|| self.unfit_thread_time(run))
            .or_else(|| self.unfit_max(run))
            .map(|problem| format!("{problem}; {REMEDY}"))
    }

    /// Both rates are printed from one quotient.
    fn unfit_rate(&self, run: Run<'_>) -> Option<String> {
        let Number { line_idx, value } = self.events_per_s?;
        let stated = run.events_per_s;
        let slack = ROUNDING_PER_S + SUM_SHARE * stated;
        ((value - stated).abs() > slack).then(|| {
            format!(
                "line {}: events/s (eps): {value}, but transactions: {stated} per sec",
                line_idx + 1
            )
        })
    }

    /// What the times and events of threads do not have of the others. Builds differ in what they count there.
    pub(super) fn flaws(&self, run: Run<'_>) -> Vec<Flaw> {
        if run.n_events == 0 {
            return Vec::new();
        }
        let all = [self.unfit_mean(run), self.unfit_events(run), self.unfit_sum(run)];
        all.into_iter().flatten().collect()
    }

    fn unfit_events(&self, run: Run<'_>) -> Option<Flaw> {
        let mean = self.events_per_thread?.value;
        let Run { n_events, threads: n_threads, .. } = run;
        let n = mean * f64::from(n_threads);
        ((n - n_events as f64).abs() > run.events_slack()).then_some(Flaw::ThreadEvents {
            mean,
            n_threads,
            n_events,
        })
    }

    fn unfit_mean(&self, run: Run<'_>) -> Option<Flaw> {
        let (avg_ms, sum) = run.latency.avg.zip(self.sum_ms)?;
        let n = run.n_events as f64;
        let mean_ms = sum.value / n;
        let slack_ms = run.latency.rounding_one_ms() + avg_ms * run.events_slack() / n;
        ((avg_ms - mean_ms).abs() > slack_ms).then_some(Flaw::MeanTime { avg_ms, mean_ms })
    }

    fn unfit_sum(&self, run: Run<'_>) -> Option<Flaw> {
        let (Sum { sum_s, slack_s }, thread) = self.sum(run).zip(self.thread_s)?;
        let (n_threads, mean_s) = (run.threads, thread.value);
        let slack_s =
            slack_s + SUM_SLACK_S + SUM_SHARE * sum_s + ROUNDING_THREAD_S * f64::from(n_threads);
        let is_other = (sum_s - mean_s * f64::from(n_threads)).abs() > slack_s;
        is_other.then_some(Flaw::ThreadTimes { mean_s, n_threads, sum_s })
    }

    /// All response times together: as stated, else the mean of all events.
    fn sum(&self, run: Run<'_>) -> Option<Sum> {
        if let Some(sum) = self.sum_ms {
            return Some(Sum { sum_s: sum.value / 1e3, slack_s: 0.0 });
        }
        let (avg_s, rounding_s) = (run.latency.avg? / 1e3, run.latency.rounding_one_ms() / 1e3);
        let n = run.n_events as f64;
        Some(Sum { sum_s: avg_s * n, slack_s: rounding_s * n + avg_s * run.events_slack() })
    }

    /// Events that began before the measured time count as a whole.
    fn unfit_thread_time(&self, run: Run<'_>) -> Option<String> {
        let Number { line_idx, value } = self.thread_s?;
        let longest_s = run.latency.max.unwrap_or(0.0) / 1e3;
        let before_s = if run.warmup_s == Some(0.0) { 0.0 } else { longest_s };
        let Run { total_s, .. } = run;
        (value > total_s + before_s + run.time_slack_s()).then(|| {
            format!(
                "line {}: execution time (avg): {value} s is above total time: {total_s} s",
                line_idx + 1
            )
        })
    }

    fn unfit_max(&self, run: Run<'_>) -> Option<String> {
        let max = run.latency.max?;
        let Run { total_s, .. } = run;
        let is_above = |limit_s: f64| max / 1e3 > limit_s + run.time_slack_s();
        if run.warmup_s.is_some_and(|warmup_s| is_above(total_s + warmup_s)) {
            return Some(format!("max: {max} ms is above total time: {total_s} s"));
        }
        let sum = self.sum_ms.filter(|sum| max > sum.value + run.latency.rounding_both_ms())?;
        Some(format!("max: {max} ms is above sum: {} ms", sum.value))
    }
}

impl Run<'_> {
    /// Events may end between two readings of counters and timers: one of each thread, and those of a moment.
    fn events_slack(self) -> f64 {
        let moment_s = SLACK_S + SLACK_SHARE * self.total_s;
        f64::from(self.threads) + moment_s * self.n_events as f64 / self.total_s
    }

    fn time_slack_s(self) -> f64 {
        SLACK_S + SLACK_SHARE * self.total_s
    }
}
