//! `rqps sysbench`: hands everything that follows to `rqps-sysbench`.

use std::process::ExitCode;

/// What follows `sysbench` as the first argument: all of it is sysbench's, `--help` included, so that
/// nothing else may read it before.
pub(crate) fn args() -> Option<Vec<String>> {
    let mut words = crate::words().skip(1);
    words.next().filter(|word| word == "sysbench")?;
    Some(words.collect())
}

/// Runs a command line of sysbench.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let (out, err) = (Box::new(std::io::stdout()), Box::new(std::io::stderr()));
    ExitCode::from(rqps_sysbench::run(args, out, err))
}
