//! The command that repeats one step of a run, and what is then not as it was in the run.

use rqps_model::{StepInfo, StepKind};

use crate::analysis::Analysis;
use crate::words::one_line;

/// A run's own command with `--steps` narrowed to one step, where the run has several numbers of clients with
/// `clients` of them, and with its seed, so that rows and events are the same:
/// `rqps run demo.toml --steps scan --seed 42`. Options that were typed before `run` stay there.
///
/// A run whose command is not known gets the form that needs the plan as a file.
pub(crate) fn command(
    command_line: &str,
    seed: u64,
    step_name: &str,
    clients: Option<u32>,
) -> String {
    let words = words(command_line);
    let (before, after) = around_subcommand(&words);
    let arguments = match after {
        [subcommand, arguments @ ..] if subcommand == "run" => {
            let others = without("--steps", arguments);
            if clients.is_some() { without("--clients", &others) } else { others }
        }
        _ => vec!["PLAN.toml".to_owned()],
    };
    let clients = clients.map(|n| n.to_string());
    let seed = seed.to_string();
    let is_seeded = arguments.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let own: &[&str] = if is_seeded { &[] } else { &["--seed", &seed] };
    let clients = clients.iter().flat_map(|n| ["--clients", n.as_str()]);
    let own = ["--steps", step_name].into_iter().chain(clients).chain(own.iter().copied());
    let mut out = String::from("rqps");
    let typed = before.iter().map(String::as_str).chain(["run"]);
    for word in typed.chain(arguments.iter().map(String::as_str)).chain(own) {
        out.push(' ');
        out.push_str(&quoted(word));
    }
    out
}

/// What a step that is repeated alone finds otherwise than in the run, in a sentence: rqps fills the tables
/// anew and leaves out the steps before it. `None` where none of them wrote since the tables were filled. The
/// step is named by its place among those of the analysis.
pub(crate) fn caution(analysis: &Analysis<'_>, step_idx: usize) -> Option<&'static str> {
    let before = analysis.steps.get(..step_idx)?;
    follows_writes(before.iter().map(|step| &step.step.info)).then_some(
        "Alone, the step begins on tables that were just filled; in the run, steps that write came before it.",
    )
}

/// Whether any of the steps wrote after the last one that filled the tables.
fn follows_writes<'a>(before: impl DoubleEndedIterator<Item = &'a StepInfo>) -> bool {
    let writes =
        |info: &StepInfo| matches!(info.kind, StepKind::Write | StepKind::Insert | StepKind::Mixed);
    before.rev().take_while(|info| !info.fills_tables()).any(writes)
}

/// The words between the program and the subcommand, and the rest with the subcommand first. All options that
/// may stand there take a value.
fn around_subcommand(words: &[String]) -> (&[String], &[String]) {
    let words = words.get(1..).unwrap_or_default();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if word.contains('=') { 1 } else { 2 };
    }
    words.split_at(at.min(words.len()))
}

/// The arguments without an option and its value.
fn without(option: &str, arguments: &[String]) -> Vec<String> {
    let with_value = format!("{option}=");
    let mut out = Vec::new();
    let mut skip = false;
    for word in arguments {
        if std::mem::take(&mut skip) || word.starts_with(&with_value) {
            continue;
        }
        if word == option {
            skip = true;
            continue;
        }
        out.push(word.clone());
    }
    out
}

/// Splits a command as a POSIX shell does, as far as quotes and backslashes go.
fn words(command: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => out.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

/// `word` as a POSIX shell takes it for one word.
pub(crate) fn quoted(word: &str) -> String {
    let word = one_line(word);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::{Figure, Group};

    use super::*;

    #[test]
    fn splits_and_quotes_like_a_shell() {
        assert_eq!(words(r#"a 'b c' "d\"e" f\ g ''"#), ["a", "b c", "d\"e", "f g", ""]);
        assert_eq!(quoted("scan"), "scan");
        assert_eq!(quoted("range-*"), "'range-*'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn the_seed_is_that_of_the_run() {
        assert_eq!(
            command("rqps run a.toml", 42, "scan", None),
            "rqps run a.toml --steps scan --seed 42"
        );
        let seeded = command("rqps run a.toml --seed 7", 7, "scan", None);
        assert_eq!(seeded, "rqps run a.toml --seed 7 --steps scan");
    }

    #[test]
    fn options_before_the_subcommand_stay_there() {
        assert_eq!(
            command("rqps --results /data/r --cache=c run a.toml --results x", 42, "scan", None),
            "rqps --results /data/r --cache=c run a.toml --results x --steps scan --seed 42"
        );
        // A directory may have the subcommand's name, or one with a blank.
        assert_eq!(
            command("rqps --results run run a.toml --seed 1", 1, "scan", None),
            "rqps --results run run a.toml --seed 1 --steps scan"
        );
        assert_eq!(
            command("rqps --results 'my runs' profile scan", 42, "scan", None),
            "rqps --results 'my runs' run PLAN.toml --steps scan --seed 42"
        );
        for unknown in ["", "rqps", "rqps --results", "other words"] {
            let shown = command(unknown, 42, "scan", None);
            assert!(shown.ends_with("run PLAN.toml --steps scan --seed 42"), "{shown}");
        }
    }

    #[test]
    fn a_step_after_writes_is_another_one_alone() {
        use StepKind::{Index, Insert, Load, Mixed, Read, Write};
        let info = |name: &str, kind| StepInfo {
            name: name.to_owned(),
            family: name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
            n: None,
            kind,
            group: Group::Other,
            figure: Figure::Queries,
            what: String::new(),
        };
        let after = |steps: &[(&str, StepKind)]| {
            let infos: Vec<StepInfo> = steps.iter().map(|&(name, kind)| info(name, kind)).collect();
            follows_writes(infos.iter())
        };
        assert!(!after(&[]));
        assert!(!after(&[("load", Load), ("point-query.pre", Read)]));
        assert!(after(&[("load", Load), ("update-index", Write), ("scan", Read)]));
        // Tables of another suite, or of another start of the servers.
        assert!(!after(&[("insert", Insert), ("load", Load)]));
        assert!(!after(&[("l.i0", Insert), ("l.x", Index)]));
        assert!(after(&[("l.i0", Insert), ("l.x", Index), ("l.i1", Insert)]));
        assert!(after(&[("l.i0", Insert), ("l.x", Index), ("qr100", Mixed)]));
    }

    #[test]
    fn steps_are_replaced() {
        let arguments = words("demo.toml --steps 'range-*' --size tiny --steps=x");
        assert_eq!(without("--steps", &arguments), ["demo.toml", "--size", "tiny"]);
        assert_eq!(
            command("rqps run a.toml --clients 1,4", 42, "scan", Some(4)),
            "rqps run a.toml --steps scan --clients 4 --seed 42"
        );
    }
}
