//! Compression of tables: what a running server supports, switched on, and checked on the tables.
//!
//! Asked of the server, not of its version, where it can be: builds differ. RocksDB starts with a
//! codec that it was built without and then stores blocks as they are, without a word.

mod verify;

use rqps_client::Connection;
use rqps_model::{Codec, Compression, Dbms, Engine, Version};

use crate::dbms::driver;
use crate::destructive::Scope;
use crate::{Error, destructive};

/// The server whose compression is checked.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its DBMS.
    pub dbms: Dbms,
    /// Its version.
    pub version: &'a Version,
    /// Its name in messages.
    pub server: &'a str,
    /// The tables' engine.
    pub engine: Engine,
    /// What rqps may change on it.
    pub scope: Scope<'a>,
}

/// Refuses a compression that the server does not support, and switches it on if that needs the running
/// server.
///
/// # Errors
/// [`Error::Unsupported`] with what it does support, [`Error::Client`].
pub fn prepare(
    subject: Subject<'_>,
    compression: Compression,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    if compression.is_none() {
        return Ok(());
    }
    let known = supported(subject, connection)?;
    let is_there = |word: &str| known.iter().any(|k| k == word);
    let fits = match compression {
        Compression::Levels { middle, bottom } => {
            is_there(middle.name()) && is_there(bottom.name())
        }
        other => is_there(&other.to_string()),
    };
    if !fits {
        return Err(refusal(subject, compression, &known));
    }
    match compression {
        Compression::Page(codec) if driver(subject.dbms).has_one_page_codec => {
            choose_algorithm(subject, compression, codec, connection)
        }
        _ => Ok(()),
    }
}

fn refusal(subject: Subject<'_>, compression: Compression, known: &[String]) -> Error {
    let pair = if subject.engine == Engine::Rocksdb { ", or two of them as lz4+zstd" } else { "" };
    let engine = subject.engine;
    Error::Unsupported {
        server: subject.server.to_owned(),
        what: format!("compression = \"{compression}\" of engine {engine}"),
        detail: format!("this build supports {}{pair}", known.join(", ")),
    }
}

/// The words that a plan may use for this server's engine.
fn supported(subject: Subject<'_>, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let mut words = vec!["none".to_owned()];
    match subject.engine {
        Engine::Rocksdb => {
            let sql = "select @@rocksdb_supported_compression_types";
            let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
            let codecs = codecs_of(result.scalar().unwrap_or(""));
            words.extend(codecs.into_iter().map(|codec| codec.name().to_owned()));
        }
        Engine::Innodb => {
            words.push("row".to_owned());
            let codecs = (driver(subject.dbms).page_codecs)(subject.version, connection)?;
            let page = |codec: Codec| Compression::Page(codec).to_string();
            words.extend(codecs.into_iter().map(page));
        }
        Engine::Heap => {}
    }
    Ok(words)
}

/// `Snappy,Zlib,LZ4,LZ4HC,ZSTDNotFinal` as codecs.
fn codecs_of(list: &str) -> Vec<Codec> {
    let names = || list.split(',').map(str::trim);
    let has = |prefixes: &[&str]| names().any(|name| prefixes.contains(&name));
    [
        (Codec::Snappy, &["Snappy"][..]),
        (Codec::Lz4, &["LZ4"]),
        (Codec::Zlib, &["Zlib"]),
        // RocksDB lists zstd under the name of its trial format when both are there.
        (Codec::Zstd, &["ZSTD", "ZSTDNotFinal"]),
    ]
    .into_iter()
    .filter(|(_, prefixes)| has(prefixes))
    .map(|(codec, _)| codec)
    .collect()
}

/// Chooses the algorithm where the server has one for all tables that are compressed by page.
fn choose_algorithm(
    subject: Subject<'_>,
    compression: Compression,
    codec: Codec,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    if subject.scope.is_own() {
        let value = format!("'{}'", codec.name());
        let setting = ("innodb_compression_algorithm", value.as_str());
        return destructive::set_global(subject.scope, setting, connection);
    }
    let sql = "select @@innodb_compression_algorithm";
    let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
    match result.scalar() {
        Some(other) if other != codec.name() => Err(Error::Unsupported {
            server: subject.server.to_owned(),
            what: format!("compression = \"{compression}\""),
            detail: format!(
                "its innodb_compression_algorithm is {other}, and rqps did not start the server; \
                 set the algorithm there"
            ),
        }),
        _ => Ok(()),
    }
}

/// Checks the compression of all `tables` of the current database.
///
/// # Errors
/// [`Error::NotAsMeant`] with what was found, [`Error::Client`].
pub fn verify(
    subject: Subject<'_>,
    compression: Compression,
    tables: &[String],
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let wrong = match subject.engine {
        Engine::Heap => None,
        Engine::Rocksdb => {
            let sql = "select option_type, value from information_schema.rocksdb_cf_options \
                       where cf_name = 'default' and option_type in ('COMPRESSION_TYPE', \
                       'BOTTOMMOST_COMPRESSION', 'COMPRESSION_PER_LEVEL') order by 1";
            let options = pairs("read RocksDB's options", sql, connection)?;
            verify::wrong_levels(compression, &options)
        }
        Engine::Innodb => {
            let sql = "select table_name, concat(row_format, '|', create_options) \
                       from information_schema.tables where table_schema = database() \
                       and table_type = 'BASE TABLE' order by 1";
            let there = pairs("read the tables' options", sql, connection)?;
            let of_table = |table: &String| verify::wrong_table(table, compression, &there);
            let wrong = tables.iter().find_map(of_table);
            match compression {
                Compression::Page(codec)
                    if driver(subject.dbms).has_one_page_codec && wrong.is_none() =>
                {
                    let sql = "select @@innodb_compression_algorithm";
                    let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
                    let found = result.scalar().unwrap_or("unknown");
                    (found != codec.name())
                        .then(|| format!("innodb_compression_algorithm is {found}"))
                }
                _ => wrong,
            }
        }
    };
    match wrong {
        None => Ok(()),
        Some(found) => Err(Error::NotAsMeant {
            server: subject.server.to_owned(),
            found,
            meant: format!("compression = \"{compression}\""),
        }),
    }
}

/// The two columns of an answer.
fn pairs(
    doing: &str,
    sql: &str,
    connection: &mut dyn Connection,
) -> Result<Vec<(String, String)>, Error> {
    let result = connection.query(sql).map_err(|e| Error::client(doing, e))?;
    let pair = |row: Vec<Option<String>>| {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        Some((texts.next()?, texts.next()?))
    };
    Ok(result.rows.into_iter().filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_codecs_that_rocksdb_lists() {
        let words = |list| codecs_of(list).iter().map(|c| c.name()).collect::<Vec<_>>().join(" ");
        assert_eq!(words("Snappy,Zlib,LZ4,LZ4HC,ZSTDNotFinal"), "snappy lz4 zlib zstd");
        assert_eq!(words("Zlib,ZSTD"), "zlib zstd");
        assert_eq!(words("LZ4HC"), "");
        assert_eq!(words(""), "");
    }

    #[test]
    fn a_refusal_lists_what_there_is() {
        let version = "10.11.19".parse().unwrap();
        let text = |engine, compression: &str, known: &[&str]| {
            let subject = Subject {
                dbms: Dbms::Mariadb,
                version: &version,
                server: "MariaDB 10.11.19",
                engine,
                scope: crate::dbms::own_scope(Dbms::Mariadb, std::path::Path::new("/")),
            };
            let known: Vec<String> = known.iter().map(|k| (*k).to_owned()).collect();
            refusal(subject, compression.parse().unwrap(), &known).to_string()
        };
        expect_test::expect![[r#"
            MariaDB 10.11.19 does not support compression = "page-lz4" of engine innodb: this build supports none, row, page-zlib
            MariaDB 10.11.19 does not support compression = "lz4+zstd" of engine rocksdb: this build supports none, lz4, or two of them as lz4+zstd"#]]
        .assert_eq(&format!(
            "{}\n{}",
            text(Engine::Innodb, "page-lz4", &["none", "row", "page-zlib"]),
            text(Engine::Rocksdb, "lz4+zstd", &["none", "lz4"])
        ));
    }
}
