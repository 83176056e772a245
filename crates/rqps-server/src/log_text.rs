//! What servers write to their logs, read: the last lines, and options that they do not know.

/// The last `n` lines of a text, without empty lines.
#[must_use]
pub fn tail(text: &str, n: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(n)..].join("\n")
}

/// A text without the escape sequences that colour it on a terminal (ECMA-48: `ESC [ ... m`).
#[must_use]
pub fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut plain, part| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        plain.push_str(match end {
            Some(end) if part[end..].starts_with('m') => &part[end + 1..],
            _ => part,
        });
        plain
    })
}

/// What explains a failure in a log: its first ten errors and its last `n` lines, without the plugins
/// that MySQL 5.6 shuts down one by one; `...` stands for omitted lines between.
#[must_use]
pub fn telling(log: &str, n: usize) -> String {
    let noise = |line: &&str| line.trim().is_empty() || line.contains("Shutting down plugin");
    let lines: Vec<&str> = log.lines().filter(|line| !noise(line)).collect();
    let tail = lines.len().saturating_sub(n);
    let is_error = |line: &str| ["[ERROR]", "FATAL:", "PANIC:"].iter().any(|e| line.contains(e));
    let errors = lines[..tail].iter().copied().filter(|line| is_error(line)).take(10);
    let mut shown: Vec<&str> = errors.collect();
    if !shown.is_empty() {
        shown.push("...");
    }
    shown.extend(&lines[tail..]);
    shown.join("\n")
}

/// An option that the server does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The option, as it was written.
    pub option: String,
    /// The line of the log.
    pub line: String,
}

/// The first option that a log says is unknown.
///
/// MySQL and MariaDB: `unknown variable 'x=1'`, `unknown option '--x'` (the same since 5.5; 8.0 adds
/// a code and a full stop). PostgreSQL: `unrecognized configuration parameter "x"`. A warning is of an option that a
/// server may lack (`loose-`).
#[must_use]
pub fn unknown_option(log: &str) -> Option<Unknown> {
    log.lines().filter(|line| !line.contains("[Warning]")).find_map(|line| {
        let option = quoted_after(line, "unknown variable '", '\'')
            .or_else(|| quoted_after(line, "unknown option '", '\''))
            .or_else(|| quoted_after(line, "unrecognized configuration parameter \"", '"'))?;
        let name = option.trim_start_matches("--").split('=').next().unwrap_or(option);
        Some(Unknown { option: name.to_owned(), line: line.trim().to_owned() })
    })
}

fn quoted_after<'a>(line: &'a str, start: &str, end: char) -> Option<&'a str> {
    let rest = line.split_once(start)?.1;
    rest.split(end).next().filter(|option| !option.is_empty())
}

/// A shared library that the dynamic linker did not find, or a version of one: `libaio.so.1`,
/// `GLIBC_2.38`.
#[must_use]
pub fn missing_library(log: &str) -> Option<&str> {
    log.lines().find_map(|line| {
        // ld.so's own words, glibc elf/dl-load.c and elf/dl-version.c; the same since 2.0.
        let library =
            line.split_once("error while loading shared libraries: ").and_then(|(_, rest)| {
                let (name, why) = rest.split_once(": ")?;
                why.contains("cannot open shared object file").then_some(name)
            });
        let version =
            || quoted_after(line, ": version `", '\'').filter(|_| line.contains("not found"));
        library.or_else(version)
    })
}

/// The last line in which a server says that a signal ended it or one of its processes.
///
/// MySQL and MariaDB catch the signal themselves, `mysqld got signal 11 ;`, and may exit with a code after it
/// (sql/signal_handler.cc); PostgreSQL's postmaster tells of its children: `server process (PID 7) was
/// terminated by signal 11: Segmentation fault`.
#[must_use]
pub fn signal_told(log: &str) -> Option<&str> {
    let signs = [" got signal ", " was terminated by signal "];
    let is_one = |line: &&str| signs.iter().any(|sign| line.contains(sign));
    log.lines().rev().find(is_one).map(str::trim)
}

/// Whether a server failed because its file system is full: ENOSPC by name or by number (28).
#[must_use]
pub fn says_disk_full(log: &str) -> bool {
    let signs = [
        "No space left on device",
        "error number 28 ",
        "with error 28",
        "errno: 28",
        "OS errno 28",
        // 5.6 reports a short write with the wrong number.
        "bytes should have been written, only",
    ];
    signs.iter().any(|sign| log.contains(sign))
}

/// Whether a server failed because it got no memory: ENOMEM by name, which InnoDB also says of its buffer
/// pool (`Cannot allocate memory for the buffer pool`).
#[must_use]
pub fn says_no_memory(log: &str) -> bool {
    log.contains("annot allocate memory")
}

/// Lines that say that the server took another value than it was given: `option 'x': unsigned
/// value 1 adjusted to 1024`, `Changed limits: max_open_files: 1024`, and 5.5's `ignoring option
/// '--x' due to invalid value 'ON'`.
#[must_use]
pub fn adjusted_values(log: &str) -> Vec<String> {
    log.lines()
        .filter(|line| {
            let signs = [" adjusted to ", "Changed limits:", "due to invalid value"];
            signs.iter().any(|sign| line.contains(sign))
        })
        .map(|line| line.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go() {
        assert_eq!(plain("\u{1b}[1;31mERROR\u{1b}[m at \u{1b}[0mx"), "ERROR at x");
        assert_eq!(plain("a\u{1b}[2Kb\u{1b}["), "a2Kb");
    }

    #[test]
    fn tail_gives_the_last_lines() {
        assert_eq!(tail("a\n\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 20), "a");
        assert_eq!(tail("", 3), "");
    }

    #[test]
    fn telling_keeps_errors_that_are_far_up() {
        let mut log = String::from("start\n1 [ERROR] no ibdata1\n");
        for i in 0..30 {
            log.push_str(&format!("[Note] Shutting down plugin 'p{i}'\n"));
        }
        log.push_str("a\nb\n\nc\n");
        assert_eq!(telling(&log, 2), "1 [ERROR] no ibdata1\n...\nb\nc");
        assert_eq!(telling(&log, 20), "start\n1 [ERROR] no ibdata1\na\nb\nc");
    }

    #[test]
    fn finds_unknown_options_of_all_servers() {
        for (line, option) in [
            (
                "2026-11-21 20:00:00 123 [ERROR] /p/bin/mysqld: unknown variable 'innodb_nope=1'",
                "innodb_nope",
            ),
            ("2026-11-21 20:00:00 140 [ERROR] mysqld: unknown option '--nope'", "nope"),
            (
                "2026-11-21T20:00:00.1Z 0 [ERROR] [MY-000067] [Server] unknown variable 'innodb_nope=1'.",
                "innodb_nope",
            ),
            (
                "2026-11-21 20:00:00 0 [ERROR] /p/bin/mariadbd: unknown variable 'innodb_nope=1'",
                "innodb_nope",
            ),
            (
                "2026-11-21 20:00:00 UTC [1] LOG:  unrecognized configuration parameter \"nope\" in file \"/d/rqps.conf\" line 3",
                "nope",
            ),
        ] {
            let log = format!("starting\n{line}\nAborting");
            let unknown = unknown_option(&log).unwrap();
            assert_eq!((unknown.option.as_str(), unknown.line.as_str()), (option, line));
        }
        assert_eq!(unknown_option("[Warning] option 'x': unsigned value 1 adjusted to 2"), None);
        let loose = "0 [Warning] [MY-000067] [Server] unknown variable 'loose-nope=1'.";
        assert_eq!(unknown_option(loose), None);
        assert_eq!(unknown_option("unknown variable '"), None);
    }

    #[test]
    fn finds_what_the_dynamic_linker_misses() {
        let log = "x\n/p/bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open \
                   shared object file: No such file or directory\n";
        assert_eq!(missing_library(log), Some("libaio.so.1"));
        let log = "/p/bin/mysqld: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found \
                   (required by /p/bin/mysqld)";
        assert_eq!(missing_library(log), Some("GLIBC_2.38"));
        assert_eq!(missing_library("[Note] mysqld: version `x' is new"), None);
    }

    #[test]
    fn finds_signals_that_servers_tell_of() {
        let line = "2026-11-24T10:00:00Z UTC - mysqld got signal 11 ;";
        let log = format!("ready\n{line}\nMost likely, you have hit a bug\n");
        assert_eq!(signal_told(&log), Some(line));
        let line = "LOG:  server process (PID 7) was terminated by signal 6: Aborted";
        assert_eq!(signal_told(&format!("{line}\nLOG:  terminating any other\n")), Some(line));
        assert_eq!(signal_told("LOG:  received fast shutdown request\n"), None);
    }

    #[test]
    fn knows_a_full_disk() {
        assert!(says_disk_full("PANIC: could not write to file: No space left on device"));
        assert!(says_disk_full("InnoDB: Operating system error number 28 in a file operation."));
        assert!(!says_disk_full("error number 280"));
    }

    #[test]
    fn knows_a_lack_of_memory() {
        let line = "FATAL:  could not map anonymous shared memory: Cannot allocate memory";
        assert!(says_no_memory(line));
        assert!(says_no_memory("InnoDB: Fatal error: cannot allocate memory for the buffer pool"));
        assert!(!says_no_memory("InnoDB: page is corrupted"));
    }

    #[test]
    fn finds_values_that_were_adjusted() {
        let log = "a\n [Warning] option 'x': unsigned value 1 adjusted to 1024\nb";
        assert_eq!(
            adjusted_values(log),
            ["[Warning] option 'x': unsigned value 1 adjusted to 1024"]
        );
    }
}
