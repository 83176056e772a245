//! `rqps sysbench`: takes the place of the program sysbench 1.0.20 for MySQL and PostgreSQL: its command
//! line, its Lua scripts, its output.
//!
//! Written from sysbench's public documentation and from what the program does and prints; its source
//! and its scripts are GPL and no part of this. A script gets a LuaJIT state per thread (`lua`), in
//! which compiled Lua code calls plain functions (`lua::border`) that act on the thread's `worker`.
//! This crate prints through the streams that it is given and reads no environment.

mod builtin;
mod console;
mod environment;
mod error;
mod histogram;
mod lua;
mod options;
mod random;
mod report;
mod run;
mod settings;
mod sql;
mod tally;
mod worker;

pub use console::Stream;
pub use environment::Environment;
pub use error::Error;

use console::{Console, Level};
use lua::SYSBENCH_VERSION;
use options::{cmdline, help};
use settings::Settings;

/// Exit code of everything that went wrong, as sysbench's.
const FAILED: u8 = 1;

/// What is said of a run without an end, as sysbench says it.
const ENDLESS: &str = "WARNING: Both event and time limits are disabled, running an endless test\n";

/// Carries out a command line of sysbench (`words`, without the program's name) in an environment, printing to
/// the two streams. The exit code: 0 fine, 1 a failure, 2 unfinished events given up at `--forced-shutdown`.
pub fn run(words: &[String], environment: &Environment, out: Stream, err: Stream) -> u8 {
    let console = Console::new(out, err);
    match carry_out(words, environment, &console) {
        Ok(code) => code,
        Err(error) => {
            tell(&console, &error);
            FAILED
        }
    }
}

/// Tells an error where sysbench tells it: what is fatal on standard output, the rest on standard error.
fn tell(console: &Console, error: &Error) {
    match error {
        Error::Told => {}
        Error::Fatal(text) => console.log(Level::Fatal, text),
        other => console.complain(&other.to_string()),
    }
}

fn carry_out(words: &[String], environment: &Environment, console: &Console) -> Result<u8, Error> {
    let line = cmdline::parse(words)?;
    let options = &line.options;
    let verbosity = options.int("verbosity")?;
    if !(0..=Level::Debug as i64).contains(&verbosity) {
        console.write(&format!("Invalid value for verbosity: {verbosity}\n"));
        return Err(Error::Told);
    }
    console.set_verbosity(verbosity);
    if options.switch("debug")? {
        console.set_verbosity(Level::Debug as i64);
    }
    if options.switch("json")? {
        console.set_aside();
    }
    for warning in &line.warnings {
        console.complain(warning);
    }
    for warning in &line.deprecated {
        console.write(&format!("{warning}\n"));
    }
    if options.switch("help")? {
        console.say(&help::general());
        return Ok(0);
    }
    if options.switch("version")? {
        console.write(&format!("sysbench {SYSBENCH_VERSION}\n"));
        return Ok(0);
    }
    let settings = Settings::new(&line, environment, console.clone())?;
    if settings.time.is_none() && settings.limits.max_events == 0 {
        console.write(ENDLESS);
    }
    console.say(&run::banner());
    run::carry_out(&line, settings)
}
