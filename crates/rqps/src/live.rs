//! What a run tells other processes while it goes: a small file that `rqps serve` follows.
//!
//! While something is measured it is written once a second at most, by the thread that shows progress,
//! when no server is counted; between steps, when nothing is measured, at once.

use std::time::{Duration, Instant};

use rqps_runner::{Event, Nth};
use rqps_store::live::{Change, Changes, LiveRate, LiveStep, Spent};
use rqps_store::unix_ms;
use rqps_store::{Live, LiveFile, Store};

/// How often it is written while something is measured.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The longest text of what is under way, characters.
const LONGEST: usize = 200;

/// Tells of a run.
pub(crate) struct Teller<'s> {
    store: &'s Store,
    file: Option<LiveFile>,
    live: Live,
    written: Option<Instant>,
    /// When the step under way began.
    step_began: Instant,
    /// Whether the step under way has ended well, as far as systems have told; `None` while none has.
    has_ended_well: Option<bool>,
    /// When the start or stop of a server that is under way did.
    change_began: Instant,
    /// Whether a step has begun: before, servers are also started and stopped to be looked at.
    has_begun: bool,
}

impl<'s> Teller<'s> {
    pub(crate) fn new(store: &'s Store) -> Self {
        let now = Instant::now();
        Self {
            store,
            file: None,
            live: Live::default(),
            written: None,
            step_began: now,
            has_ended_well: None,
            change_began: now,
            has_begun: false,
        }
    }

    /// Takes up one event. What cannot be written is no reason to stop measuring.
    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        if let Event::RunStarted { run, n_steps, n_done, .. } = event {
            self.file = self.store.create_live_file(run).ok();
            let (n_steps, n_done) = (*n_steps as u64, *n_done as u64);
            let (pid, began_unix_ms) = (std::process::id(), unix_ms());
            self.live = Live { pid, began_unix_ms, n_steps, n_done, ..Live::default() };
        }
        let is_at_rest = self.take_up(event);
        let is_due = self.written.is_none_or(|at| at.elapsed() >= WRITE_EVERY);
        if let Some(file) = &self.file
            && (is_at_rest || is_due)
        {
            self.live.written_unix_ms = unix_ms();
            self.live.n_written += 1;
            let _ = file.write(&self.live);
            self.written = Some(Instant::now());
        }
    }

    /// Gives whether nothing is measured at the moment.
    fn take_up(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::StepStarted { .. } => self.begin_step(event),
            Event::Measuring { system, slice, elapsed, qps } => {
                self.end_change();
                let Some(step) = &mut self.live.step else { return false };
                let system = system.or_else(|| match step.systems.as_slice() {
                    [only] => Some(*only),
                    _ => None,
                });
                match slice {
                    // Loads of several systems' indexes have no queries; a long slice of one of them
                    // is told within a block.
                    Some(nth) if step.block == Some(nth.idx) => {}
                    Some(Nth { idx, n }) => {
                        (step.block, step.n_blocks, step.n_rounds) = (Some(*idx), *n, 0);
                    }
                    None if step.block.is_none() => "warm-up".clone_into(&mut self.live.doing),
                    None => {}
                }
                if slice.is_some() {
                    "measure".clone_into(&mut self.live.doing);
                }
                if let Some(system_idx) = system {
                    let rate = LiveRate { system_idx, elapsed_ms: ms(*elapsed), per_s: *qps };
                    match step.rates.iter_mut().find(|r| r.system_idx == system_idx) {
                        Some(known) => *known = rate,
                        None => step.rates.push(rate),
                    }
                }
                return false;
            }
            Event::Interleaved { block, n_rounds, rates } => {
                let Some(step) = &mut self.live.step else { return false };
                (step.block, step.n_blocks) = (Some(block.idx), block.n);
                step.n_rounds = *n_rounds;
                let rate = |rate: &rqps_runner::Rate| LiveRate {
                    system_idx: rate.system,
                    elapsed_ms: ms(rate.elapsed),
                    per_s: rate.per_s,
                };
                step.rates = rates.iter().map(rate).collect();
                "measure".clone_into(&mut self.live.doing);
                return false;
            }
            Event::Fetching { what, .. } => {
                self.live.doing = shortened(&format!("fetch {what}"));
                return false;
            }
            Event::Populating { label, rows, total_rows } => {
                // Tables that are filled again are no part of a start.
                self.end_change();
                self.live.doing = shortened(&format!("load {label}: {rows} of {total_rows} rows"));
                return false;
            }
            Event::Preparing { label, doing } => {
                self.live.doing = shortened(&format!("{doing} {label}"));
                if *doing == "stop" || doing.contains("start") {
                    self.begin_change(*doing == "stop");
                }
                if let Some(step) = &mut self.live.step {
                    step.rates.clear();
                }
            }
            Event::RunEnded { .. } => self.file = None,
            Event::RunStarted { .. } => {}
            Event::StepEnded { failure, .. } => {
                let is_well = failure.is_none() && self.has_ended_well != Some(false);
                self.has_ended_well = Some(is_well);
                if let Some(step) = &mut self.live.step {
                    step.rates.clear();
                }
            }
            Event::Note(_) | Event::Warning { .. } => return false,
        }
        true
    }

    /// A server begins to start or to stop: whatever step was under way is over, or was broken off.
    fn begin_change(&mut self, is_stop: bool) {
        self.end_step(self.has_ended_well == Some(true));
        self.end_change();
        self.live.change = Some(Change { began_unix_ms: unix_ms(), is_stop });
        self.change_began = Instant::now();
    }

    fn end_change(&mut self) {
        let live = &mut self.live;
        let Some(Change { is_stop, .. }) = live.change.take() else { return };
        let (changes, left) = if is_stop {
            (&mut live.stops, &mut live.left_stops)
        } else {
            (&mut live.starts, &mut live.left_starts)
        };
        changes.n += 1;
        changes.took_ms += ms(self.change_began.elapsed());
        *left = left.saturating_sub(1);
    }

    /// What a step took counts where it `is_whole`: of one that was broken off nobody knows what was done.
    fn end_step(&mut self, is_whole: bool) {
        let Some(before) = self.live.step.take().filter(|_| is_whole) else { return };
        let spent = if before.is_guess { &mut self.live.guessed } else { &mut self.live.timed };
        let Spent { planned_ms, took_ms } = spent;
        *planned_ms += before.expected_ms;
        *took_ms += ms(self.step_began.elapsed());
    }

    /// The step before is over, and another begins.
    fn begin_step(&mut self, event: &Event<'_>) {
        let Event::StepStarted { idx, step_idx, systems, expected, .. } = event else { return };
        let Event::StepStarted { is_guess, left, left_guessed, changes_left, .. } = event else {
            return;
        };
        self.end_step(self.has_ended_well != Some(false));
        self.end_change();
        self.has_ended_well = None;
        if !std::mem::replace(&mut self.has_begun, true) {
            // Servers that were looked at had no data.
            self.live.stops = Changes::default();
        }
        self.live.left_starts = changes_left.starts as u64;
        self.live.left_stops = changes_left.stops as u64;
        self.step_began = Instant::now();
        self.live.n_done = *idx as u64;
        self.live.left_guessed_ms = ms(*left_guessed);
        self.live.left_timed_ms = ms(left.saturating_sub(*left_guessed));
        "begin".clone_into(&mut self.live.doing);
        self.live.step = Some(LiveStep {
            step_idx: *step_idx,
            systems: systems.to_vec(),
            began_unix_ms: unix_ms(),
            expected_ms: ms(*expected),
            is_guess: *is_guess,
            ..LiveStep::default()
        });
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rqps_model::Label;

    use rqps_runner::RunShape;

    use super::*;

    fn started<'a>(label: &'a Label, systems: &'a [usize], is_guess: bool) -> Event<'a> {
        Event::StepStarted {
            label,
            step: "point-query",
            clients: 1,
            idx: 4,
            step_idx: 2,
            systems,
            expected: Duration::from_secs(10),
            is_guess,
            next: None,
            left: Duration::from_secs(50),
            left_guessed: Duration::from_secs(20),
            changes_left: rqps_runner::ChangesLeft { starts: 2, stops: 4 },
        }
    }

    fn ended<'a>(label: &'a Label, failure: Option<&'a str>) -> Event<'a> {
        let figure = failure.is_none().then_some(1.0);
        Event::StepEnded {
            label,
            step: "point-query",
            clients: 1,
            figure,
            unit: "queries/s",
            failure,
        }
    }

    /// A step of which a server made an end, and tables that are filled again, tell nothing of the pace; servers
    /// that were only looked at tell nothing of stops.
    #[test]
    fn what_a_failed_server_costs_is_no_pace_and_no_start() {
        let temp = std::env::temp_dir().join(format!("rqps-live-failed-{}", std::process::id()));
        let store = Store::open(&temp).unwrap();
        let label = Label("a".to_owned());
        let mut teller = Teller::new(&store);
        teller.tell(&Event::RunStarted {
            run: "r1",
            shape: RunShape { n_steps: 4, n_systems: 1, n_starts: 2 },
            n_steps: 8,
            n_done: 0,
            expected: Duration::ZERO,
        });
        let preparing = |doing| Event::Preparing { label: &label, doing };
        for doing in ["initialise and start", "stop", "initialise and start"] {
            teller.tell(&preparing(doing));
        }
        teller.tell(&started(&label, &[0], false));
        assert_eq!((teller.live.starts.n, teller.live.stops.n), (2, 0));
        teller.tell(&ended(&label, Some("the server ended")));
        teller.tell(&preparing("initialise and start"));
        teller.change_began -= Duration::from_secs(20);
        teller.tell(&Event::Populating { label: &label, rows: 5, total_rows: 10 });
        teller.change_began -= Duration::from_secs(3600);
        teller.tell(&started(&label, &[0], false));
        assert_eq!((teller.live.starts.n, teller.live.starts.took_ms / 1000), (3, 20));
        // Broken off without a word, as a load is that is done again.
        teller.tell(&preparing("initialise and start"));
        assert_eq!((teller.live.timed, teller.live.guessed), (Spent::default(), Spent::default()));
        teller.tell(&Event::RunEnded { run: "r1" });
        std::fs::remove_dir_all(&temp).unwrap();
    }

    #[test]
    fn events_become_what_others_read() {
        let temp = std::env::temp_dir().join(format!("rqps-live-{}", std::process::id()));
        let store = Store::open(&temp).unwrap();
        let label = Label("a".to_owned());
        let mut teller = Teller::new(&store);
        teller.tell(&Event::RunStarted {
            run: "r1",
            shape: RunShape { n_steps: 4, n_systems: 1, n_starts: 2 },
            n_steps: 8,
            n_done: 2,
            expected: Duration::ZERO,
        });
        let read = || store.read_live("r1").unwrap();
        assert_eq!(read().map(|live| (live.n_steps, live.n_done, live.step)), Some((8, 2, None)));
        teller.tell(&started(&label, &[0], true));
        // A second has not passed, and something is measured.
        teller.tell(&Event::Populating { label: &label, rows: 5, total_rows: 10 });
        assert_eq!(read().unwrap().doing, "begin");
        teller.tell(&started(&label, &[0, 1], false));
        let rate = |system| rqps_runner::Rate { system, elapsed: Duration::ZERO, per_s: 7.5 };
        teller.written = None;
        let block = Nth { idx: 3, n: 8 };
        teller.tell(&Event::Interleaved { block, n_rounds: 9, rates: &[rate(0), rate(1)] });
        let live = read().unwrap();
        assert_eq!((live.guessed.planned_ms, live.timed), (10_000, Spent::default()));
        assert_eq!((live.left_timed_ms, live.left_guessed_ms), (30_000, 20_000));
        let step = live.step.unwrap();
        assert_eq!((step.step_idx, step.block, step.n_blocks), (2, Some(3), 8));
        assert_eq!(step.n_rounds, 9);
        assert_eq!(step.rates.iter().map(|r| r.system_idx).collect::<Vec<_>>(), [0, 1]);
        // A start of the servers is over: their stops and starts are no part of the step's time.
        let preparing = |doing| Event::Preparing { label: &label, doing };
        teller.step_began -= Duration::from_secs(9);
        teller.tell(&ended(&label, None));
        for (doing, s) in [("stop", 2), ("stop", 4), ("initialise and start", 30), ("settle", 0)] {
            teller.tell(&preparing(doing));
            teller.change_began -= Duration::from_secs(s);
        }
        let live = read().unwrap();
        assert_eq!((live.timed.planned_ms, live.timed.took_ms / 1000), (10_000, 9));
        assert_eq!(live.step, None);
        assert_eq!((live.stops.n, live.stops.took_ms / 1000, live.left_stops), (2, 6, 2));
        assert_eq!((live.starts.n, live.left_starts), (0, 2));
        assert!(!live.change.unwrap().is_stop, "settling is a part of the start");
        teller.tell(&started(&label, &[0, 1], false));
        let live = read().unwrap();
        assert_eq!((live.starts.n, live.starts.took_ms / 1000, live.change), (1, 30, None));
        assert_eq!((live.left_starts, live.left_stops), (2, 4));
        teller.tell(&Event::RunEnded { run: "r1" });
        assert_eq!(read(), None);
        std::fs::remove_dir_all(&temp).unwrap();
    }
}
