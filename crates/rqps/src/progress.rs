//! Progress on the terminal: two live lines on a terminal, plain lines elsewhere.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rqps_report::warning;
use rqps_runner::{Event, Nth, RunShape};
use rqps_text::number;

use crate::fit;

/// How often a long download or load says something where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows events on stderr.
pub(crate) struct Progress {
    live: Option<Live>,
    last_plain: Option<Instant>,
    /// The last note, which several systems may have in common.
    last_note: String,
    lines: Lines,
}

/// Prints lines that stay; also for whoever has something to say while no event comes.
#[derive(Clone)]
pub(crate) struct Lines {
    /// Absent where there are no live lines.
    live: Option<MultiProgress>,
    began: Instant,
}

struct Live {
    all: MultiProgress,
    /// What is under way now.
    now: ProgressBar,
    /// How much is done of all.
    steps: ProgressBar,
    /// When the run is expected to end, and what follows the step under way.
    outlook: RefCell<Outlook>,
}

/// What is expected of the rest of a run.
#[derive(Default)]
struct Outlook {
    ends: Option<Instant>,
    next: Option<String>,
}

impl Progress {
    /// Live lines when stderr is a terminal, plain lines otherwise.
    pub(crate) fn new() -> Self {
        Self::since(Instant::now())
    }

    /// The same, of work that began earlier.
    pub(crate) fn since(began: Instant) -> Self {
        let live = std::io::stderr().is_terminal().then(Live::new);
        let lines = Lines { live: live.as_ref().map(|live| live.all.clone()), began };
        Self { live, last_plain: None, last_note: String::new(), lines }
    }

    /// What prints its lines.
    pub(crate) fn lines(&self) -> Lines {
        self.lines.clone()
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        if let Event::Note(text) = event {
            if self.last_note == *text {
                return;
            }
            (*text).clone_into(&mut self.last_note);
        } else if let Event::Warning { .. } = event {
            // A note before a warning may come again behind it.
            self.last_note.clear();
        }
        if let Some(live) = &self.live {
            live.update(event);
        }
        if let Some(line) = lasting(event) {
            self.line(&line);
        } else if self.live.is_none()
            && self.last_plain.is_none_or(|at| at.elapsed() > PLAIN_EVERY)
            && let Some(line) = passing(event)
        {
            self.last_plain = Some(Instant::now());
            self.line(&line);
        }
    }

    /// As [`Lines::line`].
    pub(crate) fn line(&self, text: &str) {
        self.lines.line(text);
    }

    /// Removes the live lines.
    pub(crate) fn clear(&self) {
        if let Some(live) = &self.live {
            live.now.finish_and_clear();
            live.steps.finish_and_clear();
        }
    }
}

impl Lines {
    /// Prints a line that stays, above the live ones where there are any.
    /// Words of servers and of perf are in it.
    pub(crate) fn line(&self, text: &str) {
        let text = &fit::lines(text);
        match &self.live {
            Some(all) => {
                // A terminal that went away is no reason to stop measuring.
                let _ = all.println(text);
            }
            None => {
                let at = self.began.elapsed().as_secs();
                let _ = writeln!(
                    std::io::stderr(),
                    "{:02}:{:02}:{:02} {text}",
                    at / 3600,
                    at / 60 % 60,
                    at % 60
                );
            }
        }
    }
}

impl Live {
    fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let now = all.add(ProgressBar::new_spinner());
        now.set_style(style("{spinner} {wide_msg}"));
        now.enable_steady_tick(Duration::from_millis(250));
        let steps = all.add(ProgressBar::new(0));
        steps.set_style(style("  {bar:30} {percent:>3}%  {elapsed_precise}  {wide_msg}"));
        // The clock ticks within a step.
        steps.enable_steady_tick(Duration::from_secs(1));
        Self { all, now, steps, outlook: RefCell::default() }
    }

    fn update(&self, event: &Event<'_>) {
        match event {
            Event::RunStarted { n_steps, n_done, .. } => {
                self.steps.set_length(*n_steps as u64);
                self.steps.set_position(*n_done as u64);
            }
            Event::StepStarted { label, step, clients, idx, next, left, expected, .. } => {
                self.steps.set_position(*idx as u64);
                *self.outlook.borrow_mut() = Outlook {
                    ends: Instant::now().checked_add(*left + *expected),
                    next: next.map(str::to_owned),
                };
                self.show_left();
                let what = format!("{label}  {step}  {}", clients_text(*clients));
                let what = fit::one_line(&what);
                self.now.set_message(what.clone());
                self.now.set_prefix(what);
            }
            Event::Measuring { slice, elapsed, qps, .. } => {
                let what = slice.map_or_else(
                    || "warm-up".to_owned(),
                    |Nth { idx, n }| format!("slice {} of {n}", idx + 1),
                );
                self.now.set_message(format!(
                    "{}  {what}, {:.0} s  {qps:.0} queries/s",
                    self.now.prefix(),
                    elapsed.as_secs_f64()
                ));
                self.show_left();
            }
            Event::Interleaved { block, rates, .. } => {
                let elapsed = rates.iter().map(|rate| rate.elapsed).max().unwrap_or_default();
                // In the order of the plan, whatever the order of the slices.
                let by_system: BTreeMap<usize, f64> =
                    rates.iter().map(|rate| (rate.system, rate.per_s)).collect();
                let rates: Vec<String> = by_system.values().map(|r| format!("{r:.0}")).collect();
                self.now.set_message(format!(
                    "{}  block {} of {}, {:.0} s each  {} queries/s",
                    self.now.prefix(),
                    block.idx + 1,
                    block.n,
                    elapsed.as_secs_f64(),
                    rates.join(" : ")
                ));
                self.show_left();
            }
            other => {
                if let Some(text) = passing(other) {
                    self.now.set_message(fit::one_line(&text));
                }
            }
        }
    }
}

impl Live {
    /// The time that is left, as it passes.
    fn show_left(&self) {
        let outlook = self.outlook.borrow();
        let Some(ends) = outlook.ends else { return };
        let left = duration(ends.saturating_duration_since(Instant::now()));
        let next = outlook.next.as_ref().map_or_else(String::new, |next| format!(", then {next}"));
        self.steps.set_message(fit::one_line(&format!("about {left} left{next}")));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A line that stays for events that are worth one.
fn lasting(event: &Event<'_>) -> Option<String> {
    match event {
        Event::RunStarted { run, shape, n_done: 0, expected, .. } => {
            let RunShape { n_steps, n_systems, n_starts } = *shape;
            let n_starts = usize::try_from(n_starts).unwrap_or(usize::MAX);
            let (steps, systems) =
                (number::count(n_steps, "step"), number::count(n_systems, "system"));
            let starts = number::count(n_starts, "start");
            let time = duration(*expected);
            Some(format!("run {run}: {steps}, {systems}, {starts} per step: about {time}"))
        }
        Event::RunStarted { run, n_steps, n_done, expected, .. } => {
            let left = duration(*expected);
            let percent = n_done * 100 / n_steps.max(&1);
            Some(format!("run {run} resumes: {percent}% is done, about {left} left"))
        }
        Event::Note(text) => Some((*text).to_owned()),
        Event::Warning { label, kind } => Some(format!("{label}: {}", warning::sentence(kind))),
        Event::StepEnded { label, step, clients, figure, unit, failure } => {
            let clients = clients_text(*clients);
            Some(match (figure, failure) {
                (_, Some(failure)) => {
                    format!("{label:14} {step:28} {clients:>10}  FAILED: {failure}")
                }
                (Some(figure), None) => {
                    format!("{label:14} {step:28} {clients:>10} {figure:>9.0} {unit}")
                }
                (None, None) => format!("{label:14} {step:28} {clients:>10}"),
            })
        }
        _ => None,
    }
}

/// A line for events that pass: shown in place on a terminal, now and then elsewhere.
fn passing(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Fetching { what, bytes, total_bytes } => Some(if *total_bytes > 0 {
            let percent = (bytes * 100 / total_bytes).min(100);
            format!("fetch {what}: {} of {} MB, {percent}%", mb(*bytes), mb(*total_bytes))
        } else {
            format!("fetch {what}: {} MB", mb(*bytes))
        }),
        Event::Preparing { label, doing } => Some(format!("{label}: {doing}")),
        Event::Populating { label, rows, total_rows } => {
            let percent = if *total_rows > 0 { rows * 100 / total_rows } else { 100 };
            Some(format!("{label}: load, {rows} of {total_rows} rows, {percent}%"))
        }
        Event::StepStarted { label, step, clients, .. } => {
            Some(format!("{label}: {step}, {}", clients_text(*clients)))
        }
        _ => None,
    }
}

fn clients_text(clients: u32) -> String {
    format!("{clients} client{}", if clients == 1 { "" } else { "s" })
}

fn mb(bytes: u64) -> u64 {
    bytes / 1_000_000
}

/// A time that is expected, as people say it, rounded up: `45 s`, `12 min`, `1 h 20 min`.
pub(crate) fn duration(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0..=99 => format!("{s} s"),
        100..=5999 => format!("{} min", s.div_ceil(60)),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// A time that was taken: `45 s`, `5 min 7 s`, `1 h 20 min`.
pub(crate) fn taken(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        100..=5999 => format!("{} min {} s", s / 60, s % 60),
        _ => duration(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_say_them() {
        assert_eq!(duration(Duration::from_secs(45)), "45 s");
        assert_eq!(duration(Duration::from_secs(701)), "12 min");
        assert_eq!(duration(Duration::from_secs(7260)), "2 h 1 min");
        assert_eq!(taken(Duration::from_secs(307)), "5 min 7 s");
        assert_eq!(taken(Duration::from_secs(99)), "99 s");
    }

    #[test]
    fn lines_say_what_happened() {
        let label = rqps_model::Label("my5614.small".to_owned());
        let event = Event::StepEnded {
            label: &label,
            step: "point-query",
            clients: 1,
            figure: Some(41_234.4),
            unit: "queries/s",
            failure: None,
        };
        let line = lasting(&event).unwrap();
        assert!(line.contains("my5614.small") && line.contains("41234 queries/s"), "{line}");
        let fetching =
            Event::Fetching { what: "MySQL 5.6.14", bytes: 5_000_000, total_bytes: 50_000_000 };
        assert_eq!(passing(&fetching).unwrap(), "fetch MySQL 5.6.14: 5 of 50 MB, 10%");
    }
}
