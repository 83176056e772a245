//! The command that repeats one step of a run.

use crate::words::one_line;

/// A run's own command with `--steps` narrowed to one step, where the run has several numbers of clients with
/// `clients` of them, and with its seed, so that rows and events are the same:
/// `rqps run demo.toml --steps scan --seed 42`.
///
/// A run whose command is not known gets the form that needs the plan as a file.
pub(crate) fn command(
    command_line: &str,
    seed: u64,
    step_name: &str,
    clients: Option<u32>,
) -> String {
    let words = words(command_line);
    let arguments = match words.iter().position(|w| w == "run") {
        Some(at) => {
            let others = without("--steps", &words[at + 1..]);
            if clients.is_some() { without("--clients", &others) } else { others }
        }
        None => vec!["PLAN.toml".to_owned()],
    };
    let clients = clients.map(|n| n.to_string());
    let seed = seed.to_string();
    let is_seeded = arguments.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let own: &[&str] = if is_seeded { &[] } else { &["--seed", &seed] };
    let clients = clients.iter().flat_map(|n| ["--clients", n.as_str()]);
    let own = ["--steps", step_name].into_iter().chain(clients).chain(own.iter().copied());
    let mut out = String::from("rqps run");
    for word in arguments.iter().map(String::as_str).chain(own) {
        out.push(' ');
        out.push_str(&quoted(word));
    }
    out
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
    fn steps_are_replaced() {
        let arguments = words("demo.toml --steps 'range-*' --size tiny --steps=x");
        assert_eq!(without("--steps", &arguments), ["demo.toml", "--size", "tiny"]);
        assert_eq!(
            command("rqps run a.toml --clients 1,4", 42, "scan", Some(4)),
            "rqps run a.toml --steps scan --clients 4 --seed 42"
        );
    }
}
