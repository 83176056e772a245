//! The commands that repeat one step of a run, and how such a step differs from the run.

use rqps_model::{StepInfo, StepKind};

use crate::command::shown;
use rqps_analysis::{Analysis, StepAnalysis};

/// A command that repeats a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat<'a> {
    /// The id of the run whose systems it measures, where there are several runs.
    pub run: Option<&'a str>,
    /// The command.
    pub command: String,
}

/// The command that measures a step again. Of joined runs one for each that has the step, that of
/// the base's run first. None for imported runs.
#[must_use]
pub fn commands<'a>(analysis: &'a Analysis<'_>, step: &StepAnalysis<'_>) -> Vec<Repeat<'a>> {
    let run = analysis.run;
    let clients = analysis.clients_of(step);
    let narrowed = |typed: &[String], seed: u64| command(typed, seed, &step.step.info, clients);
    let Some(joined) = analysis.joined else {
        let own = || Repeat { run: None, command: narrowed(&run.command_line, run.seed) };
        return (!analysis.is_all_imported()).then(own).into_iter().collect();
    };
    let of = |at: usize| {
        let source = joined.sources.get(at)?;
        let first = joined.origins.iter().position(|&origin| origin == at)?;
        let is_own = !analysis.is_imported(first) && joined.has_step(&step.step, first);
        let command = || narrowed(&source.command_line, source.seed);
        is_own.then(|| Repeat { run: Some(source.id.as_str()), command: command() })
    };
    let of_base = joined.origins.get(analysis.base).copied();
    let others = (0..joined.sources.len()).filter(|&at| Some(at) != of_base);
    of_base.into_iter().chain(others).filter_map(of).collect()
}

/// A run's own command with its steps narrowed to one, where the run has several numbers of clients with
/// `clients` of them, and with its seed, so that rows and events are the same:
/// `rqps run demo.toml --steps scan --seed 42`, `rqps profile scan --systems 'mysql@5.6.14,mysql@8.0.33' --seed 42`.
/// Options that were typed before `run` stay there. `rqps profile` takes only steps whose stacks can be recorded:
/// what else it measured comes with the steps that were typed.
///
/// A run whose command is not known gets the form that needs the plan as a file.
fn command(words: &[String], seed: u64, info: &StepInfo, clients: Option<u32>) -> String {
    let (before, after) = around_subcommand(words);
    let step_name = info.name.as_str();
    let can_be_alone = matches!(info.kind, StepKind::Read | StepKind::Write | StepKind::Insert);
    let narrowed = |arguments: &[String]| match clients {
        Some(_) => without("--clients", arguments),
        None => arguments.to_vec(),
    };
    let (subcommand, mut own, arguments) = match after {
        [subcommand, arguments @ ..] if subcommand == "run" => {
            ("run", vec!["--steps", step_name], narrowed(&without("--steps", arguments)))
        }
        [subcommand, arguments @ ..] if subcommand == "profile" && can_be_alone => {
            let others = without_steps(arguments);
            let named = [vec![step_name.to_owned()], narrowed(&others)].concat();
            ("profile", Vec::new(), named)
        }
        [subcommand, arguments @ ..] if subcommand == "profile" => {
            ("profile", Vec::new(), narrowed(arguments))
        }
        _ => ("run", vec!["--steps", step_name], vec!["PLAN.toml".to_owned()]),
    };
    let (clients, seed) = (clients.map(|n| n.to_string()), seed.to_string());
    own.extend(clients.iter().flat_map(|n| ["--clients", n.as_str()]));
    let is_seeded = arguments.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    if !is_seeded {
        own.extend(["--seed", seed.as_str()]);
    }
    let mut out = String::from("rqps");
    let typed = before.iter().map(String::as_str).chain([subcommand]);
    for word in typed.chain(arguments.iter().map(String::as_str)).chain(own) {
        out.push(' ');
        out.push_str(&shown(word));
    }
    out
}

/// The difference between a step that is repeated alone and the step in the run, in a sentence:
/// rqps fills new tables and skips earlier steps. `None` where no earlier step wrote to the tables.
/// `step_idx` is the step's place in the analysis.
#[must_use]
pub fn caution(analysis: &Analysis<'_>, step_idx: usize) -> Option<&'static str> {
    let before = analysis.steps.get(..step_idx)?;
    follows_writes(before.iter().map(|step| &step.step.info)).then_some(
        "Alone, the step begins on newly filled tables; in the run, steps that write came before it.",
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

/// The arguments of `rqps profile` without its steps, which are what belongs to no option. All options but two take
/// a value.
fn without_steps(arguments: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            // Steps alone follow it.
            "--" => break,
            "--new" | "--no-html" => out.push(word.clone()),
            option if option.starts_with('-') => {
                out.push(word.clone());
                if !option.contains('=') {
                    out.extend(arguments.next().cloned());
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use rqps_model::{Figure, Group};

    use super::*;

    fn info(name: &str, kind: StepKind) -> StepInfo {
        StepInfo {
            name: name.to_owned(),
            family: name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
            n: None,
            kind,
            group: Group::Other,
            figure: Figure::Queries,
            what: String::new(),
        }
    }

    fn words(typed: &str) -> Vec<String> {
        shlex::split(typed).unwrap()
    }

    /// The command that repeats a step of a kind.
    fn of(typed: &str, seed: u64, kind: StepKind, clients: Option<u32>) -> String {
        command(&words(typed), seed, &info("scan", kind), clients)
    }

    /// The command that repeats the step `scan`, which reads.
    fn scan(typed: &str, seed: u64) -> String {
        of(typed, seed, StepKind::Read, None)
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shown("scan"), "scan");
        assert_eq!(shown("range-*"), "'range-*'");
        for word in ["", "it's", "a b", "{a,b}", "$x!", "~", "\\", "a=b"] {
            assert_eq!(words(&shown(word)), [word], "{word}");
        }
    }

    #[test]
    fn the_seed_is_that_of_the_run() {
        assert_eq!(scan("rqps run a.toml", 42), "rqps run a.toml --steps scan --seed 42");
        let seeded = scan("rqps run a.toml --seed 7", 7);
        assert_eq!(seeded, "rqps run a.toml --seed 7 --steps scan");
    }

    #[test]
    fn options_before_the_subcommand_stay_there() {
        assert_eq!(
            scan("rqps --results /data/r --cache=c run a.toml --results x", 42),
            "rqps --results /data/r '--cache=c' run a.toml --results x --steps scan --seed 42"
        );
        // A directory may have the subcommand's name, or one with a blank.
        assert_eq!(
            scan("rqps --results run run a.toml --seed 1", 1),
            "rqps --results run run a.toml --seed 1 --steps scan"
        );
        assert_eq!(
            scan("rqps --results 'my runs' import sysbench log", 42),
            "rqps --results 'my runs' run PLAN.toml --steps scan --seed 42"
        );
        for unknown in ["", "rqps", "rqps --results", "other words"] {
            let shown = scan(unknown, 42);
            assert!(shown.ends_with("run PLAN.toml --steps scan --seed 42"), "{shown}");
        }
    }

    #[test]
    fn a_step_after_writes_is_another_one_alone() {
        use StepKind::{Index, Insert, Load, Mixed, Read, Write};
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
            of("rqps run a.toml --clients 1,4", 42, StepKind::Read, Some(4)),
            "rqps run a.toml --steps scan --clients 4 --seed 42"
        );
    }

    #[test]
    fn steps_of_a_profile_are_replaced() {
        for (typed, wanted) in [
            ("rqps profile scan --systems a@1,b@2", "profile scan --systems 'a@1,b@2' --seed 42"),
            (
                "rqps profile --plan p.toml 'range-*' scan --seconds=3 --new points",
                "profile scan --plan p.toml '--seconds=3' --new --seed 42",
            ),
            (
                "rqps --cache c profile --base a@1 --vs b@2 --seed 7 --no-html -- 'points-*' scan",
                "--cache c profile scan --base a@1 --vs b@2 --seed 7 --no-html",
            ),
            (
                "rqps profile scan --base 'mysql://u@h/db?password_env=P' --vs b@2",
                "profile scan --base 'mysql://u@h/db?password_env=P' --vs b@2 --seed 42",
            ),
        ] {
            assert_eq!(scan(typed, 42), format!("rqps {wanted}"));
        }
        let typed = "rqps profile 'points-*' --clients 1,4 --plan p.toml";
        assert_eq!(
            of(typed, 42, StepKind::Write, Some(4)),
            "rqps profile scan --plan p.toml --clients 4 --seed 42"
        );
        // Of a load no stacks are recorded.
        assert_eq!(
            of(typed, 42, StepKind::Load, None),
            "rqps profile 'points-*' --clients '1,4' --plan p.toml --seed 42"
        );
    }
}
