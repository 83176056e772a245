//! The profile as each version gets it, in whole, and the user's own files and options.

use std::collections::BTreeSet;
use std::fs;

use expect_test::expect_file;

use super::*;
use crate::Catalogue;

const SIZING: Sizing = Sizing { memory_bytes: 16 << 30, systems_up: 2, data_bytes: None };

fn config(base: &str, options: &[(&str, &str)]) -> Config {
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config { options, ..Config::of(base, Engine::Innodb) }
}

fn small(dbms: Dbms, version: &str, options: &[(&str, &str)]) -> Rendered {
    render(dbms, &version.parse().unwrap(), &config("small", options), SIZING).unwrap()
}

const VERSIONS: &[(Dbms, &str)] = &[
    (Dbms::Mysql, "5.5.9"),
    (Dbms::Mysql, "5.5.34"),
    (Dbms::Mysql, "5.6.14"),
    (Dbms::Mysql, "8.0.33"),
    (Dbms::Mysql, "9.7.4"),
    (Dbms::Mariadb, "10.1.23"),
    (Dbms::Mariadb, "10.2.11"),
    (Dbms::Mariadb, "10.5.23"),
    (Dbms::Mariadb, "10.11.5"),
    (Dbms::Mariadb, "11.4.5"),
    (Dbms::Mariadb, "11.8.9"),
    (Dbms::Postgres, "9.6.24"),
    (Dbms::Postgres, "11.22"),
    (Dbms::Postgres, "13.23"),
    (Dbms::Postgres, "17.4"),
    (Dbms::Postgres, "18.0"),
    (Dbms::Postgres, "19rc1"),
];

fn golden(name: &str, text: &str) {
    expect_file![format!("{}/tests/data/profile/{name}.out", env!("CARGO_MANIFEST_DIR"))]
        .assert_eq(text);
}

#[test]
fn the_least_memory_is_twice_the_smallest_cache() {
    let least = |dbms, version: &str, options: &[(&str, &str)]| {
        least_memory(dbms, &version.parse().unwrap(), &config("small", options)).unwrap()
    };
    assert_eq!(least(Dbms::Mysql, "8.0.33", &[]), Some(512 << 20));
    assert_eq!(least(Dbms::Postgres, "17.4", &[]), Some(512 << 20));
    assert_eq!(least(Dbms::Postgres, "17.4", &[("shared_buffers", "64MB")]), None);
    assert_eq!(least(Dbms::Mariadb, "10.2.11", &[("innodb-buffer-pool-size", "64M")]), None);
    let own = config("my.cnf", &[]);
    assert_eq!(least_memory(Dbms::Mysql, &"8.0.33".parse().unwrap(), &own).unwrap(), None);
}

#[test]
fn small_is_as_it_should_be_for_each_version() {
    for (dbms, version) in VERSIONS {
        let rendered = small(*dbms, version, &[]);
        let initdb = rendered.initdb_arguments.join(" ");
        golden(&format!("{dbms}-{version}"), &format!("{}# initdb: {initdb}\n", rendered.text));
    }
}

fn own_engine(dbms: Dbms) -> Engine {
    dbms.default_engine()
}

/// A gigabyte of tables, for profiles that follow the data.
fn rendered(dbms: Dbms, version: &str, config: &Config) -> String {
    let sizing = Sizing { data_bytes: Some(1 << 30), ..SIZING };
    render(dbms, &version.parse().unwrap(), config, sizing).unwrap().text
}

/// The lines of a configuration that another one does not have.
fn beyond(text: &str, other: &str) -> String {
    let known: BTreeSet<&str> = other.lines().collect();
    text.lines().filter(|line| !known.contains(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn other_profiles_differ_from_small_by_these_lines() {
    for base in ["medium", "io-bound"] {
        let mut text = String::new();
        for (dbms, version) in VERSIONS {
            let engine = own_engine(*dbms);
            let small = rendered(*dbms, version, &Config::of("small", engine));
            let own = rendered(*dbms, version, &Config::of(base, engine));
            assert!(small.lines().count() <= own.lines().count(), "nothing is taken away");
            text += &beyond(&own, &small);
        }
        golden(base, &text);
    }
}

#[test]
fn full_durability_is_these_lines() {
    let mut text = String::new();
    for (dbms, version) in VERSIONS.iter().chain(&[(Dbms::Mariadb, "10.11.19")]) {
        let engine = if *version == "10.11.19" { Engine::Rocksdb } else { own_engine(*dbms) };
        let relaxed = Config::of("small", engine);
        let full = Config { durability: Durability::Full, ..relaxed.clone() };
        let (relaxed, full) = (rendered(*dbms, version, &relaxed), rendered(*dbms, version, &full));
        assert_eq!(relaxed.lines().count(), full.lines().count());
        text += &format!("# {dbms} {version} {engine}\n{}", beyond(&full, &relaxed));
    }
    expect_test::expect![[r#"
        # mysql 5.5.9 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mysql 5.5.34 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mysql 5.6.14 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mysql 8.0.33 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mysql 9.7.4 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 10.1.23 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 10.2.11 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 10.5.23 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 10.11.5 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 11.4.5 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # mariadb 11.8.9 innodb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        # postgres 9.6.24 heap
        synchronous_commit = 'on'
        # postgres 11.22 heap
        synchronous_commit = 'on'
        # postgres 13.23 heap
        synchronous_commit = 'on'
        # postgres 17.4 heap
        synchronous_commit = 'on'
        # postgres 18.0 heap
        synchronous_commit = 'on'
        # postgres 19rc1 heap
        synchronous_commit = 'on'
        # mariadb 10.11.19 rocksdb
        sync_binlog=1
        innodb_flush_log_at_trx_commit=1
        rocksdb_flush_log_at_trx_commit=1
    "#]]
    .assert_eq(&text);
}

#[test]
fn myrocks_is_as_it_should_be() {
    for (base, compression) in
        [("small", "none"), ("small", "lz4+zstd"), ("medium", "none"), ("io-bound", "zstd")]
    {
        let config = Config {
            compression: compression.parse().unwrap(),
            ..Config::of(base, Engine::Rocksdb)
        };
        let text = rendered(Dbms::Mariadb, "10.11.19", &config);
        golden(&format!("rocksdb-mariadb-10.11.19-{base}-{compression}"), &text);
    }
    // A part is replaced or added by the plan, the rest stays.
    let options = [("rocksdb_default_cf_options.write_buffer_size", "8388608")];
    let config = Config { engine: Engine::Rocksdb, ..config("small", &options) };
    let text = rendered(Dbms::Mariadb, "10.11.19", &config);
    assert!(text.contains("rocksdb_default_cf_options=\"write_buffer_size=8388608;max_write"));
    assert!(!text.contains("options of the plan"), "{text}");
}

#[test]
fn compressed_rows_need_a_file_format_in_old_versions() {
    let lines = |dbms, version| {
        let plain = Config::of("small", Engine::Innodb);
        let config = Config { compression: Compression::Row, ..plain.clone() };
        beyond(&rendered(dbms, version, &config), &rendered(dbms, version, &plain))
    };
    let both = "innodb_file_format=Barracuda\ninnodb_strict_mode=1\n";
    assert_eq!(lines(Dbms::Mysql, "5.6.14"), both);
    assert_eq!(lines(Dbms::Mariadb, "10.1.23"), both);
    assert_eq!(lines(Dbms::Mysql, "8.0.33"), "");
    assert_eq!(lines(Dbms::Mariadb, "10.11.5"), "");
}

#[test]
fn no_version_of_the_catalogue_gets_an_option_twice() {
    let compressions =
        ["none", "row", "page-zlib", "lz4+zstd"].map(|word| word.parse::<Compression>().unwrap());
    for entry in Catalogue::builtin().unwrap().servers() {
        for base in names() {
            for durability in [Durability::Relaxed, Durability::Full] {
                for (engine, compression) in [own_engine(entry.dbms), Engine::Rocksdb]
                    .into_iter()
                    .flat_map(|engine| compressions.map(|compression| (engine, compression)))
                {
                    let config = Config { durability, compression, ..Config::of(base, engine) };
                    let text = rendered(entry.dbms, &entry.version.to_string(), &config);
                    let mut seen = BTreeSet::new();
                    for name in text.lines().filter_map(option_name) {
                        assert!(seen.insert(name), "{} gets {name} twice", entry.name());
                    }
                    assert!(seen.len() > 15, "{} gets {} options", entry.name(), seen.len());
                }
            }
        }
    }
}

#[test]
fn options_of_the_plan_replace_the_profiles() {
    let text = small(Dbms::Mysql, "8.0.33", &[("innodb-flush-method", "fsync"), ("x", "a#b")]).text;
    assert!(!text.contains("O_DIRECT"), "{text}");
    assert!(
        text.ends_with("# options of the plan\n[mysqld]\ninnodb_flush_method=fsync\nx=\"a#b\"\n")
    );
    let text = small(Dbms::Postgres, "17.4", &[("application_name", "it's a \\")]).text;
    assert!(text.ends_with("application_name = 'it''s a \\\\'\n"), "{text}");
}

#[test]
fn values_cannot_smuggle_in_lines() {
    for (option, value) in
        [("zz", "1\nb=2"), ("zz\nb", "1"), ("zz b", "1"), ("", "1"), ("[x]", "1")]
    {
        let config = config("small", &[(option, value)]);
        let error = render(Dbms::Mysql, &"8.0.33".parse().unwrap(), &config, SIZING).unwrap_err();
        assert!(error.to_string().contains("line breaks"), "{error}");
    }
}

#[test]
fn a_users_file_is_taken_but_for_what_rqps_sets_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    fs::write(&path, "[mysqld]\nport = 3306\nlog-error=/x\n# socket=/y\ninnodb_x=1").unwrap();
    let config = config(path.to_str().unwrap(), &[("datadir", "/z"), ("table-open-cache", "2")]);
    let rendered = render(Dbms::Mariadb, &"10.2.11".parse().unwrap(), &config, SIZING).unwrap();
    let path = path.display();
    assert_eq!(
        rendered.text,
        format!(
            "# rqps: from {path}\n[mysqld]\ninnodb_x=1\n# options of the plan\n[mysqld]\n\
             table_open_cache=2\n"
        )
    );
    assert_eq!(
        options::describe_changes(&rendered.changes),
        [
            "options: rqps sets datadir itself".to_owned(),
            format!("{path}: rqps sets port, log-error itself"),
        ]
    );
}

#[test]
fn a_long_path_smuggles_in_no_line() {
    let dir = tempfile::tempdir().unwrap();
    for letter in ["a", "\u{7f}", "\n", "é"] {
        let mut deep = dir.path().to_owned();
        for _ in 0..8 {
            deep.push(letter.repeat(120));
        }
        fs::create_dir_all(&deep).unwrap();
        let path = deep.join("skip-grant-tables");
        fs::write(&path, "[mysqld]\na=1\n").unwrap();
        let config = config(path.to_str().unwrap(), &[]);
        let text = render(Dbms::Mysql, &"5.6.14".parse().unwrap(), &config, SIZING).unwrap().text;
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(first.starts_with("# rqps: from ") && first.len() < 250, "{first}");
        assert_eq!(rest, "[mysqld]\na=1\n");
    }
}

#[test]
fn options_of_mysqld_safe_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    fs::write(&path, "[mysqld_safe]\nnice = 1\nlog-error=/x\nmalloc-lib = /y.so\n[mysqld]\na=1")
        .unwrap();
    let config = config(path.to_str().unwrap(), &[]);
    let rendered = render(Dbms::Mysql, &"5.6.14".parse().unwrap(), &config, SIZING).unwrap();
    let path = path.display();
    assert_eq!(rendered.text, format!("# rqps: from {path}\n[mysqld]\na=1\n"));
    assert_eq!(
        options::describe_changes(&rendered.changes),
        [
            format!(
                "{path}: left out nice (line 2), log-error (line 3): rqps starts the server without \
                 mysqld_safe"
            ),
            format!(
                "{path}: left out malloc-lib (line 4): rqps starts the server without mysqld_safe: \
                 malloc of the plan does that"
            ),
        ]
    );
}

#[test]
fn an_option_that_is_kept_loose_goes_by_its_own_name() {
    let rendered = small(Dbms::Mysql, "8.0.33", &[("event_scheduler", "OFF")]);
    assert!(rendered.text.ends_with("loose_event_scheduler=OFF\n"), "{}", rendered.text);
    assert!(rendered.option_names(Dbms::Mysql).contains("event_scheduler"));
}

#[test]
fn no_option_leads_postgresql_to_another_data_directory() {
    let rendered = small(Dbms::Postgres, "17.4", &[("data_directory", "/srv/pg")]);
    assert!(!rendered.text.contains("/srv/pg"), "{}", rendered.text);
    assert_eq!(rendered.changes.len(), 1);
}

#[test]
fn an_unknown_config_names_the_profiles() {
    let config = config("smal", &[]);
    let error = render(Dbms::Mysql, &"8.0.33".parse().unwrap(), &config, SIZING).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "config \"smal\" is neither a built-in profile (small, medium, io-bound) nor"
        ),
        "{text}"
    );
}
