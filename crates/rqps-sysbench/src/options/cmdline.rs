//! The command line: options, the test's name, the command.

use super::file;
use super::{Given, Options};
use crate::Error;

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandLine {
    /// The options, those of a file included.
    pub(crate) options: Options,
    /// A built-in test's name or a script's path; `None` or `-` is a script on standard input.
    pub(crate) test: Option<String>,
    /// What to do with it.
    pub(crate) command: Option<String>,
    /// Things to tell the user before anything else, on standard error.
    pub(crate) warnings: Vec<String>,
    /// The same on standard output.
    pub(crate) deprecated: Vec<String>,
    /// All words but the program's name.
    pub(crate) words: Vec<String>,
}

/// Older names of options, and what stands for them, in the order in which sysbench warns of them.
const RENAMED: [(&str, &str); 4] = [
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
];

/// Options that are switches in sysbench 1.0, where a name alone is on, and modes in 1.1.
const ONCE_SWITCHES: [&str; 2] = ["mysql-ssl", "mysql-compression"];

/// Reads the words after the program's name. The command line goes before the file of options.
///
/// # Errors
/// A word too many, or a value that is not of its option's kind.
pub(crate) fn parse(words: &[String]) -> Result<CommandLine, Error> {
    let mut line = CommandLine { words: words.to_vec(), ..CommandLine::default() };
    let mut places = Vec::new();
    for word in words {
        match word.strip_prefix("--") {
            Some(option) if !option.is_empty() => {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (option, None),
                };
                line.take_option(name, value, word);
            }
            _ => places.push(word.clone()),
        }
    }
    let mut places = places.into_iter();
    if line.test.is_none() {
        line.test = places.next();
    }
    line.command = places.next();
    if let Some(extra) = places.next() {
        return Err(Error::ExtraArgument { word: extra });
    }
    let mut options = std::mem::take(&mut line.options);
    line.rename(&mut options);
    line.options = options;
    line.read_file()?;
    line.options.check()?;
    Ok(line)
}

impl CommandLine {
    fn take_option(&mut self, name: &str, value: Option<String>, typed: &str) {
        if name == "test" {
            self.warnings.push(
                "WARNING: the --test option is deprecated. You can pass a script name or path on \
                 the command line without any options."
                    .to_owned(),
            );
            self.test = value;
            return;
        }
        let given = Given { value, typed: typed.to_owned(), on_command_line: true };
        self.options.set(name, given.meaning(name));
    }

    fn read_file(&mut self) -> Result<(), Error> {
        let path = self.options.text("config_file")?;
        if path.is_empty() {
            return Ok(());
        }
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Error::ReadFile { path: path.clone().into(), source })?;
        let mut of_file = Options::default();
        for (name, value) in file::parse(&text) {
            let typed = format!("{name} (in {path})");
            let given = Given { value, typed, on_command_line: false };
            of_file.set(&name, given.meaning(&name));
        }
        self.rename(&mut of_file);
        for (name, given) in of_file.given() {
            self.options.set_default(name, given.clone());
        }
        Ok(())
    }

    /// Lets older names count under the newer ones, before which they go, as in sysbench. One with its default
    /// counts as not given.
    fn rename(&mut self, options: &mut Options) {
        for (old, new) in RENAMED {
            let default = super::known(old).map(|definition| definition.default_value());
            let is_default = options.built_in(old).ok() == default;
            if let Some(given) = options.get(old).filter(|_| !is_default).cloned() {
                let warning = format!("WARNING: --{old} is deprecated, use --{new} instead");
                self.deprecated.push(warning);
                options.set(new, given);
            }
        }
    }
}

impl Given {
    /// A name alone is on where it is a switch.
    fn meaning(mut self, name: &str) -> Self {
        if self.value.is_none() && ONCE_SWITCHES.contains(&name.replace('_', "-").as_str()) {
            self.value = Some("on".to_owned());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_stand_anywhere() {
        let line = parse(&words("--threads=4 oltp_read_only --table_size=5 run --debug")).unwrap();
        assert_eq!(line.test.as_deref(), Some("oltp_read_only"));
        assert_eq!(line.command.as_deref(), Some("run"));
        assert_eq!(line.options.int("threads").unwrap(), 4);
        assert!(line.options.switch("debug").unwrap());
        assert!(line.options.given().any(|(name, _)| name == "table_size"));
        assert_eq!(line.options.text("mysql_user").unwrap(), "sbtest");
    }

    #[test]
    fn older_names() {
        let line = parse(&words("--test=a.lua --max-time=3 --num-threads=2 run")).unwrap();
        assert_eq!((line.test.as_deref(), line.command.as_deref()), (Some("a.lua"), Some("run")));
        assert_eq!(line.options.int("time").unwrap(), 3);
        assert_eq!(line.options.int("threads").unwrap(), 2);
        assert_eq!((line.warnings.len(), line.deprecated.len()), (1, 2));
        let line = parse(&words("--num-threads=3 --threads=2")).unwrap();
        assert_eq!(line.options.int("threads").unwrap(), 3, "as in sysbench");
        let line =
            parse(&words("--num-threads=1 --threads=2 --max-requests=0 --tx-rate=0")).unwrap();
        assert_eq!((line.options.int("threads").unwrap(), line.deprecated.len()), (2, 0));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let said = |text: &str| parse(&words(text)).unwrap_err().to_string();
        assert_eq!(said("a.lua run more"), "Unrecognized command line argument: more");
        assert_eq!(said("--threads=abc"), "Invalid value for the 'threads' option: 'abc'");
    }

    #[test]
    fn the_command_line_goes_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("options");
        std::fs::write(&path, "# a comment\nthreads=2\ntime = 7\nhistogram\n").unwrap();
        let file = format!("--config-file={}", path.display());
        let line = parse(&["--threads=3".to_owned(), file]).unwrap();
        assert_eq!(line.options.int("threads").unwrap(), 3);
        assert_eq!(line.options.int("time").unwrap(), 7);
        assert!(line.options.switch("histogram").unwrap());
        std::fs::write(&path, "num-threads=2\nnum-threads=4\nmysql-ssl\n").unwrap();
        let file = format!("--config-file={}", path.display());
        let line = parse(&[file]).unwrap();
        assert_eq!(line.options.int("threads").unwrap(), 4, "older names count in files too");
        assert_eq!(line.options.text("mysql-ssl").unwrap(), "on");
        assert!(parse(&["--config-file=/nonexistent/x".to_owned()]).is_err());
    }
}
