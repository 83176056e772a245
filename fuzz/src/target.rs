//! What is fed: one entry for each kind of text and bytes that rqps reads from somebody else.

mod files;
mod text;
mod wire;

use anyhow::{Context as _, Result};

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// What a MySQL server sends.
    Mysql,
    /// What a PostgreSQL server sends.
    Postgres,
    /// `/proc` and `/sys`.
    Proc,
    /// What perf prints.
    Perf,
    /// Other tools' results.
    Imports,
    /// Plans and suites.
    Plans,
}

/// A target with what it needs.
pub(crate) struct Ready {
    target: Target,
    catalogue: Option<rqps_server::Catalogue>,
    dir: Option<tempfile::TempDir>,
}

impl Target {
    pub(crate) const ALL: [Self; 6] =
        [Self::Mysql, Self::Postgres, Self::Proc, Self::Perf, Self::Imports, Self::Plans];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
            Self::Proc => "proc",
            Self::Perf => "perf",
            Self::Imports => "imports",
            Self::Plans => "plans",
        }
    }

    pub(crate) fn ready(self) -> Result<Ready> {
        let mut ready = Ready { target: self, catalogue: None, dir: None };
        match self {
            Self::Plans => {
                let catalogue = rqps_server::Catalogue::builtin().context("read the catalogue")?;
                ready.catalogue = Some(catalogue);
            }
            Self::Imports => {
                // In memory where that can be had: thousands of files a second.
                let dir = tempfile::Builder::new().prefix("rqps-fuzz").tempdir_in("/dev/shm");
                ready.dir = Some(dir.or_else(|_| tempfile::tempdir()).context("make a directory")?);
            }
            _ => {}
        }
        Ok(ready)
    }
}

impl Ready {
    /// Reads an input. Whatever it is, this returns.
    pub(crate) fn feed(&mut self, input: &[u8]) {
        match (self.target, &self.catalogue, &self.dir) {
            (Target::Mysql, ..) => wire::mysql(input),
            (Target::Postgres, ..) => wire::postgres(input),
            (Target::Proc, ..) => text::proc(&String::from_utf8_lossy(input)),
            (Target::Perf, ..) => text::perf(&String::from_utf8_lossy(input)),
            (Target::Plans, Some(catalogue), _) => {
                text::plans(&String::from_utf8_lossy(input), catalogue);
            }
            (Target::Imports, _, Some(dir)) => files::imports(input, dir.path()),
            (Target::Plans | Target::Imports, ..) => {}
        }
    }

    /// Inputs that are right, to begin with.
    pub(crate) fn seeds(&self) -> Vec<Vec<u8>> {
        match self.target {
            Target::Mysql => wire::mysql_seeds(),
            Target::Postgres => wire::postgres_seeds(),
            Target::Proc => text::proc_seeds(),
            Target::Perf => text::perf_seeds(),
            Target::Imports => files::seeds(),
            Target::Plans => text::plan_seeds(),
        }
    }

    /// Pieces that mean something in the format.
    pub(crate) fn words(&self) -> Vec<Vec<u8>> {
        let words: &[&str] = match self.target {
            Target::Mysql => {
                &["\u{1}\0\0\u{1}", "\u{5}\0\0\u{2}", "#40001", "mysql_native_password\0"]
            }
            Target::Postgres => {
                &["Z\0\0\0\u{5}I", "C\0\0\0\rSELECT 1\0", "D\0\0\0\u{6}\0\0", "SCRAM-SHA-256\0"]
            }
            Target::Proc => &["cpu0 ", "\n", "kB", "intr", " - ", "VmRSS:", "some avg10="],
            Target::Perf => {
                &["\n", "\t", "[unknown]", "(/lib/libc.so.6)", "cpu-clock:", ",", "+0x"]
            }
            Target::Imports => {
                &["\n== ", "\t", ",", ".L1", "sb.o.", "qps.abs.", "mrg.", "[ 1s ]", "dop1"]
            }
            Target::Plans => &[
                "[[system]]\n",
                "[[suite]]\n",
                "[schedule]\n",
                "dbms = ",
                "version = ",
                "'null'",
                "steps = [",
                "*",
                "options = { ",
                "seconds = ",
                "slice = '20ms'\n",
                "\n",
            ],
        };
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_takes_its_own_seeds_and_the_corpus() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
        for target in Target::ALL {
            let mut ready = target.ready().unwrap();
            let mut inputs = ready.seeds();
            assert!(!inputs.is_empty(), "{target:?}");
            let kept = std::fs::read_dir(format!("{corpus}/{}", target.name()));
            for entry in kept.into_iter().flatten() {
                inputs.push(std::fs::read(entry.unwrap().path()).unwrap());
            }
            for input in inputs {
                ready.feed(&input);
            }
            for word in ready.words() {
                ready.feed(&word);
            }
        }
    }
}
