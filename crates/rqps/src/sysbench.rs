//! `rqps sysbench`: hands everything that follows to `rqps-sysbench`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use rqps_sysbench::Environment;

/// What follows `sysbench`, be it the name by which rqps was started, as a link may be called, or the first
/// argument. All of it is sysbench's, `--help` included, so that nothing else may read it before.
pub(crate) fn args() -> Option<Vec<String>> {
    args_of(crate::words().collect())
}

fn args_of(mut words: Vec<String>) -> Option<Vec<String>> {
    let is_sysbench = |word: &String| Path::new(word).file_name() == Some(OsStr::new("sysbench"));
    if words.first().is_some_and(is_sysbench) {
        return Some(words.split_off(1));
    }
    let is_first = words.get(1).is_some_and(|word| word == "sysbench");
    is_first.then(|| words.split_off(2))
}

/// Runs a command line of sysbench.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let (out, err) = (Box::new(std::io::stdout()), Box::new(std::io::stderr()));
    ExitCode::from(rqps_sysbench::run(args, &environment(), out, err))
}

/// What sysbench's client libraries and Lua read.
fn environment() -> Environment {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::effective());
    Environment {
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        user: user.ok().flatten().map(|user| user.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_named_sysbench_is_sysbench() {
        let args = |text: &str| {
            let words = text.split_whitespace().map(str::to_owned).collect();
            args_of(words).map(|args| args.join(" "))
        };
        assert_eq!(
            args("/usr/local/bin/sysbench ./tpcc.lua run").as_deref(),
            Some("./tpcc.lua run")
        );
        assert_eq!(args("sysbench").as_deref(), Some(""));
        assert_eq!(args("sysbench sysbench run").as_deref(), Some("sysbench run"));
        assert_eq!(args("rqps sysbench ./a.lua run").as_deref(), Some("./a.lua run"));
        assert_eq!(args("rqps run sysbench"), None);
        assert_eq!(args("rqps"), None);
    }
}
