//! The command that repeats one step of a run.

use crate::words::one_line;

/// A run's own command with `--steps` narrowed to one step and with its seed, so that rows and events are
/// the same: `rqps run demo.toml --steps scan --seed 42`.
///
/// A run whose command is not known gets the form that needs the plan as a file.
pub(crate) fn command(command_line: &str, seed: u64, step_name: &str) -> String {
    let words = words(command_line);
    let arguments = match words.iter().position(|w| w == "run") {
        Some(at) => without_steps(&words[at + 1..]),
        None => vec!["PLAN.toml".to_owned()],
    };
    let seed = seed.to_string();
    let is_seeded = arguments.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let own: &[&str] = if is_seeded { &[] } else { &["--seed", &seed] };
    let own = ["--steps", step_name].into_iter().chain(own.iter().copied());
    let mut out = String::from("rqps run");
    for word in arguments.iter().map(String::as_str).chain(own) {
        out.push(' ');
        out.push_str(&quoted(word));
    }
    out
}

fn without_steps(arguments: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut skip = false;
    for word in arguments {
        if std::mem::take(&mut skip) || word.starts_with("--steps=") {
            continue;
        }
        if word == "--steps" {
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
            command("rqps run a.toml", 42, "scan"),
            "rqps run a.toml --steps scan --seed 42"
        );
        let seeded = command("rqps run a.toml --seed 7", 7, "scan");
        assert_eq!(seeded, "rqps run a.toml --seed 7 --steps scan");
    }

    #[test]
    fn steps_are_replaced() {
        let arguments = words("demo.toml --steps 'range-*' --size tiny --steps=x");
        assert_eq!(without_steps(&arguments), ["demo.toml", "--size", "tiny"]);
    }
}
