//! The faults of a running server: read from its tree, again whenever the file changes, and met once.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::fault::{Fault, Rule, When};
use crate::log::Log;
use crate::place::Place;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What is to be done with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is answered.
    Answer,
    /// Its connection is closed.
    EndConnection,
    /// It finds no space, if it writes.
    DiskFull,
}

/// States that last, and how often all connections were to be closed.
#[derive(Debug, Default)]
struct States {
    active: Vec<Fault>,
    generation: u64,
}

/// The faults of a server.
#[derive(Debug)]
pub(crate) struct Faults {
    place: Place,
    log: Log,
    rules: Mutex<Vec<(Rule, u64)>>,
    states: Mutex<States>,
    n_statements: AtomicU64,
    seen: Mutex<Option<Seen>>,
}

/// Tells a file from the one that was there before.
type Seen = (u64, i64, i64);

impl Faults {
    /// Those of a tree.
    pub(crate) fn read(place: Place, log: Log) -> Self {
        let faults = Self {
            place,
            log,
            rules: Mutex::default(),
            states: Mutex::default(),
            n_statements: AtomicU64::new(0),
            seen: Mutex::default(),
        };
        faults.look();
        faults
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> MutexGuard<'_, Vec<(Rule, u64)>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the file for as long as the process lives.
    pub(crate) fn watch(&self) {
        loop {
            pause(LOOK_EVERY);
            self.look();
        }
    }

    /// Reads the file if it is another one. States that it does not bring about are over then.
    fn look(&self) {
        let path = self.place.faults();
        let meta = fs::metadata(&path).ok();
        let found = meta.map(|meta| (meta.ino(), meta.mtime(), meta.mtime_nsec()));
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if *seen == found {
                return;
            }
            *seen = found;
        }
        let mut rules = Vec::new();
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            match line.parse::<Rule>() {
                Ok(rule) => rules.push((rule, 0)),
                Err(error) => self.log.error(&error),
            }
        }
        self.states().active.retain(|fault| rules.iter().any(|(rule, _)| rule.fault == *fault));
        {
            let mut known = self.rules();
            for (rule, count) in &mut rules {
                *count = known.iter().find(|(old, _)| old == rule).map_or(0, |(_, count)| *count);
            }
            *known = rules;
        }
        self.meet(|rule, _| rule.when == When::Now);
    }

    /// What is to happen at a start; its number is counted here.
    pub(crate) fn at_start(&self) -> Fate {
        let n = self.place.count("starts");
        self.meet(|rule, _| rule.when == When::Start(n))
    }

    /// What is to happen as a data directory is made.
    pub(crate) fn at_initialise(&self) -> Fate {
        let n = self.place.count("initialised");
        self.meet(|rule, _| rule.when == When::Initialise(n))
    }

    /// What is to happen to a statement.
    pub(crate) fn at_statement(&self, sql: &str) -> Fate {
        let n = self.n_statements.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fate = self.meet(|rule, count| match &rule.when {
            When::Statement(wanted) => *wanted == n,
            When::Text(wanted, text) if sql.contains(text) => {
                *count += 1;
                *count == *wanted
            }
            _ => false,
        });
        if self.hangs() {
            hang();
        }
        pause(self.slow());
        if self.is_full() && fate == Fate::Answer {
            fate = Fate::DiskFull;
        }
        fate
    }

    /// Does what the rules say for which something is so.
    fn meet(&self, mut is_met: impl FnMut(&Rule, &mut u64) -> bool) -> Fate {
        let mut met = Vec::new();
        for (rule, count) in self.rules().iter_mut() {
            // A state that is to be there at once stays for as long as the file says so.
            let stays = rule.when == When::Now && rule.fault.lasts();
            if is_met(rule, count) && (self.place.is_first(rule) || rule.is_repeated || stays) {
                met.push(rule.clone());
            }
        }
        let mut fate = Fate::Answer;
        for rule in met {
            self.log.note(&format!("fault: {rule}"));
            if rule.fault == Fault::EndConnection && rule.when != When::Now {
                fate = Fate::EndConnection;
            } else if rule.fault.lasts() {
                self.set(&rule.fault);
            } else {
                self.happen(&rule.fault);
            }
        }
        fate
    }

    fn set(&self, fault: &Fault) {
        let mut states = self.states();
        if !states.active.contains(fault) {
            states.active.push(fault.clone());
        }
    }

    fn happen(&self, fault: &Fault) {
        match fault {
            Fault::Die(signal) => {
                let stands_still = matches!(signal, Signal::SIGSTOP | Signal::SIGTSTP);
                loop {
                    // A program in Rust looks at its first SIGSEGV, and dies of the next.
                    let _ = kill(Pid::this(), *signal);
                    // Another thread may take the signal; none may answer meanwhile.
                    pause(LOOK_EVERY);
                    if stands_still {
                        break;
                    }
                }
            }
            Fault::End(code) => {
                self.log.error("the fake server ends itself");
                end(i32::from(*code));
            }
            Fault::EndConnection => self.states().generation += 1,
            _ => {}
        }
    }

    fn has(&self, fault: &Fault) -> bool {
        self.states().active.contains(fault)
    }

    fn find<T>(&self, wanted: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        self.states().active.iter().rev().find_map(wanted)
    }

    pub(crate) fn hangs(&self) -> bool {
        self.has(&Fault::Hang)
    }

    pub(crate) fn refuses(&self) -> bool {
        self.has(&Fault::Refuse)
    }

    pub(crate) fn is_crowded(&self) -> bool {
        self.has(&Fault::Crowded)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.has(&Fault::DiskFull)
    }

    pub(crate) fn loses_statements(&self) -> bool {
        self.has(&Fault::LoseStatements)
    }

    pub(crate) fn keeps_running(&self) -> bool {
        self.has(&Fault::KeepRunning)
    }

    fn slow(&self) -> Duration {
        let by = self.find(|fault| match fault {
            Fault::Slow(by) => Some(*by),
            _ => None,
        });
        by.unwrap_or_default()
    }

    pub(crate) fn wrong_rows(&self) -> i64 {
        let by = self.find(|fault| match fault {
            Fault::WrongRows(by) => Some(*by),
            _ => None,
        });
        by.unwrap_or_default()
    }

    pub(crate) fn dead_rows(&self) -> u64 {
        let n = self.find(|fault| match fault {
            Fault::DeadRows(n) => Some(*n),
            _ => None,
        });
        n.unwrap_or_default()
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.find(|fault| match fault {
            Fault::Version(version) => Some(version.clone()),
            _ => None,
        })
    }

    /// A number that changes when all connections are to be closed.
    pub(crate) fn generation(&self) -> u64 {
        self.states().generation
    }
}

/// Waits for a while; not at all for none.
#[expect(clippy::disallowed_methods, reason = "to wait is the point")]
pub(crate) fn pause(time: Duration) {
    if !time.is_zero() {
        std::thread::sleep(time);
    }
}

/// Waits for ever.
pub(crate) fn hang() -> ! {
    loop {
        pause(Duration::from_secs(3600));
    }
}

/// Ends the process, whatever its threads do.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the program of a fake server")]
pub(crate) fn end(code: i32) -> ! {
    std::process::exit(code)
}
