//! The log: standard error, in the words of the family.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Family;

/// Where it says what it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log {
    pub(crate) family: Family,
}

/// How severe a line is, in the words of both families.
struct Level {
    postgres: &'static str,
    mysql: &'static str,
}

impl Log {
    pub(crate) fn note(&self, text: &str) {
        self.line(Level { postgres: "LOG: ", mysql: "[Note]" }, text);
    }

    pub(crate) fn error(&self, text: &str) {
        self.line(Level { postgres: "ERROR: ", mysql: "[ERROR]" }, text);
    }

    pub(crate) fn fatal(&self, text: &str) {
        self.line(Level { postgres: "FATAL: ", mysql: "[ERROR]" }, text);
    }

    fn line(&self, level: Level, text: &str) {
        let Level { postgres, mysql } = level;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let line = match self.family {
            Family::Postgres => format!("{now} UTC [{}] {postgres} {text}\n", std::process::id()),
            Family::Mariadb | Family::Mysql => format!("{now} 0 {mysql} {text}\n"),
        };
        // In one piece, beside other threads; to nobody if nobody reads it.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
