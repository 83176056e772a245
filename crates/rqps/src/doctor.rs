//! `rqps doctor`: what a run needs and this host lacks, and what would disturb its QPS.

mod builds;
mod clients;
mod host;

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::Surroundings;
use crate::output::{print, say, table};

/// How it is with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// No fault, but it decides some rates.
    Note,
    /// A run is possible; something is less than it could be.
    Warning,
    /// Something that is asked for cannot be done.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    /// What: `maven`, `disk: cache`.
    name: String,
    /// How it is.
    state: State,
    /// What was found, with its value.
    found: String,
    /// What it is needed for.
    needed_for: String,
    /// What to do, where it is not wanted so; empty when all is well.
    remedy: String,
    /// Whether a normal run cannot do without.
    required: bool,
}

impl Check {
    fn ok(name: &str, found: impl Into<String>, needed_for: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: State::Ok,
            found: found.into(),
            needed_for: needed_for.to_owned(),
            remedy: String::new(),
            required: false,
        }
    }

    fn note(self, remedy: impl Into<String>) -> Self {
        Self { state: State::Note, remedy: remedy.into(), ..self }
    }

    fn warning(self, remedy: impl Into<String>) -> Self {
        Self { state: State::Warning, remedy: remedy.into(), ..self }
    }

    fn missing(self, remedy: impl Into<String>) -> Self {
        Self { state: State::Missing, remedy: remedy.into(), ..self }
    }

    fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// Looks at everything and prints it: exit code 0 when all is there that a normal run needs, else 2.
pub(crate) fn run(json: bool, around: &Surroundings) -> Result<ExitCode> {
    let mut checks = clients::checks(around)?;
    checks.extend(host::checks(around));
    checks.extend(builds::checks());
    let fine = is_fine(&checks);
    if json {
        let value = serde_json::json!({ "fine": fine, "checks": checks });
        print(&format!("{value:#}\n"))?;
    } else {
        say(&as_text(&checks))?;
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn is_fine(checks: &[Check]) -> bool {
    !checks.iter().any(|check| check.required && check.state == State::Missing)
}

fn as_text(checks: &[Check]) -> String {
    let mut text = String::new();
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|check| {
            let state = match check.state {
                State::Ok => "ok",
                State::Note => "note",
                State::Warning => "warning",
                State::Missing => "MISSING",
            };
            vec![state.to_owned(), check.name.clone(), check.found.clone()]
        })
        .collect();
    let lines = table(&["", "what", "found"], &rows);
    for (line, check) in lines.lines().skip(1).zip(checks) {
        text.push_str(line);
        text.push('\n');
        if check.state != State::Ok {
            text.push_str(&format!("           for: {}\n", check.needed_for));
            text.push_str(&format!("           do:  {}\n", check.remedy));
        }
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let (missing, warnings) = (count(State::Missing), count(State::Warning));
    let end = match (is_fine(checks), missing) {
        (true, 0) => "all that a run needs is here",
        (true, _) => "runs are possible, except those that need what is missing",
        (false, _) => "a run is not possible yet",
    };
    text.push_str(&format!("\n{missing} missing, {warnings} warnings: {end}\n"));
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_is_not_well_says_what_for_and_what_to_do() {
        let checks = [
            Check::ok("maven", "3.8.7", "most servers"),
            Check::ok("npm", "not found", "4 servers").missing("apt-get install npm"),
            Check::ok("load", "6.2 on 2 CPUs", "repeatable QPS").warning("wait"),
            Check::ok("read-ahead", "0 KB", "scans").note("set another"),
        ];
        expect![[r#"
            ok       maven       3.8.7
            MISSING  npm         not found
                       for: 4 servers
                       do:  apt-get install npm
            warning  load        6.2 on 2 CPUs
                       for: repeatable QPS
                       do:  wait
            note     read-ahead  0 KB
                       for: scans
                       do:  set another

            1 missing, 1 warnings: runs are possible, except those that need what is missing
        "#]]
        .assert_eq(&as_text(&checks));
        assert!(is_fine(&checks));
        assert!(!is_fine(&[checks[1].clone().required()]));
    }
}
