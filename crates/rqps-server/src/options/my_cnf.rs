//! Option files of MySQL and MariaDB, read as their `load_defaults` reads them.
//!
//! MySQL manual, "Using Option Files": groups, `#` and `;` comments, quotes, escapes, `!include` and
//! `!includedir`.

use std::path::Path;

use rqps_model::Version;

use super::{
    FileSettings, OpenFiles, Setting, Written, directory_of, fault, included_files, not_included,
};
use crate::Error;
use crate::dbms::server_files;

/// The groups that count, in lower case.
pub(super) struct Groups {
    server: Vec<String>,
    mysqld_safe: &'static [&'static str],
}

/// Who reads a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Server,
    MysqldSafe,
    Other,
}

impl Groups {
    pub(super) fn new(names: &server_files::Groups, version: &Version) -> Self {
        let series = match version.numbers.as_slice() {
            [major, minor, ..] => format!("{major}.{minor}"),
            _ => version.to_string(),
        };
        let of_series = names.of_series.iter().map(|name| format!("{name}-{series}"));
        let server = names.server.iter().copied().map(str::to_owned).chain(of_series).collect();
        Self { server, mysqld_safe: names.mysqld_safe }
    }

    fn who_reads(&self, group: &str) -> Reads {
        let group = group.trim().to_ascii_lowercase();
        if self.server.contains(&group) {
            Reads::Server
        } else if self.mysqld_safe.contains(&group.as_str()) {
            Reads::MysqldSafe
        } else {
            Reads::Other
        }
    }
}

/// The options of these groups, in the order in which a server meets them.
pub(super) fn read(path: &Path, text: &str, groups: &Groups) -> Result<FileSettings, Error> {
    let settings = FileSettings::default();
    let mut reader = Reader { groups, settings, open: OpenFiles::default() };
    reader.file(path, text)?;
    Ok(reader.settings)
}

struct Reader<'a> {
    groups: &'a Groups,
    settings: FileSettings,
    open: OpenFiles,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        self.open.push(path, text)?;
        // An included file begins outside of every group.
        let mut read_by = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(directive) = line.strip_prefix('!') {
                self.include(directive, path, number)?;
            } else if let Some(rest) = line.strip_prefix('[') {
                let (name, _) = rest.split_once(']').ok_or_else(|| {
                    fault(path, number, format!("the group {line} has no ]; write [mysqld]"))
                })?;
                read_by = Some(self.groups.who_reads(name));
            } else {
                let read_by = read_by.ok_or_else(|| {
                    let detail = format!("{line} is before any group; write [mysqld] above it");
                    fault(path, number, detail)
                })?;
                match read_by {
                    Reads::Server => {
                        let setting = setting(line, path, number);
                        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
                        if !setting.name.chars().all(plain) {
                            let detail =
                                format!("{} is not an option; write NAME = VALUE", setting.name);
                            return Err(fault(path, number, detail));
                        }
                        self.settings.server.push(setting);
                    }
                    Reads::MysqldSafe => {
                        self.settings.mysqld_safe.push(setting(line, path, number));
                    }
                    Reads::Other => {}
                }
            }
        }
        self.open.pop();
        Ok(())
    }

    fn include(&mut self, directive: &str, from: &Path, line: usize) -> Result<(), Error> {
        let word = directive.split_whitespace().next().unwrap_or_default();
        let target = directive[word.len()..].trim();
        let target = directory_of(from).join(target);
        let bad = |detail: String| fault(from, line, detail);
        let files = match word {
            "include" => vec![target.clone()],
            "includedir" => included_files(&target, |name| name.ends_with(".cnf"))
                .map_err(|e| bad(not_included(&format!("!includedir {}", target.display()), &e)))?,
            _ => return Err(bad(format!("!{word} is neither !include nor !includedir"))),
        };
        for file in files {
            let text = self.open.read_included(&file, from, line)?;
            self.file(&file, &text)?;
        }
        Ok(())
    }
}

/// `name = value # comment`, the value in quotes or not, with escapes.
fn setting(line: &str, path: &Path, number: usize) -> Setting {
    let line = without_comment(line).trim_end();
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name, Some(unescape(unquote(value.trim())))),
        None => (line, None),
    };
    Setting {
        name: name.trim().to_owned(),
        value,
        written: Written::File { path: path.to_owned(), line: number },
    }
}

/// A line up to the first `#` that stands in no quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match c {
            '\'' | '"' if !is_escaped => match quote {
                Some(open) if open == c => quote = None,
                Some(_) => {}
                None => quote = Some(c),
            },
            '#' if quote.is_none() => return &line[..at],
            _ => {}
        }
        is_escaped = quote.is_some() && c == '\\' && !is_escaped;
    }
    line
}

fn unquote(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    // A lone quote is a value of one letter.
    if value.len() < 2 { value } else { inner('"').or_else(|| inner('\'')).unwrap_or(value) }
}

fn unescape(value: &str) -> String {
    let mut out = String::new();
    let mut letters = value.chars();
    while let Some(c) = letters.next() {
        let rest = letters.as_str();
        match (c, rest.chars().next()) {
            ('\\', Some(next)) => {
                letters.next();
                match next {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'b' => out.push('\u{8}'),
                    's' => out.push(' '),
                    '"' | '\'' | '\\' => out.push(next),
                    other => out.extend(['\\', other]),
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rqps_model::Dbms;

    use super::*;

    fn groups_of(dbms: Dbms, version: &str) -> Groups {
        let names = server_files::config_format(dbms).unwrap().groups.as_ref().unwrap();
        Groups::new(names, &version.parse().unwrap())
    }

    fn read_all(path: &Path) -> Result<FileSettings, Error> {
        read(path, &super::super::read_file(path).unwrap(), &groups_of(Dbms::Mysql, "8.0.33"))
    }

    fn read_path(path: &Path) -> Result<Vec<Setting>, Error> {
        read_all(path).map(|all| all.server)
    }

    fn read_text(text: &str) -> Vec<(String, Option<String>)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        fs::write(&path, text).unwrap();
        let settings = read_path(&path).unwrap();
        settings.into_iter().map(|s| (s.name, s.value)).collect()
    }

    fn values(text: &str) -> String {
        let all = read_text(&format!("[mysqld]\n{text}"));
        all.iter().map(|(n, v)| format!("{n}=<{}> ", v.as_deref().unwrap_or("none"))).collect()
    }

    #[test]
    fn quotes_escapes_and_comments_are_those_of_the_manual() {
        assert_eq!(
            values("a = 1 # one\nb=\"x # y\" # z\nc='it'\n; d=1\n#e=1\n"),
            "a=<1> b=<x # y> c=<it> "
        );
        assert_eq!(values(r#"a = "\s\t\\\"" "#), "a=< \t\\\"> ");
        assert_eq!(values(r"a=C:\q\new"), "a=<C:\\q\new> ");
        assert_eq!(
            values("skip-networking\nlog-bin =\nx=\"\n"),
            "skip-networking=<none> log-bin=<> x=<\"> "
        );
        assert_eq!(values("  key = value  \r\n"), "key=<value> ");
    }

    #[test]
    fn only_the_servers_groups_count() {
        let text = "[client]\na=1\n[mysqld]\nb=2\n[mysqld_safe]\nc=3\n[Mysqld-8.0]\nd=4\n[mysqld-5.7]\ne=5\n\
                    [server]\nf=6\n[mariadb]\ng=7\n";
        let names: Vec<String> = read_text(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "d", "f"]);
        let mariadb = groups_of(Dbms::Mariadb, "10.11.5");
        for group in ["mariadb", "mariadbd-10.11", "galera", "client-server", "mysqld"] {
            assert_eq!(mariadb.who_reads(group), Reads::Server, "{group}");
        }
        assert_eq!(mariadb.who_reads("mariadbd-safe"), Reads::MysqldSafe);
    }

    #[test]
    fn options_of_mysqld_safe_are_read_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        fs::write(&path, "[mysqld_safe]\nnice=1\n[mysqld]\na=1\n[Safe_mysqld]\nmalloc-lib=x")
            .unwrap();
        let all = read_all(&path).unwrap();
        let names = |settings: &[Setting]| -> Vec<String> {
            settings.iter().map(|setting| setting.name.clone()).collect()
        };
        assert_eq!(names(&all.server), ["a"]);
        assert_eq!(names(&all.mysqld_safe), ["nice", "malloc-lib"]);
        assert_eq!(all.mysqld_safe[1].written, Written::File { path, line: 6 });
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (path, included) = (dir.path().join("my.cnf"), dir.path().join("more.cnf"));
        fs::write(&included, "\u{feff}[mysqld]\na=1\n").unwrap();
        for (text, file) in [
            (&b"\xef\xbb\xbf[mysqld]\na=1\n"[..], "my.cnf:1"),
            (b"\xff\xfe[\0m\0", "my.cnf:1"),
            (b"!include more.cnf", "more.cnf:1"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_path(&path).unwrap_err().to_string();
            let told = ": the file begins with a byte order mark; save it as UTF-8 without one";
            assert!(error.contains(&format!("{file}{told}")), "{error}");
        }
    }

    #[test]
    fn includes_are_followed_and_tell_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("conf.d")).unwrap();
        fs::write(
            at("my.cnf"),
            format!(
                "[mysqld]\na=1\n!includedir {}\n!include more.cnf\nz=9\n",
                at("conf.d").display()
            ),
        )
        .unwrap();
        fs::write(at("conf.d/2.cnf"), "[mysqld]\nc=3").unwrap();
        fs::write(at("conf.d/1.cnf"), "[client]\nx=1\n[mysqld]\nb=2").unwrap();
        fs::write(at("conf.d/3.txt"), "[mysqld]\nno=1").unwrap();
        fs::write(at("more.cnf"), "[mysqld]\nd=4").unwrap();
        let settings = read_path(&at("my.cnf")).unwrap();
        let names: Vec<&str> = settings.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "z"]);
        assert_eq!(settings[1].written, Written::File { path: at("conf.d/1.cnf"), line: 4 });
        // An included file begins outside of every group.
        fs::write(at("more.cnf"), "d=4").unwrap();
        let error = read_path(&at("my.cnf")).unwrap_err().to_string();
        assert!(error.contains("more.cnf:1: d=4 is before any group"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_refused_at_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        for (text, found) in [
            ("[mysqld\na=1", "my.cnf:1: the group [mysqld has no ]"),
            ("[mysqld]\n\n!include /no/such/file.cnf", "my.cnf:3: /no/such/file.cnf"),
            ("[mysqld]\n!includedir /no/such/dir", "my.cnf:2: !includedir /no/such/dir"),
            ("!includes x", "my.cnf:1: !includes is neither"),
            ("!include my.cnf", "includes itself"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_path(&path).unwrap_err().to_string();
            assert!(error.contains(found), "{error}");
            let is_missing = text.contains("/no/such");
            let remedy = "; correct the path, or remove the line";
            assert_eq!(error.ends_with(remedy), is_missing, "{error}");
        }
    }

    #[test]
    fn a_name_with_other_letters_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        for line in ["log-bin /var/lib/x", "'skip-grant-tables'"] {
            fs::write(&path, format!("[mysqld]\n{line}\n")).unwrap();
            let said = read_path(&path).unwrap_err().to_string();
            assert!(said.contains(&format!("my.cnf:2: {line} is not an option")), "{said}");
        }
    }
}
