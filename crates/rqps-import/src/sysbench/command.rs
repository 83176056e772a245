//! The command that a shell or a script echoed above a log.

use std::collections::BTreeMap;

/// Programs that start another one, which stands behind their own options.
const WRAPPERS: [&str; 14] = [
    "chrt", "env", "exec", "ionice", "nice", "nohup", "numactl", "perf", "setsid", "stdbuf",
    "sudo", "taskset", "time", "timeout",
];

/// How the prompts of shells end: bash, root, zsh, and what stands before continued lines.
const PROMPT_ENDS: [char; 4] = ['$', '#', '%', '>'];

/// Most words of a prompt: `(venv) [user@host dir]$` has three.
const MAX_PROMPT_WORDS: usize = 5;

/// What ends a command within a line.
const OPERATORS: [&str; 6] = ["|", "||", "&", "&&", ";", ">"];

/// A command that runs sysbench or `rqps sysbench`: the words behind its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    words: Vec<String>,
}

impl Command {
    /// Reads a line. A shell that echoes a command puts `+`, `++` or its prompt before it. `None` for any other
    /// line.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        (0..=prompt_words(&words)).rev().find_map(|from| Self::of_words(words.get(from..)?))
    }

    fn of_words(words: &[&str]) -> Option<Self> {
        let is_named = |word: &str| matches!(base_name(word), "sysbench" | "rqps");
        // An option of another program may have a word behind it: `sudo -u mysql`.
        let mut is_after_option = false;
        let mut words = words.iter().copied().skip_while(|word| {
            let is_skipped = is_before_command(word) || (is_after_option && !is_named(word));
            is_after_option = word.starts_with('-');
            is_skipped
        });
        let is_sysbench = match words.next().map(base_name) {
            Some("sysbench") => true,
            Some("rqps") => words.any(|word| word == "sysbench"),
            _ => false,
        };
        let own = words.take_while(|word| !OPERATORS.contains(word));
        let words: Vec<String> = own
            .map(|word| word.trim_matches(['\'', '"']).trim_end_matches([';', '&']).to_owned())
            .collect();
        (is_sysbench && words.iter().any(|word| word == "run")).then_some(Self { words })
    }

    /// The script: `.../oltp_read_only.lua --threads=1 run`, else the first word that is no option.
    pub(super) fn script(&self) -> Option<String> {
        let file = self.words.iter().find(|word| word.ends_with(".lua"));
        let is_name = |word: &&String| !word.starts_with('-') && *word != "run";
        let word = file.or_else(|| self.words.iter().find(is_name))?;
        let name = base_name(word);
        Some(name.strip_suffix(".lua").unwrap_or(name).to_owned())
    }

    /// The driver: `mysql` or `pgsql`.
    pub(super) fn driver(&self) -> Option<String> {
        self.words.iter().find_map(|word| word.strip_prefix("--db-driver=")).map(str::to_owned)
    }

    /// Options with their values, `on` for a name alone; names have `-` and not `_`, which sysbench takes for the
    /// same. The last of several counts, as in sysbench.
    pub(super) fn options(&self) -> BTreeMap<String, String> {
        let options = self.words.iter().filter_map(|word| {
            let word = word.strip_prefix("--").filter(|word| !word.is_empty())?;
            let (name, value) = word.split_once('=').unwrap_or((word, "on"));
            Some((name.replace('_', "-"), value.trim_matches(['\'', '"']).to_owned()))
        });
        options.collect()
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// How many words at the start of a line may be a prompt.
fn prompt_words(words: &[&str]) -> usize {
    let ends = |word: &&str| word.ends_with(PROMPT_ENDS) || word.bytes().all(|b| b == b'+');
    let first = words.iter().take(MAX_PROMPT_WORDS).position(ends);
    first.map_or(0, |at| at + 1)
}

/// Whether a word may stand between a prompt and the command: another program with its options, or a variable.
fn is_before_command(word: &str) -> bool {
    let name = base_name(word);
    let is_variable = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let is_sign = word.bytes().all(|b| b"$#>%+".contains(&b));
    // CPUs, priorities and times: `taskset -c 0-3`, `timeout 10m`.
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    WRAPPERS.contains(&name) || word.starts_with('-') || is_variable || is_sign || is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_programs_before_a_command() {
        for before in [
            "",
            "$ ",
            "# ",
            "+ ",
            "++ ",
            "> ",
            "root@h:~# ",
            "[user@h ~]$ ",
            "[root@db-1 my dir]# ",
            "user@h:/data/x$ ",
            "(venv) user@h:~$ ",
            "h% ",
            "user@h ~ % ",
            "bash-5.1$ ",
            "mysql@h:~> ",
            "root@h:~# time ",
            "$ sudo -u mysql LD_PRELOAD=/usr/lib/libjemalloc.so.2 ",
            "[user@h ~]$ taskset -c 0-3 /usr/bin/",
            "nohup nice -n 5 ",
        ] {
            let line = format!("{before}sysbench --db-driver=mysql lua/mine.lua --threads=4 run");
            let command = Command::parse(&line).unwrap_or_default();
            assert_eq!(command.script().as_deref(), Some("mine"), "{line}");
            assert_eq!(command.driver().as_deref(), Some("mysql"), "{line}");
        }
        for line in [
            "we use sysbench to run a test",
            "root@h:~# echo sysbench oltp_read_only run",
            "root@h:~# cat sysbench run",
            "root@h:~# sysbench oltp_read_only prepare",
            "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)",
            "",
        ] {
            assert_eq!(Command::parse(line), None, "{line}");
        }
    }

    #[test]
    fn what_follows_a_command_is_none_of_it() {
        let command = Command::parse(
            "$ sysbench 'oltp_read_only' --table_size=100 --tables='8' --skip_trx run; | tee --mode=x a.lua",
        )
        .unwrap();
        assert_eq!(command.script().as_deref(), Some("oltp_read_only"));
        let options: Vec<String> =
            command.options().iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(options, ["skip-trx on", "table-size 100", "tables 8"]);
    }
}
