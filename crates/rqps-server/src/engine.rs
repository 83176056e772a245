//! Storage engines that are plugins: where the plugin's file is, and whether it is loaded.

use rqps_client::Connection;
use rqps_model::Engine;

use crate::{Error, Installed};

/// MyRocks: the file of the plugin, in MariaDB and Percona Server alike.
pub(crate) const ROCKSDB_PLUGIN: &str = "ha_rocksdb.so";

/// Where plugins lie in the trees of their makers; `Installed::plugin_dir` has the distributions'.
const PLUGIN_DIRS: &[&str] =
    &["lib/plugin", "lib64/plugin", "lib/mysql/plugin", "lib64/mysql/plugin"];

impl Installed {
    /// Whether it has the files of an engine.
    #[must_use]
    pub fn has_engine(&self, engine: Engine) -> bool {
        match engine {
            _ if !self.dbms.engines().contains(&engine) => false,
            Engine::Innodb | Engine::Heap => true,
            Engine::Rocksdb => {
                let own = PLUGIN_DIRS.iter().map(|dir| self.prefix.join(dir));
                let mut dirs = self.plugin_dir.iter().cloned().chain(own);
                dirs.any(|dir| dir.join(ROCKSDB_PLUGIN).is_file())
            }
        }
    }

    /// Refuses a missing engine. `with_it` are the catalogue's servers that have it.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub fn require_engine(&self, engine: Engine, with_it: &[String]) -> Result<(), Error> {
        if self.has_engine(engine) {
            return Ok(());
        }
        let missing = match engine {
            Engine::Rocksdb => format!("its plugins lack {ROCKSDB_PLUGIN}"),
            Engine::Innodb | Engine::Heap => "it is another DBMS".to_owned(),
        };
        let detail = format!("{missing}; {}", who_has_it(with_it));
        let what = format!("engine = \"{engine}\"");
        Err(Error::Unsupported { server: self.name(), what, detail })
    }
}

/// What to do if an engine is missing.
#[must_use]
pub fn who_has_it(with_it: &[String]) -> String {
    let elsewhere = "name a server that has it with basedir = \"DIR\"";
    if with_it.is_empty() {
        return elsewhere.to_owned();
    }
    format!("choose one of {}, or {elsewhere}", with_it.join(", "))
}

/// Asks a running server whether it has the engine: a plugin that fails to load does not keep the
/// server from starting. `log` is what the server wrote since its start.
///
/// # Errors
/// [`Error::Unsupported`] with the plugin's own words, [`Error::Client`].
pub fn require_loaded(
    server: &str,
    engine: Engine,
    log: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    if engine != Engine::Rocksdb {
        return Ok(());
    }
    let sql = "select support from information_schema.engines where engine = 'ROCKSDB'";
    let result = connection.query(sql).map_err(|e| Error::client("list the engines", e))?;
    if matches!(result.scalar(), Some("YES" | "DEFAULT")) {
        return Ok(());
    }
    let words: Vec<&str> = log.lines().filter(|line| tells_of_failure(line)).collect();
    let detail = match words.is_empty() {
        true => "its plugin is not loaded".to_owned(),
        false => format!("its plugin was not loaded; the server's log says:\n{}", words.join("\n")),
    };
    let what = format!("engine = \"{engine}\"");
    Err(Error::Unsupported { server: server.to_owned(), what, detail })
}

fn tells_of_failure(line: &str) -> bool {
    let of_it = line.to_ascii_lowercase().contains("rocksdb");
    // Options that it cannot read are told without a mark.
    (of_it && line.contains("[ERROR]")) || line.starts_with("Invalid ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rqps_model::Dbms;

    use super::*;
    use crate::lock::Lease;

    fn installed(dbms: Dbms, prefix: &std::path::Path) -> Installed {
        Installed {
            dbms,
            version: "10.11.19".parse().unwrap(),
            prefix: prefix.to_owned(),
            program: prefix.join("sbin/mariadbd"),
            basedir: prefix.to_owned(),
            plugin_dir: None,
            engines: Vec::new(),
            share: prefix.join("share/mysql"),
            library_dirs: Vec::new(),
            origin: String::new(),
            build: String::new(),
            packaged: None,
            extensions: None,
            build_name: String::new(),
            source_facts: std::collections::BTreeMap::new(),
            lease: Lease::default(),
        }
    }

    #[test]
    fn an_engine_is_there_when_its_plugin_is() {
        let dir = tempfile::tempdir().unwrap();
        let server = installed(Dbms::Mariadb, dir.path());
        assert!(server.has_engine(Engine::Innodb) && !server.has_engine(Engine::Heap));
        let error = |with_it: &[&str]| {
            let with_it: Vec<String> = with_it.iter().map(|s| (*s).to_owned()).collect();
            server.require_engine(Engine::Rocksdb, &with_it).unwrap_err().to_string()
        };
        expect_test::expect![[r#"MariaDB 10.11.19 does not support engine = "rocksdb": its plugins lack ha_rocksdb.so; name a server that has it with basedir = "DIR""#]]
            .assert_eq(&error(&[]));
        expect_test::expect![[r#"MariaDB 10.11.19 does not support engine = "rocksdb": its plugins lack ha_rocksdb.so; choose one of mariadb@11.8.9, or name a server that has it with basedir = "DIR""#]]
            .assert_eq(&error(&["mariadb@11.8.9"]));
        let plugins = dir.path().join("lib/plugin");
        fs::create_dir_all(&plugins).unwrap();
        fs::write(plugins.join(ROCKSDB_PLUGIN), b"elf").unwrap();
        assert!(server.require_engine(Engine::Rocksdb, &[]).is_ok());
        assert!(!installed(Dbms::Postgres, dir.path()).has_engine(Engine::Rocksdb));
    }

    #[test]
    fn the_log_tells_why_a_plugin_was_not_loaded() {
        let log = "2026 0 [Note] RocksDB: 2 column families found\n\
                   Invalid default column family config: bottommost_compression=kFoo\n\
                   2026 0 [ERROR] RocksDB: Failed to initialize CF options map.\n\
                   2026 0 [ERROR] Plugin 'ROCKSDB' registration as a STORAGE ENGINE failed.\n\
                   2026 0 [Note] InnoDB: Completed initialization of buffer pool";
        assert_eq!(log.lines().filter(|line| tells_of_failure(line)).count(), 3);
    }
}
