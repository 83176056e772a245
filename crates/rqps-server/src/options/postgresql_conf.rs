//! `postgresql.conf` and what it includes, read as PostgreSQL's guc-file.l reads them.

use std::path::Path;

use super::{OpenFiles, Setting, Written, directory_of, fault, included_files, not_included};
use crate::Error;

/// The settings in the order in which a server meets them.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Setting>, Error> {
    let mut reader = Reader { settings: Vec::new(), open: OpenFiles::default() };
    reader.file(path, text)?;
    Ok(reader.settings)
}

struct Reader {
    settings: Vec<Setting>,
    open: OpenFiles,
}

impl Reader {
    fn file(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        self.open.push(path, text)?;
        for (line, text) in (1..).zip(text.lines()) {
            let parsed = parse(text).map_err(|problem| {
                fault(path, line, format!("{} is not a setting: {problem}", text.trim()))
            })?;
            let Some((name, value)) = parsed else { continue };
            let lower = name.to_ascii_lowercase();
            if matches!(lower.as_str(), "include" | "include_if_exists" | "include_dir") {
                self.include(&lower, &value, path, line)?;
                continue;
            }
            let written = Written::File { path: path.to_owned(), line };
            self.settings.push(Setting { name, value: Some(value), written });
        }
        self.open.pop();
        Ok(())
    }

    fn include(&mut self, how: &str, value: &str, from: &Path, line: usize) -> Result<(), Error> {
        let target = directory_of(from).join(value);
        let bad = |detail: String| fault(from, line, detail);
        if how == "include_if_exists" && !target.exists() {
            return Ok(());
        }
        let files = if how == "include_dir" {
            included_files(&target, |name| name.ends_with(".conf") && !name.starts_with('.'))
                .map_err(|e| bad(not_included(&format!("{how} {}", target.display()), &e)))?
        } else {
            vec![target]
        };
        for file in files {
            let text = self.open.read_included(&file, from, line)?;
            self.file(&file, &text)?;
        }
        Ok(())
    }
}

/// The name and value of a line: `name [=] value # comment`. Nothing for an empty one.
fn parse(line: &str) -> Result<Option<(String, String)>, &'static str> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    let is_part = |c: char| is_letter(c) || c.is_ascii_digit() || c == '$' || c == '.';
    let end = line.find(|c: char| !is_part(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if !name.starts_with(is_letter) {
        return Err("a name begins with a letter");
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let (value, rest) = if let Some(quoted) = rest.strip_prefix('\'') {
        read_quoted(quoted)?
    } else {
        let plain = |c: char| is_part(c) || "+-:/".contains(c);
        let end = rest.find(|c: char| !plain(c)).unwrap_or(rest.len());
        if end == 0 {
            return Err("it has no value");
        }
        (rest[..end].to_owned(), &rest[end..])
    };
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(Some((name.to_owned(), value)))
    } else {
        Err("there is text after the value; write the value in single quotes")
    }
}

/// A value up to its closing quote, and what follows it.
fn read_quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let mut letters = rest.chars();
        match letters.next().ok_or("the quote is not closed")? {
            '\'' if letters.as_str().starts_with('\'') => {
                letters.next();
                value.push('\'');
            }
            '\'' => return Ok((value, letters.as_str())),
            '\\' => {
                let tail = letters.as_str();
                let n_digits =
                    tail.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                if n_digits > 0 {
                    let code = u32::from_str_radix(&tail[..n_digits], 8).unwrap_or(0);
                    value.extend(char::from_u32(code & 0xff));
                    letters = tail[n_digits..].chars();
                } else {
                    value.push(match letters.next().ok_or("the quote is not closed")? {
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        other => other,
                    });
                }
            }
            other => value.push(other),
        }
        rest = letters.as_str();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read_path(path: &Path) -> Result<Vec<Setting>, Error> {
        read(path, &fs::read_to_string(path).unwrap())
    }

    fn values(text: &str) -> String {
        let lines = text.lines().map(|line| parse(line).map_err(str::to_owned));
        let all = lines.filter_map(|line| line.transpose()).map(|line| match line {
            Ok((name, value)) => format!("{name}=<{value}> "),
            Err(error) => format!("!{error} "),
        });
        all.collect()
    }

    #[test]
    fn lines_are_those_of_the_manual() {
        assert_eq!(values("a = 1\nb 2\nC=on # x\n\n# d = 1\n"), "a=<1> b=<2> C=<on> ");
        assert_eq!(values("x = '/a b''s \\'q\\' \\101' # y"), "x=</a b's 'q' A> ");
        assert_eq!(
            values("shared_buffers = 128MB\nseed = -1.5e3\nd = /tmp/x-y:z"),
            "shared_buffers=<128MB> seed=<-1.5e3> d=</tmp/x-y:z> "
        );
        assert_eq!(values("cron.host = 'db1'\nempty = ''"), "cron.host=<db1> empty=<> ");
        for bad in ["a", "a =", "a = b c", "a = 'b", "= 1", "1 = 1", "a = ;"] {
            assert!(values(bad).starts_with('!'), "{bad}: {}", values(bad));
        }
    }

    #[test]
    fn includes_are_followed_from_the_file_that_names_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("conf.d")).unwrap();
        fs::write(
            at("postgresql.conf"),
            "a = 1\ninclude_dir = 'conf.d'\nInclude 'site.conf'\ninclude_if_exists = 'none.conf'\n",
        )
        .unwrap();
        fs::write(at("conf.d/20.conf"), "c = 3").unwrap();
        fs::write(at("conf.d/10.conf"), "\nb = 2").unwrap();
        fs::write(at("conf.d/.hidden.conf"), "no = 1").unwrap();
        fs::write(at("site.conf"), "data_directory = '/prod'").unwrap();
        let settings = read_path(&at("postgresql.conf")).unwrap();
        let names: Vec<&str> = settings.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "data_directory"]);
        assert_eq!(settings[1].written, Written::File { path: at("conf.d/10.conf"), line: 2 });
        fs::write(at("site.conf"), "include = 'postgresql.conf'").unwrap();
        let error = read_path(&at("postgresql.conf")).unwrap_err().to_string();
        assert!(error.contains("site.conf:1") && error.contains("includes itself"), "{error}");
        for n in 0..5 {
            let text = format!("include 'n{}.conf'\n", n + 1).repeat(if n < 4 { 8 } else { 0 });
            fs::write(at(&format!("n{n}.conf")), text).unwrap();
        }
        let error = read_path(&at("n0.conf")).unwrap_err().to_string();
        assert!(error.contains("more than 1000 files"), "{error}");
        fs::write(at("site.conf"), "include 'gone.conf'").unwrap();
        let error = read_path(&at("postgresql.conf")).unwrap_err().to_string();
        assert!(error.contains("site.conf:1") && error.contains("gone.conf"), "{error}");
        assert!(error.ends_with("; correct the path, or remove the line"), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        let error = read(Path::new("pg.conf"), "\u{feff}work_mem = 1MB").unwrap_err().to_string();
        assert!(
            error.ends_with(
                "pg.conf:1: the file begins with a byte order mark; save it as UTF-8 without one"
            ),
            "{error}"
        );
    }
}
