//! The command line and the configuration that a server gets.

use std::fs;
use std::path::{Path, PathBuf};

/// Settings by their names, in the order in which they were given.
pub(crate) type Pairs = Vec<(String, String)>;

/// The lines of a configuration file: `name = 'value'`, `name=value`, `name`; sections and comments are
/// nothing.
pub(crate) fn read_lines(text: &str) -> Pairs {
    text.lines().filter_map(pair).collect()
}

fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', ';', '[', '!']) {
        return None;
    }
    let (name, value) = line.split_once('=').unwrap_or((line, "1"));
    let value = value.trim().trim_matches(['\'', '"']).replace("''", "'");
    Some((name.trim().to_owned(), value))
}

/// PostgreSQL's configuration, with the files that it includes.
pub(crate) fn read_postgres(data_dir: &Path) -> Pairs {
    let mut all = Pairs::new();
    for line in read(&data_dir.join("postgresql.conf")).lines() {
        match line.trim().strip_prefix("include = ") {
            Some(file) => {
                let file = file.trim().trim_matches('\'');
                all.extend(read_lines(&read(&data_dir.join(file))));
            }
            None => all.extend(pair(line)),
        }
    }
    all
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A server's command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandLine {
    pub(crate) data_dir: PathBuf,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) port: Option<u16>,
    pub(crate) pid_file: Option<PathBuf>,
    /// Settings on it.
    pub(crate) settings: Pairs,
    /// The configuration file that it names.
    pub(crate) file: Pairs,
    /// Words that are none of these: `--bootstrap`, `--single`.
    pub(crate) switches: Vec<String>,
}

impl CommandLine {
    /// PostgreSQL's: `-D DIR -k DIR -p PORT -c name=value`.
    pub(crate) fn of_postgres(args: &[String]) -> Self {
        let mut line = Self::default();
        let mut sockets = PathBuf::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let mut value = || rest.next().cloned().unwrap_or_default();
            match arg.as_str() {
                "-D" => line.data_dir = value().into(),
                "-k" => sockets = value().into(),
                "-p" => line.port = value().parse().ok(),
                "-h" => line.settings.push(("listen_addresses".to_owned(), value())),
                "-c" => line.settings.extend(pair(&value())),
                other => line.switches.push(other.to_owned()),
            }
        }
        let name = line.port.map(|port| format!(".s.PGSQL.{port}"));
        line.socket = name.map(|name| sockets.join(name));
        line.file = read_postgres(&line.data_dir);
        line
    }

    /// MySQL's: `--name=value`, a file by `--defaults-file`.
    pub(crate) fn of_mysql(args: &[String]) -> Self {
        let mut line = Self::default();
        for arg in args {
            let Some(option) = arg.strip_prefix("--") else { continue };
            let Some((name, value)) = option.split_once('=') else {
                line.switches.push(arg.clone());
                continue;
            };
            let (name, path) = (plain(name), PathBuf::from(value));
            match name.as_str() {
                "defaults_file" => line.file = read_lines(&read(&path)),
                "datadir" => line.data_dir = path,
                "socket" => line.socket = Some(path),
                "pid_file" => line.pid_file = Some(path),
                "port" => line.port = value.parse().ok(),
                _ => {}
            }
            if name != "defaults_file" {
                line.settings.push((name, value.to_owned()));
            }
        }
        for (name, _) in &mut line.file {
            *name = plain(name);
        }
        line
    }

    pub(crate) fn has(&self, switch: &str) -> bool {
        self.switches.iter().any(|one| one == switch)
    }
}

/// An option of MySQL's as its variable is called.
fn plain(option: &str) -> String {
    let name = option.replace('-', "_").to_ascii_lowercase();
    name.strip_prefix("loose_").map_or(name.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_of_both_families() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = CommandLine::of_postgres(&args("-D /d -k /s -h 127.0.0.1 -p 77 -c ssl=off"));
        assert_eq!(line.socket, Some("/s/.s.PGSQL.77".into()));
        assert!(line.settings.contains(&("ssl".to_owned(), "off".to_owned())));
        let line =
            CommandLine::of_mysql(&args("--datadir=/d --bootstrap --loose-a-b=OFF --port=9"));
        assert!(line.has("--bootstrap") && line.port == Some(9));
        assert!(line.settings.contains(&("a_b".to_owned(), "OFF".to_owned())));
    }

    #[test]
    fn lines_of_files() {
        let text = "[mysqld]\n# x\na = 'b''c'\nlog_bin=rqps-bin\nskip\n";
        let all = [("a", "b'c"), ("log_bin", "rqps-bin"), ("skip", "1")];
        assert_eq!(read_lines(text), all.map(|(n, v)| (n.to_owned(), v.to_owned())));
    }
}
