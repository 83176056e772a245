//! What each command does: help, run, those that a script defines, those that are its functions.

use std::sync::Arc;

use super::control::Control;
use super::locate::locate;
use super::progress::{End, Progress};
use super::threads::{ClientPool, Stage, Task, start};
use crate::Error;
use crate::console::Level;
use crate::lua::{SYSBENCH_VERSION, Script, State, install, retire};
use crate::options::cmdline::CommandLine;
use crate::options::{Definition, help};
use crate::settings::Settings;
use crate::tally::Tally;
use crate::worker::Worker;

/// Exit code of a run whose unfinished events were given up, as sysbench's.
const FORCED: u8 = 2;

/// Everything that the main thread needs.
struct Command {
    settings: Arc<Settings>,
    script: Arc<Script>,
    control: Arc<Control>,
    state: State,
    options: Option<Vec<Definition>>,
}

/// Carries out what was typed. The exit code, where that is no failure.
///
/// # Errors
/// Anything that keeps it from being carried out.
pub(crate) fn carry_out(line: &CommandLine, settings: Settings) -> Result<u8, Error> {
    let settings = Arc::new(settings);
    let script = Arc::new(locate(line.test.as_deref(), &settings.environment)?);
    let control = Arc::new(Control::new(settings.n_threads, settings.limits));
    install(Worker::new(
        Arc::clone(&settings),
        Arc::clone(&control),
        // What the main thread does is not reported.
        Arc::new(Tally::new()),
        0,
    ));
    // Of a script on standard input sysbench runs the body alone.
    let command = line.command.as_deref().filter(|_| line.test.as_deref() != Some("-"));
    let done = begin(line, settings, script, control).and_then(|begun| begun.carry_out(command));
    retire();
    done
}

fn begin(
    line: &CommandLine,
    settings: Arc<Settings>,
    script: Arc<Script>,
    control: Arc<Control>,
) -> Result<Command, Error> {
    let state = State::new(&settings, &script, line.command.as_deref(), 0)?;
    let options = state.load(&script, &settings)?.map_err(Error::Fatal)?;
    Ok(Command { settings, script, control, state, options })
}

impl Command {
    fn carry_out(&self, command: Option<&str>) -> Result<u8, Error> {
        let Some(name) = command else { return Ok(0) };
        if let Some((true, parallel)) = self.state.defines(name)? {
            // One thread is the main one, as in sysbench.
            let alone = !parallel || self.settings.n_threads == 1;
            return if alone { self.alone(name) } else { self.in_parallel(name) };
        }
        match name {
            "help" => self.help(),
            "run" => self.events(),
            "prepare" | "cleanup" | "prewarm" | "warmup" if self.state.has(name)? => {
                self.call(name).map(|()| 0)
            }
            "prepare" | "cleanup" => Err(self.not_implemented(name)),
            _ => Err(Error::UnknownCommand { command: name.to_owned() }),
        }
    }

    fn not_implemented(&self, command: &str) -> Error {
        Error::NotImplemented { test: self.script.name.clone(), command: command.to_owned() }
    }

    fn help(&self) -> Result<u8, Error> {
        if self.state.has("help")? {
            return self.call("help").map(|()| 0);
        }
        let Some(options) = &self.options else { return Err(self.not_implemented("help")) };
        self.settings.console.say(&help::of_script(&self.script.name, options));
        Ok(0)
    }

    fn call(&self, name: &str) -> Result<(), Error> {
        self.state
            .call(name, None)?
            .map_err(|why| Error::Fatal(format!("`{name}' function failed: {why}")))
    }

    /// A command on the main thread.
    fn alone(&self, name: &str) -> Result<u8, Error> {
        let failed =
            |why| Error::Fatal(format!("`sysbench.cmdline.call_command' function failed: {why}"));
        self.state.command(name)?.map_err(failed).map(|()| 0)
    }

    fn pool(&self, task: Task) -> ClientPool {
        ClientPool {
            settings: Arc::clone(&self.settings),
            control: Arc::clone(&self.control),
            script: Arc::clone(&self.script),
            task,
            stage: Arc::new(Stage::default()),
        }
    }

    /// A command on all threads.
    fn in_parallel(&self, name: &str) -> Result<u8, Error> {
        let console = &self.settings.console;
        console.say("Initializing worker threads...\n\n");
        let pool = self.pool(Task::Command(name.to_owned()));
        let threads = start(&pool)?;
        pool.stage.go();
        for thread in threads {
            // A thread that panicked has failed; the panic itself was printed.
            if thread.join().is_err() {
                self.control.fail();
            }
        }
        if self.control.has_failed() { Err(Error::Told) } else { Ok(0) }
    }

    /// Events on all threads until the run ends.
    fn events(&self) -> Result<u8, Error> {
        let name = &self.script.name;
        if !self.state.has("event")? {
            return Err(Error::Fatal(format!("cannot find the event() function in {name}")));
        }
        self.call("init")?;
        let console = &self.settings.console;
        console.say(&crate::report::options(&self.settings));
        console.say("Initializing worker threads...\n\n");
        let pool = self.pool(Task::Events);
        let threads = start(&pool)?;
        let n_threads = self.settings.n_threads;
        let in_time = pool.stage.wait_ready(n_threads, self.settings.init_timeout);
        if !in_time || pool.stage.n_not_begun() > 0 {
            self.control.fail();
            pool.stage.go();
            if self.control.has_lost_statements() {
                return Err(Error::Told);
            }
            return Err(Error::Fatal(if in_time {
                "Thread initialization failed!".to_owned()
            } else {
                let seconds = self.settings.init_timeout.as_secs();
                format!("Worker threads failed to initialize within {seconds} seconds!")
            }));
        }
        console.say("Threads started!\n\n");
        let mut progress = Progress::new(&self.settings, &self.control, &pool.stage, &self.state);
        let end = progress.follow()?;
        if self.control.has_failed() {
            self.call_done();
            return Err(Error::Told);
        }
        if end == End::Whole {
            for thread in threads {
                if thread.join().is_err() {
                    return Err(Error::Fatal("a thread panicked".to_owned()));
                }
            }
            if self.control.all_begun() {
                console.log(Level::Info, "Event limit exceeded, exiting...");
            } else {
                console.log(Level::Info, "Time limit exceeded, exiting...");
            }
            console.log(Level::Info, "Done.\n");
        }
        progress.report_end(name, end)?;
        if end == End::Forced {
            return Ok(FORCED);
        }
        self.call_done();
        Ok(0)
    }

    /// Calls the script's `done`, which changes neither a rate nor how the command ended.
    fn call_done(&self) {
        if let Err(error) = self.call("done") {
            self.settings.console.log(Level::Fatal, &error.to_string());
        }
    }
}

/// The line that begins all output.
pub(crate) fn banner() -> String {
    let rqps = env!("CARGO_PKG_VERSION");
    format!("sysbench {SYSBENCH_VERSION} (rqps {rqps}, using bundled LuaJIT 2.1)\n\n")
}
